import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as HttpClient from "effect/http/HttpClient"
import * as HttpClientResponse from "effect/http/HttpClientResponse"
import * as Hints from "../../../src/answer/Hints.ts"
import * as Tool from "../../../src/answer/Tool.ts"
import { obj } from "../../../src/base/Json.ts"
import { N8nClient } from "../../../src/n8n/N8nClient.ts"
import * as tools from "../../../src/tools/index.ts"
import * as TestTime from "../../support/TestTime.ts"
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
) => inWorld(() => TestTime.run(use), options)

const rename = { op: "rename" as const, node: "End", to: "Last" }
const extract = { op: "extract" as const, nodes: ["A", "B"], name: "Sub" }

type Operations = NonNullable<Parameters<typeof tools.workflowEdit.call>[0]["operations"]>

const edit = (workflowId: string, operations: Operations, more: { publish?: boolean; dryRun?: boolean } = {}) =>
  tools.workflowEdit.call({ workflowId, operations, ...more })

const publish = (id: string, ...operations: Operations) => edit(id, operations, { publish: true })

/** A client that refuses a kind of request. */
const refusing = (...methods: ReadonlyArray<string>) => ({
  through: (client: HttpClient.HttpClient) =>
    HttpClient.make((request) =>
      methods.includes(request.method)
        ? Effect.succeed(
          HttpClientResponse.fromWeb(request, Response.json({ message: "refused here" }, { status: 400 }))
        )
        : client.execute(request)
    )
})

describe.each(["2", "1"] as const)("workflow_edit on %s.x", (version) => {
  it.effect("names the way to prove a change, if it is offered", () =>
    world(
      Effect.gen(function*() {
        const id = yield* create()
        const dryRun = version === "1"
        const { hint = "" } = yield* edit(id, [rename], { dryRun })
        assert.notInclude(hint, "workflow_prove")
        const again = { op: "rename" as const, node: dryRun ? "End" : "Last", to: "Later" }
        const offered = yield* edit(id, [again], { dryRun }).pipe(
          Effect.provideService(Tool.CurrentTools, tools.all as never)
        )
        assert.match(offered.hint ?? "", /workflow_prove.*(activate_workflow|replace_workflow_from_file)/)
      }),
      version
    ))

  it.effect("makes an edit live with publish, and says so before", () =>
    world(
      Effect.gen(function*() {
        const id = yield* create()
        const dry = yield* edit(id, [rename], { dryRun: true })
        assert.strictEqual(dry.published, version === "1")
        assert.match(dry.hint ?? "", version === "1" ? /effect immediately/ : /wait as a draft/)
        assert.isTrue((yield* edit(id, [rename], { dryRun: true, publish: true })).published)
        const edited = yield* publish(id, rename)
        const now = yield* stored(id)
        const settings = Object.keys(obj(now.settings) ?? {}).length
        assert.deepStrictEqual(edited.unchanged, { nodes: 3, credentials: 0, settings })
        assert.deepStrictEqual([edited.published, now.active], [true, true])
        if (version === "2") assert.strictEqual(now.activeVersionId, now.versionId)
        const inactive = yield* edit(yield* create(false), [rename], { dryRun: true })
        assert.notProperty(inactive, "published")
        assert.include(inactive.hint, "not published")
      }),
      version
    ))
})

describe("workflow_edit with publish", () => {
  it.effect("gives a node another type, and names what it lacks there", () =>
    world(Effect.gen(function*() {
      const id = yield* create()
      const replace = (type: string) => ({ op: "replaceNode" as const, node: "End", type })
      const dry = yield* edit(id, [replace("slack")], { dryRun: true })
      assert.deepInclude(dry, { applied: false, missingCredentials: [{ node: "End", type: "slackApi" }] })
      assert.include(dry.problems.map(({ node }) => node), "End")
      assert.include((yield* Effect.flip(publish(id, replace("slack")))).message, "not valid")
      const done = yield* publish(id, { ...replace("set"), typeVersion: 3.4 }, rename)
      assert.deepInclude(done, { applied: true, published: true, problems: [] })
      assert.include(done.changes[0], "(n8n-nodes-base.noOp 1 → n8n-nodes-base.set 3.4), with 1 connection")
      const { active, nodes } = yield* stored(id)
      assert.deepInclude(obj(nodes.at(-1)), { id: "id of End", name: "Last", type: "n8n-nodes-base.set" })
      assert.isTrue(active)
    })))

  it.effect("publishes a workflow that was not, or puts it back", () =>
    world(Effect.gen(function*() {
      assert.isTrue((yield* publish(yield* create(false), rename)).published)
      // The path of its webhook is taken.
      const other = yield* create(false)
      const { nodes } = yield* stored(other)
      assert.include(JSON.stringify(yield* Effect.flip(publish(other, rename))), "put back")
      const now = yield* stored(other)
      assert.deepStrictEqual([now.active, now.nodes], [false, nodes])
    })))

  it.effect("writes nothing if the result is not valid, or somebody's draft waits", () =>
    world(Effect.gen(function*() {
      const id = yield* create()
      const before = yield* stored(id)
      const add = (type: string, more: object) => ({ op: "add" as const, type: `n8n-nodes-base.${type}`, ...more })
      const code = { after: "End", parameters: { jsCode: "return [" } }
      for (
        const [operation, message] of [
          [add("if", { after: "Nobody" }), "Nobody"],
          [add("code", code), "The result is not valid: Code: "],
          [add("slack", { after: "End", parameters: { text: "x" } }), "credential"]
        ] as const
      ) assert.include((yield* Effect.flip(publish(id, operation))).message, message)
      assert.deepStrictEqual(yield* stored(id), before)
      yield* edit(id, [{ op: "disable", node: "A" }])
      const waiting = yield* Effect.flip(publish(id, rename))
      assert.include(waiting.message, "draft waits")
      assert.include(Hints.text(waiting.hint ?? ""), `activate_workflow(id: '${id}')`)
      assert.include((yield* stored(id)).nodes.map(({ name }) => name), "End")
    })))

  it.effect("refuses to publish a file, and to call a new workflow from one", () =>
    inWorld(function*() {
      const { workflowId } = yield* draft()
      const error = yield* Effect.flip(publish(workflowId, { op: "disable", node: "End" }))
      assert.include(error.message, "A file is not published")
      const moved = yield* Effect.flip(edit(workflowId, [{ op: "extract", nodes: ["End"], name: "Sub" }]))
      assert.include(moved.message, "A file cannot call a new workflow")
    }))
})

describe("workflow_edit with extract", () => {
  it.effect("creates the sub-workflow, published, and answers with its id", () =>
    world(Effect.gen(function*() {
      const id = yield* create()
      assert.notProperty(yield* edit(id, [extract], { dryRun: true }), "created")
      assert.deepStrictEqual(yield* names, ["Orders"])
      const { created = [], published } = yield* edit(id, [extract])
      assert.deepStrictEqual([published, created.map(({ active, name }) => [name, active])], [false, [["Sub", true]]])
      const call = (yield* stored(id)).nodes.find(({ name }) => name === "Sub")
      const sub = created[0]?.id ?? ""
      assert.strictEqual(obj(obj(call?.parameters)?.["workflowId"])?.["value"], sub)
      const next = yield* edit(yield* create(false), [{ op: "extract", nodes: ["A", "B"], workflowId: sub }])
      assert.notProperty(next, "created")
      assert.deepStrictEqual(yield* names, ["Orders", "Orders", "Sub"])
    })))

  it.effect("leaves no sub-workflow behind if the change cannot be written", () =>
    world(
      Effect.gen(function*() {
        const id = yield* create()
        const { nodes } = yield* stored(id)
        assert.include(JSON.stringify(yield* Effect.flip(edit(id, [extract]))), "refused here")
        assert.deepStrictEqual([yield* names, (yield* stored(id)).nodes], [["Orders"], nodes])
      }),
      refusing("PUT")
    ))

  it.effect("names the sub-workflow that could not be removed", () =>
    world(
      Effect.gen(function*() {
        const error = yield* Effect.flip(edit(yield* create(), [extract]))
        assert.match(Hints.text(error.hint ?? ""), /The new workflow 'Sub' \(\S+\) is still there/)
      }),
      refusing("PUT", "DELETE")
    ))
})
