import { assert, describe, it } from "@effect/vitest"
import { Ajv } from "ajv"
import { XMLParser, XMLValidator } from "fast-xml-parser"
import { readFileSync } from "node:fs"
import * as CaseReport from "../../../src/app/report/CaseReport.ts"
import type { Judgment } from "../../../src/app/report/Writer.ts"
import * as Writer from "../../../src/app/report/Writer.ts"
import type * as Finding from "../../../src/fleet/inspection/Finding.ts"
import { broken, failed, passed, updated } from "./outcomes.ts"

const odd = "請求書, 100%: a/b.json"

const error: Finding.Finding = {
  file: odd,
  line: 12,
  column: 7,
  rule: "unknown-type",
  severity: "error",
  node: "Fetch, it: all",
  message: "n8n has no type 'x'.\nReally.",
  fix: "Did you mean 'y'?",
  path: "nodes[0].type"
}
const old = (node: string, line: number): Finding.Finding => ({
  file: "b.json",
  line,
  column: 1,
  rule: "outdated-node",
  severity: "note",
  node,
  message: "Version 1 of 'if'; the newest is 2.3.",
  path: "nodes[1].typeVersion"
})
const warning: Finding.Finding = {
  workflow: "wf 1",
  name: "Orders::x",
  rule: "upgrade-gmail-trigger",
  severity: "warning",
  message: "n8n 3.0: it changes.",
  path: "settings"
}

const nowhere: Finding.Finding = { rule: "left-out", severity: "error", message: "It changed.", details: ["A (1)"] }

const report: Judgment = {
  json: { files: 3 },
  findings: [old("If", 4), old("If too", 9), error],
  subjects: Writer.subjectsOf([old("If", 4), old("If too", 9), error], [{ name: "c.json", file: "c.json" }]),
  summary: (counts) => `${counts || "nothing"} in 3 files`
}

const onN8n: Judgment = { json: {}, findings: [warning], summary: (counts) => counts }

const plain = { width: Infinity, isColoured: false }
const coloured = { width: Infinity, isColoured: true }
const times = { milliseconds: 4_321, startedAt: Date.UTC(2026, 10, 22, 8, 0, 5, 250) }

const parser = new XMLParser({
  ignoreAttributes: false,
  attributeNamePrefix: "",
  htmlEntities: true,
  trimValues: false
})

const junitOf = (judgment: Judgment) => {
  const text = Writer.junit(judgment, "check", times)
  assert.isTrue(XMLValidator.validate(text))
  return parser.parse(text).testsuites.testsuite
}

describe("the writer of judgments", () => {
  it("exits with 2 if a finding fails the command, which errors do unless it says otherwise", () => {
    assert.strictEqual(Writer.exitOf(report), 2)
    assert.strictEqual(Writer.exitOf(onN8n), 0)
    assert.strictEqual(Writer.exitOf({ ...onN8n, isFailing: ({ severity }) => severity === "warning" }), 2)
    assert.strictEqual(Writer.exitOf({ ...report, exit: 1 }), 1)
  })

  it("writes text by place, with notes of a rule in one line, which the numbers name too", () => {
    assert.deepStrictEqual(Writer.text(report, plain), [
      "b.json",
      "  4:1  note     Node version is not the newest (2): 'If', 'If too'.  [outdated-node]",
      "",
      odd,
      "  12:7  error    'Fetch, it: all': n8n has no type 'x'. Really.  [unknown-type]",
      "                 → Did you mean 'y'?",
      "",
      "1 error, 2 notes (1 line) in 3 files"
    ])
    assert.deepStrictEqual(Writer.text(onN8n, plain), [
      "Orders::x (wf 1)",
      "  warning  n8n 3.0: it changes.  [upgrade-gmail-trigger]",
      "",
      "1 warning"
    ])
    assert.deepStrictEqual(Writer.text({ ...report, findings: [] }, plain), ["nothing in 3 files"])
  })

  it("writes text by rule, with a verdict, places and fixes; a terminal counts the places of many notes", () => {
    const at = (id: string): Finding.Finding => ({
      workflow: id,
      name: `Name ${id}`,
      rule: "outdated-node",
      severity: "note",
      message: "These are old",
      details: ["'A': 1 of 2\r\n##vso[x]"],
      fix: "Move on."
    })
    const judgment: Judgment = {
      ...onN8n,
      isByRule: true,
      verdict: "1 left",
      about: ["a change"],
      findings: [at("1"), at("2")]
    }
    assert.deepStrictEqual(Writer.text(judgment, plain), [
      "✓ 1 left",
      "a change",
      "",
      "note outdated-node (2): These are old",
      "  Name 1 (1)",
      "    │ 'A': 1 of 2",
      "    │ ##vso[x]",
      "  Name 2 (2)",
      "    │ 'A': 1 of 2",
      "    │ ##vso[x]",
      "  → Move on.",
      "",
      "2 notes"
    ])
    const many = { ...judgment, findings: Array.from({ length: 297 }, (_, index) => at(String(index))) }
    assert.isAbove(Writer.text(many, plain).length, 297)
    assert.deepStrictEqual(Writer.text(many, { ...plain, width: 80 }).slice(3), [
      "note outdated-node (297): These are old",
      "  297 places: --json lists them, and a pipe",
      "  → Move on.",
      "",
      "297 notes"
    ])
    const errors = { ...many, findings: many.findings.map((each) => ({ ...each, severity: "error" as const })) }
    assert.isAbove(Writer.text(errors, { ...plain, width: 80 }).length, 297)
  })

  it("makes foreign text visible before it paints, and reveals no secrets", () => {
    const hostile = "A\r\n::error::x\u001B[31mred\u001B[0m\u202E ghp_0123456789abcdefghijABCDEFGHIJ012345"
    const findings: ReadonlyArray<Finding.Finding> = [
      {
        ...warning,
        severity: "error",
        name: hostile,
        node: hostile,
        message: hostile,
        fix: hostile,
        details: [hostile]
      }
    ]
    for (const isByRule of [false, true]) {
      const judgment = { ...onN8n, isByRule, verdict: hostile, about: [hostile], findings, exit: 2 as const }
      const text = Writer.text(judgment, coloured).join("\n")
      assert.include(text, "\u001B[31merror")
      assert.include(text, "\u001B[33m≠\u001B[0m")
      const unpainted = text.replaceAll("\u001B[31merror", "").replaceAll("\u001B[33m≠", "").replaceAll("\u001B[0m", "")
      assert.notMatch(unpainted, /(?!\n)\p{Cc}|\p{Bidi_Control}|^::/mu)
      assert.notInclude(
        Writer.text({ ...judgment, about: [], findings: findings.map(({ details: _, ...each }) => each) }, plain)
          .join("\n"),
        "ghp_"
      )
      const [line = "", ...rest] = Writer.github(judgment)
      assert.lengthOf(rest, 0)
      assert.notMatch(line, /\p{Cc}|\p{Bidi_Control}/u)
      assert.isTrue(XMLValidator.validate(Writer.junit(judgment, "x", times)))
    }
  })

  it("writes JSON with the findings beside the data", () => {
    assert.deepStrictEqual(Writer.json(report), { ok: false, files: 3, findings: report.findings })
    assert.deepStrictEqual(Writer.tally(report.findings), { errors: 1, warnings: 0, notes: 2 })
  })

  it("writes commands for GitHub's log, errors first, whose texts cannot end or forge one", () => {
    assert.deepStrictEqual(Writer.github(report).map((line) => line.slice(0, 160)), [
      "::error file=請求書%2C 100%25%3A a/b.json,line=12,col=7,title=Unknown node type::'Fetch, it: all': n8n has no type " +
      "'x'. Really. Did you mean 'y'?",
      "::notice file=b.json,line=4,col=1,title=Node version is not the newest::'If': Version 1 of 'if'; the newest is 2.3.",
      "::notice file=b.json,line=9,col=1,title=Node version is not the newest::'If too': Version 1 of 'if'; the newest is 2.3."
    ])
    assert.deepStrictEqual(Writer.github({ ...onN8n, findings: [{ ...warning, details: ["100%", "b"] }] }), [
      "::warning title=Upgrade%3A gmail trigger::Orders::x (wf 1): n8n 3.0: it changes.%0A100%25%0Ab"
    ])
    assert.strictEqual(Writer.conclusion(report), "1 error, 2 notes in 3 files")
    assert.strictEqual(Writer.conclusion({ ...report, verdict: "Bad" }), "Bad")
  })
})

describe("JUnit", () => {
  it("has an entry for each place of findings, and for others", () => {
    const { testcase, ...suite } = junitOf(report)
    assert.deepInclude(suite, { tests: "3", failures: "1", errors: "0", skipped: "0", time: "4.321" })
    assert.deepInclude(suite, { name: "n8n workflows", timestamp: "2026-11-22T08:00:05" })
    assert.deepStrictEqual(testcase.map(({ name }: { name: string }) => name), ["b.json", odd, "c.json"])
    assert.deepInclude(testcase[1].failure, { type: "unknown-type" })
    assert.deepInclude(testcase[2], { classname: "check", file: "c.json" })
    assert.deepInclude(junitOf({ ...report, isFailing: () => true }), { failures: "2" })
  })

  it("has what CI systems read of cases: counts, times, and of each its file and what is wrong", () => {
    const { testcase, ...suite } = junitOf(CaseReport.judgment([passed, failed, broken, updated], 5))
    assert.deepInclude(suite, { tests: "4", failures: "1", errors: "1" })
    const [one, two, three, four] = testcase
    assert.deepStrictEqual(one, { name: "a.test.json", classname: ".", file: "a.test.json", time: "0.412" })
    assert.deepInclude(two, { name: "b & \"c\".test.json", classname: "orders", time: "1.200" })
    assert.deepInclude(two.failure, { type: "case-failed" })
    assert.match(two.failure.message, /^Not as expected: expect\.status, expect\.nodes\.Sum\.items\[0\]\.total, /)
    assert.include(two.failure["#text"], "expected  \"/^2026/\"")
    assert.include(two.failure["#text"], "five</p>")
    assert.include(two.failure["#text"], "no price ]]>")
    assert.deepInclude(three.error, { type: "case-error", message: "Failed to create workflow (HTTP 401)" })
    assert.notProperty(four, "failure")
  })

  it("is well-formed for any names and texts", () => {
    const odd = "a\u0000\u0008\u001b[31m\uFFFE\uD800 <&>\"'\n\t]]> 😀 ünï"
    const judgment = CaseReport.judgment([{ ...failed, name: `${odd}/${odd}.test.json` }], 5)
    assert.strictEqual(junitOf(judgment).testcase.classname, "a\uFFFD\uFFFD\uFFFD[31m\uFFFD\uFFFD <&>\"'\n\t]]> 😀 ünï")
    assert.notMatch(Writer.junit(judgment, "test", times), /(?![\t\n\r])\p{Cc}|[\uFFFE\uFFFF]/u)
  })
})

describe("SARIF", () => {
  const validate = new Ajv({ strict: false, validateFormats: false, unicodeRegExp: false })
    .compile(JSON.parse(readFileSync("test/fixtures/sarif-2.1.0.json", "utf8")))

  it("follows the official schema, on files and on n8n, with findings and without", () => {
    for (const findings of [report.findings, [warning], [], [error, error], [nowhere]]) {
      assert.isTrue(validate(Writer.sarif({ json: {}, findings })), JSON.stringify(validate.errors))
    }
    assert.isFalse(validate({ ...Writer.sarif({ json: {}, findings: [] }), runs: [{ results: [] }] }))
  })

  it("has rules with help, places and fingerprints", () => {
    const [run] = Writer.sarif({ json: {}, findings: [old("If", 4), error, error] }).runs
    assert.deepStrictEqual(run?.tool.driver.rules.map(({ id, name }) => [id, name]), [
      ["outdated-node", "OutdatedNode"],
      ["unknown-type", "UnknownType"]
    ])
    const [, one, two] = run?.results ?? []
    assert.deepInclude(one, {
      ruleId: "unknown-type",
      ruleIndex: 1,
      level: "error",
      message: { text: "'Fetch, it: all': n8n has no type 'x'. Really. Did you mean 'y'?" }
    })
    assert.deepStrictEqual(one?.locations[0]?.physicalLocation, {
      artifactLocation: { uri: "%E8%AB%8B%E6%B1%82%E6%9B%B8%2C%20100%25%3A%20a/b.json" },
      region: { startLine: 12, startColumn: 7 }
    })
    assert.notDeepEqual(one?.partialFingerprints, two?.partialFingerprints)
    const [moved] = Writer.sarif({ json: {}, findings: [{ ...error, line: 99, column: 1 }] }).runs[0]?.results ?? []
    assert.deepStrictEqual(moved?.partialFingerprints, one?.partialFingerprints)
  })
})
