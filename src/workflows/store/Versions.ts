/** Earlier states of workflows: n8n's versions (2.x) and our snapshots. Reading one changes nothing. */
import * as Cache from "effect/Cache"
import * as Context from "effect/Context"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import * as Struct from "effect/Struct"
import * as Errors from "../../base/Errors.ts"
import { defined, type Obj, obj, str } from "../../base/Json.ts"
import * as Turn from "../../base/Turn.ts"
import * as Workflow from "../../n8n/model/Workflow.ts"
import { hasStatus, isV1, N8nClient, type VersionContent } from "../../n8n/N8nClient.ts"
import * as WorkflowDiff from "../../workflow/diff/WorkflowDiff.ts"
import * as Reference from "../Reference.ts"
import { damaged, Snapshots } from "./Snapshots.ts"

/** A workflow in one of its versions. */
export interface State {
  /** Without the published version. */
  readonly workflow: Workflow.Workflow
  readonly notes: ReadonlyArray<string>
  /**
   * Current workflow, with whose settings n8n would run the version. Present if the version has none of its own: then
   * only nodes, connections and groups can be compared, and its name is the current one.
   */
  readonly current?: Workflow.Workflow
}

/** Reads versions. */
export interface Service {
  /**
   * Reads a version: `published`, an id of n8n's or its beginning, or a snapshot's (also of a deleted workflow). Fails with a
   * `NotFoundError` that names the newest versions, and with a `ValidationError` if nothing is published.
   */
  readonly read: (id: string, version: string) => Effect.Effect<State, Errors.N8nError, N8nClient>
  /** Summary in one line of the changes between two versions; both of n8n, or both snapshots. */
  readonly changed: (id: string, older: string, newer: string) => Effect.Effect<string, Errors.N8nError, N8nClient>
}

/** The versions of every n8n; each call names one. */
export class Versions extends Context.Service<Versions, Service>()("effect-n8n-mcp/Versions") {}

/** Maximum number of cached versions, which are whole workflows: as many as are compared in one call. */
const maxContents = 32
const maxLines = 5_000

const cached = (capacity: number, ttl: Duration.Input) => ({
  capacity,
  timeToLive: (exit: Exit.Exit<unknown, unknown>) => Exit.isSuccess(exit) ? ttl : 0,
  requireServicesAt: "lookup" as const
})

/** Minimum length of the beginning of an id that is enough for one. */
const leastPrefix = 4

const withoutPublished = ({ activeVersion: _, activeVersionId: __, ...rest }: Workflow.Workflow): Workflow.Workflow =>
  rest

/** Published version; `versionState` reads it if n8n does not return it with the workflow. */
const publishedState = Effect.fnUntraced(function*(
  id: string,
  versionState: (id: string, version: string) => Effect.Effect<State, Errors.N8nError, N8nClient>
) {
  const n8n = yield* N8nClient
  const workflow = yield* n8n.getWorkflow(id)
  if (!workflow.active) {
    return yield* Errors.invalid(
      "version",
      `Nothing of workflow '${id}' is published`,
      `'${id}' alone is its current state.`
    )
  }
  const release = yield* n8n.release
  if (isV1(release)) {
    return {
      workflow: withoutPublished(workflow),
      notes: ["This n8n has no drafts: the published version is the current state."]
    }
  }
  const running = Workflow.running(workflow)
  const { activeVersionId, versionId } = workflow
  if (running === undefined) {
    const { workflow: own } = typeof activeVersionId === "string" && activeVersionId !== versionId
      ? yield* versionState(id, activeVersionId)
      : { workflow }
    // The current settings are in force.
    const content = Struct.pick(own, ["versionId", "updatedAt", ...Workflow.versionedKeys])
    return { workflow: { ...withoutPublished(workflow), ...content }, notes: [] }
  }
  const version = obj(workflow["activeVersion"])
  return {
    workflow: {
      ...withoutPublished(running),
      ...defined({
        versionId: activeVersionId ?? undefined,
        updatedAt: str(version?.["createdAt"]),
        nodeGroups: version?.["nodeGroups"]
      })
    },
    notes: []
  }
})

const snapshotState = Effect.fnUntraced(function*(snapshots: Snapshots["Service"], id: string, version: string) {
  const { instance } = yield* N8nClient
  const { workflow } = yield* snapshots.read(instance, id, version)
  const decoded = yield* Effect.mapError(
    Schema.decodeUnknownEffect(Workflow.Workflow)(workflow),
    () => damaged(version)
  )
  return { workflow: withoutPublished(decoded), notes: [] }
})

/** Whether neither n8n nor we have the version; 1.x cannot be asked. */
const isUnknown = (error: Errors.N8nError) =>
  error._tag === "NotFoundError" ? error.resourceType !== "Workflow" : hasStatus(404, 405)(error)

/** Reads versions, and caches them since they never change. */
export const layer: Layer.Layer<Versions, never, Snapshots> = Layer.effect(
  Versions,
  Effect.gen(function*() {
    const snapshots = yield* Snapshots
    const keyOf = <const Parts extends ReadonlyArray<string>>(...parts: Parts) =>
      Effect.map(N8nClient, ({ instance }) => [instance.key, ...parts] as const)

    const contents = yield* Cache.makeWith(
      ([, id, version]: readonly [instance: string, id: string, version: string]) =>
        N8nClient.use((n8n) => n8n.workflowVersion(id, version)),
      cached(maxContents, "10 minutes")
    )

    /** Newest snapshot that was taken while a version was the current one: the workflow at the end of the version. */
    const snapshotOf = Effect.fnUntraced(function*(id: string, version: string) {
      const { instance } = yield* N8nClient
      const stored = (yield* snapshots.list(instance, id)).find(({ versionId }) => versionId === version)
      if (stored === undefined) return undefined
      const { workflow } = yield* snapshotState(snapshots, id, stored.version)
      return {
        workflow,
        notes: [`Name, settings and pinned data are those of ${stored.version}, the last of this version.`]
      }
    }, Effect.orElseSucceed(() => undefined))

    /** n8n's version, which has only nodes, connections and groups; the rest is from our snapshot of it, if there is one. */
    const versionState = Effect.fnUntraced(
      function*(id: string, version: string): Effect.fn.Return<State, Errors.N8nError, N8nClient> {
        const [current, content] = yield* Effect.all(
          [
            N8nClient.use((n8n) => n8n.getWorkflow(id)),
            Effect.flatMap(keyOf(id, version), (key) => Effect.result(Cache.get(contents, key)))
          ],
          { concurrency: 2 }
        )
        const { connections, createdAt, nodeGroups, nodes }: VersionContent = yield* Effect.fromResult(content)
        const own = { nodes, connections, versionId: version, ...defined({ nodeGroups, updatedAt: str(createdAt) }) }
        const whole = current.versionId === version
          ? { workflow: withoutPublished(current), notes: [] }
          : yield* snapshotOf(id, version)
        if (whole !== undefined) return { ...whole, workflow: { ...whole.workflow, ...own } }
        const { active, createdAt: madeAt, name } = current
        return {
          workflow: { id, name, active, ...defined({ createdAt: madeAt }), ...own },
          notes: ["n8n's versions have no name, settings and pinned data, and there is no snapshot of this one."],
          current: withoutPublished(current)
        }
      }
    )

    /** The only version that begins with a text; fails with the newest ones. */
    const beginningWith = Effect.fnUntraced(function*(id: string, version: string) {
      const n8n = yield* N8nClient
      const own = yield* n8n.workflowHistory(id).pipe(Effect.orElseSucceed(() => undefined))
      const [only, ...others] = (own ?? []).filter((each) => each.versionId.startsWith(version))
      if (only !== undefined && others.length === 0 && version.length >= leastPrefix) {
        return yield* versionState(id, only.versionId)
      }
      const stored = yield* snapshots.list(n8n.instance, id).pipe(Effect.orElseSucceed(() => []))
      return yield* new Errors.NotFoundError({
        operation: "read a version of workflow",
        resourceType: "Version",
        resourceId: version,
        hint: [
          ...own === undefined ? ["This n8n does not list versions: there are only snapshots."] : [],
          {
            _tag: "ChooseVersion",
            workflowId: id,
            versions: (own ?? []).map(({ versionId }) => versionId),
            snapshots: stored.map((snapshot) => snapshot.version)
          }
        ]
      })
    })

    const read: Service["read"] = Effect.fn("Versions.read")(function*(id, version) {
      if (version === Reference.published) return yield* publishedState(id, versionState)
      const state: Effect.Effect<State, Errors.N8nError, N8nClient> = Reference.isSnapshot(version)
        ? snapshotState(snapshots, id, version)
        : versionState(id, version)
      return yield* Effect.catchIf(state, isUnknown, () => beginningWith(id, version))
    })

    const lines = yield* Cache.makeWith(
      ([, id, older, newer]: readonly [instance: string, id: string, older: string, newer: string]) => {
        const stateOf = (version: string): Effect.Effect<Obj, Errors.N8nError, N8nClient> =>
          Reference.isSnapshot(version)
            ? Effect.map(snapshotState(snapshots, id, version), ({ workflow }) => workflow)
            // The name and description of a version are labels, not the workflow's.
            : Effect.map(
              Effect.flatMap(keyOf(id, version), (key) => Cache.get(contents, key)),
              Struct.pick(Workflow.versionedKeys)
            )
        return Effect.flatMap(
          Effect.all([stateOf(older), stateOf(newer)], { concurrency: 2 }),
          ([before, after]) => Turn.run(() => WorkflowDiff.lineSteps(before, after))
        )
      },
      cached(maxLines, "1 day")
    )

    return Versions.of({
      read,
      changed: (id, older, newer) => Effect.flatMap(keyOf(id, older, newer), (key) => Cache.get(lines, key))
    })
  })
)
