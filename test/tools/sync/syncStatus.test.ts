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
      yield* create("Elsewhere")
      const { data, message } = yield* tools.syncStatus.run({})
      assert.strictEqual(message, "1 conflict, 1 new there, 1 same")
      assert.deepStrictEqual(data, {
        counts: { conflict: 1, same: 1, "new there": 1 },
        conflict: [{
          name: "Both",
          id,
          file: "both.json",
          detail: "Here: changed 'Code' (jsCode: \"…eturn [{ json: { value: 1 } }]\" → \"…eturn [{ json: " +
            "{ value: 2 } }]\"); on n8n: changed 'Code' (jsCode: \"…eturn [{ json: { value: 1 } }]\" → " +
            "\"…eturn [{ json: { value: 3 } }]\")"
        }],
        same: ["Same"],
        hint: "conflict: changed on both sides. workflow_diff(a: id, b: file) shows how."
      })
      assert.deepStrictEqual((yield* tools.syncStatus.call({ show: "there" })).newThere, ["Elsewhere"])
    }))
})
