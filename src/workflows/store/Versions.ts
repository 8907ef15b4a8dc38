/** Earlier states of workflows on n8n: its own versions (2.x) and our snapshots. Reading one changes nothing. */
import * as Cache from "effect/Cache"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import * as Errors from "../../base/Errors.ts"
import { arr, defined, type Obj, obj, str } from "../../base/Json.ts"
import * as Workflow from "../../n8n/model/Workflow.ts"
import { hasStatus, isV1, N8nClient, type VersionContent } from "../../n8n/N8nClient.ts"
import * as WorkflowDiff from "../diff/WorkflowDiff.ts"
import * as Reference from "../Reference.ts"
import { Snapshots } from "./Snapshots.ts"

/** A workflow in one of its versions. */
export interface State {
  /** Whole, but for what belongs to what runs now; of n8n's versions all but nodes, links and groups is of today. */
  readonly workflow: Workflow.Workflow
  /** What a reader must know of it. */
  readonly notes: ReadonlyArray<string>
}

/** Reads versions. */
export interface Service {
  /**
   * The workflow in one version: `published`, an id of n8n's, or a snapshot's; the last also of a deleted workflow.
   *
   * **Details**
   *
   * Fails with a `NotFoundError` that names the newest versions, and a `ValidationError` for a version of another
   * workflow, or where nothing is published.
   */
  readonly read: (id: string, version: string) => Effect.Effect<State, Errors.N8nError, N8nClient>
  /** What changed from one version to the next, in one line; both of n8n, or both snapshots. */
  readonly changed: (id: string, older: string, newer: string) => Effect.Effect<string, Errors.N8nError, N8nClient>
  /** Notes of which workflow these versions are, to tell it when they are looked for elsewhere. */
  readonly note: (id: string, versions: ReadonlyArray<string>) => Effect.Effect<void, never, N8nClient>
}

/** The versions. Like the snapshots it holds no client: the call says of which n8n. */
export class Versions extends Context.Service<Versions, Service>()("effect-n8n-mcp/Versions") {}

/** Whole workflows are large: as many as are compared at once. */
const maxContents = 32

/** How long a version is kept that is not asked for again. */
const contentTtl = "10 minutes"

const maxLines = 5_000

/** How many versions an error names. */
const few = 3

/** Without what n8n says of the published version beside the workflow. */
const withoutPublished = ({ activeVersion: _, activeVersionId: __, ...rest }: Workflow.Workflow): Workflow.Workflow =>
  rest

const Published = Schema.Struct({
  nodes: Workflow.Workflow.schema.fields.nodes,
  connections: Workflow.Workflow.schema.fields.connections
})

/** What runs; `versionState` reads it where n8n does not give it with the workflow. */
const publishedState = Effect.fnUntraced(function*(
  id: string,
  versionState: (id: string, version: string) => Effect.Effect<State, Errors.N8nError, N8nClient>
) {
  const n8n = yield* N8nClient
  const workflow = yield* n8n.getWorkflow(id)
  if (!workflow.active) {
    return yield* new Errors.ValidationError({
      reason: `Nothing of workflow '${id}' is published`,
      field: "version",
      hint: `'${id}' alone is the workflow as it is.`
    })
  }
  const release = yield* n8n.release
  if (isV1(release)) {
    return {
      workflow: withoutPublished(workflow),
      notes: ["This n8n has no drafts: what is published is the workflow as it is."]
    }
  }
  const version = obj(workflow["activeVersion"])
  const running = Schema.decodeUnknownOption(Published)(version)
  const { activeVersionId, versionId } = workflow
  if (running._tag === "None") {
    return typeof activeVersionId === "string" && activeVersionId !== versionId
      ? yield* versionState(id, activeVersionId)
      : { workflow: withoutPublished(workflow), notes: [] }
  }
  return {
    workflow: {
      ...withoutPublished(workflow),
      ...running.value,
      ...defined({
        versionId: activeVersionId ?? undefined,
        updatedAt: str(version?.["createdAt"]),
        nodeGroups: version?.["nodeGroups"]
      })
    },
    notes: []
  }
})

const decodeWorkflow = Schema.decodeUnknownEffect(Workflow.Workflow)

/** Whether n8n or we have no such version; 1.x has no way to ask. */
const isUnknown = (error: Errors.N8nError) =>
  error._tag === "NotFoundError" ? error.resourceType !== "Workflow" : hasStatus(404, 405)(error)

/** Keeps what was read of versions, since they never change. */
export const layer: Layer.Layer<Versions, never, Snapshots> = Layer.effect(
  Versions,
  Effect.gen(function*() {
    const snapshots = yield* Snapshots
    const keyOf = (...parts: ReadonlyArray<string>) =>
      Effect.map(N8nClient, ({ instance }) => JSON.stringify([instance.key, ...parts]))
    const partsOf = (key: string) => arr(JSON.parse(key)).map(String)

    const owners = yield* Cache.make({
      lookup: (_: string): Effect.Effect<string, "unknown"> => Effect.fail("unknown"),
      capacity: maxLines
    })

    const contents = yield* Cache.makeWith(
      (key: string) => {
        const [, id = "", version = ""] = partsOf(key)
        return N8nClient.use((n8n) => n8n.workflowVersion(id, version))
      },
      {
        capacity: maxContents,
        timeToLive: (exit) => Exit.isSuccess(exit) ? contentTtl : 0,
        requireServicesAt: "lookup"
      }
    )

    const note: Service["note"] = Effect.fnUntraced(function*(id, versions) {
      yield* Effect.forEach(
        versions,
        (version) => Effect.flatMap(keyOf(version), (key) => Cache.set(owners, key, id)),
        { discard: true }
      )
    })

    const owner = Effect.fnUntraced(function*(version: string) {
      const { instance } = yield* N8nClient
      return Reference.isSnapshot(version)
        ? yield* snapshots.owner(instance, version)
        : yield* Effect.orElseSucceed(Cache.get(owners, yield* keyOf(version)), () => undefined)
    })

    const newest = Effect.fnUntraced(function*(id: string) {
      const n8n = yield* N8nClient
      const own = yield* n8n.workflowHistory(id).pipe(Effect.orElseSucceed(() => undefined))
      const kept = yield* snapshots.list(n8n.instance, id).pipe(Effect.orElseSucceed(() => []))
      return {
        hasOwn: own !== undefined,
        names: [
          ...(own ?? []).slice(0, few).map(({ versionId }) => versionId),
          ...kept.slice(0, few).map(({ version }) => version)
        ]
      }
    })

    const unknown = Effect.fnUntraced(function*(id: string, version: string) {
      const other = yield* owner(version)
      if (other !== undefined && other !== id) {
        return yield* new Errors.ValidationError({
          reason: `Version '${version}' is one of workflow '${other}', not of '${id}'`,
          field: "version",
          hint: `Write '${Reference.format(other, version)}'.`
        })
      }
      const { hasOwn, names } = yield* newest(id)
      return yield* new Errors.NotFoundError({
        operation: "read a version of workflow",
        resourceType: "Version",
        resourceId: version,
        hint: [
          ...hasOwn ? [] : ["This n8n keeps no versions that can be listed: there are only snapshots."],
          { _tag: "ChooseVersion", workflowId: id, newest: names }
        ]
      })
    })

    const snapshotState = Effect.fnUntraced(function*(id: string, version: string) {
      const { instance } = yield* N8nClient
      const { workflow } = yield* snapshots.read(instance, id, version)
      const decoded = yield* Effect.mapError(
        decodeWorkflow(workflow),
        () =>
          new Errors.ValidationError({
            reason: `Snapshot '${version}' is damaged`,
            field: "version",
            hint: { _tag: "ListRestorableVersions" }
          })
      )
      return { workflow: withoutPublished(decoded), notes: [] }
    })

    const versionState = Effect.fnUntraced(function*(id: string, version: string) {
      const [current, content] = yield* Effect.all(
        [
          N8nClient.use((n8n) => n8n.getWorkflow(id)),
          Effect.flatMap(keyOf(id, version), (key) => Effect.result(Cache.get(contents, key)))
        ],
        { concurrency: 2 }
      )
      const { connections, createdAt, nodeGroups, nodes }: VersionContent = yield* Effect.fromResult(content)
      return {
        workflow: {
          ...withoutPublished(current),
          nodes,
          connections,
          versionId: version,
          ...defined({ nodeGroups, updatedAt: str(createdAt) })
        },
        notes: []
      }
    })

    const read: Service["read"] = Effect.fn("Versions.read")(function*(id, version) {
      if (version === Reference.published) return yield* publishedState(id, versionState)
      const state: Effect.Effect<State, Errors.N8nError, N8nClient> = Reference.isSnapshot(version)
        ? snapshotState(id, version)
        : versionState(id, version)
      return yield* Effect.catchIf(state, isUnknown, () => unknown(id, version))
    })

    const lines = yield* Cache.makeWith(
      (key: string) => {
        const [, id = "", older = "", newer = ""] = partsOf(key)
        const stateOf = (version: string): Effect.Effect<Obj, Errors.N8nError, N8nClient> =>
          Reference.isSnapshot(version)
            ? Effect.map(snapshotState(id, version), ({ workflow }) => workflow)
            : Effect.flatMap(keyOf(id, version), (key) => Cache.get(contents, key))
        return Effect.map(
          Effect.all([stateOf(older), stateOf(newer)], { concurrency: 2 }),
          ([before, after]) => WorkflowDiff.step(before, after)
        )
      },
      {
        capacity: maxLines,
        timeToLive: (exit) => Exit.isSuccess(exit) ? "1 day" : 0,
        requireServicesAt: "lookup"
      }
    )

    return Versions.of({
      read,
      changed: (id, older, newer) => Effect.flatMap(keyOf(id, older, newer), (key) => Cache.get(lines, key)),
      note
    })
  })
)
