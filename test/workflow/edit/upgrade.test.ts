/** The operation `upgrade`: its lines, accepted choices, and refusals. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import type { Obj } from "../../../src/base/Json.ts"
import * as WorkflowEdit from "../../../src/workflow/edit/WorkflowEdit.ts"
import * as Upgrade from "../../../src/workflow/upgrade/Upgrade.ts"
import * as NodeLookups from "../../../src/workflows/NodeLookups.ts"
import { catalogue } from "../../support/catalogue.ts"
import { node, workflow } from "../../support/workflows.ts"

const upgrade = Effect.fnUntraced(function*(nodes: ReadonlyArray<Obj>, operation: Obj = {}, connections: Obj = {}) {
  const whole = workflow("w", nodes, { connections })
  const lookups = { ...(yield* NodeLookups.make(Upgrade.types(whole))), newId: () => "new" }
  return WorkflowEdit.apply(whole, [{ op: "upgrade", ...operation } as WorkflowEdit.Operation], lookups)
}, (effect) => Effect.provide(effect, catalogue))

const rows = node("花", "dataTable", 1, { operation: "get" })

describe("an upgrade", () => {
  it.effect("says what parameters become, without secrets", () =>
    Effect.gen(function*() {
      const { changes } = Result.getOrThrow(
        yield* upgrade([
          node("Old", "webhook", 1.1, { path: "x", responseCode: 201 }),
          node("Send", "httpRequest", 4.2, {
            url: "https://x.example",
            options: {},
            sendHeaders: true,
            headerParameters: {
              parameters: [{ name: "Authorization", value: "a" }, { name: "Authorization", value: "b" }]
            }
          })
        ])
      )
      assert.strictEqual(
        changes[0],
        "upgraded 'Old' from n8n-nodes-base.webhook 1.1 to n8n-nodes-base.webhook 2.1 " +
          "(responseCode: 201 → none, options: none → {\"responseCode\":{\"…customCode\":201}}})"
      )
      assert.notMatch(changes[1] ?? "", /"[ab]"/)
    }))

  it.effect("carries out an accepted choice, and says what differs", () =>
    Effect.gen(function*() {
      const { left } = Result.getOrThrow(yield* upgrade([rows]))
      assert.deepStrictEqual(left.map(({ choices, node }) => [node, choices]), [
        ["花", [{ key: "asN8n", does: "Becomes dataTable 1.1." }]]
      ])
      const made = Result.getOrThrow(yield* upgrade([rows], { accept: { "id of 花": "asN8n" } }))
      assert.deepStrictEqual(made.left, [])
      assert.deepStrictEqual(made.changes, [
        "upgraded '花' from n8n-nodes-base.dataTable 1 to n8n-nodes-base.dataTable 1.1, " +
        "as accepted ('asN8n'): From version 1.1 on, the dates of rows are texts."
      ])
    }))

  it.effect("refuses a key or a node that has no such choice", () =>
    Effect.gen(function*() {
      const refused = (nodes: ReadonlyArray<Obj>, accept: Obj, more: Obj = {}) =>
        Effect.map(
          upgrade(nodes, { accept, ...more }),
          Result.match({
            onFailure: ({ field, hint, message }) => [field, message, String(hint)],
            onSuccess: () => []
          })
        )
      assert.deepStrictEqual(yield* refused([rows], { 花: "2.1" }), [
        "operations[0].accept.花",
        "'花' has no choice '2.1'.",
        "There are: asN8n."
      ])
      assert.deepStrictEqual(yield* refused([rows, node("b", "noOp")], { b: "asN8n" }), [
        "operations[0].accept.b",
        "'b' has no choice 'asN8n'.",
        "Its upgrade has none: leave it out."
      ])
      assert.deepStrictEqual((yield* refused([rows], { c: "asN8n" })).slice(0, 2), [
        "operations[0].accept",
        "There is no node 'c'."
      ])
      assert.deepStrictEqual((yield* refused([rows, node("b", "noOp")], { 花: "asN8n" }, { node: "b" })).length, 3)
    }))

  it.effect("names the nodes that it removes", () =>
    Effect.gen(function*() {
      const { changes } = Result.getOrThrow(
        yield* upgrade(
          [
            node("Fixing", "@n8n/n8n-nodes-langchain.outputParserAutofixing"),
            node("Schema", "@n8n/n8n-nodes-langchain.outputParserStructured", 1.2, { schemaType: "manual" })
          ],
          {},
          { Schema: { ai_outputParser: [[{ node: "Fixing", type: "ai_outputParser", index: 0 }]] } }
        )
      )
      assert.strictEqual(changes.at(-1), "removed 'Schema': its schema is in 'Fixing'")
    }))
})
