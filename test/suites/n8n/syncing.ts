/** A folder in step with a real n8n. */
import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, type Vitest } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import type * as Services from "../../../src/app/Services.ts"
import { type Obj, without } from "../../../src/base/Json.ts"
import { N8nClient } from "../../../src/n8n/N8nClient.ts"
import * as Sync from "../../../src/sync/Sync.ts"
import * as WorkflowFiles from "../../../src/workflows/files/WorkflowFiles.ts"
import { folderWith } from "../../support/folders.ts"
import { node } from "../../support/workflows.ts"
import { deletesNothingUnread } from "../../sync/doubtful.ts"
import { deletesNothingPresent, keepsItsForm } from "../../sync/otherForms.ts"
import { contents, edit, json } from "../../sync/workflows.ts"
import { chain, code, made, manual, set } from "./builders.ts"
import type { RealN8n } from "./RealN8n.ts"

type It = Vitest.MethodsNonLive<RealN8n | N8nClient | Services.Services>

/** What belongs to the record, not to the workflow; each is another of a workflow that is made anew. */
const ofRecord = new Set(
  "id createdAt updatedAt versionId versionCounter shared activeVersion activeVersionId".split(" ")
)

const own = (workflow: Obj) => without(workflow, (_, key) => ofRecord.has(key))

const get = (id: string) => N8nClient.use((n8n) => n8n.getWorkflow(id))

/** A node with every key that n8n keeps of one. */
const whole = (v2: boolean) =>
  node("Whole", "httpRequest", 4.2, { url: "https://example.com", options: { timeout: 1000 } }, {
    disabled: true,
    notes: "a note",
    notesInFlow: true,
    retryOnFail: true,
    maxTries: 2,
    waitBetweenTries: 10,
    alwaysOutputData: true,
    executeOnce: true,
    onError: "continueErrorOutput",
    webhookId: "6c1a3f5e-0000-4000-8000-0000000000aa",
    ...(v2 ? {} : { continueOnFail: false })
  })

const long = (version: number) =>
  ["// long", "const v = " + version, "", "const w = v", "return [{ json: { v, w } }]"].join("\n")

/** Adds the tests to a suite. */
export const syncing = (it: It, v2: boolean) => {
  it.effect(
    "sync: loses no field there and back, and pushes and pulls what changed on one side",
    () =>
      Effect.gen(function*() {
        const fs = yield* FileSystem.FileSystem
        const folder = yield* folderWith()
        const name = "Synced: A/B?"
        const id = yield* made(
          name,
          [manual, set("Out", "{\"a\":1}"), code("Code", long(1)), whole(v2)],
          chain("T", "Out", "Code", "Whole")
        )
        const n8n = yield* N8nClient
        const before = yield* get(id)
        const settings = {
          executionOrder: "v1",
          timezone: "Europe/Berlin",
          saveManualExecutions: true,
          saveExecutionProgress: true,
          saveDataErrorExecution: "all",
          saveDataSuccessExecution: "none",
          executionTimeout: 100,
          errorWorkflow: id
        }
        yield* n8n.putWorkflow(id, {
          name,
          nodes: before.nodes,
          connections: before.connections,
          settings,
          ...(v2
            ? {
              description: "what for",
              pinData: { Out: [{ json: { a: 1 } }] },
              nodeGroups: [{ id: "g", name: "Group", nodeIds: ["id of Out", "id of Code"] }]
            }
            : {})
        })
        yield* n8n.setWorkflowTags(id, ["synced-b", "synced-a"])
        yield* Effect.gen(function*() {
          const extras = v2 ? ["pinData" as const] : []
          const only = [id]
          yield* Sync.pull(".", { only, extras })
          const file = `${folder}/synced-a-b.json`
          const plain = yield* contents(folder)
          yield* Sync.pull(".", { only, extras })
          assert.deepStrictEqual(yield* contents(folder), plain)

          // Code in a file of its own, and back, byte for byte.
          yield* Sync.pull(".", { only, splitsCode: true })
          const files = yield* contents(folder)
          assert.strictEqual(files["synced-a-b.code/code.js"], long(1))
          assert.isTrue((yield* Sync.pull(".", { only, splitsCode: true })).isSame)
          yield* Sync.pull(".", { only, splitsCode: false })
          assert.deepStrictEqual(yield* contents(folder), plain)
          yield* Sync.pull(".", { only, splitsCode: true })
          assert.deepStrictEqual(yield* contents(folder), files)

          // Made anew from the files alone, it is the same in every field.
          const original = yield* get(id)
          yield* n8n.deleteWorkflow(id)
          yield* fs.remove(`${folder}/.n8n-sync.json`)
          const created = yield* Sync.push(".", { among: ["synced-a-b.json"], extras })
          const [entry] = created.entries
          assert.strictEqual(entry?.action, "created", JSON.stringify(entry))
          const again = entry?.id ?? ""
          const tagNames = (workflow: Obj) => ({
            ...own(workflow),
            tags: (workflow["tags"] as ReadonlyArray<{ readonly name: string }>).map(({ name }) => name).toSorted()
          })
          assert.deepStrictEqual(tagNames(yield* get(again)), tagNames(original))
          assert.strictEqual((yield* json(file))["id"], again)

          yield* edit(`${folder}/synced-a-b.code/code.js`, "v = 1", "v = 2")
          const pushed = yield* Sync.push(".", { only: [again] })
          assert.deepStrictEqual(pushed.entries.map(({ action, error }) => [action, error]), [["updated", undefined]])
          const now = yield* get(again)
          assert.include(JSON.stringify(now.nodes), "v = 2")
          assert.deepStrictEqual(
            tagNames({ ...now, nodes: original.nodes }),
            tagNames(original),
            "a push changes nothing else"
          )
          yield* n8n.putWorkflow(again, {
            name,
            nodes: now.nodes,
            connections: now.connections,
            settings: { timezone: "Asia/Tokyo" }
          })
          const pulled = yield* Sync.pull(".", { only: [again] })
          assert.deepStrictEqual(pulled.entries.map(({ action, status }) => [status, action]), [[
            "changed there",
            "updated"
          ]])
          const after = yield* contents(folder)
          assert.include(after["synced-a-b.json"] ?? "", "Asia/Tokyo")
          assert.strictEqual(after["synced-a-b.code/code.js"], long(2))
          assert.isTrue((yield* Sync.status(".", { only: [again] })).isSame)

          // A secret leaves the file, and comes back with what was edited around it.
          const secret = { parameters: [{ name: "X-Api-Key", value: "s3cr3t-値-$&" }] }
          const asking = node("Ask", "httpRequest", 4.2, { url: "https://example.com", headerParameters: secret })
          yield* n8n.putWorkflow(again, {
            name,
            nodes: [...now.nodes, asking],
            connections: now.connections,
            settings: {}
          })
          assert.isTrue((yield* Sync.pull(".", { only: [again], secrets: "refuse" })).hasSecrets)
          yield* Sync.pull(".", { only: [again], secrets: "extract" })
          for (const [each, text] of Object.entries(yield* contents(folder))) {
            assert.strictEqual(text.includes("s3cr3t"), each === ".n8n-secrets.json", each)
          }
          yield* edit(file, "\"Ask\"", "\"Ask again\"")
          assert.deepStrictEqual((yield* Sync.push(".", { only: [again] })).entries.map(({ action }) => action), [
            "updated"
          ])
          const asked = (yield* get(again)).nodes.find((each) => each.name === "Ask again")
          assert.deepInclude(asked?.parameters, { headerParameters: secret })

          yield* fs.remove(file)
          const removed = yield* Sync.push(".", { only: [again], deletes: true })
          assert.deepStrictEqual(removed.entries.map(({ action }) => action), ["removed"])
          assert.strictEqual((yield* Effect.flip(get(again)))._tag, "NotFoundError")
          // With the code that the file left behind.
          assert.deepStrictEqual(yield* fs.readDirectory(folder), [".gitignore", ".n8n-secrets.json", ".n8n-sync.json"])
        }).pipe(Effect.provide(WorkflowFiles.layer({ roots: [folder] })))
      }).pipe(Effect.scoped, Effect.provide(NodeServices.layer)),
    120_000
  )

  it.effect(
    "sync: deletes nothing while a file is unreadable, for any selection",
    () =>
      Effect.gen(function*() {
        const folder = yield* folderWith()
        yield* deletesNothingUnread(folder).pipe(Effect.provide(WorkflowFiles.layer({ roots: [folder] })))
      }).pipe(Effect.scoped, Effect.provide(NodeServices.layer)),
    300_000
  )

  it.effect(
    "sync: deletes nothing while its id is in any file of the folder",
    () =>
      Effect.gen(function*() {
        const folder = yield* folderWith()
        const forms = [
          "a list of one",
          "connections as a list",
          "in data",
          "cut off",
          "Markdown",
          "in another workflow"
        ]
        yield* deletesNothingPresent(folder, forms).pipe(Effect.provide(WorkflowFiles.layer({ roots: [folder] })))
      }).pipe(Effect.scoped, Effect.provide(NodeServices.layer)),
    300_000
  )
}
