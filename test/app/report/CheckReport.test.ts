import { assert, describe, it } from "@effect/vitest"
import { Ajv } from "ajv"
import { XMLParser, XMLValidator } from "fast-xml-parser"
import { readFileSync } from "node:fs"
import * as CheckReport from "../../../src/app/report/CheckReport.ts"
import * as JUnit from "../../../src/app/report/JUnit.ts"
import * as Sarif from "../../../src/app/report/Sarif.ts"
import * as Finding from "../../../src/fleet/inspection/Finding.ts"

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

const report: CheckReport.Report = {
  findings: [old("If", 4), old("If too", 9), error],
  places: ["b.json", "c.json", odd],
  isOnN8n: false,
  isStrict: false,
  known: 2
}

const onN8n: CheckReport.Report = { ...report, findings: [warning], places: ["wf 1", "wf 2"], isOnN8n: true, known: 0 }

describe("the report of a check", () => {
  it("is fine without errors, and if it is strict without warnings and old nodes", () => {
    const notes = { ...report, findings: report.findings.slice(0, 2) }
    assert.isFalse(CheckReport.isFine(report))
    assert.isTrue(CheckReport.isFine(notes))
    assert.isFalse(CheckReport.isFine({ ...notes, isStrict: true }))
    assert.isTrue(CheckReport.isFine(onN8n))
    assert.isFalse(CheckReport.isFine({ ...onN8n, isStrict: true }))
  })

  it("is text by file, with notes of a rule in one line, coloured on request", () => {
    const lines = CheckReport.text(report, false)
    assert.deepStrictEqual(lines, [
      "b.json",
      "  4:1  note     Node version is not the newest (2): 'If', 'If too'.  [outdated-node]",
      "",
      odd,
      "  12:7  error    'Fetch, it: all': n8n has no type 'x'.\nReally.  [unknown-type]",
      "                 → Did you mean 'y'?",
      "",
      "1 error, 2 notes in 2 of 3 files; 2 known in the baseline"
    ])
    assert.include(CheckReport.text(report, true).join("\n"), "\u001B[31merror  \u001B[0m")
    assert.deepStrictEqual(CheckReport.text(onN8n, false), [
      "Orders::x (wf 1)",
      "    warning  n8n 3.0: it changes.  [upgrade-gmail-trigger]",
      "",
      "1 warning in 1 of 2 workflows"
    ])
    assert.deepStrictEqual(CheckReport.text({ ...onN8n, findings: [] }, false), ["2 workflows, nothing found"])
  })

  it("is JSON with counts", () => {
    assert.deepInclude(CheckReport.json(report), {
      ok: false,
      files: 3,
      errors: 1,
      warnings: 0,
      notes: 2,
      known: 2,
      findings: report.findings
    })
    assert.deepInclude(CheckReport.json(onN8n), { ok: true, workflows: 2, warnings: 1 })
  })

  it("is commands for GitHub's log, errors first, whose texts cannot end or forge one", () => {
    assert.deepStrictEqual(CheckReport.github(report).map((line) => line.slice(0, 160)), [
      "::error file=請求書%2C 100%25%3A a/b.json,line=12,col=7,title=Unknown node type::'Fetch, it: all': n8n has no type " +
      "'x'.%0AReally. Did you mean 'y'?",
      "::notice file=b.json,line=4,col=1,title=Node version is not the newest::'If': Version 1 of 'if'; the newest is 2.3.",
      "::notice file=b.json,line=9,col=1,title=Node version is not the newest::'If too': Version 1 of 'if'; the newest is 2.3."
    ])
    assert.deepStrictEqual(CheckReport.github(onN8n), [
      "::warning title=Upgrade%3A gmail trigger::Orders::x (wf 1): n8n 3.0: it changes."
    ])
  })

  it("is a JUnit case for each file", () => {
    const text = JUnit.document(CheckReport.junit(report), { milliseconds: 5, startedAt: 0 })
    assert.isTrue(XMLValidator.validate(text))
    const { testsuite } = new XMLParser({ ignoreAttributes: false, attributeNamePrefix: "" }).parse(text).testsuites
    assert.deepInclude(testsuite, { tests: "3", failures: "1" })
    assert.deepStrictEqual(testsuite.testcase.map(({ name }: { name: string }) => name), report.places)
    assert.deepInclude(testsuite.testcase[2].failure, { type: "unknown-type" })
    assert.strictEqual(CheckReport.junit({ ...report, isStrict: true }).filter(({ problem }) => problem).length, 2)
  })
})

describe("SARIF", () => {
  const validate = new Ajv({ strict: false, validateFormats: false, unicodeRegExp: false })
    .compile(JSON.parse(readFileSync("test/fixtures/sarif-2.1.0.json", "utf8")))

  it("follows the official schema, on files and on n8n, with findings and without", () => {
    for (const findings of [report.findings, [warning], [], [error, error]]) {
      assert.isTrue(validate(Sarif.document(findings)), JSON.stringify(validate.errors))
    }
    assert.isFalse(validate({ ...Sarif.document([]), runs: [{ results: [] }] }))
  })

  it("has rules with help, places and fingerprints", () => {
    const [run] = Sarif.document([old("If", 4), error, error]).runs
    assert.deepStrictEqual(run?.tool.driver.rules.map(({ id, name }) => [id, name]), [
      ["outdated-node", "OutdatedNode"],
      ["unknown-type", "UnknownType"]
    ])
    const [, one, two] = run?.results ?? []
    assert.deepInclude(one, {
      ruleId: "unknown-type",
      ruleIndex: 1,
      level: "error",
      message: { text: "Fetch, it: all: n8n has no type 'x'.\nReally. Did you mean 'y'?" }
    })
    assert.deepStrictEqual(one?.locations[0]?.physicalLocation, {
      artifactLocation: { uri: "%E8%AB%8B%E6%B1%82%E6%9B%B8%2C%20100%25%3A%20a/b.json" },
      region: { startLine: 12, startColumn: 7 }
    })
    assert.notDeepEqual(one?.partialFingerprints, two?.partialFingerprints)
    const [moved] = Sarif.document([{ ...error, line: 99, column: 1 }]).runs[0]?.results ?? []
    assert.deepStrictEqual(moved?.partialFingerprints, one?.partialFingerprints)
  })
})
