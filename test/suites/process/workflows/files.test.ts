/** A workflow file that several processes write, some of which are killed. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import { spawn } from "node:child_process"
import { once } from "node:events"
import { obj } from "../../../../src/base/Json.ts"
import * as WorkflowFiles from "../../../../src/workflows/files/WorkflowFiles.ts"
import { folderWith, platform } from "../../../support/folders.ts"

const over = (root: string) => Effect.provide(WorkflowFiles.WorkflowFiles, WorkflowFiles.layer({ roots: [root] }))

const workflow = (more: object = {}) => JSON.stringify({ name: "w", nodes: [], connections: {}, ...more })

const counted = (file: WorkflowFiles.WorkflowFile) =>
  Effect.sync(() => workflow({ ...obj(file.value), count: Number(obj(file.value)?.["count"] ?? 0) + 1 }))

const source = new URL("../../../../src/workflows/files/WorkflowFiles.ts", import.meta.url).href

/**
 * Node with a program that has `files`, `counted`, `say` and `Effect`; `closed` is its exit code. `crash` is how its
 * file system, `fs`, differs, and `stop` reports that it was reached and waits.
 */
const start = (root: string, program: string, crash = "{}") =>
  Effect.acquireRelease(
    Effect.sync(() => {
      const script = `
        import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
        import * as NodePath from "@effect/platform-node/NodePath"
        import * as Effect from "effect/Effect"
        import * as FileSystem from "effect/FileSystem"
        import * as Layer from "effect/Layer"
        import * as WorkflowFiles from ${JSON.stringify(source)}
        const say = (text) => Effect.sync(() => process.stdout.write(text))
        const counted = ({ value }) => Effect.succeed(JSON.stringify({ ...value, count: (value.count ?? 0) + 1 }))
        const stop = Effect.andThen(say("."), Effect.forever(Effect.sleep("1 second")))
        const crashing = Layer.effect(
          FileSystem.FileSystem,
          Effect.map(FileSystem.FileSystem, (fs) => ({ ...fs, ...${crash} }))
        ).pipe(Layer.provide(NodeFileSystem.layer))
        const platform = Layer.merge(crashing, NodePath.layer)
        const layer = WorkflowFiles.layer({ roots: [${JSON.stringify(root)}] }).pipe(Layer.provide(platform))
        await Effect.runPromise(
          WorkflowFiles.WorkflowFiles.use((files) => ${program}).pipe(Effect.provide(layer))
        )`
      const child = spawn(process.execPath, ["--input-type=module", "-e", script], {
        stdio: ["ignore", "pipe", "inherit"]
      })
      const said = once(child.stdout, "data")
      const closed = new Promise<number | null>((resolve) => child.once("exit", resolve))
      return { kill: () => child.kill("SIGKILL"), said, closed }
    }),
    ({ kill }) => Effect.sync(kill)
  )

/** Half of the bytes of a file to be written, and no more. */
const half = `{
  open: (path, options) => fs.open(path, options).pipe(Effect.map((file) =>
    options?.flag !== "wx" ? file : Object.assign(Object.create(file), {
      writeAll: (bytes) => Effect.andThen(file.writeAll(bytes.slice(0, bytes.length / 2)), stop)
    })))
}`

describe("a workflow file with other processes", () => {
  it.live("loses no update", () =>
    Effect.gen(function*() {
      const root = yield* folderWith({ "a.json": workflow() })
      const increments = "Effect.repeat(files.update('a.json', counted), { times: 24 })"
      const children = yield* Effect.all([start(root, increments), start(root, increments)])
      for (const { closed } of children) assert.strictEqual(yield* Effect.promise(() => closed), 0)
      const fs = yield* FileSystem.FileSystem
      assert.strictEqual(yield* fs.readFileString(`${root}/a.json`), workflow({ count: 50 }))
      assert.deepStrictEqual(yield* fs.readDirectory(root), ["a.json"])
    }).pipe(Effect.provide(platform)))

  it.live.each([
    { moment: "while it changes the file", change: "() => stop", crash: "{}" },
    { moment: "in the midst of writing", change: "counted", crash: half },
    { moment: "before it puts what it has written in place", change: "counted", crash: "{ rename: () => stop }" },
    {
      moment: "right after that",
      change: "counted",
      crash: "{ rename: (from, to) => Effect.andThen(fs.rename(from, to), stop) }"
    }
  ])(
    "that are killed $moment leave the file whole, and the next one writes",
    ({ change, crash, moment }) =>
      Effect.gen(function*() {
        const root = yield* folderWith({ "a.json": workflow({ padding: "x".repeat(3_000_000) }) })
        const { closed, kill, said } = yield* start(root, `files.update("a.json", ${change})`, crash)
        yield* Effect.promise(() => said)
        kill()
        assert.isNull(yield* Effect.promise(() => closed))
        const { read, update } = yield* over(root)
        const count = Effect.map(read("a.json"), ({ value }) => Number(obj(value)?.["count"] ?? 0))
        const written = moment === "right after that" ? 1 : 0
        assert.strictEqual(yield* count, written)
        yield* update("a.json", counted)
        assert.strictEqual(yield* count, written + 1)
      }).pipe(Effect.provide(platform))
  )
})
