import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as tools from "../../../src/tools/index.ts"
import { inWorld } from "../../support/world.ts"
import { draft } from "../workflows.ts"

describe("workflow_list", () => {
  it.effect("lists workflow files with their names, page by page, and names what it cannot read", () =>
    inWorld(function*({ folder }) {
      yield* draft("First")
      yield* draft("Second")
      yield* FileSystem.FileSystem.use((fs) => fs.writeFileString(`${folder}/broken.json`, "{\"nodes\": [}"))
      const all = yield* tools.workflowList.call({ limit: 20, offset: 0 })
      assert.sameMembers(all.workflows.map(({ name }) => name), ["First", "Second"])
      assert.strictEqual(all.total, 2)
      assert.include(all.unreadable?.[0]?.path, "broken.json")
      const rest = yield* tools.workflowList.call({ limit: 20, offset: 1 })
      assert.deepStrictEqual([rest.workflows.length, rest.total], [1, 2])
    }))

  it.effect("stays under the files root", () =>
    inWorld(function*() {
      const error = yield* Effect.flip(tools.workflowList.run({ directoryPath: "../.." }))
      assert.include(error.message, "files root")
    }))
})
