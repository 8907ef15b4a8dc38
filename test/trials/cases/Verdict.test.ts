import { assert, describe, it } from "@effect/vitest"
import * as Redact from "../../../src/base/Redact.ts"
import * as TestCase from "../../../src/trials/cases/TestCase.ts"
import type { Expectation } from "../../../src/trials/cases/TestCase.ts"
import { document, failed, from, fromApi, items, run } from "../../executions/runData.ts"

const redact = Redact.redact

/** Two rows, of which the first leaves by the second output; a loop of three; a failure. */
const execution = fromApi(document({
  T: [run(0, { main: [items({ n: 1 })] })],
  Rows: [run(1, { main: [items({ id: 2, at: "2026-11-21T20:59:49.000Z", run: "77" }), items({ id: 1 })] }, {
    source: [from("T")]
  })],
  Loop: [0, 1, 2].map((n) => run(2 + n, { main: [items({ n, password: `hunter${n}` })] }, { source: [from("Rows")] })),
  Break: [failed(5, { message: "no price" }, { source: [from("Loop")] })]
}, { status: "error" }))

const paths = (expectation: Expectation) =>
  TestCase.differences(expectation, execution, redact).map(({ actual, expected, path }) => [path, expected, actual])

describe("a verdict", () => {
  it("counts over runs and outputs, and compares items in their order, by place", () => {
    assert.deepStrictEqual(
      paths({
        status: "error",
        nodes: {
          Rows: { count: 2, items: [{ id: 2 }, { json: { id: 1 } }] },
          Loop: { count: 3, items: ["*", { n: 1 }] },
          Break: { count: 0 },
          Elsewhere: { count: 0, items: [] }
        }
      }),
      []
    )
    assert.deepStrictEqual(
      paths({ nodes: { Rows: { count: 1, items: [{ id: 1 }, { json: { id: 2 } }, {}] }, "Else where": { count: 1 } } }),
      [
        ["expect.status", "success", "error"],
        ["expect.nodes.Rows.count", 1, 2],
        ["expect.nodes.Rows.items[0].id", 1, 2],
        ["expect.nodes.Rows.items[1].json.id", 2, 1],
        ["expect.nodes.Rows.items[2]", {}, undefined],
        ["expect.nodes[\"Else where\"].count", 1, 0]
      ]
    )
  })

  it("compares no links between items, and shows no secret unless it is asked to", () => {
    const nodes = { Loop: { items: [{ json: { n: 0, password: "other" }, pairedItem: { item: 5 } }] } }
    assert.deepStrictEqual(paths({ status: "error", nodes }), [
      ["expect.nodes.Loop.items[0].json.password", "[redacted]", "[redacted]"]
    ])
    const [shown] = TestCase.differences({ status: "error", nodes }, execution, TestCase.redaction(false))
    assert.deepInclude(shown, { expected: "other", actual: "hunter0" })
    const right = { Loop: { items: [{ password: "hunter0" }] } }
    assert.deepStrictEqual(paths({ status: "error", nodes: right }), [])
  })

  it("becomes an expectation that holds, with what was left open still open", () => {
    const before: Expectation = {
      nodes: { Rows: { items: [{ id: "*", run: "76" }, { id: 5 }, { id: 6 }] }, Loop: {}, Break: { count: 1 } }
    }
    const after = TestCase.updated({ expect: before }, execution, redact)
    assert.deepStrictEqual(after, {
      status: "error",
      nodes: {
        Rows: { items: [{ id: "*", run: "*" }, { id: 1 }] },
        Loop: { count: 3, items: [{ n: 0, password: "*" }, { n: 1, password: "*" }, { n: 2, password: "*" }] },
        Break: { count: 0 }
      }
    })
    assert.deepStrictEqual(paths(after), [])
    assert.deepStrictEqual(TestCase.updated({ expect: after }, execution, redact), after)
  })

  it("of a case without expectation becomes one of its last node, without times of the run", () => {
    const rows = fromApi(document({
      Rows: [
        run(1, { main: [items(...Array.from({ length: 12 }, (_, id) => ({ id, at: "2026-11-21T20:59:49.000Z" })))] })
      ]
    }))
    const { nodes, status } = TestCase.updated({}, rows, redact) as Expectation
    assert.deepStrictEqual([status, Object.keys(nodes ?? {}), nodes?.["Rows"]?.count], ["success", ["Rows"], 12])
    assert.deepStrictEqual(nodes?.["Rows"]?.items, Array.from({ length: 10 }, (_, id) => ({ id, at: "*" })))
    assert.deepStrictEqual(TestCase.differences({ nodes: nodes ?? {} }, rows, redact), [])
  })
})
