/** Workflows wherever they are, on n8n, in a file or as a draft: opened and changed in one way. */
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as Connections from "./domain/Connections.ts"
import * as WorkflowInput from "./domain/input/WorkflowInput.ts"
import { type Obj, obj } from "./domain/Json.ts"
import * as JsonText from "./domain/json/JsonText.ts"
import * as Workflow from "./domain/Workflow.ts"
import { placeOf, type WorkflowPlace } from "./domain/WorkflowPlace.ts"
import { type Instance, N8nClient } from "./N8nClient.ts"
import * as N8nError from "./N8nError.ts"
import { Snapshots } from "./Snapshots.ts"
import { isWorkflow, WorkflowFiles } from "./WorkflowFiles.ts"
import { WorkflowStore, type Written } from "./WorkflowStore.ts"
import { resolved } from "./WorkflowStore/body.ts"

/** A workflow as it is found. */
export interface Opened {
  readonly place: WorkflowPlace
  /** What n8n answers, or the JSON in the file: whether it is a workflow is for others to judge. */
  readonly value: unknown
  /** Of a file: what was no JSON but surely meant. */
  readonly repairs: ReadonlyArray<string>
}

const noDraft = (id: string, { hint, reason }: N8nError.Validation) =>
  new N8nError.Validation({
    reason: `Draft '${id}' cannot be opened: ${reason}`,
    field: "workflowId",
    hint: `${hint} workflow_list lists the files; a file that was moved goes by its path.`
  })

const ofWorkflowId = (place: WorkflowPlace) => (error: N8nError.Validation) =>
  place.kind === "draft" ? noDraft(place.id, error) : new N8nError.Validation({ ...error, field: "workflowId" })

/** Reads the workflow that an id of whatever form means. */
export const open = Effect.fn("Workflows.open")(function*(workflowId: string) {
  const place = placeOf(workflowId)
  if (place.kind === "n8n") {
    const value = yield* N8nClient.use((n8n) => n8n.getWorkflow(place.id))
    return { place, value, repairs: [] } satisfies Opened
  }
  const { repairs, value } = yield* WorkflowFiles.use((files) => files.read(place.path)).pipe(
    Effect.mapError(ofWorkflowId(place))
  )
  return { place, value, repairs } satisfies Opened
})

const Graph = Schema.Struct({
  name: Schema.String,
  nodes: Schema.Array(Workflow.Node),
  connections: Connections.Connections
})

const noGraph = (reason: string) =>
  new N8nError.Validation({ reason, field: "id", hint: "validate_workflow tells everything that is wrong with it." })

/** The nodes and connections of the workflow that an id of whatever form means; small faults of a file are repaired. */
export const graphOf = Effect.fn("Workflows.graphOf")(function*(workflowId: string) {
  const { place, value } = yield* open(workflowId)
  const prepared = place.kind === "n8n"
    ? Result.succeed({ workflow: value })
    : WorkflowInput.prepare(value, { source: "file", newId: () => "", versionOf: () => 1 })
  if (Result.isFailure(prepared)) return yield* noGraph(prepared.failure.message)
  const graph = yield* Effect.mapError(
    Schema.decodeUnknownEffect(Graph)(prepared.success.workflow),
    ({ message }) => noGraph(`It is no workflow: ${message}`)
  )
  return { ...graph, place }
})

/** A changed workflow, and what else there is to say of the change. */
export interface Change<A> {
  readonly workflow: Obj
  readonly result: A
}

/** What a change came to. */
export interface Changed<A> extends Change<A> {
  readonly place: WorkflowPlace
  readonly before: Obj
  /** Of a file: where it is. */
  readonly path?: string
  /** Of a workflow on n8n: what was written; absent when nothing was. */
  readonly written?: Written
}

/** How a change is made. */
export interface ChangeOptions {
  /** For the snapshot: which tool. */
  readonly operation: string
  /** The version that the caller has seen; of workflows on n8n only. */
  readonly expectedVersionId?: string | undefined
  /** Only tells what would change. */
  readonly dryRun?: boolean | undefined
}

/** What an edit can touch of a workflow on n8n. */
const editable = ["name", "nodes", "connections", "settings", "pinData", "nodeGroups"] as const

const isConflict = (error: N8nError.N8nError) => error._tag === "ApiError" && error.statusCode === 409

const changeLive = <A, R>(
  place: WorkflowPlace & { readonly kind: "n8n" },
  { dryRun, expectedVersionId, operation }: ChangeOptions,
  change: (workflow: Obj) => Effect.Effect<Change<A>, N8nError.N8nError, R>
) =>
  Effect.gen(function*() {
    const before = yield* N8nClient.use((n8n) => n8n.getWorkflow(place.id))
    const { result, workflow } = yield* change(before)
    const changed = { place, before, workflow, result }
    if (dryRun === true) return changed
    const patch = Object.fromEntries(
      editable.flatMap((key) => workflow[key] === before[key] ? [] : [[key, workflow[key]]])
    )
    const written = yield* WorkflowStore.use((store) =>
      store.update(place.id, patch, {
        operation,
        // Faults that were there before are not the caller's.
        source: "file",
        expectedVersionId: expectedVersionId ?? before.versionId ?? undefined,
        isDraft: true
      })
    )
    return { ...changed, workflow: written.workflow, written }
  }).pipe(
    // Somebody else came first: nothing was written, and the change can be made to what is there now.
    Effect.retry({ times: 3, while: (error) => expectedVersionId === undefined && isConflict(error) })
  )

/** Snapshots of files are kept as those of n8n are, by path. */
export const files: Instance = { url: "", key: "files" }

/** Keeps a file as it is, byte for byte, before it is replaced. */
export const keepFile = (operation: string) => (text: string, path: string) =>
  Snapshots.use((snapshots) =>
    Effect.asVoid(snapshots.save(files, { id: path, name: path.slice(path.lastIndexOf("/") + 1), text }, operation))
  )

/** The workflow that a file holds; only a bare one can be changed. */
const inFile = (value: unknown) => {
  const workflow = obj(value)
  return workflow !== undefined && isWorkflow(workflow)
    ? Effect.succeed(workflow)
    : Effect.fail(
      new N8nError.Validation({
        reason: "The file holds no workflow, {name, nodes: […], connections: {…}}, as n8n exports it",
        field: "workflowId",
        hint: workflow === undefined
          ? "Take the workflow out of the list around it, into a file of its own."
          : `Its keys are: ${Object.keys(workflow).slice(0, 8).join(", ")}.`
      })
    )
}

const changeFile = Effect.fnUntraced(function*<A, R>(
  place: WorkflowPlace & { readonly path: string },
  { dryRun, expectedVersionId, operation }: ChangeOptions,
  change: (workflow: Obj) => Effect.Effect<Change<A>, N8nError.N8nError, R>
) {
  if (expectedVersionId !== undefined) {
    return yield* new N8nError.Validation({
      reason: "A file has no versionId",
      field: "expectedVersionId",
      hint: "Leave it out: nothing of a file that somebody changes meanwhile is lost."
    })
  }
  let changed: (Change<A> & { readonly before: Obj }) | undefined
  const { path } = yield* WorkflowFiles.use((service) =>
    service.update(
      place.path,
      ({ text, value }) =>
        Effect.gen(function*() {
          const before = yield* inFile(value)
          const { result, workflow: after } = yield* change(before)
          const workflow = yield* resolved(after, before)
          changed = { before, workflow, result }
          return dryRun === true ? undefined : JsonText.rewrite(text, workflow)
        }),
      keepFile(operation)
    )
  ).pipe(
    Effect.mapError((error) =>
      error._tag === "ValidationError" && error.field === "filePath" ? ofWorkflowId(place)(error) : error
    )
  )
  if (changed === undefined) return yield* Effect.die("the file was not asked for")
  return { ...changed, place, path }
})

/**
 * Changes a workflow: reads it, makes the change, writes it, with what was before kept as a snapshot.
 *
 * **Details**
 *
 * On n8n 2.x what is written to a published workflow stays a draft; on 1.x it takes effect at once. A file keeps its
 * formatting, and changes of one file take turns, also those of other processes.
 */
export const change = <A, R>(
  workflowId: string,
  options: ChangeOptions,
  change: (workflow: Obj) => Effect.Effect<Change<A>, N8nError.N8nError, R>
) => {
  const place = placeOf(workflowId)
  const changed: Effect.Effect<
    Changed<A>,
    N8nError.N8nError,
    R | N8nClient | WorkflowStore | WorkflowFiles | Snapshots
  > = place.kind === "n8n" ? changeLive(place, options, change) : changeFile(place, options, change)
  return changed
}
