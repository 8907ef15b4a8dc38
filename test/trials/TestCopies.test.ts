import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import type { N8nError } from "../../src/base/Errors.ts"
import type { Obj } from "../../src/base/Json.ts"
import * as TestMark from "../../src/n8n/model/TestMark.ts"
import { N8nClient } from "../../src/n8n/N8nClient.ts"
import { IsTestCopy } from "../../src/n8n/WriteGuard.ts"
import * as Sync from "../../src/sync/Sync.ts"
import * as tools from "../../src/tools/index.ts"
import * as TestCopies from "../../src/trials/TestCopies.ts"
import * as Policy from "../../src/workflows/policy/Policy.ts"
import { node } from "../support/workflows.ts"
import { inWorld, type Needs } from "../support/world.ts"

const name = TestMark.nameOf("Orders", { machine: "other", pid: 1 }, "ab12cd34")
const path = "ab12cd34-0000-4000-8000-000000000000"
const call = node("Call", "webhook", 1, { path }, { webhookId: path })

const workflow = (id: string, name: string, nodes: ReadonlyArray<Obj>, more: Obj = {}) => ({
  id,
  name,
  nodes,
  connections: {},
  settings: {},
  ...more
})

/** A copy, the original, and a workflow that only has the name of a copy. */
const seed = {
  workflows: [
    workflow("copy", name, [call], { active: true }),
    workflow("orig", "Orders", [node("Hook", "webhook", 1, { path: "orders" })]),
    workflow("mine", name, [node("Start", "manualTrigger")])
  ],
  executions: []
}

const run = (name: string, args: object): Effect.Effect<unknown, N8nError, Needs> => {
  const tool = tools.all.find((each) => each.name === name)
  const run: (args: unknown) => Effect.Effect<unknown, N8nError, Needs> = tool?.run ?? (() => Effect.die(name))
  return run(args)
}

describe("the copy of a test", () => {
  it.effect("is in no list, and what only has its name is", () =>
    inWorld(function*({ folder }) {
      const n8n = yield* N8nClient
      for (const args of [{}, { raw: true }, { name: "test copy" }, { uses: "webhook" }]) {
        assert.notInclude(JSON.stringify(yield* run("list_workflows", { limit: 100, ...args })), "\"copy\"")
      }
      const { workflows } = yield* n8n.listWorkflows({ archived: true, limit: 100 })
      assert.deepStrictEqual(workflows.map(({ id }) => id), ["mine", "orig"])
      assert.notInclude(JSON.stringify(yield* tools.audit.call({})), "\"copy\"")
      const overview = yield* tools.instanceOverview.call({})
      assert.deepInclude(overview.workflows, { published: 0, unpublished: 2 })
      yield* Sync.pull(".")
      const fs = yield* FileSystem.FileSystem
      assert.lengthOf(
        (yield* fs.readDirectory(folder)).filter((file) => file.endsWith(".json") && !file.startsWith(".")),
        2
      )
      assert.isTrue((yield* Sync.status(".")).isSame)
      const target = yield* Sync.promote(".", {
        from: { ...n8n, instance: { url: "http://other.test", key: "other" } },
        to: n8n,
        dryRun: true
      })
      assert.notInclude(JSON.stringify(target), "\"copy\"")
      assert.deepStrictEqual((yield* TestCopies.list).map(({ id }) => id), ["copy"])
    }, { seed }))

  it.effect("is written to by no tool", () =>
    inWorld(function*({ api, folder }) {
      const fs = yield* FileSystem.FileSystem
      yield* fs.writeFileString(`${folder}/w.json`, JSON.stringify(workflow("w", "W", [call])))
      const n8n = yield* N8nClient
      const { versionId } = yield* n8n.getWorkflow("copy")
      const before = JSON.stringify(yield* api.workflows)
      for (
        const [tool, args] of [
          ["update_workflow", { id: "copy", nodes: [call, node("Shell", "ssh")] }],
          ["update_workflow", { id: "copy", name: "Mine now" }],
          ["update_workflow", { id: "copy", tags: ["a"] }],
          ["workflow_edit", { workflowId: "copy", operations: [{ op: "name", name: "Mine now" }] }],
          ["node_add", { workflowId: "copy", nodeType: "n8n-nodes-base.noOp" }],
          ["replace_workflow_from_file", { id: "copy", filePath: "w.json", confirm: true }],
          ["workflow_restore", { id: "copy", version: versionId, confirm: true }],
          ["activate_workflow", { id: "copy" }],
          ["deactivate_workflow", { id: "copy" }],
          ["delete_workflow", { id: "copy", confirm: true }],
          ["delete_workflow", { id: "copy", archive: true }]
        ] as const
      ) {
        assert.include((yield* Effect.flip(run(tool, args))).message, "temporary copy", tool)
      }
      assert.strictEqual(JSON.stringify(yield* api.workflows), before)
    }, { seed }))

  it.effect("is exempt from the policy where the test makes it, not by its looks", () =>
    inWorld(({ api }) =>
      Effect.gen(function*() {
        const n8n = yield* N8nClient
        const body = { name, nodes: [call, node("Shell", "ssh")], connections: {}, settings: {} }
        for (const write of [n8n.createWorkflow(body), n8n.putWorkflow("copy", body)]) {
          const error: N8nError = yield* Effect.flip(write)
          assert.include(error.message, "The policy forbids it")
        }
        assert.lengthOf(yield* api.workflows, 3)
        const other = { ...call, parameters: { path: `${path}-2` }, webhookId: `${path}-2` }
        const { id } = yield* TestCopies.create({ ...body, nodes: [other, node("Shell", "ssh")] }, undefined)
        assert.isTrue((yield* TestCopies.publish(id)).active)
        assert.isFalse(yield* IsTestCopy)
      }).pipe(Effect.provide(Policy.layer({ bannedNodes: ["ssh"] }))), { seed }))
})
