/** Nodes that go on after errors, and the choices where a meaning cannot be carried over. */
import { assert, describe, it } from "@effect/vitest"
import { createRequire } from "node:module"
import { arr, type Obj, obj, str } from "../../../src/base/Json.ts"
import * as Workflow from "../../../src/n8n/model/Workflow.ts"
import { outdated } from "../../../src/workflow/Outdated.ts"
import * as Upgrade from "../../../src/workflow/upgrade/Upgrade.ts"
import { node, workflow } from "../../support/workflows.ts"
import { lookups, short, titled } from "./upgrades.ts"

const { executeFilter } = createRequire(import.meta.url)("n8n-workflow") as {
  readonly executeFilter: (filter: unknown, options: Obj) => boolean
}

const make = (nodes: ReadonlyArray<Obj>) => {
  const whole = workflow("w", nodes)
  return (accept: Upgrade.Accept = {}) => {
    const outcome = Upgrade.upgrade(whole, undefined, lookups, accept)
    const [made = {}] = Workflow.nodes(outcome.workflow)
    const [left] = outcome.left
    return { ...outcome, made, why: left?.why, choices: left?.choices ?? [] }
  }
}

const data = "={{ $json.a }}"
const all = <A>(...values: ReadonlyArray<A>) => values

/** Type, operation and right value of each condition. */
const conditions: ReadonlyArray<readonly [string, string, unknown?, string?]> = [
  ...all("exists", "notExists", "empty", "notEmpty").map((operation) => ["number", operation, ""] as const),
  ...all("equals", "notEquals", "gt", "lt", "gte", "lte").flatMap((operation) =>
    all<unknown>(0, 5, "={{ $json.b }}").map((value) => ["number", operation, value] as const)
  ),
  ["string", "empty", ""],
  ["string", "equals", "a"],
  ["boolean", "true", ""],
  ["boolean", "notEquals", true],
  ["array", "lengthEquals", "", "number"],
  ["array", "lengthGte", "={{ $json.b }}", "number"],
  ["dateTime", "after", "2024-01-01"],
  ["object", "notEmpty", ""]
]

const values = [undefined, null, 0, 5, -1, true, [], [1], {}, "", " ", "5", "a", "null", "2024-01-15"]

/** Result of a filter for an item, as n8n resolves and compares it; an error is `undefined`. */
const passes = (filter: unknown, json: Obj): boolean | undefined => {
  const resolve = (value: unknown): unknown => {
    const text = str(value)
    if (text === undefined || !text.startsWith("=")) return value
    // eslint-disable-next-line no-new-func
    return (new Function("$json", `return ${text.slice(3, -2)}`) as (json: Obj) => unknown)(json)
  }
  const list = arr(obj(filter)?.["conditions"]).map((each) => ({
    ...obj(each),
    leftValue: resolve(obj(each)?.["leftValue"]),
    rightValue: resolve(obj(each)?.["rightValue"])
  }))
  try {
    return executeFilter({ ...obj(filter), conditions: list }, {})
  } catch {
    return undefined
  }
}

const filterOf = (typeValidation: string, [type, operation, rightValue, rightType]: typeof conditions[number]) => ({
  options: { caseSensitive: true, leftValue: "", typeValidation, version: 1 },
  combinator: "or",
  conditions: [
    {
      id: "1",
      leftValue: data,
      rightValue,
      operator: { type, operation, ...(rightType && { rightType }), ...(rightValue === "" && { singleValue: true }) }
    },
    { id: "2", leftValue: "={{ $json.c }}", rightValue: "x", operator: { type: "string", operation: "equals" } }
  ]
})

describe("nodes that go on after errors", () => {
  it.each(["strict", "loose"])("compare as before: %s", (typeValidation) => {
    const items = values.flatMap((a) => [{ a, b: "", c: "x" }, { a, b: 0, c: "y" }])
    const different: Array<unknown> = []
    for (const condition of conditions) {
      const filter = filterOf(typeValidation, condition)
      const loose = typeValidation === "loose" ? { looseTypeValidation: true } : {}
      for (const onError of ["continueRegularOutput", "stopWorkflow"]) {
        const { made } = make([node("花", "if", 2.1, { conditions: filter, options: {}, ...loose }, { onError })])()
        assert.strictEqual(made["typeVersion"], 2.3)
        for (const json of items) {
          const [then, now] = [passes(filter, json), passes(Workflow.parametersOf(made)["conditions"], json)]
          const isStopped = onError === "stopWorkflow" && then === undefined
          if (!isStopped && (then ?? false) !== (now ?? false)) different.push([condition, json, then, now])
        }
      }
    }
    assert.deepStrictEqual(different, [])
    assert.strictEqual(conditions.length * items.length, 30 * 30)
  })

  const starting = { operation: "startsWith", value2: "x" }
  const strict = filterOf("strict", ["number", "empty", ""])
  const fields = (field: Obj) => ({ fields: { values: [{ name: "k", ...field }] }, options: {} })
  /** Type, version, parameters; whether its failures differ. */
  const rows: ReadonlyArray<readonly [string, number, Obj, boolean]> = [
    ["switch", 3.2, { rules: { values: [{ conditions: strict }] }, options: {} }, true],
    ["switch", 2, { dataType: "string", value1: data, rules: { rules: [starting] } }, true],
    ["switch", 2, { dataType: "string", value1: data, rules: { rules: [{ value2: "x" }] } }, false],
    ["if", 1, { conditions: { string: [{ value1: data, ...starting }] } }, true],
    ["if", 1, { conditions: { string: [{ value1: data, operation: "regex", value2: "x" }] } }, false],
    ["filter", 1, { conditions: { dateTime: [{ value1: data, operation: "after", value2: "2024-01-01" }] } }, true],
    ["set", 3.1, fields({ stringValue: data }), true],
    ["set", 3.1, fields({ stringValue: "x" }), false],
    ["set", 3.1, fields({ type: "numberValue", numberValue: data }), false],
    ["set", 3.2, fields({ stringValue: data }), false],
    ["set", 3.2, fields({ type: "objectValue", objectValue: data }), true],
    ["function", 1, { functionCode: "return items" }, true],
    ["functionItem", 1, { functionCode: "return item" }, true],
    ["itemLists", 2, { fieldToSplitOut: "c", options: {} }, true],
    ["itemLists", 3, { fieldToSplitOut: "c", options: {} }, false],
    ["itemLists", 3, { operation: "summarize", fieldsToSummarize: { values: [{ field: "a" }] }, options: {} }, true],
    ["summarize", 1, { fieldsToSummarize: { values: [{ field: "a" }] }, options: {} }, true],
    ["crypto", 1, { value: data }, true],
    ["moveBinaryData", 1, { setAllData: false, destinationKey: "x", options: { jsonParse: true } }, true],
    ["httpRequest", 1, { url: "https://x.example", responseFormat: "file", options: {} }, true],
    ["executeWorkflow", 1.2, { mode: "each", workflowId: { __rl: true, mode: "id", value: "1" }, options: {} }, true],
    ["writeBinaryFile", 1, { fileName: "x" }, true]
  ]

  it.each(titled(rows))("are left where failures differ: $name", ({ row: [type, version, parameters, differs] }) => {
    const stopping = make([node("花", type, version, parameters)])()
    assert.deepStrictEqual(stopping.left, [])
    for (const more of [{ onError: "continueRegularOutput" }, { continueOnFail: true }]) {
      const going = make([node("花", type, version, parameters, more)])
      assert.deepStrictEqual(going().choices.map(({ key }) => key), differs ? ["asN8n"] : [])
      if (!differs) continue
      const { left, made, upgraded } = going({ 花: "asN8n" })
      assert.deepStrictEqual([left, upgraded[0]?.differs], [[], [String(going().why)]])
      assert.deepStrictEqual(made["parameters"], stopping.made["parameters"])
    }
  })
})

describe("choices of what is left", () => {
  /** Type, version, parameters; each key with the type and version, and parameters that it brings. */
  const rows: ReadonlyArray<readonly [string, number, Obj, { readonly [key: string]: readonly [string, Obj?] }]> = [
    ["interval", 1, { interval: 90, unit: "minutes" }, {
      "1hours": ["scheduleTrigger 1.4", { rule: { interval: [{ field: "hours", hoursInterval: 1 }] } }],
      "2hours": ["scheduleTrigger 1.4", { rule: { interval: [{ field: "hours", hoursInterval: 2 }] } }]
    }],
    ["interval", 1, { interval: 100, unit: "seconds" }, {
      "1minutes": ["scheduleTrigger 1.4"],
      "2minutes": ["scheduleTrigger 1.4"]
    }],
    ["merge", 1, { mode: "mergeByIndex" }, {
      shortest: ["merge 3.2", { mode: "combine", combineBy: "combineByPosition", options: {} }],
      longest: ["merge 3.2"]
    }],
    ["merge", 1, { mode: "passThrough", output: "input2" }, {
      chooseBranch: ["merge 3.2", { mode: "chooseBranch", useDataOfInput: 2 }]
    }],
    ["merge", 1, { mode: "removeKeyMatches", propertyName1: "a", propertyName2: "b" }, {
      keepNonMatches: ["merge 3.2"]
    }],
    ["merge", 2, { mode: "combine", combinationMode: "mergeByPosition", options: {} }, {
      byPosition: ["merge 3.2", { mode: "combine", combineBy: "combineByPosition", options: {} }]
    }],
    ["webhook", 1, { path: "x", responseMode: "responseNode" }, {
      onReceived: ["webhook 2.1"],
      lastNode: ["webhook 2.1"]
    }],
    ["spreadsheetFile", 2, { options: { headerRow: false } }, {
      csv: ["extractFromFile 1.1"],
      xlsx: ["extractFromFile 1.1", { operation: "xlsx", options: { headerRow: false } }],
      xls: ["extractFromFile 1.1"],
      ods: ["extractFromFile 1.1"],
      html: ["extractFromFile 1.1"]
    }],
    ["readBinaryFile", 1, { filePath: "/x" }, { fileOnly: ["readWriteFile 1.1"] }],
    ["dataTable", 1, { operation: "get" }, { asN8n: ["dataTable 1.1", { operation: "get" }] }],
    ["@n8n/n8n-nodes-langchain.outputParserStructured", 1, { jsonSchema: "{}" }, {
      asN8n: ["outputParserStructured 1.3"],
      1.2: ["outputParserStructured 1.2", { schemaType: "manual", inputSchema: "{}" }]
    }],
    ["airtable", 1, { operation: "append", application: "app", table: "t", options: {} }, {}],
    ["crypto", 1, { action: "hmac", secret: "x" }, {}],
    ["scheduleTrigger", 1.1, { rule: { interval: [{ field: "minutes", minutesInterval: 1.5 }] } }, {}],
    ["scheduleTrigger", 1.2, { rule: { interval: [{ field: "cronExpression", expression: "0 0 30 2 *" }] } }, {}]
  ]

  it.each(titled(rows))("are carried out by their keys: $name", ({ row: [type, version, parameters, ways] }) => {
    const upgrade = make([node("花", type, version, parameters)])
    const { choices } = upgrade()
    assert.deepStrictEqual(choices.map(({ key }) => key).toSorted(), Object.keys(ways).toSorted())
    for (const { does, key } of choices) {
      const [becomes, expected] = ways[key] ?? []
      assert.match(does, /^[A-Z].*\.$/)
      const { left, made, unknown, upgraded } = upgrade({ 花: key })
      const last = upgraded[0]
      assert.deepStrictEqual([last?.node, last?.choice, unknown], ["花", key, []])
      assert.isNotEmpty(last?.differs)
      // A choice decides one step; the newest version may differ again.
      if (left.length === 0) {
        assert.strictEqual(`${short(String(made["type"]))} ${String(made["typeVersion"])}`, becomes)
      }
      if (expected !== undefined) assert.deepStrictEqual(made["parameters"], expected)
    }
  })

  it("name the credentials of a new node, and the parameters that it lacks", () => {
    const credentials = { twitterOAuth1Api: { id: "1", name: "T" } }
    const tweet = node("花", "twitter", 1, { text: "x" }, { credentials })
    const record = node("b", "airtable", 1, { operation: "append", application: "app", table: "t" })
    const { left } = make([tweet, record])()
    assert.match(left[0]?.why ?? "", /It takes other credentials: twitterOAuth2Api/)
    assert.match(left[1]?.decision ?? "", /no parameter 'application', and no operation 'append', but .*create/)
  })

  it("are refused with the keys that there are, and lead to nodes of which nothing is left", () => {
    const upgrade = make([node("花", "dataTable", 1, { operation: "get" }), node("b", "noOp", 1)])
    assert.deepStrictEqual(upgrade({ 花: "keepBoth", b: "asN8n" }).unknown, [
      { node: "花", key: "keepBoth", keys: ["asN8n"] },
      { node: "b", key: "asN8n", keys: [] }
    ])
    const { upgraded, workflow } = upgrade({ 花: "asN8n" })
    assert.deepStrictEqual(outdated(workflow, lookups), [])
    assert.deepStrictEqual(upgraded.map(({ choice, differs }) => [choice, differs]), [
      ["asN8n", ["From version 1.1 on, the dates of rows are texts."]]
    ])
  })
})
