import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import type { Obj } from "../../src/base/Json.ts"
import * as WorkflowSelection from "../../src/fleet/WorkflowSelection.ts"
import * as TestMark from "../../src/n8n/model/TestMark.ts"
import type * as N8nApi from "../../src/testing/n8nApi/N8nApi.ts"
import { node, workflow } from "../support/workflows.ts"
import { inMemory } from "../support/world.ts"

const slack = (channel: string) => node("Post", "slack", 2, { channel })

const copyName = TestMark.nameOf("Orders", { machine: "m", pid: 1 }, "tok")

const copy = workflow(
  "copy",
  [node("Entry", "webhook", 2, { path: "tok-1" }, { webhookId: "tok-1" })],
  { name: copyName }
)

const workflows = [
  workflow("a", [slack("#ops")], { name: "Café_1", active: true, tags: [{ name: "shop" }] }),
  workflow("b", [slack("#dev")], { name: "cafe 2", settings: { errorWorkflow: "e" } }),
  workflow("c", [], { name: "受注", isArchived: true }),
  copy,
  workflow("e", [node("Start", "errorTrigger")], { name: "Errors" })
] as unknown as ReadonlyArray<N8nApi.Workflow>

const run = (id: number, workflowId: string) => ({ id: String(id), workflowId, status: "success", data: {} })

const seed = (executions: ReadonlyArray<Obj>) => ({ workflows, executions }) as unknown as N8nApi.Seed

describe("Selection", () => {
  const idsOf = (select: WorkflowSelection.Select, options: WorkflowSelection.Options = {}) =>
    Effect.map(WorkflowSelection.all(select, options), ({ selected }) => selected.map(({ workflow }) => workflow.id))

  it.effect("selects what meets all conditions, without archived workflows and test copies", () =>
    inMemory(function*() {
      assert.deepStrictEqual(yield* idsOf({}), ["a", "b", "e"])
      assert.deepStrictEqual(yield* idsOf({}, { archived: true }), ["a", "b", "c", "e"])
      assert.deepStrictEqual(yield* idsOf({ name: "CAFE" }), ["a", "b"])
      assert.deepStrictEqual(yield* idsOf({ name: "f%" }), [])
      assert.deepStrictEqual(yield* idsOf({ name: "é_" }), ["a"])
      assert.deepStrictEqual(yield* idsOf({ name: "cafe", active: false }), ["b"])
      assert.deepStrictEqual(yield* idsOf({ tags: ["shop"] }), ["a"])
      assert.deepStrictEqual(yield* idsOf({ without: "tags" }), ["b", "e"])
      // A workflow that handles errors needs no other for its own.
      assert.deepStrictEqual(yield* idsOf({ without: "errorWorkflow" }), ["a"])
      const { selected } = yield* WorkflowSelection.all({ uses: "#dev" })
      assert.deepStrictEqual(selected.map(({ uses }) => uses), [[
        { node: "Post", path: "parameters.channel", value: "#dev" }
      ]])
    }, { seed: seed([]) }))

  it.effect("names ids that it cannot select, and why", () =>
    inMemory(function*(api) {
      const ids = ["b", "zz", "c", "copy", "a", "b"]
      const few = yield* WorkflowSelection.all({ ids })
      assert.deepStrictEqual(few.selected.map(({ workflow }) => workflow.id), ["b", "a"])
      assert.deepStrictEqual(few.missing, [
        { id: "zz", why: "unknown" },
        { id: "c", why: "archived" },
        { id: "copy", why: "test copy" }
      ])
      assert.deepStrictEqual(yield* idsOf({ ids, active: true }), ["a"])
      const before = (yield* api.requests).length
      const many = yield* WorkflowSelection.all({
        ids: [...ids, ...Array.from({ length: 300 }, (_, index) => `x${index}`)]
      })
      assert.deepStrictEqual(many.selected.map(({ workflow }) => workflow.id), ["b", "a"])
      assert.lengthOf(many.missing, 303)
      assert.isAtMost((yield* api.requests).length - before, 2)
    }, { seed: seed([]) }))

  it.effect.each(["1", "2"] as const)(
    "finds those without a saved execution on n8n %s",
    (version) =>
      inMemory(function*() {
        assert.deepStrictEqual(yield* idsOf({ without: "runs" }), ["b", "e"])
      }, { seed: seed([run(1, "a")]), version })
  )

  it.effect("looks through 500 workflows and 3,000 executions in few requests", () => {
    const many = Array.from(
      { length: 500 },
      (_, index) => workflow(`w${String(index).padStart(3, "0")}`, [slack("#ops")])
    )
    const executions = Array.from(
      { length: 3_000 },
      (_, index) => run(index + 1, `w${String(index % 490).padStart(3, "0")}`)
    )
    return inMemory(function*(api) {
      assert.lengthOf(yield* idsOf({ without: "runs" }), 10)
      assert.isAtMost((yield* api.requests).length, 35)
      const { selected } = yield* WorkflowSelection.all({ uses: "#ops" })
      assert.lengthOf(selected, 500)
      assert.isAtMost((yield* api.requests).length, 50)
    }, { seed: { workflows: many, executions } as unknown as N8nApi.Seed })
  })

  it.effect.each([{}, { name: " " }, { tags: [] }])(
    "refuses to change everything: %j",
    (select) =>
      Effect.gen(function*() {
        const error = yield* Effect.flip(WorkflowSelection.refuseAll(select))
        assert.strictEqual(error.field, "select")
        yield* WorkflowSelection.refuseAll({ active: true })
      })
  )
})
