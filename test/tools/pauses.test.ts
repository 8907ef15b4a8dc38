import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import type * as Tool from "../../src/answer/Tool.ts"
import { arr, type Obj, obj } from "../../src/base/Json.ts"
import * as tools from "../../src/tools/index.ts"
import { longest } from "../support/stretches.ts"
import { main, node, workflow } from "../support/workflows.ts"
import { inMemory } from "../support/world.ts"
import { calls, seed } from "./calls.ts"

/** Calls of functions that take a slow machine less than 200 ms. */
const most = 7_000_000

const many = <A>(count: number, make: (index: number) => A) => Array.from({ length: count }, (_, index) => make(index))

const keys = (count: number) => Object.fromEntries(many(count, (index) => [`k${index}`, index]))

const code = (jsCode: string) => [node("Code", "code", 2, { jsCode })]
const set = (value: string) => [
  node("Set", "set", 3.4, { assignments: { assignments: [{ id: "a", name: "a", type: "string", value }] } })
]

/** Declarations of names that each depend on all before. */
const chain = (count: number) =>
  `const a0 = 1, b0 = 2${many(count, (n) => `, a${n + 1} = a${n} || b${n}, b${n + 1} = b${n} || a${n}`).join("")}`

const linked = (count: number) => ({
  nodes: many(count, (index) => node(`N${index}`, "noOp")),
  connections: Object.fromEntries(
    many(count, (from) => [`N${from}`, { main: [many(count, (to) => ({ node: `N${to}`, type: "main", index: 0 }))] }])
  )
})

/** The largest workflow of its kind that is checked, and larger ones. */
const workflows: Readonly<Record<string, Obj>> = {
  "2,000 nodes with expressions": {
    nodes: many(2_000, (index) => node(`N${index}`, "httpRequest", 4.2, { url: "={{ $json.a }}{{ $('N0').item }}" }))
  },
  "2,000 unknown types": { nodes: many(2_000, (index) => node(`N${index}`, `unknown${index}`)) },
  "24,000 unknown types": { nodes: many(24_000, (index) => node(`N${index}`, `unknown${index}`)) },
  "1,000 unknown references": { nodes: many(1_000, (index) => set(`={{ $('X${index}').item }}`)[0] ?? {}) },
  "5,000 unknown parameters": { nodes: [node("Slack", "slack", 2.2, keys(5_000))] },
  "50,000 unknown parameters": { nodes: [node("Slack", "slack", 2.2, keys(50_000))] },
  "an expression of 128 kB": { nodes: set(`=${"{{ 1 }}".repeat(18_700)}`) },
  "an expression of 7 MB": { nodes: set(`=${"{{ 1 }}".repeat(1_000_000)}`) },
  "code of 128 kB": { nodes: code("a;".repeat(65_000)) },
  "code of 8 MB": { nodes: code("a;".repeat(4_000_000)) },
  "code with 5,000 names": { nodes: code(`let ${many(4_900, (index) => `_${index}`).join()}`) },
  "code with 20,000 names": { nodes: code(`let ${many(20_000, (index) => `_${index}`).join()}`) },
  "code that declares in turn": { nodes: code(chain(40_000)) },
  "a regular expression with 24,000 alternatives": { nodes: code(`/${many(24_000, () => "(?<a>)").join("|")}/`) },
  "20,000 links": linked(140),
  "90,000 links": linked(300),
  "10,000 values in a node": {
    nodes: [node("If", "if", 2.2, {
      conditions: {
        conditions: many(2_400, () => ({ leftValue: "a", operator: { type: "strin", operation: "equals" } }))
      }
    })]
  }
}

const run = (tool: Tool.Any, args: unknown) => tool.run(args) as Effect.Effect<unknown, unknown>

const all: ReadonlyArray<Tool.Any<never>> = tools.all as never

/** A long list and an object with many names, where the schema has a list or an object. */
const large = (schema: unknown): ReadonlyArray<unknown> => {
  const { anyOf, type } = obj(schema) ?? {}
  return [
    ...arr(anyOf).flatMap(large),
    ...type === "array" || type === undefined && anyOf === undefined ? [many(9_000, () => keys(3))] : [],
    ...type === "object" || type === undefined && anyOf === undefined ? [keys(9_900)] : []
  ]
}

describe("a call leaves others their turn", () => {
  it.effect.each(Object.entries(workflows).map(([what, parts]) => ({ what, parts })))(
    "beside the check of $what",
    ({ parts }) =>
      inMemory(function*() {
        const given = { ...workflow("w", []), connections: {}, ...parts }
        assert.isBelow(yield* longest(run(tools.validateWorkflow, { workflow: given })), most)
      })
  )

  it.effect.each([
    { what: "200,000 unknown names", args: keys(200_000) },
    { what: "a list of 200,000 numbers in place of a number", args: { limit: many(200_000, (index) => index) } },
    { what: "a list of 100,000 texts", args: { tags: many(100_000, (index) => `v${index}`) } },
    { what: "a text of 8 MB", args: { name: "a".repeat(8_000_000) } },
    { what: "JSON of 300,000 values", args: { tags: JSON.stringify(many(300_000, (index) => index)) } }
  ])("beside the refusal of $what", ({ args }) =>
    inMemory(function*() {
      assert.isBelow(yield* longest(run(tools.listWorkflows, args)), most)
    }))

  it.effect.each(all.flatMap((tool) => {
    const given = Object.entries(obj(tool.inputSchema["properties"]) ?? {})
      .flatMap(([key, schema]) => large(schema).map((value) => ({ ...calls[tool.name], [key]: value })))
    return given.length === 0 ? [] : [{ name: tool.name, tool, given }]
  }))("beside $name with long lists and large objects", ({ given, tool }) =>
    inMemory(function*() {
      for (const args of given) assert.isBelow(yield* longest(run(tool, args)), most)
    }, { seed }))

  it.effect.each([
    {
      what: "40 added nodes",
      make: (index: number) => ({ op: "add", type: "n8n-nodes-base.noOp", name: `E${index}` })
    },
    { what: "40 renamed nodes", make: (index: number) => ({ op: "rename", node: `N${index}`, to: `R${index}` }) },
    { what: "an upgrade", make: () => ({ op: "upgrade" }) }
  ])("beside $what of 500", ({ make, what }) =>
    inMemory(function*() {
      const nodes = [
        node("Hook", "webhook", 2, { path: "a" }),
        ...many(500, (index) => node(`N${index}`, "httpRequest", 4.2, { url: `={{ $('Hook').item.json.a }}` }))
      ]
      const { id } = yield* tools.createWorkflow.call({ name: "Large", nodes, connections: { Hook: main("N0") } })
      const operations = many(what === "an upgrade" ? 1 : 40, make)
      const edited = run(tools.workflowEdit, { workflowId: id, operations, dryRun: true })
      assert.isBelow(yield* longest(edited, 100), most / 3)
    }))
})
