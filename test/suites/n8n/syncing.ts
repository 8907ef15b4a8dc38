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
import { contents, edit, json } from "../../sync/world.ts"
import { chain, code, made, manual, set } from "./builders.ts"
import type { RealN8n } from "./RealN8n.ts"

type It = Vitest.MethodsNonLive<RealN8n | N8nClient | Services.Services>

/** What belongs to the record, not to the workflow; each is another of a workflow that is made anew. */
const ofRecord = new Set(
  "id createdAt updatedAt versionId versionCounter shared activeVersion activeVersionId".split(" ")
)

const own = (workflow: Obj) => without(workflow, (_, key) => ofRecord.has(key))

const get = (id: string) => N8nClient.use((n8n) => n8n.getWorkflow(id))

/** Adds the tests to a suite. */
export const syncing = (it: It) => {
  it.effect(
    "sync: loses no field there and back, and pushes and pulls what changed on one side",
    () =>
      Effect.gen(function*() {
        const fs = yield* FileSystem.FileSystem
        const folder = yield* folderWith()
        const name = "Synced: A/B?"
        const id = yield* made(
          name,
          [manual, set("Out", "{\"a\":1}"), code("Code", "return [{ json: { v: 1 } }]")],
          chain("T", "Out", "Code")
        )
        const n8n = yield* N8nClient
        const before = yield* get(id)
        yield* n8n.putWorkflow(id, {
          name,
          nodes: before.nodes,
          connections: before.connections,
          settings: { executionOrder: "v1", timezone: "Europe/Berlin", saveManualExecutions: true },
          description: "what for",
          pinData: { Out: [{ json: { a: 1 } }] }
        })
        yield* n8n.setWorkflowTags(id, ["synced-b", "synced-a"])
        yield* Effect.gen(function*() {
          const extras = ["pinData" as const]
          const only = [id]
          yield* Sync.pull(".", { only, extras })
          const file = `${folder}/synced-a-b.json`
          const files = yield* contents(folder)
          yield* Sync.pull(".", { only, extras })
          assert.deepStrictEqual(yield* contents(folder), files)

          // Made anew from the file alone, it is the same in every field.
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

          yield* edit(file, "v: 1", "v: 2")
          const pushed = yield* Sync.push(".", { only: [again] })
          assert.deepStrictEqual(pushed.entries.map(({ action, error }) => [action, error]), [["updated", undefined]])
          const now = yield* get(again)
          assert.include(JSON.stringify(now.nodes), "v: 2")
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
          assert.include((yield* contents(folder))["synced-a-b.json"] ?? "", "Asia/Tokyo")
          assert.isTrue((yield* Sync.status(".", { only: [again] })).isSame)

          yield* fs.remove(file)
          const removed = yield* Sync.push(".", { only: [again], deletes: true })
          assert.deepStrictEqual(removed.entries.map(({ action }) => action), ["removed"])
          assert.strictEqual((yield* Effect.flip(get(again)))._tag, "NotFoundError")
        }).pipe(Effect.provide(WorkflowFiles.layer({ roots: [folder] })))
      }).pipe(Effect.scoped, Effect.provide(NodeServices.layer)),
    120_000
  )
}
