import { assert, describe, it } from "@effect/vitest"
import type { Obj } from "../../../src/base/Json.ts"
import { joined } from "../../support/workflows.ts"
import { agent, base, edit, flow, hook, model, node, nodeOf, refusal, set } from "./edits.ts"

const same = (actual: unknown, expected: unknown) => assert.deepStrictEqual(actual, expected)
const text = (value: unknown) => JSON.stringify(value)

const user = (value: unknown, more: Obj = {}) => node("User", `${base}set`, 3.4, { value }, more)
const rename = (node: string, to: string) => ({ op: "rename", node, to }) as const

describe("rename", () => {
  it.each<[from: string, to: string, before: string, after: string]>([
    ["A", "B", "={{ $('A').item.json.x }}", "={{ $('B').item.json.x }}"],
    ["A", "B", "={{ $(\"A\").all() }} {{ $( `A` ).first() }}", "={{ $(\"B\").all() }} {{ $( `B` ).first() }}"],
    ["A", "B", "={{ $node['A'].json + $items(\"A\") }}", "={{ $node['B'].json + $items(\"B\") }}"],
    ["A", "B", "={{ $node.A.json }}", "={{ $node.B.json }}"],
    ["A", "B C", "={{ $node.A.json + $node?.A.json }}", "={{ $node[\"B C\"].json + $node?.[\"B C\"].json }}"],
    ["A", "取得", "={{ $node.A.json }}", "={{ $node.取得.json }}"],
    ["A", "It's", "={{ $('A').x + $(\"A\").x + $(`A`).x }}", "={{ $('It\\'s').x + $(\"It's\").x + $(`It's`).x }}"],
    ["A", "\"q\"", "={{ $('A').x + $(\"A\").x }}", "={{ $('\"q\"').x + $(\"\\\"q\\\"\").x }}"],
    ["A", "`${x}`", "={{ $('A').x + $(`A`).x }}", "={{ $('`${x}`').x + $(`\\`\\${x}\\``).x }}"],
    ["A", "C:\\new", "={{ $('A').x }}", "={{ $('C:\\\\new').x }}"],
    ["A", "}} {{", "={{ $('A').x }}", "={{ $('}\\x7d {\\x7b').x }}"],
    ["A", "B", "={{ $('\\u0041').x }}", "={{ $('B').x }}"],
    ["It's", "B", "={{ $('It\\'s').x + $(\"It's\").x }}", "={{ $('B').x + $(\"B\").x }}"],
    ["注文 取得", "Orders", "=件数: {{ $('注文 取得').all().length }}件", "=件数: {{ $('Orders').all().length }}件"],
    ["A", "B", "={{ { a: $('A').x } }}", "={{ { a: $('B').x } }}"],
    [
      "A",
      "B",
      "={{ $('A', 0) + foo('A') + x['A'] + $json['A'] }}",
      "={{ $('B', 0) + foo('A') + x['A'] + $json['A'] }}"
    ],
    ["A", "B", "={{ 'x\\}}' + $('A').x + $('A').y }}", "={{ 'x\\}}' + $('B').x + $('B').y }}"],
    ["A", "B", "={{ $item(0).$node['A'].json.x }}", "={{ $item(0).$node['B'].json.x }}"],
    ["A", "B", "={{ $item(0).$items('A') + $item(1).$('A').x }}", "={{ $item(0).$items('B') + $item(1).$('B').x }}"],
    ["A", "B", "={{ $('A').x +* }}", "={{ $('B').x +* }}"],
    ["A", "B", "={{ $node.A.x }", "={{ $node.B.x }"],
    ["It's A", "B", "={{ $('It's A').x }} {$('It\\'s A').x}", "={{ $('B').x }} {$('B').x}"]
  ])("%s to %s: %s", (from, to, before, after) => {
    const workflow = flow([set(from), user(before)])
    const { workflow: edited } = edit(workflow, rename(from, to))
    same(nodeOf(edited, "User")["parameters"], { value: after })
    if (!/\$node\.|u0041|It's A/.test(before) || before.includes("$node.") && !after.includes("[")) {
      same(text(edit(edited, rename(to, from)).workflow), text(workflow))
    }
  })

  it.each(["$('A')", "{{ $('A').x }}", "={{ $('A' + 'B').x }}", "={{ $('a').x }}", "={{ \"$('A')\" }}"])(
    "leaves what names nothing that is evaluated: %s",
    (value) => same(nodeOf(edit(flow([set("A"), user(value)]), rename("A", "B")).workflow, "User"), user(value))
  )

  it("reaches scripts, nested values, and the node itself", () => {
    const code = (name: string) =>
      node("Code", `${base}code`, 2, { jsCode: `// $('A')\nreturn $('${name}').all().map(() => $node['${name}'])` })
    const of = (name: string) => ({
      a: [{ b: `={{ $('${name}').x }}` }, "={{ $('Code').x }}"],
      "k.e[y]": `={{ $('${name}').y }}`,
      n: null
    })
    const other = user({ deep: { jsCode: "$('A')" } })
    const workflow = flow([set("A", { parameters: of("A") }), code("A"), other])
    const { changes, workflow: edited } = edit(workflow, rename("A", "B"))
    same(changes, ["renamed 'A' to 'B', in 3 expressions, too"])
    same(edited, flow([set("A", { name: "B", parameters: of("B") }), code("B"), other]))
    same(text(edit(edited, rename("B", "A")).workflow), text(workflow))
  })

  it("follows into connections and pinned data, in their order, and nowhere else", () => {
    const of = (name: string) =>
      flow(
        [hook, set("A", { name, notes: "after A" }), set("B")],
        {
          Hook: { main: [[{ node: name, type: "main", index: 0, x: 1 }], null] },
          [name]: { main: [[], [{ node: "B" }]] },
          B: {}
        },
        { pinData: { Hook: [], [name]: [{ json: { node: "A" } }], B: [] }, staticData: { "node:A": 1 } }
      )
    const { workflow: edited } = edit(of("A"), rename("A", "取得"))
    same(text(edited), text(of("取得")))
    same(text(edit(edited, rename("取得", "A")).workflow), text(of("A")))
  })

  it("refuses names that are used, empty, or would take over the rest of a removed node", () => {
    const workflow = flow([set("A"), set("B")], joined(["Gone", "A"]), { pinData: { Pinned: [] } })
    same(refusal(workflow, rename("A", "B")).hint, "'B1' is free.")
    same(refusal(workflow, rename("A", " ")).field, "operations[0].to")
    for (const [name, what] of [["Gone", "connections"], ["Pinned", "pinned data"]]) {
      const { message } = refusal(workflow, rename("A", name ?? ""))
      same(message, `The workflow still has ${what} of a removed node '${name}'.`)
    }
    assert.strictEqual(edit(workflow, rename("A", "A")).workflow, workflow)
    same(edit(flow([set("A")], { A: {}, B: { main: [[]] } }), rename("A", "B")).workflow["connections"], { B: {} })
  })

  it("of two with one name: what goes by the name stays with the first", () => {
    const workflow = flow([hook, set("A"), set("A", { id: "2" }), user("={{ $('A').x }}")], joined(["Hook", "A"]))
    const second = edit(workflow, rename("2", "B"))
    same([second.workflow["connections"], second.changes], [workflow["connections"], ["renamed the other 'A' to 'B'"]])
    same(nodeOf(second.workflow, "User"), user("={{ $('A').x }}"))
    same(edit(workflow, rename("A", "B")).workflow["connections"], joined(["Hook", "B"]))
  })

  it("does not search deep parameters without names", () => {
    let deep: unknown = "x"
    for (let depth = 0; depth < 5_000; depth++) deep = { a: [deep] }
    edit(flow([set("A"), user(deep)]), rename("A", "B"), { op: "remove", node: "B" })
  })
})

describe("remove", () => {
  const workflow = flow(
    [hook, set("A"), set("B"), user(["={{ $('A').x }}", "={{ $('A').y }}"]), agent(), model("Model")],
    joined(["Hook", "A"], ["Hook", "B"], ["A", "B"], ["B", "A"], ["Model", "Agent", "ai_languageModel"]),
    {
      pinData: { A: [], B: [] },
      nodeGroups: [["id of A"], ["id of A", "id of B"], []].map((nodeIds, index) => ({ id: `${index}`, nodeIds }))
    }
  )
  it("takes with it what belongs to the node, and says what still names it", () => {
    const { changes, workflow: edited } = edit(workflow, { op: "remove", node: "A" })
    same(edited["connections"], joined(["Hook", "B"], ["Model", "Agent", "ai_languageModel"]))
    same(edited["pinData"], { B: [] })
    same(edited["nodeGroups"], [{ id: "1", nodeIds: ["id of B"] }, { id: "2", nodeIds: [] }])
    same(changes, [
      "removed 'A' and 3 connections; 2 expressions still name it: " +
      "parameters.value[0] of 'User', parameters.value[1] of 'User'"
    ])
    same(nodeOf(edited, "A"), {})
  })

  it("says no more than there is", () => {
    const { changes, workflow: edited } = edit(workflow, { op: "remove", node: "Model" })
    same(changes, ["removed 'Model' and 1 connection"])
    assert.deepStrictEqual(edited["pinData"], workflow["pinData"])
    assert.strictEqual(edited["nodeGroups"], workflow["nodeGroups"])
    same(edit(flow([set("A")]), { op: "remove", node: "A" }).workflow, flow([]))
    same(edit(flow([{ id: "x" }]), { op: "remove", node: "x" }).changes, ["removed nodes[0]"])
    const one = edit(flow([set("A"), user("={{ $('A').x }}")]), { op: "remove", node: "A" })
    same(one.changes, ["removed 'A'; 1 expression still names it: parameters.value of 'User'"])
  })

  it("says nothing of what a later operation takes away", () => {
    const named = flow([set("A"), user("={{ $('A').x }}"), user({ x: "={{ $('A').x }}" }, { name: "Other" })])
    const replaced = { op: "remove", node: "User" } as const
    same(
      edit(named, { op: "remove", node: "A" }, replaced).changes[0],
      "removed 'A'; 1 expression still names it: parameters.value.x of 'Other'"
    )
    same(edit(named, { op: "remove", node: "A" }, { op: "rename", node: "Other", to: "A" }).changes[0], "removed 'A'")
  })

  it("of two with one name leaves the other its connections; takes those that go by its id", () => {
    const of = (...nodes: ReadonlyArray<Obj>) => flow([hook, ...nodes], joined(["Hook", "A"]), { pinData: { A: [] } })
    const twice = of(set("A"), set("A", { id: "2" }))
    same(edit(twice, { op: "remove", node: "2" }).workflow, of(set("A")))
    same(edit(twice, { op: "remove", node: "A" }).workflow["connections"], joined(["Hook", "A"]))
    const byId = flow([hook, set("A")], joined(["Hook", "id of A"], ["id of A", "Hook"]))
    same(edit(byId, { op: "remove", node: "A" }).workflow["connections"], {})
  })
})
