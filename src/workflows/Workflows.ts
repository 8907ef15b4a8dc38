/** Workflows wherever they are, on n8n, in a file or as a draft: opened and changed in one way. */
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { isDeepStrictEqual } from "node:util"
import * as Errors from "../base/Errors.ts"
import { type Obj, obj } from "../base/Json.ts"
import * as Connections from "../n8n/model/Connections.ts"
import * as Workflow from "../n8n/model/Workflow.ts"
import { type Instance, N8nClient } from "../n8n/N8nClient.ts"
import * as JsonText from "./files/JsonText.ts"
import { isWorkflow, WorkflowFiles } from "./files/WorkflowFiles.ts"
import * as Placeholders from "./Placeholders.ts"
import * as WorkflowInput from "./repair/WorkflowInput.ts"
import { Snapshots } from "./store/Snapshots.ts"
import { WorkflowStore, type Written } from "./store/WorkflowStore.ts"
import { placeOf, type WorkflowPlace } from "./WorkflowPlace.ts"

/** A workflow as it is found. */
export interface Opened {
  readonly place: WorkflowPlace
  /** What n8n answers, or the JSON in the file: whether it is a workflow is for others to judge. */
  readonly value: unknown
  /** Of a file: what was no JSON but surely meant. */
  readonly repairs: ReadonlyArray<string>
}

const noDraft = (id: string, { hint, isServerFault, reason }: Errors.ValidationError) =>
  new Errors.ValidationError({
    reason: `Draft '${id}' cannot be opened: ${reason}`,
    field: "workflowId",
    hint: [hint, { _tag: "ListFiles" } as const].flat(),
    ...(isServerFault === undefined ? {} : { isServerFault })
  })

const ofWorkflowId = (place: WorkflowPlace) => (error: Errors.ValidationError) =>
  place.kind === "draft" ? noDraft(place.id, error) : new Errors.ValidationError({ ...error, field: "workflowId" })

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
  new Errors.ValidationError({ reason, field: "id", hint: { _tag: "ValidateWorkflow", detail: "Everything" } })

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

const changeLive = Effect.fnUntraced(function*<A, R>(
  place: WorkflowPlace & { readonly kind: "n8n" },
  { dryRun, expectedVersionId, operation }: ChangeOptions,
  change: (workflow: Obj) => Effect.Effect<Change<A>, Errors.N8nError, R>
) {
  if (dryRun === true) {
    const before = yield* N8nClient.use((n8n) => n8n.getWorkflow(place.id))
    return { place, before, ...(yield* change(before)) }
  }
  const store = yield* WorkflowStore
  const { before, result, ...written } = yield* store.modify(
    place.id,
    (before) =>
      Effect.map(change(before), ({ result, workflow }) => ({
        result,
        patch: Object.fromEntries(
          editable.flatMap((key) => isDeepStrictEqual(workflow[key], before[key]) ? [] : [[key, workflow[key]]])
        )
      })),
    // Faults that were there before are not the caller's.
    { operation, source: "file", expectedVersionId, isDraft: true }
  )
  return { place, before, workflow: written.workflow, result, written }
})

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
      new Errors.ValidationError({
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
  change: (workflow: Obj) => Effect.Effect<Change<A>, Errors.N8nError, R>
) {
  if (expectedVersionId !== undefined) {
    return yield* new Errors.ValidationError({
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
          const workflow = yield* Placeholders.restore(after, before)
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
  if (changed === undefined) {
    return yield* Effect.die(new Error("WorkflowFiles.update ended without calling its change"))
  }
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
  change: (workflow: Obj) => Effect.Effect<Change<A>, Errors.N8nError, R>
) => {
  const place = placeOf(workflowId)
  const changed: Effect.Effect<
    Changed<A>,
    Errors.N8nError,
    R | N8nClient | WorkflowStore | WorkflowFiles | Snapshots
  > = place.kind === "n8n" ? changeLive(place, options, change) : changeFile(place, options, change)
  return changed
}
