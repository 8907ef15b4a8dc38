import { assert, layer } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as TestClock from "effect/testing/TestClock"
import * as Documents from "../../src/base/Documents.ts"
import { folderWith, platform } from "../support/folders.ts"

layer(platform)("documents in a folder", (it) => {
  it.effect("are listed without the files of interrupted writers, which are removed once they are old", () =>
    Effect.gen(function*() {
      const fs = yield* FileSystem.FileSystem
      const root = yield* folderWith()
      const { list, write } = yield* Documents.Documents.use(({ collection }) =>
        Effect.succeed(collection("plans", "n8n"))
      ).pipe(Effect.provide(Documents.layerFolder(root)))
      yield* write("a", new Uint8Array([1]))
      const [owner = ""] = yield* fs.readDirectory(`${root}/plans`)
      const folder = `${root}/plans/${owner}`
      const now = new Date("2026-11-20T00:00:00.000Z")
      yield* TestClock.setTime(now.getTime())
      for (const [name, age] of [["b.0.tmp", 61_000], ["c.0.tmp", 0]] as const) {
        yield* fs.writeFileString(`${folder}/${name}`, "{")
        yield* fs.utimes(`${folder}/${name}`, now, new Date(now.getTime() - age))
      }
      assert.deepStrictEqual(yield* list, ["a"])
      assert.sameMembers(yield* fs.readDirectory(folder), ["a", "c.0.tmp"])
    }))
})
