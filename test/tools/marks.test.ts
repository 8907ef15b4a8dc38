/** Every cut of an answer that names a call: the call can be made as it is named, and shows more. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import { join } from "node:path"
import * as Minimize from "../../src/answer/Minimize.ts"
import type * as Tool from "../../src/answer/Tool.ts"
import * as Truncated from "../../src/answer/Truncated.ts"
import { arr, type Obj, obj } from "../../src/base/Json.ts"
import * as JsonPath from "../../src/base/JsonPath.ts"
import * as FakeN8n from "../../src/testing/FakeN8n.ts"
import type * as N8nApi from "../../src/testing/n8nApi/N8nApi.ts"
import * as tools from "../../src/tools/index.ts"
import { document, items, node, parseCall, run } from "../executions/runData.ts"
import * as TestTime from "../support/TestTime.ts"
import { inWorld, type Needs, type Options } from "../support/world.ts"

const numbers = (length: number) => Array.from({ length }, (_, index) => index)

const words = (index: number) => `${index} ${"lorem ipsum dolor ".repeat(1 + index * 7 % 9)}`

const nameOf = (index: number) => `Step ${index}: it's ${words(index).slice(0, 40).trim()}`

/** A chain of 100 nodes, of which most lack something; `host` is what its versions differ in. */
const chain = (id: string, host: string) => ({
  id,
  name: `chain ${id}`,
  active: false,
  nodes: numbers(100).map((index) => ({
    ...node(nameOf(index), index === 0 ? "n8n-nodes-base.manualTrigger" : "n8n-nodes-base.httpRequest"),
    id: `n${index}`,
    typeVersion: index === 0 ? 1 : 4.2,
    position: [index * 200, 0],
    parameters: index === 0
      ? {}
      : { url: index % 3 === 0 ? "" : `https://${host}/${index}`, method: "NOPE", jsonBody: words(index).repeat(4) }
  })),
  connections: Object.fromEntries(
    numbers(99).map((index) => [nameOf(index), { main: [[{ node: nameOf(index + 1), type: "main", index: 0 }]] }])
  )
})

const big = chain("big", "old.example")
const other = chain("other", "new.example")

const complete = {
  ...document(
    Object.fromEntries(big.nodes.map(({ name }, index) => [
      name,
      [run(index, {
        main: [items(...numbers(3).map((n) => ({ n, at: index, text: `${index}/${n} ${words(index + n).repeat(9)}` })))]
      })]
    ])),
    { nodes: big.nodes }
  ),
  id: "2000",
  workflowId: "big",
  status: "success"
} as N8nApi.Execution

const options: Options = {
  runs: (workflow) => FakeN8n.succeededExecution({ workflow }),
  seed: {
    workflows: [
      big,
      other,
      ...numbers(30).map((index) => ({
        ...chain(`w${index}`, "old.example"),
        name: `w${index} ${"long ".repeat(30)}`,
        nodes: big.nodes.slice(0, 3),
        connections: {}
      }))
    ],
    executions: [complete]
  }
}

const calls: ReadonlyArray<readonly [string, Obj]> = [
  ["list_workflows", { uses: "old.example" }],
  ["get_workflow", { id: "big", raw: true }],
  ["get_workflow", { id: "big", nodes: ["*"] }],
  ["get_workflow_connections", { id: "big" }],
  ["list_executions", { groupBy: "node", workflowId: "big" }],
  ["get_execution", { id: "2000" }],
  ["get_execution_by_node", { id: "2000", nodeName: nameOf(5) }],
  ["search_execution", { id: "2000", where: "n >= 0" }],
  ["workflow_diff", { a: "big", b: "other" }],
  ["validate_workflow", { workflowId: "big" }],
  ["workflow_load", { workflowIdOrPath: "big.json" }],
  ["workflow_list", {}],
  ["node_get", { types: ["n8n-nodes-base.httpRequest", "n8n-nodes-base.slack", "n8n-nodes-base.googleSheets"] }],
  ["sync_status", { show: "there" }],
  ["test_workflow", { workflowId: "big" }]
]

const marksBelow = (value: unknown): ReadonlyArray<Truncated.Mark> => [
  ...Truncated.marksIn(obj(value) ?? {}),
  ...Object.values(obj(value) ?? arr(value) ?? {}).flatMap(marksBelow)
]

/** Texts and elements of lists inside a value. */
const partsOf = (value: unknown): ReadonlyArray<string> =>
  typeof value === "string"
    ? [value]
    : [
      ...(arr(value) ?? []).map((element) => JSON.stringify(element)),
      ...Object.values(obj(value) ?? arr(value) ?? {}).flatMap(partsOf)
    ]

const all: ReadonlyArray<Tool.Any<Needs>> = tools.all
const toolOf = (name: string) => all.find((tool) => tool.name === name) ?? assert.fail(`there is no tool ${name}`)

const answer = Effect.fnUntraced(function*(name: string, args: Obj) {
  const { data }: Tool.Answer<unknown> = yield* toolOf(name).run(args)
  return data
})

/** Beginning of an element's texts, by which it is known even where they are cut. */
const keyOf = (element: unknown): string =>
  JSON.stringify(
    JsonPath.mapStrings({ ...obj(element), _truncated: "", own: String(element) }, (text) => text.slice(0, 25))
  )

const listAt = (data: unknown, path: string) => arr(JsonPath.get(data, JsonPath.parse(path) ?? [])) ?? []

const within4000 = Effect.provideService(Minimize.MaxResultChars, 4_000)

/** Lists whose rest no call returns: a run is not repeated to read its log. */
const ends = new Set(["test_workflow logs"])

describe("following the calls that cuts name gives the rest of each list, once, in order", () => {
  it.effect.each(calls.map(([name, args]) => ({ name, args, label: JSON.stringify(args).slice(0, 80) })))(
    "$name $label",
    ({ args, name }) =>
      TestTime.run(inWorld(function*({ folder }) {
        const fs = yield* FileSystem.FileSystem
        yield* fs.writeFileString(join(folder, "big.json"), JSON.stringify(big))
        yield* Effect.forEach(numbers(90), (n) =>
          fs.writeFileString(
            join(folder, `${n}.json`),
            JSON.stringify({ ...big, id: `f${n}`, name: `file ${n}`, nodes: [] })
          ))
        const data = yield* within4000(answer(name, args))
        const before = new Set(partsOf(data))
        const marks = marksBelow(data)
        assert.isAbove(marks.length, 0)
        for (const mark of marks) {
          const at = `${name}: ${mark.path}, ${mark.kept} of ${mark.total}, ${mark.next}`
          if (mark.next === undefined) {
            assert.isTrue(ends.has(`${name} ${mark.path}`), `${at}: no call returns the rest`)
            continue
          }
          let call = parseCall(mark.next)
          const more = yield* within4000(answer(call.tool ?? "", call.args))
          assert.isTrue(partsOf(more).some((part) => !before.has(part)), `${at} shows nothing more`)
          if (call.tool !== name || mark.path.includes("[")) continue
          const all = [...listAt(data, mark.path)]
          for (let pages = 0; pages < 200; pages++) {
            const page = yield* within4000(answer(name, call.args))
            // A call without an offset returns the list from its beginning, in more detail.
            if (pages === 0 && !Object.keys(call.args).some((key) => /offset$|^types$/i.test(key))) all.length = 0
            all.push(...listAt(page, mark.path))
            const next = marksBelow(page).find(({ path }) => path === mark.path)?.next
            if (next === undefined) break
            call = parseCall(next)
          }
          assert.lengthOf(all, mark.total, at)
          assert.lengthOf(new Set(all.map(keyOf)), mark.total, at)
        }
      }, options)),
    60_000
  )
})
