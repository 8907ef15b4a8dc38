/** Every path that writes to an n8n that refuses deprecated nodes, as n8n does since 2.42.6. */
import { assert, describe, it } from "@effect/vitest"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Layer from "effect/Layer"
import * as Hints from "../../src/answer/Hints.ts"
import type { N8nError } from "../../src/base/Errors.ts"
import * as N8nClient from "../../src/n8n/N8nClient.ts"
import * as Sync from "../../src/sync/Sync.ts"
import * as N8nApi from "../../src/testing/n8nApi/N8nApi.ts"
import * as tools from "../../src/tools/index.ts"
import { leftOut } from "../support/batches.ts"
import { reasonOf } from "../support/reason.ts"
import { joined, node, workflow } from "../support/workflows.ts"
import { clientOf, inWorld } from "../support/world.ts"
import { edit } from "../sync/workflows.ts"
import { nodeNames } from "./workflows.ts"

const old = (code = "return items // old.example.com") => node("古い関数", "function", 1, { functionCode: code })
const post = node("Post", "httpRequest", 4.2, { url: "https://old.example.com", options: {} })

const stored = (id: string, withOld = true) =>
  workflow(id, [node("T", "manualTrigger"), ...withOld ? [old()] : [], post], {
    connections: withOld ? joined(["T", "古い関数"], ["古い関数", "Post"]) : joined(["T", "Post"])
  })

const world = { blockDeprecated: true, seed: { workflows: [stored("w1")], executions: [] } }

const text = (api: N8nApi.N8nApi) => Effect.map(api.workflows, (all) => JSON.stringify(all))

/** Requires that n8n refused it, that the hint says how to go on, and that nothing changed. */
const isRefused = Effect.fnUntraced(function*<A, R>(
  api: N8nApi.N8nApi,
  attempt: Effect.Effect<A, N8nError, R>,
  name = "古い関数"
) {
  const before = yield* text(api)
  const error = yield* Effect.flip(attempt)
  assert.strictEqual(reasonOf(error), "Status 400")
  assert.include(error._tag === "ApiError" && error.reason.details, "this node type is deprecated")
  const hint = Hints.text(error.hint)
  assert.include(hint, `'${name}' (n8n-nodes-base.function)`)
  assert.include(hint, "deprecated")
  assert.include(hint, `{op: 'upgrade', node: '${name}'}`)
  assert.strictEqual(yield* text(api), before)
})

describe("an n8n that refuses deprecated nodes", () => {
  it.effect("create_workflow and create_workflow_from_file name the node and its upgrade", () =>
    inWorld(function*({ api, folder }) {
      const { connections, name, nodes } = stored("new")
      yield* isRefused(api, tools.createWorkflow.call({ name, nodes, connections }))
      yield* FileSystem.FileSystem.use((fs) => fs.writeFileString(`${folder}/new.json`, JSON.stringify(stored("new"))))
      yield* isRefused(api, tools.createWorkflowFromFile.call({ filePath: "new.json" }))
      yield* isRefused(api, tools.replaceWorkflowFromFile.call({ id: "w1", filePath: "new.json", confirm: true }))
    }, { ...world, seed: { workflows: [stored("w1", false)], executions: [] } }))

  it.effect("update_workflow and workflow_edit change other nodes, but not a deprecated one", () =>
    inWorld(function*({ api }) {
      const id = "w1"
      const nodes = stored(id).nodes.map((each) => each.name === "古い関数" ? old("return []") : each)
      yield* isRefused(api, tools.updateWorkflow.call({ id, nodes }))
      const run = (...operations: NonNullable<Parameters<typeof tools.workflowEdit.call>[0]["operations"]>) =>
        tools.workflowEdit.call({ workflowId: id, operations })
      yield* isRefused(api, run({ op: "rename", node: "古い関数", to: "New" }), "New")
      yield* isRefused(api, run({ op: "set", node: "古い関数", path: "functionCode", value: "return []" }))
      yield* isRefused(api, run({ op: "disable", node: "古い関数" }))
      yield* tools.updateWorkflow.call({ id, name: "Named" })
      yield* run({ op: "set", node: "Post", path: "url", value: "https://new.example.com" })
      yield* run({ op: "rename", node: "Post", to: "Send" })
      yield* run({ op: "remove", node: "古い関数" })
      const [after] = yield* api.workflows
      assert.deepStrictEqual(nodeNames(after), ["T", "Send"])
    }, world))

  // A node that was replaced does not move back.
  it.effect("a replacement whose publication is refused stays as the draft, and what runs is unchanged", () =>
    inWorld(function*({ api }) {
      const nodes = [
        node("T", "scheduleTrigger", 1.2, { rule: { interval: [{}] } }),
        node("古い関数", "n8n-nodes-odd.unknown")
      ]
      const error = yield* Effect.flip(tools.updateWorkflow.call({ id: "w1", nodes, connections: {} }))
      assert.include(error._tag === "ApiError" && error.reason.details, "The new draft is still there")
      const [after] = yield* api.workflows
      assert.include(JSON.stringify(after?.nodes), "n8n-nodes-odd.unknown")
      assert.include(JSON.stringify(after?.["activeVersion"]), "n8n-nodes-base.function")
    }, { ...world, seed: { workflows: [{ ...stored("w1"), active: true }], executions: [] } }))

  it.effect("bulk_edit reports the workflow, and the others go on", () =>
    inWorld(function*({ api }) {
      const { plan } = yield* tools.bulkEdit.call({
        select: { uses: "old.example.com" },
        operations: [{ op: "replace", find: "old.example.com", with: "new.example.com" }] as never,
        dryRun: true
      })
      const answer = yield* tools.bulkEdit.call({ plan: plan ?? "" })
      assert.strictEqual(answer.done, 2)
      assert.deepStrictEqual(leftOut(answer.refused), ["w1"])
      assert.include(answer.hint, `workflow_restore(batch: '${plan}')`)
      assert.include(answer.hint, "{op: 'upgrade', node: '古い関数'}")
      const [w1, ...others] = yield* api.workflows
      assert.include(JSON.stringify(w1?.nodes), "https://old.example.com")
      for (const each of others) assert.include(JSON.stringify(each.nodes), "https://new.example.com")
    }, { ...world, seed: { workflows: [stored("w1"), stored("w2", false), stored("w3", false)], executions: [] } }))

  it.effect("sync_push and promote report the workflow, and the others go on", () =>
    inWorld(function*({ api, folder }) {
      yield* tools.syncPull.call({ folder: "." })
      yield* edit(`${folder}/w1.json`, "return items", "return []")
      yield* edit(`${folder}/w2.json`, "https://old", "https://new")
      const answer = yield* tools.syncPush.call({ folder: "." })
      assert.deepStrictEqual(answer.updated?.map(({ name }) => name), ["w2"])
      assert.deepStrictEqual(answer.failed?.map(({ name }) => name), ["w1"])
      assert.include(answer.failed?.[0]?.detail, "{op: 'upgrade', node: '古い関数'}")
      const [w1, w2] = yield* api.workflows
      assert.include(JSON.stringify(w1?.nodes), "return items")
      assert.include(JSON.stringify(w2?.nodes), "https://new")

      const from = yield* N8nClient.N8nClient
      const target = yield* N8nApi.make({ workflows: [], executions: [] }, { blockDeprecated: true })
      const context = yield* Layer.build(clientOf(target.client, { host: "production.test" }))
      const to = Context.get(context, N8nClient.N8nClient)
      const report = yield* Sync.promote(".", { from, to })
      assert.include(Hints.text(report.entries[0]?.error?.hint ?? ""), "{op: 'upgrade', node: '古い関数'}")
      assert.deepStrictEqual((yield* target.workflows).map(({ name }) => name), ["w2"])
    }, { ...world, seed: { workflows: [stored("w1"), stored("w2", false)], executions: [] } }))

  it.effect("workflow_restore of a deleted workflow", () =>
    inWorld(function*({ api }) {
      yield* tools.deleteWorkflow.call({ id: "w1", confirm: true })
      const { versions } = yield* tools.workflowHistory.call({ id: "w1", limit: 5 })
      yield* isRefused(
        api,
        tools.workflowRestore.call({ id: "w1", version: versions[0]?.version ?? "", confirm: true })
      )
    }, world))
})
