import { assert, describe, it } from "@effect/vitest"
import { isDeepStrictEqual } from "node:util"
import type { Obj } from "../../src/domain/Json.ts"
import * as NodeType from "../../src/domain/NodeType.ts"
import { applying, complete, isShown, issues, type Node, problems, remarks } from "../../src/domain/Parameters.ts"
import { suggestion } from "../../src/Nearest.ts"
import { Json, Key } from "../arbitrary.ts"
import * as nodeTypes from "../nodeTypes.ts"
import { type Case, draws, found, judged, n8n, plain, random, subjects } from "./parameterCases.ts"

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

const http = "n8n-nodes-base.httpRequest"
const slack = "n8n-nodes-base.slack"

it("lists what applies, each name once", () => {
  const description = NodeType.at(nodeTypes.get(slack), 2.3) as NodeType.Description
  const names = (parameters: Obj) => applying(description, { typeVersion: 2.3, parameters }).map(({ name }) => name)
  assert.include(names({ resource: "message", operation: "post" }), "text")
  assert.notInclude(names({ resource: "channel", operation: "getAll" }), "text")
  for (const parameters of [{}, { resource: "user" }]) same(new Set(names(parameters)).size, names(parameters).length)
})

// ---- whatever comes

describe("hostile values", () => {
  const few = [
    http,
    slack,
    "n8n-nodes-base.set",
    "n8n-nodes-base.if",
    "n8n-nodes-base.googleSheets",
    "n8n-nodes-base.notion",
    "n8n-nodes-base.switch"
  ]
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
