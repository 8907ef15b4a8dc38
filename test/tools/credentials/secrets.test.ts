/** Attempts to get a credential's value out. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Logger from "effect/Logger"
import * as Redacted from "effect/Redacted"
import * as References from "effect/References"
import * as Tracer from "effect/Tracer"
import * as Envelope from "../../../src/answer/Envelope.ts"
import * as Tool from "../../../src/answer/Tool.ts"
import { CallContext } from "../../../src/base/CallContext.ts"
import { type Obj, obj } from "../../../src/base/Json.ts"
import { CredentialEnv } from "../../../src/credentials/CredentialValues.ts"
import * as tools from "../../../src/tools/index.ts"
import * as Policy from "../../../src/workflows/policy/Policy.ts"
import { recording } from "../../support/spans.ts"
import { inWorld, type Needs } from "../../support/world.ts"
import { calls, prepared, seed } from "../calls.ts"
import { filesIn } from "../files.ts"

/** No shape and no name gives it away. */
const secret = "zebra crossing 4711 moonlight"

const env = new Map([["KEY", Redacted.make(secret)]])

const all: ReadonlyArray<Tool.Any<Needs>> = tools.all

const create = { type: "httpHeaderAuth", name: "Key", values: { name: "X-Key", value: { env: "KEY" } } }

/** Ways to ask for it. */
const attempts: ReadonlyArray<readonly [string, Obj]> = [
  ["credential_create", create],
  ["credential_create", { ...create, values: { ...create.values, value: secret } }],
  ["credential_create", { ...create, values: { ...create.values, [secret]: "x" } }],
  ["credential_create", { ...create, values: { ...create.values, name: { env: "KEY" } } }],
  ["credential_create", { ...create, values: { ...create.values, name: "={{ $env.KEY }}" } }],
  ["credential_create", { ...create, values: { ...create.values, allowedHttpRequestDomains: "all" } }],
  ["credential_create", { ...create, values: { ...create.values, value: { env: secret } } }],
  ["credential_create", { ...create, type: "../workflows" }],
  ["credential_create", { type: "postgres", name: "PG", values: { host: { env: "KEY" }, password: { env: "KEY" } } }],
  ["credential_create", { type: "postgres", name: "PG", values: { host: "evil.example", password: { env: "KEY" } } }],
  ["credential_create", { type: "nothing", name: "X", values: create.values }]
]

/** An n8n that repeats what it was sent, refusing it. */
const echo = ({ body, method }: { readonly body?: unknown; readonly method: string }) =>
  Effect.sync(() =>
    method === "GET"
      ? undefined
      : Response.json({ message: `Cannot use ${JSON.stringify(obj(body)?.["data"] ?? body)}` }, { status: 400 })
  )

/** Everything that anybody could see of the attempts. */
const traces = (before: typeof echo | undefined, redacts: boolean) => {
  const told: Array<string> = []
  const logger = Logger.make(({ cause, message }) => void told.push(JSON.stringify([message, String(cause)])))
  const { spans, tracer } = recording()
  const run = (name: string, args: unknown) => {
    const tool = all.find((tool) => tool.name === name)
    return tool === undefined ? Effect.die(name) : tool.run(args).pipe(
      Effect.tapError((error) => Effect.logDebug(error)),
      Effect.match({
        onSuccess: (answer) => void told.push(JSON.stringify(answer)),
        onFailure: (error) => void told.push(JSON.stringify([error, Envelope.fromError(error)]))
      })
    )
  }
  return inWorld(
    ({ api, folder, state }) =>
      prepared(
        folder,
        Effect.gen(function*() {
          for (const [name, args] of attempts) yield* run(name, args)
          // Afterwards every tool is asked for what it knows.
          for (const { name } of all.filter(({ name }) => name !== "test_workflow")) yield* run(name, calls[name])
          for (const { attributes, events, name } of spans) told.push(JSON.stringify([name, [...attributes], events]))
          for (const place of [folder, state]) told.push(JSON.stringify([...yield* filesIn(place)]))
          // It reached n8n, and nothing else.
          const sent = (yield* api.requests).filter(({ body }) => JSON.stringify(body ?? "").includes(secret))
          return { told, sent: sent.map(({ method, url }) => `${method} ${new URL(url).pathname}`) }
        }).pipe(
          Effect.provideService(CredentialEnv, env),
          Effect.provideService(Tool.RedactSecrets, redacts),
          Effect.provideService(CallContext, {
            progress: (_done, _total, message) => Effect.sync(() => void told.push(message)),
            confirm: (question) => Effect.sync(() => (told.push(question), "yes" as const))
          }),
          Effect.provide(Policy.layer({ bannedNodes: ["ssh"], protectedTags: ["none"] })),
          Effect.provideService(Tracer.Tracer, tracer),
          Effect.provide(Logger.layer([logger])),
          Effect.provideService(References.MinimumLogLevel, "All")
        )
      ),
    { seed, ...(before === undefined ? {} : { before }) }
  )
}

describe("a credential's value", () => {
  for (const redacts of [true, false]) {
    it.live(`is in no answer, question, log, trace, file or snapshot${redacts ? "" : ", also with --show-secrets"}`, () =>
      Effect.gen(function*() {
        const { sent, told } = yield* traces(undefined, redacts)
        assert.isAbove(sent.length, 0)
        assert.deepStrictEqual([...new Set(sent)], ["POST /api/v1/credentials"])
        assert.isNotEmpty(told)
        for (const text of told) assert.notInclude(text, secret)
      }))
  }

  it.live("is in no answer if n8n repeats it in its refusal", () =>
    Effect.gen(function*() {
      const { told } = yield* traces(echo, true)
      assert.include(told.join(), "Cannot use")
      for (const text of told) assert.notInclude(text, secret)
    }))
})
