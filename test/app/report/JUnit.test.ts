import { assert, describe, it } from "@effect/vitest"
import { XMLParser, XMLValidator } from "fast-xml-parser"
import * as CaseReport from "../../../src/app/report/CaseReport.ts"
import * as JUnit from "../../../src/app/report/JUnit.ts"
import { broken, failed, passed, updated } from "./outcomes.ts"

const parser = new XMLParser({
  ignoreAttributes: false,
  attributeNamePrefix: "",
  htmlEntities: true,
  trimValues: false
})

const times = { milliseconds: 4_321, startedAt: Date.UTC(2026, 10, 22, 8, 0, 5, 250) }

const read = (outcomes: ReadonlyArray<CaseReport.Named>) => {
  const text = JUnit.document(outcomes.map(CaseReport.junit), times)
  assert.isTrue(XMLValidator.validate(text))
  return parser.parse(text).testsuites.testsuite
}

describe("a JUnit file", () => {
  it("has what CI systems read: counts, times, and of each case its file and what is wrong", () => {
    const { testcase, ...suite } = read([passed, failed, broken, updated])
    const counts = { tests: "4", failures: "1", errors: "1", skipped: "0", time: "4.321" }
    assert.deepInclude(suite, { name: "n8n workflows", timestamp: "2026-11-22T08:00:05", ...counts })
    const [one, two, three, four] = testcase
    assert.deepStrictEqual(one, { name: "a.test.json", classname: ".", file: "a.test.json", time: "0.412" })
    assert.deepInclude(two, { name: "b & \"c\".test.json", classname: "orders", time: "1.200" })
    assert.deepInclude(two.failure, { type: "Difference" })
    assert.match(two.failure.message, /^Not as expected: expect\.status, expect\.nodes\.Sum\.items\[0\]\.total, /)
    assert.include(two.failure["#text"], "expected  \"/^2026/\"")
    assert.include(two.failure["#text"], "five</p>")
    assert.include(two.failure["#text"], "no price ]]>")
    assert.deepInclude(three.error, { type: "ApiError", message: "Failed to create workflow (HTTP 401)" })
    assert.notProperty(four, "failure")
  })

  it("is well-formed for any names and texts", () => {
    const odd = "a\u0000\u0008\u001b[31m\uFFFE\uD800 <&>\"'\n\t]]> 😀 ünï"
    const named: CaseReport.Named = { ...failed, name: `${odd}/${odd}.test.json` }
    const { testcase } = read([named])
    assert.strictEqual(
      testcase.classname,
      "a\uFFFD\uFFFD\uFFFD[31m\uFFFD\uFFFD <&>\"'\n\t]]> 😀 ünï"
    )
    assert.notMatch(JUnit.document([CaseReport.junit(named)], times), /(?![\t\n\r])\p{Cc}|[\uFFFE\uFFFF]/u)
  })

  it("of no failure has no texts", () => {
    const { testcase } = read([passed])
    assert.deepStrictEqual(Object.keys(testcase), ["name", "classname", "file", "time"])
  })
})
