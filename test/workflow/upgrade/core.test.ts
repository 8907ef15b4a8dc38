import { assert, describe, it } from "@effect/vitest"
import { arr, obj } from "../../../src/base/Json.ts"
import { joined, node } from "../../support/workflows.ts"
import { becomes, type Row, titled, upgrade } from "./upgrades.ts"

const condition = (operation: string, value1: unknown, value2?: unknown, type = "string") => ({
  conditions: { [type]: [{ operation, value1, ...(value2 === undefined ? {} : { value2 }) }] }
})

const data = "={{ $json.a }}"

/** Type of the old condition, its operation and values; type, operation and values of the new one. */
const conditions: ReadonlyArray<readonly [string, string, unknown, unknown, string, string, unknown, unknown]> = [
  ["string", "equal", data, "done", "string", "equals", data, "done"],
  ["string", "equal", data, "5", "boolean", "true", "={{ $json.a === \"5\" }}", ""],
  ["string", "notEqual", "={{ $json.a.b }}", "", "boolean", "false", "={{ $json.a.b === \"\" }}", ""],
  ["string", "equal", "={{ $json.a.b }}", data, "boolean", "true", "={{ $json.a?.b === $json.a }}", ""],
  ["string", "equal", "=x{{ $json.a }}", "=5", "string", "equals", "=x{{ $json.a }}", "5"],
  ["string", "contains", data, "x", "string", "contains", "={{ ($json.a || \"\").toString() }}", "x"],
  ["string", "startsWith", data, "x", "string", "startsWith", data, "x"],
  ["string", "isEmpty", data, undefined, "string", "empty", "={{ $ifEmpty($json.a, \"\") }}", ""],
  ["number", "larger", data, 5, "number", "gt", "={{ Number($json.a || 0) }}", 5],
  ["number", "smaller", "={{ $items().length }}", 5, "boolean", "true", "", ""],
  ["number", "equal", data, 5, "boolean", "true", "={{ $json.a === 5 }}", ""],
  ["boolean", "equal", "={{ $json.a === 1 }}", false, "boolean", "equals", "={{ $json.a === 1 }}", false],
  ["boolean", "equal", data, true, "boolean", "true", "={{ $json.a === true }}", ""],
  [
    "dateTime",
    "after",
    "={{ $now }}",
    "2024-01-01",
    "number",
    "gt",
    "={{ new Date($now).getTime() }}",
    "={{ new Date(\"2024-01-01\").getTime() }}"
  ]
]

const values = (group: string, ...list: ReadonlyArray<readonly [name: string, value: unknown]>) => ({
  values: { [group]: list.map(([name, value]) => ({ name, value })) }
})
const assignments = (...list: ReadonlyArray<readonly [name: string, value: unknown, type: string]>) => ({
  assignments: { assignments: list.map(([name, value, type], index) => ({ id: `id-${index}`, name, value, type })) }
})
const by = (mode: string, options = {}) => ({ mode: "combine", combinationMode: mode, options })

const rows: ReadonlyArray<Row> = [
  ["if", 1, condition("greater", data, 1, "number"), "if 1", /greater/],
  ["crypto", 1, { value: data }, "crypto 2", { type: "MD5", value: data }],
  ["crypto", 1, { action: "generate" }, "crypto 2", { action: "generate" }],
  ["crypto", 1, { action: "hmac", secret: "x" }, "crypto 1", /credential/],
  ["crypto", 1, { action: data }, "crypto 1", /credential/],
  ["dateTime", 1, { value: data }, "dateTime 1", /Luxon/],
  ["compareDatasets", 1, {}, "compareDatasets 1", /inputA/],
  ["compareDatasets", 2, { fuzzyCompare: true }, "compareDatasets 2", /fuzzy/],
  ["dataTable", 1, { operation: "get" }, "dataTable 1", /dates/],
  ["dataTable", 1, { operation: "insert" }, "dataTable 1.1", { operation: "insert" }],
  ["start", 1, {}, "manualTrigger 1", {}],
  ["function", 1, { functionCode: "return [[1, 2]]" }, "function 1", /list/],
  ["function", 1, { functionCode: "return items.map((item) => [item.json.a])" }, "function 1", /list/],
  ["function", 1, { functionCode: "return rows.map((row) => ({ json: Object.values(row) }))" }, "function 1", /list/],
  ["function", 1, { functionCode: "return [{ json: Object.fromEntries(x.map((y) => [y, 1])) }]" }, "code 2", {
    jsCode: "return [{ json: Object.fromEntries(x.map((y) => [y, 1])) }]"
  }],
  ["moveBinaryData", 1, {}, "moveBinaryData 1", /list/],
  ["moveBinaryData", 1, { mode: "jsonToBinary", options: { encoding: "utf16le" } }, "moveBinaryData 1", /encoding/],
  ["moveBinaryData", 1, { mode: "jsonToBinary", destinationKey: "a.b" }, "moveBinaryData 1", /keys/],
  ["moveBinaryData", 1, { mode: "jsonToBinary", options: { fileName: "={{ $json.a }}" } }, "code 2", {
    mode: "runOnceForEachItem",
    jsCode: [
      "const value = $json;",
      "const text = JSON.stringify(value);",
      "const file = await this.helpers.prepareBinaryData(Buffer.from(text), $json.a, \"application/json\");",
      "return { json: {}, binary: { ...$input.item.binary, data: file } };"
    ].join("\n")
  }],
  ["moveBinaryData", 1, { setAllData: false, destinationKey: "xml" }, "code 2", {
    mode: "runOnceForEachItem",
    jsCode: [
      "const { data: file, ...binary } = $input.item.binary ?? {};",
      "if (file === undefined) return null;",
      "const buffer = await this.helpers.getBinaryDataBuffer($itemIndex, \"data\");",
      "const text = buffer.toString().replace(/^\\uFEFF/, \"\");",
      "return { json: { ...$json, xml: text }, binary };"
    ].join("\n")
  }],
  ["set", 1, { keepOnlySet: true, ...values("string", ["a.b", "x"], ["n", "=v{{ $json.a }}"]) }, "set 3.5", {
    ...assignments(["a.b", "x", "string"], ["n", "=v{{ $json.a }}", "string"]),
    options: {}
  }],
  ["set", 2, { ...values("number", ["n", "5"]), options: { dotNotation: false } }, "set 3.5", {
    ...assignments(["n", 5, "number"]),
    includeOtherFields: true,
    options: { dotNotation: false }
  }],
  ["set", 1, { keepOnlySet: true, ...values("string", ["a", "={{ $json.x.y }}"], ["b", "c"]) }, "set 3.5", {
    mode: "raw",
    jsonOutput: "={{ {\n  \"a\": $json.x?.y,\n  \"b\": \"c\"\n} }}",
    options: {}
  }],
  ["set", 1, { ...values("string", ["={{ $json.name }}", "x"]) }, "set 1", /names/],
  ["set", 1, values("string", ["a", data]), "set 3.5", {
    mode: "raw",
    jsonOutput: "={{ {\n  \"a\": $json.a\n} }}",
    includeOtherFields: true,
    include: "except",
    excludeFields: "a",
    options: {}
  }],
  ["set", 1, values("string", ["n.a", data]), "set 1", /missing/],
  ["set", 3.2, { fields: { values: [{ name: "a", stringValue: "x" }] }, options: {} }, "set 3.5", {
    ...assignments(["a", "x", "string"]),
    includeOtherFields: true,
    options: { stripBinary: true }
  }],
  ["set", 3.3, { ...assignments(["a", "x", "string"]), options: { includeBinary: true } }, "set 3.3", /files/],
  ["set", 3.4, { ...assignments(["a", "={{ [$now] }}", "array"]), options: {} }, "set 3.4", /date/],
  ["merge", 1, {}, "merge 3.2", {}],
  ["merge", 1, { mode: "mergeByKey", propertyName1: "a", propertyName2: "a" }, "merge 1", /keys/],
  ["merge", 2.1, by("multiplex"), "merge 3.2", { mode: "combine", combineBy: "combineAll", options: {} }],
  ["merge", 2.1, by("mergeByPosition"), "merge 2.1", /no items/],
  ["merge", 2.1, by("mergeByPosition", { includeUnpaired: true }), "merge 3.2", {
    mode: "combine",
    combineBy: "combineByPosition",
    options: { includeUnpaired: true }
  }],
  ["merge", 2.1, { mode: "chooseBranch", output: "input2" }, "merge 3.2", { mode: "chooseBranch", useDataOfInput: 2 }],
  ["merge", 3.1, { mode: "combineBySql", query: "SELECT 1" }, "merge 3.2", {
    mode: "combineBySql",
    query: "SELECT 1",
    options: { emptyQueryResult: "success" }
  }],
  ["function", 1, { functionCode: "return items;" }, "code 2", { jsCode: "return items;" }],
  ["function", 1, { functionCode: "getWorkflowStaticData('node').n = items[0].index; return items" }, "code 2", {
    jsCode:
      "const getWorkflowStaticData = $getWorkflowStaticData;\nitems.forEach((item, index) => { item.index = index; });\n" +
      "getWorkflowStaticData('node').n = items[0].index; return items"
  }],
  ["function", 1, { functionCode: "return await helpers.request({})" }, "function 1", /helpers/],
  ["functionItem", 1, { functionCode: "item.x = 1; return item" }, "code 2", {
    mode: "runOnceForEachItem",
    jsCode: "let item = $input.item.json;\nconst json = await (async () => {\nitem.x = 1; return item\n})();\n" +
      "return { json, binary: $input.item.binary };"
  }],
  [
    "itemLists",
    1,
    {
      operation: "removeDuplicates",
      compare: "selectedFields",
      fieldsToCompare: { fields: [{ fieldName: "a" }] },
      options: {}
    },
    "removeDuplicates 2",
    { compare: "selectedFields", fieldsToCompare: "a", options: {} }
  ],
  ["itemLists", 3, { fieldToSplitOut: "a", options: {} }, "splitOut 1", { fieldToSplitOut: "a", options: {} }],
  ["wait", 1, { amount: 2 }, "wait 1.1", { amount: 2, unit: "hours" }],
  ["executionData", 1, { dataToSave: { values: [{ key: "k", value: data }] } }, "executionData 1.1", {
    dataToSave: { values: [{ key: "k", value: "={{ $json.a === 0 ? \"0\" : $json.a }}" }] }
  }]
]

describe("upgrades of nodes that shape data", () => {
  it.each(titled(rows))("$name", ({ row }) => becomes(row))

  it.each(conditions)("%s %s of %j and %j", (type, operation, value1, value2, newType, newOperation, left, right) => {
    for (const name of ["if", "filter"]) {
      const made = upgrade([node("花", name, 1, condition(operation, value1, value2, type))])
      assert.deepStrictEqual([made.left, made.node["typeVersion"]], [[], 2.3])
      const filter = obj(made.parameters["conditions"])
      const { leftValue, operator, rightValue } = obj(arr(filter?.["conditions"])[0]) ?? {}
      const actual = [obj(operator)?.["type"], obj(operator)?.["operation"], leftValue, rightValue]
      if (left !== "") assert.deepStrictEqual(actual, [newType, newOperation, left, right])
      const options = { caseSensitive: true, leftValue: "", typeValidation: "loose", version: 3 }
      assert.deepStrictEqual(filter?.["options"], options)
    }
  })

  const next = ["A", "B"].map((name) => node(name, "noOp", 1))

  it("keep what outputs lead to", () => {
    const links = (...outputs: ReadonlyArray<string>) => ({
      "花": { main: outputs.map((name) => name === "" ? [] : [{ node: name, type: "main", index: 0 }]) }
    })
    const loop = upgrade([node("花", "splitInBatches", 2, {}), ...next], links("A", "B"), true)
    assert.deepStrictEqual([loop.after["connections"], loop.parameters["batchSize"]], [links("B", "A"), 10])
    const rule = (value2: unknown, output: number) => ({ value2, output, operation: "equal" })
    const route = node("花", "switch", 1, {
      dataType: "string",
      value1: data,
      rules: { rules: [rule("y", 2), rule("x", 0), rule("z", 2)] },
      fallbackOutput: -1
    })
    const routed = upgrade([route, ...next], links("A", "", "B"), true)
    assert.deepStrictEqual(routed.after["connections"], links("A", "B"))
    assert.match(upgrade([route, ...next], links("A", "B"), true).left[0]?.why ?? "", /linked output 1/)
  })

  it("leave the start of a sub-workflow whose last node runs several times", () => {
    const start = node("花", "executeWorkflowTrigger", 1)
    const once = upgrade([start, ...next], joined(["花", "A"], ["A", "B"]), true)
    assert.deepStrictEqual([once.node["typeVersion"], once.parameters], [1.2, { inputSource: "passthrough" }])
    for (const last of [["B", "A"], ["花", "B"]] as const) {
      const twice = upgrade([start, ...next], joined(["花", "A"], ["A", "B"], last), true)
      assert.deepStrictEqual([twice.node["typeVersion"], twice.left.length], [1.1, 1])
    }
  })
})
