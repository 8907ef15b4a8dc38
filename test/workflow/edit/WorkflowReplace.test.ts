import { assert, describe, it } from "@effect/vitest"
import { type Obj, obj } from "../../../src/base/Json.ts"
import type * as WorkflowEdit from "../../../src/workflow/edit/WorkflowEdit.ts"
import { joined } from "../../support/workflows.ts"
import { agent, ai, base, edit, flow, hook, lookups, model, node, nodeOf, refusal, set } from "./edits.ts"

const same = (actual: unknown, expected: unknown) => assert.deepStrictEqual(actual, expected)

const operation = (node: string, type: string, more: Obj = {}) =>
  ({ op: "replaceNode", node, type, ...more }) as WorkflowEdit.Operation
const replace = (workflow: Obj, node: string, type: string, parameters: Obj = {}) => {
  const { reports, ...edited } = edit(workflow, operation(node, type, { parameters }))
  const [{ nodeId, ...report } = { nodeId: "", maintainedConnections: [], removedConnections: [] }] = reports
  return { ...edited, nodeId, report }
}

describe("replaceNode", () => {
  it("keeps a node's other properties, and the order of its keys", () => {
    const old = set("A", { notes: "n", disabled: true, onError: "continueRegularOutput", position: [5, 6], zeta: 1 })
    const { changes, nodeId, workflow } = replace(flow([hook, old]), "id of A", `${base}noOp`)
    same(JSON.stringify(nodeOf(workflow, "A")), JSON.stringify({ ...old, type: `${base}noOp`, typeVersion: 1 }))
    same(nodeId, "id of A")
    same(changes, [`replaced 'A' (${base}set 3.4 → ${base}noOp 1)`])
  })

  const parametersOf = (...args: Parameters<typeof replace>) => nodeOf(replace(...args).workflow, args[1])["parameters"]

  it("keeps parameters of the same name that are valid there, and drops the rest", () => {
    const own = { operation: "post", text: "hi", select: "channel", otherOptions: { mrkdwn: true } }
    const slack = node("Send", `${base}slack`, 2.3, { resource: "message", ...own }, { credentials: { slackApi: {} } })
    const { changes, workflow } = replace(flow([slack]), "Send", `${base}telegram`, { chatId: "5" })
    const made = nodeOf(workflow, "Send")
    same([made["parameters"], "credentials" in made], [{ resource: "message", text: "hi", chatId: "5" }, false])
    assert.include(changes[0], "; dropped the parameters operation, select, otherOptions")
  })

  it("prefers the given parameters, and drops those that they hide", () => {
    const old = { url: "a", sendBody: true, jsonBody: "{}", specifyBody: "json" }
    const given = { url: "b", sendBody: false }
    same(
      parametersOf(flow([node("Get", `${base}httpRequest`, 4.2, old)]), "Get", `${base}httpRequestTool`, given),
      given
    )
  })

  it("of the same type brings the newest version, and keeps all", () => {
    const request = node("Get", `${base}httpRequest`, 1, { url: "a", old: 1 }, { credentials: { x: { id: "1" } } })
    const made = nodeOf(replace(flow([request]), "Get", `${base}httpRequest`).workflow, "Get")
    same(made, { ...request, typeVersion: lookups().newest(`${base}httpRequest`) })
  })

  it("keeps credentials of types that the new type has", () => {
    const [githubApi, githubOAuth2Api, other] = [{ id: "1", name: "g" }, { id: "2", name: "o" }, { id: "3" }]
    const credentials = { githubApi, githubOAuth2Api, other }
    const github = flow([node("G", `${base}githubTrigger`, 1, {}, { credentials })])
    const generic = { authentication: "genericCredentialType", genericAuthType: "other" }
    const left = (type: string, parameters: Obj = {}) =>
      nodeOf(replace(github, "G", base + type, parameters).workflow, "G")["credentials"]
    same([left("github"), left("httpRequest", generic)], [{ githubApi, githubOAuth2Api }, { other }])
  })

  it("adds a webhook if needed, and removes it if not", () => {
    const { webhookId: _, ...noOp } = nodeOf(replace(flow([hook]), "Hook", `${base}noOp`).workflow, "Hook")
    same(_, undefined)
    same(nodeOf(replace(flow([noOp]), "Hook", `${base}webhook`).workflow, "Hook")["webhookId"], "new-1")
    same(nodeOf(replace(flow([hook]), "Hook", `${base}formTrigger`).workflow, "Hook")["webhookId"], "w")
  })

  it("keeps connections whose ports the new type has, and says which go, and why", () => {
    const check = node("If", `${base}if`, 2.2)
    const workflow = flow(
      [hook, check, set("A"), set("B")],
      joined(["Hook", "If"], ["If", "A"], ["If", "B", "main", 1], ["A", "B"], ["A", "Gone"])
    )
    const { report, workflow: edited } = replace(workflow, "If", `${base}noOp`)
    same(report, {
      maintainedConnections: ["'Hook' main[0] → main[0]", "main[0] → 'A' main[0]"],
      removedConnections: ["main[1] → 'B' main[0]: 'If' has 1 main output: main[1] is not one of them."]
    })
    same(edited["connections"], joined(["Hook", "If"], ["If", "A"], ["A", "B"], ["A", "Gone"]))
    const trigger = replace(workflow, "If", `${base}manualTrigger`)
    same(trigger.report.removedConnections, [
      "'Hook' main[0] → main[0]: 'If' has no main input; it has none.",
      "main[1] → 'B' main[0]: 'If' has 1 main output: main[1] is not one of them."
    ])
    const whole = replace(workflow, "If", `${base}switch`, { mode: "expression", numberOutputs: 2 })
    same(whole.report.removedConnections, [])
    assert.deepStrictEqual(whole.workflow["connections"], workflow["connections"])
  })

  it("keeps what serves a node only where it is taken", () => {
    const workflow = flow(
      [hook, agent(), model("Model"), node("Calc", `${ai}toolCalculator`, 1), set("A")],
      joined(["Hook", "Agent"], ["Model", "Agent", "ai_languageModel"], ["Calc", "Agent", "ai_tool"], ["Agent", "A"])
    )
    const link = "ai_languageModel → 'Agent' ai_languageModel"
    same(replace(workflow, "Agent", `${ai}chainLlm`).report.removedConnections, [
      "'Calc' ai_tool → ai_tool: 'Agent' has no ai_tool input; it has main and ai_languageModel."
    ])
    same(replace(workflow, "Model", `${ai}lmChatAnthropic`).report.maintainedConnections, [link])
    same(replace(workflow, "Model", `${ai}lmOllama`).report, {
      maintainedConnections: [],
      removedConnections: [`${link}: 'Agent' does not take a '${ai}lmOllama' as Chat Model.`]
    })
  })

  it("moves what starts at the output for errors to that of the new type, and keeps the label of an output", () => {
    const failing = set("A", { onError: "continueErrorOutput" })
    const workflow = flow([hook, failing, set("B"), set("C")], joined(["Hook", "A"], ["A", "B"], ["A", "C", "main", 1]))
    const { report, workflow: edited } = replace(workflow, "A", `${base}if`)
    same(report.maintainedConnections.slice(1), ["main[0] → 'B' main[0]", "main[2] → 'C' main[0]"])
    same(edited["connections"], joined(["Hook", "A"], ["A", "B"], ["A", "C", "main", 2]))
    same(replace(edited, "A", `${base}set`).workflow["connections"], workflow["connections"])
    const old = [node("Loop", `${base}splitInBatches`, 2), set("Work"), set("Done")]
    const loop = flow(old, joined(["Loop", "Work"], ["Loop", "Done", "main", 1]))
    const newer = replace(loop, "Loop", `${base}splitInBatches`).workflow
    same(newer["connections"], joined(["Loop", "Done"], ["Loop", "Work", "main", 1]))
  })

  it("of a node that is connected to itself or to a removed node", () => {
    const workflow = flow([set("A")], joined(["A", "A"], ["A", "Gone"], ["Gone", "A"]))
    const { report, workflow: edited } = replace(workflow, "A", `${base}noOp`)
    same([report.maintainedConnections, report.removedConnections], [["main[0] → 'A' main[0]"], []])
    assert.deepStrictEqual(edited["connections"], workflow["connections"])
    same(
      obj(replace(workflow, "A", `${base}manualTrigger`).workflow["connections"]),
      joined(["A", "Gone"], ["Gone", "A"])
    )
  })

  it("of types that are not known, or of a node that is hardly one", () => {
    const type = "n8n-nodes-foo.bar"
    const nodes = [node("Foo", type, 3, { a: 1 }), set("A")]
    const workflow = flow(nodes, joined(["Foo", "A", "main", 4], ["A", "Foo", "main", 0, 2]))
    const { report, workflow: edited } = replace(workflow, "A", type, { b: 1 })
    assert.deepInclude(nodeOf(edited, "A"), { typeVersion: 3, parameters: { b: 1 } })
    same(report.removedConnections, [])
    same(replace(workflow, "Foo", `${base}set`).report.removedConnections.length, 2)
    const odd = replace({ nodes: [{ id: "x", parameters: "p" }] }, "x", `${base}noOp`)
    same(odd.workflow, { nodes: [{ id: "x", parameters: {}, type: `${base}noOp`, typeVersion: 1 }] })
  })

  it.each<[node: string, type: string, more: Obj, field: string]>([
    ["B", "set", {}, "node"],
    ["A", "sett", {}, "type"],
    ["A", "httpRequest", { typeVersion: 9 }, "typeVersion"],
    ["A", "httpRequest", { parameters: { metod: "x" } }, "parameters.metod"]
  ])("is refused where node, type, version or a parameter does not exist: %s %s %j", (node, type, more, field) => {
    same(refusal(flow([set("A")]), operation(node, base + type, more)).field, `operations[0].${field}`)
  })

  it("says what stayed and what did not, one line for each connection that is gone", () => {
    const kept = { onError: "continueErrorOutput", retryOnFail: true, maxTries: 4, executeOnce: true, disabled: true }
    const http = node("Call", `${base}httpRequest`, 4.2, { url: "a", method: "POST", jsonBody: "{}" }, {
      credentials: { githubApi: { id: "1" }, slackApi: { id: "2" } },
      ...kept
    })
    const workflow = flow(
      [hook, http, set("A"), set("B"), set("Use", { parameters: { a: "={{ $('Call').item.json.x }}" } })],
      joined(["Hook", "Call"], ["Call", "A"], ["Call", "B", "main", 1]),
      { pinData: { Call: [{ json: {} }] } }
    )
    const { changes, workflow: edited } = replace(workflow, "Call", `${base}github`)
    same(changes, [
      `replaced 'Call' (${base}httpRequest 4.2 → ${base}github 1.1), with 3 connections, the credential githubApi; ` +
      "dropped the parameters url, method, jsonBody, the credential slackApi"
    ])
    assert.deepInclude(nodeOf(edited, "Call"), kept)
    same([edited["pinData"], nodeOf(edited, "Use")], [workflow["pinData"], nodeOf(workflow, "Use")])
    same(replace(workflow, "Call", `${base}if`).changes, [
      `replaced 'Call' (${base}httpRequest 4.2 → ${base}if 2.3), with 3 connections; ` +
      "dropped the parameters url, method, jsonBody, the credentials githubApi, slackApi"
    ])
    same(replace(workflow, "Call", `${base}manualTrigger`).changes.slice(1), [
      "Call: removed the connection 'Hook' main[0] → main[0]: 'Call' has no main input; it has none."
    ])
  })

  it("never makes a branch an output for errors", () => {
    const check = node("If", `${base}if`, 2.2, {}, { onError: "continueErrorOutput" })
    const links = [["If", "A"], ["If", "B", "main", 1], ["If", "C", "main", 2]] as const
    const { report, workflow } = replace(
      flow([check, set("A"), set("B"), set("C")], joined(...links)),
      "If",
      `${base}set`
    )
    same(report.removedConnections, ["main[1] → 'B' main[0]: the new type has no output for main[1] 'false'."])
    same(workflow["connections"], joined(["If", "A"], ["If", "C", "main", 1]))
  })

  it("of an If by a Switch keeps the branches whose rules are given", () => {
    const check = node("If", `${base}if`, 2.2, { conditions: { conditions: [] } })
    const workflow = flow([hook, check, set("A"), set("B")], joined(["If", "A"], ["If", "B", "main", 1]))
    const rules = (count: number) => ({
      rules: { values: Array.from({ length: count }, () => ({ conditions: { conditions: [] } })) }
    })
    same(replace(workflow, "If", `${base}switch`, rules(2)).workflow["connections"], workflow["connections"])
    const { changes, workflow: edited } = replace(workflow, "If", `${base}switch`, rules(1))
    same(edited["connections"], joined(["If", "A"]))
    assert.include(changes[0], "dropped the parameter conditions")
    assert.match(String(changes.at(-1)), /^If: removed the connection main\[1\] → 'B'/)
  })

  it("takes a version, a null that removes, and a node named as its type", () => {
    const http = node("httpRequest", `${base}httpRequest`, 1, { url: "a", method: "GET" })
    const { workflow } = edit(
      flow([http]),
      operation("httpRequest", "httpRequest", { typeVersion: 4.2, parameters: { method: null } })
    )
    same(nodeOf(workflow, "httpRequest"), { ...http, typeVersion: 4.2, parameters: { url: "a" } })
    const old = edit(workflow, operation("httpRequest", "set", { typeVersion: 2 }))
    assert.deepInclude(nodeOf(old.workflow, "httpRequest"), { type: `${base}set`, typeVersion: 2 })
  })

  it("of the same type, version and parameters changes nothing, also not a redacted secret", () => {
    const again = edit(flow([set("A")]), operation("A", "set", { typeVersion: 3.4 }))
    same([again.changes, again.workflow], [["'A' already has this type, version and parameters"], flow([set("A")])])
    const secret = flow([node("Sign", `${base}crypto`, 1, { action: "hmac", secret: "hunter2" })])
    const shown = operation("Sign", "crypto", { typeVersion: 1, parameters: { secret: "[redacted]" } })
    same(edit(secret, shown).workflow, secret)
  })
})
