import { assert, describe, it } from "@effect/vitest"
import { obj } from "../../../src/base/Json.ts"
import type * as WorkflowEdit from "../../../src/workflow/edit/WorkflowEdit.ts"
import { joined } from "../../support/workflows.ts"
import { agent, ai, base, edit, flow, hook, model, node, nodeOf, refusal, set } from "./edits.ts"

const same = (actual: unknown, expected: unknown) => assert.deepStrictEqual(actual, expected)
const text = (value: unknown) => JSON.stringify(value)

const conditions = {
  options: { version: 2, caseSensitive: true, leftValue: "", typeValidation: "strict" },
  combinator: "and",
  conditions: []
}
const choice = (...names: ReadonlyArray<string>) =>
  node("Switch", `${base}switch`, 3.2, {
    rules: { values: names.map((outputKey) => ({ conditions, renameOutput: true, outputKey })) },
    options: {}
  })
const nodes = [
  hook,
  node("If", `${base}if`, 2.2),
  node("Loop", `${base}splitInBatches`, 3),
  choice("新規", "Paid", "paid", "Late fee"),
  node("Filter", `${base}filter`, 2.2),
  node("Merge", `${base}merge`, 3, { numberInputs: 3 }),
  agent(),
  model("Model"),
  node("Calc", `${ai}toolCalculator`, 1),
  node("Memory", `${ai}memoryBufferWindow`, 1.3),
  node("Foo", "n8n-nodes-foo.bar", 1),
  node("Note", `${base}stickyNote`, 1),
  set("A"),
  set("B")
]
const workflow = flow(nodes)

type Ends = Pick<Extract<WorkflowEdit.Operation, { op: "connect" }>, "sourceOutput" | "targetInput">
const connect = (from: string, to: string, ends: Ends = {}) => ({ op: "connect", from, to, ...ends }) as const
const disconnect = (from: string, to: string, ends: Ends = {}) => ({ op: "disconnect", from, to, ...ends }) as const

/** Both ends of `If.false → A` or `A → Merge.2`; digits are an index, in quotes they are text. */
const ends = (text: string): [from: string, to: string, ends: Ends] => {
  const [[from = "", output] = [], [to = "", input] = []] = text.split(" → ").map((end) => end.split("."))
  const port = (given: string) => /^\d+$/.test(given) ? Number(given) : given.replaceAll("\"", "")
  return [from, to, {
    ...output === undefined ? {} : { sourceOutput: port(output) },
    ...input === undefined ? {} : { targetInput: port(input) }
  }]
}

/** The connections that have only the link of words such as `'If' main[1] 'false' → 'A' main[0]`. */
const connectionsOf = (words: string) => {
  const end = /^'(.+?)'(?: (\w+)(?:\[(\d+)\])?)?/
  const [[, from = "", type = "main", output = 0] = [], [, to = "", , input = 0] = []] = words.split(" → ")
    .map((each) => end.exec(each) ?? [])
  return joined([from, to, type, Number(output), Number(input)])
}

describe("connect", () => {
  const chat = "'Model' ai_languageModel → 'Agent' ai_languageModel 'Chat Model'"
  const calc = "'Calc' ai_tool → 'Agent' ai_tool 'Tool'"
  const isFalse = "'If' main[1] 'false' → 'A' main[0]"
  it.each([
    ["Hook → A", "'Hook' → 'A'"],
    ["id of Hook → id of A", "'Hook' → 'A'"],
    ["Hook.main → A.main", "'Hook' → 'A'"],
    ["Hook.0 → A.main[0]", "'Hook' → 'A'"],
    ["If → A", "'If' main[0] 'true' → 'A' main[0]"],
    ...["false", " FALSE ", "\"1\"", "1", "main[1]"].map((output) => [`If.${output} → A`, isFalse]),
    ["Loop.loop → A", "'Loop' main[1] 'loop' → 'A' main[0]"],
    ["Loop.done → A", "'Loop' main[0] 'done' → 'A' main[0]"],
    ["Switch.新規 → A", "'Switch' main[0] '新規' → 'A' main[0]"],
    ["Switch.paid → A", "'Switch' main[2] 'paid' → 'A' main[0]"],
    ["Switch.late FEE → A", "'Switch' main[3] 'Late fee' → 'A' main[0]"],
    ["A → Merge.2", "'A' main[0] → 'Merge' main[2] 'Input 3'"],
    ["A → Merge.input 2", "'A' main[0] → 'Merge' main[1] 'Input 2'"],
    ["Model → Agent", chat],
    ["Model → Agent.chat model", chat],
    ["Calc.ai_tool → Agent", calc],
    ["Calc → Agent.ai_tool", calc],
    ["Calc.0 → Agent.0", calc],
    ["Memory → Agent", "'Memory' ai_memory → 'Agent' ai_memory 'Memory'"],
    ["Foo.7 → A", "'Foo' main[7] → 'A' main[0]"],
    ["Foo.ai_tool → Agent", "'Foo' ai_tool → 'Agent' ai_tool 'Tool'"],
    ["Foo → Agent.ai_tool", "'Foo' ai_tool → 'Agent' ai_tool 'Tool'"],
    ["A → Foo.main[3]", "'A' main[0] → 'Foo' main[3]"],
    ["A → A", "'A' → 'A'"]
  ])("%s, again and back", (given = "", words = "") => {
    const edited = edit(workflow, connect(...ends(given)))
    same(edited.workflow, { ...workflow, connections: connectionsOf(words) })
    same(edited.changes, [`connected ${words}`])
    const again = edit(edited.workflow, connect(...ends(given)))
    assert.strictEqual(again.workflow, edited.workflow)
    same(again.changes, [`${words} is already connected`])
    const back = edit(edited.workflow, disconnect(...ends(given)))
    same([back.workflow, back.changes], [workflow, [`disconnected ${words}`]])
  })

  const output = "sourceOutput"
  it.each<[link: string, field: string, message: string, hint: RegExp]>([
    ["A → Hook", "to", "'Hook' has no main input; it has none.", /^A trigger starts a workflow/],
    ["Hook → Note", "to", "'Note' has no main input; it has none.", /^'Note' has no inputs\.$/],
    [
      "Hook.1 → A",
      output,
      "'Hook' has 1 main output ('GET'): main[1] is not one of them.",
      /^'Hook' has the output main\[0\] 'GET'\.$/
    ],
    [
      "Hook → A.1",
      "targetInput",
      "'A' has 1 main input: main[1] is not one of them.",
      /^'A' has the input main\[0\]\.$/
    ],
    ["If.2 → A", output, "'If' has 2 main outputs ('true', 'false'): main[2] is not one of them.", /main\[0\] 'true'/],
    ["If.yes → A", output, "'If' has no output 'yes'.", /main\[0\] 'true', main\[1\] 'false'/],
    ["Switch.PAID → A", output, "'Switch' has 2 outputs 'PAID': choose one by index.", /'Late fee'/],
    ["Filter.1 → A", output, "'Filter' has 1 main output ('Kept'): main[1] is not one of them.", /main\[0\] 'Kept'/],
    ["A → Merge.x", "targetInput", "'Merge' has no input 'x'.", /main\[0\]/],
    ["Calc → A", "to", "'A' has no ai_tool input; it has main.", /main\[0\]/],
    ["Calc.main → Agent", output, "'Calc' serves 'Agent' by ai_tool, not by main.", /by ai_tool/],
    ["Agent → Calc", "to", "'Calc' serves 'Agent' by ai_tool.", /^Connect 'Calc' to 'Agent' by ai_tool\.$/],
    [
      "Agent.ai_tool → Calc",
      output,
      "ai_tool goes the other way: from 'Calc' to 'Agent'.",
      /^Connect 'Calc' to 'Agent'/
    ],
    ["Calc → Agent.main", "targetInput", "Output ai_tool cannot be connected to an input of type main.", /Chat Model/],
    ["Calc.error → Agent", output, "'Calc' has no output 'error'.", /ai_tool/],
    ["Foo.out → A", output, "'Foo' has no output 'out'.", /not known/],
    ["Foo.error → A", output, "'Foo' has no output 'error'.", /not known/],
    ["Hok → A", "from", "There is no node 'Hok'.", /'Hook'/],
    ["Hook → X", "to", "There is no node 'X'.", /'Hook'/]
  ])("not %s", (given, field, message, hint) => {
    const refused = refusal(workflow, connect(...ends(given)))
    same([refused.field, refused.message], [`operations[0].${field}`, message])
    assert.match(refused.hint, hint)
  })

  it("does not guess between a name and an index", () => {
    const confusing = flow([choice("1", "0", "200"), set("A")])
    const { hint, message } = refusal(confusing, connect("Switch", "A", { sourceOutput: "1" }))
    same(message, "'1' is the name of one output of 'Switch' and the index of another.")
    assert.include(hint, "main[0] '1', main[1] '0'")
    same(
      edit(confusing, connect("Switch", "A", { sourceOutput: "200" })).workflow["connections"],
      joined(["Switch", "A", "main", 2])
    )
  })

  it("from the output for errors makes it", () => {
    const edited = edit(workflow, connect("If", "A", { sourceOutput: "error" }))
    same(edited.workflow["connections"], joined(["If", "A", "main", 2]))
    same(nodeOf(edited.workflow, "If")["onError"], "continueErrorOutput")
    same(edited.changes, ["connected 'If' error → 'A' main[0]; its onError is continueErrorOutput now"])
    const again = edit(edited.workflow, connect("If", "A", { sourceOutput: "Error" }))
    same(again.changes, ["'If' main[2] 'error' → 'A' main[0] is already connected"])
    const back = edit(edited.workflow, disconnect("If", "A", { sourceOutput: "error" }))
    same(back.workflow["connections"], {})
    const other = flow([set("S", { onError: "continueRegularOutput" }), set("A")])
    same(
      nodeOf(edit(other, connect("S", "A", { sourceOutput: "error" })).workflow, "S"),
      set("S", { onError: "continueErrorOutput" })
    )
  })

  it("writes unused outputs empty, and leaves those that are null", () => {
    const given = flow(nodes, { Switch: { main: [null, [{ node: "A", type: "main", index: 0 }]] } })
    const { workflow } = edit(given, connect("Switch", "B", { sourceOutput: 3 }))
    same(workflow["connections"], {
      Switch: { main: [null, [{ node: "A", type: "main", index: 0 }], [], [{ node: "B", type: "main", index: 0 }]] }
    })
    same(edit(given, connect("Switch", "B", { sourceOutput: 0 })).workflow["connections"], {
      Switch: { main: [[{ node: "B", type: "main", index: 0 }], [{ node: "A", type: "main", index: 0 }]] }
    })
  })

  it("keeps to what an input takes", () => {
    const served = flow(
      [...nodes, model("Other"), node("Llama", `${ai}lmOllama`, 1)],
      joined(["Model", "Agent", "ai_languageModel"])
    )
    const full = refusal(served, connect("Other", "Agent"))
    same([full.field, full.message], ["operations[0].to", "'Agent' takes 1 Chat Model; connected: 'Model'."])
    assert.match(full.hint, /^Disconnect one first\. 'Agent' has the inputs /)
    same(refusal(served, connect("Llama", "Agent")).message, `'Agent' does not take a '${ai}lmOllama' as Chat Model.`)
    edit(flow(nodes, joined(["Gone", "Agent", "ai_languageModel"])), connect("Model", "Agent"))
    edit(served, { op: "disable", node: "Model" }, connect("Other", "Agent"))
    edit(served, disconnect("Model", "Agent"), connect("Other", "Agent"))
  })

  it("sees connections that go by id", () => {
    const byId = flow(nodes, joined(["id of Hook", "id of A"]))
    same(edit(byId, connect("Hook", "A")).changes, ["'Hook' → 'A' is already connected"])
    same(edit(byId, disconnect("Hook", "A")).workflow["connections"], {})
  })

  it("does not trip over names that objects have", () => {
    const odd = flow([set("__proto__"), set("constructor"), set("toString")])
    const there = edit(odd, connect("__proto__", "constructor"), connect("constructor", "__proto__"))
    same(
      text(there.workflow["connections"]),
      `{"__proto__":{"main":[[{"node":"constructor","type":"main","index":0}]]},` +
        `"constructor":{"main":[[{"node":"__proto__","type":"main","index":0}]]}}`
    )
    same(edit(there.workflow, { op: "remove", node: "__proto__" }).workflow["connections"], {})
    same(
      text(edit(there.workflow, { op: "rename", node: "__proto__", to: "P" }).workflow["connections"]).includes("__"),
      false
    )
  })
})

describe("disconnect", () => {
  const linked = flow(
    nodes,
    joined(["If", "A"], ["If", "A", "main", 1], ["If", "B", "main", 1], ["A", "Merge"], ["A", "Merge", "main", 0, 2])
  )
  const left = (...ends: Parameters<typeof disconnect>) => edit(linked, disconnect(...ends)).workflow["connections"]

  it("every link between two, or one of them", () => {
    const [b, second] = [["If", "B", "main", 1], ["If", "A", "main", 1]] as const
    const merge = [["A", "Merge"], ["A", "Merge", "main", 0, 2]] as const
    same(left("If", "A"), joined(b, ...merge))
    same(left("If", "A", { sourceOutput: "true" }), joined(second, b, ...merge))
    same(left("A", "Merge", { targetInput: 2 }), joined(["If", "A"], second, b, ["A", "Merge"]))
    same(left("A", "Merge"), joined(["If", "A"], second, b))
    same(edit(linked, disconnect("If", "A")).changes, [
      "disconnected 'If' main[0] 'true' → 'A' main[0], 'If' main[1] 'false' → 'A' main[0]"
    ])
  })

  it("of a port that is not there", () => {
    const beyond = flow(nodes, joined(["If", "A", "main", 5, 4]))
    same(edit(beyond, disconnect("If", "A", { sourceOutput: 5, targetInput: 4 })).workflow["connections"], {})
  })

  it("of removed nodes", () => {
    const stale = flow([set("A"), set("B")], joined(["A", "Gone"], ["Gone", "B"], ["A", "B"]))
    const { changes, workflow } = edit(stale, disconnect("A", "Gone"), disconnect("Gone", "B"))
    same([workflow["connections"], changes], [joined(["A", "B"]), [
      "disconnected 'A' → 'Gone'",
      "disconnected 'Gone' → 'B'"
    ]])
  })

  it.each<[link: string, message: string, hint: RegExp]>([
    ["If → Merge", "'If' is not connected to 'Merge'.", /Existing: 'If' → 'A', 'If' main\[1\] → 'A' main/],
    ["If.0 → B", "'If' is not connected to 'B' there.", /Existing: 'If' main\[1\] 'false' → 'B'/],
    ["Hook → A", "'Hook' is not connected to 'A'.", /no outgoing connections/],
    ["If.error → A", "'If' is not connected to 'A' there.", /main\[0\]/],
    ["If.no → A", "'If' has no output 'no'.", /'false'/],
    ["If → Gone", "There is no node 'Gone'.", /There are/]
  ])("not %s", (given, message, hint) => {
    const refused = refusal(linked, disconnect(...ends(given)))
    same(refused.message, message)
    assert.match(refused.hint, hint)
  })

  it("leaves everything else unchanged", () => {
    const odd = flow(nodes, {
      ...joined(["Hook", "A"], ["If", "B"]),
      A: { main: [null, [], [{ node: "B", type: "main", index: 0, more: 1 }]], ai_tool: [[]] },
      B: { main: "x" }
    })
    const before = obj(odd["connections"]) ?? {}
    const after = obj(edit(odd, disconnect("If", "B")).workflow["connections"]) ?? {}
    same(after, Object.fromEntries(Object.entries(before).filter(([key]) => key !== "If")))
    assert.deepStrictEqual(after["A"], before["A"])
  })
})
