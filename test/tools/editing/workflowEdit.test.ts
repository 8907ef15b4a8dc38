import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Hints from "../../../src/answer/Hints.ts"
import { arr, type Obj, obj } from "../../../src/base/Json.ts"
import * as Omission from "../../../src/base/Omission.ts"
import * as tools from "../../../src/tools/index.ts"
import { text } from "../../support/folders.ts"
import { inWorld } from "../../support/world.ts"
import { draft, nodeNames } from "../workflows.ts"

describe("workflow_edit", () => {
  it.effect("makes all changes or none, and a dry run writes nothing", () =>
    inWorld(function*() {
      const { filePath, workflowId } = yield* draft()
      const before = yield* text(filePath)
      const operations = [{ op: "rename" as const, node: "Hook", to: "受付" }, { op: "disable" as const, node: "End" }]
      const dry = yield* tools.workflowEdit.call({ workflowId, operations, dryRun: true })
      assert.deepInclude(dry, { applied: false, source: "draft" })
      assert.strictEqual(dry.changes.length, 2)
      assert.strictEqual(yield* text(filePath), before)
      const error = yield* Effect.flip(
        tools.workflowEdit.call({ workflowId, operations: [...operations, { op: "remove", node: "Nobody" }] })
      )
      assert.include(Hints.text(error.hint), "Nothing was changed.")
      assert.strictEqual(yield* text(filePath), before)
      yield* tools.workflowEdit.call({ workflowId, operations })
      assert.deepStrictEqual(nodeNames(JSON.parse(yield* text(filePath))), ["受付", "End"])
    }))

  it.effect("says that nothing was applied if everything is so already", () =>
    inWorld(function*() {
      const { workflowId } = yield* draft()
      const disable = () => tools.workflowEdit.run({ workflowId, operations: [{ op: "disable", node: "End" }] })
      assert.deepInclude((yield* disable()).data, { applied: true })
      const { data, message } = yield* disable()
      assert.deepInclude(data, { applied: false, source: "draft" })
      assert.match(String(message), /^Nothing to change/)
    }))

  it.effect("keeps how a person formatted a file, and the secrets that answers do not show", () =>
    inWorld(function*({ folder }) {
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
        operations: [{ op: "update", node: "Call", parameters: { value: "b", secret: "[redacted]" } }]
      })
      assert.strictEqual(yield* text(file), own.replace("\"value\": \"a\"", "\"value\": \"b\""))
    }))

  it.effect("refuses in a dry run, too, a text of which an answer left out a part", () =>
    inWorld(function*() {
      const { workflowId } = yield* draft()
      const { id } = yield* tools.createWorkflow.call({
        name: "Drawing",
        nodes: [{ name: "Draw", type: "n8n-nodes-base.code", parameters: { jsCode: "return $input.all()" } }],
        connections: {}
      })
      const jsCode = `const logo = "${Omission.note(120_000, false, "image/png")}"`
      for (const [of, node, path] of [[id, "Draw", "jsCode"], [workflowId, "Hook", "path"]] as const) {
        for (const dryRun of [true, false]) {
          const operations = [{ op: "set" as const, node, path, value: jsCode }]
          const error = yield* Effect.flip(tools.workflowEdit.call({ workflowId: of, operations, dryRun }))
          assert.include(error.message, `parameters.${path}: it was truncated in an answer`)
          assert.include(Hints.text(error.hint), "op: \"replace\"")
        }
      }
      const bulk = yield* tools.bulkEdit.call({
        select: { ids: [id] },
        operations: [{ op: "replace", find: "return", with: jsCode }],
        dryRun: true
      })
      assert.include(JSON.stringify(bulk), "it was truncated in an answer")
    }))

  it.effect("finds no change in a text that is sent back as an answer shows it", () =>
    inWorld(function*() {
      const image = Buffer.from(Array.from({ length: 3_000 }, (_, index) => index * index * 7 % 251)).toString("base64")
      const jsCode = `const logo = "data:image/png;base64,${image}"\nreturn $input.all()`
      const { id } = yield* tools.createWorkflow.call({
        name: "Drawing",
        nodes: [{ name: "Draw", type: "n8n-nodes-base.code", typeVersion: 2, parameters: { jsCode } }],
        connections: {}
      })
      const shown = Omission.files(jsCode)
      assert.notInclude(shown, image)
      const edit = (parameters: Obj, dryRun: boolean) =>
        tools.workflowEdit.call({ workflowId: id, operations: [{ op: "update", node: "Draw", parameters }], dryRun })
      for (const dryRun of [true, false]) {
        assert.deepInclude(yield* edit({ jsCode: shown }, dryRun), {
          applied: false,
          changes: ["'Draw' already has these values"]
        })
        const both = yield* edit({ jsCode: shown, mode: "runOnceForEachItem" }, dryRun)
        assert.lengthOf(both.changes, 1)
        assert.include(both.changes[0], "mode")
      }
      const missing = (find: string) =>
        Effect.map(
          Effect.flip(tools.workflowEdit.call({
            workflowId: id,
            operations: [{ op: "replace", node: "Draw", path: "jsCode", find, with: "" }]
          })),
          ({ hint }) => Hints.text(hint)
        )
      assert.notInclude(yield* missing("no such line"), image.slice(0, 200))
      assert.include(yield* missing(shown.split("\n")[0] ?? ""), "a note for what an answer left out")
      const { nodes } = yield* tools.getWorkflow.call({ id, nodes: ["Draw"] })
      assert.deepInclude(obj(obj(nodes?.[0])?.["parameters"]), { jsCode, mode: "runOnceForEachItem" })
    }))

  it.effect("takes a position as workflows have it, and as node_add takes it", () =>
    inWorld(function*() {
      const { filePath, workflowId } = yield* draft()
      const position = (name: string) =>
        Effect.map(text(filePath), (file) =>
          arr(obj(JSON.parse(file))?.["nodes"]).map(obj).find((node) => node?.["name"] === name)?.["position"])
      const move = (position: unknown) =>
        tools.workflowEdit.run({ workflowId, operations: [{ op: "move", node: "End", position }] })
      yield* move([10, 20])
      assert.deepStrictEqual(yield* position("End"), [10, 20])
      yield* move({ x: 30.4, y: 40 })
      assert.deepStrictEqual(yield* position("End"), [30, 40])
      const noOp = { op: "add", type: "n8n-nodes-base.noOp", name: "New", position: [50, 60] }
      yield* tools.workflowEdit.run({ workflowId, operations: [noOp] })
      assert.deepStrictEqual(yield* position("New"), [50, 60])
      for (const wrong of [[1], [1, 2, 3], { x: 1 }, "1,2"]) {
        const { message } = yield* Effect.flip(move(wrong))
        assert.match(message, /operations\[0\]\.position/)
      }
    }))

  it.effect("names the right key and the right operation, and where", () =>
    inWorld(function*() {
      const { workflowId } = yield* draft()
      const operations = [{ op: "tidy" }, { op: "rename", node: "End", name: "X" }, { op: "tidi" }]
      const { message } = yield* Effect.flip(tools.workflowEdit.run({ workflowId, operations }))
      assert.include(message, "operations[1]: Invalid keys: rename takes node and to, not 'name'; missing: to")
      assert.include(message, "operations[2]: Invalid operation 'tidi'. Did you mean 'tidy'?")
    }))

  it.effect("refuses a versionId for a file, which has none", () =>
    inWorld(function*() {
      const { workflowId } = yield* draft()
      const version = yield* Effect.flip(
        tools.workflowEdit.run({ workflowId, operations: [{ op: "enable", node: "End" }], expectedVersionId: "abc" })
      )
      assert.include(version.message, "A file has no versionId")
    }))
})
