/** Steps of writes on n8n. */
import * as Effect from "effect/Effect"
import * as Errors from "../../base/Errors.ts"
import type { Obj } from "../../base/Json.ts"
import { NodeCatalogue } from "../../catalogue/NodeCatalogue.ts"
import { tagsFault } from "../../n8n/model/Limits.ts"
import * as TestMark from "../../n8n/model/TestMark.ts"
import * as Workflow from "../../n8n/model/Workflow.ts"
import { N8nClient } from "../../n8n/N8nClient.ts"
import * as WorkflowValidation from "../WorkflowValidation.ts"
import { type Modification, type Options } from "./Outcome.ts"
import { type Progress } from "./Publishing.ts"
import type * as Snapshots from "./Snapshots.ts"

export interface Dependencies {
  readonly snapshots: Snapshots.Service
  readonly catalogue: typeof NodeCatalogue.Service
}

/** Change of a workflow on n8n, as the steps of a write take it. */
export type MakeChange<A, R> = (before: Workflow.Workflow) => Effect.Effect<Modification<A>, Errors.N8nError, R>

/** Options of a write, all known. */
export interface CompleteOptions extends Options {
  readonly operation: string
  readonly source: NonNullable<Options["source"]>
}

/** Turns the failure of a later step into a warning, so that the caller learns what was written. */
export const orWarning = <R>(what: string, progress: Progress, step: Effect.Effect<Progress, Errors.N8nError, R>) =>
  Effect.catch(
    step,
    (error) =>
      Effect.succeed<Progress>({ ...progress, warnings: [...progress.warnings, `${what}: ${Errors.reasonOf(error)}`] })
  )

/** Reads the workflow; falls back to its state after the last step. */
export const readBack = ({ warnings, workflow }: Progress): Effect.Effect<Progress, never, N8nClient> =>
  N8nClient.use((n8n) => n8n.getWorkflow(workflow.id)).pipe(
    Effect.map((now) => ({ workflow: now, warnings })),
    Effect.catch((error) =>
      Effect.succeed({
        workflow,
        warnings: [...warnings, `done, but it could not be read back: ${Errors.reasonOf(error)}`]
      })
    )
  )

export const tagged = ({ warnings, workflow }: Progress, tags: ReadonlyArray<string>) =>
  Effect.as(
    N8nClient.use((n8n) => n8n.setWorkflowTags(workflow.id, tags)),
    { warnings, workflow: { ...workflow, tags: tags.map((name) => ({ name })) } }
  )

export const adding = <E, R>({ warnings }: Progress, step: Effect.Effect<Progress, E, R>) =>
  Effect.map(step, (next): Progress => ({ workflow: next.workflow, warnings: [...warnings, ...next.warnings] }))

/** Reads the workflow to write; fails for the temporary copy of a test. */
export const target = Effect.fnUntraced(function*(id: string) {
  const workflow = yield* N8nClient.use((n8n) => n8n.getWorkflow(id))
  if (!TestMark.isCopy(workflow)) return workflow
  return yield* Errors.invalid(
    "id",
    `Workflow '${id}' is a temporary copy that a test runs`,
    "Nothing was written. The test removes its copy when it ends: write to the tested workflow."
  )
})

/** Fails for the name of a test's copy: a workflow of that name would be removed. */
export const checkName = (name: unknown): Effect.Effect<void, Errors.ValidationError> =>
  typeof name === "string" && TestMark.isTaken(name)
    ? Errors.invalid(
      "name",
      `A name that begins with '${TestMark.mark}' is reserved for temporary copies of tests`,
      "Nothing was written. Use another name."
    )
    : Effect.void

export const keep = Effect.fnUntraced(
  function*({ snapshots }: Dependencies, workflow: Workflow.Workflow, operation: string) {
    const n8n = yield* N8nClient
    yield* snapshots.save(n8n.instance, workflow, operation)
  }
)

/** Problems that a write brought; they never fail it. */
export const judged = (
  { catalogue }: Dependencies,
  before: Workflow.Workflow | undefined,
  after: Workflow.Workflow,
  kinds: Options["problems"] = "all"
) =>
  kinds === "none"
    ? Effect.succeed({ isJudged: false, problems: [], missingCredentials: [], warnings: [] })
    : WorkflowValidation.added(before, after, kinds === "all").pipe(
      Effect.provideService(NodeCatalogue, catalogue)
    )

export const explained =
  ({ catalogue }: Dependencies, workflow: Obj) => <A, R>(step: Effect.Effect<A, Errors.N8nError, R>) =>
    WorkflowValidation.explained(workflow)(step).pipe(Effect.provideService(NodeCatalogue, catalogue))

/** Fails for names of tags that n8n refuses after the rest is written. */
export const checkTags = (names: ReadonlyArray<string>): Effect.Effect<void, Errors.ValidationError> => {
  const fault = tagsFault(names)
  return fault === undefined ? Effect.void : Errors.invalid("tags", fault, "Nothing was written. Use other names.")
}
