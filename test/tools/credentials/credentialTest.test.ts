import { assert, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as FakeN8n from "../../../src/testing/FakeN8n.ts"
import * as tools from "../../../src/tools/index.ts"

const seed = { workflows: [], executions: [], credentials: [{ id: "c1", name: "Key", type: "httpHeaderAuth" }] }

const answering = (message: string, status = "Error") =>
  FakeN8n.layer(seed, {
    before: ({ url }) => Effect.sync(() => url.endsWith("/test") ? Response.json({ status, message }) : undefined)
  })

it.effect("says whether a credential works", () =>
  Effect.gen(function*() {
    assert.deepStrictEqual(yield* tools.credentialTest.call({ id: "c1" }), {
      id: "c1",
      ok: true,
      message: "Connection successful!"
    })
  }).pipe(Effect.provide(answering("Connection successful!", "OK"))))

it.effect("shows no secret that the service repeats", () =>
  Effect.gen(function*() {
    const answer = JSON.stringify(yield* tools.credentialTest.run({ id: "c1" }))
    assert.notInclude(answer, "hunter2")
    assert.include(answer, "[redacted]")
  }).pipe(Effect.provide(answering("401: Authorization: Bearer hunter2-9f8e7d6c5b4a was refused"))))
