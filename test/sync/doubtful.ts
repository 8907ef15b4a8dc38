/** A file that was moved and cannot be read any more, on any n8n. */
import { assert } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import { N8nClient } from "../../src/n8n/N8nClient.ts"
import * as Sync from "../../src/sync/Sync.ts"
import { node } from "../support/workflows.ts"
import { body, edit } from "./workflows.ts"

const isThere = (id: string) =>
  N8nClient.use((n8n) => n8n.getWorkflow(id)).pipe(
    Effect.as(true),
    Effect.catchTag("NotFoundError", () => Effect.succeed(false))
  )

const long = Array.from({ length: 6 }, (_, at) => `const line${at} = ${at}`).join("\n")

const withCode = (name: string) => ({
  ...body(name),
  nodes: [node("Code", "code", 2, { jsCode: `${long}\nreturn []` }, { id: "n1" })],
  connections: {}
})

/** Fails if a push deletes a workflow, or a status calls its file gone, while a file cannot be read. */
export const deletesNothingUnread = (folder: string) =>
  Effect.gen(function*() {
    const fs = yield* FileSystem.FileSystem
    const n8n = yield* N8nClient
    const { id: moved } = yield* n8n.createWorkflow(withCode("Moved file") as never)
    const { id: gone } = yield* n8n.createWorkflow(body("Gone file") as never)
    const both = [moved, gone]
    yield* Sync.pull(".", { splitsCode: true, only: both })
    yield* fs.makeDirectory(`${folder}/sub`)
    yield* fs.remove(`${folder}/gone-file.json`)

    const refuses = Effect.fnUntraced(function*(what: string) {
      for (
        const selected of [
          { only: [moved] },
          { only: [gone] },
          { only: ["moved-file.json"] },
          { only: ["gone-file.json"] },
          { only: ["sub/moved-file.json"] },
          { among: ["moved-file.json", "sub/moved-file.json"] },
          { among: ["gone-file.json"] },
          { only: both }
        ]
      ) {
        const label = `${what}: ${JSON.stringify(selected)}`
        const pushed = yield* Sync.push(".", { ...selected, deletes: true })
        assert.deepStrictEqual(pushed.entries.flatMap(({ action }) => action ?? []), [], label)
        assert.isTrue(pushed.hasErrors, label)
        const { entries } = yield* Sync.status(".", selected)
        assert.isAbove(entries.length, 0, label)
        for (const { detail = "", status } of entries) {
          assert.strictEqual(status, "invalid", label)
          assert.notInclude(detail, "is gone", label)
        }
      }
      assert.deepStrictEqual([yield* isThere(moved), yield* isThere(gone)], [true, true], what)
    })

    // Its files of code stay behind.
    yield* fs.rename(`${folder}/moved-file.json`, `${folder}/sub/moved-file.json`)
    yield* refuses("moved without its code")
    yield* fs.rename(`${folder}/moved-file.code`, `${folder}/sub/moved-file.code`)
    yield* edit(`${folder}/sub/moved-file.json`, "{", "<<<<<<< HEAD\n{")
    yield* refuses("moved, with marks of a merge")
    yield* edit(`${folder}/sub/moved-file.json`, "<<<<<<< HEAD\n", "")

    const removed = yield* Sync.push(".", { only: [gone], deletes: true })
    assert.deepStrictEqual(removed.entries.map(({ action }) => action), ["removed"])
    assert.deepStrictEqual([yield* isThere(moved), yield* isThere(gone)], [true, false])
    assert.deepStrictEqual((yield* Sync.status(".", { only: [moved] })).entries.map(({ status }) => status), ["same"])
    yield* n8n.deleteWorkflow(moved)
  })
