import { assert, describe, it } from "@effect/vitest"
import * as Schema from "effect/Schema"
import type { Obj } from "../../../src/base/Json.ts"
import type { Operation } from "../../../src/workflow/edit/WorkflowEdit.ts"
import { joined } from "../../support/workflows.ts"
import { ai, base, edit, flow, model, node, set } from "./edits.ts"

const same = (actual: unknown, expected: unknown) => assert.deepStrictEqual(actual, expected)

const rule = (country: string, label?: string): Obj => ({
  conditions: {
    options: { version: 2, caseSensitive: true, leftValue: "", typeValidation: "strict" },
    combinator: "and",
    conditions: [{
      leftValue: "={{ $json.country }}",
      rightValue: country,
      operator: { type: "string", operation: "equals" }
    }]
  },
  ...(label === undefined ? {} : { renameOutput: true, outputKey: label })
})
const choice = (rules: ReadonlyArray<Obj>, options: Obj = {}, more: Obj = {}) =>
  node("S", `${base}switch`, 3.2, { rules: { values: rules }, options }, more)

const others = ["A", "B", "C", "D", "E"].map((name) => set(name))
/** A node whose outputs lead to A, B, C … in turn. */
const outOf = (given: Obj, count: number) =>
  flow(
    [given, ...others],
    joined(
      ...others.slice(0, count).map(({ name }, index) => [String(given["name"]), String(name), "main", index] as const)
    )
  )
/** Which node each output leads to, `-` for none. */
const targets = (workflow: Obj, name = "S") => {
  const connections = workflow["connections"] as { [name: string]: { main: ReadonlyArray<ReadonlyArray<Obj> | null> } }
  return (connections[name]?.main ?? []).map((targets) => (targets ?? []).map(({ node }) => node).join("") || "-")
}
/** The lines that tell what became of ports. */
const said = (workflow: Obj, ...operations: ReadonlyArray<Operation>) => {
  const edited = edit(workflow, ...operations)
  return { ...edited, ports: edited.changes.filter((line) => /: (?:in|out)put /.test(line)) }
}
const update = (parameters: Obj, more: Obj = {}): Operation => ({ op: "update", node: "S", parameters, ...more })
const put = (path: string, value: unknown): Operation => ({ op: "set", node: "S", path, value })
const failing = (onError: string): Operation => ({ op: "update", node: "S", onError })
const rules = (...values: ReadonlyArray<Obj>) => update({ rules: { values } })

const [de, fr, it_] = [rule("DE", "Germany"), rule("FR", "France"), rule("IT", "Italy")]
const [plainDe, plainFr, plainIt] = [rule("DE"), rule("FR"), rule("IT")]
const extra = { fallbackOutput: "extra" }
const error = { onError: "continueErrorOutput" }
const isGone = (port: string, target: string) => `S: output ${port} is gone, with its link to '${target}'`
const moved = (name: string, from: number, to: number, target: string) =>
  `S: output '${name}' moved from main[${from}] to main[${to}], with its link to '${target}'`

const noted = (country: string) => {
  const [condition] = (rule(country)["conditions"] as { readonly conditions: ReadonlyArray<Obj> }).conditions
  return { conditions: { combinator: "and", conditions: [{ id: `id of ${country}`, ...condition }] } }
}
const eu = ["DE", "FR"].map((country) => rule(country, "EU"))
const us = rule("US", "US")
const old = node("S", `${base}switch`, 2, {
  dataType: "string",
  rules: { rules: [{ value2: "a", outputKey: "a" }, { value2: "b", outputKey: "b" }] }
}, error)
const withFallback = outOf(choice([de, fr], extra), 3)
const of = (type: string, version: number, parameters: Obj = {}, more: Obj = {}) =>
  node("S", type.includes(".") ? type : base + type, version, parameters, more)
const categories = (...names: ReadonlyArray<string>) => ({
  categories: { categories: names.map((category) => ({ category, description: "" })) }
})
const classifier = outOf(
  of(`${ai}textClassifier`, 1.1, { inputText: "x", ...categories("Bug", "Idea"), options: { fallback: "other" } }),
  3
)
const sentiments = outOf(of(`${ai}sentimentAnalysis`, 1.1, { inputText: "x", options: {} }), 3)
const counted = outOf(of("switch", 3.2, { mode: "expression", numberOutputs: 4 }), 4)

/** A change of a node, the nodes that its outputs then lead to, and what is said of ports. */
type Row = [name: string, given: Obj, change: Operation, led: string, said?: ReadonlyArray<string>]

const rows: Array<Row> = [
  ["a rule before the fallback", withFallback, put("rules.values[+]", it_), "A B - C", [moved("Fallback", 2, 3, "C")]],
  ["a rule less", outOf(choice([de, fr, it_], extra), 4), put("rules.values[1]", null), "A C D", [
    isGone("main[1] 'France'", "B"),
    moved("Italy", 2, 1, "C"),
    moved("Fallback", 3, 2, "D")
  ]],
  ["another order without names", outOf(choice([plainDe, plainFr, plainIt]), 3), rules(plainIt, plainDe), "C A"],
  ["ids in conditions", outOf(choice([noted("DE"), noted("FR")]), 2), rules(plainIt, plainDe, plainFr), "- A B"],
  ["another label", withFallback, put("rules.values[1].outputKey", "Gaul"), "A B C", []],
  ["another condition", withFallback, rules(rule("AT", "Germany"), fr), "A B C"],
  ["another condition and order", withFallback, rules(fr, rule("AT", "Germany")), "B A C"],
  ["another condition without a name", outOf(choice([plainDe, plainFr]), 2), rules(plainDe, rule("CH")), "A B"],
  ["another label of the fallback", withFallback, update({ options: { renameFallbackOutput: "Rest" } }), "A B C"],
  ["two of one label", outOf(choice([...eu, us]), 3), rules(us, ...eu), "C A B"],
  ["two that are equal", outOf(choice([de, de, fr]), 3), rules(de, fr), "A C", [
    isGone("main[1] 'Germany'", "B"),
    moved("France", 2, 1, "C")
  ]],
  ["no fallback", withFallback, update({ options: { fallbackOutput: null } }), "A B", [
    isGone("main[2] 'Fallback'", "C")
  ]],
  ["version 2, with an output for errors", outOf(old, 3), put("rules.rules[0]", null), "B C"],
  ["a rule with an output for errors", outOf(choice([de, fr], {}, error), 3), rules(de, fr, it_), "A B - C", [
    moved("error", 2, 3, "C")
  ]],
  ["no output for errors", outOf(of("httpRequest", 4.2, {}, error), 2), failing("stopWorkflow"), "A", [
    isGone("main[1] 'error'", "B")
  ]],
  ["an output for errors linked before", outOf(of("httpRequest", 4.2), 2), failing("continueErrorOutput"), "A B"],
  [
    "an output for errors and a rule less",
    outOf(choice([plainDe, plainFr]), 2),
    update({ rules: { values: [plainFr] } }, error),
    "B"
  ],
  [
    "a fixed node without its output for errors",
    outOf(of("compareDatasets", 2.3, {}, error), 5),
    failing("continueRegularOutput"),
    "A B C D"
  ],
  ["a category more", classifier, update(categories("Bug", "Praise", "Idea")), "A - B C"],
  ["a category less", classifier, update(categories("Idea")), "B C"],
  ["another category", classifier, update(categories("Defect", "Idea")), "A B C"],
  ["categories in another order", classifier, update(categories("Idea", "Bug")), "B A C"],
  ["sentiments in another order", sentiments, put("options.categories", "Negative, Neutral, Positive"), "C B A"],
  ["a sentiment less", sentiments, put("options.categories", "Positive, Negative"), "A C"],
  ["other sentiments", sentiments, put("options.categories", "Good, Neutral, Bad"), "A B C"],
  ["a sentiment more", sentiments, put("options.categories", "Positive, Neutral, Mixed, Negative"), "A B - C"],
  ["a loop of another version", outOf(of("splitInBatches", 2), 2), update({}, { typeVersion: 3 }), "B A"],
  // As in n8n's editor, by its pull requests 11162 (Switch) and 13476 (order of rules).
  ["fewer outputs", counted, put("numberOutputs", 2), "A B", [isGone("main[2] '2'", "C"), isGone("main[3] '3'", "D")]],
  ["more outputs", counted, put("numberOutputs", 6), "A B C D"],
  ["an If with an output for errors", outOf(of("if", 2.2), 2), failing("continueErrorOutput"), "A B", []],
  ["an If without its output for errors", outOf(of("if", 2.2, {}, error), 3), failing("stopWorkflow"), "A B", [
    isGone("main[2] 'error'", "C")
  ]],
  ["another option", outOf(of("if", 2.2, {}, error), 3), update({ options: { looseTypeValidation: true } }), "A B C"]
]

describe("links stay with their outputs", () => {
  it.each<Row>(rows)("%s", (_, given, change, led, lines) => {
    const { ports, workflow } = said(given, change)
    same(targets(workflow).join(" "), led)
    if (lines !== undefined) same(ports, lines)
  })

  it("while links to outputs that are not there stay as they are", () => {
    const workflow = flow([choice([de]), set("A")], joined(["S", "A", "main", 7]))
    same(edit(workflow, rules(de, fr)).workflow["connections"], workflow["connections"])
  })

  it("also where a rule has the name of the output for errors", () => {
    const named = outOf(choice([de, rule("FR", "error")], {}, error), 3)
    const { ports, workflow } = said(named, failing("stopWorkflow"), put("rules.values[0]", null))
    same(targets(workflow), ["B"])
    same(ports, [isGone("main[2] 'error'", "C"), isGone("main[0] 'Germany'", "A"), moved("error", 1, 0, "B")])
  })

  it("with both inputs of a Compare Datasets through any other change", () => {
    const given = outOf(of("compareDatasets", 2.3), 4)
    const workflow = { ...given, connections: { ...given["connections"] as Obj, ...joined(["E", "S", "main", 0, 1]) } }
    const change = update({ resolve: "mix", options: { skipFields: "x" } })
    const { ports, workflow: edited } = said(workflow, change, { op: "rename", node: "S", to: "T" })
    same([targets(edited, "T"), ports], [["A", "B", "C", "D"], []])
    same((edited["connections"] as Obj)["E"], joined(["E", "T", "main", 0, 1])["E"])
  })
})

const countries = ["DE", "FR", "IT", "US", "JP"] as const
const Rules = Schema.Array(Schema.Struct({ country: Schema.Literals(countries), isNamed: Schema.Boolean }))
  .check(Schema.isMaxLength(6))

it.prop("any rules to any other: what is left of a rule goes where it went before", {
  before: Rules,
  after: Rules,
  hasFallback: Schema.Boolean,
  hasError: Schema.Boolean
}, ({ after, before, hasError, hasFallback }) => {
  // One rule a country, so that it is known which is which.
  const unique = (all: typeof before) =>
    all.filter(({ country }, index) => all.findIndex((each) => each.country === country) === index)
  const made = (all: typeof before) =>
    unique(all).map(({ country, isNamed }) => rule(country, isNamed ? `to ${country}` : undefined))
  const [old, next] = [unique(before), unique(after)]
  const extras = [...(hasFallback ? ["fallback"] : []), ...(hasError ? ["error"] : [])]
  const ends = [...old.map(({ country }) => country), ...extras]
  const from = choice(made(before), hasFallback ? extra : {}, hasError ? error : {})
  const workflow = flow(
    [from, ...ends.map((name) => set(name))],
    joined(...ends.map((name, index) => ["S", name, "main", index] as const))
  )
  const led = targets(edit(workflow, rules(...made(after))).workflow)
  next.forEach(({ country }, index) => {
    if (old.some((each) => each.country === country)) assert.strictEqual(led[index], country)
  })
  same(extras.map((_, index) => led[next.length + index]), extras)
  const gone = old.filter(({ country }) => !next.some((each) => each.country === country))
  // A rule without a name that is changed in its place is the same one.
  if (gone.every(({ isNamed }) => isNamed)) { for (const { country } of gone) assert.notInclude(led, country) }
})

describe("inputs", () => {
  const merge = (version: number, parameters: Obj) =>
    flow(
      [node("S", `${base}merge`, version, { numberInputs: 3, ...parameters }), ...others],
      joined(["A", "S"], ["B", "S", "main", 0, 1], ["C", "S", "main", 0, 2], ["S", "D"])
    )

  it("of a Merge: removed inputs lose their links", () => {
    const fewer = said(merge(3, {}), update({ numberInputs: 2 }))
    same(fewer.workflow["connections"], joined(["A", "S"], ["B", "S", "main", 0, 1], ["S", "D"]))
    same(fewer.ports, ["S: input main[2] 'Input 3' is gone, with its link from 'C'"])
    const more = said(merge(3, {}), update({ numberInputs: 5 }))
    same([more.workflow["connections"], more.ports], [merge(3, {})["connections"], []])
    const given = merge(3.2, { mode: "append" })
    same(edit(given, update({ mode: "combineBySql" })).workflow["connections"], given["connections"])
  })

  /** As in n8n's editor, by its pull request 23089: a model stays when its fallback goes. */
  it("of an agent, that its parameters bring, and that come back only by hand", () => {
    const parameters = { promptType: "define", text: "hi", hasOutputParser: true, needsFallback: true }
    const first = ["M1", "S", "ai_languageModel"] as const
    const parsed = ["Parser", "S", "ai_outputParser"] as const
    const workflow = flow(
      [of(`${ai}agent`, 2.2, parameters), model("M1"), model("M2"), node("Parser", `${ai}outputParserStructured`, 1.3)],
      joined(first, ["M2", "S", "ai_languageModel", 0, 1], parsed)
    )
    const { ports, workflow: edited } = said(workflow, update({ hasOutputParser: null, needsFallback: null }))
    same(edited["connections"], joined(first))
    same(ports, [
      "S: input ai_languageModel[1] 'Fallback Model' is gone, with its link from 'M2'",
      "S: input ai_outputParser 'Output Parser' is gone, with its link from 'Parser'"
    ])
    same(edit(workflow, update({ needsFallback: false })).workflow["connections"], joined(first, parsed))
    const again = said(workflow, update({ hasOutputParser: false }), update({ hasOutputParser: true }))
    same(Object.keys(again.workflow["connections"] as Obj), ["M1", "M2"])
  })
})
