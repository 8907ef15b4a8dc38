import { assert, describe, it } from "@effect/vitest"
import * as Schema from "effect/Schema"
import type { Obj } from "../../../src/base/Json.ts"
import type { Operation } from "../../../src/workflow/edit/WorkflowEdit.ts"
import { joined } from "../../support/workflows.ts"
import { agent, ai, base, edit, flow, model, node, set } from "./edits.ts"

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
/** Which node each output leads to. */
const targets = (workflow: Obj, name = "S") => {
  const connections = workflow["connections"] as { [name: string]: { main: ReadonlyArray<ReadonlyArray<Obj> | null> } }
  return (connections[name]?.main ?? []).map((targets) => (targets ?? []).map(({ node }) => node).join(""))
}
/** The lines that tell what became of ports. */
const said = (workflow: Obj, ...operations: ReadonlyArray<Operation>) => {
  const edited = edit(workflow, ...operations)
  return { ...edited, ports: edited.changes.filter((line) => /: (?:in|out)put /.test(line)) }
}
const rules = (...values: ReadonlyArray<Obj>): Operation => ({
  op: "update",
  node: "S",
  parameters: { rules: { values } }
})

const [de, fr, it_] = [rule("DE", "Germany"), rule("FR", "France"), rule("IT", "Italy")]
const extra = { fallbackOutput: "extra" }

describe("the rules of a Switch: links stay with their rule", () => {
  it("when one is added before the fallback", () => {
    const workflow = outOf(choice([de, fr], extra), 3)
    const { ports, workflow: edited } = said(workflow, { op: "set", node: "S", path: "rules.values[+]", value: it_ })
    same(targets(edited), ["A", "B", "", "C"])
    same(ports, ["S: output 'Fallback' moved from main[2] to main[3], with its link to 'C'"])
    same(targets(edit(workflow, rules(it_, de, fr)).workflow), ["", "A", "B", "C"])
  })

  it("when one is removed: its links are removed and named", () => {
    const workflow = outOf(choice([de, fr, it_], extra), 4)
    const { ports, workflow: edited } = said(workflow, { op: "set", node: "S", path: "rules.values[1]", value: null })
    same(targets(edited), ["A", "C", "D"])
    same(ports, [
      "S: output main[1] 'France' is gone, with its link to 'B'",
      "S: output 'Italy' moved from main[2] to main[1], with its link to 'C'",
      "S: output 'Fallback' moved from main[3] to main[2], with its link to 'D'"
    ])
  })

  it("when they are put in another order", () => {
    same(targets(edit(outOf(choice([de, fr, it_]), 3), rules(it_, de, fr)).workflow), ["C", "A", "B"])
    same(
      targets(edit(outOf(choice([rule("DE"), rule("FR"), rule("IT")]), 3), rules(rule("IT"), rule("DE"))).workflow),
      [
        "C",
        "A"
      ]
    )
  })

  it("any property that n8n's editor stores with a rule", () => {
    const noted = (country: string) => {
      const [condition] = (rule(country)["conditions"] as { readonly conditions: ReadonlyArray<Obj> }).conditions
      return { conditions: { combinator: "and", conditions: [{ id: `id of ${country}`, ...condition }] } }
    }
    same(
      targets(edit(outOf(choice([noted("DE"), noted("FR")]), 2), rules(rule("IT"), rule("DE"), rule("FR"))).workflow),
      [
        "",
        "A",
        "B"
      ]
    )
  })

  it("when only the label or only the condition changes", () => {
    const workflow = outOf(choice([de, fr], extra), 3)
    const renamed = said(workflow, { op: "set", node: "S", path: "rules.values[1].outputKey", value: "Gaul" })
    same([targets(renamed.workflow), renamed.ports], [["A", "B", "C"], []])
    same(targets(edit(workflow, rules(rule("AT", "Germany"), fr)).workflow), ["A", "B", "C"])
    same(targets(edit(workflow, rules(fr, rule("AT", "Germany"))).workflow), ["B", "A", "C"])
    const plain = outOf(choice([rule("DE"), rule("FR")]), 2)
    same(targets(edit(plain, rules(rule("DE"), rule("CH"))).workflow), ["A", "B"])
    same(
      targets(
        edit(workflow, { op: "update", node: "S", parameters: { options: { renameFallbackOutput: "Rest" } } }).workflow
      ),
      ["A", "B", "C"]
    )
  })

  it("when two have one label, or are equal: in their order", () => {
    const twice = outOf(choice([rule("DE", "EU"), rule("FR", "EU"), rule("US", "US")]), 3)
    same(targets(edit(twice, rules(rule("US", "US"), rule("DE", "EU"), rule("FR", "EU"))).workflow), ["C", "A", "B"])
    const equal = outOf(choice([de, de, fr]), 3)
    const { ports, workflow } = said(equal, rules(de, fr))
    same(targets(workflow), ["A", "C"])
    same(ports[0], "S: output main[1] 'Germany' is gone, with its link to 'B'")
  })

  it("when the fallback goes", () => {
    const { ports, workflow } = said(outOf(choice([de, fr], extra), 3), {
      op: "update",
      node: "S",
      parameters: { options: { fallbackOutput: null } }
    })
    same([targets(workflow), ports], [["A", "B"], ["S: output main[2] 'Fallback' is gone, with its link to 'C'"]])
  })

  it("also of version 2, and with an output for errors behind", () => {
    const old = node("S", `${base}switch`, 2, {
      dataType: "string",
      rules: { rules: [{ value2: "a", outputKey: "a" }, { value2: "b", outputKey: "b" }] }
    }, { onError: "continueErrorOutput" })
    const { ports, workflow } = said(outOf(old, 3), { op: "set", node: "S", path: "rules.rules[0]", value: null })
    same(targets(workflow), ["B", "C"])
    same(ports[2], "S: output 'error' moved from main[2] to main[1], with its link to 'C'")
  })

  it("while links to outputs that are not there stay as they are", () => {
    const workflow = flow([choice([de]), set("A")], joined(["S", "A", "main", 7]))
    same(edit(workflow, rules(de, fr)).workflow["connections"], workflow["connections"])
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
  const from = choice(made(before), hasFallback ? extra : {}, hasError ? { onError: "continueErrorOutput" } : {})
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

describe("the output for errors", () => {
  const failing = (onError: string) => ({ op: "update", node: "S", onError }) as const

  it("is behind all others, wherever that is", () => {
    const workflow = outOf(choice([de, fr], {}, { onError: "continueErrorOutput" }), 3)
    const { ports, workflow: edited } = said(workflow, rules(de, fr, it_))
    same(targets(edited), ["A", "B", "", "C"])
    same(ports, ["S: output 'error' moved from main[2] to main[3], with its link to 'C'"])
  })

  it("takes its links with it, and no others", () => {
    const workflow = outOf(node("S", `${base}httpRequest`, 4.2, {}, { onError: "continueErrorOutput" }), 2)
    const { ports, workflow: edited } = said(workflow, failing("stopWorkflow"))
    same([targets(edited), ports], [["A"], ["S: output main[1] 'error' is gone, with its link to 'B'"]])
  })

  it("gets the link that was made for it before", () => {
    const workflow = outOf(node("S", `${base}httpRequest`, 4.2), 2)
    same(targets(edit(workflow, failing("continueErrorOutput")).workflow), ["A", "B"])
  })

  it("is not a rule of the same name", () => {
    const named = choice([de, rule("FR", "error")], {}, { onError: "continueErrorOutput" })
    const { ports, workflow: edited } = said(
      outOf(named, 3),
      failing("stopWorkflow"),
      { op: "set", node: "S", path: "rules.values[0]", value: null }
    )
    same(targets(edited), ["B"])
    same(ports, [
      "S: output main[2] 'error' is gone, with its link to 'C'",
      "S: output main[0] 'Germany' is gone, with its link to 'A'",
      "S: output 'error' moved from main[1] to main[0], with its link to 'B'"
    ])
  })

  it("does not hide the removal of a rule without a name", () => {
    const workflow = outOf(choice([rule("DE"), rule("FR")]), 2)
    same(
      targets(
        edit(workflow, {
          op: "update",
          node: "S",
          onError: "continueErrorOutput",
          parameters: { rules: { values: [rule("FR")] } }
        }).workflow
      ),
      ["B"]
    )
  })

  it("is that of a fixed node, too", () => {
    const compare = outOf(node("S", `${base}compareDatasets`, 2.3, {}, { onError: "continueErrorOutput" }), 5)
    same(targets(edit(compare, failing("continueRegularOutput")).workflow), ["A", "B", "C", "D"])
  })
})

describe("other outputs", () => {
  const categories = (...names: ReadonlyArray<string>) => ({
    categories: { categories: names.map((category) => ({ category, description: "" })) }
  })

  it("of a Text Classifier", () => {
    const workflow = outOf(
      node("S", `${ai}textClassifier`, 1.1, {
        inputText: "x",
        ...categories("Bug", "Idea"),
        options: { fallback: "other" }
      }),
      3
    )
    const update = (...names: ReadonlyArray<string>) =>
      targets(edit(workflow, { op: "update", node: "S", parameters: categories(...names) }).workflow)
    same(update("Bug", "Praise", "Idea"), ["A", "", "B", "C"])
    same(update("Idea"), ["B", "C"])
    same(update("Defect", "Idea"), ["A", "B", "C"])
    same(update("Idea", "Bug"), ["B", "A", "C"])
  })

  it("of Sentiment Analysis", () => {
    const workflow = outOf(node("S", `${ai}sentimentAnalysis`, 1.1, { inputText: "x", options: {} }), 3)
    const update = (categories: string) =>
      targets(edit(workflow, { op: "set", node: "S", path: "options.categories", value: categories }).workflow)
    same(update("Negative, Neutral, Positive"), ["C", "B", "A"])
    same(update("Positive, Negative"), ["A", "C"])
    same(update("Good, Neutral, Bad"), ["A", "B", "C"])
    same(update("Positive, Neutral, Mixed, Negative"), ["A", "B", "", "C"])
  })

  it("of Loop Over Items, whose order changed with its version", () => {
    const workflow = outOf(node("S", `${base}splitInBatches`, 2), 2)
    same(targets(edit(workflow, { op: "update", node: "S", typeVersion: 3 }).workflow), ["B", "A"])
  })
})

/** What n8n's editor does, by its pull requests 11162 (Switch), 13476 (order of rules) and 23089 (fallback model). */
describe("as in n8n's editor", () => {
  it("a Switch whose number of outputs is an expression loses the links of removed outputs", () => {
    const counted = (numberOutputs: number) => node("S", `${base}switch`, 3.2, { mode: "expression", numberOutputs })
    const workflow = outOf(counted(4), 4)
    const { ports, workflow: fewer } = said(workflow, { op: "set", node: "S", path: "numberOutputs", value: 2 })
    same(targets(fewer), ["A", "B"])
    same(ports.length, 2)
    assert.match(ports.join(), /main\[2\].* is gone, with its link to 'C'.*main\[3\].* is gone, with its link to 'D'/)
    same(targets(edit(workflow, { op: "set", node: "S", path: "numberOutputs", value: 6 }).workflow), [
      "A",
      "B",
      "C",
      "D"
    ])
  })

  it("a rule that is added does not take the fallback's link, wherever it is put", () => {
    const workflow = outOf(choice([de, fr], extra), 3)
    for (
      const [all, expected] of [
        [[de, fr, it_], ["A", "B", "", "C"]],
        [[de, it_, fr], ["A", "", "B", "C"]],
        [[it_, de, fr], ["", "A", "B", "C"]],
        [[fr, de], ["B", "A", "C"]],
        [[fr, it_, de], ["B", "", "A", "C"]],
        [[fr], ["B", "C"]]
      ] as const
    ) {
      same(targets(edit(workflow, rules(...all)).workflow), expected)
    }
  })

  it("an If keeps true and false when it gets an output for errors, and when that goes", () => {
    const plain = outOf(node("S", `${base}if`, 2.2), 2)
    const { ports, workflow } = said(plain, { op: "update", node: "S", onError: "continueErrorOutput" })
    same([targets(workflow), ports], [["A", "B"], []])
    const failing = outOf(node("S", `${base}if`, 2.2, {}, { onError: "continueErrorOutput" }), 3)
    const back = said(failing, { op: "update", node: "S", onError: "stopWorkflow" })
    same([targets(back.workflow), back.ports], [
      ["A", "B"],
      ["S: output main[2] 'error' is gone, with its link to 'C'"]
    ])
    same(
      targets(
        edit(failing, { op: "update", node: "S", parameters: { options: { looseTypeValidation: true } } })
          .workflow
      ),
      ["A", "B", "C"]
    )
  })

  it("an agent's model stays when its fallback model goes, and a parser's link comes back only by hand", () => {
    const parser = node("Parser", `${ai}outputParserStructured`, 1.3)
    const workflow = flow(
      [
        node("Agent", `${ai}agent`, 2.2, {
          promptType: "define",
          text: "hi",
          needsFallback: true,
          hasOutputParser: true
        }),
        model("M1"),
        model("M2"),
        parser
      ],
      joined(
        ["M1", "Agent", "ai_languageModel"],
        ["M2", "Agent", "ai_languageModel", 0, 1],
        ["Parser", "Agent", "ai_outputParser"]
      )
    )
    const off = edit(workflow, { op: "update", node: "Agent", parameters: { needsFallback: false } }).workflow
    same(off["connections"], joined(["M1", "Agent", "ai_languageModel"], ["Parser", "Agent", "ai_outputParser"]))
    const again = said(
      workflow,
      { op: "update", node: "Agent", parameters: { hasOutputParser: false } },
      { op: "update", node: "Agent", parameters: { hasOutputParser: true } }
    )
    same(Object.keys(again.workflow["connections"] as Obj), ["M1", "M2"])
    same(again.ports.length, 1)
  })

  it("a Compare Datasets keeps its four outputs and two inputs through any other change", () => {
    const workflow = flow(
      [node("S", `${base}compareDatasets`, 2.3), ...others],
      {
        ...joined(...["A", "B", "C", "D"].map((name, index) => ["S", name, "main", index] as const)),
        ...joined(["E", "S", "main", 0, 1])
      }
    )
    const { ports, workflow: edited } = said(
      workflow,
      { op: "update", node: "S", parameters: { resolve: "mix", options: { skipFields: "x" } } },
      { op: "rename", node: "S", to: "T" }
    )
    same([targets(edited, "T"), ports], [["A", "B", "C", "D"], []])
    same((edited["connections"] as Obj)["E"], (joined(["E", "T", "main", 0, 1]) as Obj)["E"])
  })

  it("a Merge keeps its inputs when only its mode changes", () => {
    const workflow = flow(
      [node("M", `${base}merge`, 3.2, { mode: "append", numberInputs: 3 }), ...others],
      joined(["A", "M"], ["B", "M", "main", 0, 1], ["C", "M", "main", 0, 2])
    )
    const { workflow: edited } = said(workflow, { op: "update", node: "M", parameters: { mode: "combineBySql" } })
    same(edited["connections"], workflow["connections"])
  })
})

describe("inputs", () => {
  it("of a Merge: removed inputs lose their links", () => {
    const merge = (numberInputs: number) => node("M", `${base}merge`, 3, { numberInputs })
    const workflow = flow(
      [merge(3), ...others],
      joined(["A", "M"], ["B", "M", "main", 0, 1], ["C", "M", "main", 0, 2], ["M", "D"])
    )
    const fewer = said(workflow, { op: "update", node: "M", parameters: { numberInputs: 2 } })
    same(fewer.workflow["connections"], joined(["A", "M"], ["B", "M", "main", 0, 1], ["M", "D"]))
    same(fewer.ports, ["M: input main[2] 'Input 3' is gone, with its link from 'C'"])
    const more = said(workflow, { op: "update", node: "M", parameters: { numberInputs: 5 } })
    same([more.workflow["connections"], more.ports], [workflow["connections"], []])
  })

  it("of an agent, that its parameters bring", () => {
    const parser = node("Parser", `${ai}outputParserStructured`, 1.3)
    const workflow = flow(
      [
        node("Agent", `${ai}agent`, 2.2, {
          promptType: "define",
          text: "hi",
          hasOutputParser: true,
          needsFallback: true
        }),
        model("M1"),
        model("M2"),
        parser
      ],
      joined(
        ["M1", "Agent", "ai_languageModel"],
        ["M2", "Agent", "ai_languageModel", 0, 1],
        ["Parser", "Agent", "ai_outputParser"]
      )
    )
    const { ports, workflow: edited } = said(workflow, {
      op: "update",
      node: "Agent",
      parameters: { hasOutputParser: null, needsFallback: null }
    })
    same(edited["connections"], joined(["M1", "Agent", "ai_languageModel"]))
    same(ports.length, 2)
    assert.match(
      ports.join(),
      /'Fallback Model' is gone, with its link from 'M2'.*'Output Parser' is gone.* from 'Parser'/
    )
  })

  it("stay where nothing of the ports changes", () => {
    const workflow = flow([agent(), model("M")], joined(["M", "Agent", "ai_languageModel", 0, 3]))
    const { workflow: edited } = edit(workflow, { op: "set", node: "Agent", path: "text", value: "ho" })
    same(edited["connections"], workflow["connections"])
  })
})
