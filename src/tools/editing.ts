/** What the tools that edit have in common: the workflow's id, the edit, and what is told of where it was written. */
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { randomUUID } from "node:crypto"
import * as WorkflowEdit from "../domain/edits/WorkflowEdit.ts"
import { defined, type Obj } from "../domain/Json.ts"
import { N8nClient } from "../N8nClient.ts"
import * as N8nError from "../N8nError.ts"
import * as NodeLookups from "../NodeLookups.ts"
import * as Workflows from "../Workflows.ts"
import * as WorkflowValidation from "../WorkflowValidation.ts"

/** The workflow, wherever it is. */
export const workflowId = Schema.String.check(Schema.isMinLength(1, { message: "Workflow ID is required" }))
  .annotate({ description: "n8n id, .json path or draft id." })
  .pipe(Schema.annotateKey({ messageMissingKey: "Workflow ID is required" }))

/** A place on the canvas. */
export const position = Schema.optionalKey(
  Schema.Struct({ x: Schema.Finite, y: Schema.Finite }).annotate({
    description: "Canvas position; default: a free one."
  })
)

/** Parameters of a node. */
export const nodeParameters = (description: string) =>
  Schema.optionalKey(Schema.Record(Schema.String, Schema.Unknown).annotate({ description }))

/** Where it was written, and what that means. */
export const saved = {
  /** What the workflow's id was taken for. */
  source: Schema.Literals(["n8n", "file", "draft"]),
  filePath: Schema.optionalKey(Schema.String),
  versionId: Schema.optionalKey(Schema.String),
  /** Of a published workflow: whether what was written runs now. */
  published: Schema.optionalKey(Schema.Boolean),
  hint: Schema.optionalKey(Schema.String),
  warnings: Schema.optionalKey(Schema.Array(Schema.String)),
  workflowData: Schema.optionalKey(Schema.Json)
}

const hintOf = (id: string, published: boolean | undefined) =>
  published === undefined
    ? undefined
    : published
    ? "This n8n has no drafts: the change runs already."
    : `The published version still runs: activate_workflow(id: '${id}') publishes the change.`

/** Tells where a change was written. */
export const told = <A>({ path, place, workflow, written }: Workflows.Changed<A>, raw = false) =>
  defined({
    source: place.kind,
    filePath: path,
    versionId: written?.workflow.versionId ?? undefined,
    published: written?.published,
    hint: place.kind === "n8n" ? hintOf(place.id, written?.published) : undefined,
    warnings: written === undefined || written.warnings.length === 0 ? undefined : written.warnings,
    workflowData: raw ? workflow as Schema.Json : undefined
  })

/** What an edit has to look up, for the n8n that is connected. */
export const lookups = Effect.fnUntraced(function*(types: Iterable<string>) {
  const release = yield* N8nClient.use((n8n) => n8n.release)
  return { ...(yield* NodeLookups.make(types, release)), newId: randomUUID }
})

/** What is wrong with a workflow, for the n8n that is connected. */
export const problems = Effect.fnUntraced(function*(workflow: Obj) {
  const release = yield* N8nClient.use((n8n) => n8n.release)
  return (yield* WorkflowValidation.validate(workflow, release)).problems
})

/** An edit that cannot be made; nothing was written. */
export const refused = ({ field, hint, message }: WorkflowEdit.Refused) =>
  new N8nError.Validation({ reason: message, field, hint: `Nothing was changed. ${hint}` })

/** Edits a workflow by operations, all or nothing. */
export const edit = (
  id: string,
  operations: ReadonlyArray<WorkflowEdit.Operation>,
  options: Workflows.ChangeOptions
) =>
  Workflows.change(id, options, (workflow: Obj) =>
    Effect.gen(function*() {
      const found = yield* lookups(WorkflowEdit.typesOf(workflow, operations))
      const edited = yield* Effect.mapError(
        Effect.fromResult(WorkflowEdit.apply(workflow, operations, found)),
        refused
      )
      return { workflow: edited.workflow, result: edited }
    }))
