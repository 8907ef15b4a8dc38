import { assert, describe, it } from "@effect/vitest"
import * as FailureGroups from "../../src/executions/FailureGroups.ts"
import { FailureReader } from "../../src/executions/failureReader.ts"
import * as fixtures from "../support/fixtures.ts"

describe("FailureGroups", () => {
  it.each<[string, string]>([
    ["contact cus_1042 has no email", "contact … has no email"],
    ["Order #1,204 of 2026-11-22T08:00:00.000Z is late", "Order … of … is late"],
    [
      "Cannot read properties of undefined (reading 'total') [line 12]",
      "Cannot read properties of undefined (reading …) [line …]"
    ],
    ["Request failed with status code 404", "Request failed with status code 404"],
    ["Request failed with status code 500: id 7f3a", "Request failed with status code 500: id …"],
    ["the user's mail bob@example.com bounced.", "the user's mail … bounced."],
    ["顧客「山田」が見つかりません", "顧客…が見つかりません"],
    ["connect ECONNREFUSED 127.0.0.1:9", "connect ECONNREFUSED …"],
    ["Missing: 1, 2, 3, 4", "Missing: …"],
    ["", ""]
  ])("%s", (message, pattern) => assert.strictEqual(FailureGroups.pattern(message), pattern))

  it("tells apart what the service answered, and leaves out what says no more than the message", () => {
    const http = (id: string, description: string) => ({
      id,
      workflowId: "w",
      ...FailureGroups.ofError({ message: "Bad request", httpCode: "400", description }, "Push")
    })
    assert.deepStrictEqual(
      FailureGroups.group([
        http("4", "Field 'email' is missing for contact c4"),
        http("3", "<html><body>Bad request</body></html>"),
        http("2", "Field 'email' is missing for contact c2"),
        http("1", "Bad request")
      ]).map(({ description, executions, message }) => ({ description, executions, message })),
      [
        { description: "Field 'email' is missing for contact c4", executions: ["4", "2"], message: "Bad request" },
        { description: undefined, executions: ["3", "1"], message: "Bad request" }
      ]
    )
  })

  it("puts together what failed alike at one node of one workflow, the largest group first", () => {
    const failed = (id: string, node: string, message: string, at: string) => ({
      id,
      workflowId: "w",
      node,
      message,
      at
    })
    assert.deepStrictEqual(
      FailureGroups.group([
        failed("9", "Pay", "HTTP 402", "2026-11-22T09:00:00.000Z"),
        failed("8", "CRM", "contact c8 has no email", "2026-11-22T08:00:00.000Z"),
        failed("7", "CRM", "contact c7 has no email", "2026-11-22T07:00:00.000Z"),
        failed("6", "Pay", "HTTP 500", "2026-11-22T06:00:00.000Z"),
        failed("5", "CRM", "contact c5 has no email", "2026-11-22T05:00:00.000Z"),
        failed("4", "CRM", "contact c4 has no email", "2026-11-22T04:00:00.000Z")
      ]),
      [
        {
          workflowId: "w",
          node: "CRM",
          message: "contact c8 has no email",
          count: 4,
          first: "2026-11-22T04:00:00.000Z",
          last: "2026-11-22T08:00:00.000Z",
          executions: ["8", "7", "5"]
        },
        ...[["9", "HTTP 402"], ["6", "HTTP 500"]].map(([id = "", message = ""]) => ({
          workflowId: "w",
          node: "Pay",
          message,
          count: 1,
          first: `2026-11-22T0${id}:00:00.000Z`,
          last: `2026-11-22T0${id}:00:00.000Z`,
          executions: [id]
        }))
      ]
    )
  })
})

describe("FailureReader", () => {
  const bytes = (name: fixtures.Name) => new TextEncoder().encode(JSON.stringify(fixtures.execution(name)))

  const read = (name: fixtures.Name) => {
    const reader = new FailureReader()
    const all = bytes(name)
    let at = 0
    for (; at < all.length && !reader.isDone; at += 256) reader.push(all.subarray(at, at + 256))
    return { failure: reader.failure, share: at / all.length }
  }

  it("reads no further than the error where that names its node", () => {
    const { failure, share } = read("httpFail")
    assert.deepStrictEqual(failure, {
      node: "HTTP Request",
      message: "The service refused the connection - perhaps it is offline"
    })
    assert.isBelow(share, 0.5)
  })

  it("reads on for the node where the error does not name it", () => {
    assert.deepStrictEqual(read("fail").failure, { node: "Boom", message: "boom here [line 1]" })
  })

  it("finds none where nothing failed", () => assert.isUndefined(read("loop").failure))
})
