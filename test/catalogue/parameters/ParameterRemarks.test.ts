import { assert, describe, it } from "@effect/vitest"
import type { Obj } from "../../../src/base/Json.ts"
import { suggestion } from "../../../src/base/Nearest.ts"
import { problems } from "../../../src/catalogue/parameters/ParameterRules.ts"
import * as NodeType from "../../../src/catalogue/types/NodeType.ts"
import * as nodeTypes from "../../support/nodeTypes.ts"
import { found } from "./parameterCases.ts"

const same = (actual: unknown, expected: unknown) => assert.deepStrictEqual(actual, expected)
const http = "n8n-nodes-base.httpRequest"
const set = "n8n-nodes-base.set"
const iff = "n8n-nodes-base.if"
const slack = "n8n-nodes-base.slack"

const url = "https://x"
const condition = (more: Obj) => ({
  conditions: { conditions: [{ leftValue: "={{ $json.a }}", rightValue: "", ...more }] }
})
const query = (queryParameters: Obj) => ({ url, sendQuery: true, queryParameters })

type Remark = readonly [type: string, parameters: Obj, path: string, says: string, fix: string]

const warnings: ReadonlyArray<Remark> = [
  [http, { url, metod: "GET" }, "metod", "no parameter 'metod'", "Did you mean 'method'?"],
  [http, { url, timeout: 5 }, "timeout", "drops it", "It belongs in 'options'."],
  [http, { url, options: { tmeout: 5 } }, "options.tmeout", "no parameter", "'timeout'"],
  [http, { url, options: { sendBody: true } }, "options.sendBody", "no parameter", "at the top"],
  [http, { url, options: "none" }, "options", "'none'", "Give an object"],
  [http, { url, sendQuery: "yes" }, "sendQuery", "its type is boolean", "true or false"],
  [http, { url: { a: 1 } }, "url", "an object with a", "Give a string"],
  [http, query({ parameter: [] }), "queryParameters.parameter", "drops it", "'parameters'"],
  [http, query({ parameters: [{ key: "a" }] }), "queryParameters.parameters[0].key", "no parameter 'key'", "'name'"],
  [
    iff,
    condition({ operator: { type: "string", operation: "equal" } }),
    "conditions.conditions[0].operator.operation",
    "'equal'",
    "Did you mean 'equals'"
  ],
  [slack, { select: "channel", channelId: { mode: "nmae", value: "#a" } }, "channelId.mode", "no mode 'nmae'", "'name'"]
]
const errors: ReadonlyArray<Remark> = [
  [http, { url, method: "FETCH" }, "method", "'FETCH'", "'PATCH'"],
  [slack, { resource: "mesage" }, "resource", "'mesage'", "Did you mean 'message'?"],
  [http, query({ parameters: { name: "a" } }), "queryParameters.parameters", "cannot open the node", "in an array."],
  [set, { assignments: [{ name: "a" }] }, "assignments", "an array of 1", "{assignments: [{id, name, type, value}]}"],
  [iff, { conditions: { combinator: "and" } }, "conditions.conditions", "n8n fails", "operator"],
  [iff, condition({ operator: "equals" }), "conditions.conditions[0].operator", "n8n fails", "{type: 'string'"],
  [
    iff,
    condition({ rightValue: "5", operator: { type: "number", operation: "gt" } }),
    "conditions.conditions[0].rightValue",
    "'5'",
    "'loose'"
  ]
]

describe("remarks", () => {
  it.each([
    ...warnings.map((row) => ["warning", ...row] as const),
    ...errors.map((row) => ["error", ...row] as const)
  ])("a %s on %s of %j: %s", (severity, type, given, path, says, fix) => {
    const all = found(type, given)
    const one = all.find((each) => each.path === path)
    assert.strictEqual(one?.severity, severity, JSON.stringify(all))
    assert.include(one?.message, says)
    assert.include(one?.fix, fix)
  })

  it("distinguish a number from its digits", () => {
    const given = { rule: { interval: [{ field: "weeks", triggerAtDay: ["1"] }] } }
    same(found("n8n-nodes-base.scheduleTrigger", given).map(({ fix, path }) => [path, fix]), [
      ["rule.interval[0].triggerAtDay[0]", "Give 1, a number."]
    ])
  })

  it.each<[type: string, parameters: Obj]>([
    [http, { url: "=https://{{ $json.host }}", method: "={{ $json.method }}" }],
    [http, { url, method: "MOVE", options: { webdavMethods: true } }],
    // Set, but not shown: it waits for sendBody.
    [http, { url, sendBody: false, contentType: "no such type" }],
    [slack, { select: "channel", channelId: "C0123456789", text: "x" }],
    [iff, condition({ operator: { type: "number", operation: "gt" }, rightValue: 5 })],
    ["n8n-nodes-base.gmail", { operation: "__CUSTOM_API_CALL__" }],
    ["n8n-nodes-base.asana", { id: "1", otherProperties: {}, operation: "get" }]
  ])("there are none on %s %j", (type, given) => same(found(type, given), []))

  it("say of an error of n8n's what is needed", () => {
    const [problem] = found(http, {})
    same([problem?.severity, problem?.path], ["error", "url"])
    assert.include(problem?.message, "'URL' (url) is required")
    assert.include(problem?.fix, "http")
    same(found("n8n-nodes-base.noOp", {}), [])
  })

  it("has no problems or errors on a disabled node", () => {
    const description = NodeType.at(nodeTypes.get(http), 4.2)
    assert.isDefined(description)
    const node = { typeVersion: 4.2, parameters: { metod: 1 }, disabled: true }
    same(problems(description as NodeType.Description, node, suggestion), [])
  })
})
