/** Writes to a workflow in a file or draft, whose formatting is preserved. */
import * as Effect from "effect/Effect"
import * as Errors from "../../base/Errors.ts"
import { equals, type Obj, without } from "../../base/Json.ts"
import { NodeCatalogue } from "../../catalogue/NodeCatalogue.ts"
import * as WorkflowDiff from "../../workflow/diff/WorkflowDiff.ts"
import * as Placeholders from "../../workflow/Placeholders.ts"
import { WorkflowFiles } from "../files/WorkflowFiles.ts"
import { ofWorkflowId, type WorkflowPlace } from "../WorkflowPlace.ts"
import * as WorkflowValidation from "../WorkflowValidation.ts"
import type { Modification, Outcome, Patch } from "./Outcome.ts"
import { keepFile, Snapshots } from "./Snapshots.ts"
import type { CompleteOptions, Dependencies } from "./steps.ts"

/** Writes to a file. Changes of one file take turns, including those of other processes. */
export const write = Effect.fnUntraced(function*<A, R>(
  { catalogue, snapshots }: Dependencies,
  place: Exclude<WorkflowPlace, { readonly kind: "n8n" }>,
  make: (before: Obj) => Effect.Effect<Modification<A>, Errors.N8nError, R>,
  { dryRun = false, expected, operation, publish = "keep" }: CompleteOptions
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
