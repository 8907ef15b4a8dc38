import { assert, describe, it } from "@effect/vitest"
import * as Schema from "effect/Schema"
import { type Obj, obj } from "../../../src/base/Json.ts"
import type { Problem } from "../../../src/base/Problem.ts"
import { check, type Lookups, problems } from "../../../src/workflow/check/WorkflowProblems.ts"
import { Json, Key } from "../../support/arbitrary.ts"
import * as fixtures from "../../support/fixtures.ts"
import { joined, type Link, node } from "../../support/workflows.ts"
import { lookups } from "./lookups.ts"

const same = (actual: unknown, expected: unknown) => assert.deepStrictEqual(actual, expected)

const base = "n8n-nodes-base."
const ai = "@n8n/n8n-nodes-langchain."

const hook = node("Hook", "webhook", 2, { path: "x" })
const set = (name: string, more: Obj = {}) => node(name, "set", 3.4, {}, more)
const agent = (more: Obj = {}) => node("Agent", `${ai}agent`, 2, { promptType: "define", text: "hi" }, more)
const model = (name: string, more: Obj = {}) =>
  node(name, `${ai}lmChatOpenAi`, 1.2, {}, { credentials: { openAiApi: { id: "1", name: "x" } }, ...more })

const flow = (nodes: ReadonlyArray<unknown>, connections: unknown = {}, more: Obj = {}): Obj => ({
  name: "Flow",
  nodes,
  connections,
  settings: {},
  ...more
})
const line = (...nodes: ReadonlyArray<Obj>) =>
  flow(
    [hook, ...nodes],
    joined(...nodes.map((each, index): Link => [String((nodes[index - 1] ?? hook)["name"]), String(each["name"])]))
  )

const all = (workflow: Obj, more: Partial<Lookups> = {}) => problems(workflow, { ...lookups, ...more })
const brief = (found: ReadonlyArray<Problem>) => found.map(({ message, path, severity }) => [severity, path, message])
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
          node("Memory", `${ai}memoryBufferWindow`, 1.3, { sessionIdType: "customKey", sessionKey: "a" }),
          node("Time", "dateTimeTool", 2),
          node("Note", "stickyNote", 1, { content: "={{ ) }}" }),
          set("After")
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
  it.each([
    { given: { name: "" }, path: "name" },
    { given: { name: "x".repeat(129) }, path: "name" },
    { given: { settings: [] }, path: "settings" },
    { given: { connections: [] }, path: "connections" },
    { given: { connections: { Hook: [] } }, path: "connections.Hook" },
    { given: { connections: { Hook: { main: {} } } }, path: "connections.Hook.main" },
    { given: { connections: { Hook: { main: [null, {}] } } }, path: "connections.Hook.main[1]" },
    { given: { connections: { Hook: { main: [["A"]] } } }, path: "connections.Hook.main[0][0]" },
    {
      given: { connections: { Hook: { main: [[{ type: "main", index: 0 }]] } } },
      path: "connections.Hook.main[0][0].node"
    },
    {
      given: { connections: { Hook: { main: [[{ node: "A", index: 0 }]] } } },
      path: "connections.Hook.main[0][0].type"
    },
    {
      given: { connections: { Hook: { main: [[{ node: "A", type: "main", index: "0" }]] } } },
      path: "connections.Hook.main[0][0].index"
    },
    {
      given: { connections: { Hook: { main: [[{ node: "A", type: "main", index: -1 }]] } } },
      path: "connections.Hook.main[0][0].index"
    },
    { given: { nodes: [hook, a, "B"] }, path: "nodes[2]" },
    { given: { nodes: [hook, a, { ...a, id: "b", name: 5 }] }, path: "nodes[2].name" },
    { given: { nodes: [hook, { ...a, type: "" }] }, path: "nodes[1].type" },
    { given: { nodes: [hook, { ...a, typeVersion: "3.4" }] }, path: "nodes[1].typeVersion" },
    { given: { nodes: [hook, { ...a, typeVersion: undefined }] }, path: "nodes[1].typeVersion" },
    { given: { nodes: [hook, { ...a, position: [1] }] }, path: "nodes[1].position" },
    { given: { nodes: [hook, { ...a, parameters: [] }] }, path: "nodes[1].parameters" },
    { given: { nodes: [hook, { ...a, id: 5 }] }, path: "nodes[1].id" },
    { given: { nodes: [hook, { ...a, disabled: "true" }] }, path: "nodes[1].disabled" },
    { given: { nodes: [hook, { ...a, credentials: "x" }] }, path: "nodes[1].credentials" },
    { given: { nodes: [hook, { ...a, onError: "continue" }] }, path: "nodes[1].onError" },
    { given: { nodes: [hook, a, set("A", { id: "other" })] }, path: "nodes[2].name" },
    { given: { nodes: [hook, a, set("B", { id: a["id"] })] }, path: "nodes[2].id" }
  ])("is wrong at $path", ({ given, path }) => {
    const found = all({ ...flow([hook, a], joined(["Hook", "A"])), ...given })
    same(found.filter(({ severity }) => severity === "error").map((each) => each.path), [path])
  })

  it("needs nodes", () => {
    same(all({ name: "Flow", nodes: {}, connections: {} })[0]?.path, "nodes")
  })

  it("takes what n8n or a write adds: ids, places, parameters, settings", () => {
    const { id: _, parameters: __, position: ___, ...bare } = a
    same(all({ name: "Flow", nodes: [hook, bare], connections: joined(["Hook", "A"]) }), [])
  })

  it("names whose problem it is", () => {
    const { node: name, nodeId } = only(line(set("A", { position: "left" })))
    same([name, nodeId], ["A", "id of A"])
  })
})

describe("connections of nodes that do not exist", () => {
  it("name the nearest", () => {
    const found = all(flow([hook, set("Edit Fields")], joined(["Hook", "Edit Field"], ["Gone", "Edit Fields"])))
    same(found.slice(0, 2).map(({ fix, message, path }) => [path, message, fix]), [
      ["connections.Gone", "Connections start at 'Gone', which does not exist.", undefined],
      [
        "connections.Hook.main[0][0].node",
        "A connection leads to 'Edit Field', which does not exist.",
        "Did you mean 'Edit Fields'?"
      ]
    ])
  })

  it("are said once for each pair", () => {
    const found = all(flow([hook], joined(["Hook", "X"], ["Hook", "X", "main", 3], ["Hook", "Y"])))
    same(found.map(({ message }) => message), [
      "2 connections lead to 'X', which does not exist.",
      "A connection leads to 'Y', which does not exist."
    ])
  })

  it("by node id are reported, and still followed", () => {
    const found = all(flow([hook, set("A")], joined(["id of Hook", "id of A"])))
    same(found.map(({ fix, path }) => [path, fix]), [
      ["connections[\"id of Hook\"]", "Connections go by name: write 'Hook'."],
      ["connections[\"id of Hook\"].main[0][0].node", "Connections go by name: write 'A'."]
    ])
  })

  it("are only a warning where a removed node left nothing but its name", () => {
    same(only(flow([hook], { Gone: { main: [[]] } })).severity, "warning")
  })
})

describe("types", () => {
  const typed = (type: string, version = 1) => line(node("A", "noOp", version, {}, { type }))

  it.each([
    { type: `${base}httprequest`, fix: `Use '${base}httpRequest'.` },
    { type: "nodes-base.slack", fix: `Use '${base}slack'.` },
    { type: "httpRequest", fix: `Use '${base}httpRequest'.` },
    { type: `${base}lmChatOpenAi`, fix: `Use '${ai}lmChatOpenAi'.` },
    { type: "@n8n/nodes-langchain.agent", fix: `Use '${ai}agent'.` },
    { type: `${base}htpRequest`, fix: `Did you mean '${base}httpRequest'` }
  ])("that are not: $type", ({ fix, type }) => {
    const problem = only(typed(type))
    same([problem.severity, problem.path], ["error", "nodes[1].type"])
    assert.include(problem.message, `no type '${type}'`)
    assert.include(problem.fix, fix)
  })

  it.each(["n8n-nodes-foo.bar", "@scope/n8n-nodes-foo.bar", "@a.b/n8n-nodes-foo.bar", "CUSTOM.bar"])(
    "of the community are a warning: %s",
    (type) => {
      same(only(typed(type)).severity, "warning")
      same(only(typed(type), { connected: "2.41.1" }).severity, "warning")
    }
  )

  it("that n8n makes of others for agents are known, if it makes them", () => {
    same(only(line(node("A", "setTool", 1))).path, "nodes[1].type")
    const tools = flow(
      [
        hook,
        agent(),
        model("Model"),
        node("Tool", "dateTimeTool", 2),
        node("Ask", "slackHitlTool", 2.3)
      ],
      joined(
        ["Hook", "Agent"],
        ["Model", "Agent", "ai_languageModel"],
        ["Ask", "Agent", "ai_tool"],
        ["Tool", "Ask", "ai_tool"]
      )
    )
    same(all(tools).filter(({ path }) => path.endsWith(".type") || path.startsWith("connections")), [])
  })

  it("that a younger n8n may have are a warning, unless they are misspelt", () => {
    same(only(typed(`${base}brandNew`)).severity, "error")
    same(only(typed(`${base}brandNew`), { connected: "2.42.0" }).severity, "warning")
    same(only(typed(`${base}httprequest`), { connected: "2.42.0" }).severity, "error")
  })

  it("that were removed are named with the last release that had them", () => {
    const removed = (type: string) => type === `${base}start` ? "2.10" : undefined
    const successors = () => [`${base}manualTrigger`]
    const problem = only(typed(`${base}start`), { removed, successors })
    assert.include(problem.message, "n8n 2.10 still had it")
    same([problem.severity, problem.fix], ["error", `Use '${base}manualTrigger'.`])
    same(only(typed(`${base}start`), { removed, connected: "1.123.0" }).severity, "warning")
  })

  it("that are for n8n's own tests", () => {
    const test = line(node("A", "e2eTest", 1, { operation: "remoteOptions" }))
    for (const more of [{}, { connected: "1.123.81", isV1: true }]) {
      same(all(test, more).filter(({ path }) => path === "nodes[1].type").map(({ severity }) => severity), ["error"])
    }
  })

  it.each(["executeCommand", "localFileTrigger"])(
    "that n8n 2 disables: %s",
    (name) => {
      const parameters = { command: "ls", triggerOn: "file", path: "/x", event: "change" }
      const about = (more: Partial<Lookups> = {}) =>
        all(line(node("A", `${base}${name}`, 1, parameters)), more).filter(({ path }) => path === "nodes[1].type")
      same(about().map(({ message, severity }) => [severity, message]), [
        ["error", `n8n 2 disables '${base}${name}' by default.`]
      ])
      same(about({ connected: "1.123.81", isV1: true }), [])
    }
  )

  it("are judged where nodes are disabled, too: n8n does", () => {
    same(only(line(node("A", "nonsense", 1, {}, { disabled: true }))).severity, "error")
  })
})

describe("versions", () => {
  const versioned = (version: number) => line(node("A", "set", version))

  it("that a type does not have", () => {
    same(brief([only(versioned(3.35))]), [["error", "nodes[1].typeVersion", `'${base}set' has no version 3.35.`]])
    same(only(versioned(3.35)).fix, "It has 1, 2, 3, 3.1, 3.2, 3.3, 3.4, 3.5.")
  })

  it("that n8n does not look at, since the type has one implementation: a warning", () => {
    same(brief([only(line(node("A", "noOp", 1.5)))]), [
      ["warning", "nodes[1].typeVersion", `'${base}noOp' has no version 1.5; n8n runs it anyway.`]
    ])
    same(only(flow([node("A", "webhook", 1.5, { path: "x" })])).severity, "warning")
  })

  it("newer than any known here, which a younger n8n may have", () => {
    assert.include(only(versioned(9)).message, "in n8n 2.41.1 the newest is 3.5")
    same(only(versioned(9)).severity, "error")
    same(only(versioned(9), { connected: "2.41.1" }).severity, "error")
    same(only(versioned(9), { connected: "2.50.0" }).severity, "warning")
  })

  it("that the connected n8n is too old for", () => {
    const isLacked = (type: string, version: number) => type === `${base}set` && version >= 3.4
    const problem = only(versioned(3.4), { connected: "1.50.0", isLacked })
    same([problem.severity, problem.path], ["error", "nodes[1].typeVersion"])
    assert.include(problem.message, "The connected n8n 1.50.0 has no version 3.4")
    assert.include(problem.fix, "Use 3.3, the newest it has")
    same(all(versioned(3.4), { isLacked }), [])
    const whole = only(versioned(3.4), { connected: "1.50.0", isLacked: (type) => type === `${base}set` })
    assert.include(whole.message, `has no type '${base}set'`)
  })
})

describe("connections", () => {
  const tool = node("Calc", `${ai}toolCalculator`, 1)
  const withModel = (nodes: ReadonlyArray<Obj>, ...links: ReadonlyArray<Link>) =>
    flow(
      [hook, agent(), model("Model"), ...nodes],
      joined(
        ["Hook", "Agent"],
        ["Model", "Agent", "ai_languageModel"],
        ...links
      )
    )

  it("beyond the outputs and inputs there are", () => {
    const check = node("If", "if", 2.2, {
      conditions: {
        options: { version: 2 },
        conditions: [{ leftValue: "a", rightValue: "b", operator: { type: "string", operation: "equals" } }]
      }
    })
    const beyond = flow(
      [hook, check, set("A")],
      joined(["Hook", "If"], ["If", "A", "main", 1], ["If", "A", "main", 2], ["Hook", "A", "main", 0, 1])
    )
    same(brief(all(beyond)), [
      ["error", "connections.Hook.main[0][1]", "'A' has 1 main input: main[1] is not one of them."],
      ["error", "connections.If.main[2][0]", "'If' has 2 main outputs ('true', 'false'): main[2] is not one of them."]
    ])
    const failing = { ...check, onError: "continueErrorOutput" }
    same(all(flow([hook, failing, set("A")], joined(["Hook", "If"], ["If", "A", "main", 2]))), [])
  })

  it("of a sub-node by main: how it must be", () => {
    const problem = only(withModel([tool], ["Calc", "Agent"]))
    same(brief([problem]), [[
      "error",
      "connections.Calc.main[0][0]",
      "'Calc' serves 'Agent' by ai_tool, not by main."
    ]])
    same(problem.fix, "Write connections['Calc'].ai_tool = [[{node: 'Agent', type: 'ai_tool', index: 0}]].")
  })

  it("of a sub-node to what does not take it", () => {
    const found = all(flow([hook, set("A"), tool], joined(["Hook", "A"], ["Calc", "A"], ["Calc", "A", "ai_tool"])))
    same(found.map(({ message }) => message), [
      "'Calc' has no main output; it has ai_tool.",
      "'A' has no ai_tool input; it has main."
    ])
  })

  it("the wrong way round", () => {
    const found = all(
      flow([hook, agent(), model("Model")], joined(["Hook", "Agent"], ["Agent", "Model", "ai_languageModel"]))
    )
    same(found[0]?.message, "ai_languageModel goes the other way: from 'Model' to 'Agent'.")
    // A Switch without outputs may have some: who turned the link round would break the workflow.
    const empty = node("Switch", "switch", 3.2, { rules: {} })
    same(
      all(flow([hook, empty, set("A")], joined(["Hook", "Switch"], ["Switch", "A"])))[0]?.message,
      "'Switch' has no main output; it has none."
    )
    const decided = node("Switch", "switch", 3.2, { mode: "expression", numberOutputs: "={{ 3 }}", output: "={{ 1 }}" })
    same(all(flow([hook, decided, set("A")], joined(["Hook", "Switch"], ["Switch", "A"]))), [])
    const byMain = all(withModel([tool], ["Agent", "Calc"]))
    same(byMain[0]?.message, "'Calc' serves 'Agent' by ai_tool.")
  })

  it("between kinds, and of unknown kinds", () => {
    const mixed = { ...joined(["Hook", "A"]), A: { main: [[{ node: "B", type: "ai_tool", index: 0 }]] } }
    same(all(flow([hook, set("A"), set("B")], mixed))[0]?.fix, "Write type: 'main'.")
    same(all(withModel([], ["Hook", "Agent", "ai_foo"]))[0]?.message, "'Hook' has no ai_foo output; it has main.")
  })

  it("into a trigger", () => {
    const problem = only(flow([hook, set("A")], joined(["Hook", "A"], ["A", "Hook"])))
    same([problem.message, problem.fix], [
      "'Hook' has no main input; it has none.",
      "A trigger starts a workflow; connect from it."
    ])
  })

  it("of models that an agent does not take", () => {
    const llama = node("Llama", `${ai}lmOllama`, 1, {}, { credentials: { ollamaApi: { id: "1" } } })
    const given = flow([hook, agent(), llama], joined(["Hook", "Agent"], ["Llama", "Agent", "ai_languageModel"]))
    same(only(given).message, `'Agent' does not take a '${ai}lmOllama' as Chat Model.`)
  })

  it("that are missing, or of a disabled node", () => {
    same(brief([only(line(agent()))]), [[
      "error",
      "nodes[1]",
      "'Agent' needs a Chat Model: nothing is connected to ai_languageModel."
    ]])
    const disabled = flow(
      [hook, agent(), model("Model", { disabled: true })],
      joined(["Hook", "Agent"], ["Model", "Agent", "ai_languageModel"])
    )
    same(only(disabled).message, "'Agent' needs a Chat Model, and the one connected is disabled.")
    same(all(line(agent({ disabled: true }))), [])
  })

  it("that are too many", () => {
    const given = withModel([model("Other")], ["Other", "Agent", "ai_languageModel"])
    same(brief([only(given)]), [[
      "error",
      "connections.Other.ai_languageModel[0][0]",
      "'Agent' takes 1 Chat Model, and 2 are connected: 'Model', 'Other'."
    ]])
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

  it("everything, without a trigger: one warning", () => {
    const problem = only(flow([set("A"), set("B")], joined(["A", "B"])))
    same([problem.severity, problem.path], ["warning", "nodes"])
    same(only(flow([])).severity, "warning")
    assert.include(
      only(flow([{ ...hook, disabled: true }, set("A")], joined(["Hook", "A"]))).message,
      "'Hook' is disabled"
    )
  })

  it("by itself, with a manual trigger alone", () => {
    assert.include(only(flow([manual])).message, "only be started manually")
    same(all(flow([manual, hook])), [])
  })

  it("nodes that no trigger leads to, one by one, with one fix", () => {
    const nodes = Array.from({ length: 250 }, (_, index) => set(`N${index}`))
    const found = all(flow([hook, ...nodes]))
    same(found.length, 250)
    same(found.filter(({ fix }) => fix !== undefined).length, 1)
    same(found[7], {
      severity: "warning",
      node: "N7",
      nodeId: "id of N7",
      path: "nodes[8]",
      message: "No trigger leads to 'N7': it never runs."
    })
  })

  it("not what is reached through sub-nodes, disabled nodes, error outputs", () => {
    const given = flow(
      [
        hook,
        agent(),
        model("Model"),
        node("Store", `${ai}vectorStoreInMemory`, 1.1, {
          mode: "retrieve-as-tool",
          toolName: "store",
          toolDescription: "x"
        }),
        node("Embeddings", `${ai}embeddingsOpenAi`, 1.2, {}, { credentials: { openAiApi: { id: "1" } } }),
        set("Off", { disabled: true, onError: "continueErrorOutput" }),
        set("After")
      ],
      joined(
        ["Hook", "Agent"],
        ["Model", "Agent", "ai_languageModel"],
        ["Store", "Agent", "ai_tool"],
        ["Embeddings", "Store", "ai_embedding"],
        ["Agent", "Off"],
        ["Off", "After", "main", 1]
      )
    )
    same(all(given), [])
  })

  it("sub-nodes of nothing, and not what is disabled", () => {
    const found = all(flow([hook, model("Model"), set("Off", { disabled: true })]))
    same(found.map(({ message }) => message), ["'Model' does not serve a node that runs."])
  })

  it("not after a community node at which nothing ends: it may be a trigger", () => {
    const foo = node("Foo", "n8n-nodes-foo.bar", 1)
    same(brief(all(flow([foo, set("A")], joined(["Foo", "A"])))).map(([, path]) => path), ["nodes[0].type"])
  })
})

describe("single nodes", () => {
  const request = (name: string, more: Obj = {}) => node(name, "httpRequest", 4.2, { url: "" }, more)
  const github = (more: Obj = {}) =>
    node("G", "github", 1.1, {
      owner: { __rl: true, mode: "name", value: "a" },
      repository: { __rl: true, mode: "name", value: "b" },
      operation: "get",
      issueNumber: 1
    }, more)

  it("with parameters that n8n marks, at their paths", () => {
    const problem = only(line(request("A")))
    same([problem.severity, problem.node, problem.path], ["error", "A", "nodes[1].parameters.url"])
  })

  it("that are disabled, not; that nothing is connected to, as a warning", () => {
    same(all(line(request("A", { disabled: true }))), [])
    const found = all(flow([hook, request("A")]))
    same(found.map(({ severity }) => severity), ["warning", "warning"])
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

  it("listed whole, errors before warnings", () => {
    const nodes = Array.from({ length: 2_000 }, (_, index) => node(`N${index}`, "unknown", 1, {}, { typeVersion: "1" }))
    const severities = all(flow([hook, ...nodes])).map(({ severity }) => severity)
    same(severities.filter((each) => each === "error").length, 4_000)
    same(severities, severities.toSorted())
  })

  it("with a suggestion for the first hundred unknown names alone", () => {
    const nodes = Array.from({ length: 150 }, (_, index) => node(`N${index}`, `slac${index}`))
    let asked = 0
    const found = all(flow([hook, ...nodes]), { nearest: () => (asked++, []) })
    same([found.filter(({ severity }) => severity === "error").length, asked], [150, 100])
  })

  it("not a credential that n8n does without", () => {
    const npm = line(node("A", "npm", 1, { packageName: "effect" }))
    same(all(npm), [])
  })

  it("only the credential of the chosen kind of authentication", () => {
    const chosen = (parameters: Obj) => {
      const given = line(node("A", "httpRequest", 4.2, { url: "https://example.com", ...parameters }))
      return check(given, lookups).missingCredentials.map(({ type }) => type)
    }
    same(chosen({}), [])
    same(chosen({ authentication: "predefinedCredentialType", nodeCredentialType: "slackApi" }), ["slackApi"])
    same(chosen({ authentication: "genericCredentialType", genericAuthType: "httpHeaderAuth" }), ["httpHeaderAuth"])
  })

  const fields = (value: string, more: Obj = {}) =>
    line(
      node("Get Data", "noOp", 1),
      node("A", "set", 3.4, {
        assignments: { assignments: [{ id: "1", name: "x", type: "string", value }] }
      }, more)
    )

  it("with expressions that name nodes which do not exist, once for each name", () => {
    same(all(fields("={{ $('Get Data').item.json.x }}")), [])
    const problem = only(fields("={{ $('GetData').item.json.x + $node['GetData'].json.y }}"))
    same(brief([problem]), [[
      "error",
      "nodes[2].parameters.assignments.assignments[0].value",
      "It refers to the node 'GetData', which does not exist (2 times)."
    ]])
    same(problem.fix, "Did you mean 'Get Data'?")
    same(all(fields("={{ $('GetData').item }}", { disabled: true })), [])
  })

  it.each<[name: string, type: string, version: number, parameters: Obj, path: string]>([
    ["HTML", `${base}html`, 1.2, { html: "<p>{{ $('Gone').first().json.x }}</p>" }, "html"],
    ["a form", `${base}form`, 1, {
      formFields: { values: [{ fieldType: "html", html: "{{ $('Gone').first().json.x }}" }] }
    }, "formFields.values[0].html"],
    ["SQL", `${base}postgres`, 2.5, {
      operation: "executeQuery",
      query: "SELECT {{ $('Gone').item.json.x }}",
      options: {}
    }, "query"],
    [
      "$item",
      `${base}filter`,
      2.2,
      { options: { ignoreCase: "={{ $item(0).$node['Gone'].json.x }}" } },
      "options.ignoreCase"
    ]
  ])("with %s that names a node which does not exist", (_, type, version, parameters, path) => {
    const about = (workflow: Obj) =>
      all(workflow).flatMap(({ message, path, severity }) => message.includes("'Gone'") ? [[severity, path]] : [])
    const user = node("A", type, version, parameters)
    same(about(line(user)), [["error", `nodes[1].parameters.${path}`]])
    same(about(line(node("Gone", "noOp", 1), user)), [])
  })

  it("with code that does not parse: what it may name is not looked for", () => {
    same(
      only(fields("={{ $('Gone').item.json.x + }} {{ 1 }}")).message,
      "{{ $('Gone').item.json.x + }} does not parse: Unexpected token."
    )
  })

  it.each([
    [`={{ $fromAI("order id") }}`, "'order id'"],
    ["={{ $fromAi( 'a', 'b') + $fromAI() }}", "''"],
    [`={{ $fromAI(\`${"k".repeat(65)}\`, "d") }}`, `'${"k".repeat(65)}'`]
  ])("with a key that $fromAI does not take: %s", (text, key) => {
    const problem = only(fields(text))
    same([problem.severity, problem.message], ["error", `${key} is not a key that $fromAI accepts: the agent fails.`])
  })

  it("with a schedule that n8n never starts", () => {
    const every = (hoursInterval: number) =>
      flow(
        [node("S", "scheduleTrigger", 1.2, { rule: { interval: [{}, { field: "hours", hoursInterval }] } }), set("A")],
        joined(["S", "A"])
      )
    const problem = only(every(1.5))
    same([problem.severity, problem.path, problem.message], [
      "warning",
      "nodes[0].parameters.rule.interval[1]",
      "n8n never starts it by this rule: hoursInterval 1.5 is not a positive whole number."
    ])
    same(all(every(2)), [])
    for (const wrong of [0, -1, 0.5]) same(all(every(wrong)).length, 1)
    const of = (typeVersion: number, rule: Obj) =>
      all(
        flow([node("S", "scheduleTrigger", typeVersion, { rule: { interval: [rule] } }), set("A")], joined(["S", "A"]))
      )
        .length
    same(
      [
        of(1.3, { field: "minutes", minutesInterval: 60 }),
        of(1.3, { field: "hours", hoursInterval: 24 }),
        of(1.2, { field: "cronExpression", expression: "0 0 31 4 *" }),
        of(1.2, { field: "cronExpression", expression: "0 0 30 4 *" }),
        of(1.2, { field: "minutes", minutesInterval: "={{ $json.x }}" })
      ],
      [1, 1, 1, 0, 0]
    )
  })

  it("with keys that $fromAI takes, or that are not known before it runs", () => {
    same(all(fields("={{ $fromAI('order_Id-1', 'the (id), see \"x\"', 'string') + $fromAI($json.key) }}")), [])
  })

  it("with expressions that do not parse", () => {
    const problem = only(fields("=Hello {{ $json.a +* 1 }}"))
    same([problem.severity, problem.message], ["error", "{{ $json.a +* 1 }} does not parse: Unexpected token."])
  })

  it("with expressions that do not begin as one: a warning", () => {
    const { fix, path, severity } = only(fields("Hello {{ $json.name }}"))
    same([severity, path, fix], [
      "warning",
      "nodes[2].parameters.assignments.assignments[0].value",
      "Start it with '='."
    ])
    // Where the value cannot be chosen, that is said already.
    const method = line(
      node("A", "httpRequest", 4.2, { method: "{{ $json.method }}", url: "https://example.com" })
    )
    same(all(method).map(({ path }) => path), ["nodes[1].parameters.method"])
  })

  it("with scripts that name nodes which do not exist: a warning", () => {
    const code = line(node("A", "code", 2, { jsCode: "return $('Gone').all()" }))
    same([only(code).severity, only(code).path], ["warning", "nodes[1].parameters.jsCode"])
  })

  it("ignores hidden parameters", () => {
    const hidden = { url: "https://example.com", sendBody: false, jsonBody: "={{ $('Gone').item }}" }
    same(all(line(node("A", "httpRequest", 4.2, hidden))), [])
  })
})

describe("whatever it is", () => {
  const types = ["n8n-nodes-base.switch", "n8n-nodes-base.webhook", `${ai}agent`, `${ai}code`, "n8n-nodes-foo.bar", "x"]
  const Name = Schema.Literals(["A", "B", "constructor", "__proto__", ""])
  const Sketch = Schema.Struct({
    name: Json,
    nodes: Schema.Array(Schema.Union([
      Json,
      Schema.Struct({
        name: Schema.Union([Name, Json]),
        type: Schema.Union([Schema.Literals(types), Json]),
        typeVersion: Schema.Union([Schema.Literals([1, 2, 3]), Json]),
        parameters: Schema.Union([
          Json,
          Schema.Record(Schema.Literals(["rules", "inputs", "jsCode", "options"]), Json)
        ]),
        credentials: Json,
        onError: Json
      })
    ])),
    connections: Schema.Union([
      Json,
      Schema.Record(
        Name,
        Schema.Record(
          Schema.Literals(["main", "ai_tool", "constructor"]),
          Schema.Array(Schema.Array(Schema.Union([Json, Schema.Struct({ node: Name, type: Key, index: Json })])))
        )
      )
    ])
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
