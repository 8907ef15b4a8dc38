import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import * as NodePath from "@effect/platform-node/NodePath"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Layer from "effect/Layer"
import type * as Path from "effect/Path"
import type * as Scope from "effect/Scope"
import * as TestClock from "effect/testing/TestClock"
import { homedir } from "node:os"
import * as Hints from "../../../src/answer/Hints.ts"
import * as Documents from "../../../src/base/Documents.ts"
import * as Errors from "../../../src/base/Errors.ts"
import { sha256 } from "../../../src/base/Hash.ts"
import type { Instance } from "../../../src/n8n/N8nClient.ts"
import * as FormerSnapshots from "../../../src/workflows/store/FormerSnapshots.ts"
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

/** Snapshots in a folder, as the server stores them. */
const stored = (folder: string) =>
  Layer.provide(Snapshots.layer(FormerSnapshots.adopt(folder)), Documents.layerFolder(folder))

const inMemory = { kind: "memory", layer: Layer.provide(Snapshots.layer(), Documents.layerMemory) }
const onDisk = { kind: "disk", layer: Layer.provide(Layer.unwrap(Effect.map(newFolder, stored)), platform) }

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

  const odd = ["w", "W", "../x", "..", "a/b", "a_b", "a\0b", "", "con", "名前"]
  const ids = [...odd, "x".repeat(5000), `${"x".repeat(5000)}y`]

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
      const others = ["", `${version}0`, "../w", `../x/${version}`, `${version}.json`, crypto.randomUUID()]
      for (const [id, asked] of [["v", version] as const, ...others.map((each) => ["w", each] as const)]) {
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
  const serviceOver = (folder: string) => Effect.provide(Snapshots.Snapshots, stored(folder))

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
      const [collection, owner = "", file] = entries.at(-1)?.name.split("/") ?? []
      assert.deepStrictEqual([collection, file], ["snapshots", version])
      assert.match(owner, /^[\da-f]{16}$/)
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
      const more = (_: unknown, index: number) =>
        (index % 2 === 0 ? snapshots : other).save(here, workflow("w"), "more")
      yield* Effect.forEach(saved, more, { concurrency: "unbounded" })
      const kept = yield* snapshots.list(here, "w")
      assert.deepStrictEqual(kept.map(({ operation }) => operation), Array.from({ length: 20 }, () => "more"))
      assert.strictEqual((yield* files(folder)).length, 20)
    }))

  test("that are damaged or foreign are not listed, and an error to read", () =>
    Effect.gen(function*() {
      const fs = yield* FileSystem.FileSystem
      const { folder, snapshots } = yield* opened
      const intact = yield* snapshots.save(here, workflow("w"), "0")
      const [file = ""] = yield* files(folder)
      const body = yield* fs.readFile(file)
      const other = yield* snapshots.save(here, workflow("v"), "0")
      const foreign = (yield* files(folder)).find((each) => each.endsWith(other.version)) ?? ""
      const own = file.slice(0, file.lastIndexOf("/"))
      const version = (index: number) => `snapshot-20261121T00000000${index}Z-abcdef`
      const named = (bytes: Uint8Array, name: string, index: number) =>
        Buffer.from(Buffer.from(bytes).toString("latin1").replace(name, version(index)), "latin1")
      const contents = [
        Buffer.from(""),
        named(body.subarray(0, -20), intact.version, 1),
        body,
        named(yield* fs.readFile(foreign), other.version, 3),
        Buffer.from("{\"name\":\"package\"}"),
        Buffer.from("null\n")
      ]
      for (const [index, content] of contents.entries()) yield* fs.writeFile(`${own}/${version(index)}`, content)
      yield* fs.makeDirectory(`${own}/${version(8)}`)
      yield* fs.writeFile(`${own}/notes`, body)
      yield* fs.writeFile(`${own}/snapshot-20261399T000000000Z-abcdef`, body)
      // Of a listing, only the description is read.
      assert.deepStrictEqual(
        (yield* snapshots.list(here, "w")).map((each) => each.version).toSorted(),
        [intact.version, version(1), version(3)].toSorted()
      )
      for (const index of [...contents.keys(), 8]) {
        const error = yield* Effect.flip(snapshots.read(here, "w", version(index)))
        assert.strictEqual(error._tag, "ValidationError")
        assert.match(
          error.message,
          new RegExp(`^Snapshot '${version(index)}' (is damaged|cannot be read: '.*' cannot be used .EISDIR.)$`)
        )
        assert.isTrue(Errors.isServerFault(error))
      }
      // Nor do they stand in the way of the next.
      const next = yield* snapshots.save(here, workflow("w"), "1")
      assert.include((yield* snapshots.list(here, "w")).map((each) => each.version), next.version)
    }))

  test("of earlier releases are found, and what is damaged among them remains where it is", () =>
    Effect.gen(function*() {
      const fs = yield* FileSystem.FileSystem
      const { folder, snapshots } = yield* opened
      const former = `${folder}/n8n_example_com_8443-${sha256(here.key).slice(0, 16)}/w-${sha256("w").slice(0, 16)}`
      yield* fs.makeDirectory(former, { recursive: true })
      const snapshot = (second: number) => ({
        version: `snapshot-20261121T00000${second}000Z-abcdef`,
        createdAt: `2026-11-21T00:00:0${second}.000Z`,
        operation: "update_workflow",
        name: "Orders"
      })
      const file = (second: number) => `${former}/${snapshot(second).version}.json`
      for (const second of [1, 2]) {
        const text = JSON.stringify({ snapshot: snapshot(second), workflow: workflow("w", { second }) })
        yield* fs.writeFileString(file(second), text)
      }
      yield* fs.writeFileString(file(3), "{")
      assert.deepStrictEqual(yield* snapshots.list(here, "w"), [snapshot(2), snapshot(1)])
      assert.deepStrictEqual(yield* snapshots.read(here, "w", snapshot(1).version), {
        snapshot: snapshot(1),
        workflow: workflow("w", { second: 1 })
      })
      assert.deepStrictEqual((yield* files(folder)).filter((each) => each.startsWith(former)), [file(3)])
      const saved = yield* snapshots.save(here, workflow("w"), "later")
      assert.strictEqual((yield* snapshots.list(here, "w"))[0]?.version, saved.version)
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
      assert.strictEqual(
        error.message,
        `No snapshot of Workflow 'w' could be stored, so nothing was written: '${folder}' cannot be used (ENOTDIR)`
      )
      assert.include(Hints.text(error.hint), "N8N_MCP_STATE")
      assert.isTrue(Errors.isServerFault(error))
      const unlisted = yield* Effect.flip(snapshots.list(here, "w"))
      assert.strictEqual(
        unlisted.message,
        `The snapshots of Workflow 'w' cannot be read: '${folder}' cannot be used (ENOTDIR)`
      )
    }))

  test("that are not JSON are refused, without quoting them", () =>
    Effect.gen(function*() {
      const { folder, snapshots } = yield* opened
      const circular: { readonly id: string; secret: unknown } = { id: "w", secret: "hunter2" }
      circular.secret = circular
      const error = yield* Effect.flip(snapshots.save(here, { ...circular, password: "hunter2" }, "0"))
      assert.strictEqual(
        error.message,
        "No snapshot of Workflow 'w' could be stored, so nothing was written: it is not JSON"
      )
      const fs = yield* FileSystem.FileSystem
      assert.isFalse(yield* fs.exists(folder))
    }))
})

describe("the default folder", () => {
  it.each<[env: Record<string, string>, home: string]>([
    [{ XDG_STATE_HOME: "/state", HOME: "/home/me" }, "/state"],
    [{ HOME: "/home/me" }, "/home/me/.local/state"],
    [{ XDG_STATE_HOME: "", HOME: "/home/me" }, "/home/me/.local/state"],
    [{ XDG_STATE_HOME: "state", HOME: "/home/me" }, "/home/me/.local/state"],
    [{}, `${homedir()}/.local/state`],
    [{ HOME: "" }, `${homedir()}/.local/state`]
  ])("of %j is in %s", (env, home) => {
    assert.strictEqual(Documents.defaultFolder(env), `${home}/effect-n8n-mcp`)
  })
})
