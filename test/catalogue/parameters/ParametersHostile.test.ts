import { assert, describe, it } from "@effect/vitest"
import type { Obj } from "../../../src/base/Json.ts"
import { suggestion } from "../../../src/base/Nearest.ts"
import { applying, complete, problems } from "../../../src/catalogue/parameters/ParameterRules.ts"
import * as NodeType from "../../../src/catalogue/types/NodeType.ts"
import { Json, Key } from "../../support/arbitrary.ts"
import * as nodeTypes from "../../support/nodeTypes.ts"
import { found, subjects } from "./parameterCases.ts"

const http = "n8n-nodes-base.httpRequest"
const slack = "n8n-nodes-base.slack"

describe("hostile values", () => {
  const types = `${http} ${slack} ${"set if googleSheets notion switch".replace(/\w+/g, "n8n-nodes-base.$&")}`.split(
    " "
  )
  const few = types.flatMap((type) => nodeTypes.get(type).descriptions.slice(0, 1))
  const all = (description: NodeType.Description, parameters: Obj) => {
    const node = { typeVersion: NodeType.versionsOf(description).at(-1) ?? 1, parameters }
    complete(description, node)
    applying(description, node)
    return problems(description, node, suggestion)
  }

  it.prop("throw nothing, in every parameter and next to them", { value: Json, key: Key }, ({ key, value }) => {
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
    ["__proto__", JSON.parse(`{"__proto__": {"value": 1}, "constructor": null, "toString": 1, "hasOwnProperty": 2}`)],
    ["methods that are none", { toString: 5, valueOf: null, __rl: true, mode: "id", value: { toString: 5 } }],
    ["a long string", `{${"a: '\\'".repeat(20_000)}`],
    ["many spaces", `a@b${" ".repeat(50_000)}!`],
    ["brackets", "{".repeat(100_000)]
  ])("%s", (_, value) => {
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
  })

  it("of a thousand items end", () => {
    const parameters = {
      url: "https://x",
      sendQuery: true,
      queryParameters: { parameters: Array.from({ length: 1_000 }, (_, index) => ({ name: `n${index}`, value: "v" })) }
    }
    assert.deepStrictEqual(found(http, parameters), [])
  })
})
