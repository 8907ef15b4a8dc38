import { assert, describe, it } from "@effect/vitest"
import * as Schema from "effect/Schema"
import { encode } from "gpt-tokenizer/encoding/o200k_base"
import { arr, type Obj, obj } from "../../../src/base/Json.ts"
import * as WorkflowEdit from "../../../src/workflow/edit/WorkflowEdit.ts"
import { joined } from "../../support/workflows.ts"
import { agent, ai, base, edit, flow, hook, lookups, model, node, nodeOf, refusal, set } from "./edits.ts"

const same = (actual: unknown, expected: unknown) => assert.deepStrictEqual(actual, expected)
const text = (value: unknown) => JSON.stringify(value)

/** What the operations change is said in these lines. */
const says = (workflow: Obj, operations: ReadonlyArray<WorkflowEdit.Operation>, ...lines: ReadonlyArray<string>) =>
  same(edit(workflow, ...operations).changes, lines)

describe("the list", () => {
  it("costs few tokens", () => {
    const { schema } = Schema.toJsonSchemaDocument(WorkflowEdit.Operation, { onExcessProperty: "error" })
    assert.isBelow(encode(text(schema)).length, 230)
  })

  const decode = Schema.decodeUnknownSync(WorkflowEdit.Operation, { onExcessProperty: "error" })
  it.each([
    { op: "add", type: "x", name: "A", parameters: { a: null }, position: { x: 1, y: 2 }, after: "B" },
    { op: "update", node: "A", parameters: { a: null }, disabled: null, onError: "stopWorkflow" },
    { op: "rename", node: "A", to: "B" },
    { op: "remove", node: "A" },
    { op: "enable", node: "A" },
    { op: "disable", node: "A" },
    { op: "move", node: "A", position: { x: 1, y: 2 } },
    { op: "connect", from: "A", to: "B", sourceOutput: 1, targetInput: "main" },
    { op: "disconnect", from: "A", to: "B" },
    { op: "settings", settings: { a: null } },
    { op: "name", name: "A" },
    { op: "set", node: "A", path: "a.b", value: null },
    { op: "replace", node: "A", path: "a.b", find: "x", with: "", all: true },
    { op: "tidy" }
  ])("takes $op", (operation) => same(decode(operation), operation))

  it.each([
    [{ op: "rename", node: "A", too: "B" }, /too/],
    [{ op: "rename", node: "A", name: "B" }, /^Invalid keys: rename takes node and to, not 'name'; missing: to$/],
    [{ op: "rename", node: "A" }, /missing: to/],
    [{ op: "renam", node: "A" }, /Invalid operation 'renam'\. Did you mean 'rename'/],
    [{ op: "set", node: "A", path: "x" }, /missing: value/],
    [{ op: "tidy", node: "A" }, /tidy takes nothing else, not 'node'/],
    [{ op: "connect", source: "A", target: "B" }, /connect takes from, to, sourceOutput\? and targetInput\?, not 'so/],
    [{ op: "move", node: "A", position: [1] }, /position/],
    [{ op: "connect", from: "A", to: "B", sourceOutput: true }, /sourceOutput/]
  ])("refuses %j", (operation, words) => assert.throws(() => decode(operation), words))

  it("is done in turn: what one adds, the next can name", () => {
    const { added, changes, workflow } = edit(
      flow([hook]),
      { op: "add", type: `${base}set`, after: "Hook" },
      { op: "rename", node: "new-1", to: "Fields" },
      // A type that is named without its package.
      { op: "add", type: "NoOp", name: "End", after: "Fields" }
    )
    same(changes, [
      "added 'Edit Fields' (n8n-nodes-base.set 3.5) after 'Hook'",
      "renamed 'Edit Fields' to 'Fields', in 1 connection, too",
      "added 'End' (n8n-nodes-base.noOp 1) after 'Fields'"
    ])
    same(added, [{ id: "new-1", name: "Fields" }, { id: "new-2", name: "End" }])
    same(workflow["connections"], joined(["Hook", "Fields"], ["Fields", "End"]))
  })

  it("adds a node with its other properties, checked as in an update", () => {
    const more = { onError: "continueErrorOutput", credentials: { slackApi: { id: "7", name: "Team" } } }
    const { changes, workflow } = edit(flow([hook]), { op: "add", type: `${base}slack`, after: "Hook", ...more })
    assert.match(changes.join(), /^added 'Slack' \(n8n-nodes-base.slack [\d.]+, onError, credentials\) after 'Hook'$/)
    assert.deepInclude(nodeOf(workflow, "Slack"), more)
    const unknown = { op: "add", type: `${base}noOp`, onFail: "x" } as never
    same(refusal(flow([hook]), unknown).field, "operations[0].onFail")
  })

  it("is refused as a whole, with the place and the field", () => {
    const operations = [{ op: "disable", node: "Hook" }, { op: "remove", node: "Edit Field" }] as const
    same(refusal(flow([hook, set("Edit Fields")]), ...operations), {
      field: "operations[1].node",
      message: "There is no node 'Edit Field'.",
      hint: "Did you mean 'Edit Fields'?"
    })
    same(refusal(flow([]), { op: "remove", node: "" }).field, "operations[0].node")
  })

  it("may be empty", () => {
    const workflow = flow([hook])
    const edited = edit(workflow)
    assert.strictEqual(edited.workflow, workflow)
    same([edited.changes, edited.added], [[], []])
  })

  it("names nodes by name, else by id", () => {
    const one = set("A", { id: "B" })
    same(edit(flow([one, set("B", { id: "x" })]), { op: "disable", node: "B" }).changes, ["disabled 'B'"])
    same(edit(flow([one]), { op: "disable", node: "B" }).changes, ["disabled 'A'"])
  })

  it("keeps what it does not name, and its order", () => {
    const a = set("A", { custom: { deep: [1] }, notes: "$('A')" })
    const rest = {
      ...flow([], joined(["Hook", "A"])),
      zeta: { a: 1 },
      pinData: { A: [{ json: {} }] },
      meta: { x: null }
    }
    const operation = { op: "move", node: "A", position: { x: 1.4, y: 2 } } as const
    const edited = edit({ ...rest, nodes: [hook, a, "no node"] }, operation).workflow
    same(text(edited), text({ ...rest, nodes: [hook, { ...a, position: [1, 2] }, "no node"] }))
    for (const [key, value] of Object.entries(rest)) if (key !== "nodes") assert.strictEqual(edited[key], value)
  })

  it("reports which types it needs", () => {
    const workflow = flow([hook, set("A"), set("B"), 5, { type: 5 }])
    const types = WorkflowEdit.typesOf(workflow, [{ op: "add", type: "x" }, { op: "remove", node: "A" }])
    same(types, [`${base}webhook`, `${base}set`, "x"])
    same(WorkflowEdit.typesOf({}, []), [])
  })
})

describe("parts that were broken before", () => {
  const broken = flow(
    [
      null,
      "x",
      5,
      { id: 5 },
      { name: "", type: 3 },
      { name: "P", type: `${base}set`, typeVersion: "3", position: "left", parameters: [] },
      set("A"),
      set("A", { id: "second A" }),
      node("Old", `${base}nonsense`, 1),
      hook
    ],
    {
      ...joined(["Hook", "Gone"], ["Gone", "A"], ["Hook", "A", "main", 9, 9]),
      "id of A": [],
      P: { main: {} },
      Old: { main: [null, {}, [null, "x", { node: 5 }]] }
    },
    { pinData: [], settings: "x", nodeGroups: [null, { nodeIds: "x" }] }
  )
  it.each<WorkflowEdit.Operation>([
    { op: "disable", node: "Hook" },
    { op: "move", node: "P", position: { x: 0, y: 0 } },
    { op: "rename", node: "P", to: "Q" },
    { op: "update", node: "Old", parameters: { any: 1 } },
    { op: "add", type: `${base}set` },
    { op: "add", type: `${base}set`, after: "Hook" },
    { op: "connect", from: "Hook", to: "Old" },
    { op: "connect", from: "Old", to: "P" },
    { op: "disconnect", from: "Hook", to: "Gone" },
    { op: "disconnect", from: "Gone", to: "A" },
    { op: "remove", node: "second A" },
    { op: "remove", node: "Hook" },
    { op: "rename", node: "second A", to: "B" },
    { op: "name", name: "B" },
    { op: "settings", settings: { a: 1 } }
  ])("does not block %j", (operation) => {
    const { workflow } = edit(broken, operation)
    same(arr(workflow["nodes"]).slice(0, 5), arr(broken["nodes"]).slice(0, 5))
    same(obj(workflow["connections"])?.["id of A"], [])
  })

  const bad = { ...flow([hook, set("A")]), connections: [] }
  it.each<[Obj, WorkflowEdit.Operation, field: string, message: string]>([
    [broken, { op: "connect", from: "P", to: "Hook" }, "to", "'Hook' has no main input; it has none."],
    [broken, { op: "connect", from: "P", to: "Old" }, "from", "The connections of 'P' are not of n8n's shape."],
    [broken, { op: "connect", from: "second A", to: "Old" }, "from", "Another node is also named 'A'."],
    [
      flow([{ id: "x" }, hook]),
      { op: "connect", from: "Hook", to: "x" },
      "to",
      "nodes[0] has no name, and connections go by name."
    ],
    [flow([]), { op: "connect", from: "A", to: "B" }, "from", "There is no node 'A'."],
    [{ nodes: {} }, { op: "add", type: `${base}set` }, "op", "The workflow's 'nodes' is not a list."],
    [bad, { op: "connect", from: "Hook", to: "A" }, "from", "The connections of 'Hook' are not of n8n's shape."]
  ])("are said where they do: %#", (workflow, operation, field, message) => {
    const refused = refusal(workflow, operation)
    same([refused.field, refused.message], [`operations[0].${field}`, message])
  })

  it("can be an empty object", () => {
    const after = { op: "add", type: `${base}noOp`, name: "End", after: "Edit Fields" } as const
    const { workflow } = edit({}, { op: "add", type: `${base}set` }, after)
    same(workflow["connections"], joined(["Edit Fields", "End"]))
  })
})

describe("add", () => {
  const add = (workflow: Obj, more: Partial<WorkflowEdit.Operation> & { readonly type: string }) =>
    edit(workflow, { op: "add", ...more } as WorkflowEdit.Operation)
  const last = (workflow: Obj) => {
    const { nodes } = workflow
    return obj(Array.isArray(nodes) ? nodes.at(-1) : undefined) ?? {}
  }

  it("makes a node as n8n's editor does", () => {
    const { added, changes, workflow } = add(flow([hook]), { type: `${base}httpRequest`, parameters: { url: "x" } })
    same(last(workflow), {
      parameters: { url: "x" },
      type: `${base}httpRequest`,
      typeVersion: lookups().newest(`${base}httpRequest`),
      position: [220, 0],
      id: "new-1",
      name: "HTTP Request"
    })
    same(added, [{ id: "new-1", name: "HTTP Request" }])
    assert.match(changes[0] ?? "", /^added 'HTTP Request' \(n8n-nodes-base.httpRequest 4\.\d\)$/)
  })

  it("uses the requested version, and checks its parameters by it", () => {
    const type = `${base}if`
    const conditions = { string: [{ value1: "a", value2: "b" }] }
    const { changes, workflow } = add(flow([hook]), { type, typeVersion: 1, parameters: { conditions } })
    same(changes, ["added 'If' (n8n-nodes-base.if 1)"])
    const { parameters, typeVersion } = obj(last(workflow)) ?? {}
    same([typeVersion, parameters], [1, { conditions }])
    const post = { type: `${base}httpRequest`, typeVersion: 4.2, parameters: { url: "x" } }
    same(add(flow([hook]), post).changes, ["added 'HTTP Request' (n8n-nodes-base.httpRequest 4.2)"])
  })

  it("gives it an id that is free, and a webhook its own", () => {
    const { workflow } = add(flow([set("A", { id: "new-1" })]), { type: `${base}webhook` })
    same([last(workflow)["id"], last(workflow)["webhookId"]], ["new-2", "new-3"])
  })

  it.each([
    [["Edit Fields"], undefined, "Edit Fields1"],
    [["Edit Fields", "Edit Fields1"], undefined, "Edit Fields2"],
    [["Edit Fields1"], "Edit Fields1", "Edit Fields2"],
    [["取得", "取得1"], "取得", "取得2"],
    [["2"], "2", "21"],
    [["A12345678901234567890"], "A12345678901234567890", "A123456789012345678901"],
    [["A"], " ", "Edit Fields"]
  ])("names it: next to %j, %s becomes %s", (names, name, expected) => {
    const named = name === undefined ? {} : { name }
    same(add(flow(names.map((each) => set(each))), { type: `${base}set`, ...named }).added[0]?.name, expected)
  })

  it("chooses a name that takes over nothing of a removed node, unless asked to, and keeps a type's digit", () => {
    const workflow = flow([hook], joined(["Hook", "Edit Fields"]), { pinData: { Pinned: [] } })
    const nameOf = (more: Obj) => add(workflow, { type: `${base}set`, ...more }).added[0]?.name
    same([{}, { name: "Edit Fields" }, { name: "Pinned" }].map(nameOf), ["Edit Fields1", "Edit Fields", "Pinned1"])
    same(add(flow([node("S3", `${base}s3`, 1)]), { type: `${base}s3` }).added[0]?.name, "S31")
  })

  it.each([
    [`${base}htpRequest`, /Did you mean 'n8n-nodes-base.httpRequest'/],
    ["openAi", /'n8n-nodes-base.openAi' or '@n8n\/n8n-nodes-langchain.openAi'/],
    ["n8n-nodes-foo.bar", /--nodes/],
    ["", /node_search/]
  ])("refuses the unknown type '%s'", (type, hint) => {
    const refused = refusal(flow([]), { op: "add", type })
    same(refused.field, "operations[0].type")
    assert.match(refused.hint, hint)
  })

  it("takes a type of the workflow's nodes that is not known otherwise, and the tools n8n makes of nodes", () => {
    const type = "n8n-nodes-foo.bar"
    const foo = (typeVersion: number) => node("Foo", type, typeVersion, {}, { webhookId: "x" })
    const { workflow } = add(flow([foo(1), foo(2)]), { type, parameters: { any: 1 }, after: "Foo" })
    same(last(workflow), {
      parameters: { any: 1 },
      type,
      typeVersion: 2,
      position: [220, 0],
      id: "new-1",
      name: "bar",
      webhookId: "new-2"
    })
    same(add(flow([agent()]), { type: `${base}dateTimeTool`, after: "Agent" }).workflow["connections"], {
      "Date & Time": { ai_tool: [[{ node: "Agent", type: "ai_tool", index: 0 }]] }
    })
  })

  it("refuses a parameter that the type does not have", () => {
    same(refusal(flow([]), { op: "add", type: `${base}httpRequest`, parameters: { url: "x", metod: "GET" } }), {
      field: "operations[0].parameters.metod",
      message: "HTTP Request 4.5 has no parameter 'metod'.",
      hint: "Did you mean 'method'?"
    })
    const inOptions = refusal(flow([]), { op: "add", type: `${base}httpRequest`, parameters: { timeout: 5 } })
    same(inOptions.hint, "It belongs in 'options'.")
  })

  it("takes parameters as they are, but for what a filter needs", () => {
    const conditions = [{ leftValue: "a", rightValue: "b", operator: { type: "string", operation: "equals" } }]
    const filter = (combinator: string, typeValidation: string) => ({
      combinator,
      conditions,
      options: { caseSensitive: true, leftValue: "", typeValidation, version: 3 }
    })
    const made = (type: string, parameters: Obj) =>
      last(add(flow([]), { type: base + type, parameters }).workflow)["parameters"]
    same(made("if", { conditions: { conditions }, looseTypeValidation: true }), {
      conditions: filter("and", "loose"),
      looseTypeValidation: true
    })
    const values = [{ outputKey: "a", conditions: { conditions, combinator: "or" } }, { outputKey: "b" }]
    same(made("switch", { rules: { values } }), {
      rules: { values: [{ outputKey: "a", conditions: filter("or", "strict") }, { outputKey: "b" }] }
    })
    const whole = { conditions: { conditions, combinator: "and", options: { version: 1 } } }
    same(made("if", whole), whole)
  })

  const at = (x: number, y: number) => ({ position: [x, y] })
  const note = node("Note", `${base}stickyNote`, 1, { width: 900 }, at(5000, 0))
  const tool = { type: `${ai}toolCalculator` }
  const [a, after] = [set("A"), { after: "A" }]
  it.each<[string, ReadonlyArray<unknown>, Obj, number, number]>([
    ["named, in whole numbers, even if another node is there", [a], { position: { x: 10.4, y: 19.5 } }, 10, 20],
    ["at the origin", [], {}, 0, 0],
    ["right of all but notes", [set("B", at(440, 80)), a, note, { name: "C", position: "x" }], {}, 660, 80],
    ["right of the node it comes after", [set("A", at(-100, 30)), set("B", at(900, 0))], after, 120, 30],
    ["lower where that is taken", [a, set("B", at(230, 20))], after, 220, 200],
    ["lower again", [a, set("B", at(220, 0)), set("C", at(200, 210))], after, 220, 400],
    ["right of a wide node", [agent()], { after: "Agent" }, 380, 0],
    ["below what it serves", [agent()], { ...tool, after: "Agent" }, 0, 200],
    ["beside others below", [agent(), model("M", at(0, 200))], { ...tool, after: "Agent" }, 160, 200],
    ["right of all, if it serves none", [agent()], tool, 380, 0],
    ["next to extreme positions", [set("A", at(1e300, 0)), set("B", at(0, -1e300))], after, 0, 0]
  ])("finds a place %s", (_, nodes, more, x, y) => {
    same(last(add(flow(nodes), { type: `${base}noOp`, ...more }).workflow)["position"], [x, y])
  })

  it("connects it after the first output, or to the node that it serves", () => {
    const linked = (nodes: ReadonlyArray<Obj>, more: Obj & { readonly type: string }) => add(flow(nodes), more)
    const check = linked([node("If", `${base}if`, 2.2)], { type: `${base}noOp`, name: "N", after: "If" })
    same(check.workflow["connections"], joined(["If", "N"]))
    const memory = linked([agent()], { type: `${ai}memoryBufferWindow`, after: "id of Agent" })
    same(memory.workflow["connections"], joined(["Simple Memory", "Agent", "ai_memory"]))
    assert.match(memory.changes[0] ?? "", / for 'Agent'$/)
    const parameters = { mode: "retrieve-as-tool", toolDescription: "x" }
    const store = linked([agent()], { type: `${ai}vectorStoreInMemory`, parameters, name: "Store", after: "Agent" })
    same(store.workflow["connections"], joined(["Store", "Agent", "ai_tool"]))
  })

  it("refuses what cannot come after", () => {
    const after = (workflow: Obj, type: string, name: string) => {
      const refused = refusal(workflow, { op: "add", type, after: name })
      same(refused.field, "operations[0].after")
      return refused
    }
    assert.match(after(flow([hook]), `${base}manualTrigger`, "Hook").hint, /trigger/)
    same(after(flow([hook]), `${ai}toolCalculator`, "Hook").message, "'Hook' has no ai_tool input; it has none.")
    same(after(flow([model("M")]), `${base}set`, "M").message, "'M' has no main output; it has ai_languageModel.")
    same(after(flow([hook]), `${base}set`, "Hok").hint, "Did you mean 'Hook'?")
  })
})

describe("update", () => {
  const request = node("Get", `${base}httpRequest`, 4.2, { url: "a", options: { timeout: 1, proxy: "p" } }, { zeta: 1 })
  const workflow = flow([request])
  const update = (more: Obj) => {
    const edited = edit(workflow, { op: "update", node: "Get", ...more })
    return { ...edited, node: nodeOf(edited.workflow, "Get") }
  }

  it("merges parameters: objects are merged, null takes away, lists are replaced", () => {
    const queryParameters = { parameters: [{ name: "a", value: null }] }
    const { changes, node } = update({ parameters: { url: "b", options: { timeout: null }, queryParameters } })
    same(node["parameters"], { url: "b", options: { proxy: "p" }, queryParameters })
    same(changes, [
      "Get: url: \"a\" → \"b\"",
      "Get: options.timeout: 1 → none",
      "Get: queryParameters: none → {\"parameters\":[{\"name\":\"a\",\"value\":null}]}"
    ])
    same(Object.keys(node), Object.keys(request))
    // Nulls of what was no object.
    same(update({ parameters: { url: { a: null, b: 1 } } }).node["parameters"], {
      ...request["parameters"] as Obj,
      url: { b: 1 }
    })
  })

  it("sets properties, in place or behind the others, and takes them away by null", () => {
    const edited = update({ onError: "continueRegularOutput", notes: "x", zeta: 2, credentials: { a: { id: "1" } } })
    same(Object.keys(edited.node), [...Object.keys(request), "onError", "notes", "credentials"])
    const back = { onError: null, notes: null, zeta: 1, credentials: {} }
    same(text(edit(edited.workflow, { op: "update", node: "Get", ...back }).workflow), text(workflow))
  })

  it("that changes nothing gives back the workflow", () => {
    const edited = update({ parameters: { url: "a", options: { timeout: 1 }, method: null }, zeta: 1, notes: null })
    assert.strictEqual(edited.workflow, workflow)
    same(edited.changes, ["'Get' already has these values"])
  })

  it.each([
    [{ disable: true }, "disable", /'disabled'/],
    [{ url: "x" }, "url", /'parameters'/],
    [{ name: "x" }, "name", /rename/],
    [{ type: "x" }, "type", /replaceNode/],
    [{ id: "x" }, "id", /keeps/],
    [{ position: { x: 1, y: 2 } }, "position", /move/],
    [{ disabled: "true" }, "disabled", /true or false/],
    [{ onError: "continue" }, "onError", /continueErrorOutput/],
    [{ credentials: "x" }, "credentials", /object/],
    [{ typeVersion: null }, "typeVersion", /number/],
    [{ typeVersion: 9.9 }, "typeVersion", /It has .*4\.2/],
    [{ parameters: { metod: "x" } }, "parameters.metod", /'method'/]
  ])("refuses %j", (more, field, hint) => {
    const refused = refusal(workflow, { op: "update", node: "Get", ...more })
    same(refused.field, `operations[0].${field}`)
    assert.match(refused.hint, hint)
  })

  const updated = (given: Obj, more: Obj) =>
    nodeOf(edit(flow([given]), { op: "update", node: String(given["name"]), ...more }).workflow, String(given["name"]))

  it("does not mind parameters that were not known before, or take away what is not there", () => {
    const old = node("Get", `${base}httpRequest`, 4.2, { metod: 1 })
    same(updated(old, { parameters: { metod: null, url: "x" } })["parameters"], { url: "x" })
    same(updated(old, { parameters: { url: "x" } })["parameters"], { metod: 1, url: "x" })
  })

  it("judges parameters by the version it sets", () => {
    const old = node("Set", `${base}set`, 2)
    const parameters = { assignments: { assignments: [] } }
    const refused = refusal(flow([old]), { op: "update", node: "Set", parameters })
    same(refused.field, "operations[0].parameters.assignments")
    same(updated(old, { typeVersion: 3.4, parameters })["parameters"], parameters)
  })

  it("completes the filter it sets", () => {
    const options = { caseSensitive: true, leftValue: "", typeValidation: "strict", version: 2 }
    const { parameters } = updated(node("If", `${base}if`, 2.2), { parameters: { conditions: { conditions: [] } } })
    same(parameters, { conditions: { combinator: "and", conditions: [], options } })
  })
})

describe("enable, disable, move, settings, name", () => {
  const workflow = flow([set("A"), set("On", { disabled: false }), set("Off", { disabled: true, notes: "x" })])

  it("disable and enable", () => {
    same(nodeOf(edit(workflow, { op: "disable", node: "A" }).workflow, "A"), { ...set("A"), disabled: true })
    same(text(nodeOf(edit(workflow, { op: "enable", node: "Off" }).workflow, "Off")), text(set("Off", { notes: "x" })))
    says(
      workflow,
      [{ op: "enable", node: "On" }, { op: "disable", node: "Off" }, { op: "disable", node: "On" }],
      "'On' is already enabled",
      "'Off' is already disabled",
      "disabled 'On'"
    )
    assert.strictEqual(edit(workflow, { op: "enable", node: "On" }).workflow, workflow)
  })

  it("move", () => {
    says(
      workflow,
      [{ op: "move", node: "A", position: { x: 1.6, y: -2 } }, { op: "move", node: "A", position: { x: 2, y: -2 } }],
      "moved 'A' from [0,0] to [2,-2]",
      "'A' is already there"
    )
  })

  it("settings are merged", () => {
    const edited = edit(workflow, { op: "settings", settings: { timezone: "UTC", executionOrder: null } })
    same(edited.workflow["settings"], { timezone: "UTC" })
    same(edited.changes, ["settings.executionOrder: \"v1\" → none", "settings.timezone: none → \"UTC\""])
    says(workflow, [{ op: "settings", settings: { executionOrder: "v1" } }], "the settings already have these values")
    same(edit({ nodes: [] }, { op: "settings", settings: { a: 1 } }).workflow["settings"], { a: 1 })
  })

  it("name", () => {
    const edited = edit(workflow, { op: "name", name: "新しい" })
    same([edited.workflow["name"], edited.changes], ["新しい", ["renamed the workflow from \"Flow\" to '新しい'"]])
    says(workflow, [{ op: "name", name: "Flow" }], "the workflow is already named 'Flow'")
    same(refusal(workflow, { op: "name", name: " " }).field, "operations[0].name")
    assert.match(refusal(workflow, { op: "name", name: "x".repeat(129) }).message, /129 characters/)
    edit(workflow, { op: "name", name: "𩸽".repeat(128) })
  })
})
