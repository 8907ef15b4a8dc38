import { assert, describe, it } from "@effect/vitest"
import * as Finding from "../../../src/fleet/inspection/Finding.ts"
import { rules } from "../../../src/workflow/check/Rules.ts"

const finding: Finding.Finding = {
  file: "a.json",
  line: 3,
  column: 5,
  rule: "duplicate-name",
  severity: "error",
  node: "A",
  message: "nodes[0] also has the name 'A'.",
  path: "nodes[1].name"
}

const keys = (...findings: ReadonlyArray<Finding.Finding>) => Finding.keysOf(findings)

describe("a finding", () => {
  it("is the same on another line, and another one in another file, node, rule or with another message", () => {
    const moved = { ...finding, line: 9, column: 1, path: "nodes[4].name", message: "nodes[3] also has the name 'A'." }
    assert.deepStrictEqual(keys(moved), keys(finding))
    assert.deepStrictEqual(
      keys({ ...finding, message: "The code does not parse: x, line 2: a" }),
      keys({ ...finding, message: "The code does not parse: x, line 12: a" })
    )
    const others = [{ file: "b.json" }, { node: "B" }, { rule: "duplicate-id" }, { message: "Other." }]
    for (const other of others) assert.notDeepEqual(keys({ ...finding, ...other }), keys(finding))
    assert.notStrictEqual(Finding.fingerprint(["a", "bc"]), Finding.fingerprint(["ab", "c"]))
  })

  it("is numbered if there are equal ones, so that one more is new", () => {
    const all = keys(finding, finding, finding)
    assert.strictEqual(new Set(all.map((key) => JSON.stringify(key))).size, 3)
    assert.deepStrictEqual(all.slice(0, 2), keys(finding, { ...finding, line: 99 }))
  })

  it("fails a check as an error, and if that is strict as a warning or old node", () => {
    const of = (severity: Finding.Severity, rule: string) => ({ ...finding, severity, rule })
    assert.isTrue(Finding.counts(of("error", "x"), false))
    assert.isFalse(Finding.counts(of("warning", "x"), false))
    assert.isTrue(Finding.counts(of("warning", "x"), true))
    assert.isTrue(Finding.counts(of("note", "outdated-node"), true))
    assert.isTrue(Finding.counts(of("note", "deprecated-node"), true))
    assert.isFalse(Finding.counts(of("note", "no-error-workflow"), true))
  })
})

describe("a rule", () => {
  it("has a stable id, a name and help", () => {
    for (const [id, [name, help]] of Object.entries(rules)) {
      assert.match(id, /^[a-z]+(-[a-z]+)*$/)
      assert.isFalse(id.startsWith(Finding.upgradeRule))
      assert.deepStrictEqual(Finding.ruleOf(id), { name: name ?? "", help: help ?? "" })
    }
    assert.strictEqual(Finding.ruleOf("upgrade-type-removed").name, "Upgrade: type removed")
  })
})
