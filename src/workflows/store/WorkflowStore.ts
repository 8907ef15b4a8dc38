/**
 * Writing workflows so that nothing is lost: read, merge, keep a snapshot, look again, write, look what came of it.
 *
 * **Details**
 *
 * n8n's `PUT` has no precondition. Our own writers take turns, workflow by workflow; against others the version is
 * compared right before the `PUT`, and what slipped in all the same is found in the history and named.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Errors from "../../base/Errors.ts"
import { defined } from "../../base/Json.ts"
import * as Locks from "../../base/KeyedMutex.ts"
import { NodeCatalogue } from "../../catalogue/NodeCatalogue.ts"
import * as Workflow from "../../n8n/model/Workflow.ts"
import { isUnsupported, N8nClient } from "../../n8n/N8nClient.ts"
import { puttingBack } from "../../n8n/WriteGuard.ts"
import * as WorkflowDiff from "../diff/WorkflowDiff.ts"
import * as change from "./change.ts"
import { isSameVersion, moved } from "./conflicts.ts"
import { deleteUnpublished, published, unpublished } from "./Publishing.ts"
import { Snapshots } from "./Snapshots.ts"
import * as steps from "./steps.ts"
import type { Modification, Modified, Patch, UpdateOptions, Written } from "./written.ts"

export type { Modification, Modified, Patch, UpdateOptions, Written }

/** An update that is not written yet: what it will change, to show to a person or to decide by. */
export interface Plan {
  /** The workflow that it is planned for, as it was read. */
  readonly before: Workflow.Workflow
  /** The parts that will be sent, repaired and with what `…` stood for; empty if n8n has them all. */
  readonly patch: Patch
  /** What changes; nothing in it is cut, and nothing is redacted. */
  readonly diff: WorkflowDiff.WorkflowDiff
  /** The same in one line: `nothing` if all is there already. */
  readonly changed: string
  /** What was repaired. */
  readonly warnings: ReadonlyArray<string>
  readonly options: UpdateOptions
}

/** A write, and why it may fail. */
export type Writing = Effect.Effect<Written, Errors.N8nError, N8nClient>

/**
 * Writes to n8n.
 *
 * **Details**
 *
 * Every method asks for the `N8nClient` when it is called: one process serves several n8n, with one set of locks and
 * snapshots, and which n8n a write goes to is known only by its call.
 */
export interface Service {
  /** Creates a workflow; what fails after it exists is a warning that says what exists. */
  readonly create: (
    input: unknown,
    options: Pick<UpdateOptions, "source" | "tags" | "active"> & {
      /** Where on n8n, with the licence for it. Default: at the top of the key's own project. */
      readonly place?: { readonly projectId?: string; readonly parentFolderId?: string }
    }
  ) => Writing
  /** Changes what `patch` names; a published workflow is published again, unless somebody's draft was waiting. */
  readonly update: (id: string, patch: Patch, options: UpdateOptions) => Writing
  /**
   * What `update` would do, without writing anything: show it, then `apply` it.
   *
   * **Example** (Asking before a change)
   *
   * ```ts
   * import { Services, WorkflowStore } from "effect-n8n-mcp"
   * import { FakeN8n } from "effect-n8n-mcp/testing"
   * import * as Effect from "effect/Effect"
   * import * as Layer from "effect/Layer"
   *
   * const rename = (id: string, name: string, confirm: (change: string) => Effect.Effect<boolean>) =>
   *   Effect.gen(function*() {
   *     const store = yield* WorkflowStore.WorkflowStore
   *     const plan = yield* store.plan(id, { name }, { operation: "rename", source: "caller" })
   *     if (!(yield* confirm(plan.changed))) return plan.before.name
   *     return (yield* store.apply(plan)).workflow.name
   *   })
   *
   * const workflow = { id: "1", name: "Orders", nodes: [], connections: {} }
   *
   * export const test = rename("1", "Orders (old)", (change) => Effect.succeed(change.includes("name"))).pipe(
   *   Effect.provide(Layer.merge(FakeN8n.layer({ workflows: [workflow], executions: [] }), Services.layerMemory))
   * )
   * ```
   */
  readonly plan: (id: string, patch: Patch, options: UpdateOptions) => Effect.Effect<Plan, Errors.N8nError, N8nClient>
  /** Writes a plan; a `VersionConflict`, and nothing written, if the workflow has changed since. */
  readonly apply: (plan: Plan) => Writing
  /**
   * Changes a workflow by what `change` makes of it.
   *
   * **Details**
   *
   * Reading, changing and writing are one turn: no other writer of this process comes between. When somebody else
   * does, `change` is run again on what is there then, up to three times, unless `expectedVersionId` names a version.
   *
   * **Gotchas**
   *
   * A write of the same workflow within `change` waits for ever.
   */
  readonly modify: <A, R>(
    id: string,
    change: (before: Workflow.Workflow) => Effect.Effect<Modification<A>, Errors.N8nError, R>,
    options: UpdateOptions
  ) => Effect.Effect<Modified<A>, Errors.N8nError, N8nClient | R>
  /** Deletes; a published workflow is unpublished first, and published again when deleting then fails. */
  readonly remove: (id: string) => Effect.Effect<void, Errors.N8nError, N8nClient>
  /** Archives (2.x): it is unpublished and kept; on 1.x it fails, and nothing is done. */
  readonly archive: (id: string) => Effect.Effect<void, Errors.N8nError, N8nClient>
  /** Publishes what is there now, or unpublishes; answers once it has taken effect. */
  readonly setActive: (id: string, active: boolean) => Writing
}

/** The way to write a workflow. */
export class WorkflowStore extends Context.Service<WorkflowStore, Service>()("effect-n8n-mcp/WorkflowStore") {}

/** Writes workflows; needs the snapshots of what was before, and the versions that new nodes get. */
export const layer: Layer.Layer<WorkflowStore, never, Snapshots | NodeCatalogue> = Layer.effect(
  WorkflowStore,
  Effect.gen(function*() {
    const snapshots = yield* Snapshots
    const means: change.Means = { snapshots, catalogue: yield* NodeCatalogue }
    const oneAtATime = Locks.make()

    const inTurn = (id: string) => <A, E, R>(effect: Effect.Effect<A, E, R>) =>
      Effect.flatMap(N8nClient, ({ instance }) => oneAtATime(`${instance.key}/${id}`)(effect))

    const write = <A, R>(id: string, make: change.Change<A, R>, options: UpdateOptions, retries: number) =>
      steps.write(means, id, make, options, retries).pipe(inTurn(id))

    const update: Service["update"] = (id, patch, options) =>
      // The same patch again would overwrite what its author has not seen.
      write(id, () => Effect.succeed({ patch, result: undefined }), options, 0).pipe(
        Effect.withSpan("WorkflowStore.update")
      )

    const plan: Service["plan"] = Effect.fn("WorkflowStore.plan")(function*(id, patch, options) {
      const asGiven = Effect.succeed({ patch, result: undefined })
      const { before, body, changedKeys, warnings } = yield* change.prepared(means, id, () => asGiven, options)
      const diff = WorkflowDiff.make(before, { ...before, ...body })
      return {
        before,
        patch: Object.fromEntries(changedKeys.map((key) => [key, body[key]])),
        diff,
        changed: WorkflowDiff.line(diff),
        warnings,
        options
      }
    })

    const apply: Service["apply"] = ({ before, options, patch }) =>
      write(
        before.id,
        (now) =>
          isSameVersion(now, before, Object.keys(patch))
            ? Effect.succeed({ patch, result: undefined })
            : moved(snapshots, before.versionId ?? "?", now, before),
        options,
        0
      ).pipe(Effect.withSpan("WorkflowStore.apply"))

    const modify: Service["modify"] = (id, make, options) =>
      Effect.withSpan(write(id, make, options, 3), "WorkflowStore.modify")

    const remove: Service["remove"] = (id) =>
      Effect.gen(function*() {
        const n8n = yield* N8nClient
        const before = yield* change.target(id)
        yield* change.keep(means, before, "delete_workflow")
        if (!before.active) return yield* n8n.deleteWorkflow(id)
        yield* unpublished(id)
        yield* deleteUnpublished(id).pipe(
          Effect.tapError((error) =>
            error._tag === "NotFoundError"
              ? Effect.void
              : Effect.ignore(puttingBack(n8n.publishWorkflow(id, before.activeVersionId ?? undefined)))
          )
        )
      }).pipe(inTurn(id), Effect.withSpan("WorkflowStore.remove"))

    const archive: Service["archive"] = (id) =>
      Effect.gen(function*() {
        const n8n = yield* N8nClient
        const before = yield* change.target(id)
        if (before.isArchived === true) return
        yield* change.keep(means, before, "delete_workflow")
        yield* n8n.archiveWorkflow(id).pipe(
          Effect.catchIf(isUnsupported, (error) =>
            Effect.fail(
              new Errors.ApiError({
                ...error,
                hint:
                  "Nothing was done: this n8n has no archive. Deactivate the workflow, or delete it without archive."
              })
            ))
        )
      }).pipe(inTurn(id), Effect.withSpan("WorkflowStore.archive"))

    const setActive: Service["setActive"] = (id, active) =>
      Effect.gen(function*() {
        const before = yield* change.target(id)
        const done = active ? yield* published(before) : { workflow: yield* unpublished(id), warnings: [] }
        const { warnings, workflow } = yield* steps.readBack(done)
        const { changed, published: runs } = steps.outcome(before, workflow)
        const wentLive = active && Workflow.hasDraft(before)
        return { workflow, warnings, ...defined({ changed: wentLive ? changed : undefined, published: runs }) }
      }).pipe(inTurn(id), Effect.withSpan("WorkflowStore.setActive"))

    return WorkflowStore.of({ create: steps.create(means), update, plan, apply, modify, remove, archive, setActive })
  })
)
