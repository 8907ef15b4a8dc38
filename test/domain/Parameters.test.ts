import { assert, describe, it } from "@effect/vitest"
import * as Schema from "effect/Schema"
import { isDeepStrictEqual } from "node:util"
import * as FieldType from "../../src/domain/FieldType.ts"
import type { Obj } from "../../src/domain/Json.ts"
import * as LinearRegex from "../../src/domain/LinearRegex.ts"
import * as NodeType from "../../src/domain/NodeType.ts"
import { applying, complete, isShown, issues, type Node, problems, remarks } from "../../src/domain/Parameters.ts"
import { suggestion } from "../../src/Nearest.ts"
import { Json, Key } from "../arbitrary.ts"
import * as nodeTypes from "../nodeTypes.ts"
import { type Case, draws, judged, n8n, plain, random, subjects } from "./parameterCases.ts"

const same = (actual: unknown, expected: unknown) => assert.deepStrictEqual(actual, expected)

const nodeOf = ({ parameters, version }: Case): Node => ({ typeVersion: version, parameters })
const json = (value: unknown): unknown => JSON.parse(JSON.stringify(value))

/** What we say otherwise than n8n; empty where nothing. */
const disagreements = (one: Case): ReadonlyArray<string> => {
  const { description, parameters, version } = one
  const node = nodeOf(one)
  const expected = judged(one)
  const at = (what: string, ours: unknown, theirs: unknown) =>
    `${what} of ${description.name} ${version} ${JSON.stringify(parameters)}: ${JSON.stringify(ours)}, n8n ${
      JSON.stringify(theirs)
    }`
  if (typeof expected === "string") {
    const isError = problems(description, node, suggestion).some(({ severity }) => severity === "error")
    return isError ? [] : [at("failure", undefined, expected)]
  }
  const values = complete(description, node)
  const names = issues(description, node, suggestion).map(({ name }) => name).toSorted()
  const scope = {
    values: expected.complete,
    root: expected.complete,
    version,
    isTool: description.name.endsWith("Tool")
  }
  return [
    ...isDeepStrictEqual(json(values), json(expected.complete)) ? [] : [at("defaults", values, expected.complete)],
    ...isDeepStrictEqual(names, expected.issues) ? [] : [at("issues", names, expected.issues)],
    ...description.properties.flatMap(({ displayOptions, name }, index) => {
      const shown = isShown(displayOptions, scope)
      return shown === expected.isShown(index) ? [] : [at(`display of ${name}`, shown, !shown)]
    })
  ]
}

/** Known and left: a list or string where an object belongs has JavaScript's own members (`[].sort`) to n8n. */
const agrees = (cases: Iterable<Case>, least: number, shareThatMayDiffer: number) => {
  let count = 0
  const differing: Array<string> = []
  for (const one of cases) {
    count += 1
    differing.push(...disagreements(one).slice(0, 1))
  }
  assert.isAtLeast(count, least)
  assert.isAtMost(differing.length, count * shareThatMayDiffer, differing.slice(0, 5).join("\n"))
}

describe("as n8n judges", () => {
  it("every type and version with nothing set", () => {
    agrees(subjects.flatMap((subject) => plain(subject).slice(0, 1)), 1_000, 0)
  })

  it("operations of resources", () => {
    const next = random(1)
    const { chance } = draws(next)
    agrees(subjects.flatMap((subject) => plain(subject).slice(1).filter(() => chance(0.15))), 1_500, 0)
  })

  it("values of every kind in every place", () => {
    const { bent, pick } = draws(random(Number(process.env["N8N_MCP_SEED"] ?? 20_251)))
    const cases = function*() {
      for (let round = 0; round < Number(process.env["N8N_MCP_ROUNDS"] ?? 4); round += 1) {
        for (const subject of subjects) yield bent(pick(plain(subject)))
      }
    }
    agrees(cases(), 4_000, 0.002)
  })
})

// ---- display

const scope = (values: Obj, more: Obj = {}) => ({ values, root: values, version: 1, isTool: false, ...more })

describe("display", () => {
  const theirs = (show: NodeType.DisplayOptions, values: Obj, root: Obj) =>
    (n8n.displayParameter as (...all: ReadonlyArray<unknown>) => boolean)(
      values,
      { displayOptions: show },
      { typeVersion: 2.1 },
      { name: "xTool" },
      root
    )

  const targets: Obj = { eq: "a", not: "a", gte: 2, lte: 2, gt: 2, lt: 2, between: { from: 1, to: 3 }, includes: "b" }
  const operators = { ...targets, startsWith: "a", endsWith: "c", regex: "^a.c$", exists: true, none: 1 }
  const values = [
    "a",
    "abc",
    "",
    "=x",
    1,
    2,
    2.1,
    3,
    true,
    null,
    [],
    ["a"],
    ["a", 2],
    { __rl: true, value: "a" },
    {
      __rl: true,
      mode: "id",
      value: ["a"]
    },
    { a: { b: "a" } },
    [["a"]],
    [3, null]
  ]
  const names = ["p", "/p", "p.a.b", "/p.value", "@version", "@tool", "p[0]", "absent"]

  it("of every operator, path and value is n8n's", () => {
    let shown = 0
    let count = 0
    for (const name of names) {
      // Letters of a string are at its indices to n8n.
      for (const value of values.filter((one) => name !== "p[0]" || typeof one !== "string")) {
        for (const [key, target] of [...Object.entries(operators), ["plain", "a"] as const]) {
          const rule = { [name]: [key === "plain" ? target : { _cnd: { [key]: target } }] }
          for (const options of [{ show: rule }, { hide: rule }, { show: { ...rule, q: [1] }, hide: { r: ["=x"] } }]) {
            const here = { p: value, q: 1, r: "x" }
            const ours = isShown(options, { values: here, root: { p: [value] }, version: 2.1, isTool: true })
            assert.strictEqual(ours, theirs(options, here, { p: [value] }), JSON.stringify({ options, value }))
            shown += ours ? 1 : 0
            count += 1
          }
        }
      }
    }
    assert.isAbove(shown, count / 10)
    assert.isBelow(shown, count * 0.9)
  })

  it("does not wait for patterns that never end", () => {
    const options = { show: { p: [{ _cnd: { regex: "^(a+)+$" } }] } }
    assert.isFalse(isShown(options, scope({ p: `${"a".repeat(5_000)}!` })))
    assert.isTrue(isShown(options, scope({ p: "a".repeat(5_000) })))
  })
})

describe("patterns", () => {
  const Text = Schema.String.check(Schema.isPattern(/^[abc.\n]{0,12}$/))
  const atoms = ["a", "b", ".", "[^a]", "(?:a|bc)", "(a?)", "\\w", "^", "$", "(?!b)", "(?=c)"]
  const patterns = [
    ...atoms.flatMap((one) => atoms.map((two) => `(${one}${two})+?${one}|(?:${two}){1,2}c*`)),
    "(?:a|b|)*c",
    "((a*)*)*$",
    "[]a]|[^]b",
    "a{,3}",
    "(a{2}){2,}"
  ]
  it.prop("match as JavaScript's", { text: Text }, ({ text }) => {
    for (const pattern of patterns) {
      assert.strictEqual(LinearRegex.matches(pattern, text), new RegExp(pattern).test(text))
    }
  })

  it("that are not understood are not judged", () => {
    for (const pattern of ["(a)\\1", "(?<=a)b", "(", "((a{100}){100}){100}"]) {
      assert.isUndefined(LinearRegex.matches(pattern, "aa"))
    }
  })
})

describe("field types", () => {
  it.each([
    ["object", "{a: 'it\\'s', /* c */ b: [1, x], 'c': {}, }", true],
    ["object", "{{ $json.a }}", false],
    ["array", "['a']", true],
    ["datetime", "2025-W05-1", true],
    ["datetime", "31.12.2025", false],
    ["number", [], true],
    ["url", "example.com", true],
    ["url", "mailto:a@b", true],
    ["jwt", "", false]
  ])("%s: %j is %s", (type, value, expected) => {
    assert.strictEqual(FieldType.fits(value, type), expected)
  })
})

// ---- what n8n does not check

const found = (type: string, parameters: Obj, version?: number) => {
  const nodeType = nodeTypes.get(type)
  const typeVersion = version ?? NodeType.defaultVersion(nodeType)
  const description = NodeType.at(nodeType, typeVersion)
  assert.isDefined(description)
  return problems(description as NodeType.Description, { typeVersion, parameters }, suggestion)
}
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
      severity: "warning"
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

  it("tell a number from its digits", () => {
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

  it("and errors, on a disabled node, there are none", () => {
    const description = NodeType.at(nodeTypes.get(http), 4.2)
    assert.isDefined(description)
    const node = { typeVersion: 4.2, parameters: { metod: 1 }, disabled: true }
    same(problems(description as NodeType.Description, node, suggestion), [])
  })
})

it("lists what applies, each name once", () => {
  const description = NodeType.at(nodeTypes.get(slack), 2.3) as NodeType.Description
  const names = (parameters: Obj) => applying(description, { typeVersion: 2.3, parameters }).map(({ name }) => name)
  assert.include(names({ resource: "message", operation: "post" }), "text")
  assert.notInclude(names({ resource: "channel", operation: "getAll" }), "text")
  for (const parameters of [{}, { resource: "user" }]) same(new Set(names(parameters)).size, names(parameters).length)
})

// ---- whatever comes

describe("hostile values", () => {
  const few = [http, set, iff, slack, "n8n-nodes-base.googleSheets", "n8n-nodes-base.notion", "n8n-nodes-base.switch"]
    .flatMap((type) => nodeTypes.get(type).descriptions.slice(0, 1))
  const all = (description: NodeType.Description, parameters: Obj) => {
    const node = { typeVersion: NodeType.versionsOf(description).at(-1) ?? 1, parameters }
    complete(description, node)
    applying(description, node)
    remarks(description, node, suggestion)
    return problems(description, node, suggestion)
  }

  it.prop("throw nothing, in every parameter and beside them", { value: Json, key: Key }, ({ key, value }) => {
    for (const description of few) {
      const names = description.properties.map(({ name }) => name)
      const parameters = Object.fromEntries([...names, key, "__proto__"].map((name) => [name, value]))
      for (const { fix, message } of all(description, parameters)) assert.isTrue(message !== "" && fix !== "")
    }
  })

  const deep = (levels: number): unknown => {
    let value: unknown = "x"
    for (let level = 0; level < levels; level += 1) value = level % 2 === 0 ? [value] : { a: value }
    return value
  }
  it.each<[string, unknown]>([
    ["10,000 levels", deep(10_000)],
    ["lists in lists", JSON.parse("[".repeat(10_000) + "]".repeat(10_000))],
    ["null", null],
    [
      "__proto__",
      JSON.parse("{\"__proto__\": {\"value\": 1}, \"constructor\": null, \"toString\": 1, \"hasOwnProperty\": 2}")
    ],
    ["methods that are none", { toString: 5, valueOf: null, __rl: true, mode: "id", value: { toString: 5 } }],
    ["a long string", `{${"a: '\\'".repeat(20_000)}`],
    ["many spaces", `a@b${" ".repeat(50_000)}!`],
    ["brackets", "{".repeat(100_000)]
  ])("%s", (_, value) => {
    const start = performance.now()
    for (const description of [...few, ...subjects.slice(0, 60).map((subject) => subject.description)]) {
      const inside = (property: NodeType.Property): unknown =>
        property.type === "collection"
          ? Object.fromEntries(NodeType.members(property).map(({ name }) => [name, value]))
          : property.type === "fixedCollection"
          ? Object.fromEntries(NodeType.groups(property).map(({ name }) => [name, value]))
          : { __rl: true, mode: property.modes?.[0]?.name ?? "id", value, conditions: value, schema: value }
      all(description, Object.fromEntries(description.properties.map(({ name }) => [name, value])))
      all(description, Object.fromEntries(description.properties.map((property) => [property.name, inside(property)])))
    }
    assert.isBelow(performance.now() - start, 3_000)
  })

  it("of a thousand items take as long as they are many", () => {
    const parameters = {
      url: "https://x",
      sendQuery: true,
      queryParameters: { parameters: Array.from({ length: 1_000 }, (_, index) => ({ name: `n${index}`, value: "v" })) }
    }
    const time = (run: () => void) => {
      run()
      const start = performance.now()
      run()
      return performance.now() - start
    }
    same(found(http, parameters), [])
    assert.isBelow(time(() => found(http, parameters)), 200)
    assert.isBelow(time(() => found("n8n-nodes-base.notion", { resource: "databasePage", operation: "create" })), 100)
  })
})
