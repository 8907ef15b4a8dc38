import { assert, layer } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import { linkSync, mkdirSync, writeFileSync } from "node:fs"
import type * as WorkflowFiles from "../../../src/workflows/files/WorkflowFiles.ts"
import { folderWith, platform, withFileSystem } from "../../support/folders.ts"
import { over, workflow } from "./folder.ts"

const list = (root: string, directory?: string, page?: WorkflowFiles.Page) =>
  Effect.flatMap(over(root), (files) => files.list(directory, page))

layer(platform)("workflow files are listed", (it) => {
  it.effect("that are workflows, by path, page by page", () =>
    Effect.gen(function*() {
      const fs = yield* FileSystem.FileSystem
      const root = yield* folderWith({
        "b.json": workflow({ id: "1", name: "B" }),
        "a/請求書 🚀.json": `\uFEFF// by hand\n${workflow({ id: 7, name: "A" })}`,
        "unnamed.JSON": workflow({ name: undefined }),
        ".hidden.json": workflow({ name: "hidden" }),
        "package.json": "{\"name\":\"p\"}",
        "half.json": "{\"nodes\":[]}",
        "list.json": "[1]",
        "a/readme.md": workflow(),
        "node_modules/x/w.json": workflow(),
        ".git/w.json": workflow()
      })
      yield* fs.utimes(`${root}/b.json`, 0, new Date("2026-01-02T03:04:05.000Z"))
      const all = yield* list(root)
      assert.deepStrictEqual(all.workflows.map(({ lastModified: _, ...rest }) => rest), [
        { name: "hidden", path: ".hidden.json" },
        { name: "A", path: "a/請求書 🚀.json" },
        { id: "1", name: "B", path: "b.json" },
        { name: "unnamed", path: "unnamed.JSON" }
      ])
      assert.strictEqual(all.workflows[2]?.lastModified, "2026-01-02T03:04:05.000Z")
      assert.deepStrictEqual({ ...all, workflows: [] }, { workflows: [], total: 4, unreadable: [] })
      const page = yield* list(root, undefined, { offset: 1, limit: 2 })
      assert.deepStrictEqual(page, { ...all, workflows: all.workflows.slice(1, 3) })
      for (const directory of ["a", `${root}/a/`, "./b/../a"]) {
        assert.deepStrictEqual((yield* list(root, directory)).workflows, all.workflows.slice(1, 2))
      }
    }))

  it.effect("once, also through links, but not out of the roots or in circles", () =>
    Effect.gen(function*() {
      const fs = yield* FileSystem.FileSystem
      const outside = yield* folderWith({
        "secret.json": workflow(),
        "root/sub/a.json": workflow(),
        "root/b/c.json": workflow()
      })
      const root = `${outside}/root`
      for (
        const [target, link] of [
          ["..", "up"],
          ["../secret.json", "secret.json"],
          ["sub/a.json", "again.json"],
          ["sub", "also"],
          ["../..", "sub/root"],
          [".", "sub/itself"],
          ["missing.json", "dangling.json"],
          ["circle.json", "circle.json"],
          ["../b", "sub/b"]
        ] as const
      ) yield* fs.symlink(target, `${root}/${link}`)
      const { unreadable, workflows } = yield* list(root)
      assert.deepStrictEqual(workflows.map(({ path }) => path), ["b/c.json", "sub/a.json"])
      assert.lengthOf(unreadable, 0)
      assert.deepStrictEqual((yield* list(root, "sub")).workflows, workflows)
    }))

  it.effect("with what could not be looked into", () =>
    Effect.gen(function*() {
      const broken = Object.fromEntries(Array.from({ length: 7 }, (_, index) => [`broken${index}.json`, "{"]))
      const root = yield* folderWith({ ...broken, "a.json": workflow(), "b.json": new Uint8Array(10_000_001) })
      const { total, unreadable } = yield* list(root)
      assert.strictEqual(total, 1)
      assert.lengthOf(unreadable, 8)
      assert.deepStrictEqual(unreadable[0], {
        path: "b.json",
        reason: "File 'b.json' is over 10 MB: it has 10,000,001 bytes"
      })
      assert.match(unreadable[1]?.reason ?? "", /^File 'broken0.json' is not JSON: close brace expected/)
    }))

  it.effect.each(
    [
      ["..", /^Folder '..' is not under the files root/],
      ["out", /^Folder 'out' is a link that leads out of the files root/],
      ["workflow", /^Folder 'workflow' does not exist$/],
      ["a.json", /^'a.json' is not a folder but a file$/],
      ["a\0", /^Folder path contains a NUL character$/]
    ] as const
  )("not of the folder '%s'", ([directory, says]) =>
    Effect.gen(function*() {
      const fs = yield* FileSystem.FileSystem
      const root = yield* folderWith({ "a.json": workflow(), "workflows/b.json": workflow() })
      yield* fs.symlink("..", `${root}/out`)
      const error = yield* Effect.flip(list(root, directory))
      assert.match(error.message, says)
      assert.strictEqual(error.field, "directoryPath")
      if (directory === "workflow") assert.include(error.hint, "Did you mean 'workflows'?")
    }))

  it.effect("though there are 5,000, each opened once and few at a time", () =>
    Effect.gen(function*() {
      const root = yield* folderWith()
      const content = workflow({
        name: "w",
        nodes: Array.from({ length: 40 }, (_, id) => ({ id, text: "x".repeat(470) }))
      })
      writeFileSync(`${root}/one.txt`, content)
      for (let folder = 0; folder < 50; folder++) {
        mkdirSync(`${root}/${folder}`)
        for (let file = 0; file < 100; file++) linkSync(`${root}/one.txt`, `${root}/${folder}/${file}.json`)
      }
      let [opened, open, most] = [0, 0, 0]
      const counting = withFileSystem((fs) => ({
        open: (path, options) =>
          Effect.acquireRelease(
            Effect.sync(() => {
              opened++
              most = Math.max(most, ++open)
            }),
            () => Effect.sync(() => void open--)
          ).pipe(Effect.andThen(fs.open(path, options)))
      }))
      const { total, workflows } = yield* counting(list(root, undefined, { offset: 4990, limit: 20 }))
      assert.strictEqual(opened, 5000)
      assert.isAtMost(most, 16)
      assert.strictEqual(total, 5000)
      assert.strictEqual(workflows.length, 10)
    }))
})
