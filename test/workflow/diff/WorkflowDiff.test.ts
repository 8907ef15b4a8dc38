import { assert, describe, it } from "@effect/vitest"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as Difference from "../../../src/base/Difference.ts"
import { arr, canonical, type Obj } from "../../../src/base/Json.ts"
import * as WorkflowDiff from "../../../src/workflow/diff/WorkflowDiff.ts"
import { apply, type Operation } from "../../../src/workflow/edit/WorkflowEdit.ts"
import { Json } from "../../support/arbitrary.ts"
import { joined } from "../../support/workflows.ts"
import { base, flow, hook, lookups, node, set } from "../edit/edits.ts"
import { applyAll, isReversible } from "./reversible.ts"

const before = flow(
  [
    hook,
    node("If", `${base}if`, 2.2),
    node("Code", `${base}code`, 2, { jsCode: "const a = 1\nconst b = 2\nreturn items\n" }),
    set("取得", {
      parameters: { a: "={{ $('If').x }}", rules: { values: [{ id: "1", k: "a" }, { id: "2", k: "b" }] } }
    })
  ],
  joined(["Hook", "If"], ["If", "Code"], ["If", "取得", "main", 1]),
  { name: "Orders", settings: { executionOrder: "v1" }, pinData: { 取得: [{ json: { n: 1 } }] } }
)

const edit = (workflow: Obj, ...operations: ReadonlyArray<Operation>): Obj => {
  const result = apply(workflow, operations, lookups())
  if (Result.isFailure(result)) return assert.fail(result.failure.message)
  return result.success.workflow
}

const view = (after: Obj, node?: string) => WorkflowDiff.view(WorkflowDiff.make(before, after), { node })

describe("WorkflowDiff", () => {
  it("is the same for any order of nodes, links and keys, and counts nodes that only moved", () => {
    const reversed = (value: unknown) => Object.fromEntries(Object.entries(value as Obj).toReversed())
    const turned: Obj = {
      ...reversed(before),
      connections: reversed(before["connections"]),
      nodes: arr(before["nodes"]).map(reversed).toReversed()
    }
    assert.deepStrictEqual(view(turned), { same: true, moved: 0, nodes: [], connections: { added: [], removed: [] } })
    assert.strictEqual(WorkflowDiff.line(WorkflowDiff.make(before, turned)), "nothing")
    const moved = edit(before, { op: "move", node: "Code", position: { x: 900, y: 80 } })
    assert.deepStrictEqual(view(moved), { same: true, moved: 1, nodes: [], connections: { added: [], removed: [] } })
    assert.strictEqual(WorkflowDiff.line(WorkflowDiff.make(before, moved)), "moved 1 node")
    isReversible(before, moved)
  })

  it("shows code as the hunks of a unified diff", () => {
    const parameters = { jsCode: "const a = 1\nconst b = 3\nreturn items\n" }
    const after = edit(before, { op: "update", node: "Code", parameters })
    const diff = "@@ -1,3 +1,3 @@\n const a = 1\n-const b = 2\n+const b = 3\n return items"
    assert.deepStrictEqual(view(after).nodes, [
      { node: "Code", change: "changed", fields: [{ path: "parameters.jsCode", diff }] }
    ])
    assert.strictEqual(WorkflowDiff.line(WorkflowDiff.make(before, after)), "changed 'Code' (jsCode)")
  })

  it("knows a renamed node, and that its links and pinned items went with it", () => {
    const after = edit(before, { op: "rename", node: "取得", to: "Fetch" })
    assert.deepStrictEqual(view(after), {
      same: false,
      moved: 0,
      nodes: [{ node: "Fetch", change: "renamed", formerName: "取得" }],
      connections: { added: [], removed: [] }
    })
    // Without ids: by type, parameters and links.
    const anonymous = (workflow: Obj): Obj => ({
      ...workflow,
      nodes: (workflow["nodes"] as ReadonlyArray<Obj>).map(({ id: _, ...rest }) => rest)
    })
    assert.deepStrictEqual(
      WorkflowDiff.make(anonymous(before), anonymous(after)).nodes.map(({ change, name }) => [name, change]),
      [["Fetch", "renamed"]]
    )
    isReversible(before, after)
    isReversible(anonymous(before), anonymous(after))
  })

  it("distinguishes a removed node from the one that has its name now", () => {
    const pinned = { ...before, pinData: { If: [{ json: { n: 1 } }], Code: [{ json: { n: 2 } }] } }
    const after = edit(pinned, { op: "remove", node: "If" }, { op: "rename", node: "Code", to: "If" })
    assert.deepStrictEqual(view(after).nodes, [
      { node: "If", change: "removed", type: `${base}if` },
      { node: "If", change: "renamed", formerName: "Code" }
    ])
    assert.deepStrictEqual(view(after).connections, {
      added: [],
      removed: ["Hook → If", "If → If", "If.main[1] → 取得"]
    })
    isReversible(pinned, after)
    isReversible(after, pinned)
    const other = { ...after, pinData: { If: [{ json: { n: 3 } }] } }
    isReversible(pinned, other)
    isReversible(other, pinned)
  })

  it("shows links with the ports that a person sees", () => {
    const [from, to] = ["Code", "取得"] as const
    const after = edit(before, { op: "disconnect", from: "If", to }, { op: "connect", from, to })
    const portName: WorkflowDiff.PortName = ({ from, output }) =>
      from === "If" ? ["true", "false"][output.index] : undefined
    assert.deepStrictEqual(WorkflowDiff.view(WorkflowDiff.make(before, after), { portName }).connections, {
      added: ["Code → 取得"],
      removed: ["If.false → 取得"]
    })
  })

  it("finds an element that came between others, and one that is known by its id", () => {
    const rules = (...values: ReadonlyArray<Obj>) => ({ rules: { values } })
    const fields = (a: Obj, b: Obj) => Difference.fields(Difference.between(a, b))
    assert.deepStrictEqual(
      fields(
        rules({ id: "1", k: "a" }, { id: "2", k: "b" }),
        rules({ id: "3", k: "c" }, { id: "1", k: "a" }, { id: "2", k: "d" })
      ),
      [
        { path: "rules.values[0]", before: undefined, after: { id: "3", k: "c" } },
        { path: "rules.values[2].k", before: "b", after: "d" }
      ]
    )
    assert.deepStrictEqual(fields({ list: [1, 2, 3, 4] }, { list: [1, 3, 4, 5] }), [
      { path: "list[1]", before: 2, after: undefined },
      { path: "list[3]", before: undefined, after: 5 }
    ])
    assert.deepStrictEqual(fields({ "odd key": 1 }, {}), [{ path: "[\"odd key\"]", before: 1, after: undefined }])
  })

  it("reports additions and removals, and properties of the whole workflow", () => {
    const after = edit(
      before,
      { op: "remove", node: "Code" },
      { op: "add", type: `${base}noOp`, name: "Nothing", after: "If" },
      { op: "settings", settings: { timezone: "Asia/Tokyo" } },
      { op: "name", name: "Orders 2" }
    )
    assert.deepStrictEqual(view(after), {
      same: false,
      moved: 0,
      nodes: [
        { node: "Code", change: "removed", type: `${base}code` },
        { node: "Nothing", change: "added", type: `${base}noOp`, fields: [{ path: "typeVersion", after: 1 }] }
      ],
      connections: { added: ["If → Nothing"], removed: ["If → Code"] },
      settings: [{ path: "settings.timezone", after: "Asia/Tokyo" }],
      name: { before: "Orders", after: "Orders 2" }
    })
    assert.strictEqual(
      WorkflowDiff.line(WorkflowDiff.make(before, after)),
      "added 'Nothing', removed 'Code', 2 connections, name, settings.timezone"
    )
    isReversible(before, after)
  })

  it("shows both ends of a long change, or the text around a short one, with whole surrogate pairs", () => {
    const code = (first: string, last: string) => `rate = ${first}; ${"total += 1; ".repeat(40)}return total * ${last}`
    const both = WorkflowDiff.around(code("1.19", "1.16"), code("1.07", "1.05"))
    for (const value of ["1.19", "1.16", "1.07", "1.05"]) assert.include(both, value)
    const long = "x".repeat(300)
    const [before, after] = [`${long}- discount.amount${long}`, `${long}- (discount?.amount ?? 0)${long}`]
    const one = WorkflowDiff.around(before, after)
    assert.match(one, /discount\.amount.*→.*discount\?\.amount \?\? 0/)
    for (const line of [both, one]) assert.isAtMost(line.length, 160)
    assert.isTrue(WorkflowDiff.around("a😀b", "a😁b").isWellFormed())
  })

  it.prop("values lead to each other", { a: Json, b: Json }, ({ a, b }) => {
    const differences = Difference.between(a, b)
    if (differences.length === 0) return assert.deepStrictEqual(canonical(a), canonical(b))
    assert.deepStrictEqual(canonical(applyAll(a, differences)), canonical(b))
  })

  it.prop("lists lead to each other", {
    a: Schema.Array(Schema.Literals([1, 2, 3, "a"])),
    b: Schema.Array(Schema.Literals([1, 2, 3, "a"]))
  }, ({ a, b }) => assert.deepStrictEqual(applyAll(a, Difference.between(a, b)), b))
})
