import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { arr, obj } from "../../../src/base/Json.ts"
import * as tools from "../../../src/tools/index.ts"
import { text } from "../../support/folders.ts"
import { inWorld } from "../../support/world.ts"
import { draft, setCode, versioned } from "../workflows.ts"

const nodesIn = ({ difference }: { readonly difference?: { readonly [key: string]: unknown } }) =>
  arr(difference?.["nodes"]).map((node) => obj(node) ?? {})

describe("workflow_restore", () => {
  it.effect("brings an edited file back byte for byte, as the opposite edits do", () =>
    inWorld(function*() {
      const { filePath, workflowId } = yield* draft()
      const before = yield* text(filePath)
      const edit = (...operations: NonNullable<Parameters<typeof tools.workflowEdit.call>[0]["operations"]>) =>
        tools.workflowEdit.call({ workflowId, operations })
      yield* edit({ op: "disable", node: "End" }, { op: "rename", node: "Hook", to: "In" })
      yield* edit({ op: "enable", node: "End" }, { op: "rename", node: "In", to: "Hook" })
      assert.strictEqual(yield* text(filePath), before)
      yield* edit({ op: "remove", node: "Hook" })
      const { versions } = yield* tools.workflowHistory.call({ id: workflowId, limit: 20 })
      assert.deepInclude(versions[0], { source: "snapshot", operation: "before workflow_edit" })
      yield* tools.workflowRestore.call({ id: workflowId, version: versions[0]?.version ?? "", confirm: true })
      assert.strictEqual(yield* text(filePath), before)
    }))

  // Publishing over what is published takes its time.
  it.live("gives up a draft for what is published, which is a version, too", () =>
    inWorld(function*() {
      const { id, versions: [first] } = yield* versioned
      const restored = yield* tools.workflowRestore.call({ id, version: first ?? "", confirm: true })
      assert.deepInclude(restored, {
        active: true,
        published: false,
        hint: `The published version still runs: activate_workflow(id: '${id}') publishes the change.`
      })
      const { versionId: published } = yield* tools.activateWorkflow.call({ id })
      yield* setCode(id, "0")
      const back = yield* tools.workflowRestore.call({ id, version: "published", confirm: true })
      assert.notProperty(back, "published")
      assert.match(back.hint ?? "", /^The draft equals the published version again; .* did not change\.$/)
      assert.strictEqual((yield* tools.getWorkflow.call({ id: `${id}@published` })).versionId, published)
      assert.isTrue((yield* tools.workflowDiff.call({ a: id })).same)
    }))

  for (const version of ["2", "1"] as const) {
    it.effect(`on n8n ${version} shows what it would change, and writes nothing`, () =>
      inWorld(function*({ api }) {
        const { id, snapshots: [, oldest = ""] } = yield* versioned
        const before = yield* api.workflows
        const { versions } = yield* tools.workflowHistory.call({ id, limit: 20 })
        const answer = yield* tools.workflowRestore.call({ id, version: oldest, dryRun: true, confirm: false })
        assert.deepStrictEqual(nodesIn(answer).map(({ change, node }) => [node, change]), [["Price", "changed"]])
        assert.include(JSON.stringify(nodesIn(answer)), "+return [{ json: { price: order.net } }]")
        assert.include(answer.hint, version === "2" ? "wait as a draft" : "take effect immediately")
        assert.deepStrictEqual(yield* api.workflows, before)
        assert.deepStrictEqual((yield* tools.workflowHistory.call({ id, limit: 20 })).versions, versions)
        const written = yield* tools.workflowRestore.call({ id, version: oldest, confirm: true })
        assert.strictEqual(written.published, version === "1")
        if (version === "1") assert.include(written.hint, "live")
        assert.isTrue((yield* tools.workflowDiff.call({ a: id, b: `${id}@${oldest}` })).same)
        yield* tools.deleteWorkflow.call({ id, confirm: true })
        const gone = yield* tools.workflowRestore.call({ id, version: oldest, dryRun: true, confirm: false })
        assert.include(gone.hint, "recreates it, unpublished")
        assert.deepStrictEqual(nodesIn(gone).map(({ change }) => change), ["added", "added"])
        const back = yield* tools.workflowRestore.call({ id, version: oldest, confirm: true })
        assert.notStrictEqual(back.id, id)
        assert.isFalse(back.active)
      }, version))
  }

  it.effect("shows what it would change in a file, and names versions that there are", () =>
    inWorld(function*() {
      const { filePath, workflowId: id } = yield* draft()
      const before = yield* text(filePath)
      const { versions: [version] } = yield* tools.workflowHistory.call({ id, limit: 1 })
      const answer = yield* tools.workflowRestore.call({
        id,
        version: version?.version ?? "",
        dryRun: true,
        confirm: false
      })
      assert.deepInclude(nodesIn(answer)[0], { node: "End", change: "removed" })
      assert.strictEqual(yield* text(filePath), before)
      const { id: live, versions: [first] } = yield* versioned
      const { id: other } = yield* tools.createWorkflow.call({ name: "Other", nodes: [], connections: {} })
      const foreign = yield* Effect.flip(tools.workflowRestore.run({ id: other, version: first, confirm: true }))
      assert.strictEqual(foreign._tag, "NotFoundError")
      assert.strictEqual(
        (yield* Effect.flip(tools.workflowRestore.run({ id: live, version: "x", confirm: true })))._tag,
        "NotFoundError"
      )
    }))
})
