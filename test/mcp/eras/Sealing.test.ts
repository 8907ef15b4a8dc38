import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, layer } from "@effect/vitest"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import * as TestClock from "effect/testing/TestClock"
import { join } from "node:path"
import * as Documents from "../../../src/base/Documents.ts"
import * as Sealing from "../../../src/mcp/eras/Sealing.ts"
import * as TestTime from "../../support/TestTime.ts"

const content = { a: 1 }

/** Sealing of one of the processes that share a folder. */
const process = (place: string) =>
  Effect.gen(function*() {
    const documents = yield* Layer.build(Layer.fresh(Documents.layerFolder(place)))
    return yield* Sealing.shared(Context.get(documents, Documents.Documents).collection("sealing", ""))
  })

const clocked = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.flatMap(TestTime.measure(effect), ({ exit }) => exit)

/** Folder of the key and of the marks. */
const folderIn = (place: string) =>
  Effect.map(
    FileSystem.FileSystem.use((fs) => fs.readDirectory(join(place, "sealing"))),
    ([owner = ""]) => join(place, "sealing", owner)
  )

layer(NodeServices.layer)("Sealing.shared", (it) => {
  it.effect("is shared by processes: each opens what another has sealed, and all together once", () =>
    clocked(Effect.gen(function*() {
      const fs = yield* FileSystem.FileSystem
      const place = join(yield* fs.makeTempDirectoryScoped(), "state")
      const processes = yield* Effect.all([1, 2, 3, 4].map(() => process(place)))
      assert.isFalse(yield* fs.exists(place))
      const sealed = yield* Effect.forEach(processes, ({ seal }) => seal(content, "x"), { concurrency: "unbounded" })
      const opened = yield* Effect.forEach(
        sealed,
        (text) => Effect.forEach(processes, ({ open }) => open(text, "x"), { concurrency: "unbounded" })
      )
      for (const all of opened) assert.deepStrictEqual(all.filter((each) => each !== undefined), [content])
      const folder = yield* folderIn(place)
      assert.strictEqual((yield* fs.stat(join(folder, "key"))).mode & 0o777, 0o600)
      assert.deepStrictEqual((yield* fs.readDirectory(folder)).filter((name) => name.startsWith("key")), ["key"])
    })))

  it.effect("forgets what was used once it has expired", () =>
    Effect.gen(function*() {
      const fs = yield* FileSystem.FileSystem
      const place = yield* fs.makeTempDirectoryScoped()
      const { open, seal } = yield* process(place)
      const once = Effect.flatMap(seal(content, "x"), (text) => open(text, "x"))
      const used = Effect.map(
        Effect.flatMap(folderIn(place), fs.readDirectory),
        (names) => names.filter((name) => name.startsWith("used")).length
      )
      yield* Effect.andThen(once, once)
      assert.strictEqual(yield* used, 2)
      yield* TestClock.adjust("15 minutes")
      yield* once
      assert.strictEqual(yield* used, 1)
    }))

  it.effect("seals alone, and says so, where the folder cannot be written or the key is damaged", () =>
    clocked(Effect.gen(function*() {
      const fs = yield* FileSystem.FileSystem
      const [place, damaged] = [yield* fs.makeTempDirectoryScoped(), yield* fs.makeTempDirectoryScoped()]
      yield* fs.writeFileString(join(place, "file"), "no folder")
      yield* (yield* process(damaged)).seal(content, "x")
      yield* fs.writeFileString(join(yield* folderIn(damaged), "key"), "too short")
      const lines: Array<string> = []
      const logger = Logger.make((options) => void lines.push(Logger.formatLogFmt.log(options)))
      for (const state of [join(place, "file"), damaged]) {
        const { open, seal } = yield* process(state)
        const sealed = yield* seal(content, "x").pipe(Effect.provide(Logger.layer([logger])))
        assert.deepStrictEqual(yield* open(sealed, "x"), content)
      }
      assert.lengthOf(lines.filter((line) => line.includes("answers to questions")), 2)
    })))
})
