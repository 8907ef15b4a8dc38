/** Snapshots of workflows before each write, stored on this machine, so that no write loses anything. */
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { randomBytes } from "node:crypto"
import { gunzipSync, gzipSync } from "node:zlib"
import { Author } from "../../base/CallContext.ts"
import * as Documents from "../../base/Documents.ts"
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

const pattern = /^snapshot-(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)(\d{3})Z-[\da-f]{4,}$/

const timeOf = (version: string) => Date.parse(version.replace(pattern, "$1-$2-$3T$4:$5:$6.$7Z"))

const isVersion = (name: string) => pattern.test(name) && !Number.isNaN(timeOf(name))

/** Describes a snapshot. Its version sorts above `newest`, even within one millisecond or after the clock was set back. */
const describe = Effect.fnUntraced(function*(workflow: Workflow, operation: string, newest: string | undefined) {
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

const notFound = (version: string) =>
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

const Head = Schema.fromJsonString(Snapshot)
const encodeHead = Schema.encodeSync(Head)
const decodeHead = Schema.decodeOption(Head)

/** Collection of the documents. @internal */
export const collection = "snapshots"

/** Digest of an n8n's address and key. */
const digestOf = (key: string) => sha256(key).slice(0, 16)

/** Document of a snapshot: its description in a line, then the workflow, compressed. @internal */
export const pack = (snapshot: Snapshot, workflow: unknown): Effect.Effect<Uint8Array, Errors.ValidationError> =>
  Effect.try({
    try: () =>
      Buffer.concat([Buffer.from(`${encodeHead(snapshot)}\n`), gzipSync(JSON.stringify(workflow), { level: 1 })]),
    catch: () => Errors.invalid("workflow", "it is not JSON", "Pass the workflow as n8n returned it.")
  })

/** Description in a document, and its workflow as it is compressed. */
const unpack = (body: Uint8Array, version: string) => {
  const end = body.indexOf(0x0a)
  return decodeHead(Buffer.from(body.subarray(0, Math.max(end, 0))).toString("utf8")).pipe(
    Option.filter((snapshot) => snapshot.version === version),
    Option.map((snapshot) => ({ snapshot, packed: body.subarray(end + 1) }))
  )
}

/** Owner of a workflow's documents, by the digest of its n8n. @internal */
export const ownerOf = (instance: string, workflowId: string): string => `${instance}/${workflowId}`

const versionsOf = ({ list }: Documents.Collection) =>
  Effect.map(list, (names) => names.filter(isVersion).toSorted().toReversed())

/** Stores snapshots as documents; `adopt` runs once, before the first access. */
export const layer = <R = never>(adopt: Effect.Effect<void, never, R> = Effect.void): Layer.Layer<
  Snapshots,
  never,
  Documents.Documents | R
> =>
  Layer.effect(
    Snapshots,
    Effect.gen(function*() {
      const documents = yield* Documents.Documents
      const adopted = yield* Effect.cached(Effect.provideContext(adopt, yield* Effect.context<R>()))
      const collectionOf = ({ key }: Instance, workflowId: string) =>
        Effect.as(adopted, documents.collection(collection, ownerOf(digestOf(key), workflowId)))
      const because = (what: string) => ({ hint, reason }: Errors.ValidationError) =>
        new Errors.ValidationError({ reason: `${what}: ${reason}`, ...defined({ hint }), isServerFault: true })

      return Snapshots.of({
        save: Effect.fn("Snapshots.save")(
          function*(instance, workflow, operation) {
            const own = yield* collectionOf(instance, workflow.id)
            const [newest] = yield* versionsOf(own)
            const snapshot = yield* describe(workflow, operation, newest)
            yield* own.add(snapshot.version, yield* pack(snapshot, workflow))
            const versions = yield* Effect.orElseSucceed(versionsOf(own), () => [])
            yield* Effect.forEach(versions.slice(maxSnapshots), (each) => Effect.ignore(own.remove(each)))
            return snapshot
          },
          (saving, _, { id }) =>
            Effect.mapError(saving, because(`No snapshot of Workflow '${id}' could be stored, so nothing was written`))
        ),

        list: Effect.fn("Snapshots.list")(
          function*(instance, workflowId) {
            const own = yield* collectionOf(instance, workflowId)
            const snapshots = yield* Effect.forEach(
              yield* versionsOf(own),
              (version) =>
                own.read(version).pipe(
                  Effect.map((body) => Option.flatMap(Option.fromUndefinedOr(body), (body) => unpack(body, version))),
                  Effect.orElseSucceed(() => Option.none())
                ),
              { concurrency: 4 }
            )
            return snapshots.flatMap(Option.toArray).map(({ snapshot }) => snapshot)
          },
          (listing, _, id) => Effect.mapError(listing, because(`The snapshots of Workflow '${id}' cannot be read`))
        ),

        read: Effect.fn("Snapshots.read")(function*(instance, workflowId, version) {
          if (!isVersion(version)) return yield* notFound(version)
          const { read } = yield* collectionOf(instance, workflowId)
          const body = yield* Effect.mapError(read(version), because(`Snapshot '${version}' cannot be read`))
          if (body === undefined) return yield* notFound(version)
          return yield* Effect.fromOption(unpack(body, version)).pipe(
            Effect.flatMap(({ packed, snapshot }) =>
              Effect.try(() => ({ snapshot, workflow: JSON.parse(gunzipSync(packed).toString("utf8")) as unknown }))
            ),
            Effect.filterOrFail(({ workflow }) => obj(workflow)?.["id"] === workflowId),
            Effect.mapError(() => damaged(version))
          )
        })
      })
    })
  )

/** Stores the text of a file before it is overwritten. */
export const keepFile = (operation: string) =>
  Effect.fnUntraced(function*(text: string, path: string) {
    const { instance } = yield* WorkflowFiles
    yield* (yield* Snapshots).save(instance, { id: path, name: path.slice(path.lastIndexOf("/") + 1), text }, operation)
  })
