/** A folder in step with a real n8n. */
import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, type Vitest } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import type * as Services from "../../../src/app/Services.ts"
import { arr, type Obj, obj, without } from "../../../src/base/Json.ts"
import { N8nClient } from "../../../src/n8n/N8nClient.ts"
import * as Sync from "../../../src/sync/Sync.ts"
import * as WorkflowFiles from "../../../src/workflows/files/WorkflowFiles.ts"
import { folderWith } from "../../support/folders.ts"
import { node } from "../../support/workflows.ts"
import { deletesNothingUnread } from "../../sync/doubtful.ts"
import { deletesNothingPresent } from "../../sync/otherForms.ts"
import { contents, edit, json } from "../../sync/workflows.ts"
import { chain, code, made, manual, set } from "./builders.ts"
import type { RealN8n } from "./RealN8n.ts"

type It = Vitest.MethodsNonLive<RealN8n | N8nClient | Services.Services>

/** Keys of the record, which differ in a workflow that is created again. */
const ofRecord = new Set(
  "id createdAt updatedAt versionId versionCounter shared activeVersion activeVersionId".split(" ")
)

const own = (workflow: Obj) => ({
  ...without(workflow, (_, key) => ofRecord.has(key)),
  tags: arr(workflow["tags"]).map((tag) => String(obj(tag)?.["name"])).toSorted()
})

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

/** Adds the tests to a suite. The releases differ: n8n 1 has no descriptions, pinned data and groups of nodes. */
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
        const extras = v2 ? ["pinData" as const] : []
        const files = contents(folder)
        const file = `${folder}/synced-a-b.json`
        yield* Effect.gen(function*() {
          const only = [id]
          yield* Sync.pull(".", { only, extras })
          const plain = yield* files
          yield* Sync.pull(".", { only, extras })
          assert.deepStrictEqual(yield* files, plain)

          // Code in a file of its own, and back, byte for byte.
          yield* Sync.pull(".", { only, splitsCode: true })
          assert.strictEqual((yield* files)["synced-a-b.code/code.js"], long(1))
          yield* Sync.pull(".", { only, splitsCode: false })
          assert.deepStrictEqual(yield* files, plain)
          yield* Sync.pull(".", { only, splitsCode: true })

          // A workflow that is made from the files alone is the same in every field.
          const original = yield* get(id)
          yield* n8n.deleteWorkflow(id)
          yield* fs.remove(`${folder}/.n8n-sync.json`)
          const [entry] = (yield* Sync.push(".", { among: ["synced-a-b.json"], extras })).entries
          assert.strictEqual(entry?.action, "created", JSON.stringify(entry))
          const again = entry?.id ?? ""
          const push = Effect.map(Sync.push(".", { only: [again], deletes: true }), ({ entries }) =>
            entries.map(({ action, error }) => action ?? error?.message))
          assert.deepStrictEqual(own(yield* get(again)), own(original))
          assert.strictEqual((yield* json(file))["id"], again)

          yield* edit(`${folder}/synced-a-b.code/code.js`, "v = 1", "v = 2")
          assert.deepStrictEqual(yield* push, ["updated"])
          const now = yield* get(again)
          assert.include(JSON.stringify(now.nodes), "v = 2")
          assert.deepStrictEqual(own({ ...now, nodes: original.nodes }), own(original), "a push changes nothing else")
          const put = (nodes: typeof now.nodes, settings: Obj) =>
            n8n.putWorkflow(again, { name, nodes, connections: now.connections, settings })
          yield* put(now.nodes, { timezone: "Asia/Tokyo" })
          yield* Sync.pull(".", { only: [again] })
          const { "synced-a-b.code/code.js": js, "synced-a-b.json": text } = yield* files
          assert.include(text, "Asia/Tokyo")
          assert.strictEqual(js, long(2))
          assert.isTrue((yield* Sync.status(".", { only: [again] })).isSame)

          // A secret leaves the file, and comes back with what was edited around it.
          const secret = { parameters: [{ name: "X-Api-Key", value: "s3cr3t-値-$&" }] }
          const asking = node("Ask", "httpRequest", 4.2, { url: "https://example.com", headerParameters: secret })
          yield* put([...now.nodes, asking], {})
          assert.isTrue((yield* Sync.pull(".", { only: [again], secrets: "refuse" })).hasSecrets)
          yield* Sync.pull(".", { only: [again], secrets: "extract" })
          for (const [each, text] of Object.entries(yield* files)) {
            assert.strictEqual(text.includes("s3cr3t"), each === ".n8n-secrets.json", each)
          }
          yield* edit(file, "\"Ask\"", "\"Ask again\"")
          assert.deepStrictEqual(yield* push, ["updated"])
          const asked = (yield* get(again)).nodes.find((each) =>
            each.name === "Ask again"
          )
          assert.deepInclude(asked?.parameters, { headerParameters: secret })

          yield* fs.remove(file)
          assert.deepStrictEqual(yield* push, ["removed"])
          assert.strictEqual((yield* Effect.flip(get(again)))._tag, "NotFoundError")
          // With the code that the file left behind.
          assert.deepStrictEqual(yield* fs.readDirectory(folder), [".gitignore", ".n8n-secrets.json", ".n8n-sync.json"])
        }).pipe(Effect.provide(WorkflowFiles.layer({ roots: [folder] })))
      }).pipe(Effect.scoped, Effect.provide(NodeServices.layer)),
    120_000
  )

  const forms = ["a list of one", "connections as a list", "in data", "cut off", "Markdown", "in another workflow"]
  for (
    const [title, test] of [
      ["a file is unreadable, for any selection", deletesNothingUnread],
      ["its id is in any file of the folder", (folder: string) => deletesNothingPresent(folder, forms)]
    ] as const
  ) {
    it.effect(
      `sync: deletes nothing while ${title}`,
      () =>
        Effect.flatMap(folderWith(), (folder) => Effect.provide(test(folder), WorkflowFiles.layer({ roots: [folder] })))
          .pipe(Effect.scoped, Effect.provide(NodeServices.layer)),
      300_000
    )
  }
}
