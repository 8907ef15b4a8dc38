import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Envelope from "../../../src/answer/Envelope.ts"
import * as N8nApi from "../../../src/testing/n8nApi/N8nApi.ts"
import * as tools from "../../../src/tools/index.ts"
import { inMemory } from "../../support/world.ts"
import { calls, seed } from "../calls.ts"

const id = String(calls["get_workflow"]?.["id"])

describe("an answer that is lost", () => {
  it.effect("of the read after a change leaves the change in place, with a warning", () => {
    let reads = 0
    // Read by the tool, before the write, and after it.
    const losing = ({ method }: N8nApi.RecordedRequest) =>
      method === "GET" && reads++ >= 3 ? Effect.fail(new N8nApi.Disconnected()) : Effect.void
    return inMemory(function*() {
      const { data } = yield* tools.updateWorkflow.run({ id, name: "Renamed" })
      const { name, warnings = [] } = data as { readonly name: string; readonly warnings?: ReadonlyArray<string> }
      assert.strictEqual(name, "Renamed")
      assert.match(warnings.join(), /^done, but it could not be read back: /)
    }, { seed, before: losing })
  })

  it.effect("of a change whose result cannot be read either says that it may be applied", () =>
    inMemory(function*() {
      const error = yield* Effect.flip(tools.updateWorkflow.run({ id, name: "Renamed" }))
      assert.include(Envelope.fromError(error).hint, "may have been applied anyway")
    }, {
      seed,
      before: ({ method, url }, n8n) =>
        Effect.flatMap(
          n8n.requests,
          (sent) =>
            method === "PUT" || sent.some((each) => each.method === "PUT") && url.endsWith(id)
              ? Effect.fail(new N8nApi.Disconnected())
              : Effect.void
        )
    }))

  it.effect("of a deletion that is replaced by a login page is an error", () =>
    inMemory(function*(api) {
      const error = yield* Effect.flip(tools.deleteWorkflow.run({ id }))
      assert.include(Envelope.fromError(error).context["errorDetails"], "web page")
      assert.isTrue((yield* api.workflows).some((each) => each.id === id))
    }, {
      seed,
      before: ({ method }) =>
        Effect.sync(() => method === "DELETE" ? new Response("<html>Please log in</html>") : undefined)
    }))
})
