import { assert, describe, it } from "@effect/vitest"
import type { Obj } from "../../../src/base/Json.ts"
import { suggestion } from "../../../src/base/Nearest.ts"
import { problems } from "../../../src/catalogue/parameters/Parameters.ts"
import * as NodeType from "../../../src/catalogue/types/NodeType.ts"
import * as nodeTypes from "../../support/nodeTypes.ts"
import { found } from "./parameterCases.ts"

const same = (actual: unknown, expected: unknown) => assert.deepStrictEqual(actual, expected)
const http = "n8n-nodes-base.httpRequest"
const set = "n8n-nodes-base.set"
const iff = "n8n-nodes-base.if"
const slack = "n8n-nodes-base.slack"

const condition = (more: Obj) => ({
  conditions: { conditions: [{ leftValue: "={{ $json.a }}", rightValue: "", ...more }] }
})

describe("remarks", () => {
  it.each<{ type: string; given: Obj; path: string; says: string; fix: string; severity: string }>([
    {
      type: http,
      given: { url: "https://x", method: "FETCH" },
      path: "method",
      says: "'FETCH'",
      fix: "'PATCH'",
      severity: "error"
    },
    {
      type: slack,
      given: { resource: "mesage" },
      path: "resource",
      says: "'mesage'",
      fix: "Did you mean 'message'?",
      severity: "error"
    },
    {
      type: http,
      given: { url: "https://x", metod: "GET" },
      path: "metod",
      says: "no parameter 'metod'",
      fix: "Did you mean 'method'?",
      severity: "warning"
    },
    {
      type: http,
      given: { url: "https://x", timeout: 5 },
      path: "timeout",
      says: "drops it",
      fix: "It belongs in 'options'.",
      severity: "warning"
    },
    {
      type: http,
      given: { url: "https://x", options: { tmeout: 5 } },
      path: "options.tmeout",
      says: "no parameter",
      fix: "'timeout'",
      severity: "warning"
    },
    {
      type: http,
      given: { url: "https://x", options: { sendBody: true } },
      path: "options.sendBody",
      says: "no parameter",
      fix: "at the top",
      severity: "warning"
    },
    {
      type: http,
      given: { url: "https://x", options: "none" },
      path: "options",
      says: "'none'",
      fix: "Give an object",
      severity: "warning"
    },
    {
      type: http,
      given: { url: "https://x", sendQuery: "yes" },
      path: "sendQuery",
      says: "its type is boolean",
      fix: "true or false",
      severity: "warning"
    },
    {
      type: http,
      given: { url: { a: 1 } },
      path: "url",
      says: "an object with a",
      fix: "Give a string",
      severity: "warning"
    },
    {
      type: http,
      given: { url: "https://x", sendQuery: true, queryParameters: { parameters: { name: "a", value: "b" } } },
      path: "queryParameters.parameters",
      says: "cannot open the node",
      fix: "Put the object in an array.",
      severity: "error"
    },
    {
      type: http,
      given: { url: "https://x", sendQuery: true, queryParameters: { parameter: [] } },
      path: "queryParameters.parameter",
      says: "drops it",
      fix: "'parameters'",
      severity: "warning"
    },
    {
      type: http,
      given: { url: "https://x", sendQuery: true, queryParameters: { parameters: [{ key: "a" }] } },
      path: "queryParameters.parameters[0].key",
      says: "no parameter 'key'",
      fix: "'name'",
      severity: "warning"
    },
    {
      type: set,
      given: { assignments: [{ name: "a" }] },
      path: "assignments",
      says: "an array of 1",
      fix: "{assignments: [{id, name, type, value}]}",
      severity: "error"
    },
    {
      type: iff,
      given: { conditions: { combinator: "and" } },
      path: "conditions.conditions",
      says: "n8n fails",
      fix: "operator",
      severity: "error"
    },
    {
      type: iff,
      given: condition({ operator: { type: "string", operation: "equal" } }),
      path: "conditions.conditions[0].operator.operation",
      says: "'equal'",
      fix: "Did you mean 'equals'",
      severity: "warning"
    },
    {
      type: iff,
      given: condition({ operator: "equals" }),
      path: "conditions.conditions[0].operator",
      says: "n8n fails",
      fix: "{type: 'string'",
      severity: "error"
    },
    {
      type: iff,
      given: condition({ rightValue: "5", operator: { type: "number", operation: "gt" } }),
      path: "conditions.conditions[0].rightValue",
      says: "'5'",
      fix: "'loose'",
      severity: "error"
    },
    {
      type: slack,
      given: { select: "channel", channelId: { __rl: true, mode: "nmae", value: "#a" }, text: "x" },
      path: "channelId.mode",
      says: "no mode 'nmae'",
      fix: "'name'",
      severity: "warning"
    }
  ])("$path $says", ({ fix, given, path, says, severity, type }) => {
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

  it.each<{ type: string; given: Obj }>([
    { type: http, given: { url: "=https://{{ $json.host }}", method: "={{ $json.method }}" } },
    { type: http, given: { url: "https://x", method: "MOVE", options: { webdavMethods: true } } },
    // Set, but not shown: it waits for sendBody.
    { type: http, given: { url: "https://x", sendBody: false, contentType: "no such type" } },
    { type: slack, given: { select: "channel", channelId: "C0123456789", text: "x" } },
    { type: iff, given: condition({ operator: { type: "number", operation: "gt" }, rightValue: 5 }) },
    { type: "n8n-nodes-base.gmail", given: { operation: "__CUSTOM_API_CALL__" } },
    { type: "n8n-nodes-base.asana", given: { id: "1", otherProperties: {}, operation: "get" } }
  ])("there are none on $type $given", ({ given, type }) => same(found(type, given), []))

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
