/**
 * Writes workflows so that nothing is lost: read, merge, store a snapshot, compare again, write, read back. n8n's `PUT`
 * has no precondition. Our own writers of a workflow take turns. Against others the version is compared right before
 * the `PUT`; a version that is overwritten anyway is found in n8n's history and named in a warning.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Errors from "../../base/Errors.ts"
import { defined, obj } from "../../base/Json.ts"
import * as Locks from "../../base/KeyedMutex.ts"
import { NodeCatalogue } from "../../catalogue/NodeCatalogue.ts"
import * as Workflow from "../../n8n/model/Workflow.ts"
import { isUnsupported, N8nClient, type VersionLabels } from "../../n8n/N8nClient.ts"
import { puttingBack } from "../../n8n/WriteGuard.ts"
import * as WorkflowDiff from "../../workflow/diff/WorkflowDiff.ts"
import * as change from "./change.ts"
import type { Modification, Modified, Patch, UpdateOptions, Written } from "./change.ts"
import { deleteUnpublished, published, unpublished, waitingVersion } from "./Publishing.ts"
import { Snapshots } from "./Snapshots.ts"
import * as steps from "./steps.ts"

export type { Source } from "../../workflow/repair/WorkflowInput.ts"
export type { Modification, Modified, Patch, UpdateOptions, Written }

/** An update that is not written yet, to show or check its changes. */
export interface Plan {
  readonly before: Workflow.Workflow
  /** Parts to send, repaired and with the text that `…` stands for; empty if n8n has them already. */
  readonly patch: Patch
  /** Changes, neither cut nor redacted. */
  readonly diff: WorkflowDiff.WorkflowDiff
  /** Summary of the changes in one line; `nothing` if there are none. */
  readonly changed: string
  readonly warnings: ReadonlyArray<string>
  readonly options: UpdateOptions
}

/** Version to publish, with its labels, which only n8n 2.40 and later take. */
export interface Publication extends VersionLabels {
  readonly versionId?: string | undefined
}

/** Change to plan: a patch, or a function of the current workflow. */
export type Planned<R = never> =
  | Patch
  | ((before: Workflow.Workflow) => Patch | Effect.Effect<Patch, Errors.N8nError, R>)

const isFunction = <R>(change: Planned<R>): change is Exclude<Planned<R>, Patch> => typeof change === "function"

/** A write. */
export type Writing = Effect.Effect<Written, Errors.N8nError, N8nClient>

/**
 * Writes to n8n. Every method requires the `N8nClient` when it is called: one process serves several n8n instances with
 * one set of locks and snapshots, and the call determines the n8n.
 */
export interface Service {
  /** Creates a workflow; failures of later steps are warnings. */
  readonly create: (
    input: unknown,
    options: Pick<UpdateOptions, "source" | "tags" | "active"> & {
      /** Project and folder, which require a licence. Default: the root of the key's own project. */
      readonly place?: { readonly projectId?: string; readonly parentFolderId?: string }
    }
  ) => Writing
  /** Changes the parts in `patch`; a published workflow is published again, unless a draft was waiting before. */
  readonly update: (id: string, patch: Patch, options?: Partial<UpdateOptions>) => Writing
  /**
   * Plans an `update` without writing anything: show the plan, then `apply` it. The change is a patch, or a function of
   * the current workflow, such as an edit of `WorkflowEdit`.
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
   *     const plan = yield* store.plan(id, { name })
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
  readonly plan: <R = never>(
    id: string,
    change: Planned<R>,
    options?: Partial<UpdateOptions>
  ) => Effect.Effect<Plan, Errors.N8nError, N8nClient | R>
  /** Writes a plan; fails with a `VersionConflict` if the workflow has changed since, and then writes nothing. */
  readonly apply: (plan: Plan) => Writing
  /**
   * Changes a workflow by the result of `change`. No other writer of this process writes between reading and writing.
   * If someone else does, `change` runs again on the new state, up to three times, unless `expectedVersionId` names a
   * version. A write of the same workflow within `change` never returns.
   */
  readonly modify: <A, R>(
    id: string,
    change: (before: Workflow.Workflow) => Effect.Effect<Modification<A>, Errors.N8nError, R>,
    options: UpdateOptions
  ) => Effect.Effect<Modified<A>, Errors.N8nError, N8nClient | R>
  /** Deletes a workflow; a published one is unpublished first, and published again if deleting fails. */
  readonly remove: (id: string) => Effect.Effect<void, Errors.N8nError, N8nClient>
  /** Archives a workflow, which unpublishes it (2.x); fails on 1.x. */
  readonly archive: (id: string) => Effect.Effect<void, Errors.N8nError, N8nClient>
  /**
   * Publishes the current state or a version, with labels, or unpublishes; returns after it has taken effect, and fails
   * if it has not. `changed` is the difference to the version that ran.
   */
  readonly setActive: (id: string, active: boolean, version?: Publication) => Writing
}

/** The writer of workflows. */
export class WorkflowStore extends Context.Service<WorkflowStore, Service>()("effect-n8n-mcp/WorkflowStore") {}

/** Writes workflows with snapshots, and the catalogue for the versions of new nodes. */
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

    const update: Service["update"] = (id, patch, given) => {
      const options: UpdateOptions = { operation: "update", source: "caller", ...given }
      // A retry would overwrite changes that the author of the patch has not seen.
      return write(id, () => Effect.succeed({ patch, result: undefined }), options, 0).pipe(
        Effect.withSpan("WorkflowStore.update")
      )
    }

    const plan: Service["plan"] = Effect.fn("WorkflowStore.plan")(function*<R>(
      id: string,
      planned: Planned<R>,
      given: Partial<UpdateOptions> = {}
    ) {
      // A function starts from what n8n has, whose problems are not the caller's.
      const options: UpdateOptions = { operation: "plan", source: isFunction(planned) ? "stored" : "caller", ...given }
      const make = (before: Workflow.Workflow) => {
        const patch = isFunction(planned) ? planned(before) : planned
        return Effect.map(
          Effect.isEffect(patch) ? patch as Effect.Effect<Patch, Errors.N8nError, R> : Effect.succeed(patch),
          (patch) => ({ patch, result: undefined })
        )
      }
      const { before, body, changedKeys, warnings } = yield* change.prepared(means, id, make, options)
      // n8n merges settings.
      const settings = { ...obj(before.settings), ...obj(body["settings"]) }
      const diff = WorkflowDiff.make(before, { ...before, ...body, settings })
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
          change.isSameVersion(now, before, Object.keys(patch))
            ? Effect.succeed({ patch, result: undefined })
            : change.moved(snapshots, before.versionId ?? "?", now, before),
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
          Effect.catchTag("ApiError", (error) =>
            puttingBack(n8n.publishWorkflow(id, before.activeVersionId ?? undefined)).pipe(
              Effect.matchEffect({
                onSuccess: () =>
                  error,
                onFailure: () =>
                  Errors.withDetails(
                    error,
                    `${error.reason.details}. It is unpublished now: publishing it again failed too`
                  )
              })
            ))
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
            new Errors.ApiError({
              ...error,
              hint:
                "This n8n cannot archive, and nothing was done. Deactivate the workflow, or delete it without archive."
            }))
        )
      }).pipe(inTurn(id), Effect.withSpan("WorkflowStore.archive"))

    const setActive: Service["setActive"] = (id, active, { versionId: chosen, ...labels } = {}) =>
      Effect.gen(function*() {
        const before = yield* change.target(id)
        if (!active) return yield* steps.readBack({ workflow: yield* unpublished(id), warnings: [] })
        const versionId = chosen ?? waitingVersion(before)
        const { warnings, workflow } = yield* steps.readBack(yield* published(before, versionId, labels))
        const runs = workflow.active && (chosen === undefined || workflow.activeVersionId === chosen)
        if (!runs) return yield* steps.notPublished(workflow)
        const isChosen = versionId !== undefined && workflow.activeVersionId === versionId
        return {
          workflow,
          warnings,
          published: isChosen || !Workflow.hasDraft(workflow),
          ...defined({ changed: steps.wentLive(before, workflow), former: before.activeVersionId ?? undefined })
        }
      }).pipe(inTurn(id), Effect.withSpan("WorkflowStore.setActive"))

    return WorkflowStore.of({ create: steps.create(means), update, plan, apply, modify, remove, archive, setActive })
  })
)
