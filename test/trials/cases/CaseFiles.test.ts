import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as CaseRun from "../../../src/trials/cases/CaseRun.ts"
import { folderWith, platform } from "../../support/folders.ts"

const text = `{
    // nightly
    "workflow": "../orders.json",
    "testData": [{"id": 1},   {"id": 2}],
    "expect": {
        "nodes": { "Sum": { "count": 2, "items": [ {"total": 1.50} ] } }, // in EUR
    }
}
`

describe("the files of cases", () => {
  it.effect("are found by their names in and below folders, or named themselves, each once and in order", () =>
    Effect.gen(function*() {
      const folder = yield* folderWith({
        "b.test.json": "{}",
        "a/c.test.json": "{}",
        "a/c.json": "{}",
        "a/test.json": "{}",
        "a/deep/er/d.test.json": "{}",
        "a/node_modules/x/e.test.json": "{}",
        ".cache/f.test.json": "{}",
        "a/.g.test.json": "{}",
        "other.json": "{}"
      })
      const fs = yield* FileSystem.FileSystem
      yield* fs.symlink(folder, `${folder}/a/circle`)
      const names = (files: ReadonlyArray<string>) => files.map((file) => file.slice(folder.length + 1))
      const all = yield* CaseRun.find([folder])
      assert.deepStrictEqual(names(all.files), ["a/c.test.json", "a/deep/er/d.test.json", "b.test.json"])
      assert.deepStrictEqual(all.folders, [folder])
      const some = yield* CaseRun.find([`${folder}/other.json`, `${folder}/a`, `${folder}/a/c.test.json`])
      assert.deepStrictEqual(names(some.files), ["other.json", "a/c.test.json", "a/deep/er/d.test.json"])
      assert.deepStrictEqual(some.folders, [folder, `${folder}/a`])
      const error = yield* Effect.flip(CaseRun.find([`${folder}/nope`]))
      assert.strictEqual(error.message, `There is no file or folder '${folder}/nope'`)
    }).pipe(Effect.scoped, Effect.provide(platform)))

  it.effect("keep layout, comments and mode when what is expected is written", () =>
    Effect.gen(function*() {
      const folder = yield* folderWith({ "a.test.json": text })
      const fs = yield* FileSystem.FileSystem
      const path = `${folder}/a.test.json`
      yield* fs.chmod(path, 0o640)
      const read = yield* CaseRun.read(path)
      assert.strictEqual(read.testCase.workflow, "../orders.json")
      const { expect = {} } = read.testCase
      assert.isFalse(yield* CaseRun.write(read, expect))
      assert.isTrue(yield* CaseRun.write(read, { nodes: { Sum: { count: 3, items: [{ total: 1.5 }] } } }))
      assert.strictEqual(yield* fs.readFileString(path), text.replace("\"count\": 2", "\"count\": 3"))
      assert.strictEqual((yield* fs.stat(path)).mode & 0o777, 0o640)
      assert.deepStrictEqual(yield* fs.readDirectory(folder), ["a.test.json"])

      const error = yield* Effect.flip(CaseRun.write(read, { status: "error" }))
      assert.strictEqual(error.message, "The file was changed during the test")
    }).pipe(Effect.scoped, Effect.provide(platform)))

  it.effect("that hold no case say where and why", () =>
    Effect.gen(function*() {
      const folder = yield* folderWith({
        "json.test.json": "{\n  \"workflow\": }",
        "keys.test.json": "{\"workflows\":\"x\"}"
      })
      const message = (name: string) =>
        Effect.map(Effect.flip(CaseRun.read(`${folder}/${name}`)), (error) => error.message)
      assert.strictEqual(yield* message("json.test.json"), "It is not JSON: value expected at line 2, column 15")
      assert.strictEqual(
        yield* message("keys.test.json"),
        "workflows: unknown key. Did you mean 'workflow'?\nworkflow: Missing key"
      )
      assert.match(yield* message("none.test.json"), /^There is no file/)
    }).pipe(Effect.scoped, Effect.provide(platform)))
})
