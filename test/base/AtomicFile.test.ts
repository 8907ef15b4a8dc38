import { assert, layer } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as PlatformError from "effect/PlatformError"
import * as AtomicFile from "../../src/base/AtomicFile.ts"
import { folderWith, platform, withFileSystem } from "../support/folders.ts"

const failure = PlatformError.systemError({ _tag: "Unknown", module: "FileSystem", method: "rename" })

const write = (folder: string, text: string) =>
  FileSystem.FileSystem.use((fs) =>
    AtomicFile.write(fs, `${folder}/a`, { data: text, temporary: `${folder}/a.tmp`, mode: 0o600 })
  )

layer(platform)("an atomic write", (it) => {
  it.effect("creates a file with its mode and replaces it", () =>
    Effect.gen(function*() {
      const fs = yield* FileSystem.FileSystem
      const folder = yield* folderWith()
      yield* write(folder, "first")
      yield* write(folder, "second")
      assert.strictEqual(yield* fs.readFileString(`${folder}/a`), "second")
      assert.strictEqual((yield* fs.stat(`${folder}/a`)).mode & 0o777, 0o600)
      assert.deepStrictEqual(yield* fs.readDirectory(folder), ["a"])
    }))

  it.effect.each(["open", "rename"])(
    "keeps the old file and leaves no temporary file when %s fails",
    (method) =>
      Effect.gen(function*() {
        const fs = yield* FileSystem.FileSystem
        const folder = yield* folderWith({ a: "old" })
        const failing = withFileSystem(() => ({ [method]: () => Effect.fail(failure) }))
        assert.strictEqual(yield* Effect.flip(failing(write(folder, "new"))), failure)
        assert.strictEqual(yield* fs.readFileString(`${folder}/a`), "old")
        assert.deepStrictEqual(yield* fs.readDirectory(folder), ["a"])
      })
  )

  it.effect("writes all bytes before it puts the file in place", () =>
    Effect.gen(function*() {
      const fs = yield* FileSystem.FileSystem
      const folder = yield* folderWith({ a: "old" })
      const contents: Array<string> = []
      const looking = withFileSystem((fs) => ({
        rename: (from, to) =>
          Effect.all([fs.readFileString(from), fs.readFileString(to)]).pipe(
            Effect.map((both) => void contents.push(...both)),
            Effect.andThen(fs.rename(from, to))
          )
      }))
      yield* looking(write(folder, "new"))
      assert.deepStrictEqual(contents, ["new", "old"])
      assert.strictEqual(yield* fs.readFileString(`${folder}/a`), "new")
    }))
})
