import { assert, describe, it } from "@effect/vitest"
import { ExecutionReader } from "../../src/executions/executionReader.ts"
import * as FailureGroups from "../../src/executions/FailureGroups.ts"
import * as fixtures from "../support/scenarios/recorded.ts"

describe("FailureGroups", () => {
  it.each<[string, string]>([
    ["contact cus_1042 has no email", "contact … has no email"],
    ["Order #1,204 of 2026-11-22T08:00:00.000Z is late", "Order … of … is late"],
    ["Cannot read properties of null (reading 'a') [line 12]", "Cannot read properties of null (reading …) [line …]"],
    ["Request failed with status code 404", "Request failed with status code 404"],
    ["Request failed with status code 500: id 7f3a", "Request failed with status code 500: id …"],
    ["{\"status\":502} of order 17", "{\"status\":502} of order …"],
    ["503 - \"upstream 7\"", "503 - …"],
    ["the user's mail bob@example.com bounced.", "the user's mail … bounced."],
    ["注文4711の住所がありません", "注文…の住所がありません"],
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
        { description: "Field 'email' is missing for contact {1}", executions: ["4", "2"], message: "Bad request" },
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
          message: "contact {1} has no email",
          varies: { 1: { distinct: 4, values: ["c8", "c7", "c5", "c4"] } },
          count: 4,
          first: "2026-11-22T04:00:00.000Z",
          last: "2026-11-22T08:00:00.000Z",
          executions: ["8", "7", "5", "4"]
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

  /** Messages of one node, newest first. */
  const alike = (...messages: ReadonlyArray<string | { readonly message: string; readonly description: string }>) =>
    FailureGroups.group(
      messages.map((each, index) => ({
        ...(typeof each === "string" ? { message: each } : each),
        id: String(99 - index),
        workflowId: "w",
        node: "N"
      }))
    )

  it.each<[string, ReadonlyArray<string>, string, Readonly<Record<string, ReadonlyArray<string>>> | undefined]>([
    ["what is the same stays", ["Order 1 of warehouse 17", "Order 2 of warehouse 17"], "Order {1} of warehouse 17", {
      1: ["1", "2"]
    }],
    [
      "identical messages have no placeholder",
      ["contact 'c1' lacks 2", "contact 'c1' lacks 2"],
      "contact 'c1' lacks 2",
      undefined
    ],
    ["values have no quotes", ["no \"a\" in 'x'", "no \"b\" in 'x'"], "no \"{1}\" in 'x'", { 1: ["a", "b"] }],
    [
      "numbered in the order of the message",
      ["7 of 'a' at 10.0.0.1:5", "8 of 'b' at 10.0.0.2:5"],
      "{1} of '{2}' at {3}",
      { 1: ["7", "8"], 2: ["a", "b"], 3: ["10.0.0.1:5", "10.0.0.2:5"] }
    ],
    ["of neighbours only those that differ", ["row 5, 17 is late", "row 6, 17 is late"], "row {1}, 17 is late", {
      1: ["5", "6"]
    }],
    ["lists of different lengths vary as a whole", ["Missing: 'a', 'b'!", "Missing: 'c'!"], "Missing: {1}!", {
      1: ["a, b", "c"]
    }],
    ["most frequent first", ["id 1", "id 2", "id 2"], "id {1}", { 1: ["2", "1"] }],
    ["Japanese, without spaces", ["注文4711の「山田」がない", "注文4712の「山田」がない"], "注文{1}の「山田」がない", {
      1: ["4711", "4712"]
    }]
  ])("%s", (_, messages, message, varies) => {
    const [group = assert.fail("no group"), ...others] = alike(...messages)
    assert.isEmpty(others)
    assert.strictEqual(group.message, message)
    assert.deepStrictEqual(
      group.varies && Object.fromEntries(Object.entries(group.varies).map(([key, { values }]) => [key, values])),
      varies
    )
  })

  it("counts all values and names ten of them, in the description too", () => {
    const [group = assert.fail("no group")] = alike(
      ...Array.from({ length: 25 }, (_, i) => ({ message: `order ${i % 2}`, description: `contact ${i}` }))
    )
    assert.deepInclude(group, { message: "order {1}", description: "contact {2}", count: 25 })
    const contacts = group.varies?.["2"]
    assert.strictEqual(contacts?.distinct, 25)
    assert.lengthOf(contacts?.values ?? [], 10)
    assert.lengthOf(group.executions, 25)
  })

  it("separates HTTP status codes, in the message or beside it", () => {
    assert.lengthOf(alike("failed with status code 500", "failed with status code 502"), 2)
    const of = (id: string, httpCode: string) => ({
      id,
      workflowId: "w",
      ...FailureGroups.ofError({ message: "not able to process", httpCode }, "Push")
    })
    assert.deepStrictEqual(
      FailureGroups.group([of("3", "500"), of("2", "502"), of("1", "500")]).map((
        { count, httpCode }
      ) => [httpCode, count]),
      [["500", 2], ["502", 1]]
    )
  })

  it("ends for a long message whose quotes are open", () => {
    const message = (length: number) => `"${"ab".repeat(length)} it's (${"x".repeat(length)}' 1`
    assert.include(FailureGroups.pattern(message(200_000)), "…")
  })
})

describe("the beginning of an execution", () => {
  const bytes = (name: fixtures.Name) => new TextEncoder().encode(JSON.stringify(fixtures.execution(name)))

  const read = (name: fixtures.Name, part: "version" | "failure") => {
    const reader = new ExecutionReader()
    const all = bytes(name)
    let at = 0
    for (; at < all.length && !reader.has(part); at += 256) reader.push(all.subarray(at, at + 256))
    return { failure: reader.failure, version: reader.version, share: at / all.length }
  }

  it("reads no further than the error where that names its node", () => {
    const { failure, share } = read("httpFail", "failure")
    assert.deepStrictEqual(failure, {
      node: "HTTP Request",
      message: "The service refused the connection - perhaps it is offline",
      httpCode: "ECONNREFUSED",
      network: "connect ECONNREFUSED 127.0.0.1:9"
    })
    assert.isBelow(share, 0.5)
  })

  it("reads on for the node where the error does not name it", () => {
    assert.deepStrictEqual(read("fail", "failure").failure, { node: "Boom", message: "boom here [line 1]" })
  })

  it("finds none where nothing failed", () => assert.isUndefined(read("loop", "failure").failure))

  it("reads the version, and not the data after it", () => {
    const { share, version } = read("big12", "version")
    assert.strictEqual(version, fixtures.execution("big12")["workflowVersionId"])
    assert.isString(version)
    assert.isBelow(share, 0.01)
  })

  it("reads no data for a version that n8n did not record", () => {
    const reader = new ExecutionReader()
    reader.push(new TextEncoder().encode("{\"id\":\"1\",\"data\":{\"resultData\":{"))
    assert.isTrue(reader.has("version"))
    assert.isUndefined(reader.version)
  })
})
