import { assert, describe, it } from "@effect/vitest"
import type { Obj } from "../../../src/base/Json.ts"
import * as JsonPath from "../../../src/base/JsonPath.ts"
import * as WorkflowDiff from "../../../src/workflow/diff/WorkflowDiff.ts"
import { base, edit, flow, node, nodeOf, refusal } from "./edits.ts"

const same = (actual: unknown, expected: unknown) => assert.deepStrictEqual(actual, expected)

const code = `${"a = 1 // before\n".repeat(20)}return $input.all().map(({ json }) => ({
  net: json.gross - json.discount.amount,
  price: "$1 $& $$"
}))`
const assignments = ["a", "b", "c"].map((name) => ({ id: name, name, type: "string", value: `of ${name}` }))
const workflow = flow([
  node("Net amount", `${base}code`, 2, { jsCode: code }),
  node("Fields", `${base}set`, 3.4, { assignments: { assignments }, options: {} }),
  node("Get", `${base}httpRequest`, 4.2, { url: "={{ $json.url }}/a/a", options: { timeout: 5 } }),
  node("If", `${base}if`, 2.2, { conditions: { conditions: [] } })
])

describe("replace", () => {
  const replace = (node: string, path: string, find: string, replacement: string, all?: boolean) => ({
    op: "replace" as const,
    node,
    path,
    find,
    with: replacement,
    ...(all === undefined ? {} : { all })
  })
  const value = (...operation: Parameters<typeof replace>) => {
    const [name, path] = operation
    const edited = edit(workflow, replace(...operation))
    const steps = JsonPath.parse(path.replace("parameters.", "")) ?? []
    return { ...edited, value: JsonPath.get(nodeOf(edited.workflow, name)["parameters"], steps) }
  }

  it("changes a part of a text, and shows its surroundings", () => {
    const safe = "(json.discount?.amount ?? 0)"
    const edited = value("Net amount", "jsCode", "json.discount.amount", safe)
    same(edited.value, code.replace("json.discount.amount", safe))
    const line = edited.changes.join()
    assert.match(
      line,
      /^Net amount: jsCode: '….*- json\.discount\.amount.*…' → '….*- \(json\.discount\?\.amount \?\? 0\)/
    )
    assert.isAtMost(line.length, 160 + "Net amount: jsCode: ".length)
  })

  it("shows texts in quotes that need no escapes in JSON", () => {
    same(WorkflowDiff.around("say \"a\"", "say \"it's\" \\d"), "'say \"a\"' → `say \"it's\" \\d`")
    same(WorkflowDiff.around("a\nb", undefined), "\"a⏎b\" → none")
  })

  it("takes the text literally: $ means nothing, nor does a pattern", () => {
    const edited = value("Net amount", "jsCode", "$1 $& $$", "$&$1$$$`")
    same(edited.value, code.replace(/\$1 \$& \$\$/, () => "$&$1$$$`"))
    const refused = refusal(workflow, replace("Net amount", "jsCode", ".*", "x"))
    same(refused.message, "The text is not in jsCode of 'Net amount' (found 0 times).")
  })

  it("asks for more where the text is there more than once", () => {
    const refused = refusal(workflow, replace("Get", "url", "/a", "/b"))
    same([refused.field, refused.message], ["operations[0].find", "The text is 2 times in url of 'Get'."])
    assert.include(refused.hint, "all: true")
    same(value("Get", "url", "/a", "/b", true).value, "={{ $json.url }}/b/b")
    same(value("Get", "parameters.url", "/a/a", "").value, "={{ $json.url }}")
  })

  it("shows what is there where the text is not", () => {
    assert.include(
      refusal(workflow, replace("Net amount", "jsCode", "net: json.gross - json.discount.amout", "x")).hint,
      "Did you mean \"net: json.gross - json.discount.amount,\"?"
    )
    assert.include(refusal(workflow, replace("Get", "url", "x.y", "x")).hint, "$json.url")
    same(refusal(workflow, replace("Get", "url", "", "x")).field, "operations[0].find")
    same(refusal(workflow, replace("Get", "options", "x", "y")).message, "options is not text.")
    same(refusal(workflow, replace("Nobody", "url", "x", "y")).field, "operations[0].node")
  })
})

describe("set", () => {
  const set = (node: string, path: string, value: unknown) => ({ op: "set" as const, node, path, value })
  const url = "={{ $json.url }}/a/a"
  const item = { name: "x", value: "y" }
  it.each<[string, string, unknown, expected: Obj, change: string]>([
    ["Get", "options.timeout", 9, { url, options: { timeout: 9 } }, "options.timeout: 5 → 9"],
    ["Get", "options.timeout", 5, { url, options: { timeout: 5 } }, ""],
    ["Get", "options.proxy", "p", { url, options: { timeout: 5, proxy: "p" } }, "options.proxy: none → \"p\""],
    ["Get", "method", "POST", { url, options: { timeout: 5 }, method: "POST" }, "method: none → \"POST\""],
    // A problem, not a refusal: what shows the parameter may be set next.
    ["Get", "method", "FETCH", { url, options: { timeout: 5 }, method: "FETCH" }, "method: none → \"FETCH\""],
    ["Get", "options.timeout", null, { url, options: {} }, "options.timeout: 5 → none"],
    // The objects and the list on the way, which n8n leaves out when they are empty.
    [
      "Get",
      "options.batching.batch.batchSize",
      10,
      { url, options: { timeout: 5, batching: { batch: { batchSize: 10 } } } },
      "options.batching: none → {\"batch\":{\"batchSize\":10}}"
    ],
    [
      "Get",
      "headerParameters.parameters[+]",
      item,
      { url, options: { timeout: 5 }, headerParameters: { parameters: [item] } },
      "headerParameters: none → {\"parameters\":[{\"name\":\"x\",\"value\":\"y\"}]}"
    ],
    [
      "Fields",
      "assignments.assignments[2].value",
      "x",
      { assignments: { assignments: assignments.with(2, { ...assignments[2], value: "x" } as never) }, options: {} },
      "assignments.assignments[2].value: \"of c\" → \"x\""
    ],
    [
      "Fields",
      "assignments.assignments[ + ]",
      { name: "d" },
      { assignments: { assignments: [...assignments, { name: "d" }] }, options: {} },
      "assignments.assignments[3]: none → {\"name\":\"d\"}"
    ],
    [
      "Fields",
      "parameters.assignments.assignments[0]",
      null,
      { assignments: { assignments: assignments.slice(1) }, options: {} },
      "assignments.assignments[0]: {\"id\":\"a\",\"name\":\"a\",\"type\":\"string\",\"value\":\"of a\"} → none"
    ]
  ])("changes, adds, appends or removes one value: %s %s = %j", (node, path, value, expected, change) => {
    const edited = edit(workflow, set(node, path, value))
    same(nodeOf(edited.workflow, node)["parameters"], expected)
    same(edited.changes, [change === "" ? `'${node}' already has these values` : `${node}: ${change}`])
  })

  it("completes the filter that it is in", () => {
    const condition = { leftValue: "a", rightValue: "b", operator: { type: "string", operation: "equals" } }
    const edited = edit(workflow, set("If", "conditions.conditions[+]", condition))
    const options = { caseSensitive: true, leftValue: "", typeValidation: "strict", version: 2 }
    same(nodeOf(edited.workflow, "If")["parameters"], {
      conditions: { combinator: "and", conditions: [condition], options }
    })
  })

  it.each<[place: string, unknown, field: string, message: string, RegExp]>([
    ["Get options.batching.batches.size", 1, "path", "'batching' holds no 'batches': n8n drops it.", /'batch'/],
    [
      "Fields assignments.assignments[3]",
      {},
      "path",
      "assignments.assignments[3] does not exist.",
      /ends at \[2\]: .*\[\+\]/
    ],
    ["Fields assignments.values[0]", {}, "path", "assignments.values does not exist.", /contains 'assignments'/],
    ["Fields rules[+]", {}, "path", "Edit Fields (Set) 3.4 has no parameter 'rules'.", /./],
    ["Get options.proxi.host", "x", "path", "HTTP Request has no parameter 'proxi' here: n8n drops it.", /'proxy'/],
    ["Fields assignments.values[+]", {}, "path", "'assignments' holds no 'values': n8n drops it.", /'assignments'/],
    ["Fields options[+]", {}, "path", "options is not a list.", /options is empty/],
    ["Fields assignments.assignments[+]", null, "value", "null cannot be appended.", /\[\+\] appends/],
    ["Fields b[+]", null, "value", "null cannot be appended.", /Append a value/],
    [
      "Fields assignments.assignments.name",
      "x",
      "path",
      "assignments.assignments.name does not exist.",
      /ends at \[2\]/
    ],
    ["Get url.x", "x", "path", "url.x does not exist.", /url is "=/],
    ["Get options.proxy", null, "path", "options.proxy does not exist.", /'timeout'/],
    ["Get metod", "GET", "path", "HTTP Request 4.2 has no parameter 'metod'.", /'method'/],
    ["Get a..b", "x", "path", "'a..b' is not a path below parameters.", /rules\.values\[2\]/],
    ["Get parameters", {}, "path", "'parameters' is not a path below parameters.", /'url', 'options'/],
    ["Gets url", "x", "node", "There is no node 'Gets'.", /'Get'/]
  ])("refuses %s = %j", (place, value, field, message, hint) => {
    const [node = "", path = ""] = place.split(" ")
    const refused = refusal(workflow, set(node, path, value))
    same([refused.field, refused.message], [`operations[0].${field}`, message])
    assert.match(refused.hint, hint)
  })
})

describe("secrets", () => {
  const pair = (value: string) => ({ headerParameters: { parameters: [{ name: "X-Api-Key", value }] } })
  const secret = flow([
    node("Get", `${base}httpRequest`, 4.2, { url: "a", ...pair("hunter2hunter2") }),
    node("Code", `${base}code`, 2, { jsCode: "const password = \"hunter2hunter2\"\nreturn []" })
  ])
  const path = "headerParameters.parameters[0].value"

  it("are not affected by what changes", () => {
    const lines = [
      edit(secret, { op: "set", node: "Get", path, value: "swordfish-swordfish" }),
      edit(secret, { op: "replace", node: "Get", path, find: "2h", with: "3h" }),
      edit(secret, { op: "update", node: "Get", parameters: { url: "b", ...pair("swordfish-swordfish") } })
    ].map(({ changes }) => changes)
    same(lines, [
      [`Get: ${path}: [redacted] → [redacted]`],
      [`Get: ${path}: [redacted] → [redacted]`],
      ["Get: url: \"a\" → \"b\"", `Get: ${path}: [redacted] → [redacted]`]
    ])
  })

  it("nor by what is refused", () => {
    const hints = [
      refusal(secret, { op: "replace", node: "Get", path, find: "x", with: "y" }),
      refusal(secret, { op: "replace", node: "Code", path: "jsCode", find: "const pasword = \"", with: "y" }),
      refusal(secret, { op: "set", node: "Get", path: `${path}.x`, value: "y" })
    ].map(({ hint }) => hint)
    for (const hint of hints) assert.notInclude(hint, "hunter2")
  })
})
