/** Opens workflows on n8n, in files and in drafts. */
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as Errors from "../base/Errors.ts"
import { type Obj, obj, str } from "../base/Json.ts"
import * as Workflow from "../n8n/model/Workflow.ts"
import { N8nClient } from "../n8n/N8nClient.ts"
import * as Contents from "../workflow/Contents.ts"
import * as WorkflowInput from "../workflow/repair/WorkflowInput.ts"
import { WorkflowFiles } from "./files/WorkflowFiles.ts"
import * as NodeLookups from "./NodeLookups.ts"
import * as Reference from "./Reference.ts"
import { Snapshots } from "./store/Snapshots.ts"
import { Versions } from "./store/Versions.ts"

const openFileVersion = Effect.fnUntraced(
  function*(place: Reference.WorkflowPlace & { readonly path: string }, version: string) {
    const files = yield* WorkflowFiles
    const path = yield* files.locate(place.path)
    if (version === Reference.published) {
      return yield* Errors.invalid("version", "A file is not published", "Leave out @published to read the file.")
    }
    const { workflow } = yield* Snapshots.use((snapshots) => snapshots.read(files.instance, path, version))
    const contents = Contents.read(str(obj(workflow)?.["text"]) ?? "")
    const inside = yield* Effect.mapError(
      Effect.fromResult(Contents.one(contents, Reference.selectorOf(place.path))),
      (why) =>
        Errors.invalid("version", `Snapshot '${version}' is not a workflow: ${why}`, { _tag: "ListRestorableVersions" })
    )
    return { value: inside.workflow, repairs: [] }
  }
)

/**
 * Opens the workflow that a reference names (see {@link Reference.parse}); `field` is the argument with the reference.
 * The value is the response of `GET /workflows/{id}`, also for an earlier version, or the workflow in a file, which
 * may be far from right; `repairs` are those of its syntax and form, `notes` are about the version, and `current` is the
 * workflow now, if the version has no settings of its own.
 */
export const open = Effect.fn("Workflows.open")(function*(reference: string, field = "workflowId") {
  const { place, version } = Reference.parse(reference)
  const inField = (error: Errors.N8nError) =>
    error._tag === "ValidationError" && error.field === "version"
      ? new Errors.ValidationError({ ...error, field })
      : error
  if (place.kind === "n8n" && place.id === "") {
    return yield* Errors.invalid(field, "Workflow ID is required", { _tag: "ListWorkflows" })
  }
  if (version === "") {
    return yield* Errors.invalid(
      field,
      `'${reference}' has no version after the @`,
      "Write ID@published or ID@VERSION, or leave out the @."
    )
  }
  const from = { place, ...(version === undefined ? {} : { version }), repairs: [], notes: [], current: undefined }
  if (place.kind !== "n8n") {
    const { repairs, value } = yield* version === undefined
      ? WorkflowFiles.use((files) => files.workflow(place.path)).pipe(
        Effect.mapError(Reference.ofWorkflowId(place, field))
      )
      : Effect.mapError(openFileVersion(place, version), inField)
    return { ...from, value, repairs }
  }
  if (version === undefined) {
    return { ...from, value: yield* N8nClient.use((n8n) => n8n.getWorkflow(place.id)) }
  }
  const { workflow, ...rest } = yield* Versions.use((versions) => versions.read(place.id, version)).pipe(
    Effect.mapError(inField)
  )
  return { ...from, value: workflow, ...rest }
})

const decode = Schema.decodeUnknownEffect(Workflow.Workflow)

const noGraph = (reason: string, field: string) =>
  Errors.invalid(field, reason, { _tag: "ValidateWorkflow", detail: "Everything" })

/** Reads the workflow that a reference names; small mistakes in a file are repaired. */
export const read = Effect.fn("Workflows.read")(function*(reference: string, field = "id") {
  const { current, notes, place, value, version } = yield* open(reference, field)
  const from = { place, version, notes, current }
  const fault = ({ message }: Schema.SchemaError) => noGraph(`It is not a workflow: ${message}`, field)
  if (place.kind === "n8n") {
    return { ...from, workflow: yield* Effect.mapError(decode(value), fault) }
  }
  const lookups = yield* NodeLookups.make(Workflow.typesOf(obj(value) ?? {})).pipe(
    Effect.orElseSucceed(() => undefined)
  )
  const prepared = WorkflowInput.prepare(value, { source: "file", newId: () => "", versionOf: () => 1, lookups })
  if (Result.isFailure(prepared)) return yield* noGraph(prepared.failure.message, field)
  const workflow = {
    ...prepared.success.workflow,
    id: str(obj(value)?.["id"]) ?? reference,
    active: obj(value)?.["active"] === true,
    tags: Workflow.tagNames(obj(value) ?? {}).map((name) => ({ name }))
  }
  return { ...from, workflow: yield* Effect.mapError(decode(workflow), fault) }
})

const isByName = (workflow: Obj) => {
  const names = new Set<unknown>(Workflow.nodes(workflow).map(({ name }) => name))
  return obj(workflow["connections"]) !== undefined &&
    Object.keys(obj(workflow["connections"]) ?? {}).every((from) => names.has(from))
}

export const document = Effect.fn("Workflows.document")(function*(reference: string, field: string) {
  const { current, notes, value } = yield* open(reference, field)
  const workflow = obj(value)
  if (workflow !== undefined && Array.isArray(workflow["nodes"]) && isByName(workflow)) {
    return { workflow, notes, current }
  }
  return { workflow: (yield* read(reference, field)).workflow as Obj, notes, current }
})
