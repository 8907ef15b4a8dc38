/** Compares the catalogue and the validation with what a real n8n publishes and refuses. */
import { assert, type Vitest } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import type * as Services from "../../../src/app/Services.ts"
import type { Obj } from "../../../src/base/Json.ts"
import * as Evaluate from "../../../src/catalogue/types/Evaluate.ts"
import * as NodeDetails from "../../../src/catalogue/types/NodeDetails.ts"
import type * as N8nClient from "../../../src/n8n/N8nClient.ts"
import * as tools from "../../../src/tools/index.ts"
import * as nodeTypes from "../../support/nodeTypes.ts"
import type { RealN8n } from "./RealN8n.ts"

const evaluate = await Effect.runPromise(Evaluate.make)

type It = Vitest.MethodsNonLive<RealN8n | N8nClient.N8nClient | Services.Services>

const node = (name: string, type: string, typeVersion: number, parameters: Obj, more: Obj = {}) => ({
  id: name,
  name,
  type,
  typeVersion,
  position: [0, 0],
  parameters,
  ...more
})

const hook = () =>
  node("Hook", "n8n-nodes-base.webhook", 2, { path: `v-${crypto.randomUUID()}` }, { webhookId: crypto.randomUUID() })

const chain = (names: ReadonlyArray<string>) =>
  Object.fromEntries(
    names.slice(1).map((to, index) => [names[index], { main: [[{ node: to, type: "main", index: 0 }]] }])
  )

const workflow = (name: string, nodes: ReadonlyArray<ReturnType<typeof node>>, connected = nodes) => ({
  name,
  nodes,
  connections: chain(connected.map((each) => each.name)),
  settings: { executionOrder: "v1" }
})

const http = (parameters: Obj, more?: Obj) => node("Get", "n8n-nodes-base.httpRequest", 4.2, parameters, more)
const slack = (more?: Obj) =>
  node("Post", "n8n-nodes-base.slack", 2.2, {
    resource: "message",
    operation: "post",
    select: "channel",
    channelId: { __rl: true, mode: "id", value: "C0122KQ70S7E" },
    text: "hi"
  }, more)
const credentials = { credentials: { slackApi: { id: "abcdefghijklmnop", name: "Slack" } } }

/** Workflows that n8n 2.x publishes and refuses. */
const published = [
  workflow("plain", [hook(), http({ url: "https://example.com" }), slack(credentials)]),
  workflow("faults in a disabled node", [hook(), http({ url: "" }, { disabled: true })]),
  workflow("faults in a node that nothing leads to", [hook(), http({ url: "" })], [hook()])
]
const refused = [
  workflow("a required parameter is empty", [hook(), http({ url: "" })]),
  workflow("a required parameter is missing", [hook(), http({})]),
  workflow("a type that is not there", [hook(), node("X", "n8n-nodes-base.htpRequest", 1, {})]),
  workflow("a version that is not there", [hook(), node("X", "n8n-nodes-base.set", 9, {})]),
  workflow("no credential", [hook(), slack()]),
  workflow("no such resource", [
    hook(),
    node("X", "n8n-nodes-base.googleSheets", 4.5, {
      documentId: { __rl: true, mode: "url", value: "https://example.com/none" },
      sheetName: { __rl: true, mode: "id", value: "gid=0" }
    }, { credentials: { googleSheetsOAuth2Api: { id: "abcdefghijklmnop", name: "Sheets" } } })
  ])
]

const create = (given: ReturnType<typeof workflow>) => tools.createWorkflow.call({ ...given, active: true, raw: false })

/** For n8n's own tests, or switched off unless told. */
const notOffered = new Set(
  ["dynamicCredentialCheck", "e2eTest", "executeCommand"].map((name) => `n8n-nodes-base.${name}`)
)

/** A node of every type that takes and gives items, as node_get's example has it, with credentials. */
const examples = () =>
  [...nodeTypes.all.values()].flatMap((nodeType) => {
    const { credentials = [], example, inputs = [], name, outputs = [], trigger, type, version } = Result.getOrThrow(
      NodeDetails.details(nodeType, {}, evaluate)
    )
    const passes = [inputs, outputs].every((ports) => ports.some((port) => port.startsWith("main")))
    if (notOffered.has(type) || trigger || !passes || inputs.some((port) => port.includes("(required)"))) return []
    const given = Object.fromEntries(credentials.map((each) => [each.type, { id: "abcdefghijklmnop", name: "some" }]))
    return [node(`${name} ${type}`, type, version, example?.parameters as Obj, { credentials: given })]
  })

/** Adds the tests of the catalogue to a suite. */
export const validation = (it: It, v2: boolean) => {
  it.effect("validate_workflow: valid is what this n8n publishes", () =>
    Effect.gen(function*() {
      for (const given of published) {
        const { active, id } = yield* create(given)
        assert.isTrue(active, given.name)
        assert.isTrue((yield* tools.validateWorkflow.call({ workflowId: id })).valid, given.name)
      }
      for (const given of refused) {
        const { active, id, warnings } = yield* create(given)
        const { problems, valid } = yield* tools.validateWorkflow.call({ workflowId: id })
        assert.isFalse(valid, given.name)
        assert.isTrue(problems.some(({ node, severity }) => severity === "error" && node !== "Hook"), given.name)
        // 1.x looks at nodes when they run.
        if (v2) assert.isFalse(active, `${given.name}: ${warnings?.join()}`)
      }
    }))

  if (v2) {
    it.effect("node_get: n8n publishes its examples, all in one workflow", () =>
      Effect.gen(function*() {
        const nodes = [hook(), ...examples()]
        assert.isAbove(nodes.length, 300)
        const { active, id, warnings } = yield* create(workflow("examples", nodes))
        assert.isTrue(active, warnings?.join())
        const { problems } = yield* tools.validateWorkflow.call({ workflowId: id })
        assert.deepStrictEqual(problems.filter(({ severity }) => severity === "error"), [])
        yield* tools.deleteWorkflow.call({ id, confirm: true, raw: false })
      }))
  } else {
    it.effect("validate_workflow: what this older n8n lacks is named", () =>
      Effect.gen(function*() {
        const newer = workflow("newer", [
          hook(),
          node("Get", "n8n-nodes-base.httpRequest", 4.5, { url: "https://a.b" })
        ])
        const { problems } = yield* tools.validateWorkflow.call({ workflow: newer })
        const problem = problems.find(({ path }) => path === "nodes[1].typeVersion")
        assert.include(problem?.message, "1.123.81")
        assert.include(problem?.fix, "Write 4.3")
        const { typeVersion: _, ...bare } = http({ url: "https://example.com" })
        const { id } = yield* tools.createWorkflow.call({ ...workflow("bare", [hook()]), nodes: [bare], raw: false })
        assert.isTrue(
          (yield* tools.validateWorkflow.call({ workflowId: id })).problems.every(({ path }) =>
            path !== "nodes[0].typeVersion"
          )
        )
      }))
  }
}
