import { assert, describe, layer } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Layer from "effect/Layer"
import * as Documents from "../../src/base/Documents.ts"
import { maxNames, RetryLog } from "../../src/executions/RetryLog.ts"
import * as RetryLogs from "../../src/executions/RetryLog.ts"
import { folderWith, platform } from "../support/folders.ts"

const claim = (run: string, number = 0, instance = "a") => RetryLog.use((log) => log.claim(instance, { run, number }))
const read = (instance = "a") => RetryLog.use((log) => log.read(instance))
const inMemory = Layer.provide(RetryLogs.layer, Documents.layerMemory)
const inFolder = (folder: string) => Layer.provide(RetryLogs.layer, Documents.layerFolder(folder))
const settled = { run: "7", number: 0, newId: "9", status: "success" }

layer(platform)("the record of retries", (it) => {
  for (const [name, make] of [["memory", undefined], ["a folder", folderWith()]] as const) {
    describe(`in ${name}`, () => {
      it.effect("gives an attempt to one of those who claim it, for each n8n", () =>
        Effect.gen(function*() {
          const own = make === undefined ? inMemory : inFolder(yield* make)
          yield* Effect.gen(function*() {
            const all = yield* Effect.forEach([1, 2, 3, 4], () => claim("7"), { concurrency: 4 })
            assert.deepStrictEqual(all.toSorted(), [false, false, false, true])
            assert.deepStrictEqual(yield* read(), [{ run: "7", number: 0 }])
            assert.isTrue(yield* claim("7", 0, "b"))
            yield* RetryLog.use((log) => log.settle("a", settled))
            assert.deepStrictEqual(yield* read(), [settled])
            assert.isFalse(yield* claim("7"))
            assert.isTrue(yield* claim("7", 1))
            yield* RetryLog.use((log) => log.release("a", { run: "7", number: 1 }))
            assert.deepStrictEqual(yield* read(), [settled])
          }).pipe(Effect.provide(own))
        }))
    })
  }

  it.effect("in a folder outlives the process, and is readable by its user only", () =>
    Effect.gen(function*() {
      const fs = yield* FileSystem.FileSystem
      const folder = yield* folderWith()
      const here = Effect.provide(inFolder(folder))
      assert.deepStrictEqual(yield* here(read()), [])
      assert.isTrue(yield* here(claim("7")))
      assert.isFalse(yield* here(claim("7")))
      const [own = ""] = yield* fs.readDirectory(`${folder}/retries`)
      assert.strictEqual((yield* fs.stat(`${folder}/retries/${own}`)).mode & 0o777, 0o700)
      assert.strictEqual((yield* fs.stat(`${folder}/retries/${own}/7.0`)).mode & 0o777, 0o600)
    }))

  it.effect("that cannot be written allows nothing to be sent", () =>
    Effect.gen(function*() {
      const folder = yield* folderWith({ "retries": "a file" })
      const error = yield* Effect.flip(Effect.provide(claim("7"), inFolder(folder)))
      assert.match(error.message, /^Nothing was sent, since a retry from the start is recorded first: /)
    }))

  it("belongs to an n8n, whatever key it has and however this machine is called", () => {
    const keys = ["http://localhost:5678/", "http://127.0.0.1:5678/", "http://[::1]:5678/"].map((url, index) =>
      RetryLogs.keyOf({ url, key: `key ${index}` })
    )
    assert.strictEqual(new Set(keys).size, 1)
    assert.notInclude(keys, RetryLogs.keyOf({ url: "http://localhost.example.com:5678/", key: "" }))
  })

  it.effect("forgets the oldest runs when it is full", () =>
    Effect.gen(function*() {
      const log = yield* RetryLog
      for (let run = 1; run <= maxNames; run++) yield* log.settle("a", { ...settled, run: String(run) })
      assert.isTrue(yield* log.claim("a", { run: "30000", number: 0 }))
      const runs = new Set((yield* log.read("a")).map(({ run }) => run))
      assert.deepStrictEqual([runs.has("1"), runs.has("2"), runs.has("30000")], [false, true, true])
    }).pipe(Effect.provide(inMemory)))
})
