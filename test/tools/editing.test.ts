import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as HttpClient from "effect/http/HttpClient"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import { arr, type Obj, obj, str } from "../../src/domain/Json.ts"
import * as N8nClient from "../../src/N8nClient.ts"
import * as Services from "../../src/Services.ts"
import * as N8nApi from "../../src/testing/N8nApi.ts"
import * as tools from "../../src/tools/index.ts"

type Needs = N8nClient.N8nClient | Services.Services

/** A folder of its own, and an n8n in memory. */
const world = Effect.fnUntraced(function*(version: "2" | "1" = "2") {
  const fs = yield* FileSystem.FileSystem
  const folder = yield* fs.realPath(yield* fs.makeTempDirectoryScoped())
  const state = yield* fs.makeTempDirectoryScoped()
  const api = yield* N8nApi.make({ workflows: [], executions: [] }, { version })
  const n8n = N8nClient.layer({ url: new URL("http://n8n.test"), apiKey: Redacted.make("k") }).pipe(
    Layer.provide(Layer.succeed(HttpClient.HttpClient, api.client))
  )
  const services = Services.layer({ filesRoots: [folder], stateFolder: state })
  return { folder, api, run: Effect.provide(Layer.merge(n8n, services)) }
})

const inWorld = <A, E>(
  use: (here: Effect.Success<ReturnType<typeof world>>) => Effect.Effect<A, E, Needs | FileSystem.FileSystem>,
  version?: "2" | "1"
) =>
  Effect.gen(function*() {
    const made = yield* world(version)
    return yield* made.run(use(made))
  }).pipe(Effect.scoped, Effect.provide(NodeServices.layer))

const text = (path: string) => FileSystem.FileSystem.use((fs) => fs.readFileString(path))

const draft = (name = "Orders") =>
  Effect.gen(function*() {
    const { filePath, workflowId } = yield* tools.workflowCreate.call({ name })
    yield* tools.nodeAdd.call({
      workflowId,
      nodeType: "n8n-nodes-base.webhook",
      name: "Hook",
      parameters: { path: "in", httpMethod: "POST" },
      raw: false
    })
    yield* tools.nodeAdd.call({ workflowId, nodeType: "n8n-nodes-base.noOp", name: "End", after: "Hook", raw: false })
    return { filePath, workflowId }
  })

const nodeNames = (workflow: unknown) => arr(obj(workflow)?.["nodes"]).map((node) => str(obj(node)?.["name"]))

describe("a draft", () => {
  it.effect("is a file from its first moment, under a free and readable name", () =>
    inWorld(({ folder }) =>
      Effect.gen(function*() {
        const first = yield* tools.workflowCreate.call({ name: "請求書 Export!", description: "monthly" })
        const second = yield* tools.workflowCreate.call({ name: "請求書 export" })
        assert.strictEqual(first.workflowId, "draft-請求書-export")
        assert.strictEqual(first.filePath, `${folder}/請求書-export.json`)
        assert.strictEqual(second.workflowId, "draft-請求書-export-2")
        assert.deepStrictEqual(JSON.parse(yield* text(first.filePath)), {
          name: "請求書 Export!",
          description: "monthly",
          nodes: [],
          connections: {},
          settings: { executionOrder: "v1" }
        })
        const elsewhere = yield* tools.workflowCreate.call({ name: "x", filePath: "sub/x.json" })
        assert.strictEqual(elsewhere.workflowId, "sub/x.json")
        const taken = yield* Effect.flip(tools.workflowCreate.call({ name: "x", filePath: "sub/x.json" }))
        assert.strictEqual(taken._tag, "ValidationError")
      })
    ))

  it.effect("is built node by node, and every step is in the file", () =>
    inWorld(() =>
      Effect.gen(function*() {
        const { filePath, workflowId } = yield* draft()
        const built = obj(JSON.parse(yield* text(filePath))) ?? {}
        assert.deepStrictEqual(nodeNames(built), ["Hook", "End"])
        const [hook] = arr(built["nodes"])
        assert.strictEqual(obj(hook)?.["typeVersion"], 2.1)
        assert.isString(obj(hook)?.["webhookId"])
        assert.deepStrictEqual(built["connections"], { Hook: { main: [[{ node: "End", type: "main", index: 0 }]] } })
        const { counts, valid } = yield* tools.validateWorkflow.call({ workflowId })
        assert.deepStrictEqual([valid, counts.errors], [true, 0])
        const { graph } = yield* tools.getWorkflowConnections.call({ id: workflowId, format: "graph", raw: false })
        assert.deepStrictEqual(graph?.map(({ node, outputs }) => [node, outputs]), [["Hook", ["End"]], ["End", []]])
        const loaded = yield* tools.workflowLoad.call({ workflowIdOrPath: filePath })
        assert.deepInclude(loaded, { source: "file", workflowData: built as never })
        const { total, workflows } = yield* tools.workflowList.call({ limit: 20, offset: 0 })
        assert.deepStrictEqual([total, workflows[0]?.name], [1, "Orders"])
      })
    ))

  it.effect("takes many writers at once, and loses none", () =>
    inWorld(() =>
      Effect.gen(function*() {
        const { filePath, workflowId } = yield* draft()
        yield* Effect.forEach(
          Array.from({ length: 20 }, (_, index) => `N${index}`),
          (name) =>
            tools.nodeAdd.call({ workflowId, nodeType: "n8n-nodes-base.noOp", name, after: "Hook", raw: false }),
          { concurrency: "unbounded" }
        )
        const names = nodeNames(JSON.parse(yield* text(filePath)))
        assert.strictEqual(new Set(names).size, 22)
      })
    ))
})

describe("edits of a file", () => {
  it.effect("are all or nothing, and a dry run writes nothing", () =>
    inWorld(() =>
      Effect.gen(function*() {
        const { filePath, workflowId } = yield* draft()
        const before = yield* text(filePath)
        const operations = [
          { op: "rename" as const, node: "Hook", to: "受付" },
          { op: "disable" as const, node: "End" }
        ]
        const dry = yield* tools.workflowEdit.call({ workflowId, operations, dryRun: true, raw: false })
        assert.deepInclude(dry, { applied: false, source: "draft" })
        assert.strictEqual(dry.changes.length, 2)
        assert.strictEqual(yield* text(filePath), before)
        const error = yield* Effect.flip(
          tools.workflowEdit.call({
            workflowId,
            operations: [...operations, { op: "remove", node: "Nobody" }],
            dryRun: false,
            raw: false
          })
        )
        assert.include(error.hint, "Nothing was changed.")
        assert.strictEqual(yield* text(filePath), before)
        yield* tools.workflowEdit.call({ workflowId, operations, dryRun: false, raw: false })
        assert.deepStrictEqual(nodeNames(JSON.parse(yield* text(filePath))), ["受付", "End"])
      })
    ))

  it.effect("come back byte for byte, by their opposite and by the snapshot", () =>
    inWorld(() =>
      Effect.gen(function*() {
        const { filePath, workflowId } = yield* draft()
        const before = yield* text(filePath)
        const edit = (...operations: Parameters<typeof tools.workflowEdit.call>[0]["operations"]) =>
          tools.workflowEdit.call({ workflowId, operations, dryRun: false, raw: false })
        yield* edit({ op: "disable", node: "End" }, { op: "rename", node: "Hook", to: "In" })
        yield* edit({ op: "enable", node: "End" }, { op: "rename", node: "In", to: "Hook" })
        assert.strictEqual(yield* text(filePath), before)
        yield* edit({ op: "remove", node: "Hook" })
        const { versions } = yield* tools.workflowHistory.call({ id: workflowId, limit: 20 })
        assert.deepInclude(versions[0], { source: "snapshot", operation: "before workflow_edit" })
        yield* tools.workflowRestore.call({ id: workflowId, version: versions[0]?.version ?? "", confirm: true })
        assert.strictEqual(yield* text(filePath), before)
      })
    ))

  it.effect("keep how a person formatted it, and the secrets that answers do not show", () =>
    inWorld(({ folder }) =>
      Effect.gen(function*() {
        const fs = yield* FileSystem.FileSystem
        const file = `${folder}/mine.json`
        const own = `{
    "name": "Mine", // for the night
    "nodes": [
        {
            "id": "a", "name": "Call", "type": "n8n-nodes-base.crypto", "typeVersion": 1,
            "position": [0, 0],
            "parameters": { "action": "hmac", "value": "a", "secret": "hunter2" }
        },
    ],
    "connections": {}
}
`
        yield* fs.writeFileString(file, own)
        yield* tools.workflowEdit.call({
          workflowId: "mine.json",
          operations: [{ op: "update", node: "Call", parameters: { value: "b", secret: "[redacted]" } }],
          dryRun: false,
          raw: false
        })
        assert.strictEqual(yield* text(file), own.replace("\"value\": \"a\"", "\"value\": \"b\""))
      })
    ))

  it.effect("name what there is instead of what there is not", () =>
    inWorld(() =>
      Effect.gen(function*() {
        const { workflowId } = yield* draft()
        const add = (more: Obj) =>
          Effect.flip(tools.nodeAdd.run({ workflowId, nodeType: "n8n-nodes-base.noOp", ...more }))
        assert.include((yield* add({ nodeType: "n8n-nodes-base.slak" })).hint, "n8n-nodes-base.slack")
        assert.include((yield* add({ after: "Hok" })).hint, "'Hook'")
        const unknown = yield* add({ nodeType: "n8n-nodes-base.httpRequest", parameters: { ulr: "x" } })
        assert.include(unknown.hint, "url")
        const port = yield* Effect.flip(
          tools.connectionCreate.run({ workflowId, sourceNodeId: "Hook", targetNodeId: "End", sourceOutput: "maybe" })
        )
        assert.include(port.hint, "main")
        const nobody = yield* Effect.flip(
          tools.nodeAdd.run({ workflowId: "draft-nothing", nodeType: "n8n-nodes-base.noOp" })
        )
        assert.include(nobody.message, "draft-nothing")
        assert.include(nobody.hint, "workflow_list")
        const version = yield* Effect.flip(
          tools.workflowEdit.run({
            workflowId,
            operations: [{ op: "enable", node: "End" }],
            expectedVersionId: "abc"
          })
        )
        assert.include(version.message, "A file has no versionId")
      })
    ))
})

describe("workflow_save", () => {
  it.effect("writes, keeps what was there, and never overwrites what is no workflow", () =>
    inWorld(({ folder }) =>
      Effect.gen(function*() {
        const fs = yield* FileSystem.FileSystem
        const workflowData = { name: "W", nodes: [], connections: {} }
        const save = (filePath: string, more: Obj = {}) =>
          tools.workflowSave.call({ workflowId: "abc123", workflowData: { ...workflowData, ...more }, filePath })
        yield* save("w.json")
        assert.strictEqual(obj(JSON.parse(yield* text(`${folder}/w.json`)))?.["id"], "abc123")
        yield* save("w.json", { name: "Other" })
        const { versions } = yield* tools.workflowHistory.call({ id: "w.json", limit: 20 })
        assert.strictEqual(versions.length, 1)
        yield* fs.writeFileString(`${folder}/package.json`, "{\"name\":\"x\"}")
        assert.strictEqual((yield* Effect.flip(save("package.json")))._tag, "ValidationError")
        assert.strictEqual(yield* text(`${folder}/package.json`), "{\"name\":\"x\"}")
        const none = yield* Effect.flip(
          tools.workflowSave.call({ workflowId: "x", workflowData: { name: "x" }, filePath: "x.json" })
        )
        assert.include(none.message, "is no workflow")
        assert.include((yield* Effect.flip(save("../out.json"))).message, "files root")
      })
    ))
})

for (const version of ["2", "1"] as const) {
  describe(`edits on n8n ${version}`, () => {
    it.effect("go through the safe write: a draft where there are drafts", () =>
      inWorld(() =>
        Effect.gen(function*() {
          const { filePath } = yield* draft()
          const { id } = yield* tools.createWorkflowFromFile.call({ filePath, raw: false })
          const added = yield* tools.nodeAdd.call({
            workflowId: id,
            nodeType: "n8n-nodes-base.noOp",
            after: "End",
            raw: false
          })
          assert.deepInclude(added, { source: "n8n", name: "No Operation, do nothing" })
          assert.isUndefined(added.published)
          const { nodes = [] } = yield* tools.getWorkflow.call({ id, raw: true })
          assert.strictEqual(nodes.length, 3)
          const replaced = yield* tools.nodeReplace.call({
            workflowId: id,
            targetNodeId: "End",
            newNodeType: "n8n-nodes-base.set",
            raw: false
          })
          assert.strictEqual(replaced.compatibilityReport.removedConnections.length, 0)
          assert.strictEqual(replaced.compatibilityReport.maintainedConnections.length, 2)
        }), version))

    it.effect("made at once lose none", () =>
      inWorld(() =>
        Effect.gen(function*() {
          const { filePath } = yield* draft()
          const { id } = yield* tools.createWorkflowFromFile.call({ filePath, raw: false })
          yield* Effect.forEach(
            ["A", "B", "C"],
            (name) => tools.nodeAdd.call({ workflowId: id, nodeType: "n8n-nodes-base.noOp", name, raw: false }),
            {
              concurrency: "unbounded"
            }
          )
          const { nodes = [] } = yield* tools.getWorkflow.call({ id, raw: true })
          assert.sameMembers(nodes.map(({ name }) => name), ["Hook", "End", "A", "B", "C"])
        }), version))
  })
}
