/** Stored executions of tests, whose records in n8n are deleted with their copies. */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Layer from "effect/Layer"
import * as Path from "effect/Path"
import { gunzipSync, gzipSync } from "node:zlib"
import * as AtomicFile from "../base/AtomicFile.ts"
import { sha256 } from "../base/Hash.ts"
import type { Blocks } from "./blocks.ts"

export type { Blocks } from "./blocks.ts"

/** Store of executions; best effort, so that neither method fails. */
export interface Service {
  readonly save: (instance: string, id: string, body: Blocks) => Effect.Effect<void>
  readonly load: (instance: string, id: string) => Effect.Effect<Uint8Array | undefined>
}

/** Executions of tests; none are stored without a layer. */
export const TestRuns = Context.Reference<Service>("effect-n8n-mcp/TestRuns", {
  defaultValue: () => ({ save: () => Effect.void, load: () => Effect.undefined })
})

/**
 * Maximum number of executions per n8n.
 *
 * @internal
 */
export const maxRuns = 50

/** Maximum uncompressed bytes of an execution. */
const maxBytes = 32_000_000

/**
 * Store of executions in a store of compressed bytes, whose failures are ignored.
 *
 * @internal
 */
export const compressed = (store: {
  readonly save: (instance: string, id: string, packed: Uint8Array) => Effect.Effect<unknown, unknown>
  readonly load: (instance: string, id: string) => Effect.Effect<Uint8Array | undefined, unknown>
}): Service => ({
  save: (instance, id, body) =>
    body.length > maxBytes
      ? Effect.void
      : Effect.suspend(() => store.save(instance, id, gzipSync(body.read(0, body.length), { level: 1 }))).pipe(
        Effect.ignore,
        Effect.withSpan("TestRuns.save")
      ),
  load: (instance, id) =>
    store.load(instance, id).pipe(
      Effect.flatMap((packed) =>
        packed === undefined
          ? Effect.undefined
          : Effect.try(() => gunzipSync(packed, { maxOutputLength: maxBytes }))
      ),
      Effect.orElseSucceed(() => undefined),
      Effect.withSpan("TestRuns.load")
    )
})

const make = Effect.fnUntraced(function*(folder: string) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const folderOf = (instance: string) => path.join(folder, sha256(instance).slice(0, 16))
  const fileOf = (instance: string, id: string) => path.join(folderOf(instance), `${id}.json.gz`)

  const prune = Effect.fnUntraced(function*(own: string) {
    const files = yield* fs.readDirectory(own)
    const dated = yield* Effect.forEach(
      files,
      (file) =>
        Effect.map(Effect.option(fs.stat(path.join(own, file))), (info) => ({
          file,
          time: info._tag === "Some" && info.value.mtime._tag === "Some" ? info.value.mtime.value.getTime() : 0
        }))
    )
    const old = dated.toSorted((a, b) => b.time - a.time).slice(maxRuns)
    yield* Effect.forEach(old, ({ file }) => fs.remove(path.join(own, file)), { discard: true })
  })

  return compressed({
    save: (instance, id, bytes) =>
      Effect.gen(function*() {
        const own = folderOf(instance)
        yield* fs.makeDirectory(own, { recursive: true, mode: 0o700 })
        const file = fileOf(instance, id)
        yield* AtomicFile.write(file, { bytes, temporary: `${file}.${process.pid}.tmp`, mode: 0o600 })
        yield* prune(own)
      }).pipe(Effect.provideService(FileSystem.FileSystem, fs)),
    load: (instance, id) => fs.readFile(fileOf(instance, id))
  })
})

/** Stores executions as `<hash of the instance>/<execution id>.json.gz` below a folder, readable by this user only. */
export const layer = (folder: string): Layer.Layer<never, never, FileSystem.FileSystem | Path.Path> =>
  Layer.effect(TestRuns, make(folder))
