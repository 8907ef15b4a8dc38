import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { writeFile } from "node:fs/promises"
import { N8nClient } from "../../../src/n8n/N8nClient.ts"
import * as tools from "../../../src/tools/index.ts"
import { inWorld } from "../../support/world.ts"
import { create, edit } from "../../sync/workflows.ts"

describe("sync_push", () => {
  it.effect("writes what changed here, and shows it without secrets", () =>
    inWorld(function*({ folder }) {
      const id = yield* create("Orders")
      yield* tools.syncPull.call({ folder: "." })
      yield* edit(`${folder}/orders.json`, "value: 1", "value: 2, key: 'Bearer sesame-0123456789abcdef'")
      const answer = yield* tools.syncPush.run({})
      assert.notInclude(JSON.stringify(answer), "sesame")
      assert.include(JSON.stringify(answer), "contains a literal secret")
      const now = yield* N8nClient.use((n8n) => n8n.getWorkflow(id))
      assert.include(JSON.stringify(now.nodes), "value: 2")
      const nothing = yield* tools.syncPush.call({ folder: "." })
      assert.deepStrictEqual(nothing.counts, { same: 1 })
    }))

  it.effect("pushes the others of an invalid file, and says how to go on", () =>
    inWorld(function*({ folder }) {
      const id = yield* create("Orders")
      yield* tools.syncPull.call({ folder: "." })
      yield* edit(`${folder}/orders.json`, "value: 1", "value: 2")
      yield* Effect.promise(() => writeFile(`${folder}/broken.json`, "{\"nodes\": ["))
      for (const dryRun of [true, false]) {
        const answer = JSON.stringify(yield* tools.syncPush.run({ dryRun }))
        assert.include(answer, "broken files are not pushed: fix them, then call again.")
      }
      const now = yield* N8nClient.use((n8n) => n8n.getWorkflow(id))
      assert.include(JSON.stringify(now.nodes), "value: 2")
    }))
})
