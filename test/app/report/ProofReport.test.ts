import { assert, describe, it } from "@effect/vitest"
import * as JUnit from "../../../src/app/report/JUnit.ts"
import * as ProofReport from "../../../src/app/report/ProofReport.ts"
import * as Groups from "../../../src/trials/proof/Groups.ts"

const order = ["Webhook", "Map contact", "Mail"]

const lost = (node: string) => ({
  node,
  run: 0,
  path: "email",
  kind: "removed" as const,
  before: "a@b.c",
  count: 1,
  digest: 1
})
const moved = { node: "Mail", run: 0, path: "", kind: "order" as const, count: 2, digest: 1 }

const runs = [[lost("Map contact"), lost("Mail")], [], [lost("Map contact"), lost("Mail")], [moved]].map((
  differences,
  index
) => ({ execution: String(101 + index), order, differences, milliseconds: 1_500 }))

const notReplayed = [{ execution: "99", why: "n8n stored no data" }, {
  node: "Mail",
  execution: "101",
  why: "nothing is stored for it"
}]

const result = Groups.group(runs, [
  { node: "Map contact", path: "at" },
  { node: "Mail", path: "today", why: "differs from the record without the change too" }
], notReplayed)

describe("the report of a proof", () => {
  it("has the verdict first, then the cause with both sides", () => {
    assert.strictEqual(
      ProofReport.text(result, false),
      `≠ 1 same; 2 lose \`email\` at 'Map contact'; 1 changes the order at 'Mail'

  'Map contact': email removed  (2 runs: 101, 103)
    email
    - "a@b.c"
    + nothing
    and 1 later node: 'Mail'
  'Mail': order  (1 run: 104)

ignored
  'Map contact': at
  'Mail': today (differs from the record without the change too)

not replayed
  99: n8n stored no data
  'Mail' in 101: nothing is stored for it`
    )
    assert.strictEqual(ProofReport.text(Groups.group([], [], []), false), "✗ nothing was replayed")
    assert.strictEqual(ProofReport.text(Groups.group(runs.slice(1, 2), [], []), false), "✓ 1 same")
    assert.include(ProofReport.text(result, true), "\u001b[33m≠\u001b[0m 1 same")
  })

  it("has at most 30 lines", () => {
    const many = Array.from({ length: 40 }, (_, index) => ({ node: `N${index}`, paths: ["p"], why: "w" }))
    const text = ProofReport.text({ ...result, ignored: many, notReplayed: many }, false)
    assert.strictEqual(text.split("\n").length, 30)
    assert.match(text, /and \d+ more$/)
  })

  it("has an entry for each execution", () => {
    const cases = ProofReport.junit("Orders", runs, notReplayed)
    assert.deepStrictEqual(
      cases.map(({ classname, name, problem }) => [classname, name, problem?.kind, problem?.message]),
      [
        ["Orders", "101", "failure", "'Map contact': email removed"],
        ["Orders", "102", undefined, undefined],
        ["Orders", "103", "failure", "'Map contact': email removed"],
        ["Orders", "104", "failure", "'Mail': order"],
        ["Orders", "99", "error", "n8n stored no data"]
      ]
    )
    const document = JUnit.document(cases, { milliseconds: 6_000, startedAt: 0 })
    assert.include(document, "tests=\"5\" failures=\"3\" errors=\"1\"")
  })
})
