import { assert, describe, it } from "@effect/vitest"
import * as Redact from "../../../src/base/Redact.ts"
import * as TestCase from "../../../src/trials/cases/TestCase.ts"
import { Json } from "../../support/arbitrary.ts"

const plain = TestCase.redaction(false)

const differences = (expected: unknown, actual: unknown, path: string, redact = plain) =>
  TestCase.valueDifferences(expected, Redact.whole(actual, redact), path, redact)

/** What is expected, what fits, and what does not. */
const table: ReadonlyArray<readonly [unknown, ReadonlyArray<unknown>, ReadonlyArray<unknown>]> = [
  ["*", ["*", "", 0, null, false, [], {}], [undefined]],
  ["/^ORD-\\d+$/", ["ORD-1"], ["ord-1", "ORD-", 1, null, undefined, ["ORD-1"]]],
  ["/^ord/i", ["ORD-1"], ["X"]],
  ["\\*", ["*"], ["a", "\\*"]],
  ["\\/a/", ["/a/"], ["a"]],
  ["\\\\", ["\\"], ["\\\\"]],
  ["/a/b", ["/a/b"], ["a", "/a/"]],
  [1, [1], [1.0001, "1", true, null]],
  [null, [null], [undefined, 0, ""]],
  [{}, [{}, { a: 1 }], [[], null, undefined, "{}"]],
  [{ a: { b: 1 } }, [{ a: { b: 1, c: 2 }, d: 3 }], [{ a: { c: 2 } }, { a: 1 }, {}]],
  [{ toString: "*" }, [{ toString: 1 }], [{}]],
  [[1, "*"], [[1, 2]], [[1], [1, 2, 3], [2, 1], { 0: 1, 1: 2 }]],
  [[{ a: 1 }], [[{ a: 1, b: 2 }]], [[{ b: 2 }]]]
]

describe("expected values", () => {
  it("fit what they say, and nothing else", () => {
    for (const [expected, fits, others] of table) {
      for (const value of fits) {
        assert.isTrue(TestCase.matches(expected, value), `${JSON.stringify(expected)} ${JSON.stringify(value)}`)
      }
      for (const value of others) {
        assert.isFalse(TestCase.matches(expected, value), `${JSON.stringify(expected)} ${JSON.stringify(value)}`)
      }
    }
  })

  it.each<[what: string, expected: unknown, actual: unknown, differences: ReadonlyArray<object>]>([
    [
      "in places, each named as in the case",
      { a: 1, "odd key": { list: [1, { b: "x" }] }, same: "*", gone: 1 },
      { a: 2, "odd key": { list: [1, { b: "y", c: 1 }] }, same: 1, more: 1 },
      [
        { path: "items[0].a", expected: 1, actual: 2 },
        { path: "items[0][\"odd key\"].list[1].b", expected: "x", actual: "y" },
        { path: "items[0].gone", expected: 1, actual: undefined }
      ]
    ],
    [
      "in a list of another length by what is expected of its elements",
      [{ id: 1 }],
      [{ id: 1, noise: "a" }, { id: 2, noise: "b" }],
      [{ path: "items[0]", expected: [{ id: 1 }], actual: [{ id: 1 }, { id: 2, noise: "b" }] }]
    ],
    ["in null, which is shown and not taken for a secret", { a: 1, b: null }, { a: null, b: 2 }, [
      { path: "items[0].a", expected: 1, actual: null },
      { path: "items[0].b", expected: null, actual: 2 }
    ]]
  ])("differ %s", (_, expected, actual, all) => {
    assert.deepStrictEqual<unknown>(differences(expected, actual, "items[0]"), all)
  })

  it("show what may be shown, and keep no secret in what is written", () => {
    const actual = { password: "hunter2", user: "ada", apiKeys: ["k"] }
    const redact = TestCase.redaction(true)
    assert.deepStrictEqual(
      differences({ password: "x" }, actual, "items[0]", redact),
      [{ path: "items[0].password", expected: "[redacted]", actual: "[redacted]" }]
    )
    assert.deepStrictEqual(TestCase.exactly(redact(actual)), { password: "*", user: "ada", apiKeys: ["*"] })
    assert.deepStrictEqual(TestCase.updatedValue({ password: "x", user: "bob" }, actual, redact(actual)), {
      password: "*",
      user: "ada"
    })
  })

  it("are updated where they do not hold: wildcards that do stay, and what was not listed is not", () => {
    const before = { id: "*", at: "/^2026/", total: 1, gone: 1, list: ["*", 1], inner: { a: 1 } }
    const actual = { id: 7, at: "2025-01-01", total: 2, list: [5, 6, "*"], inner: { a: 2, b: 3 }, more: 1 }
    assert.deepStrictEqual(TestCase.updatedValue(before, actual, actual), {
      id: "*",
      at: "2025-01-01",
      total: 2,
      list: ["*", 6, "\\*"],
      inner: { a: 2 }
    })
  })

  it("that are wrong regular expressions are named", () => {
    assert.deepStrictEqual(TestCase.patternFaults([{ a: "/ok/" }, "*", 1, null], "items"), [])
    const [fault, ...others] = TestCase.patternFaults([{ a: { b: ["/(/"] } }], "items")
    assert.isEmpty(others)
    assert.strictEqual(fault?.path, "items[0].a.b[0]")
    assert.match(fault?.message ?? "", /Unterminated group.*backslash/)
  })

  it.prop("of exactly a value fit it, also where that looks like a wildcard", { value: Json }, ({ value }) => {
    assert.isTrue(TestCase.matches(TestCase.exactly(value), value))
    for (const text of ["*", "/", "//", "/a/", "/(/", "\\", "\\*"]) {
      assert.isTrue(TestCase.matches(TestCase.exactly({ text, value }), { text, value }))
      assert.isFalse(TestCase.matches(TestCase.exactly({ text, value }), { text: `${text}.`, value }))
    }
  })

  it.prop("have no difference where they fit, and fit once they are updated", {
    expected: Json,
    actual: Json
  }, ({ actual, expected }) => {
    if (TestCase.patternFaults(expected, "").length > 0) return
    const all = differences(expected, actual, "")
    assert.strictEqual(all.length === 0, TestCase.matches(expected, actual))
    assert.isTrue(TestCase.matches(TestCase.updatedValue(expected, actual, actual), actual))
  })
})
