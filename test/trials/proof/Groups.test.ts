import { assert, describe, it } from "@effect/vitest"
import * as Schema from "effect/Schema"
import * as Groups from "../../../src/trials/proof/Groups.ts"
import type { Difference } from "../../../src/trials/proof/RunComparison.ts"

const order = ["Webhook", "Map contact", "If", "Mail", "Log", "End"]

const difference = (node: string, path: string, more: Partial<Difference> = {}): Difference => ({
  node,
  run: 0,
  path,
  kind: "altered",
  before: 1,
  after: 2,
  count: 1,
  digest: 1,
  ...more
})

const gone = (node: string, email = "a@b.c"): Difference => {
  const { after: _, ...rest } = difference(node, "email", { kind: "removed", before: email })
  return rest
}

const count = (node: string, before: number, after: number) => difference(node, "", { kind: "count", before, after })
const notRun = (node: string) => difference(node, "", { kind: "notRun", before: "1 item", after: "did not run" })

const runs = (...all: ReadonlyArray<ReadonlyArray<Difference>>): ReadonlyArray<Groups.Run> =>
  all.map((differences, index) => ({ execution: String(101 + index), order, differences }))

const same = (length: number) => Array.from({ length }, () => [])

const grouped = (all: ReadonlyArray<Groups.Run>) =>
  Groups.group(all, [], []).groups.map(({ also, node, paths, runs }) => [node, paths.join(), runs, also])

describe("Groups", () => {
  it("make one of a field that is lost at one node and everywhere behind it", () => {
    const lost = ["Map contact", "If", "Mail", "Log", "End"]
    const result = Groups.group(
      runs(lost.map((node) => gone(node)), ...same(48), lost.map((node) => gone(node))),
      [],
      []
    )
    assert.deepStrictEqual(result, {
      verdict: "48 same; 2 lose `email` at 'Map contact'",
      runs: 50,
      same: 48,
      groups: [{
        node: "Map contact",
        paths: ["email removed"],
        runs: 2,
        executions: ["101", "150"],
        values: [{ path: "email", before: "a@b.c" }],
        also: ["If", "Mail", "Log", "End"]
      }],
      ignored: [],
      notReplayed: []
    })
    assert.deepStrictEqual(Schema.decodeSync(Groups.Result)(result), result)
  })

  it("fold what follows from lost items or a failure, and nothing else", () => {
    const failed = difference("Map contact", "", { kind: "failed", before: undefined, after: "no email" })
    assert.deepStrictEqual(grouped(runs([failed, notRun("Mail"), difference("Log", "total"), notRun("End")])), [
      ["Map contact", "failed", 1, ["Mail", "End"]],
      ["Log", "total", 1, undefined]
    ])
    assert.deepStrictEqual(grouped(runs([difference("If", "total"), notRun("End")])), [
      ["If", "total", 1, undefined],
      ["End", "did not run", 1, undefined]
    ])
    // A part of what a later node differs in.
    assert.deepStrictEqual(grouped(runs([gone("Map contact"), gone("Mail"), difference("Mail", "body")])), [
      ["Map contact", "email removed", 1, ["Mail"]],
      ["Mail", "body", 1, undefined]
    ])
    // In another run, and before the cause.
    assert.deepStrictEqual(
      grouped(runs([count("If", 5, 3)], [notRun("End")], [gone("Mail")], [gone("Mail"), gone("End")])),
      [
        ["If", "2 of 5 items lost", 1, undefined],
        ["Mail", "email removed", 2, ["End"]],
        ["End", "did not run", 1, undefined]
      ]
    )
  })

  it("merge equal sets of paths, with numbers where they are equal", () => {
    assert.deepStrictEqual(grouped(runs([count("If", 5, 3)], [count("If", 4, 1)], [count("If", 1, 2)])), [
      ["If", "items lost", 2, undefined],
      ["If", "1 item more than 1", 1, undefined]
    ])
    assert.deepStrictEqual(
      grouped(runs([gone("If"), difference("If", "total")], [difference("If", "total"), gone("If")])),
      [["If", "email removed,total", 2, undefined]]
    )
  })

  it("name every kind of difference", () => {
    const verdict = (kind: Difference["kind"], more: Partial<Difference> = {}) => {
      const { groups, verdict } = Groups.group(runs([], [difference("If", "", { kind, ...more })]), [], [])
      return [verdict.replace("1 same; ", ""), groups[0]?.paths.join()]
    }
    const lost = { before: 3, after: 1, path: "main[1]" }
    const rows: ReadonlyArray<
      readonly [kind: Difference["kind"], more: Partial<Difference>, text: string, path: string]
    > = [
      ["altered", { path: "total", isRounding: true }, "1 changes `total` at 'If'", "total rounded"],
      ["added", { path: "name" }, "1 gains `name` at 'If'", "name added"],
      ["count", {}, "1 gains items at 'If'", "1 item more than 1"],
      ["count", lost, "1 loses items at 'If'", "main[1]: 2 of 3 items lost"],
      ["order", {}, "1 changes the order at 'If'", "order"],
      ["output", {}, "1 sends items to another output at 'If'", "items at another output"],
      ["ran", { before: "did not run", after: "1 item" }, "1 newly runs 'If'", "ran"],
      ["ran", { before: "2 runs", after: "3 runs" }, "1 runs 'If' more often", "more runs"],
      ["notRun", { before: "3 items", after: "did not run" }, "1 no longer runs 'If'", "did not run"],
      ["notRun", { before: "3 runs", after: "2 runs" }, "1 runs 'If' less often", "fewer runs"],
      ["failed", { before: "no email", after: "no name" }, "1 fails differently at 'If'", "ended differently"],
      ["succeeded", {}, "1 no longer fails at 'If'", "no longer failed"]
    ]
    for (const [kind, more, ...words] of rows) assert.deepStrictEqual(verdict(kind, more), words)
  })

  it("do not call nothing the same", () => {
    const nothing = Groups.group([], [], [{ execution: "7", why: "n8n stored no data" }])
    assert.deepInclude(nothing, { verdict: "nothing was replayed", runs: 0, same: 0 })
    assert.deepStrictEqual(
      [runs(), runs([]), runs([], [gone("If")])].map((all) => Groups.exitCode(Groups.group(all, [], []))),
      [1, 0, 2]
    )
  })

  it("list a reason once", () => {
    const why = "nothing is stored for it"
    const all = ["1", "2", "2", "3"].map((execution) => ({ execution, node: "Mail", why }))
    const ignored = ["at", "at", "id"].flatMap((path) => ["If", "Mail", "Log"].map((node) => ({ node, path })))
    const result = Groups.group(runs([]), ignored, [...all, { execution: "9", why }])
    assert.deepStrictEqual(result.notReplayed, [
      { execution: "1", node: "Mail", why, runs: 3 },
      { execution: "9", why }
    ])
    assert.deepStrictEqual(result.ignored, [{ node: "If", paths: ["at", "id"], also: 2 }])
  })
})
