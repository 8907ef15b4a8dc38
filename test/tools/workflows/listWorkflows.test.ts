import { assert, layer } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as FakeN8n from "../../../src/testing/FakeN8n.ts"
import * as tools from "../../../src/tools/index.ts"

const entry = (id: string, name: string, more: object = {}) => ({
  id,
  name,
  active: false,
  nodes: [],
  connections: {},
  tags: [],
  ...more
})

const seed = {
  workflows: [
    entry("a", "Orders", { active: true, tags: [{ name: "shop" }] }),
    entry("b", "Old orders", { isArchived: true }),
    entry("c", "Reports", { tags: [{ name: "shop" }, { name: "weekly" }] })
  ],
  executions: []
}

layer(FakeN8n.layer(seed))("list_workflows", (it) => {
  const ids = (args: object) =>
    Effect.map(
      tools.listWorkflows.call({ limit: 20, offset: 0, raw: false, ...args }),
      ({ workflows }) => workflows.map(({ id }) => id)
    )

  it.effect("finds by name, state and tags, archived ones only with raw", () =>
    Effect.gen(function*() {
      assert.deepStrictEqual(yield* ids({}), ["a", "c"])
      assert.deepStrictEqual(yield* ids({ raw: true }), ["a", "b", "c"])
      assert.deepStrictEqual(yield* ids({ name: "ORDERS" }), ["a"])
      assert.deepStrictEqual(yield* ids({ active: false }), ["c"])
      assert.deepStrictEqual(yield* ids({ tags: ["shop", "weekly"] }), ["c"])
    }))

  it.effect("goes on with nextCursor", () =>
    Effect.gen(function*() {
      const first = yield* tools.listWorkflows.call({ limit: 1, offset: 0, raw: false })
      assert.isDefined(first.nextCursor)
      assert.deepStrictEqual(yield* ids({ cursor: first.nextCursor }), ["c"])
      const error = yield* Effect.flip(tools.listWorkflows.run({ cursor: "nonsense" }))
      assert.deepInclude(error, { _tag: "ValidationError", field: "cursor" })
    }))
})
