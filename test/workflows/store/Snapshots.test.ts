import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import * as NodePath from "@effect/platform-node/NodePath"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Layer from "effect/Layer"
import type * as Path from "effect/Path"
import * as PlatformError from "effect/PlatformError"
import type * as Scope from "effect/Scope"
import * as TestClock from "effect/testing/TestClock"
import { homedir } from "node:os"
import * as Hints from "../../../src/answer/Hints.ts"
import * as Errors from "../../../src/base/Errors.ts"
import type { Instance } from "../../../src/n8n/N8nClient.ts"
import * as Snapshots from "../../../src/workflows/store/Snapshots.ts"

const here: Instance = {
  url: "https://n8n.example.com:8443/base/",
  key: "https://n8n.example.com:8443/base/#0123456789abcdef"
}

const workflow = (id: string, more: object = {}) => ({ id, name: `Workflow ${id}`, nodes: [], ...more })

const platform = Layer.merge(NodeFileSystem.layer, NodePath.layer)

/** A folder that is not there yet; what was made is gone after the test. */
const newFolder = Effect.gen(function*() {
  const fs = yield* FileSystem.FileSystem
  return `${yield* fs.makeTempDirectoryScoped()}/state/effect-n8n-mcp`
})

/** Everything below a folder, with its permissions. */
const tree = Effect.fnUntraced(function*(folder: string) {
  const fs = yield* FileSystem.FileSystem
  const names = yield* fs.readDirectory(folder, { recursive: true })
  return yield* Effect.forEach(
    ["", ...names.toSorted()],
    (name) =>
      Effect.map(fs.stat(`${folder}/${name}`), ({ mode, type }) => ({ name, type, mode: (mode & 0o777).toString(8) }))
  )
})

const files = (folder: string) =>
  Effect.map(
    tree(folder),
    (entries) => entries.flatMap(({ name, type }) => type === "File" ? [`${folder}/${name}`] : [])
  )

const inMemory = { kind: "memory", layer: Snapshots.layerMemory }
const onDisk = {
  kind: "disk",
  layer: Layer.unwrap(Effect.map(newFolder, (folder) => Snapshots.layer({ folder }))).pipe(Layer.provide(platform))
}

describe.each([inMemory, onDisk])("snapshots ($kind)", ({ layer }) => {
  const test = (name: string, run: (snapshots: Snapshots.Service) => Effect.Effect<void, unknown>) =>
    it.effect(name, () => Snapshots.Snapshots.use(run).pipe(Effect.provide(layer)))

  test("return what was stored, newest first", (snapshots) =>
    Effect.gen(function*() {
      yield* TestClock.setTime(Date.UTC(2026, 10, 21, 22, 45, 12, 123))
      const before = {
        ...workflow("w"),
        name: "請求書 🚀",
        versionId: "v1",
        pinData: { a: [null] },
        extra: { deep: [1] }
      }
      const first = yield* snapshots.save(here, before, "update_workflow")
      assert.match(first.version, /^snapshot-20261121T224512123Z-[\da-f]{6}$/)
      assert.deepStrictEqual(first, {
        version: first.version,
        createdAt: "2026-11-21T22:45:12.123Z",
        operation: "update_workflow",
        name: "請求書 🚀",
        versionId: "v1"
      })
      yield* TestClock.adjust("1 minute")
      const second = yield* snapshots.save(here, { id: "w", versionId: null, name: 3 }, "delete_workflow")
      assert.deepStrictEqual(second, {
        version: second.version,
        createdAt: "2026-11-21T22:46:12.123Z",
        operation: "delete_workflow",
        name: ""
      })
      assert.deepStrictEqual(yield* snapshots.list(here, "w"), [second, first])
      assert.deepStrictEqual(yield* snapshots.read(here, "w", first.version), { snapshot: first, workflow: before })
      assert.deepStrictEqual(yield* snapshots.read(here, "w", second.version), {
        snapshot: second,
        workflow: { id: "w", versionId: null, name: 3 }
      })
    }))

  test("are independent of later changes to the workflow in memory", (snapshots) =>
    Effect.gen(function*() {
      const state = { ...workflow("w"), nodes: [{ name: "A" }] }
      const { version } = yield* snapshots.save(here, state, "update_workflow")
      state.nodes.length = 0
      assert.deepStrictEqual(
        (yield* snapshots.read(here, "w", version)).workflow,
        workflow("w", { nodes: [{ name: "A" }] })
      )
    }))

  test("are ordered within one millisecond, and after the clock was set back", (snapshots) =>
    Effect.gen(function*() {
      yield* TestClock.setTime(Date.UTC(2026, 10, 21))
      const saved = [yield* snapshots.save(here, workflow("w"), "0"), yield* snapshots.save(here, workflow("w"), "1")]
      yield* TestClock.setTime(Date.UTC(2026, 10, 20))
      saved.push(yield* snapshots.save(here, workflow("w"), "2"), yield* snapshots.save(here, workflow("w"), "3"))
      assert.strictEqual(saved[2]?.createdAt, "2026-11-20T00:00:00.000Z")
      assert.deepStrictEqual(yield* snapshots.list(here, "w"), saved.toReversed())
    }))

  test(`are the last ${Snapshots.maxSnapshots} of each workflow`, (snapshots) =>
    Effect.gen(function*() {
      yield* snapshots.save(here, workflow("other"), "0")
      const saved = []
      for (let index = 0; index < Snapshots.maxSnapshots; index++) {
        saved.push(yield* snapshots.save(here, workflow("w"), String(index)))
        yield* TestClock.adjust("1 second")
      }
      assert.strictEqual(saved.length, 20)
      assert.deepStrictEqual(yield* snapshots.list(here, "w"), saved.toReversed())
      const [oldest, ...rest] = saved
      rest.push(yield* snapshots.save(here, workflow("w"), "20"))
      assert.deepStrictEqual(yield* snapshots.list(here, "w"), rest.toReversed())
      const error = yield* Effect.flip(snapshots.read(here, "w", oldest?.version ?? ""))
      assert.strictEqual(error.message, `Snapshot '${oldest?.version}' not found`)
      assert.strictEqual((yield* snapshots.list(here, "other")).length, 1)
    }))

  const ids = [
    "w",
    "W",
    "../x",
    "..",
    "a/b",
    "a_b",
    "a\0b",
    "",
    "con",
    "名前",
    "x".repeat(5000),
    `${"x".repeat(5000)}y`
  ]

  test("are separate by workflow, for any id, and by instance", (snapshots) =>
    Effect.gen(function*() {
      const instances: ReadonlyArray<Instance> = [
        here,
        { ...here, key: `${here.key}0` },
        { url: "https://other.example.com/", key: "https://other.example.com/#0123456789abcdef" },
        { url: "", key: "" }
      ]
      for (const [at, instance] of instances.entries()) {
        for (const id of ids) yield* snapshots.save(instance, workflow(id), `${at} ${id}`)
      }
      for (const [at, instance] of instances.entries()) {
        for (const id of ids) {
          const kept = yield* snapshots.list(instance, id)
          assert.deepStrictEqual(kept.map(({ operation }) => operation), [`${at} ${id}`])
          const { workflow: found } = yield* snapshots.read(instance, id, kept[0]?.version ?? "")
          assert.deepStrictEqual(found, workflow(id))
        }
      }
    }))

  test("are absent for a workflow that was never written", (snapshots) =>
    Effect.gen(function*() {
      const { version } = yield* snapshots.save(here, workflow("w"), "0")
      assert.deepStrictEqual(yield* snapshots.list(here, "v"), [])
      for (
        const [id, asked] of [
          ["v", version],
          ["w", `${version}0`],
          ["w", "../w"],
          ["w", ""],
          ["w", "8c2bdb2c-9d1f-4a3e-b3f6-2f5c9f9b7e11"],
          ["w", `../x/${version}`],
          ["w", `${version}.json`]
        ] as const
      ) {
        const error = yield* Effect.flip(snapshots.read(here, id, asked))
        assert.strictEqual(error._tag, "NotFoundError")
        assert.strictEqual(error.message, `Snapshot '${asked}' not found`)
        assert.include(Hints.text(error.hint), "workflow_history")
      }
    }))
})

describe("snapshots on disk", () => {
  /** A folder and a service over it. */
  const opened = Effect.gen(function*() {
    const folder = yield* newFolder
    return { folder, snapshots: yield* serviceOver(folder) }
  })
  const serviceOver = (folder: string) => Effect.provide(Snapshots.Snapshots, Snapshots.layer({ folder }))

  const test = (
    name: string,
    run: () => Effect.Effect<void, unknown, FileSystem.FileSystem | Path.Path | Scope.Scope>
  ) => it.effect(name, () => run().pipe(Effect.provide(platform)))

  test("are readable by this user only, under names that reveal no address, key or path", () =>
    Effect.gen(function*() {
      const { folder, snapshots } = yield* opened
      const { version } = yield* snapshots.save(here, workflow("../../ a"), "0")
      const entries = yield* tree(folder)
      assert.deepStrictEqual(entries.map(({ mode, type }) => `${type} ${mode}`), [
        "Directory 700",
        "Directory 700",
        "Directory 700",
        "File 600"
      ])
      const [instance = "", id = "", file] = entries.at(-1)?.name.split("/") ?? []
      assert.match(instance, /^n8n_example_com_8443-[\da-f]{16}$/)
      assert.match(id, /^_a-[\da-f]{16}$/)
      assert.strictEqual(file, `${version}.json`)
    }))

  test("close a folder that was open to others", () =>
    Effect.gen(function*() {
      const fs = yield* FileSystem.FileSystem
      const { folder, snapshots } = yield* opened
      yield* fs.makeDirectory(folder, { recursive: true })
      yield* fs.chmod(folder, 0o777)
      yield* snapshots.save(here, workflow("w"), "0")
      assert.strictEqual((yield* tree(folder))[0]?.mode, "700")
    }))

  test("are found by another process", () =>
    Effect.gen(function*() {
      const { folder, snapshots } = yield* opened
      const saved = yield* snapshots.save(here, workflow("w"), "0")
      const other = yield* serviceOver(folder)
      assert.deepStrictEqual(yield* other.list(here, "w"), [saved])
    }))

  test("of two concurrent writers are all stored", () =>
    Effect.gen(function*() {
      const { folder, snapshots } = yield* opened
      const other = yield* serviceOver(folder)
      const saved = yield* Effect.forEach(
        Array.from({ length: 20 }, (_, index) => index),
        (index) => (index % 2 === 0 ? snapshots : other).save(here, workflow("w", { index }), String(index)),
        { concurrency: "unbounded" }
      )
      const versions = (list: ReadonlyArray<Snapshots.Snapshot>) => list.map(({ version }) => version).toSorted()
      assert.deepStrictEqual(versions(yield* other.list(here, "w")), versions(saved))
      yield* Effect.forEach(saved, (_, index) =>
        (index % 2 === 0 ? snapshots : other).save(here, workflow("w"), "more"), {
        concurrency: "unbounded"
      })
      const kept = yield* snapshots.list(here, "w")
      assert.deepStrictEqual(
        kept.map(({ operation }) =>
          operation
        ),
        Array.from({ length: 20 }, () => "more")
      )
      assert.strictEqual((yield* files(folder)).length, 20)
    }))

  test("that are damaged or foreign are not listed, and an error to read", () =>
    Effect.gen(function*() {
      const fs = yield* FileSystem.FileSystem
      const { folder, snapshots } = yield* opened
      const intact = yield* snapshots.save(here, workflow("w"), "0")
      const [file = ""] = yield* files(folder)
      const text = yield* fs.readFileString(file)
      const own = file.slice(0, file.lastIndexOf("/"))
      const version = (index: number) => `snapshot-20261121T00000000${index}Z-abcdef`
      const contents = [
        "",
        text.slice(0, -20),
        text,
        text.replaceAll(intact.version, version(3)).replace("\"id\":\"w\"", "\"id\":\"v\""),
        "{\"name\":\"package\"}",
        "null"
      ]
      for (const [index, content] of contents.entries()) {
        yield* fs.writeFileString(`${own}/${version(index)}.json`, content)
      }
      yield* fs.makeDirectory(`${own}/${version(8)}.json`)
      yield* fs.writeFileString(`${own}/notes.json`, text)
      yield* fs.writeFileString(`${own}/snapshot-20261399T000000000Z-abcdef.json`, text)
      assert.deepStrictEqual(yield* snapshots.list(here, "w"), [intact])
      for (const index of [...contents.keys(), 8]) {
        const error = yield* Effect.flip(snapshots.read(here, "w", version(index)))
        assert.strictEqual(error._tag, "ValidationError")
        assert.match(
          error.message,
          new RegExp(`^Snapshot '${version(index)}' (is damaged|cannot be read in .* .EISDIR.)$`)
        )
        assert.isTrue(Errors.isServerFault(error))
      }
      // Nor do they stand in the way of the next.
      const next = yield* snapshots.save(here, workflow("w"), "1")
      assert.deepStrictEqual(yield* snapshots.list(here, "w"), [next, intact])
    }))

  test("that were never finished are not listed, and go in time", () =>
    Effect.gen(function*() {
      const fs = yield* FileSystem.FileSystem
      const { folder, snapshots } = yield* opened
      const first = yield* snapshots.save(here, workflow("w"), "0")
      const [file = ""] = yield* files(folder)
      const left = file.replace(".json", ".tmp").replace(/\w\.tmp$/, "_.tmp")
      const real = file.replace(".json", ".tmp")
      yield* fs.writeFileString(left, "{")
      yield* fs.writeFileString(real, "{")
      assert.deepStrictEqual(yield* snapshots.list(here, "w"), [first])
      for (let index = 0; index < Snapshots.maxSnapshots; index++) yield* snapshots.save(here, workflow("w"), "1")
      assert.strictEqual((yield* files(folder)).filter((name) => name === real).length, 0)
      assert.strictEqual((yield* snapshots.list(here, "w")).length, Snapshots.maxSnapshots)
    }))

  test("fail if the folder is not writable, and name the option to set", () =>
    Effect.gen(function*() {
      const fs = yield* FileSystem.FileSystem
      const file = `${yield* fs.makeTempDirectoryScoped()}/file`
      yield* fs.writeFileString(file, "")
      const folder = `${file}/effect-n8n-mcp`
      const snapshots = yield* serviceOver(folder)
      const error = yield* Effect.flip(snapshots.save(here, workflow("w"), "0"))
      assert.strictEqual(error._tag, "ValidationError")
      assert.strictEqual(error.message, `No snapshot of Workflow 'w' could be stored in '${folder}' (ENOTDIR)`)
      assert.include(Hints.text(error.hint), "XDG_STATE_HOME")
      assert.isTrue(Errors.isServerFault(error))
      const unlisted = yield* Effect.flip(snapshots.list(here, "w"))
      assert.strictEqual(unlisted.message, `The snapshots of Workflow 'w' cannot be read in '${folder}' (ENOTDIR)`)
    }))

  test("that fail on the way leave nothing behind", () =>
    Effect.gen(function*() {
      const folder = yield* newFolder
      const full = PlatformError.systemError({
        _tag: "Unknown",
        module: "FileSystem",
        method: "rename",
        cause: { code: "ENOSPC" }
      })
      const snapshots = yield* serviceOver(folder).pipe(
        Effect.updateService(FileSystem.FileSystem, (fs) => ({ ...fs, rename: () => Effect.fail(full) }))
      )
      const error = yield* Effect.flip(snapshots.save(here, workflow("w"), "0"))
      assert.match(error.message, /\(ENOSPC\)$/)
      assert.deepStrictEqual(yield* files(folder), [])
    }))

  test("that are not JSON are refused, without quoting them", () =>
    Effect.gen(function*() {
      const { folder, snapshots } = yield* opened
      const circular: { readonly id: string; secret: unknown } = { id: "w", secret: "hunter2" }
      circular.secret = circular
      const error = yield* Effect.flip(snapshots.save(here, { ...circular, password: "hunter2" }, "0"))
      assert.strictEqual(error.message, `No snapshot of Workflow 'w' could be stored in '${folder}' (not JSON)`)
      assert.deepStrictEqual(yield* files(folder), [])
    }))
})

describe("the default folder", () => {
  it.each([
    { env: { XDG_STATE_HOME: "/state", HOME: "/home/me" }, folder: "/state/effect-n8n-mcp" },
    { env: { HOME: "/home/me" }, folder: "/home/me/.local/state/effect-n8n-mcp" },
    { env: { XDG_STATE_HOME: "", HOME: "/home/me" }, folder: "/home/me/.local/state/effect-n8n-mcp" },
    { env: { XDG_STATE_HOME: "state", HOME: "/home/me" }, folder: "/home/me/.local/state/effect-n8n-mcp" },
    { env: {}, folder: `${homedir()}/.local/state/effect-n8n-mcp` },
    { env: { HOME: "" }, folder: `${homedir()}/.local/state/effect-n8n-mcp` }
  ])("of $env is $folder", ({ env, folder }) => {
    assert.strictEqual(Snapshots.defaultFolder(env), folder)
  })
})
