import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Envelope from "../../../src/answer/Envelope.ts"
import * as N8nApi from "../../../src/testing/n8nApi/N8nApi.ts"
import * as tools from "../../../src/tools/index.ts"
import { inMemory } from "../../support/world.ts"
import { calls, seed } from "../calls.ts"

const id = String(calls["get_workflow"]?.["id"])

/** Loses the answers of requests with this method; before they arrive, or after. */
const losing = (method: string, when: "before" | "after", from = 0) => {
  let asked = 0
  return {
    seed,
    [when]: (request: N8nApi.RecordedRequest) =>
      request.method === method && asked++ >= from ? Effect.fail(new N8nApi.Disconnected()) : Effect.void
  }
}

const settingsOf = (api: N8nApi.N8nApi) =>
  Effect.map(api.workflows, (all) => all.find((each) => each.id === id)?.["settings"])

describe("an answer that is lost", () => {
  it.effect("of a change to settings only that never arrived is an error", () =>
    inMemory(function*(api) {
      const before = yield* settingsOf(api)
      const error = yield* Effect.flip(tools.updateWorkflow.run({ id, settings: { executionTimeout: 60 } }))
      assert.strictEqual(error._tag, "ApiError")
      assert.deepStrictEqual(yield* settingsOf(api), before)
    }, losing("PUT", "before")))

  it.effect("of a change that arrived is not an error: the written workflow is read", () =>
    inMemory(function*(api) {
      yield* tools.updateWorkflow.run({ id, settings: { executionTimeout: 60 } })
      assert.deepInclude(yield* settingsOf(api), { executionTimeout: 60 })
    }, losing("PUT", "after")))

  it.effect("of the read after a change leaves the change in place, with a warning", () =>
    // Read by the tool, before the write, and after it.
    inMemory(function*() {
      const { data } = yield* tools.updateWorkflow.run({ id, name: "Renamed" })
      const { name, warnings = [] } = data as { readonly name: string; readonly warnings?: ReadonlyArray<string> }
      assert.strictEqual(name, "Renamed")
      assert.match(warnings.join(), /^done, but it could not be read back: /)
    }, losing("GET", "before", 3)))

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
