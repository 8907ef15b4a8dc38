/** What may come of cases. */
import type * as CaseReport from "../../../src/app/report/CaseReport.ts"
import * as Errors from "../../../src/base/Errors.ts"

const ran = { executionId: "77", differences: [], failure: undefined, notRun: [], upgraded: [] }

/** One that passed. */
export const passed: CaseReport.Named = {
  _tag: "Passed",
  path: "/tests/a.test.json",
  name: "a.test.json",
  milliseconds: 411.6,
  ...ran,
  notRun: ["Send mail"],
  upgraded: [{ node: "Old", from: "n8n-nodes-base.function 1", to: "n8n-nodes-base.code 2" }]
}

/** One that came to something else, in every way. */
export const failed: CaseReport.Named = {
  _tag: "Failed",
  path: "/tests/orders/b & \"c\".test.json",
  name: "orders/b & \"c\".test.json",
  milliseconds: 1_200,
  ...ran,
  differences: [
    { path: "expect.status", expected: "success", actual: "error" },
    { path: "expect.nodes.Sum.items[0].total", expected: 119, actual: 120 },
    { path: "expect.nodes.Sum.items[0].at", expected: "/^2026/", actual: "2025\nx" },
    { path: "expect.nodes.Sum.items[0].token", expected: "[redacted]", actual: "[redacted]" },
    { path: "expect.nodes.Sum.items[1]", expected: {}, actual: undefined },
    { path: "expect.nodes.Mail.items[0].text", expected: "Dear Ada,\nfive\nBye", actual: "Dear Ada,\nsix\nBye" },
    {
      path: "expect.nodes.Mail.items[0].html",
      expected: `<p>${"a".repeat(300)}five</p>`,
      actual: `<p>${"a".repeat(300)}six</p>`
    },
    {
      path: "expect.nodes.Mail.items[0].rows",
      expected: [{ id: 1, name: "a first row of a table" }, { id: 2, name: "a second row of a table" }],
      actual: [{ id: 1, name: "a first row of a table" }]
    }
  ],
  failure: {
    node: "Sum",
    error: { message: "no price ]]> \u0000\u202e", description: "line 1" },
    inputItem: { sku: "A1" }
  }
}

/** One that did not run. */
export const broken: CaseReport.Named = {
  _tag: "Error",
  path: "/tests/orders/c.test.json",
  name: "orders/c.test.json",
  milliseconds: 3,
  error: new Errors.ApiError({
    operation: "create workflow",
    reason: new Errors.Status({ statusCode: 401, details: "::error::Unauthorized" }),
    hint: { _tag: "CheckApiKey" }
  })
}

/** One that was written. */
export const updated: CaseReport.Named = {
  _tag: "Updated",
  path: "/tests/d.test.json",
  name: "d.test.json",
  milliseconds: 400,
  ...ran,
  differences: [{ path: "expect.nodes.Sum.count", expected: 1, actual: 2 }]
}
