import { assert, describe, it } from "@effect/vitest"
import * as Result from "effect/Result"
import * as ProofReport from "../../../src/app/report/ProofReport.ts"
import type { Judgment } from "../../../src/app/report/Writer.ts"
import * as Writer from "../../../src/app/report/Writer.ts"
import type * as Drill from "../../../src/trials/drill/Drill.ts"
import * as Groups from "../../../src/trials/proof/Groups.ts"
import type * as Proof from "../../../src/trials/proof/Proof.ts"
import * as Proofs from "../../../src/trials/proof/Proofs.ts"

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
) => ({ execution: String(101 + index), order, differences }))

const notReplayed = [{ execution: "99", why: "n8n stored no data" }, {
  node: "Mail",
  execution: "101",
  why: "nothing is stored for it"
}]

const ignored = [
  { node: "Map contact", path: "at" },
  { node: "Mail", path: "today", why: "differs from the record without the change too" }
]

/** Proof of these runs, of which some are fixed. */
const proof = (
  outcomes: ReadonlyArray<Groups.Run & { readonly isFixed?: boolean }>,
  why: ReadonlyArray<Groups.NotReplayed> = []
) => ({
  workflow: { id: "w1", name: "Orders" },
  ...Groups.group(outcomes, outcomes.length === 0 ? [] : ignored, why),
  fixed: outcomes.filter(({ isFixed }) => isFixed).length,
  outcomes: outcomes.map(({ isFixed = false, ...run }) => ({ ...run, milliseconds: 1_500, effects: { isFixed } }))
} as unknown as Proof.Proof)

const plain = { width: Infinity, isColoured: false }
const junit = (judgment: Judgment) => Writer.junit(judgment, "prove", { milliseconds: 6_000, startedAt: 0 })

describe("the report of a proof", () => {
  it("has the verdict first, then the cause with both sides", () => {
    const judgment = ProofReport.one(proof(runs, notReplayed))
    assert.deepStrictEqual(
      Writer.text(judgment, plain).join("\n"),
      `≠ 1 same; 2 lose \`email\` at 'Map contact'; 1 changes the order at 'Mail'

Orders (w1)
  error    'Map contact': email removed  [difference]
           │ 2 runs: 101, 103
           │ email
           │ - "a@b.c"
           │ + nothing
           │ and 1 later node: 'Mail'
  error    'Mail': order  [difference]
           │ 1 run: 104
  note     These values were not compared.  [ignored]
           │ 'Map contact': at
           │ 'Mail': today (differs from the record without the change too)
  warning  run 99: n8n stored no data  [not-replayed]
  warning  'Mail': run 101: nothing is stored for it  [not-replayed]`
    )
    assert.strictEqual(Writer.exitOf(judgment), 2)
    assert.strictEqual(Writer.text(ProofReport.one(proof([])), plain).join("\n"), "✗ nothing was replayed")
    assert.strictEqual(Writer.exitOf(ProofReport.one(proof([]))), 1)
    assert.strictEqual(Writer.text(ProofReport.one(proof(runs.slice(1, 2))), plain)[0], "✓ 1 same")
  })

  it("has an entry for each execution, with its own differences", () => {
    const text = junit(ProofReport.one(proof(runs, notReplayed)))
    assert.include(text, "tests=\"5\" failures=\"3\" errors=\"1\"")
    assert.match(text, /name="103" classname="Orders" time="1.500"><failure [^>]*message="[^"]*email removed"/)
    assert.match(text, /name="103"[^]*1 run: 103[^]*name="104"[^>]*><failure [^>]*: order"/)
    assert.match(text, /name="102" classname="Orders" time="1.500"\/>/)
    assert.match(text, /name="99" [^>]*><error type="not-replayed"/)
  })

  it("accepts runs that are only fixed where that is allowed, in every format", () => {
    const fixed = proof(runs.map((run) => ({ ...run, isFixed: run.differences.length > 0 })))
    const [strict, allowing] = [ProofReport.one(fixed), ProofReport.one(fixed, true)]
    assert.deepStrictEqual([Writer.exitOf(strict), Writer.exitOf(allowing)], [2, 0])
    assert.include(junit(strict), "failures=\"3\"")
    assert.include(junit(allowing), "failures=\"0\"")
    assert.isTrue(allowing.findings.every(({ severity }) => severity === "note"))
    // A run that shares a difference with one that is fixed still fails.
    const mixed = ProofReport.one(
      proof(runs.map((run, index) => ({ ...run, isFixed: index === 0 || index === 3 }))),
      true
    )
    assert.include(junit(mixed), "failures=\"1\"")
  })

  it("of several workflows has what they share once, and what was not proven", () => {
    const { notReplayed: _, ...rest } = proof(runs)
    const proofs = ["w1", "w2"].map((id) => ({
      id,
      name: `Name of ${id}`,
      proof: Result.succeed({ ...rest, notReplayed: [], left: [], triggers: [] })
    }))
    const judgment = ProofReport.many(Proofs.of(proofs))
    const text = Writer.text(judgment, plain).join("\n")
    assert.match(
      text,
      /error difference \(2\): 'Map contact': email removed\n {2}Name of w1 \(w1\)\n[^]*\n {2}Name of w2 \(w2\)\n/
    )
    assert.include(junit(judgment), "tests=\"8\" failures=\"6\" errors=\"0\"")
    assert.notProperty(judgment.json, "proofs")
  })

  it("of a drill names what is not noticed, and what was not drilled", () => {
    const result: Drill.Drill = {
      workflow: { id: "orders.json", name: "Orders" },
      rows: [
        { node: "Mail", verdict: "stops silently", failures: ["timeout", "HTTP 500"], why: "no error workflow" },
        { node: "Log", verdict: "handled", failures: ["timeout"], why: "it continues" }
      ],
      notDrilled: [{ node: "Post", why: "it never ran" }]
    }
    const judgment = ProofReport.drill(result)
    assert.strictEqual(
      Writer.text(judgment, { ...plain, isColoured: true }).join("\n"),
      `\u001b[33m≠\u001b[0m 1 node: stops silently; 1 node: handled

orders.json
  \u001b[31merror  \u001b[0m  'Mail': stops silently (timeout, HTTP 500)  [stops-silently]
           │ no error workflow
  note     'Log': handled (timeout)  [handled]
           │ it continues
  \u001b[33mwarning\u001b[0m  'Post': it never ran  [not-drilled]`
    )
    assert.include(junit(judgment), "tests=\"2\" failures=\"1\"")
    assert.deepInclude(judgment.findings[0], { file: "orders.json", line: 1 })
  })
})
