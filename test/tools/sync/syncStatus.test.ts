import { assert, describe, it } from "@effect/vitest"
import * as tools from "../../../src/tools/index.ts"
import { inWorld } from "../../support/world.ts"
import { change, create, edit } from "../../sync/workflows.ts"

describe("sync_status", () => {
  it.effect("counts all, shows what is not the same, and says what to do about a conflict", () =>
    inWorld(function*({ folder }) {
      const id = yield* create("Both")
      yield* create("Same")
      yield* tools.syncPull.call({ folder: "." })
      yield* edit(`${folder}/both.json`, "value: 1", "value: 2")
      yield* change(id, "3")
      const { data, message } = yield* tools.syncStatus.run({})
      assert.strictEqual(message, "1 both, 1 same")
      assert.deepStrictEqual(data, {
        counts: { both: 1, same: 1 },
        entries: [{ status: "both", id, name: "Both", file: "both.json" }],
        hint: "both: changed on both sides. workflow_diff(a: id, b: file) shows how."
      })
    }))
})
