import { assert, describe, it } from "@effect/vitest"
import * as Result from "effect/Result"
import { type Obj, obj } from "../../../src/base/Json.ts"
import * as WorkflowEdit from "../../../src/workflow/edit/WorkflowEdit.ts"
import { joined, type Link } from "../../support/workflows.ts"
import { agent, base, flow, hook, lookups, model, node, nodeOf, set } from "./edits.ts"

const raw = (name: string, jsonOutput: string, more: Obj = {}) =>
  node(name, `${base}set`, 3.4, { mode: "raw", jsonOutput }, more)
const code = (name: string, jsCode: string) => node(name, `${base}code`, 2, { jsCode })
const of = (type: string, parameters: Obj = {}) => node("B", base + type, 1, parameters)

const inRow = (...nodes: ReadonlyArray<Obj>): Obj => {
  const names = nodes.map(({ name }) => String(name))
  return flow(nodes, joined(...names.slice(1).map((to, index): Link => [names[index] ?? "", to])))
}

const attempt = (
  workflow: Obj,
  nodes: ReadonlyArray<string>,
  target: { readonly name?: string; readonly workflowId?: string } = { name: "Sub" },
  callees: Readonly<Record<string, Obj>> = {}
) => WorkflowEdit.apply(workflow, [{ op: "extract", nodes, ...target }], { ...lookups(), callee: (id) => callees[id] })

const extract = (...args: Parameters<typeof attempt>) => {
  const { created, workflow } = Result.getOrThrowWith(attempt(...args), ({ message }) => new Error(message))
  return { workflow, sub: created[0]?.workflow ?? {} }
}

const why = (...args: Parameters<typeof attempt>) => {
  const result = attempt(...args)
  return Result.isFailure(result) ? result.failure.message : "extracted"
}

const text = (workflow: Obj, name: string) => obj(nodeOf(workflow, name)["parameters"])?.["jsonOutput"]

describe("extract", () => {
  it("moves nodes as they are, and calls them with whole items", () => {
    const settings = { executionOrder: "v1", timezone: "Asia/Tokyo", errorWorkflow: "e" }
    const more = { notes: "why", disabled: true, onError: "continueRegularOutput", credentials: { a: { id: "c" } } }
    const b = set("B", more)
    const before = { ...inRow(hook, set("A"), b, set("End")), settings, pinData: { A: [{ json: {} }] } }
    const { sub, workflow } = extract(before, ["A", "B"])
    assert.deepStrictEqual(nodeOf(sub, "B"), b)
    assert.deepStrictEqual(sub["settings"], { executionOrder: "v1", timezone: "Asia/Tokyo" })
    assert.deepStrictEqual(sub["pinData"], { A: [{ json: {} }] })
    assert.deepStrictEqual(workflow["pinData"], {})
    assert.deepStrictEqual(sub["connections"], joined(["When called", "A"], ["A", "B"]))
    assert.deepStrictEqual(workflow["connections"], joined(["Hook", "Sub"], ["Sub", "End"]))
    assert.deepInclude(nodeOf(sub, "When called")["parameters"] as Obj, { inputSource: "passthrough" })
    assert.notProperty(nodeOf(workflow, "Sub")["parameters"], "workflowInputs")
  })

  it("declares what the nodes read outside, and lets others read the call", () => {
    const before = inRow(
      hook,
      set("Each"),
      raw("A", "={{ { n: $('Each').item.json.name, m: $json.m } }}"),
      raw("B", "={{ $('Hook').first().json.body.tag }}{{ $('A').item.json.n }}"),
      raw("End", "={{ $('B').item.json.x }}")
    )
    const { sub, workflow } = extract(before, ["A", "B"])
    assert.strictEqual(text(sub, "A"), "={{ { n: $('When called').item.json.name, m: $json.m } }}")
    assert.strictEqual(text(sub, "B"), "={{ $('When called').first().json.tag }}{{ $('A').item.json.n }}")
    assert.strictEqual(text(sub, "Items"), "={{ $json.item }}")
    assert.strictEqual(text(workflow, "End"), "={{ $('Sub').item.json.x }}")
    assert.notProperty(sub["settings"], "saveDataSuccessExecution")
    const matching = inRow(hook, set("Each"), set("A"), raw("End", "={{ $('Each').item.json.x }}"))
    assert.deepInclude(extract(matching, ["A"]).sub["settings"] as Obj, { saveDataSuccessExecution: "all" })
    assert.deepStrictEqual(obj(obj(nodeOf(workflow, "Sub")["parameters"])?.["workflowInputs"])?.["value"], {
      item: "={{ $json }}",
      name: "={{ $('Each').item.json.name }}",
      tag: "={{ $('Hook').first().json.body.tag }}"
    })
  })

  it("takes along the sub-nodes that serve only the group", () => {
    const nodes = [hook, agent(), model("Model"), set("End")]
    const links: ReadonlyArray<Link> = [["Hook", "Agent"], ["Model", "Agent", "ai_languageModel"], ["Agent", "End"]]
    const { sub, workflow } = extract(flow(nodes, joined(...links)), ["Agent"])
    assert.strictEqual(nodeOf(sub, "Model")["name"], "Model")
    assert.deepStrictEqual(workflow["connections"], joined(["Hook", "Sub"], ["Sub", "End"]))
    const other = agent({ id: "2", name: "Other" })
    const shared = flow([...nodes, other], joined(...links, ["Hook", "Other"], ["Model", "Other", "ai_languageModel"]))
    assert.match(why(shared, ["Agent"]), /'Model' serves 'Other'/)
  })

  it("calls an existing sub-workflow that does the same under other names, and no other", () => {
    const chain = (prefix: string, word = "a") =>
      inRow(
        node(`${prefix}Hook`, `${base}webhook`, 2, { path: prefix }),
        raw(`${prefix}A`, `={{ $('${prefix}Hook').item.json.body.${word} }}`),
        raw(`${prefix}B`, `={{ $('${prefix}A').item.json.${word === "a" ? "a" : "b"} }}`)
      )
    const { sub } = extract(chain("x"), ["xA", "xB"])
    const callees = { s: { ...sub, id: "s" } }
    const { created, workflow } = Result.getOrThrow(attempt(chain("y"), ["yA", "yB"], { workflowId: "s" }, callees))
    assert.deepStrictEqual(created, [])
    const parameters = obj(nodeOf(workflow, "Sub")["parameters"]) ?? {}
    assert.strictEqual(obj(parameters["workflowId"])?.["value"], "s")
    assert.deepInclude(obj(parameters["workflowInputs"])?.["value"], { a: "={{ $('yHook').item.json.body.a }}" })
    assert.match(why(chain("y", "other"), ["yA", "yB"], { workflowId: "s" }, callees), /'yB' differs: jsonOutput/)
    assert.match(why(chain("y"), ["yA"], { workflowId: "s" }, callees), /its nodes are/)
    const inTokyo = { ...chain("y"), settings: { executionOrder: "v1", timezone: "Asia/Tokyo" } }
    assert.match(why(inTokyo, ["yA", "yB"], { workflowId: "s" }, callees), /settings.timezone/)
    assert.match(why(chain("y"), ["yA"], { workflowId: "t" }), /no workflow 't'/)
    assert.match(why(chain("y"), ["yA"], {}), /needs a name/)
  })

  const [a, end] = [raw("A", "={{ $json }}"), set("End")]
  const branching = node("If", `${base}if`, 2.2)
  const merge = node("Merge", `${base}merge`, 3)
  const joining = (mode: string, ...links: ReadonlyArray<Link>) =>
    flow(
      [hook, branching, a, set("B"), { ...merge, parameters: { mode } }, end],
      joined(["Hook", "If"], ["If", "A"], ["If", "B", "main", 1], ...links, ["Merge", "End"])
    )
  const all = "If A B Merge"
  const chain = [hook, a, set("B"), end]
  const from = joined(["Hook", "A"], ["A", "B"], ["A", "End"])
  const aggregate = node("A", `${base}aggregate`, 1)
  const seen = of("removeDuplicates", { operation: "removeItemsSeenInPreviousExecutions" })
  const each = raw("End", "={{ $('Each').item.json.x }}")
  const python = node("A", `${base}code`, 2, { language: "python", pythonCode: "return _('Hook').first()" })
  /** Row of a hook, A that reads so, and an end. */
  const reading = (code: string) => inRow(hook, raw("A", `={{ ${code} }}`), end)
  const either = flow(
    [hook, branching, set("B"), raw("A", "={{ $('B').item.json.x }}")],
    joined(["Hook", "If"], ["If", "B"], ["If", "A", "main", 1], ["B", "A"])
  )
  const unsaved = { ...inRow(hook, set("Each"), set("A"), each), settings: { saveDataSuccessExecution: "none" } }
  it.each<[string, Obj, nodes: string, RegExp]>([
    ["a trigger", inRow(hook, a, end), "Hook A", /'Hook' is a trigger/],
    ["an answer to the webhook", inRow(hook, a, of("respondToWebhook")), "A B", /'B' waits for or answers/],
    ["a wait", inRow(hook, of("wait"), end), "B", /'B' waits/],
    ["state between runs", inRow(hook, { ...seen, typeVersion: 2 }), "B", /remembers/],
    ["two entries", inRow(hook, a, set("B"), set("C"), end), "A C", /one entry/],
    ["no entry", flow([hook, a]), "A", /Nothing leads/],
    ["a node apart", flow([hook, a, set("B")], joined(["Hook", "A"])), "A B", /'B' does not follow 'A'/],
    ["two exits", joining("append", ["A", "Merge"], ["B", "Merge", "main", 0, 1]), "If", /leave the group at/],
    [
      "the second output",
      flow([hook, branching, end], joined(["Hook", "If"], ["If", "End", "main", 1])),
      "If",
      /'If' 1/
    ],
    [
      "a node that runs twice",
      joining("append", ["A", "Merge"], ["B", "Merge"]),
      all,
      /'Merge' can run more than once/
    ],
    ["another end", joining("append", ["A", "Merge"]), all, /'B' can be the last to run/],
    ["a Merge that waits", joining("chooseBranch", ["A", "Merge"], ["B", "Merge", "main", 0, 1]), all, /waits for all/],
    ["an exit that goes on", flow(chain, from), "A B", /both to nodes of the group/],
    ["a loop", flow(chain, joined(["Hook", "A"], ["A", "B"], ["B", "A"], ["A", "End"])), "A B", /in a loop/],
    ["a run index", reading("$runIndex"), "A", /\$runIndex has another value/],
    ["all items of a node", reading("$('Hook').all().length"), "A", /more of 'Hook'/],
    ["binary data of a node", reading("$('Hook').item.binary.x"), "A", /more of 'Hook'/],
    ["another run", reading("$('Hook').first(0, 1).json.a"), "A", /more of 'Hook'/],
    ["a name from the items", reading("$($json.node).item.json.a"), "A", /cannot be followed/],
    ["code that does not parse", inRow(hook, code("A", "return $('Hook').first().json.a +"), end), "A", /cannot be/],
    ["a node that may not run", either, "A", /'B', which does not always run/],
    [
      "the item after a join",
      inRow(hook, set("Each"), aggregate, raw("B", "={{ $('Each').item.json.x }}"), end),
      "A B",
      /after a node that joins items/
    ],
    ["a reader of an inner node", inRow(hook, a, set("B"), raw("End", "={{ $('A').item }}")), "A B", /'End' reads 'A'/],
    ["a reader of parameters", inRow(hook, a, raw("End", "={{ $('A').params.mode }}")), "A", /'End' reads 'A'/],
    ["a match through a join", inRow(hook, set("Each"), aggregate, each), "A", /matching item of 'Each'/],
    ["a match through runs that are not stored", unsaved, "A", /does not save its successful runs/],
    ["Python that reads a node", inRow(hook, python), "A", /Python/]
  ])("refuses %s", (_, workflow, nodes, message) => assert.match(why(workflow, nodes.split(" ")), message))
})
