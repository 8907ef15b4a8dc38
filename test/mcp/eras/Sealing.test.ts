import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, layer } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Logger from "effect/Logger"
import * as TestClock from "effect/testing/TestClock"
import { join } from "node:path"
import * as Sealing from "../../../src/mcp/eras/Sealing.ts"

const content = { a: 1 }

layer(NodeServices.layer)("Sealing.folder", (it) => {
  it.effect("is shared by processes: each opens what another has sealed, and all together once", () =>
    Effect.gen(function*() {
      const fs = yield* FileSystem.FileSystem
      const place = join(yield* fs.makeTempDirectoryScoped(), "state", "sealing")
      const processes = yield* Effect.all([1, 2, 3, 4].map(() => Sealing.folder(place)))
      assert.isFalse(yield* fs.exists(place))
      const sealed = yield* Effect.forEach(processes, ({ seal }) => seal(content, "x"), { concurrency: "unbounded" })
      const opened = yield* Effect.forEach(
        sealed,
        (text) => Effect.forEach(processes, ({ open }) => open(text, "x"), { concurrency: "unbounded" })
      )
      for (const all of opened) assert.deepStrictEqual(all.filter((each) => each !== undefined), [content])
      assert.strictEqual((yield* fs.stat(join(place, "key"))).mode & 0o777, 0o600)
      assert.deepStrictEqual((yield* fs.readDirectory(place)).filter((name) => name.startsWith("key")), ["key"])
    }))

  it.effect("forgets what was used once it has expired", () =>
    Effect.gen(function*() {
      const fs = yield* FileSystem.FileSystem
      const place = yield* fs.makeTempDirectoryScoped()
      const { open, seal } = yield* Sealing.folder(place)
      const once = Effect.flatMap(seal(content, "x"), (text) => open(text, "x"))
      const used = Effect.map(
        fs.readDirectory(place),
        (names) => names.filter((name) => name.startsWith("used")).length
      )
      yield* Effect.andThen(once, once)
      assert.strictEqual(yield* used, 2)
      yield* TestClock.adjust("15 minutes")
      yield* once
      assert.strictEqual(yield* used, 1)
    }))

  it.effect("seals alone, and says so, where the folder cannot be written or the key is damaged", () =>
    Effect.gen(function*() {
      const fs = yield* FileSystem.FileSystem
      const folder = yield* fs.makeTempDirectoryScoped()
      yield* fs.writeFileString(join(folder, "file"), "no folder")
      yield* fs.writeFileString(join(folder, "key"), "too short")
      const lines: Array<string> = []
      const logger = Logger.make((options) => void lines.push(Logger.formatLogFmt.log(options)))
      for (const place of [join(folder, "file"), folder]) {
        const { open, seal } = yield* Sealing.folder(place)
        const sealed = yield* seal(content, "x").pipe(Effect.provide(Logger.layer([logger])))
        assert.deepStrictEqual(yield* open(sealed, "x"), content)
      }
      assert.lengthOf(lines.filter((line) => line.includes("answers to questions")), 2)
    }))
})
