/** Nodes that shape and route data, before and after their upgrade on a real n8n. */
import { assert, type Vitest } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import { canonical, type Obj } from "../../../../src/base/Json.ts"
import * as Workflow from "../../../../src/n8n/model/Workflow.ts"
import * as Upgrade from "../../../../src/workflow/upgrade/Upgrade.ts"
import * as NodeLookups from "../../../../src/workflows/NodeLookups.ts"
import { catalogue } from "../../../support/catalogue.ts"
import { node } from "../../../support/workflows.ts"
import { type Difference, differences, oddItems, type Pair, type Run } from "../pairs.ts"
import { RealN8n } from "../RealN8n.ts"
import * as scenarios from "../scenarios.ts"

const [data, inner] = ["={{ $json.a }}", "={{ $json.a.b.c }}"]

type Condition = readonly [operation: string, value1: unknown, value2?: unknown]

/** Conditions of each type that are hard to carry over, all in one node. */
const hard: { readonly [type: string]: ReadonlyArray<Condition> } = {
  boolean: [["equal", data, true], ["notEqual", "={{ $json.b === 'y' }}", false]],
  number: [["smaller", data, 5], ["larger", inner, -1], ["equal", data, 1], ["isEmpty", data], [
    "smallerEqual",
    data,
    "={{ $json.b }}"
  ]],
  string: [
    ["equal", data, "1"],
    ["notEqual", inner, ""],
    ["equal", data, "={{ $json.a.b }}"],
    ["contains", data, "1"],
    ["notContains", "={{ $json.b }}", "={{ $json.a }}"],
    ["isEmpty", data],
    ["isNotEmpty", "={{ $json.c }}"],
    ["regex", "={{ $json.b }}", "/^[XY]$/i"],
    ["equal", "={{ $json.b.toUpperCase() }}", "={{ $json.b }}"]
  ]
}

const entry = ([operation, value1, value2]: Condition) => ({
  operation,
  value1,
  ...(value2 === undefined ? {} : { value2 })
})
const list = Object.entries(hard).flatMap(([type, all]) => all.map((each) => [type, each] as const))

const set = (version: number, parameters: Obj) => node("要求", "set", version, { options: {}, ...parameters })
const value = (name: string, value: unknown) => ({ name, value })
const fields = {
  values: [{ name: "s", stringValue: data }, { name: "o", type: "objectValue", objectValue: "={{ { x: $json.a } }}" }]
}

const old: ReadonlyArray<Obj> = [
  ...list.map(([type, each], index) =>
    index % 2 === 0
      ? node("要求", "if", 1, { conditions: { [type]: [entry(each)] } })
      : node("要求", "filter", 1, { conditions: { [type]: [entry(each)] }, combineConditions: "OR" })
  ),
  node("要求", "switch", 2, {
    dataType: "string",
    value1: "={{ $json.b }}",
    rules: { rules: ["x", "5", "y"].map((value2) => ({ value2, outputKey: value2 })) },
    fallbackOutput: 1
  }),
  node("要求", "switch", 1, { mode: "expression", output: "={{ $itemIndex % 4 }}" }),
  set(1, {
    values: {
      boolean: [value("t", data)],
      number: [value("b", inner)],
      string: [value("s", inner), value("s", "={{ $json.b }}!")]
    }
  }),
  set(2, {
    keepOnlySet: true,
    values: { number: [value("n", "5")], string: [value("x.y", "v"), value("z", "=a{{ $json.a }}")] }
  }),
  set(3.2, { fields, include: "selected", includeFields: "a, b" }),
  set(3.3, {
    includeOtherFields: true,
    assignments: { assignments: [{ id: "1", name: "q", value: "x", type: "string" }] }
  }),
  node("要求", "function", 1, {
    functionCode: "items[0].json.n = items.length; return items.filter((item) => item.index !== 1);"
  }),
  node("要求", "function", 1, {
    functionCode: "return items.map(({ json }) => ({ day: new Date(0), text: String(json.b) }))"
  }),
  node("要求", "functionItem", 1, {
    functionCode: "item.json = { a: 1 }; item.twice = [item.b, item.b]; return item;"
  }),
  node("要求", "itemLists", 3, { fieldToSplitOut: "c", options: {} }),
  node("要求", "summarize", 1, {
    fieldsToSummarize: { values: [{ field: "a", aggregation: "countUnique" }] },
    options: {}
  }),
  node("要求", "moveBinaryData", 1, { mode: "jsonToBinary", options: { fileName: "x.json" } }),
  node("要求", "moveBinaryData", 1.1, {
    mode: "jsonToBinary",
    convertAllData: false,
    sourceKey: "b",
    options: { useRawData: true }
  }),
  node("要求", "crypto", 1, { value: "={{ String($json.b) }}", dataPropertyName: "x.y" }),
  node("要求", "executionData", 1, { dataToSave: { values: [{ key: "k", value: data }] } })
]

/** Nodes that go on after errors: items that fail take the same way. */
const goingOn: ReadonlyArray<Obj> = [
  ...["strict", "loose"].flatMap((typeValidation) =>
    (["empty", "notEquals", "gte", "gt"] as const).map((operation, index) =>
      node(
        "要求",
        index % 2 === 0 ? "if" : "filter",
        2.1,
        {
          conditions: {
            options: { caseSensitive: true, leftValue: "", typeValidation, version: 1 },
            combinator: "and",
            conditions: [{
              id: "1",
              leftValue: data,
              rightValue: operation === "empty" ? "" : operation === "gt" ? -1 : 0,
              operator: { type: "number", operation, ...(operation === "empty" ? { singleValue: true } : {}) }
            }]
          },
          options: {},
          ...(typeValidation === "loose" ? { looseTypeValidation: true } : {})
        },
        { onError: "continueRegularOutput" }
      )
    )
  ),
  set(3.1, { fields: { values: [{ name: "n", type: "numberValue", numberValue: data }] } }),
  node("要求", "itemLists", 3, { fieldToSplitOut: "b", options: {} })
].map((each) => ({ ...each, onError: "continueRegularOutput" }))

const merges: ReadonlyArray<Obj> = [
  { options: {} },
  {
    mode: "combine",
    combinationMode: "multiplex",
    options: { clashHandling: { values: { resolveClash: "preferInput1" } } }
  },
  {
    mode: "combine",
    mergeByFields: { values: [{ field1: "a", field2: "a" }] },
    joinMode: "enrichInput1",
    options: { clashHandling: { values: { resolveClash: "preferInput2" } } }
  },
  { mode: "chooseBranch", output: "input2" }
].map((parameters) => node("要求", "merge", 2.1, parameters))

/** Nodes that are left, with the choice that does the same with ordinary items. */
const chosen: ReadonlyArray<readonly [key: string, parameters: Obj, version?: number]> = [
  ["shortest", { mode: "mergeByIndex" }],
  ["longest", { mode: "mergeByIndex", join: "outer" }],
  ["enrichInput1", { mode: "mergeByKey", propertyName1: "a", propertyName2: "a" }],
  ["keepMatches", { mode: "keepKeyMatches", propertyName1: "a", propertyName2: "a" }],
  ["keepNonMatches", { mode: "removeKeyMatches", propertyName1: "a", propertyName2: "b" }],
  ["combineAll", { mode: "multiplex" }],
  ["chooseBranch", { mode: "passThrough", output: "input2" }],
  ["byPosition", { mode: "combine", combinationMode: "mergeByPosition", options: {} }, 2]
]

type It = Vitest.MethodsNonLive<RealN8n>

/** Adds the test of upgraded nodes that shape and route data; it is of n8n 2 alone, whose versions the upgrades lead to. */
export const core = (it: It, version: string) =>
  it.effect("keeps what nodes that shape and route data do", () =>
    Effect.gen(function*() {
      const { apiKey, url } = yield* RealN8n
      const all = [...old, ...goingOn, ...merges]
      const lookups = yield* NodeLookups.make(
        Upgrade.types({ nodes: all }),
        version
      )
      const choices = chosen.map(([key, parameters, version = 1]): Pair => {
        const before = node("要求", "merge", version, parameters)
        const { left, workflow } = Upgrade.upgrade({ nodes: [before], connections: {} }, undefined, lookups, {
          要求: key
        })
        assert.deepStrictEqual(left, [], key)
        const [after = {}] = Workflow.nodes(workflow)
        return {
          id: key,
          before: { ...before, id: undefined },
          after: { ...after, id: undefined },
          sets: [oddItems[0] ?? []],
          hasSecond: true
        }
      })
      const pairs = all.flatMap((each, index): ReadonlyArray<Pair> => {
        const { upgraded, workflow } = Upgrade.upgrade({ nodes: [each], connections: {} }, undefined, lookups)
        const id = `${index} ${JSON.stringify([each["type"], each["parameters"]])}`
        assert.strictEqual(upgraded.length, 1, id)
        const [after = {}] = Workflow.nodes(workflow)
        return [{
          id,
          before: { ...each, id: undefined },
          after: { ...after, id: undefined },
          sets: [
            oddItems[0] ?? [],
            (oddItems[index < old.length ? 2 : 1] ?? []).slice(0, 4),
            (oddItems[3] ?? []).slice(0, 2)
          ],
          hasSecond: index >= old.length + goingOn.length
        }]
      })
      const { compared, differences: found } = yield* differences(
        { url: url.href, apiKey: Redacted.value(apiKey) },
        [...pairs, ...choices]
      )
      // A choice may pair items with more of those that they come from.
      const data = ({ outputs }: Run) => canonical(outputs.map((items) => items.map(({ json }) => json)))
      const isSame = ({ after, before, id }: Difference) =>
        chosen.some(([key]) => key === id) && data(before) === data(after)
      assert.deepStrictEqual(found.filter((each) => !isSame(each)), [])
      assert.strictEqual(compared, pairs.length * 3 + choices.length)
    }).pipe(Effect.provide(catalogue), scenarios.live), 120_000)
