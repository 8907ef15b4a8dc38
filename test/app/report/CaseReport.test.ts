import { assert, describe, it } from "@effect/vitest"
import * as CaseReport from "../../../src/app/report/CaseReport.ts"
import { broken, failed, passed, updated } from "./outcomes.ts"

describe("the report of cases", () => {
  it("has a line for each, and below it what is not as expected", () => {
    assert.strictEqual(
      CaseReport.text(passed, false),
      "✓ a.test.json  412 ms  not run, nothing is stored for it: Send mail  This n8n refuses deprecated nodes; " +
        "upgraded in the copy only: 'Old' (n8n-nodes-base.function 1 → n8n-nodes-base.code 2)."
    )
    assert.strictEqual(CaseReport.text(updated, false), "↻ d.test.json  400 ms")
    assert.strictEqual(
      CaseReport.text(failed, false),
      `✗ orders/b & "c".test.json  1200 ms
  │ expect.status
  │   expected  "success"
  │   actual    "error"
  │ expect.nodes.Sum.items[0].total
  │   expected  119
  │   actual    120
  │ expect.nodes.Sum.items[0].at
  │   expected  "/^2026/"
  │   actual    "2025\\nx"
  │ expect.nodes.Sum.items[0].token
  │   expected  "[redacted]"
  │   actual    "[redacted]" (a different one)
  │ expect.nodes.Sum.items[1]
  │   expected  {}
  │   actual    nothing
  │ expect.nodes.Mail.items[0].text
  │   - expected, + actual
  │   @@ -1,3 +1,3 @@
  │    Dear Ada,
  │   -five
  │   +six
  │    Bye
  │ expect.nodes.Mail.items[0].html
  │   expected  …${"a".repeat(24)}five</p>"
  │   actual    …${"a".repeat(24)}six</p>"
  │ expect.nodes.Mail.items[0].rows
  │   - expected, + actual
  │   @@ -3,8 +3,4 @@
  │      "id": 1,
  │      "name": "a first row of a table"
  │   - },
  │   - {
  │   -  "id": 2,
  │   -  "name": "a second row of a table"
  │     }
  │    ]
  │ 'Sum' failed: no price ]]> \\u0000\\u202e
  │   line 1
  │   with {"sku":"A1"}
  │ execution 77`
    )
    assert.match(
      CaseReport.text(broken, false),
      /^✗ orders\/c\.test\.json {2}3 ms\n {2}│ Failed to create workflow \(HTTP 401\)\n {2}│ ::error::Unauthorized\n {2}│ → n8n rejected/
    )
  })

  it("ends with a line for all", () => {
    assert.strictEqual(
      CaseReport.summary([passed, failed, broken, updated, passed], 4_321),
      "5 cases: 2 passed, 1 updated, 1 failed, 1 could not run (4.3 s)"
    )
    assert.strictEqual(CaseReport.summary([passed], 50), "1 case: 1 passed (0.1 s)")
  })

  it("has colours only for those who can see them", () => {
    assert.include(CaseReport.text(failed, true), "\u001b[31m✗\u001b[0m")
    assert.notInclude(CaseReport.text(failed, false), "\u001b")
  })

  it("says the same to programs", () => {
    const { cases, ...counts } = CaseReport.json([passed, failed, broken, updated], 4_321.4)
    assert.deepStrictEqual(counts, { passed: 2, failed: 2, milliseconds: 4_321 })
    assert.deepStrictEqual(cases.map(({ name, result }) => [name, result]), [
      ["a.test.json", "passed"],
      ["orders/b & \"c\".test.json", "failed"],
      ["orders/c.test.json", "error"],
      ["d.test.json", "updated"]
    ])
    const [first, second, third] = cases
    assert.deepInclude(first, { executionId: "77", notRun: ["Send mail"], differences: [] })
    assert.include(JSON.stringify(first), "\"upgraded\":[{\"node\":\"Old\"")
    assert.notInclude(JSON.stringify(second), "upgraded")
    assert.include(JSON.stringify(second), "\"failure\":{\"node\":\"Sum\"")
    assert.include(JSON.stringify(third), "\"statusCode\":401")
  })
})
