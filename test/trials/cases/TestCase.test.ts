import { assert, describe, it } from "@effect/vitest"
import * as Result from "effect/Result"
import * as TestCase from "../../../src/trials/cases/TestCase.ts"

const faults = (value: unknown) =>
  Result.match(TestCase.fromJson(value), {
    onSuccess: () => [],
    onFailure: (all) => all.map(({ message, path }) => `${path}: ${message}`)
  })

describe("a case", () => {
  it("is what it says, with everything or with its workflow alone", () => {
    const whole: TestCase.TestCase = {
      workflow: "../orders.json",
      testData: [{ a: 1 }, { json: { a: 2 } }],
      replay: "239",
      pins: { Mail: [{ sent: true }, { json: { sent: false } }], Store: "run" },
      startNode: "A",
      endNode: "B",
      timeout: 5_000,
      expect: { status: "error", nodes: { "Sum up": { count: 2, items: [{ total: "*" }, "*"] } } }
    }
    assert.deepStrictEqual(TestCase.fromJson(whole), Result.succeed(whole))
    assert.deepStrictEqual(faults({ workflow: "x" }), [])
    assert.deepStrictEqual(faults({ workflow: "x", replay: 239 }), [])
  })

  it("that is not one fails with every place and reason", () => {
    assert.deepStrictEqual(faults(5), [": A case is a JSON object"])
    assert.deepStrictEqual(faults([]), [": A case is a JSON object"])
    assert.deepStrictEqual(
      faults({
        testdata: 1,
        pins: { Mail: { sent: true }, "Store it": [5] },
        timeout: 10,
        expect: { stats: "error", nodes: { "Sum up": { itmes: [], count: -1, items: ["x", { a: "/(/" }] } } }
      }).map((fault) => fault.split(/\. |; /)[0]),
      [
        "testdata: unknown key",
        "expect.stats: unknown key",
        "expect.nodes[\"Sum up\"].itmes: unknown key",
        "workflow: Missing key",
        "pins.Mail: Expected array | \"run\"",
        "pins[\"Store it\"][0]: Expected object | array",
        "timeout: Expected a value between 1000 and 3600000",
        "expect.nodes[\"Sum up\"].count: Expected a value greater than or equal to 0",
        "expect.nodes[\"Sum up\"].items[0]: Expected object | \"*\"",
        "expect.nodes[\"Sum up\"].items[1].a: Invalid regular expression: /(/: Unterminated group"
      ]
    )
    assert.deepStrictEqual(faults({ workflow: "x", pin: {} }), ["pin: unknown key. Did you mean 'pins'?"])
    assert.match(
      String(faults({ workflow: "x", expect: { status: "failed" } })),
      /expect\.status: Expected "success" \|/
    )
  })
})
