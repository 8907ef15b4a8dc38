import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { writeFile } from "node:fs/promises"
import { N8nClient } from "../../../src/n8n/N8nClient.ts"
import * as tools from "../../../src/tools/index.ts"
import * as TestTime from "../../support/TestTime.ts"
import { node } from "../../support/workflows.ts"
import { inWorld } from "../../support/world.ts"
import { body, change, create, edit } from "../../sync/workflows.ts"

describe("sync_push", () => {
  it.effect("answers names by group, also before it writes, and says what n8n refused to publish", () => {
    let isRefusing = false
    return inWorld(function*({ folder }) {
      const put = (file: string, workflow: unknown) =>
        Effect.promise(() => writeFile(`${folder}/${file}.json`, JSON.stringify(workflow)))
      const [both = ""] = yield* Effect.forEach(["Both", "Changed", "Same"], (name) => create(name))
      yield* tools.syncPull.call({})
      yield* create("Elsewhere")
      yield* edit(`${folder}/changed.json`, "value: 1", "value: 2")
      yield* edit(`${folder}/both.json`, "value: 1", "value: 2")
      yield* change(both, "3")
      const nodes = [node("Clock", "scheduleTrigger", 1.2, { rule: { interval: [{}] } })]
      yield* put("new", { ...body("New"), nodes, connections: {} })
      yield* put("broken", { name: "Broken", nodes: 3 })
      const dry = yield* tools.syncPush.run({ publish: "new", dryRun: true })
      assert.strictEqual(dry.message, "Dry run: 1 updated, 1 conflict, 1 broken, 1 created, 1 new there, 1 same")
      isRefusing = true
      const answer = yield* TestTime.run(tools.syncPush.run({ publish: "new" }))
      const data = answer.data as typeof tools.syncPush.output.Type
      assert.strictEqual(
        answer.message,
        "1 updated, 1 conflict, 1 broken, 1 created, 1 new there, 1 same, 1 refused by n8n when published"
      )
      const names = (all: ReadonlyArray<{ readonly name: string }> = []) => all.map(({ name }) => name)
      assert.deepStrictEqual(names(data.updated), ["Changed"])
      assert.deepStrictEqual(names(data.conflict), ["Both"])
      assert.deepStrictEqual(names(data.broken), ["broken.json"])
      assert.deepStrictEqual([data.created, data.same, data.notPublished], [["New"], ["Same"], ["New"]])
      assert.deepStrictEqual([data.newThere, data.published], [undefined, undefined])
      assert.include(data.hint, "n8n refused")
      assert.include(JSON.stringify(data.warnings), "New: created, but it could not be published")
    }, {
      before: ({ url }) =>
        Effect.sync(() =>
          isRefusing && /\/(activate|publish)$/.test(url)
            ? Response.json({ message: "not today" }, { status: 400 })
            : undefined
        )
    })
  })

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
