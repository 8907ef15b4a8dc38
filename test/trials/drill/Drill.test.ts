import { assert, describe, it } from "@effect/vitest"
import * as Drill from "../../../src/trials/drill/Drill.ts"
import type * as NodeFailures from "../../../src/trials/drill/NodeFailures.ts"
import type * as Verdict from "../../../src/trials/drill/Verdict.ts"

const says = (grade: Verdict.Grade, because: string): Verdict.Verdict => ({ grade, because })
const handled = says("handled", "It tries again (retryOnFail).")
const silent = says("stops silently", "After an empty list nothing after it runs.")
const alert = says("stops with alert", "The run stops here, and n8n starts the error workflow 'Alert'.")

const verdicts = (
  [errors, transient, empty]: readonly [Verdict.Verdict, Verdict.Verdict, Verdict.Verdict]
): ReadonlyArray<readonly [NodeFailures.Kind, Verdict.Verdict]> => [
  ["401", errors],
  ["429", transient],
  ["500", transient],
  ["timeout", transient],
  ["empty", empty]
]

const rows = Drill.inOrder([
  Drill.rowsOf("A", verdicts([alert, handled, handled])),
  Drill.rowsOf("B", verdicts([alert, alert, silent])),
  Drill.rowsOf("C", verdicts([handled, handled, handled]))
])

describe("rows of a drill", () => {
  it("failures with the same outcome are together, the empty list last, the worst node first", () => {
    assert.deepStrictEqual(rows.map(({ failures, node, verdict }) => [node, verdict, failures.join(" ")]), [
      ["B", "stops with alert", "401 429 500 timeout"],
      ["B", "stops silently", "empty list"],
      ["A", "stops with alert", "401"],
      ["A", "handled", "429 500 timeout empty list"],
      ["C", "handled", "401 429 500 timeout empty list"]
    ])
    assert.strictEqual(rows[1]?.why, silent.because)
  })

  it("nodes count by their worst verdict, and any row decides the exit code", () => {
    assert.strictEqual(Drill.verdictOf(rows), "1 node: stops silently; 1 node: stops with alert; 1 node: handled")
    assert.strictEqual(Drill.exitCode({ rows }), 2)
    assert.strictEqual(Drill.exitCode({ rows: rows.filter(({ node }) => node !== "B") }), 0)
    assert.strictEqual(Drill.exitCode({ rows: [] }), 1)
  })

  it("a reason that was given before refers to its row", () => {
    const two = ["A", "B"].flatMap((name) => Drill.rowsOf(name, verdicts([alert, handled, silent])))
    const [a, b] = ["A", "B"].map((name) => Drill.referring(two).filter(({ node }) => node === name))
    assert.deepStrictEqual(a, two.slice(0, 3))
    assert.deepStrictEqual(b?.map(({ why }) => why), a?.map(({ failures: [failure] }) => `as 'A' (${failure})`))
    assert.deepStrictEqual(Drill.referring(rows.slice(0, 2)), rows.slice(0, 2))
  })
})
