import { assert, describe, it } from "@effect/vitest"
import * as Schema from "effect/Schema"
import { type Obj, obj } from "../../../src/base/Json.ts"
import type { Problem } from "../../../src/base/Problem.ts"
import { check, type Lookups, problems } from "../../../src/workflow/check/WorkflowProblems.ts"
import { Json, Key } from "../../support/arbitrary.ts"
import * as fixtures from "../../support/scenarios/recorded.ts"
import { joined, type Link, node } from "../../support/workflows.ts"
import * as edits from "../edit/edits.ts"
import { agent, ai, base, flow, hook, set } from "../edit/edits.ts"
import { lookups } from "./lookups.ts"

const same = (actual: unknown, expected: unknown) => assert.deepStrictEqual(actual, expected)

const model = (name: string, more: Obj = {}) =>
  edits.model(name, { credentials: { openAiApi: { id: "1", name: "x" } }, ...more })

const line = (...nodes: ReadonlyArray<Obj>) =>
  flow(
    [hook, ...nodes],
    joined(...nodes.map((each, index): Link => [String((nodes[index - 1] ?? hook)["name"]), String(each["name"])]))
  )

const all = (workflow: Obj, more: Partial<Lookups> = {}) => problems(workflow, { ...lookups, ...more })
const brief = (found: ReadonlyArray<Problem>) =>
  found.map(({ message, path, severity }) => `${severity} ${path}: ${message}`)
/** The only problem, without what it has of its node. */
const only = (workflow: Obj, more: Partial<Lookups> = {}) => {
  const [first, ...rest] = all(workflow, more)
  same(rest, [])
  assert.isDefined(first)
  return first
}

describe("correct parts", () => {
  it.each(fixtures.names)("a recorded workflow (%s) has no errors", (name) => {
    same(all({ ...fixtures.workflow(name) }).filter(({ severity }) => severity === "error"), [])
  })

  it("has no problems: triggers of several kinds, a loop, notes, a tool made of a node, an agent with all it needs", () => {
    same(
      all(flow(
        [
          hook,
          node("Daily", "scheduleTrigger", 1.2),
          node("Loop", "splitInBatches", 3),
          agent({ disabled: false }),
          model("Model"),
          node("Time", "dateTimeTool", 2),
          set("After"),
          node("Memory", `${ai}memoryBufferWindow`, 1.3, { sessionIdType: "customKey", sessionKey: "a" }),
          node("Note", "stickyNote", 1, { content: "={{ ) }}" })
        ],
        joined(
          ["Hook", "Loop"],
          ["Daily", "Loop"],
          ["Loop", "Loop", "main", 1],
          ["Loop", "Agent"],
          ["Model", "Agent", "ai_languageModel"],
          ["Memory", "Agent", "ai_memory"],
          ["Time", "Agent", "ai_tool"],
          ["Agent", "After"]
        )
      )),
      []
    )
  })
})

describe("the shape", () => {
  const a = set("A")
  const connected = (connections: unknown) => ({ connections })
  const linked = (link: Obj) => connected({ Hook: { main: [[link]] } })
  const broken = (more: Obj) => ({ nodes: [hook, { ...a, ...more }] })
  it.each<[path: string, given: Obj]>([
    ["name", { name: "" }],
    ["name", { name: "x".repeat(129) }],
    ["settings", { settings: [] }],
    ["connections", connected([])],
    ["connections.Hook", connected({ Hook: [] })],
    ["connections.Hook.main", connected({ Hook: { main: {} } })],
    ["connections.Hook.main[1]", connected({ Hook: { main: [null, {}] } })],
    ["connections.Hook.main[0][0]", connected({ Hook: { main: [["A"]] } })],
    ["connections.Hook.main[0][0].node", linked({ type: "main", index: 0 })],
    ["connections.Hook.main[0][0].type", linked({ node: "A", index: 0 })],
    ["connections.Hook.main[0][0].index", linked({ node: "A", type: "main", index: "0" })],
    ["connections.Hook.main[0][0].index", linked({ node: "A", type: "main", index: -1 })],
    ["nodes[2]", { nodes: [hook, a, "B"] }],
    ["nodes[2].name", { nodes: [hook, a, { ...a, id: "b", name: 5 }] }],
    ["nodes[1].type", broken({ type: "" })],
    ["nodes[1].typeVersion", broken({ typeVersion: "3.4" })],
    ["nodes[1].typeVersion", broken({ typeVersion: undefined })],
    ["nodes[1].position", broken({ position: [1] })],
    ["nodes[1].parameters", broken({ parameters: [] })],
    ["nodes[1].id", broken({ id: 5 })],
    ["nodes[1].disabled", broken({ disabled: "true" })],
    ["nodes[1].credentials", broken({ credentials: "x" })],
    ["nodes[1].onError", broken({ onError: "continue" })],
    ["nodes[2].name", { nodes: [hook, a, set("A", { id: "other" })] }],
    ["nodes[2].id", { nodes: [hook, a, set("B", { id: a["id"] })] }]
  ])("is wrong at %s: %j", (path, given) => {
    const found = all({ ...flow([hook, a], joined(["Hook", "A"])), ...given })
    same(found.filter(({ severity }) => severity === "error").map((each) => each.path), [path])
  })

  it("needs nodes, but not what n8n or a write adds: ids, places, parameters, settings", () => {
    same(all({ name: "Flow", nodes: {}, connections: {} })[0]?.path, "nodes")
    const { id: _, parameters: __, position: ___, ...bare } = a
    same(all({ name: "Flow", nodes: [hook, bare], connections: joined(["Hook", "A"]) }), [])
  })
})

describe("connections of nodes that do not exist", () => {
  it.each<[string, Obj, ReadonlyArray<string>, fixes: ReadonlyArray<string | undefined>]>([
    [
      "name the nearest",
      flow([hook, set("Edit Fields")], joined(["Hook", "Edit Field"], ["Gone", "Edit Fields"])),
      [
        "error connections.Gone: Connections start at 'Gone', which does not exist.",
        "error connections.Hook.main[0][0].node: A connection leads to 'Edit Field', which does not exist.",
        "warning nodes[1]: No trigger leads to 'Edit Fields': it never runs."
      ],
      [undefined, "Did you mean 'Edit Fields'?"]
    ],
    [
      "are said once for each pair",
      flow([hook], joined(["Hook", "X"], ["Hook", "X", "main", 3], ["Hook", "Y"])),
      [
        "error connections.Hook.main[0][0].node: 2 connections lead to 'X', which does not exist.",
        "error connections.Hook.main[0][1].node: A connection leads to 'Y', which does not exist."
      ],
      []
    ],
    [
      "by node id are reported, and still followed",
      flow([hook, set("A")], joined(["id of Hook", "id of A"])),
      [
        "error connections[\"id of Hook\"]: Connections start at 'id of Hook', a node's id.",
        "error connections[\"id of Hook\"].main[0][0].node: A connection leads to 'id of A', a node's id."
      ],
      ["Connections go by name: write 'Hook'.", "Connections go by name: write 'A'."]
    ],
    [
      "are only a warning where a removed node left nothing but its name",
      flow([hook], { Gone: { main: [[]] } }),
      ["warning connections.Gone: 'Gone' does not exist; the entry has no connections."],
      []
    ]
  ])("%s", (_, workflow, expected, fixes) => {
    const found = all(workflow)
    same(brief(found), expected)
    if (fixes.length > 0) same(found.slice(0, 2).map(({ fix }) => fix), fixes)
  })
})

describe("types", () => {
  const typed = (type: string, version = 1) => line(node("A", "noOp", version, {}, { type }))

  const removed = (type: string) => type === `${base}start` ? "2.10" : undefined
  const successors = () => [`${base}manualTrigger`]
  it.each<[type: string, more: Partial<Lookups>, severity: string, words?: string, fix?: string]>([
    ...[
      [`${base}httprequest`, `Use '${base}httpRequest'.`],
      ["nodes-base.slack", `Use '${base}slack'.`],
      ["httpRequest", `Use '${base}httpRequest'.`],
      [`${base}lmChatOpenAi`, `Use '${ai}lmChatOpenAi'.`],
      ["@n8n/nodes-langchain.agent", `Use '${ai}agent'.`],
      [`${base}htpRequest`, `Did you mean '${base}httpRequest'`]
    ].map((
      [type = "", fix = ""]
    ): [string, {}, string, string, string] => [type, {}, "error", `no type '${type}'`, fix]),
    // Of the community: n8n may have them.
    ...["n8n-nodes-foo.bar", "@scope/n8n-nodes-foo.bar", "@a.b/n8n-nodes-foo.bar", "CUSTOM.bar"]
      .flatMap((type) => [{}, { connected: "2.41.1" }].map((more): [string, {}, string] => [type, more, "warning"])),
    // A younger n8n may have those that are not misspelt.
    [`${base}brandNew`, {}, "error"],
    [`${base}brandNew`, { connected: "2.42.0" }, "warning"],
    [`${base}httprequest`, { connected: "2.42.0" }, "error"],
    [`${base}start`, { removed, successors }, "error", "n8n 2.10 still had it", `Use '${base}manualTrigger'.`],
    [`${base}start`, { removed, connected: "1.123.0" }, "warning"]
  ])("that are not: %s %j", (type, more, severity, words = "", fix = "") => {
    const problem = only(typed(type), more)
    same([problem.severity, problem.path], [severity, "nodes[1].type"])
    assert.include(problem.message, words)
    assert.include(problem.fix ?? "", fix)
  })

  it("that n8n makes of others for agents are known, if it makes them", () => {
    same(only(line(node("A", "setTool", 1))).path, "nodes[1].type")
    const tools = flow(
      [hook, agent(), model("Model"), node("Tool", "dateTimeTool", 2), node("Ask", "slackHitlTool", 2.3)],
      joined(
        ["Hook", "Agent"],
        ["Model", "Agent", "ai_languageModel"],
        ["Ask", "Agent", "ai_tool"],
        ["Tool", "Ask", "ai_tool"]
      )
    )
    same(all(tools).filter(({ path }) => path.endsWith(".type") || path.startsWith("connections")), [])
  })

  it("that are for n8n's own tests", () => {
    const test = line(node("A", "e2eTest", 1, { operation: "remoteOptions" }))
    for (const more of [{}, { connected: "1.123.81", isV1: true }]) {
      same(all(test, more).filter(({ path }) => path === "nodes[1].type").map(({ severity }) => severity), ["error"])
    }
  })

  it.each(["executeCommand", "localFileTrigger"])("that n8n 2 disables: %s", (name) => {
    const parameters = { command: "ls", triggerOn: "file", path: "/x", event: "change" }
    const about = (more: Partial<Lookups> = {}) =>
      brief(all(line(node("A", name, 1, parameters)), more).filter(({ path }) => path === "nodes[1].type"))
    same(about(), [`error nodes[1].type: n8n 2 disables '${base}${name}' by default.`])
    same(about({ connected: "1.123.81", isV1: true }), [])
  })

  it("are judged where nodes are disabled, too: n8n does", () => {
    same(only(line(node("A", "nonsense", 1, {}, { disabled: true }))).severity, "error")
  })
})

describe("versions", () => {
  const versioned = (version: number) => line(node("A", "set", version))

  const isLacked = (type: string, version: number) => type === `${base}set` && version >= 3.4
  const isWhollyLacked = (type: string) => type === `${base}set`
  const connected = "1.50.0"
  it.each<[Obj, more: Partial<Lookups>, severity: string, words: string, fix?: string]>([
    [versioned(3.35), {}, "error", `'${base}set' has no version 3.35.`, "It has 1, 2, 3, 3.1, 3.2, 3.3, 3.4, 3.5."],
    // n8n does not look at the version of a type with one implementation.
    [line(node("A", "noOp", 1.5)), {}, "warning", `'${base}noOp' has no version 1.5; n8n runs it anyway.`],
    // A younger n8n may have it.
    [versioned(9), {}, "error", "in n8n 2.41.1 the newest is 3.5"],
    [versioned(9), { connected: "2.41.1" }, "error", ""],
    [versioned(9), { connected: "2.50.0" }, "warning", ""],
    [versioned(3.4), { connected, isLacked }, "error", "n8n 1.50.0 has no version 3.4", "Use 3.3, the newest it has"],
    [versioned(3.4), { connected, isLacked: isWhollyLacked }, "error", `has no type '${base}set'`]
  ])("that a type or the connected n8n does not have: %#", (workflow, more, severity, words, fix = "") => {
    const problem = only(workflow, more)
    same([problem.severity, problem.path.replace(/type$/, "typeVersion")], [severity, "nodes[1].typeVersion"])
    assert.include(problem.message, words)
    assert.include(problem.fix ?? "", fix)
  })

  it("that only the connected n8n may lack", () => same(all(versioned(3.4), { isLacked }), []))
})

describe("connections", () => {
  const tool = node("Calc", `${ai}toolCalculator`, 1)
  const withModel = (nodes: ReadonlyArray<Obj>, ...links: ReadonlyArray<Link>) =>
    flow(
      [hook, agent(), model("Model"), ...nodes],
      joined(["Hook", "Agent"], ["Model", "Agent", "ai_languageModel"], ...links)
    )

  const check = node("If", "if", 2.2, {
    conditions: {
      options: { version: 2 },
      conditions: [{ leftValue: "a", rightValue: "b", operator: { type: "string", operation: "equals" } }]
    }
  })
  const failing = { ...check, onError: "continueErrorOutput" }
  // A Switch without outputs may have some: who turned the link round would break the workflow.
  const empty = node("Switch", "switch", 3.2, { rules: {} })
  const decided = node("Switch", "switch", 3.2, { mode: "expression", numberOutputs: "={{ 3 }}", output: "={{ 1 }}" })
  const mixed = { ...joined(["Hook", "A"]), A: { main: [[{ node: "B", type: "ai_tool", index: 0 }]] } }
  const llama = node("Llama", `${ai}lmOllama`, 1, {}, { credentials: { ollamaApi: { id: "1" } } })
  const serving = ["Model", "Agent", "ai_languageModel"] as const

  it.each<[string, Obj, ReadonlyArray<string>, fix?: string]>([
    [
      "beyond the outputs and inputs there are",
      flow(
        [hook, check, set("A")],
        joined(["Hook", "If"], ["If", "A", "main", 1], ["If", "A", "main", 2], ["Hook", "A", "main", 0, 1])
      ),
      [
        "error connections.Hook.main[0][1]: 'A' has 1 main input: main[1] is not one of them.",
        "error connections.If.main[2][0]: 'If' has 2 main outputs ('true', 'false'): main[2] is not one of them."
      ]
    ],
    ["of an output for errors", flow([hook, failing, set("A")], joined(["Hook", "If"], ["If", "A", "main", 2])), []],
    [
      "of a sub-node by main",
      withModel([tool], ["Calc", "Agent"]),
      ["error connections.Calc.main[0][0]: 'Calc' serves 'Agent' by ai_tool, not by main."],
      "Write connections['Calc'].ai_tool = [[{node: 'Agent', type: 'ai_tool', index: 0}]]."
    ],
    [
      "of a sub-node to what does not take it",
      flow([hook, set("A"), tool], joined(["Hook", "A"], ["Calc", "A"], ["Calc", "A", "ai_tool"])),
      [
        "error connections.Calc.main[0][0]: 'Calc' has no main output; it has ai_tool.",
        "error connections.Calc.ai_tool[0][0]: 'A' has no ai_tool input; it has main."
      ]
    ],
    [
      "the wrong way round",
      flow([hook, agent(), model("Model")], joined(["Hook", "Agent"], ["Agent", "Model", "ai_languageModel"])),
      [
        "error connections.Agent.ai_languageModel[0][0]: ai_languageModel goes the other way: from 'Model' to 'Agent'.",
        "error nodes[1]: 'Agent' needs a Chat Model: nothing is connected to ai_languageModel.",
        "warning nodes[2]: 'Model' does not serve a node that runs."
      ]
    ],
    ["of a Switch without outputs", flow([hook, empty, set("A")], joined(["Hook", "Switch"], ["Switch", "A"])), [
      "error connections.Switch.main[0][0]: 'Switch' has no main output; it has none."
    ]],
    ["of outputs by an expression", flow([hook, decided, set("A")], joined(["Hook", "Switch"], ["Switch", "A"])), []],
    ["from an agent to its tool", withModel([tool], ["Agent", "Calc"]), [
      "error connections.Agent.main[0][0]: 'Calc' serves 'Agent' by ai_tool."
    ]],
    ["between kinds", flow([hook, set("A"), set("B")], mixed), [
      "error connections.A.main[0][0]: Output main cannot be connected to an input of type ai_tool."
    ], "Write type: 'main'."],
    ["of unknown kinds", withModel([], ["Hook", "Agent", "ai_foo"]), [
      "error connections.Hook.ai_foo[0][0]: 'Hook' has no ai_foo output; it has main."
    ]],
    ["into a trigger", flow([hook, set("A")], joined(["Hook", "A"], ["A", "Hook"])), [
      "error connections.A.main[0][0]: 'Hook' has no main input; it has none."
    ], "A trigger starts a workflow; connect from it."],
    [
      "of models that an agent does not take",
      flow([hook, agent(), llama], joined(["Hook", "Agent"], ["Llama", "Agent", "ai_languageModel"])),
      [`error connections.Llama.ai_languageModel[0][0]: 'Agent' does not take a '${ai}lmOllama' as Chat Model.`]
    ],
    ["that are missing", line(agent()), [
      "error nodes[1]: 'Agent' needs a Chat Model: nothing is connected to ai_languageModel."
    ]],
    [
      "of a disabled node",
      flow([hook, agent(), model("Model", { disabled: true })], joined(["Hook", "Agent"], serving)),
      ["error nodes[1]: 'Agent' needs a Chat Model, and the one connected is disabled."]
    ],
    ["that are missing at a disabled node", line(agent({ disabled: true })), []],
    ["that are too many", withModel([model("Other")], ["Other", "Agent", "ai_languageModel"]), [
      "error connections.Other.ai_languageModel[0][0]: 'Agent' takes 1 Chat Model, and 2 are connected: 'Model', 'Other'."
    ]]
  ])("%s", (_, workflow, expected, fix) => {
    const found = all(workflow)
    same(brief(found), expected)
    if (fix !== undefined) same(found[0]?.fix, fix)
  })

  it("are not checked if the ports are unknown", () => {
    const given = flow([hook, set("A")], joined(["Hook", "A", "main", 7, 7]))
    same(all(given).length, 1)
    same(all(given, { find: () => undefined }).filter(({ path }) => path.startsWith("connections")), [])
    const merge = flow([hook, node("M", "merge", 3)], joined(["Hook", "M", "main", 0, 5]))
    same(all(merge).length, 1)
    same(all(merge, { evaluate: () => undefined }), [])
    const store = node("Store", `${ai}vectorStoreInMemory`, 1.3, { mode: "retrieve-as-tool", toolDescription: "x" })
    const served = withModel([store], ["Store", "Agent", "ai_tool"])
    same(all(served).map(({ node }) => node), ["Store"])
    same(all(served, { evaluate: () => undefined }), [])
  })
})

describe("nodes that never run", () => {
  const manual = node("Manual", "manualTrigger", 1)

  it("everything, without a trigger or with a manual one alone: one warning", () => {
    const problem = only(flow([set("A"), set("B")], joined(["A", "B"])))
    same([problem.severity, problem.path], ["warning", "nodes"])
    same(only(flow([])).severity, "warning")
    const disabled = flow([{ ...hook, disabled: true }, set("A")], joined(["Hook", "A"]))
    assert.include(only(disabled).message, "'Hook' is disabled")
    assert.include(only(flow([manual])).message, "only be started manually")
    same(all(flow([manual, hook])), [])
  })

  it("nodes that no trigger leads to, one by one, with one fix", () => {
    const nodes = Array.from({ length: 250 }, (_, index) => set(`N${index}`))
    const found = all(flow([hook, ...nodes]))
    same(found.length, 250)
    same(found.filter(({ fix }) => fix !== undefined).length, 1)
    same(brief(found.slice(7, 8)), ["warning nodes[8]: No trigger leads to 'N7': it never runs."])
    same([found[7]?.node, found[7]?.nodeId], ["N7", "id of N7"])
  })

  it("not what is reached through sub-nodes, disabled nodes, error outputs", () => {
    const tool = { mode: "retrieve-as-tool", toolName: "s", toolDescription: "x" }
    const embeddings = node("Embeddings", `${ai}embeddingsOpenAi`, 1.2, {}, { credentials: { openAiApi: { id: "1" } } })
    const off = set("Off", { disabled: true, onError: "continueErrorOutput" })
    const given = flow(
      [hook, agent(), model("Model"), node("Store", `${ai}vectorStoreInMemory`, 1.1, tool), embeddings, off, set("B")],
      joined(
        ["Hook", "Agent"],
        ["Model", "Agent", "ai_languageModel"],
        ["Store", "Agent", "ai_tool"],
        ["Embeddings", "Store", "ai_embedding"],
        ["Agent", "Off"],
        ["Off", "B", "main", 1]
      )
    )
    same(all(given), [])
  })

  it("sub-nodes of nothing, and not what is disabled, or behind a community node that may be a trigger", () => {
    const found = all(flow([hook, model("Model"), set("Off", { disabled: true })]))
    same(found.map(({ message }) => message), ["'Model' does not serve a node that runs."])
    const foo = node("Foo", "n8n-nodes-foo.bar", 1)
    same(all(flow([foo, set("A")], joined(["Foo", "A"]))).map(({ path }) => path), ["nodes[0].type"])
  })
})

describe("single nodes", () => {
  const request = (more: Obj = {}) => node("A", "httpRequest", 4.2, { url: "" }, more)
  const named = (value: string) => ({ __rl: true, mode: "name", value })
  const issue = { owner: named("a"), repository: named("b"), operation: "get", issueNumber: 1 }
  const github = (more: Obj = {}) => node("G", "github", 1.1, issue, more)

  it("with parameters that n8n marks, at their paths; a warning where nothing leads to the node", () => {
    const problem = only(line(request()))
    same([problem.severity, problem.node, problem.path], ["error", "A", "nodes[1].parameters.url"])
    same(all(line(request({ disabled: true }))), [])
    same(all(flow([hook, request()])).map(({ severity }) => severity), ["warning", "warning"])
  })

  it("without a credential that n8n asks for: no problem, but listed", () => {
    const missing = (workflow: Obj) => {
      const { missingCredentials, problems } = check(workflow, lookups)
      same(problems.filter(({ severity }) => severity === "error"), [])
      return missingCredentials
    }
    const wanted = [{ node: "G", type: "githubApi" }]
    same(missing(line(github())), wanted)
    same(missing(line(github({ disabled: true }))), [])
    same(missing(line(github({ credentials: { githubApi: { id: "1", name: "x" } } }))), [])
    same(missing(line(github({ credentials: { githubApi: { id: null, name: "x" } } }))), wanted)
    // n8n looks into nodes with webhooks of their own, and into triggers, connected or not.
    same(missing(flow([hook, github()])), wanted)
  })

  it.each([
    ["code", node("A", "code", 2, { jsCode: "(".repeat(131_073) }), "more than 131,072 characters"],
    ["parameters", node("A", "set", 3.4, { list: Array.from({ length: 10_000 }, () => "={{ ( }}") }), "10,000 values"]
  ])("that are too large to be looked into, in %s: a warning", (_, large, words) => {
    const { message, severity } = only(line(large))
    same(severity, "warning")
    assert.include(message, words)
  })

  it("with a suggestion for the first hundred unknown names alone", () => {
    const nodes = Array.from({ length: 150 }, (_, index) => node(`N${index}`, `slac${index}`))
    let asked = 0
    const found = all(flow([hook, ...nodes]), { nearest: () => (asked++, []) })
    same([found.filter(({ severity }) => severity === "error").length, asked], [150, 100])
  })

  it("only with the credential of the chosen kind of authentication", () => {
    const chosen = (parameters: Obj) => {
      const given = line(node("A", "httpRequest", 4.2, { url: "https://example.com", ...parameters }))
      return check(given, lookups).missingCredentials.map(({ type }) => type)
    }
    same(chosen({}), [])
    same(chosen({ authentication: "predefinedCredentialType", nodeCredentialType: "slackApi" }), ["slackApi"])
    same(chosen({ authentication: "genericCredentialType", genericAuthType: "httpHeaderAuth" }), ["httpHeaderAuth"])
    same(all(line(node("A", "npm", 1, { packageName: "effect" }))), [])
  })

  const value = "nodes[2].parameters.assignments.assignments[0].value"
  const fields = (value: string, more: Obj = {}) => {
    const assignments = [{ id: "1", name: "x", type: "string", value }]
    return line(node("Get Data", "noOp", 1), node("A", "set", 3.4, { assignments: { assignments } }, more))
  }
  const refused = (key: string) => `error ${value}: ${key} is not a key that $fromAI accepts: the agent fails.`
  const broken = (code: string) => `error ${value}: ${code} does not parse: Unexpected token.`

  it.each<[value: string, problem?: string, fix?: string]>([
    ["={{ $('Get Data').item.json.x }}"],
    [
      "={{ $('GetData').item.json.x + $node['GetData'].json.y }}",
      `error ${value}: It refers to the node 'GetData', which does not exist (2 times).`,
      "Did you mean 'Get Data'?"
    ],
    ["={{ $('Gone').item.json.x + }} {{ 1 }}", broken("{{ $('Gone').item.json.x + }}")],
    ["=Hello {{ $json.a +* 1 }}", broken("{{ $json.a +* 1 }}")],
    [`={{ $fromAI("order id") }}`, refused("'order id'")],
    ["={{ $fromAi( 'a', 'b') + $fromAI() }}", refused("''")],
    [`={{ $fromAI(\`${"k".repeat(65)}\`, "d") }}`, refused(`'${"k".repeat(65)}'`)],
    ["={{ $fromAI('order_Id-1', 'the (id), see \"x\"', 'string') + $fromAI($json.key) }}"]
  ])("with the expression %s", (text, problem, fix) => {
    const found = all(fields(text))
    same(brief(found), problem === undefined ? [] : [problem])
    if (fix !== undefined) same(found[0]?.fix, fix)
    same(all(fields(text, { disabled: true })), [])
  })

  const formFields = { formFields: { values: [{ fieldType: "html", html: "a {{ $('Gone').first().json.x }}" }] } }
  const text = "a {{ $('Gone').first().json.x }}"
  it.each<[name: string, type: string, version: number, parameters: Obj, path: string]>([
    ["HTML", `${base}html`, 1.2, { html: text }, "html"],
    ["a form", `${base}form`, 1, formFields, "formFields.values[0].html"],
    ["SQL", `${base}postgres`, 2.5, { operation: "executeQuery", query: text, options: {} }, "query"],
    [
      "$item",
      `${base}filter`,
      2.2,
      { options: { ignoreCase: "={{ $item(0).$node['Gone'].x }}" } },
      "options.ignoreCase"
    ]
  ])("with %s that names a node which does not exist", (_, type, version, parameters, path) => {
    const about = (workflow: Obj) =>
      all(workflow).flatMap(({ message, path, severity }) => message.includes("'Gone'") ? [[severity, path]] : [])
    const user = node("A", type, version, parameters)
    same(about(line(user)), [["error", `nodes[1].parameters.${path}`]])
    same(about(line(node("Gone", "noOp", 1), user)), [])
  })

  it("with a schedule that n8n never starts", () => {
    const every = (typeVersion: number, ...interval: ReadonlyArray<Obj>) =>
      all(flow([node("S", "scheduleTrigger", typeVersion, { rule: { interval } }), set("A")], joined(["S", "A"])))
    same(brief(every(1.2, {}, { field: "hours", hoursInterval: 1.5 })), [
      "warning nodes[0].parameters.rule.interval[1]: " +
      "n8n never starts it by this rule: hoursInterval 1.5 is not a positive whole number."
    ])
    // `Schedules.never` decides; here is which rules of a node it sees.
    same(every(1.3, { field: "minutes", minutesInterval: 60 }).length, 1)
    same(
      every(1.2, { field: "cronExpression", expression: "0 0 31 4 *" }, { field: "hours", hoursInterval: 0 }).length,
      2
    )
    same(every(1.2, { field: "minutes", minutesInterval: "={{ $json.x }}" }, { field: "hours", hoursInterval: 2 }), [])
  })

  it("with expressions that do not begin as one, or scripts that name nodes which do not exist: a warning", () => {
    const { fix, path, severity } = only(fields("Hello {{ $json.name }}"))
    same([severity, path, fix], ["warning", value, "Start it with '='."])
    // Where the value cannot be chosen, that is said already.
    const method = line(node("A", "httpRequest", 4.2, { method: "{{ $json.method }}", url: "https://example.com" }))
    same(all(method).map(({ path }) => path), ["nodes[1].parameters.method"])
    const code = only(line(node("A", "code", 2, { jsCode: "return $('Gone').all()" })))
    same([code.severity, code.path], ["warning", "nodes[1].parameters.jsCode"])
  })

  it("ignores hidden parameters", () => {
    const hidden = { url: "https://example.com", sendBody: false, jsonBody: "={{ $('Gone').item }}" }
    same(all(line(node("A", "httpRequest", 4.2, hidden))), [])
  })
})

describe("whatever it is", () => {
  const types = ["n8n-nodes-base.switch", "n8n-nodes-base.webhook", `${ai}agent`, `${ai}code`, "n8n-nodes-foo.bar", "x"]
  const Name = Schema.Literals(["A", "B", "constructor", "__proto__", ""])
  const or = <A extends Schema.Top>(given: A) => Schema.Union([given, Json])
  const Sketch = Schema.Struct({
    name: Json,
    nodes: Schema.Array(or(Schema.Struct({
      name: or(Name),
      type: or(Schema.Literals(types)),
      typeVersion: or(Schema.Literals([1, 2, 3])),
      parameters: or(Schema.Record(Schema.Literals(["rules", "inputs", "jsCode", "options"]), Json)),
      credentials: Json,
      onError: Json
    }))),
    connections: or(Schema.Record(
      Name,
      Schema.Record(
        Schema.Literals(["main", "ai_tool", "constructor"]),
        Schema.Array(Schema.Array(or(Schema.Struct({ node: Name, type: Key, index: Json }))))
      )
    ))
  })

  it.prop("there are problems with paths and words, errors first, never a failure", { given: Sketch }, ({ given }) => {
    const found = all(obj(given) ?? {})
    for (const { message } of found) assert.isAbove(message.length, 0)
    const order = found.map(({ severity }) => severity)
    same(order, [...order].toSorted())
  })

  it("is nested deeply", () => {
    let deep: unknown = "={{ $('Gone') }}"
    for (let depth = 0; depth < 5_000; depth++) deep = { a: [deep] }
    assert.isNotEmpty(all(flow([deep, set("A", { parameters: deep, credentials: deep })], deep)))
  })

  it("is large, and has none", () => {
    const nodes = Array.from({ length: 5_000 }, (_, index) => set(`N${index}`))
    same(all(flow([hook, ...nodes], joined(...nodes.map((each): Link => ["Hook", String(each["name"])])))), [])
  })
})
