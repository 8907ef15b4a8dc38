/** References of workflows, judged and run: what is called an error fails in n8n's own run, and nothing else does. */
import { assert, type Vitest } from "@effect/vitest"
import * as Effect from "effect/Effect"
import type * as Services from "../../../src/app/Services.ts"
import { type Obj, obj, str } from "../../../src/base/Json.ts"
import { N8nClient } from "../../../src/n8n/N8nClient.ts"
import * as tools from "../../../src/tools/index.ts"
import { joined, node } from "../../support/workflows.ts"
import { RealN8n } from "./RealN8n.ts"
import * as scenarios from "./scenarios.ts"

type It = Vitest.MethodsNonLive<RealN8n | N8nClient | Services.Services>

const credential = Effect.fnUntraced(function*(name: string, type: string, data: Obj) {
  const { body } = yield* scenarios.request("POST", "credentials", { name, type, data })
  return { id: str(obj(body)?.["id"]) ?? "", name }
})

const basic = { user: "u", password: "p" }

const locator = (value: string) => ({ __rl: true, mode: "id", value })

/** A webhook that waits for the node after it. */
const flow = (second: ReturnType<typeof node>, settings: Obj = {}) => {
  const path = `refs-${crypto.randomUUID()}`
  const hook = node("Hook", "webhook", 2, { path, httpMethod: "POST", responseMode: "lastNode" }, { webhookId: path })
  return {
    path,
    workflow: {
      name: path,
      nodes: [hook, second],
      connections: joined(["Hook", second.name]),
      settings: { executionOrder: "v1", ...settings }
    }
  }
}

const about = /credential|error workflow|calls the workflow|data table/

/** Judges a workflow before and after it is created, and runs it by n8n. */
const tried = Effect.fnUntraced(function*({ path, workflow }: ReturnType<typeof flow>) {
  const severities = ({ problems }: { readonly problems: ReadonlyArray<{ message: string; severity: string }> }) =>
    problems.flatMap(({ message, severity }) => about.test(message) ? [severity] : [])
  const before = severities(yield* tools.validateWorkflow.call({ workflow }))
  const { active, id, problems = [], warnings = [] } = yield* tools.createWorkflow.call({ ...workflow, active: true })
  const stored = (yield* N8nClient.use((n8n) => n8n.getWorkflow(id))).nodes[1]?.["credentials"]
  const after = severities(yield* tools.validateWorkflow.call({ workflowId: id }))
  const status = active ? (yield* scenarios.callWebhook(path, { body: {} })).status : "not published"
  yield* tools.deleteWorkflow.call({ id, confirm: true })
  return {
    before,
    stored,
    after,
    status,
    warns: [...warnings, ...problems.map((each) => String(each["message"]))].some((each) => about.test(each))
  }
})

/**
 * Adds the tests of references to a suite. The releases differ: n8n 1 lists no credentials and no tables, looks at called
 * workflows only in a run, and calls those that are not published.
 */
export const referring = (it: It, { v2 }: { readonly v2: boolean }) => {
  it.effect(
    "a credential in each of its forms is bound, judged and run as the answer says",
    () =>
      Effect.gen(function*() {
        const { url } = yield* RealN8n
        const some = crypto.randomUUID().slice(0, 8)
        // The first of its type: what n8n would take for a name without an id.
        yield* credential(`Other ${some}`, "httpBasicAuth", basic)
        const login = yield* credential(`Login ${some}`, "httpBasicAuth", basic)
        const twice = yield* credential(`Twice ${some}`, "httpBasicAuth", basic)
        yield* credential(twice.name, "httpBasicAuth", basic)
        const header = yield* credential(`Header ${some}`, "httpHeaderAuth", { name: "x", value: "y" })
        const http = (
          httpBasicAuth: unknown,
          more: Obj = {},
          parameters: Obj = { authentication: "genericCredentialType" }
        ) =>
          node("Get", "httpRequest", 4.2, {
            url: `${url.href}healthz`,
            genericAuthType: "httpBasicAuth",
            options: {},
            ...parameters
          }, { credentials: { httpBasicAuth }, ...more })
        const foreign = { id: "ZZforeign0000001", name: `Nobody ${some}` }
        const nobody = { id: null, name: foreign.name }
        type Case = readonly [
          what: string,
          ReturnType<typeof node>,
          stored: unknown,
          before: string,
          after: string,
          ok: boolean
        ]
        const cases: ReadonlyArray<Case> = [
          ["right", http(login), login, "", "", true],
          ["foreign id", http(foreign), foreign, "error", "error", false],
          ["foreign id, known name", http({ ...login, id: foreign.id }), login, "warning", "", true],
          ["of another type", http(header), header, "error", "error", false],
          ["name alone", http({ name: login.name }), login, "warning", "", true],
          ["name alone, twice", http({ name: twice.name }), { ...twice, id: null }, "error", "error", false],
          ["name alone, unknown", http({ name: nobody.name }), nobody, "error", "error", false],
          ["text", http(login.name), login, "warning", "", true],
          ["text, unknown", http(nobody.name), nobody.name, "error", "error", false],
          ["disabled", http(foreign, { disabled: true }), foreign, "", "", true],
          ["not read", http(foreign, {}, { authentication: "none" }), foreign, "", "", true]
        ]
        for (const [what, second, stored, before, after, isOk] of cases) {
          const seen = yield* tried(flow(second))
          const [binding, judgedBefore, judgedAfter] = [
            obj(seen.stored)?.["httpBasicAuth"],
            seen.before.join(),
            seen.after.join()
          ]
          assert.deepStrictEqual([what, binding, seen.status === 200], [what, stored, isOk])
          // n8n 1 does not list credentials: nothing is said of those that it may have.
          assert.deepStrictEqual([what, judgedBefore, judgedAfter], [what, v2 ? before : "", v2 ? after : ""])
          assert.strictEqual(seen.warns, v2 && after !== "", what)
        }
      }),
    240_000
  )

  it.effect(
    "a workflow or data table that is missing or cannot be called fails in n8n's run",
    () =>
      Effect.gen(function*() {
        const start = node("Start", "executeWorkflowTrigger", 1.1, { inputSource: "passthrough" })
        const made = Effect.fnUntraced(function*(nodes: ReadonlyArray<Obj>, settings: Obj = {}, active = v2) {
          const name = `callee ${crypto.randomUUID()}`
          const { id } = yield* tools.createWorkflow.call({ name, nodes, connections: {}, settings, active })
          return id
        })
        const call = (id: string) => node("Call", "executeWorkflow", 1.2, { workflowId: locator(id), options: {} })
        const row = node("Rows", "dataTable", 1, {
          operation: "get",
          dataTableId: locator("abcdefghijklmnop"),
          matchType: "anyCondition",
          filters: {}
        })
        const bare = flow(node("End", "noOp"))
        const sub = yield* made([start])
        const callees = {
          draft: yield* made([start], {}, false),
          bare: yield* made(bare.workflow.nodes, {}, true),
          closed: yield* made([start], { callerPolicy: "none" })
        }
        type Case = readonly [what: string, ReturnType<typeof node>, judged: string, status: unknown]
        const cases: ReadonlyArray<Case> = [
          ["sub", call(sub), "", 200],
          ["missing", call("NoSuchWorkflow01"), "error", v2 ? "not published" : 500],
          ["draft", call(callees.draft), v2 ? "error" : "", v2 ? "not published" : 200],
          ["bare", call(callees.bare), "error", 500],
          ["closed", call(callees.closed), "error", 500],
          ["table", row, v2 ? "warning" : "", 500]
        ]
        for (const [what, second, judged, status] of cases) {
          const { after, status: seen } = yield* tried(flow(second))
          assert.deepStrictEqual([what, after.join(), seen], [what, judged, status])
        }
      }),
    240_000
  )

  it.effect(
    "an error workflow that is missing or has no Error Trigger is named, and starts nothing",
    () =>
      Effect.gen(function*() {
        const { id: plain } = yield* tools.createWorkflow.call({
          name: `plain ${crypto.randomUUID()}`,
          nodes: flow(node("End", "noOp")).workflow.nodes,
          connections: {},
          active: true
        })
        const stop = node("Stop", "stopAndError", 1, { errorMessage: "boom" })
        for (const [errorWorkflow, judged] of [["NoSuchWorkflow01", "warning"], [plain, "warning"], ["DEFAULT", ""]]) {
          const { after, status, warns } = yield* tried(flow(stop, { errorWorkflow }))
          assert.deepStrictEqual([errorWorkflow, after.join(), warns, status], [
            errorWorkflow,
            judged,
            judged !== "",
            500
          ])
        }
        const { executions } = yield* N8nClient.use((n8n) => n8n.listExecutions({ workflowId: plain, limit: 5 }))
        assert.deepStrictEqual(executions.filter(({ mode }) => mode === "error").map(({ status }) => status), [])
      }),
    120_000
  )
}
