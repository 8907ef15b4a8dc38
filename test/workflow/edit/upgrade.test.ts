/** The operation `upgrade`: its lines, accepted choices, and refusals. */
import { assert, describe, it } from "@effect/vitest"
import * as Result from "effect/Result"
import type { Obj } from "../../../src/base/Json.ts"
import * as WorkflowEdit from "../../../src/workflow/edit/WorkflowEdit.ts"
import { joined, node, workflow } from "../../support/workflows.ts"
import { lookups } from "../upgrade/upgrades.ts"

const attempt = (nodes: ReadonlyArray<Obj>, operation: Obj = {}, connections: Obj = {}) => {
  const operations = [{ op: "upgrade", ...operation } as WorkflowEdit.Operation]
  return WorkflowEdit.apply(workflow("w", nodes, { connections }), operations, { ...lookups, newId: () => "new" })
}
const upgrade = (...args: Parameters<typeof attempt>) => Result.getOrThrow(attempt(...args))

const rows = node("花", "dataTable", 1, { operation: "get" })
const other = node("b", "noOp")

describe("an upgrade", () => {
  it("says what parameters become, without secrets", () => {
    const parameters = ["a", "b"].map((value) => ({ name: "Authorization", value }))
    const headers = { sendHeaders: true, headerParameters: { parameters } }
    const { changes } = upgrade([
      node("Old", "webhook", 1.1, { path: "x", responseCode: 201 }),
      node("Send", "httpRequest", 4.2, { url: "https://x.example", options: {}, ...headers })
    ])
    assert.strictEqual(
      changes[0],
      "upgraded 'Old' from n8n-nodes-base.webhook 1.1 to n8n-nodes-base.webhook 2.1 " +
        "(responseCode: 201 → none, options: none → {\"responseCode\":{\"…customCode\":201}}})"
    )
    assert.notMatch(changes[1] ?? "", /"[ab]"/)
  })

  it("carries out an accepted choice, and says what differs", () => {
    assert.deepStrictEqual(upgrade([rows]).left.map(({ choices, node }) => [node, choices]), [
      ["花", [{ key: "asN8n", does: "Becomes dataTable 1.1." }]]
    ])
    const { changes, left } = upgrade([rows], { accept: { "id of 花": "asN8n" } })
    assert.deepStrictEqual([changes, left], [[
      "upgraded '花' from n8n-nodes-base.dataTable 1 to n8n-nodes-base.dataTable 1.1, " +
      "as accepted ('asN8n'): From version 1.1 on, the dates of rows are texts."
    ], []])
  })

  it.each<[accept: Obj, more: Obj, field: string, message: string, hint: RegExp]>([
    [{ 花: "2.1" }, {}, ".花", "'花' has no choice '2.1'.", /^There are: asN8n\.$/],
    [{ b: "asN8n" }, {}, ".b", "'b' has no choice 'asN8n'.", /^Its upgrade has none: leave it out\.$/],
    [{ c: "asN8n" }, {}, "", "There is no node 'c'.", /./],
    [{ 花: "asN8n" }, { node: "b" }, ".花", "'花' has no choice 'asN8n'.", /./]
  ])("refuses a key or a node that has no such choice: %j %j", (accept, more, field, message, hint) => {
    const refused = Result.getOrThrow(Result.flip(attempt([rows, other], { accept, ...more })))
    assert.deepStrictEqual([refused.field, refused.message], [`operations[0].accept${field}`, message])
    assert.match(String(refused.hint), hint)
  })

  it("names the nodes that it removes", () => {
    const schema = node("Schema", "@n8n/n8n-nodes-langchain.outputParserStructured", 1.2, { schemaType: "manual" })
    const nodes = [node("Fixing", "@n8n/n8n-nodes-langchain.outputParserAutofixing"), schema]
    const { changes } = upgrade(nodes, {}, joined(["Schema", "Fixing", "ai_outputParser"]))
    assert.strictEqual(changes.at(-1), "removed 'Schema': its schema is in 'Fixing'")
  })
})
