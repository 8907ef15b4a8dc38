import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Hints from "../../../src/answer/Hints.ts"
import type * as Errors from "../../../src/base/Errors.ts"
import { arr, obj } from "../../../src/base/Json.ts"
import * as tools from "../../../src/tools/index.ts"
import { inWorld } from "../../support/world.ts"
import { draft, versioned } from "../workflows.ts"

const codeIn = (workflow: unknown) => JSON.stringify(arr(obj(workflow)?.["nodes"])[1])

/** The Code node, of which every reading tool says the same. */
const codeOf = Effect.fnUntraced(function*(id: string) {
  const { nodes = [] } = yield* tools.getWorkflow.call({ id, nodes: ["Price"] })
  const { workflowData } = yield* tools.workflowLoad.call({ workflowIdOrPath: id })
  assert.strictEqual(JSON.stringify(nodes[0]), codeIn(workflowData))
  return codeIn(workflowData)
})

const hint = (error: Errors.N8nError) => Hints.text(error.hint)

describe("a version of a workflow", () => {
  it.effect("is read by each reading tool", () =>
    inWorld(function*() {
      const { id, snapshots: [newest, oldest], versions: [first, second, third] } = yield* versioned
      const states: ReadonlyArray<readonly [reference: string, price: RegExp]> = [
        [id, /net \* 119 /],
        [`${id}@published`, /net \* 1\.19 /],
        [`${id}@${first}`, /net }/],
        [`${id}@${second}`, /net \* 1\.19 /],
        [`${id}@${third}`, /net \* 119 /],
        [`${id}@${newest}`, /net \* 1\.19 /],
        [`${id}@${oldest}`, /net }/]
      ]
      for (const [reference, price] of states) {
        assert.match(yield* codeOf(reference), price, reference)
        const { graph, name } = yield* tools.getWorkflowConnections.call({ id: reference, format: "graph" })
        assert.deepStrictEqual([name, graph?.map(({ node }) => node)], ["Prices", ["Hook", "Price"]])
        assert.deepInclude(yield* tools.validateWorkflow.call({ workflowId: reference }), {
          valid: true,
          source: "n8n"
        })
      }
      const published = yield* tools.getWorkflow.call({ id: `${id}@published` })
      assert.deepInclude(published, { id, active: true, versionId: second ?? "" })
      assert.notProperty(published, "hasUnpublishedChanges")
      assert.include((yield* tools.getWorkflow.call({ id: `${id}@${first}` })).url, `/history/${first}`)
    }))

  it.effect("is read of a deleted workflow, as far as snapshots go, and of files and drafts", () =>
    inWorld(function*() {
      const { id, snapshots: [newest], versions: [first] } = yield* versioned
      yield* tools.deleteWorkflow.call({ id, confirm: true })
      const { workflowData } = yield* tools.workflowLoad.call({ workflowIdOrPath: `${id}@${newest}` })
      assert.match(codeIn(workflowData), /1\.19/)
      const gone = yield* Effect.flip(tools.getWorkflow.run({ id: `${id}@${first}` }))
      assert.strictEqual(gone.message, `Workflow '${id}' not found`)

      const { filePath, workflowId } = yield* draft()
      const { versions } = yield* tools.workflowHistory.call({ id: workflowId, limit: 20 })
      const before = versions.at(-1)?.version ?? ""
      for (const path of [workflowId, filePath]) {
        assert.lengthOf((yield* tools.getWorkflowConnections.call({ id: path, format: "graph" })).graph ?? [], 2)
        assert.strictEqual((yield* tools.getWorkflow.call({ id: path })).nodeCount, 2)
        assert.strictEqual((yield* tools.getWorkflow.call({ id: `${path}@${before}` })).nodeCount, 0)
      }
      const published = yield* Effect.flip(tools.getWorkflow.run({ id: `${workflowId}@published` }))
      assert.strictEqual(published.message, "A file is not published")
    }))

  it.effect("that does not exist is reported with the newest versions", () =>
    inWorld(function*() {
      const { id, snapshots: [newest], versions: [, , third] } = yield* versioned
      const { id: other } = yield* tools.createWorkflow.call({ name: "Other", nodes: [], connections: {} })
      const refused = (reference: string) => Effect.flip(tools.getWorkflow.run({ id: reference }))
      for (const version of ["nope", "snapshot-nope", "snapshot-20200101T000000000Z-abcdef", "latest"]) {
        const unknown = yield* refused(`${id}@${version}`)
        assert.deepStrictEqual([unknown._tag, unknown.message], ["NotFoundError", `Version '${version}' not found`])
        assert.match(hint(unknown), new RegExp(`^The newest are: ${third}, .*${newest}`))
        assert.include(hint(unknown), `workflow_history(id: '${id}')`)
      }
      const nothing = yield* refused(`${other}@published`)
      assert.deepInclude(nothing, { reason: `Nothing of workflow '${other}' is published`, field: "id" })
      assert.deepInclude(yield* refused(`${id}@`), { field: "id" })
      assert.strictEqual((yield* refused("nobody@published")).message, "Workflow 'nobody' not found")
      assert.strictEqual((yield* refused("nobody@nope")).message, "Workflow 'nobody' not found")
    }))

  it.effect("that runs is read by its id where n8n does not give it with the workflow", () =>
    inWorld(function*({ api }) {
      const { id, versions: [, second] } = yield* versioned
      yield* api.edit(id, ({ activeVersion: _, ...workflow }) => workflow)
      const { nodes = [], versionId } = yield* tools.getWorkflow.call({ id: `${id}@published`, nodes: ["Price"] })
      assert.strictEqual(versionId, second)
      assert.include(JSON.stringify(nodes), "1.19")
    }))

  it.effect("of n8n 1 is a snapshot, or what is active", () =>
    inWorld(function*() {
      const { id, snapshots: [newest] } = yield* versioned
      const { note, versionId } = yield* tools.getWorkflow.call({ id: `${id}@published` })
      assert.strictEqual(versionId, (yield* tools.getWorkflow.call({ id })).versionId)
      assert.include(note, "no drafts")
      assert.match(
        codeIn((yield* tools.workflowLoad.call({ workflowIdOrPath: `${id}@${newest}` })).workflowData),
        /1\.19/
      )
      const unknown = yield* Effect.flip(tools.getWorkflow.run({ id: `${id}@00000000-0000-4000-8000-0000000000ff` }))
      assert.strictEqual(unknown._tag, "NotFoundError")
      assert.match(hint(unknown), new RegExp(`^This n8n does not list versions.*${newest}`))
    }, "1"))

  it.effect("is refused by every writing tool, which names the way", () =>
    inWorld(function*() {
      const { id, versions: [first] } = yield* versioned
      const reference = `${id}@${first}`
      const calls: ReadonlyArray<readonly [tool: { readonly run: typeof tools.updateWorkflow.run }, args: object]> = [
        [tools.updateWorkflow, { id: reference, name: "x" }],
        [tools.deleteWorkflow, { id: reference, confirm: true }],
        [tools.deactivateWorkflow, { id: reference }],
        [tools.replaceWorkflowFromFile, { id: reference, filePath: "a.json", confirm: true }],
        [tools.nodeAdd, { workflowId: reference, nodeType: "n8n-nodes-base.noOp" }],
        [tools.nodeReplace, { workflowId: reference, targetNodeId: "Price", newNodeType: "n8n-nodes-base.noOp" }],
        [tools.connectionCreate, { workflowId: reference, sourceNodeId: "Hook", targetNodeId: "Price" }],
        [tools.workflowEdit, { workflowId: reference, operations: [{ op: "tidy" }] }],
        [tools.workflowRestore, { id: reference, version: first, confirm: true }]
      ] as never
      for (const [tool, args] of calls) {
        const error = yield* Effect.flip(tool.run(args))
        assert.strictEqual(error._tag, "ValidationError")
        assert.include(error.message, "workflow_restore")
      }
    }))
})
