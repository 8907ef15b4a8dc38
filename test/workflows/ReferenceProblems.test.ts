import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { obj } from "../../src/base/Json.ts"
import * as tools from "../../src/tools/index.ts"
import { joined, node, workflow } from "../support/workflows.ts"
import { inMemory, type Needs } from "../support/world.ts"

const credentials = [
  { id: "other", name: "Other", type: "httpBasicAuth" },
  { id: "login", name: "Login", type: "httpBasicAuth" },
  { id: "twice1", name: "Twice", type: "httpBasicAuth" },
  { id: "twice2", name: "Twice", type: "httpBasicAuth" },
  { id: "header", name: "Header", type: "httpHeaderAuth" }
]

const seed = {
  credentials,
  executions: [],
  workflows: [
    workflow("errors", [node("On error", "errorTrigger")], { active: true }),
    workflow("sub", [node("Start", "executeWorkflowTrigger")], { active: true }),
    workflow("draft", [node("Start", "executeWorkflowTrigger")], { active: false }),
    workflow("bare", [node("Hook", "webhook", 2, { path: "bare" })], { active: true }),
    workflow("closed", [node("Start", "executeWorkflowTrigger")], { active: true, settings: { callerPolicy: "none" } }),
    workflow("gone", [node("Start", "executeWorkflowTrigger")], { isArchived: true })
  ]
}

const hook = node("Hook", "webhook", 2, { path: "x" }, { webhookId: "h" })
const http = (value: unknown, more: object = {}) =>
  node("Get", "httpRequest", 4.2, {
    url: "https://example.com",
    authentication: "genericCredentialType",
    genericAuthType: "httpBasicAuth",
    options: {}
  }, { credentials: { httpBasicAuth: value }, ...more })
const call = (id: string, type = "executeWorkflow") =>
  node("Call", type, 1.2, { workflowId: { __rl: true, mode: "id", value: id }, options: {} })

const flow = (second: object, settings: { readonly [key: string]: unknown } = {}) => ({
  name: "Flow",
  nodes: [hook, { ...second } as typeof hook],
  connections: joined(["Hook", String(obj(second)?.["name"])]),
  settings
})

const on = <Eff extends Effect.Effect<unknown, unknown, Needs>, A>(
  body: () => Generator<Eff, A, never>,
  version: "1" | "2" = "2"
) => inMemory(body, { seed, version })

const about = /credential|binds|workflow is|the workflow '|data table/

/** Severity and message of each problem of a reference, and the credentials that are not set. */
const judge = (given: object) =>
  Effect.map(tools.validateWorkflow.call({ workflow: given as { [key: string]: unknown } }), (answer) => [
    ...answer.problems.filter(({ message }) => about.test(String(message))).map(({ message, severity }) =>
      `${severity}: ${message}`
    ),
    ...(answer.missingCredentials ?? []).map(({ type }) => `missing: ${type}`)
  ])

const forms: ReadonlyArray<readonly [what: string, value: unknown, on2: ReadonlyArray<string>]> = [
  ["its id", { id: "login", name: "Login" }, []],
  ["an id of another n8n", { id: "ZZ", name: "Nobody" }, [
    "error: This n8n has no credential 'Nobody' (ZZ) of the type 'httpBasicAuth': every run fails."
  ]],
  ["an id of another n8n and a name here", { id: "ZZ", name: "Login" }, [
    "warning: n8n binds it by its name to the credential 'Login' (login) of the type 'httpBasicAuth'."
  ]],
  ["an id of another type", { id: "header", name: "Header" }, [
    "error: Its credential 'Header' (header) is of the type 'httpHeaderAuth', not 'httpBasicAuth': every run fails."
  ]],
  ["a name alone that exists", { name: "Login" }, [
    "warning: n8n binds it by its name to the credential 'Login' (login) of the type 'httpBasicAuth'."
  ]],
  ["a name alone that exists twice", { name: "Twice" }, [
    "error: This n8n has 2 credentials 'Twice' of the type 'httpBasicAuth', so the name alone binds none: every run fails."
  ]],
  ["a name alone that does not exist", { name: "Nobody" }, [
    "error: This n8n has no credential 'Nobody' of the type 'httpBasicAuth': every run fails."
  ]],
  ["a text that exists", "Login", [
    "warning: n8n binds it by its name to the credential 'Login' (login) of the type 'httpBasicAuth'."
  ]],
  ["a text that does not exist", "Nobody", [
    "error: This n8n has no credential 'Nobody' of the type 'httpBasicAuth': every run fails."
  ]],
  ["nothing", {}, ["missing: httpBasicAuth"]],
  ["an empty text", "", ["missing: httpBasicAuth"]],
  ["an empty id", { id: "", name: "" }, ["missing: httpBasicAuth"]]
]

describe("a credential of a node", () => {
  for (const [what, value, expected] of forms) {
    it.effect(`by ${what} is judged by those that n8n lists`, () =>
      on(function*() {
        assert.deepStrictEqual(yield* judge(flow(http(value))), expected)
      }))
  }

  it.effect("is not judged in a disabled node, where the node does not read it, or where n8n does not list any", () =>
    Effect.gen(function*() {
      const foreign = { id: "ZZ", name: "Nobody" }
      yield* on(function*() {
        assert.deepStrictEqual(yield* judge(flow(http(foreign, { disabled: true }))), [])
        assert.deepStrictEqual(yield* judge(flow(http(foreign, { parameters: { url: "https://example.com" } }))), [])
      })
      yield* on(function*() {
        assert.deepStrictEqual(yield* judge(flow(http(foreign))), [])
        assert.deepStrictEqual(yield* judge(flow(http("Nobody"))), ["missing: httpBasicAuth"])
      }, "1")
    }))
})

describe("a workflow that another refers to", () => {
  const called: ReadonlyArray<readonly [id: string, type: string, expected: ReadonlyArray<string>, on1?: number]> = [
    ["sub", "executeWorkflow", []],
    ["nobody", "executeWorkflow", ["error: It calls the workflow 'nobody', which does not exist."], 1],
    ["draft", "executeWorkflow", ["error: It calls the workflow 'draft' (draft), which is not published."]],
    ["gone", "executeWorkflow", ["error: It calls the workflow 'gone' (gone), which is archived."], 1],
    ["bare", "executeWorkflow", [
      "error: It calls the workflow 'bare' (bare), which has no Execute Workflow Trigger."
    ], 1],
    ["nobody", "@n8n/n8n-nodes-langchain.toolWorkflow", [
      "warning: Its tool calls the workflow 'nobody', which does not exist."
    ], 1],
    ["draft", "@n8n/n8n-nodes-langchain.toolWorkflow", [
      "warning: Its tool calls the workflow 'draft' (draft), which is not published."
    ]]
  ]

  it.effect("is there, published and callable, by the rules of each n8n", () =>
    Effect.forEach(["2", "1"] as const, (version) =>
      on(function*() {
        for (const [id, type, expected, on1 = 0] of called) {
          const found = yield* judge(flow(call(id, type)))
          assert.deepStrictEqual(found, version === "2" ? expected : expected.slice(0, on1), `${id} ${version}`)
        }
      }, version)))

  it.effect("as error workflow is there, published, and has an Error Trigger; DEFAULT names nothing", () =>
    on(function*() {
      const ofError = (errorWorkflow: string, more: object = {}) =>
        judge({ ...flow(node("End", "noOp"), { errorWorkflow }), ...more })
      assert.deepStrictEqual(yield* ofError("errors"), [])
      assert.deepStrictEqual(yield* ofError("DEFAULT"), [])
      assert.deepStrictEqual(yield* ofError("NoSuchWorkflow01"), [
        "warning: Its error workflow is 'NoSuchWorkflow01', which does not exist."
      ])
      assert.deepStrictEqual(yield* ofError("sub"), [
        "warning: Its error workflow is 'sub' (sub), which has no Error Trigger."
      ])
      assert.deepStrictEqual(yield* ofError("own", { id: "own" }), [
        "warning: Its error workflow is this workflow itself, which has no Error Trigger."
      ])
      const own = { id: "own", nodes: [hook, node("On error", "errorTrigger")], connections: {} }
      assert.deepStrictEqual(yield* ofError("own", own), [])
    }))
})
