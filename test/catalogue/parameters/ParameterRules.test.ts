import { assert, describe, it } from "@effect/vitest"
import { isDeepStrictEqual } from "node:util"
import type { Obj } from "../../../src/base/Json.ts"
import { suggestion } from "../../../src/base/Nearest.ts"
import {
  applying,
  complete,
  isShown,
  issues,
  type Node,
  problems
} from "../../../src/catalogue/parameters/ParameterRules.ts"
import * as NodeType from "../../../src/catalogue/types/NodeType.ts"
import * as nodeTypes from "../../support/nodeTypes.ts"
import { rounds, seed } from "../../support/seed.ts"
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
  const isTool = description.name.endsWith("Tool")
  const scope = { values: expected.complete, root: expected.complete, version, isTool }
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

  it.each([1, 2])("operations of resources (part %i)", (part) => {
    const { chance } = draws(random(part))
    agrees(subjects.flatMap((subject) => plain(subject).slice(1).filter(() => chance(0.075))), 750, 0)
  })

  /** Where n8n looks for what is inside of others, in a type made for it. */
  const odd: NodeType.Description = (() => {
    const property = (name: string, type: string, more: object = {}): NodeType.Property => ({
      name,
      displayName: name,
      type,
      default: type === "string" ? "" : {},
      ...more
    })
    const needed = property("needed", "string", { required: true })
    const many = { typeOptions: { multipleValues: true, minRequiredFields: 1, maxAllowedFields: 2 } }
    const group = (...values: ReadonlyArray<NodeType.Property>) => ({
      options: [{ name: "group", displayName: "Group", values }]
    })
    const properties = [
      property("some", "collection", {
        options: [needed, property("in", "fixedCollection", { ...many, ...group(needed) })]
      }),
      property("one", "fixedCollection", group(needed, property("deep", "collection", { options: [needed] }))),
      property("single", "fixedCollection", { typeOptions: { multipleValues: false }, ...group(needed) }),
      property("parameters", "fixedCollection", {
        ...many,
        ...group(
          { ...needed, displayOptions: { show: { "/group.0.needed": [""] } } },
          property("nested", "fixedCollection", many)
        )
      }),
      property("list", "string", { required: true, typeOptions: { multipleValues: true }, default: [] }),
      property("twice", "string", { validateType: "number", displayOptions: { show: { list: ["no"] } } }),
      property("twice", "string", { displayOptions: { hide: { list: ["no"] } } })
    ]
    return { name: "odd", displayName: "Odd", group: [], version: 1, inputs: [], outputs: [], properties }
  })()
  it.each<Obj>([
    {},
    { needed: "x", in: { group: [] }, list: ["", "a"], twice: "x" },
    {
      some: { needed: "x", in: { group: [{}] } },
      one: { group: { needed: "", deep: { needed: "x" } } },
      list: ["no"],
      twice: "x"
    },
    { single: { group: { needed: "" } }, parameters: { group: [{ needed: "" }, { needed: "x" }, {}] } },
    { parameters: { group: [{ needed: "", nested: { group: [] } }] } }
  ])("nested parameters, however odd: %j", (parameters) => {
    same(disagreements({ description: odd, raw: odd as unknown as Obj, version: 1, parameters }), [])
    assert.isAbove(issues(odd, { typeVersion: 1, parameters }, suggestion).length, 0)
  })

  it.each([1, 2])("values of every kind in every place (part %i)", (part) => {
    const { bent, pick } = draws(random(seed(20_251) + part))
    const cases = function*() {
      for (let round = 0; round < rounds(1); round++) {
        for (const subject of subjects) yield bent(pick(plain(subject)))
      }
    }
    agrees(cases(), 1_000, 0.002)
  })
})

// ---- display

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
  const scalars = ["a", "abc", "", "=x", 1, 2, 2.1, 3, true, null]
  const lists = [[], ["a"], ["a", 2], [["a"]], [3, null]]
  const locators = [{ __rl: true, value: "a" }, { __rl: true, mode: "id", value: ["a"] }]
  const values = [...scalars, ...lists, ...locators, { a: { b: "a" } }]
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
})

const slack = "n8n-nodes-base.slack"

it("lists what applies, each name once", () => {
  const description = NodeType.at(nodeTypes.get(slack), 2.3) as NodeType.Description
  const names = (parameters: Obj) => applying(description, { typeVersion: 2.3, parameters }).map(({ name }) => name)
  assert.include(names({ resource: "message", operation: "post" }), "text")
  assert.notInclude(names({ resource: "channel", operation: "getAll" }), "text")
  for (const parameters of [{}, { resource: "user" }]) same(new Set(names(parameters)).size, names(parameters).length)
})
