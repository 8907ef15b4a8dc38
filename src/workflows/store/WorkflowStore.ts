/**
 * Writes workflows so that nothing is lost: read, change, store a snapshot, look again, write, read back. n8n's `PUT`
 * has no precondition. Our own writers of a workflow take turns. Against others the version is compared right before
 * the `PUT`; a version that is overwritten anyway is found in n8n's history and named in a warning.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Errors from "../../base/Errors.ts"
import { equals, type Obj, without } from "../../base/Json.ts"
import * as Locks from "../../base/KeyedMutex.ts"
import { NodeCatalogue } from "../../catalogue/NodeCatalogue.ts"
import type * as Workflow from "../../n8n/model/Workflow.ts"
import { isUnsupported, N8nClient } from "../../n8n/N8nClient.ts"
import * as WorkflowDiff from "../../workflow/diff/WorkflowDiff.ts"
import * as Placeholders from "../../workflow/Placeholders.ts"
import { WorkflowFiles } from "../files/WorkflowFiles.ts"
import { ofWorkflowId, type WorkflowPlace } from "../Reference.ts"
import * as WorkflowValidation from "../WorkflowValidation.ts"
import { create, remove } from "./create.ts"
import * as live from "./live.ts"
import type { Change, Modification, Options, Outcome, Patch } from "./Outcome.ts"
import { keepFile, Snapshots } from "./Snapshots.ts"
import * as steps from "./steps.ts"

/** Writes to a file. Changes of one file take turns, including those of other processes. */
const writeFile = Effect.fnUntraced(function*<A, R>(
  { catalogue, snapshots }: steps.Dependencies,
  place: Exclude<WorkflowPlace, { readonly kind: "n8n" }>,
  make: (before: Obj) => Effect.Effect<Modification<A>, Errors.N8nError, R>,
  { dryRun = false, expected, operation, publish = "keep" }: steps.CompleteOptions
) {
  if (publish === "now" || publish === "valid" || publish === "never") {
    return yield* Errors.invalid("publish", "A file is not published", "Nothing was written. Leave out publish.")
  }
  if (typeof expected === "string") {
    return yield* Errors.invalid(
      "expectedVersionId",
      "A file has no versionId",
      "Leave it out: concurrent changes of a file are never lost."
    )
  }
  let changed: { readonly patch: Patch; readonly before: Obj; readonly workflow: Obj; readonly result: A } | undefined
  const { path } = yield* WorkflowFiles.use((files) =>
    files.update(
      place.path,
      Effect.fnUntraced(function*({ inside, rewriting }) {
        const { workflow: before } = yield* inside
        if (expected !== undefined && !equals(before, expected)) {
          return yield* Errors.invalid("workflowId", "The file has changed since it was read", {
            _tag: "ReadAgain"
          })
        }
        const { created = [], patch, result } = yield* make(before)
        if (created.length > 0) {
          return yield* Errors.invalid(
            "workflowId",
            "A file cannot call a new workflow, which gets its id on n8n",
            "Nothing was written. Extract in the workflow on n8n."
          )
        }
        const settings = without({ ...patch.settings }, (value) => value === null)
        const parts = patch.settings === undefined ? patch : { ...patch, settings }
        const workflow = yield* Placeholders.restore({ ...before, ...parts }, before)
        changed = { before, workflow, result, patch }
        return dryRun ? undefined : yield* rewriting(workflow)
      }),
      keepFile(operation)
    )
  ).pipe(
    Effect.provideService(Snapshots, snapshots),
    Effect.mapError((error) =>
      error._tag === "ValidationError" && error.field === "filePath" ? ofWorkflowId(place)(error) : error
    )
  )
  if (changed === undefined) {
    return yield* Effect.die(new Error("WorkflowFiles.update ended without calling its change"))
  }
  const { before, patch, result, workflow } = changed
  const judgement = yield* WorkflowValidation.added(before, workflow, false).pipe(
    Effect.provideService(NodeCatalogue, catalogue)
  )
  return {
    ...judgement,
    place: { ...place, path },
    before,
    workflow,
    result,
    patch,
    changed: WorkflowDiff.line(WorkflowDiff.make(before, workflow)),
    state: undefined,
    inForce: [],
    held: [],
    hasDrafts: false,
    isReset: false,
    former: undefined,
    isWritten: !dryRun && !equals(before, workflow),
    made: [],
    warnings: []
  } satisfies Outcome<A, Obj> as Outcome<A, Obj>
})

export type { Created } from "../../workflow/edit/WorkflowEdit.ts"
export type { Source } from "../../workflow/repair/WorkflowInput.ts"
export type { WorkflowPlace } from "../Reference.ts"
export type { Change, Judgement, Made, Modification, Options, Outcome, Patch, Publication, Publish } from "./Outcome.ts"

/** A workflow on n8n. */
export type OnN8n = Extract<WorkflowPlace, { readonly kind: "n8n" }>

/** A new workflow; project and folder require a licence. Default: the root of the key's own project. */
export interface New {
  readonly kind: "new"
  readonly projectId?: string
  readonly parentFolderId?: string
}

/**
 * Writes workflows. Every method requires the `N8nClient` when it is called: one process serves several n8n instances
 * with one set of locks and snapshots, and the call determines the n8n.
 */
export interface Service {
  /**
   * Writes a workflow: creates it, changes it, publishes or unpublishes it. The change is a patch, or a function of the
   * current workflow, such as an edit of `WorkflowEdit`. No other writer of this process writes between reading and
   * writing; if someone else does, a function runs again on the new state, up to three times, and a patch fails with a
   * `VersionConflict`. A write of the same workflow within the change never returns. A `dryRun` computes the outcome;
   * its `patch`, `expected` on its `before`, then writes exactly that or nothing.
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
   *     const { write } = yield* WorkflowStore.WorkflowStore
   *     const place = { kind: "n8n", id } as const
   *     const { before, changed, patch } = yield* write(place, { name }, { dryRun: true })
   *     if (!(yield* confirm(changed))) return before.name
   *     return (yield* write(place, patch, { expected: before })).workflow.name
   *   })
   *
   * const workflow = { id: "1", name: "Orders", nodes: [], connections: {} }
   *
   * export const test = rename("1", "Orders (old)", (change) => Effect.succeed(change.includes("name"))).pipe(
   *   Effect.provide(Layer.merge(FakeN8n.layer({ workflows: [workflow], executions: [] }), Services.layerMemory))
   * )
   * ```
   */
  readonly write: {
    (place: New, workflow: Patch, options?: Options): Effect.Effect<Outcome, Errors.N8nError, N8nClient>
    <A = undefined, R = never>(
      place: OnN8n,
      change: Change<A, R, Workflow.Workflow>,
      options?: Options
    ): Effect.Effect<Outcome<A>, Errors.N8nError, N8nClient | R>
    <A = undefined, R = never>(
      place: WorkflowPlace,
      change: Change<A, R, Obj>,
      options?: Options
    ): Effect.Effect<Outcome<A, Obj>, Errors.N8nError, N8nClient | WorkflowFiles | R>
  }
  /** Deletes a workflow; a published one is unpublished first, and published again if deleting fails. */
  readonly remove: (id: string) => Effect.Effect<void, Errors.N8nError, N8nClient>
  /** Archives a workflow, which unpublishes it (2.x); fails on 1.x. */
  readonly archive: (id: string) => Effect.Effect<void, Errors.N8nError, N8nClient>
}

/** The writer of workflows. */
export class WorkflowStore extends Context.Service<WorkflowStore, Service>()("effect-n8n-mcp/WorkflowStore") {}

/** Number of times that a function makes its change again after someone else has written. */
const retries = 3

/** Writes workflows with snapshots, and the catalogue for the versions of new nodes. */
export const layer: Layer.Layer<WorkflowStore, never, Snapshots | NodeCatalogue> = Layer.effect(
  WorkflowStore,
  Effect.gen(function*() {
    const dependencies: steps.Dependencies = { snapshots: yield* Snapshots, catalogue: yield* NodeCatalogue }
    const oneAtATime = Locks.make()

    const inTurn = (id: string) => <A, E, R>(effect: Effect.Effect<A, E, R>) =>
      Effect.flatMap(N8nClient, ({ instance }) => oneAtATime(`${instance.key}/${id}`)(effect))

    const write = (
      place: New | WorkflowPlace,
      change: Change<unknown, never, Workflow.Workflow>,
      options: Options = {}
    ): Effect.Effect<Outcome<unknown, never>, Errors.N8nError, N8nClient | WorkflowFiles> => {
      const isMade = typeof change === "function"
      const complete: steps.CompleteOptions = { operation: "write", source: isMade ? "stored" : "caller", ...options }
      if (place.kind === "new") {
        const { kind: _, ...where } = place
        return create(dependencies, change, where, complete) as never
      }
      const make = (before: Workflow.Workflow): Effect.Effect<Modification<unknown>, Errors.N8nError> => {
        const made = isMade ? change(before) : change
        return Effect.map(
          Effect.isEffect(made) ? made : Effect.succeed(made),
          (made) => "patch" in made ? made : { patch: made, result: undefined }
        )
      }
      return (place.kind === "n8n"
        // A retry would overwrite changes that the author of a patch has not seen.
        ? inTurn(place.id)(live.write(dependencies, place.id, make, complete, isMade ? retries : 0))
        : writeFile(dependencies, place, make as never, complete)) as never
    }

    const archive: Service["archive"] = (id) =>
      Effect.gen(function*() {
        const n8n = yield* N8nClient
        const before = yield* steps.target(id)
        if (before.isArchived === true) return
        yield* steps.keep(dependencies, before, "delete_workflow")
        yield* n8n.archiveWorkflow(id).pipe(
          Effect.catchIf(isUnsupported, (error) =>
            new Errors.ApiError({
              ...error,
              hint:
                "This n8n cannot archive, and nothing was done. Deactivate the workflow, or delete it without archive."
            }))
        )
      }).pipe(inTurn(id), Effect.withSpan("WorkflowStore.archive"))

    return WorkflowStore.of({
      // The compiler does not see that the kind of place decides.
      write: ((...args: Parameters<typeof write>) => Effect.withSpan(write(...args), "WorkflowStore.write")) as never,
      remove: (id) => remove(dependencies, id).pipe(inTurn(id), Effect.withSpan("WorkflowStore.remove")),
      archive
    })
  })
)
