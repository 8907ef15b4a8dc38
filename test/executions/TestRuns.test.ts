import { assert, describe, layer } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Layer from "effect/Layer"
import * as Documents from "../../src/base/Documents.ts"
import * as Blocks from "../../src/executions/blocks.ts"
import * as TestRuns from "../../src/executions/TestRuns.ts"
import { folderWith, platform } from "../support/folders.ts"

const utf8 = new TextDecoder()

const blocks = (text: string) =>
  Effect.sync(() => {
    const writer = new Blocks.Writer()
    writer.write(new TextEncoder().encode(text))
    return writer.end()
  })

const load = (instance: string, id: string) =>
  Effect.flatMap(TestRuns.TestRuns, (runs) => runs.load(instance, id)).pipe(
    Effect.map((bytes) => bytes === undefined ? undefined : utf8.decode(bytes))
  )

const save = (instance: string, id: string, text: string) =>
  Effect.flatMap(TestRuns.TestRuns, (runs) => Effect.flatMap(blocks(text), (body) => runs.save(instance, id, body)))

const stored = (folder: string) => Effect.provide(Layer.provide(TestRuns.layer, Documents.layerFolder(folder)))

layer(platform)("the executions of tests", (it) => {
  describe("in a folder", () => {
    it.effect("stay beyond the process, each with its n8n", () =>
      Effect.gen(function*() {
        const fs = yield* FileSystem.FileSystem
        const folder = yield* folderWith()
        const here = stored(folder)
        yield* here(save("a", "1", "first"))
        yield* here(save("a", "1", "second"))
        assert.strictEqual(yield* here(load("a", "1")), "second")
        assert.isUndefined(yield* here(load("b", "1")))
        assert.isUndefined(yield* here(load("a", "2")))
        const [own = ""] = yield* fs.readDirectory(`${folder}/tests`)
        assert.deepStrictEqual(yield* fs.readDirectory(`${folder}/tests/${own}`), ["1.json.gz"])
        assert.strictEqual((yield* fs.stat(`${folder}/tests/${own}/1.json.gz`)).mode & 0o777, 0o600)
      }))

    it.effect("are the last fifty", () =>
      Effect.gen(function*() {
        const fs = yield* FileSystem.FileSystem
        const folder = yield* folderWith()
        const here = stored(folder)
        yield* here(save("a", "0", "oldest"))
        const [own = ""] = yield* fs.readDirectory(`${folder}/tests`)
        for (let id = 1; id <= 50; id++) yield* here(save("a", String(id), "later"))
        assert.strictEqual((yield* fs.readDirectory(`${folder}/tests/${own}`)).length, 50)
        assert.isUndefined(yield* here(load("a", "0")))
      }))

    it.effect("that cannot be written harm nothing", () =>
      Effect.gen(function*() {
        const folder = yield* folderWith({ "tests": "a file" })
        const here = stored(folder)
        yield* here(save("a", "1", "x"))
        assert.isUndefined(yield* here(load("a", "1")))
      }))
  })

  it.effect("are not stored without a layer", () =>
    Effect.gen(function*() {
      yield* save("a", "1", "x")
      assert.isUndefined(yield* load("a", "1"))
    }))
})
