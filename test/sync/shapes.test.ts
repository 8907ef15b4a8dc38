/** One answer about each shape of a file, whoever asks: check, sync, promote, and the tools for files. */
import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, describe, it } from "@effect/vitest"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Layer from "effect/Layer"
import { type Obj, without } from "../../src/base/Json.ts"
import * as Inspection from "../../src/fleet/inspection/Inspection.ts"
import * as N8nClient from "../../src/n8n/N8nClient.ts"
import * as Sync from "../../src/sync/Sync.ts"
import * as N8nApi from "../../src/testing/n8nApi/N8nApi.ts"
import * as tools from "../../src/tools/index.ts"
import { clientOf, inWorld } from "../support/world.ts"
import { body, json, put } from "./workflows.ts"

const workflow: Obj = { id: "moved00000000000", active: false, ...body("Moved") }
const other: Obj = { id: "other00000000000", active: false, ...body("Other") }
const text = JSON.stringify(workflow, null, 2)
const utf16 = Buffer.from(text, "utf16le")
const fence = (value: unknown) => `\`\`\`json\n${JSON.stringify(value, null, 2)}\n\`\`\`\n`

interface Shape {
  readonly content: string | Uint8Array | object
  /** Status of the file whose workflow is on n8n as well; nothing of sync is about `something else`. */
  readonly is: "same" | "changed here" | "several" | "broken" | "something else"
  readonly file?: string
  /** Whether those who name the file take it, although it is not one of a folder's workflows. */
  readonly isTaken?: boolean
  /** Whether `check` says what is wrong with it. */
  readonly isFound?: boolean
}

const shapes: { readonly [shape: string]: Shape } = {
  "an object": { content: workflow, is: "same" },
  "a list of two": { content: [other, workflow], is: "several" },
  "in data": { content: { data: workflow }, is: "same" },
  "in workflowData": { content: { workflowId: "x", source: "n8n", workflowData: workflow }, is: "same" },
  "a page of two": { content: { data: [other, workflow], nextCursor: null }, is: "several" },
  "a block of Markdown": { content: `# Moved\n\n${fence(workflow)}\nNotes.\n`, is: "same" },
  "two blocks of Markdown": { content: fence(workflow) + fence(other), is: "broken", isFound: true },
  "the clipboard's, without a name": { content: without(workflow, (_, key) => key === "name"), is: "changed here" },
  "connections as an empty list": { content: { ...workflow, connections: [] }, is: "changed here" },
  "with a byte order mark": { content: `\uFEFF${text}`, is: "same", isFound: true },
  "in UTF-16": { content: Buffer.concat([Uint8Array.of(0xff, 0xfe), utf16]), is: "same", isFound: true },
  "with comments and trailing commas": {
    content: `// mine\n${text.replace(/\n\}$/, ",\n}")}`,
    is: "same",
    isFound: true
  },
  "cut off": { content: text.slice(0, -9), is: "broken", isFound: true },
  "nodes that are no list": { content: { ...workflow, nodes: {} }, is: "broken", isFound: true },
  "no connections": {
    content: without(workflow, (_, key) => key === "connections"),
    is: "broken",
    isTaken: true,
    isFound: true
  },
  "no nodes": { content: { id: workflow["id"], name: "Moved" }, is: "something else" },
  "a test case": {
    file: "kept.test.json",
    content: { workflow: "x.json", testData: [{ json: workflow }] },
    is: "something else"
  },
  "another program's": { content: { name: "p", dependencies: {}, id: workflow["id"] }, is: "something else" }
}

const sound = (findings: Inspection.Report["findings"]) =>
  findings.every(({ rule }) => !/^(invalid-json|unreadable-file|workflow-shape)$/.test(rule))

describe("a file", () => {
  for (const [shape, { content, file = "kept.json", is, isFound = false, isTaken = false }] of Object.entries(shapes)) {
    it.effect(`with a workflow, ${shape}, is ${is}`, () =>
      inWorld(function*({ api, folder }) {
        const fs = yield* FileSystem.FileSystem
        yield* Sync.pull(".")
        yield* fs.remove(`${folder}/moved.json`)
        const bytes = content instanceof Uint8Array
          ? content
          : new TextEncoder().encode(typeof content === "string" ? content : JSON.stringify(content, null, 2))
        yield* fs.writeFile(`${folder}/${file}`, bytes)
        const isWorkflow = is === "same" || is === "changed here"

        const { findings, others, places } = yield* Inspection.inFolder({ root: folder, shownAs: "" }).pipe(
          Effect.provide(NodeServices.layer)
        )
        const isOther = is === "something else"
        assert.deepStrictEqual(places, isOther ? [] : [file])
        assert.strictEqual(others.some((each) => each.file === file && each.what !== undefined), isOther)
        if (isFound || is === "same") {
          const isWrapped = findings.some(({ severity }) => severity === "warning")
          assert.strictEqual(sound(findings), !isFound && !isWrapped)
        }

        const { entries } = yield* Sync.status(".")
        const expected = isWorkflow
          ? [[file, is]]
          : [...(isOther ? [] : [[file, "invalid"]]), ["moved.json", "invalid"]]
        assert.deepStrictEqual(entries.map((each) => [each.file, each.status]), expected)
        for (const [dryRun, deletes] of [[true, false], [true, true], [false, true]] as const) {
          const pushed = yield* Effect.result(Sync.push(".", { dryRun, deletes }))
          if (pushed._tag === "Failure") {
            assert.isTrue(isOther)
            assert.include(pushed.failure.message, `only ${file} (it `)
            continue
          }
          assert.strictEqual(pushed.success.hasErrors, !isWorkflow)
          assert.deepStrictEqual(
            pushed.success.entries.flatMap(({ action }) => action ?? []),
            is === "changed here" ? ["updated"] : []
          )
        }
        assert.lengthOf(yield* api.workflows, 1)

        const target = yield* N8nApi.make({ workflows: [], executions: [] })
        const to = Context.get(yield* Layer.build(clientOf(target.client, { host: "other.test" })), N8nClient.N8nClient)
        const promoted = yield* Effect.result(Sync.promote(".", { from: "folder", to }))
        if (promoted._tag === "Failure") {
          assert.isTrue(isOther)
          assert.include(promoted.failure.message, `only ${file} (it `)
        } else {assert.deepStrictEqual(
            promoted.success.obstacles.map(({ workflow }) => workflow),
            isWorkflow ? [] : [file]
          )}
        assert.lengthOf(yield* target.workflows, isWorkflow ? 1 : 0)

        const loaded = yield* Effect.result(tools.workflowLoad.call({ workflowIdOrPath: file }))
        const created = yield* Effect.result(tools.createWorkflowFromFile.call({ filePath: file }))
        const tag = isWorkflow || isTaken ? "Success" : "Failure"
        assert.strictEqual(created._tag, tag, JSON.stringify(created))
        if (shape !== "nodes that are no list") assert.strictEqual(loaded._tag, tag, JSON.stringify(loaded))
        if (loaded._tag === "Success" && isWorkflow) {
          assert.deepInclude(loaded.success.workflowData, { id: "moved00000000000", nodes: workflow["nodes"] as never })
        }
        assert.deepStrictEqual(isWorkflow && is === "same" ? yield* fs.readFile(`${folder}/${file}`) : bytes, bytes)
      }, { seed: { workflows: [workflow as never], executions: [] } }))
  }

  it.effect("with several workflows is taken one by one, by id or by name, and keeps the others", () =>
    inWorld(function*({ api, folder }) {
      const value = { note: "mine", data: [other, { ...workflow, settings: { timezone: "UTC" } }] }
      yield* put(`${folder}/all.json`, JSON.stringify(value, null, 2))
      const [{ detail = "" } = {}] = (yield* Sync.status(".", { only: ["all.json"] })).entries
      assert.include(detail, "contains 2 workflows: 'Other' (other00000000000), 'Moved' (moved00000000000)")
      assert.include(detail, "all.json#ID")
      assert.include(
        (yield* Effect.flip(tools.createWorkflowFromFile.call({ filePath: "all.json" }))).message,
        "contains 2 workflows"
      )
      for (const selector of ["moved00000000000", "Moved"]) {
        const { workflowData } = yield* tools.workflowLoad.call({ workflowIdOrPath: `all.json#${selector}` })
        assert.deepInclude(workflowData, { name: "Moved" })
      }
      const missing = yield* Effect.flip(tools.workflowLoad.call({ workflowIdOrPath: "all.json#nobody" }))
      assert.include(missing.message, "it has no 'nobody'")

      // A push writes the id of n8n into this one alone.
      const pushed = yield* Sync.push(".", { only: ["all.json#Moved"] })
      assert.deepStrictEqual(pushed.entries.map(({ action, file }) => [file, action]), [["all.json#Moved", "created"]])
      const [made] = yield* api.workflows
      const after = yield* json(`${folder}/all.json`)
      const settings = { executionOrder: "v1", timezone: "UTC" }
      assert.deepStrictEqual(after, { ...value, data: [other, { ...value.data[1], id: made?.id, settings }] })
      yield* tools.workflowEdit.call({
        workflowId: "all.json#Other",
        operations: [{ op: "rename", node: "Code", to: "Renamed" }]
      })
      const edited = yield* json(`${folder}/all.json`)
      assert.include(JSON.stringify(edited["data"]), "Renamed")
      assert.deepStrictEqual(
        (edited["data"] as ReadonlyArray<unknown>)[1],
        (after["data"] as ReadonlyArray<unknown>)[1]
      )
      const saved = yield* Effect.flip(tools.workflowSave.call({ workflowId: made?.id ?? "", filePath: "all.json" }))
      assert.include(saved.message, "contains 2 workflows")
      assert.deepStrictEqual(yield* json(`${folder}/all.json`), edited)
      const removed = yield* Effect.flip(
        tools.workflowSave.call({ workflowId: made?.id ?? "", filePath: "all.json#nobody" })
      )
      assert.include(removed.message, "it has no 'nobody'")
    }))

  it.effect("is not removed with its workflow, if there is more in it", () =>
    inWorld(function*({ api, folder }) {
      const files = {
        "list.json": [workflow],
        "more.json": { note: "mine", data: { ...other, id: "more000000000000" } },
        "notes.json": `# Notes\n\n${fence({ ...workflow, id: "notes00000000000" })}`
      }
      for (const [name, value] of Object.entries(files)) {
        yield* put(`${folder}/${name}`, typeof value === "string" ? value : JSON.stringify(value))
      }
      yield* Sync.push(".")
      const n8n = yield* N8nClient.N8nClient
      for (const { id } of yield* api.workflows) yield* n8n.deleteWorkflow(id)
      const { entries } = yield* Sync.pull(".", { deletes: true })
      assert.deepStrictEqual(entries.map(({ action, error, file }) => [file, action ?? error?.message]), [
        ["list.json", "removed"],
        ["more.json", `File '${folder}/more.json' contains more than this workflow`],
        ["notes.json", `File '${folder}/notes.json' contains more than this workflow`]
      ])
    }))

  it.effect("that is broken stands for the workflow whose id it has, also before the first sync", () =>
    inWorld(function*({ folder }) {
      const fs = yield* FileSystem.FileSystem
      yield* put(`${folder}/cut.json`, JSON.stringify(workflow).slice(0, -40))
      const { entries } = yield* Sync.status(".")
      assert.deepStrictEqual(entries.map(({ file, id, status }) => [file, id, status]), [
        ["cut.json", "moved00000000000", "invalid"]
      ])
      yield* Sync.pull(".")
      assert.notInclude(yield* fs.readDirectory(folder), "moved.json")
    }, { seed: { workflows: [workflow as never], executions: [] } }))

  it.effect("that equals its workflow is recorded by a push, and its change on n8n does not become a conflict", () =>
    inWorld(function*({ folder }) {
      const fs = yield* FileSystem.FileSystem
      yield* put(`${folder}/mine.json`, workflow)
      yield* Sync.push(".", { dryRun: true })
      assert.isFalse(yield* fs.exists(`${folder}/.n8n-sync.json`))
      yield* Sync.push(".")
      yield* tools.workflowEdit.call({
        workflowId: "moved00000000000",
        operations: [{ op: "name", name: "Moved on n8n" }]
      })
      const { entries } = yield* Sync.status(".")
      assert.deepStrictEqual(entries.map(({ file, status }) => [file, status]), [["mine.json", "changed there"]])
    }, { seed: { workflows: [workflow as never], executions: [] } }))
})
