/** Snapshots of workflows before each write, stored on this machine, so that no write loses anything. */
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Path from "effect/Path"
import type * as PlatformError from "effect/PlatformError"
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"
import { randomBytes } from "node:crypto"
import { homedir } from "node:os"
import { isAbsolute, join } from "node:path"
import * as AtomicFile from "../../base/AtomicFile.ts"
import { Author } from "../../base/CallContext.ts"
import * as Errors from "../../base/Errors.ts"
import { sha256 } from "../../base/Hash.ts"
import { defined, obj, str } from "../../base/Json.ts"
import type { Instance } from "../../n8n/N8nClient.ts"
import { WorkflowFiles } from "../files/WorkflowFiles.ts"

/** Description of a snapshot. */
export const Snapshot = Schema.Struct({
  /** Name of the version, such as `snapshot-20261121T224512123Z-ab12cd`; newer ones sort higher. */
  version: Schema.String,
  /** ISO 8601. */
  createdAt: Schema.String,
  /** The write that followed. */
  operation: Schema.String,
  name: Schema.String,
  versionId: Schema.optionalKey(Schema.String),
  /** Author of that write, if known. */
  author: Schema.optionalKey(Schema.String)
})
export interface Snapshot extends Schema.Schema.Type<typeof Snapshot> {}

/** A workflow as n8n returned it. */
export interface Workflow {
  readonly id: string
  readonly [key: string]: unknown
}

/** Stores and reads snapshots. */
export interface Service {
  /**
   * Stores the whole workflow; of each workflow the last {@link maxSnapshots} are left. After a failure the workflow
   * could not be restored: do not write.
   */
  readonly save: (
    instance: Instance,
    workflow: Workflow,
    operation: string
  ) => Effect.Effect<Snapshot, Errors.ValidationError>
  /** Snapshots of a workflow, newest first, including those of a deleted one. Damaged files are left out. */
  readonly list: (
    instance: Instance,
    workflowId: string
  ) => Effect.Effect<ReadonlyArray<Snapshot>, Errors.ValidationError>
  /** A snapshot with its workflow. */
  readonly read: (
    instance: Instance,
    workflowId: string,
    version: string
  ) => Effect.Effect<
    { readonly snapshot: Snapshot; readonly workflow: unknown },
    Errors.NotFoundError | Errors.ValidationError
  >
}

/** The snapshots of every n8n; each call names one. */
export class Snapshots extends Context.Service<Snapshots, Service>()("effect-n8n-mcp/Snapshots") {}

/** Maximum number of snapshots of a workflow. */
export const maxSnapshots = 20

/**
 * `$XDG_STATE_HOME/effect-n8n-mcp`, else `~/.local/state/effect-n8n-mcp`; a relative path in the variable is ignored.
 */
export const defaultFolder = (env: { readonly [name: string]: string | undefined }): string => {
  const state = env["XDG_STATE_HOME"] ?? ""
  return join(isAbsolute(state) ? state : join(env["HOME"] || homedir(), ".local", "state"), "effect-n8n-mcp")
}

const File = Schema.fromJsonString(Schema.Struct({ snapshot: Snapshot, workflow: Schema.Unknown }))
const encode = Schema.encodeEffect(File)
const decode = Schema.decodeEffect(File)

const pattern = /^snapshot-(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)(\d{3})Z-[\da-f]{4,}$/

const timeOf = (version: string) => Date.parse(version.replace(pattern, "$1-$2-$3T$4:$5:$6.$7Z"))

const isVersion = (name: string) => pattern.test(name) && !Number.isNaN(timeOf(name))

/**
 * Describes a snapshot. Its version sorts above `newest`, even within one millisecond or after the clock was set back.
 *
 * @internal
 */
export const describe = Effect.fnUntraced(function*(workflow: Workflow, operation: string, newest: string | undefined) {
  const now = yield* Clock.currentTimeMillis
  const time = newest === undefined ? now : Math.max(now, timeOf(newest) + 1)
  const stamp = new Date(time).toISOString().replace(/[-:.]/g, "")
  return defined({
    version: `snapshot-${stamp}-${randomBytes(3).toString("hex")}`,
    createdAt: new Date(now).toISOString(),
    operation,
    name: str(workflow["name"]) ?? "",
    versionId: str(workflow["versionId"]),
    author: yield* Author
  }) satisfies Snapshot
})

/** Error for an unknown version. @internal */
export const notFound = (version: string) =>
  new Errors.NotFoundError({
    operation: "read snapshot",
    resourceType: "Snapshot",
    resourceId: version,
    hint: { _tag: "ListVersions", maxSnapshots }
  })

/** Error for a version that exists but cannot be read. @internal */
export const damaged = (version: string) =>
  new Errors.ValidationError({
    reason: `Snapshot '${version}' is damaged`,
    field: "version",
    hint: { _tag: "ListRestorableVersions" },
    isServerFault: true
  })

const unusable = (folder: string, reason: string) => (cause: PlatformError.PlatformError | Schema.SchemaError) => {
  const { reason: failure } = cause._tag === "PlatformError" ? cause : { reason: undefined }
  const code = Predicate.hasProperty(failure?.cause, "code") ? failure.cause.code : failure?._tag ?? "not JSON"
  return new Errors.ValidationError({
    reason: `${reason} in '${folder}' (${String(code)})`,
    hint:
      "Make that folder readable and writable for this user, or set XDG_STATE_HOME to one that is, where the server is started.",
    isServerFault: true
  })
}

const isNotFound = ({ reason }: PlatformError.PlatformError) => reason._tag === "NotFound"

/** Name of a folder: the readable part of `label`, and a hash of `key` that makes it unique. */
const folderName = (label: string, key: string) =>
  `${label.replace(/[^A-Za-z0-9]+/g, "_").slice(0, 32)}-${sha256(key).slice(0, 16)}`

/** Options of the layer. */
export interface Options {
  /** Absolute path; created when needed, for this user only. */
  readonly folder: string
}

/**
 * Stores snapshots in files: `<host>-<hash of the instance>/<id>-<hash of the id>/<version>.json`. Folders are 0700 and
 * files 0600, since workflows can contain secrets. Files are written atomically, by any number of processes.
 */
export const layer = ({ folder }: Options): Layer.Layer<Snapshots, never, FileSystem.FileSystem | Path.Path> =>
  Layer.effect(
    Snapshots,
    Effect.gen(function*() {
      const fs = yield* FileSystem.FileSystem
      const path = yield* Path.Path

      const instanceFolder = ({ key, url }: Instance) =>
        path.join(folder, folderName(URL.canParse(url) ? new URL(url).host : "n8n", key))

      const folderOf = (instance: Instance, workflowId: string) =>
        path.join(instanceFolder(instance), folderName(workflowId, workflowId))

      /** Versions of a folder, newest first; a process that died leaves `.tmp` files. */
      const filesIn = (folder: string, ending: ".json" | ".tmp") =>
        fs.readDirectory(folder).pipe(
          Effect.catchIf(isNotFound, () => Effect.succeed([])),
          Effect.map((names) => names.filter((name) => name.endsWith(ending)).map((name) => path.parse(name).name)),
          Effect.map((versions) => versions.filter(isVersion).toSorted().toReversed())
        )

      const prune = Effect.fnUntraced(function*(folder: string) {
        const versions = yield* filesIn(folder, ".json")
        const oldest = versions[maxSnapshots - 1] ?? ""
        const left = (yield* filesIn(folder, ".tmp")).filter((version) => version < oldest)
        const files = [...versions.slice(maxSnapshots).map((each) => `${each}.json`), ...left.map((v) => `${v}.tmp`)]
        yield* Effect.forEach(files, (file) => Effect.ignore(fs.remove(path.join(folder, file))), { discard: true })
      })

      const load = (folder: string, workflowId: string, version: string) =>
        fs.readFileString(path.join(folder, `${version}.json`)).pipe(
          Effect.flatMap(decode),
          Effect.filterOrFail(
            ({ snapshot, workflow }) => snapshot.version === version && obj(workflow)?.["id"] === workflowId,
            () => damaged(version)
          ),
          Effect.mapError((error) => {
            if (error._tag !== "PlatformError") return damaged(version)
            return isNotFound(error)
              ? notFound(version)
              : unusable(folder, `Snapshot '${version}' cannot be read`)(error)
          })
        )

      return Snapshots.of({
        save: Effect.fn("Snapshots.save")(
          function*(instance, workflow, operation) {
            const own = folderOf(instance, workflow.id)
            yield* fs.makeDirectory(own, { recursive: true, mode: 0o700 })
            // An existing folder may be open to all.
            yield* Effect.ignore(fs.chmod(folder, 0o700))
            const [newest] = yield* filesIn(own, ".json")
            const snapshot = yield* describe(workflow, operation, newest)
            yield* AtomicFile.write(fs, path.join(own, `${snapshot.version}.json`), {
              data: yield* encode({ snapshot, workflow }),
              temporary: path.join(own, `${snapshot.version}.tmp`),
              mode: 0o600
            })
            yield* Effect.ignore(prune(own))
            return snapshot
          },
          (saving, _, { id }) =>
            Effect.mapError(saving, unusable(folder, `No snapshot of Workflow '${id}' could be stored`))
        ),

        list: Effect.fn("Snapshots.list")(
          function*(instance, workflowId) {
            const own = folderOf(instance, workflowId)
            const snapshots = yield* Effect.forEach(
              yield* filesIn(own, ".json"),
              (version) => Effect.option(Effect.map(load(own, workflowId, version), ({ snapshot }) => snapshot)),
              { concurrency: 4 }
            )
            return snapshots.flatMap(Option.toArray)
          },
          (listing, _, id) =>
            Effect.mapError(listing, unusable(folder, `The snapshots of Workflow '${id}' cannot be read`))
        ),

        read: Effect.fn("Snapshots.read")(function*(instance, workflowId, version) {
          if (!isVersion(version)) return yield* notFound(version)
          return yield* load(folderOf(instance, workflowId), workflowId, version)
        })
      })
    })
  )

/** Stores snapshots in memory, for tests and the demo. */
export const layerMemory: Layer.Layer<Snapshots> = Layer.sync(Snapshots, () => {
  const all = new Map<string, ReadonlyArray<{ readonly snapshot: Snapshot; readonly workflow: unknown }>>()
  const keyOf = ({ key }: Instance, workflowId: string) => `${key}/${workflowId}`
  return Snapshots.of({
    save: Effect.fn("Snapshots.save")(function*(instance, workflow, operation) {
      const key = keyOf(instance, workflow.id)
      const older = all.get(key) ?? []
      const snapshot = yield* describe(workflow, operation, older[0]?.snapshot.version)
      all.set(key, [{ snapshot, workflow: structuredClone(workflow) }, ...older].slice(0, maxSnapshots))
      return snapshot
    }),
    list: (instance, workflowId) =>
      Effect.sync(() => (all.get(keyOf(instance, workflowId)) ?? []).map(({ snapshot }) => snapshot)),
    read: Effect.fn("Snapshots.read")(function*(instance, workflowId, version) {
      const state = all.get(keyOf(instance, workflowId))?.find(({ snapshot }) => snapshot.version === version)
      return state ?? (yield* notFound(version))
    })
  })
})

/** Stores the text of a file before it is overwritten. */
export const keepFile = (operation: string) =>
  Effect.fnUntraced(function*(text: string, path: string) {
    const { instance } = yield* WorkflowFiles
    yield* (yield* Snapshots).save(instance, { id: path, name: path.slice(path.lastIndexOf("/") + 1), text }, operation)
  })
