import { assert, describe, it, layer } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import * as Envelope from "../../src/answer/Envelope.ts"
import * as Hints from "../../src/answer/Hints.ts"
import * as Services from "../../src/app/Services.ts"
import * as Links from "../../src/n8n/Links.ts"
import * as N8nClient from "../../src/n8n/N8nClient.ts"
import * as FakeN8n from "../../src/testing/FakeN8n.ts"
import * as tools from "../../src/tools/index.ts"
import * as parameters from "../../src/tools/shared/Parameters.ts"
import * as Reference from "../../src/workflows/Reference.ts"

const node = { name: "Start", type: "n8n-nodes-base.manualTrigger", typeVersion: 1, parameters: {}, position: [0, 0] }
const workflow = (id: string, name: string, more = {}) => ({ id, name, nodes: [node], connections: {}, ...more })
const run = (id: string, workflowId: string) => ({ id, workflowId, status: "success", mode: "trigger", finished: true })

const seed = {
  workflows: [
    workflow("w1", "Orders"),
    workflow("w2", "Sales / Refunds"),
    workflow("w3", "Twice"),
    workflow("w4", "twice"),
    workflow("w5", "w1"),
    workflow("w6", "Caf\u00e9"),
    workflow("w7", "Old", { isArchived: true }),
    workflow("w8", "Old", { active: true })
  ],
  executions: [run("41", "w1"), run("42", "w2")]
}

const n8n = Layer.merge(FakeN8n.layer(seed), Services.layerMemory)
const base = "https://n8n.example.test/"

const workflowLinks = ["workflow/w1", "workflow/w1?x=1#y", "workflow/w1/executions/41", "workflow/w1/debug/41"]

layer(n8n)("a workflow", (it) => {
  const idOf = (id: string) => Effect.map(tools.getWorkflow.call({ id }), (answer) => answer.id)

  it.effect.each([
    ...workflowLinks.map((path) => base + path),
    `${base}projects/P1/workflow/w1`,
    ` ${base}workflow/w1 `,
    "w1",
    "Orders",
    "oRDERS "
  ])("is understood as %j", (text) =>
    Effect.gen(function*() {
      assert.strictEqual(yield* idOf(text), "w1")
    }))

  it.effect("is found by a name with a slash, in another form or of an archived one with a namesake", () =>
    Effect.gen(function*() {
      assert.strictEqual(yield* idOf("Sales / Refunds"), "w2")
      assert.strictEqual(yield* idOf("cafe\u0301"), "w6")
      assert.strictEqual(yield* idOf("Old"), "w8")
      assert.strictEqual(yield* idOf("Twice"), "w3")
    }))

  it.effect("by several names of which none is exact names their ids", () =>
    Effect.gen(function*() {
      const error = yield* Effect.flip(idOf("TWICE"))
      assert.include(error.message, "2 workflows have the name 'TWICE': 'Twice' (w3), 'twice' (w4)")
    }))

  it.effect("that is not there is the same error as before", () =>
    Effect.gen(function*() {
      const error = yield* Effect.flip(tools.getWorkflow.call({ id: "nothing" }))
      assert.deepInclude(error, { _tag: "NotFoundError", resourceId: "nothing" })
    }))

  it.effect("by a part of its name is not found, with a suggestion", () =>
    Effect.gen(function*() {
      const { hint } = yield* Effect.map(Effect.flip(tools.getWorkflow.call({ id: "order" })), Envelope.fromError)
      assert.strictEqual(hint, "Did you mean 'Orders'? list_workflows lists the workflows with their ids.")
      assert.strictEqual(yield* idOf("orders"), "w1")
    }))

  it.effect("of another n8n is refused, with the profile that has it", () =>
    Effect.gen(function*() {
      const link = "https://other.test/n8n/workflow/w1"
      const ask = Effect.map(Effect.flip(tools.getWorkflow.run({ id: link })), Envelope.fromError)
      assert.include(JSON.stringify(yield* ask), "The link is to other.test, and the connected n8n is")
      const profiles = [{ name: "prod", url: "https://other.test/n8n" }]
      assert.include(
        JSON.stringify(yield* Effect.provideService(ask, Links.Profiles, profiles)),
        "the n8n of profile 'prod'"
      )
    }))

  it.effect("is understood by every tool that takes one, and by name where it is changed", () =>
    Effect.gen(function*() {
      const link = `${base}workflow/w1`
      for (const id of [link, "Orders"]) {
        assert.strictEqual((yield* tools.getWorkflowConnections.call({ id })).name, "Orders")
        assert.isTrue((yield* tools.validateWorkflow.call({ workflowId: id })).valid)
        assert.strictEqual((yield* tools.workflowLoad.call({ workflowIdOrPath: id })).workflowId, "w1")
        assert.strictEqual((yield* tools.workflowHistory.call({ id })).id, "w1")
        assert.strictEqual((yield* tools.workflowDiff.call({ a: id, b: "Café" })).same, false)
        assert.deepStrictEqual(
          (yield* tools.listExecutions.call({ workflowId: id })).executions?.map((row) => row.id),
          ["41"]
        )
        assert.strictEqual((yield* tools.audit.call({ workflowId: id })).workflows, 1)
        assert.strictEqual((yield* tools.listWorkflows.call({ ids: [id] })).workflows[0]?.id, "w1")
        assert.deepInclude(yield* tools.updateWorkflow.call({ id, name: "Orders" }), { id: "w1" })
        const { plan } = yield* tools.bulkEdit.call({
          select: { ids: [id] },
          operations: [{ op: "settings", settings: { timezone: "Asia/Tokyo" } }],
          dryRun: true
        })
        assert.isDefined(plan)
      }
      assert.deepInclude(yield* tools.deleteWorkflow.call({ id: "w5", confirm: true }), { id: "w5" })
    }))
})

layer(n8n)("an execution", (it) => {
  it.effect.each([`${base}workflow/w1/executions/41`, `${base}executions/41`, `${base}workflow/w1/debug/41?x`])(
    "is understood as %s",
    (id) =>
      Effect.gen(function*() {
        assert.strictEqual(yield* Schema.decodeEffect(Schema.String.pipe(parameters.execution))(id), "41")
      })
  )

  it.effect("is not a workflow, and the error says which call tells more", () =>
    Effect.gen(function*() {
      const wrong = yield* Effect.flip(tools.getExecution.call({ id: `${base}workflow/w1` }))
      assert.include(Hints.text(wrong.hint), "list_executions(workflowId: 'w1')")
      const other = yield* Effect.flip(tools.getWorkflow.call({ id: `${base}executions/41` }))
      assert.include(Hints.text(other.hint), "get_execution(id: '41')")
    }))
})

describe("a reference", () => {
  it.effect("keeps its version, also that of a link, and costs a request only after the id was not found", () =>
    Effect.gen(function*() {
      const requests: Array<string> = []
      const n8n = yield* N8nClient.N8nClient
      const counted = N8nClient.N8nClient.of({
        ...n8n,
        listWorkflows: (query) => (requests.push("list"), n8n.listWorkflows(query)),
        streamWorkflows: (query) => (requests.push("list"), n8n.streamWorkflows(query)),
        getWorkflow: (...args) => (requests.push(args[0]), n8n.getWorkflow(...args))
      })
      const resolve = (text: string) =>
        Reference.resolve(text, (reference) => {
          const { place } = Reference.parse(reference)
          const id = place.kind === "n8n" ? place.id : ""
          return Effect.as(N8nClient.N8nClient.use((n8n) => n8n.getWorkflow(id)), reference)
        }).pipe(Effect.provideService(N8nClient.N8nClient, counted))
      assert.strictEqual(yield* resolve(`${base}workflow/w1/history/v1`), "w1@v1")
      assert.strictEqual(yield* resolve("w1"), "w1")
      assert.deepStrictEqual(requests.splice(0), ["w1", "w1"])
      assert.strictEqual(yield* resolve("Orders@published"), "w1@published")
      assert.deepStrictEqual(requests.splice(0), ["Orders", "list", "w1"])
      yield* Effect.flip(resolve("nobody"))
      assert.deepStrictEqual(requests, ["nobody", "list"])
    }).pipe(Effect.provide(n8n)))
})
