/** A dry run announces exactly what the write then does: the same words, and the same state. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Schema from "effect/Schema"
import type { Obj } from "../../../src/base/Json.ts"
import { N8nClient } from "../../../src/n8n/N8nClient.ts"
import * as Sync from "../../../src/sync/Sync.ts"
import { workflowEdit } from "../../../src/tools/editing/workflowEdit.ts"
import * as WorkflowDiff from "../../../src/workflow/diff/WorkflowDiff.ts"
import { isUnset } from "../../../src/workflows/store/FormerSettings.ts"
import { type Patch, WorkflowStore } from "../../../src/workflows/store/WorkflowStore.ts"
import * as WorkflowEdit from "../../../src/workflows/WorkflowEdit.ts"
import { main, node } from "../../support/workflows.ts"
import { inMemory, inWorld } from "../../support/world.ts"

const hook = node("Hook", "webhook", 2, { path: "hook", httpMethod: "POST" }, { webhookId: "hook" })
const ask = (url: string, more: Obj = {}) => node("Ask", "httpRequest", 4.2, { url, options: {} }, more)

/** Workflow with the parts that n8n gives every real one. */
const real = (active: boolean) => ({
  id: "w",
  name: "Orders",
  active,
  nodes: [hook, ask("https://a.example")],
  connections: { Hook: main("Ask") },
  settings: {
    executionOrder: "v1",
    callerPolicy: "workflowsFromSameOwner",
    availableInMCP: false,
    saveManualExecutions: true
  },
  tags: [{ id: "t", name: "shop" }],
  description: "Takes orders."
})

const place = { kind: "n8n", id: "w" } as const

/** Parts of a patch, each with some values: the stored one, others, and those that mean nothing. */
const Patches = Schema.Struct({
  name: Schema.optionalKey(Schema.Literals(["Orders", "Orders 2"])),
  nodes: Schema.optionalKey(Schema.Literals(["same", "other", "disabled", "none"])),
  settings: Schema.optionalKey(Schema.Struct({
    executionOrder: Schema.optionalKey(Schema.Literals(["v1", "v0"])),
    timezone: Schema.optionalKey(Schema.Literals(["Asia/Tokyo", "DEFAULT", ""])),
    saveManualExecutions: Schema.optionalKey(Schema.NullOr(Schema.Boolean)),
    callerPolicy: Schema.optionalKey(Schema.Literals(["any", "workflowsFromSameOwner"])),
    executionTimeout: Schema.optionalKey(Schema.Literals([-1, 60]))
  })),
  tags: Schema.optionalKey(Schema.Literals([["shop"], ["shop", "new"], []].map((each) => each.join(",")))),
  description: Schema.optionalKey(Schema.Literals(["", "Takes orders.", "Other."])),
  pinData: Schema.optionalKey(Schema.Literals(["none", "some"]))
})

const nodesOf = {
  same: [hook, ask("https://a.example")],
  other: [hook, ask("https://b.example")],
  disabled: [hook, ask("https://a.example", { disabled: true })],
  none: [hook]
}

const patchOf = ({ nodes, pinData, tags, ...rest }: typeof Patches.Type): Patch => ({
  ...rest,
  ...(nodes === undefined ? {} : { nodes: nodesOf[nodes], ...(nodes === "none" ? { connections: {} } : {}) }),
  ...(pinData === undefined ? {} : { pinData: pinData === "none" ? {} : { Hook: [{ json: { a: 1 } }] } }),
  ...(tags === undefined ? {} : { tags: tags === "" ? [] : tags.split(",") })
})

const differences = (before: object, after: object) => WorkflowDiff.make({ ...before }, { ...after })

describe("a dry run of a write", () => {
  for (const version of ["2", "1"] as const) {
    it.effect(`on n8n ${version} announces nothing where a patch has nothing new`, () =>
      inMemory(function*() {
        const { write } = yield* WorkflowStore
        const announced = (patch: Patch) => Effect.map(write(place, patch, { dryRun: true }), ({ changed }) => changed)
        assert.deepStrictEqual(yield* announced({}), "nothing")
        assert.deepStrictEqual(yield* announced({ name: "Orders" }), "nothing")
        assert.deepStrictEqual(yield* announced({ settings: { timezone: "Asia/Tokyo" } }), "settings.timezone")
        const disabled = yield* write(place, WorkflowEdit.disableNode({ node: "Ask" }), { dryRun: true })
        assert.strictEqual(disabled.changed, "changed 'Ask' (disabled)")
        assert.deepStrictEqual(disabled.workflow.settings, disabled.before.settings)
      }, { version, seed: { workflows: [real(false)], executions: [] } }))

    it.effect.prop(
      `on n8n ${version} announces what the write then does`,
      [Patches, Schema.Boolean],
      ([some, active]) =>
        inMemory(function*() {
          const { write } = yield* WorkflowStore
          const read = N8nClient.use((n8n) => n8n.getWorkflow("w"))
          const patch = patchOf(some)
          const before = yield* read
          const dry = yield* write(place, patch, { dryRun: true })
          assert.deepStrictEqual(yield* read, before)
          const done = yield* write(place, dry.patch, { expected: dry.before })
          assert.deepStrictEqual([done.changed, done.isWritten], [dry.changed, dry.changed !== "nothing"])
          const lacks = version === "1" && (some.description !== undefined || some.pinData !== undefined)
          assert.strictEqual(dry.warnings.some((each) => each.includes("left out")), lacks)
          const after = yield* read
          const parts = new Set(["name", "nodes", "connections", "settings", "tags", "description", "pinData"])
          const own = (workflow: object) =>
            Object.fromEntries(Object.entries(workflow).filter(([key]) => parts.has(key)))
          assert.deepStrictEqual(
            differences(own(before), own(dry.workflow)),
            differences(own(before), own(after)),
            JSON.stringify(patch)
          )
        }, { version, seed: { workflows: [real(active)], executions: [] } })
    )
  }
})

/** File of the workflow with settings, a description and pinned data, of which n8n stores only some. */
const pushed = {
  ...real(false),
  settings: { executionOrder: "v0", timezone: "DEFAULT", executionTimeout: -1 },
  description: "Takes other orders.",
  nodes: [hook, ask("https://b.example")],
  pinData: { Hook: [{ json: { a: 1 } }] }
}

const kinds = {
  push: (options: Sync.PushOptions) => Effect.map(Sync.push(".", options), ({ entries }) => entries),
  promotion: ({ dryRun, extras }: Sync.PushOptions) =>
    N8nClient.use((to) =>
      Sync.promote(".", { from: "folder", to, dryRun, extras, bindings: { workflows: { w: "w" } } })
    ).pipe(Effect.map(({ entries }) => entries))
}

describe("a dry run of a", () => {
  for (const version of ["2", "1"] as const) {
    for (const kind of ["push", "promotion"] as const) {
      it.effect(`${kind} on n8n ${version} names what n8n then has, and nothing that it drops`, () =>
        inWorld(function*({ folder }) {
          const fs = yield* FileSystem.FileSystem
          const read = N8nClient.use((n8n) => n8n.getWorkflow("w"))
          const run = kinds[kind]
          // A folder that is synced with an n8n is not promoted to it.
          const synced = kind === "push" ? yield* Sync.pull(".", { extras: ["pinData"] }) : { entries: [] }
          yield* fs.writeFileString(`${folder}/${synced.entries[0]?.file ?? "w.json"}`, JSON.stringify(pushed))
          const before = yield* read
          const [dry] = yield* run({ dryRun: true, extras: ["pinData"] })
          assert.deepStrictEqual(yield* read, before)
          const [done] = yield* run({ extras: ["pinData"] })
          const after = yield* read
          assert.deepStrictEqual([dry?.changed, dry?.action, dry?.held], [done?.changed, done?.action, done?.held])
          const parts = WorkflowDiff.parts(differences(before, after)).filter((part) =>
            /^settings|^desc|^pin/.test(part)
          )
          const named = dry?.changed?.match(/settings\.\w+|description|pinData/g) ?? []
          assert.deepStrictEqual([...new Set(named)].toSorted(), parts.toSorted())
        }, { version, seed: { workflows: [real(false)], executions: [] } }))
    }
  }
})

describe("a dry run of workflow_edit", () => {
  const stored = {
    executionOrder: "v1",
    timezone: "UTC",
    executionTimeout: 60,
    callerPolicy: "any",
    availableInMCP: false
  }
  const values = [
    { timezone: "DEFAULT" },
    { timezone: null },
    { timezone: "Asia/Tokyo" },
    { executionTimeout: -1 },
    { executionTimeout: null },
    { executionOrder: null },
    { callerPolicy: null },
    { timezone: "DEFAULT", executionOrder: "v0" }
  ]
  for (const version of ["2", "1"] as const) {
    it.effect.each(values)(
      `on n8n ${version} lists the settings that n8n then has: %j`,
      (settings) =>
        inMemory(function*() {
          const read = N8nClient.use((n8n) => n8n.getWorkflow("w"))
          const operations = [{ op: "settings", settings }, { op: "disable", node: "Ask" }] as const
          const before = yield* read
          const dry = yield* workflowEdit.call({ workflowId: "w", operations, dryRun: true })
          assert.deepStrictEqual(yield* read, before)
          const done = yield* workflowEdit.call({ workflowId: "w", operations })
          const after = yield* read
          const lines = WorkflowDiff.lines(before.settings, after.settings, "settings")
          assert.deepStrictEqual(dry.changes, [...lines, "disabled 'Ask'"])
          assert.deepStrictEqual(done.changes, dry.changes)
          for (const [key, value] of Object.entries(settings)) {
            if (value === null) assert.isTrue(isUnset(after.settings?.[key], key), key)
          }
        }, { version, seed: { workflows: [{ ...real(false), settings: stored }], executions: [] } })
    )
  }
})
