/** The simulated n8n's refusal of deprecated nodes, by the rules of n8n 2.42.6. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { node } from "../../support/workflows.ts"
import { start } from "./requests.ts"

const old = node("Old \"fn\"", "function", 1, { functionCode: "return items" })
const plain = node("Set", "set", 3.4)
const body = (...nodes: ReadonlyArray<object>) => ({ name: "W", nodes, connections: {}, settings: {} })

const use = "Cannot use a \"n8n-nodes-base.function\" node (\"Old \"fn\"\"): this node type is deprecated."
const modify = use.replace("use", "modify")

const seed = { workflows: [{ ...body(old, plain), id: "w" }], executions: [] }

describe("deprecated nodes", () => {
  it.effect("are not created, and only moved, removed or replaced", () =>
    Effect.gen(function*() {
      const { call } = yield* start({ blockDeprecated: true }, seed)
      const put = (...nodes: ReadonlyArray<object>) =>
        Effect.map(call("PUT", "/workflows/w", body(...nodes)), (answer) => String(answer.body["message"] ?? ""))
      assert.include(String((yield* call("POST", "/workflows", body(old))).body["message"]), use)
      assert.strictEqual((yield* call("POST", "/workflows", body(plain))).status, 200)

      const refused: ReadonlyArray<readonly [object, string]> = [
        [{ ...old, name: "New" }, modify.replace("Old \"fn\"", "New")],
        [{ ...old, parameters: { functionCode: "return []" } }, modify],
        [{ ...old, disabled: true }, modify],
        [{ ...old, notes: "n" }, modify],
        [{ ...old, credentials: { someApi: { id: "1", name: "x" } } }, modify],
        [{ ...old, onError: "continueRegularOutput" }, modify],
        [{ ...old, id: "other" }, use],
        [{ ...old, id: undefined }, use]
      ]
      for (const [changed, message] of refused) assert.include(yield* put(changed, plain), message)

      const moved = { ...old, position: [9, 9], disabled: false, notes: "", onError: "stopWorkflow" }
      assert.strictEqual(yield* put(moved, { ...plain, name: "Other" }), "")
      const functions = [old, { ...old, id: "b", name: "B" }]
      assert.lengthOf((yield* put(...functions)).match(/is deprecated/g) ?? [], 1)
      assert.strictEqual(yield* put({ ...old, type: "n8n-nodes-base.code", typeVersion: 2 }, plain), "")
      // A node does not move back.
      assert.include(yield* put(old, plain), use)
      assert.strictEqual(yield* put(plain), "")
    }))

  it.effect("are accepted without the option, and by n8n 1", () =>
    Effect.gen(function*() {
      for (const options of [{}, { blockDeprecated: true, version: "1" }] as const) {
        const { call } = yield* start(options)
        assert.strictEqual((yield* call("POST", "/workflows", body(old))).status, 200)
      }
    }))
})
