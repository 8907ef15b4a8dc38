/** Publication and test copies on a real n8n: what waits goes live where it is asked for, and a copy is no workflow. */
import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, type Vitest } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as FileSystem from "effect/FileSystem"
import * as Schedule from "effect/Schedule"
import type * as Services from "../../../src/app/Services.ts"
import type { N8nError } from "../../../src/base/Errors.ts"
import { type Obj, obj, str } from "../../../src/base/Json.ts"
import * as TestMark from "../../../src/n8n/model/TestMark.ts"
import { N8nClient } from "../../../src/n8n/N8nClient.ts"
import * as Sync from "../../../src/sync/Sync.ts"
import * as tools from "../../../src/tools/index.ts"
import * as WorkflowFiles from "../../../src/workflows/files/WorkflowFiles.ts"
import * as Policy from "../../../src/workflows/policy/Policy.ts"
import { folderWith } from "../../support/folders.ts"
import { node } from "../../support/workflows.ts"
import { edit } from "../../sync/workflows.ts"
import { chain, code, connected, made, manual, set, test } from "./builders.ts"
import type { RealN8n } from "./RealN8n.ts"
import * as Recorder from "./Recorder.ts"
import * as scenarios from "./scenarios.ts"

type Needs = N8nClient | Services.Services
type It = Vitest.MethodsNonLive<RealN8n | Needs>

// 1.x registers the path alone only with an id of its own.
const hook = (path: string) =>
  node("Hook", "webhook", 2, { path, httpMethod: "POST", responseMode: "lastNode" }, { webhookId: path })

/** A workflow whose webhook answers with a word. */
const speaking = (name: string, path: string, word: string) => ({
  name,
  nodes: [hook(path), set("Say", `{ word: "${word}" }`)],
  connections: connected(chain("Hook", "Say")),
  settings: { executionOrder: "v1" }
})

/** What the webhook answers to somebody outside; `-` where n8n knows none. */
const said = (path: string) =>
  Effect.map(
    scenarios.postWebhook(path),
    ({ status, text }) => status === 404 ? "-" : str(obj(JSON.parse(text))?.["word"])
  )

const newPath = () => `p-${crypto.randomUUID()}`

const done = ({ entries }: Sync.Report<Sync.Outcome>) =>
  entries.flatMap(({ action, error, name, published }) =>
    action === undefined && error === undefined ? [] : [[name, action ?? error?.message, published]]
  )

/**
 * Adds the tests to a suite. The releases differ: without drafts every change goes live, n8n 1 archives nothing, and its
 * webhooks without an id answer at another path.
 */
export const publishing = (it: It, { drafts, v2 }: { readonly drafts: boolean; readonly v2: boolean }) => {
  it.effect("publish: a new webhook answers at its path, one that n8n has without an id where it did", () =>
    Effect.gen(function*() {
      const [path, old] = [newPath(), newPath()]
      const bare = (name: string, path: string, word: string) => {
        const { nodes, ...workflow } = speaking(name, path, word)
        return { ...workflow, nodes: nodes.map(({ webhookId: _, ...node }: Obj) => node) }
      }
      const created = yield* tools.createWorkflow.call({ ...bare("Bare", path, "one"), active: true })
      assert.notProperty(created, "warnings")
      assert.strictEqual(yield* said(path), "one")

      const { id } = yield* N8nClient.use((n8n) => n8n.createWorkflow(bare("Old", old, "one") as never))
      const before = yield* N8nClient.use((n8n) => n8n.getWorkflow(id))
      yield* tools.updateWorkflow.call({ id, nodes: bare("Old", old, "two").nodes })
      const after = yield* N8nClient.use((n8n) => n8n.getWorkflow(id))
      const activated = yield* tools.activateWorkflow.call({ id })
      const address = v2 ? old : `${id}/hook/${old}`
      assert.strictEqual(yield* said(address), "two")
      const warnings = v2 ? undefined : [`'Hook' has no webhookId, so it answers at /webhook/${address}`]
      assert.deepStrictEqual(activated.warnings, warnings)
      assert.strictEqual(after.nodes[0]?.["webhookId"], before.nodes[0]?.["webhookId"])
    }))

  it.effect(
    "publish: a push publishes what an earlier push left, and nothing else",
    () =>
      Effect.gen(function*() {
        const fs = yield* FileSystem.FileSystem
        const folder = yield* folderWith()
        const [path, newFile, off] = [newPath(), newPath(), newPath()]
        const live = yield* tools.createWorkflow.call({
          ...speaking("Pushed", path, "one"),
          active: true
        })
        const resting = yield* tools.createWorkflow.call({ ...speaking("Resting", off, "one") })
        yield* Effect.gen(function*() {
          const only = [live.id, resting.id]
          yield* Sync.pull(".", { only })
          yield* edit(`${folder}/pushed.json`, "one", "two")
          yield* fs.writeFileString(`${folder}/new.json`, JSON.stringify(speaking("New", newFile, "one")))
          assert.deepStrictEqual(done(yield* Sync.push(".", { among: ["pushed.json", "new.json"] })), [
            ["New", "created", undefined],
            ["Pushed", "updated", !drafts]
          ])
          assert.deepStrictEqual([yield* said(path), yield* said(newFile)], [drafts ? "one" : "two", "-"])

          const among = ["pushed.json", "new.json", "resting.json"]
          const waiting = [["New", "updated", true], ...drafts ? [["Pushed", "updated", true]] : []]
          const dry = yield* Sync.push(".", { among, publishes: true, dryRun: true })
          assert.deepStrictEqual(done(dry).map(([name]) => name), waiting.map(([name]) => name))
          assert.deepStrictEqual(done(yield* Sync.push(".", { among, publishes: true })), waiting)
          assert.deepStrictEqual([yield* said(path), yield* said(newFile), yield* said(off)], ["two", "one", "-"])
          assert.deepStrictEqual(done(yield* Sync.push(".", { among, publishes: true })), [])

          const named = yield* Sync.push(".", { only: [resting.id], publishes: true })
          assert.deepStrictEqual(done(named), [["Resting", "updated", true]])
          assert.strictEqual(yield* said(off), "one")
        }).pipe(Effect.provide(WorkflowFiles.layer({ roots: [folder] })))
      }).pipe(Effect.scoped, Effect.provide(NodeServices.layer)),
    120_000
  )

  it.effect(
    "copies: while a test runs, no list, sync, audit or overview has its copy, and nothing writes to it",
    () =>
      Effect.gen(function*() {
        const fs = yield* FileSystem.FileSystem
        const n8n = yield* N8nClient
        const recorder = yield* Recorder.make
        const { promise: answer, resolve: release } = Promise.withResolvers<undefined>()
        recorder.answer = () => answer
        const held = node("Held", "httpRequest", 4.2, { url: `${recorder.url}/held`, options: {} })
        const id = yield* made(
          "Tested",
          [manual, held, set("Ask", "{ real: true }"), set("Out", "$json")],
          chain("T", "Held", "Ask", "Out")
        )
        const folder = yield* folderWith()
        const guarded = Effect.provide(Policy.layer({ bannedNodes: ["code"], minScheduleMinutes: 30 }))
        // A pinned node is a Code node in the copy: the copy is judged by what it is a copy of.
        const running = yield* Effect.forkChild(
          guarded(test(id, { pins: { Ask: [{ pinned: true }] }, timeout: 150_000 }))
        )
        const copy = yield* scenarios.allWorkflows.pipe(
          Effect.map((all) =>
            all.find(({ active, name }) => active === true && TestMark.ownerOf(str(name) ?? "") !== undefined)
          ),
          Effect.repeat({ until: (found) => found !== undefined, schedule: Schedule.spaced("100 millis"), times: 200 })
        )
        const copyId = str(copy?.["id"]) ?? ""
        assert.notStrictEqual(copyId, "")
        const content = Effect.map(n8n.getWorkflow(copyId), ({ active, name, nodes }) => ({ active, name, nodes }))
        const before = yield* content

        // The copy's name contains that of its workflow.
        const listed = yield* tools.listWorkflows.call({ name: "Tested", limit: 100, raw: true })
        assert.include(listed.workflows.map((each) => each.id), id)
        assert.notInclude(listed.workflows.map((each) => each.id), copyId)
        assert.notInclude(JSON.stringify(yield* tools.audit.call({})), copyId)
        assert.notInclude(JSON.stringify(yield* tools.instanceOverview.call({})), TestMark.mark)
        yield* Effect.gen(function*() {
          yield* Sync.pull(".")
          assert.isFalse((yield* fs.readDirectory(folder)).some((file) => file.includes("test-copy")))
          assert.isTrue((yield* Sync.status(".")).isSame)
        }).pipe(Effect.provide(WorkflowFiles.layer({ roots: [folder] })))

        const clock = node("Clock", "scheduleTrigger", 1.2, { rule: { interval: [{ field: "seconds" }] } })
        const nodes = [...before.nodes, clock, code("Banned", "return []")]
        const writes: ReadonlyArray<Effect.Effect<unknown, N8nError, Needs>> = [
          tools.updateWorkflow.call({ id: copyId, nodes }),
          tools.workflowEdit.call({ workflowId: copyId, operations: [{ op: "name", name: "Mine now" }] }),
          tools.activateWorkflow.call({ id: copyId }),
          tools.deactivateWorkflow.call({ id: copyId }),
          tools.deleteWorkflow.call({ id: copyId, confirm: true }),
          ...v2 ? [tools.deleteWorkflow.call({ id: copyId, archive: true })] : []
        ]
        for (const write of writes) {
          assert.include((yield* Effect.flip(guarded(write))).message, "temporary copy")
        }
        // Nor is it exempt by its looks where somebody writes past the tools.
        const body = { name: before.name, nodes: [...before.nodes, code("Banned", "return []")], connections: {} }
        const forbidden = yield* Effect.flip(guarded(n8n.putWorkflow(copyId, { ...body, settings: {} })))
        assert.include(forbidden.message, "The policy forbids it")
        assert.deepStrictEqual(yield* content, before)

        release(undefined)
        const { data, status } = yield* Fiber.join(running)
        assert.deepStrictEqual([status, data?.items[0]?.json], ["success", { pinned: true }])
      }).pipe(Effect.scoped, Effect.provide(NodeServices.layer)),
    180_000
  )
}
