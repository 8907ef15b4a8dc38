import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as tools from "../../../src/tools/index.ts"
import { inWorld } from "../../support/world.ts"
import { body, change, contents, create, edit, json } from "../../sync/workflows.ts"

describe("sync_pull", () => {
  it.effect("writes files only below the files root, leaves conflicts, and resolves named ones", () =>
    inWorld(function*({ folder }) {
      const id = yield* create("Orders")
      const outside = yield* Effect.flip(tools.syncPull.call({ folder: "../x" }))
      assert.include(outside.message, "files root")
      yield* tools.syncPull.call({ folder: "flows", dryRun: true })
      assert.deepStrictEqual(yield* contents(folder), {})
      yield* tools.syncPull.call({ folder: "flows" })
      assert.deepStrictEqual(yield* json(`${folder}/flows/orders.json`), { id, ...body("Orders") })
      yield* edit(`${folder}/flows/orders.json`, "value: 1", "value: 2")
      yield* change(id, "3")
      const left = yield* tools.syncPull.call({ folder: "flows" })
      assert.deepStrictEqual(left.counts, { conflict: 1 })
      yield* tools.syncPull.call({ folder: "flows", only: [id], resolve: "there" })
      assert.deepStrictEqual(yield* json(`${folder}/flows/orders.json`), { id, ...body("Orders", "3") })
    }))
})
