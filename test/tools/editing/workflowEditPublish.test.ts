import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as HttpClient from "effect/http/HttpClient"
import * as HttpClientResponse from "effect/http/HttpClientResponse"
import * as Hints from "../../../src/answer/Hints.ts"
import * as Tool from "../../../src/answer/Tool.ts"
import { obj } from "../../../src/base/Json.ts"
import { N8nClient } from "../../../src/n8n/N8nClient.ts"
import * as tools from "../../../src/tools/index.ts"
import { hurried } from "../../support/clock.ts"
import { main, node } from "../../support/workflows.ts"
import { inWorld, type Needs } from "../../support/world.ts"
import { draft } from "../workflows.ts"

const hook = node("Hook", "webhook", 2, { path: "in", httpMethod: "POST" }, { webhookId: "w" })
const orders = {
  name: "Orders",
  nodes: [hook, node("A", "noOp"), node("B", "set", 3.4, { options: {} }), node("End", "noOp")],
  connections: { Hook: main("A"), A: main("B"), B: main("End") },
  settings: { executionOrder: "v1" }
}
const create = (active = true) => Effect.map(tools.createWorkflow.call({ ...orders, active }), ({ id }) => id)
const stored = (id: string) => N8nClient.use((n8n) => n8n.getWorkflow(id))
const names = Effect.map(
  N8nClient.use((n8n) => n8n.listWorkflows({ archived: false, limit: 100 })),
  ({ workflows }) => workflows.map(({ name }) => name).toSorted()
)
/** A world in which waiting takes no time. */
const world = <E>(
  use: Effect.Effect<void, E, Needs>,
  options: "2" | "1" | { readonly through?: (client: HttpClient.HttpClient) => HttpClient.HttpClient } = "2"
) => inWorld(() => hurried(use), options)

const rename = { op: "rename" as const, node: "End", to: "Last" }
const extract = { op: "extract" as const, nodes: ["A", "B"], name: "Sub" }

/** A client that refuses a kind of request. */
const refusing = (isRefused: (method: string, path: string) => boolean) => (client: HttpClient.HttpClient) =>
  HttpClient.make((request, url) =>
    isRefused(request.method, url.pathname)
      ? Effect.succeed(HttpClientResponse.fromWeb(request, Response.json({ message: "refused here" }, { status: 400 })))
      : client.execute(request)
  )

describe("the hints of workflow_edit", () => {
  for (const version of ["2", "1"] as const) {
    it.effect(`name the way to prove a change on ${version}.x, if it is offered`, () =>
      world(
        Effect.gen(function*() {
          const id = yield* create()
          const edit = Effect.map(
            tools.workflowEdit.call({ workflowId: id, operations: [rename], dryRun: version === "1" }),
            ({ hint = "" }) => hint
          )
          assert.notInclude(yield* edit, "workflow_prove")
          const proving = /workflow_prove.*(activate_workflow|replace_workflow_from_file)/
          const again = { op: "rename" as const, node: version === "1" ? "End" : "Last", to: "Later" }
          const { hint } = yield* tools.workflowEdit.call({
            workflowId: id,
            operations: [again],
            dryRun: version === "1"
          }).pipe(Effect.provideService(Tool.CurrentTools, tools.all as never))
          assert.match(hint ?? "", proving)
        }),
        version
      ))
  }
})

describe("workflow_edit with publish", () => {
  for (const version of ["2", "1"] as const) {
    it.effect(`makes an edit live on ${version}.x, and says so before`, () =>
      world(
        Effect.gen(function*() {
          const id = yield* create()
          const call = { workflowId: id, operations: [rename] }
          const dry = yield* tools.workflowEdit.call({ ...call, dryRun: true })
          assert.strictEqual(dry.published, version === "1")
          assert.match(dry.hint ?? "", version === "1" ? /effect immediately/ : /wait as a draft/)
          assert.isTrue((yield* tools.workflowEdit.call({ ...call, dryRun: true, publish: true })).published)
          const edited = yield* tools.workflowEdit.call({ ...call, publish: true })
          assert.isTrue(edited.published)
          const now = yield* stored(id)
          const settings = Object.keys(obj(now.settings) ?? {}).length
          assert.deepStrictEqual(edited.unchanged, { nodes: 3, credentials: 0, settings })
          assert.isTrue(now.active)
          if (version === "2") assert.strictEqual(now.activeVersionId, now.versionId)
          const inactive = yield* tools.workflowEdit.call({
            workflowId: yield* create(false),
            operations: [rename],
            dryRun: true
          })
          assert.notProperty(inactive, "published")
          assert.include(inactive.hint, "not published")
        }),
        version
      ))
  }

  it.effect("gives a node another type, and names what it lacks there", () =>
    world(Effect.gen(function*() {
      const id = yield* create()
      const replace = (type: string) => ({ op: "replaceNode" as const, node: "End", type })
      const lacking = { workflowId: id, operations: [replace("slack")] }
      const dry = yield* tools.workflowEdit.call({ ...lacking, dryRun: true })
      assert.deepInclude(dry, { applied: false, missingCredentials: [{ node: "End", type: "slackApi" }] })
      assert.include(dry.problems.map(({ node }) => node), "End")
      assert.include((yield* Effect.flip(tools.workflowEdit.call({ ...lacking, publish: true }))).message, "not valid")
      const operations = [{ ...replace("set"), typeVersion: 3.4 }, rename]
      const done = yield* tools.workflowEdit.call({ workflowId: id, operations, publish: true })
      assert.deepInclude(done, { applied: true, published: true, problems: [] })
      assert.include(done.changes[0], "(n8n-nodes-base.noOp 1 → n8n-nodes-base.set 3.4), with 1 connection")
      const { active, nodes } = yield* stored(id)
      assert.deepInclude(obj(nodes.at(-1)), { id: "id of End", name: "Last", type: "n8n-nodes-base.set" })
      assert.isTrue(active)
    })))

  it.effect("publishes a workflow that was not, or puts it back", () =>
    world(Effect.gen(function*() {
      const id = yield* create(false)
      assert.isTrue((yield* tools.workflowEdit.call({ workflowId: id, operations: [rename], publish: true })).published)
      // The path of its webhook is taken.
      const other = yield* create(false)
      const before = yield* stored(other)
      const error = yield* Effect.flip(
        tools.workflowEdit.call({ workflowId: other, operations: [rename], publish: true })
      )
      assert.include(JSON.stringify(error), "put back")
      const now = yield* stored(other)
      assert.deepStrictEqual([now.active, now.nodes], [false, before.nodes])
    })))

  it.effect("writes nothing if the result is not valid, or somebody's draft waits", () =>
    world(Effect.gen(function*() {
      const id = yield* create()
      const publish = (operations: Parameters<typeof tools.workflowEdit.call>[0]["operations"]) =>
        Effect.flip(tools.workflowEdit.call({ workflowId: id, operations, publish: true }))
      const before = yield* stored(id)
      const invalid = yield* publish([{ op: "add", type: "n8n-nodes-base.if", after: "Nobody" }])
      assert.include(invalid.message, "Nobody")
      const wrong = yield* publish([{
        op: "add",
        type: "n8n-nodes-base.code",
        parameters: { jsCode: "return [" },
        after: "End"
      }])
      assert.include(wrong.message, "The result is not valid: Code: ")
      const missing = yield* publish([{
        op: "add",
        type: "n8n-nodes-base.slack",
        parameters: { text: "x" },
        after: "End"
      }])
      assert.include(missing.message, "credential")
      assert.deepStrictEqual(yield* stored(id), before)
      yield* tools.workflowEdit.call({ workflowId: id, operations: [{ op: "disable", node: "A" }] })
      const waiting = yield* publish([rename])
      assert.include(waiting.message, "draft waits")
      assert.include(Hints.text(waiting.hint ?? ""), `activate_workflow(id: '${id}')`)
      assert.include((yield* stored(id)).nodes.map(({ name }) => name), "End")
    })))

  it.effect("refuses to publish a file, and to call a new workflow from one", () =>
    inWorld(function*() {
      const { workflowId } = yield* draft()
      const operations = [{ op: "disable" as const, node: "End" }]
      const error = yield* Effect.flip(tools.workflowEdit.call({ workflowId, operations, publish: true }))
      assert.include(error.message, "A file is not published")
      const moved = yield* Effect.flip(
        tools.workflowEdit.call({ workflowId, operations: [{ op: "extract", nodes: ["End"], name: "Sub" }] })
      )
      assert.include(moved.message, "A file cannot call a new workflow")
    }))
})

describe("workflow_edit with extract", () => {
  it.effect("creates the sub-workflow, published, and answers with its id", () =>
    world(Effect.gen(function*() {
      const id = yield* create()
      const dry = yield* tools.workflowEdit.call({ workflowId: id, operations: [extract], dryRun: true })
      assert.notProperty(dry, "created")
      assert.deepStrictEqual(yield* names, ["Orders"])
      const { created = [], published } = yield* tools.workflowEdit.call({ workflowId: id, operations: [extract] })
      assert.deepStrictEqual([published, created.map(({ active, name }) => [name, active])], [false, [["Sub", true]]])
      const call = (yield* stored(id)).nodes.find(({ name }) => name === "Sub")
      const sub = created[0]?.id ?? ""
      assert.strictEqual(obj(obj(call?.parameters)?.["workflowId"])?.["value"], sub)
      const second = yield* create(false)
      const again = { op: "extract" as const, nodes: ["A", "B"], workflowId: sub }
      const next = yield* tools.workflowEdit.call({ workflowId: second, operations: [again] })
      assert.notProperty(next, "created")
      assert.deepStrictEqual(yield* names, ["Orders", "Orders", "Sub"])
    })))

  it.effect("leaves no sub-workflow behind if the change cannot be written", () =>
    world(
      Effect.gen(function*() {
        const id = yield* create()
        const before = yield* stored(id)
        const error = yield* Effect.flip(tools.workflowEdit.call({ workflowId: id, operations: [extract] }))
        assert.include(JSON.stringify(error), "refused here")
        assert.deepStrictEqual(yield* names, ["Orders"])
        assert.deepStrictEqual((yield* stored(id)).nodes, before.nodes)
      }),
      { through: refusing((method) => method === "PUT") }
    ))

  it.effect("names the sub-workflow that could not be removed", () =>
    world(
      Effect.gen(function*() {
        const id = yield* create()
        const error = yield* Effect.flip(tools.workflowEdit.call({ workflowId: id, operations: [extract] }))
        assert.match(Hints.text(error.hint ?? ""), /The new workflow 'Sub' \(\S+\) is still there/)
      }),
      { through: refusing((method) => method === "PUT" || method === "DELETE") }
    ))
})
