/** Parameters that several tools share, named and described once. */
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Reference from "../../workflows/Reference.ts"

/** A required text; missing or empty, it is refused in the words of the older servers. */
export const required = (name: string, description: string) =>
  Schema.String.check(Schema.isMinLength(1, { message: `${name} is required` }))
    .annotate({ description })
    .pipe(Schema.annotateKey({ messageMissingKey: `${name} is required` }))

/** Only what is, not what was, can be written. */
const writable = Schema.makeFilter<string>((id) => Reference.versionIn(id) === undefined, {
  message: "A version cannot be changed: give the id alone; workflow_restore(id, version) brings a version back"
})

/** An n8n workflow id, of what is there now. */
export const workflowId = required("Workflow ID", "From list_workflows.").check(writable)

/** A workflow on n8n, in a file or a draft, as it is now. */
export const anyWorkflowId = required("Workflow ID", "n8n id, file or draft.").check(writable)

/** The forms of a reference. */
export const referenceForms = "n8n id, id@published, id@VERSION, file or draft."

/** A workflow that is read, as it is or as it was: see `Reference`. */
export const reference = required("Workflow ID", referenceForms)

/** A workflow's JSON file. */
export const workflowFile = required("File path", "A draft, or a .json file under the files root.")

/** An n8n execution id: digits. */
export const executionIdFor = (description: string) =>
  Schema.String
    .annotate({ description })
    .check(
      Schema.isMinLength(1, { message: "Execution ID is required" }).abort(),
      Schema.isPattern(/^\d+$/, { message: "Execution ID must be digits, as list_executions gives it" })
    )
    .pipe(Schema.annotateKey({ messageMissingKey: "Execution ID is required" }))

/** The execution that a tool is about. */
export const executionId = executionIdFor("From list_executions.")

/** An integer in bounds, with a default. */
export const int = (
  name: string,
  bounds: { readonly minimum: number; readonly maximum: number },
  byDefault: number,
  description: string
) =>
  Schema.Int.check(
    Schema.isBetween(bounds, { message: `${name} must be from ${bounds.minimum} to ${bounds.maximum}` })
  )
    .annotate({ description, default: byDefault })
    .pipe(Schema.withDecodingDefaultKey(Effect.succeed(byDefault)))

const max = 1_000_000

/** A position in a list, counted from 0. */
export const offset = (name: string, description: string) => int(name, { minimum: 0, maximum: max }, 0, description)

/** An optional position, counted from 0. */
export const index = (name: string, description: string) =>
  Schema.optionalKey(
    Schema.Int.check(
      Schema.isBetween({ minimum: 0, maximum: max }, { message: `${name} must be 0 or more` })
    ).annotate({ description })
  )

/** A project on n8n, by id. */
export const project = Schema.optionalKey(
  Schema.String.check(Schema.isMinLength(1)).annotate({ description: "Id of the project, from project_list." })
)

/** Where something is put. */
export const place = {
  project,
  folder: Schema.optionalKey(
    Schema.String.check(Schema.isMinLength(1)).annotate({ description: "Id of a folder of it, from project_list." })
  )
}

/** How many rows. */
export const limit = int("limit", { minimum: 1, maximum: 100 }, 20, "How many at most.")

/** Where the page before ended. */
export const cursor = Schema.optionalKey(Schema.String.annotate({ description: "nextCursor of the page before." }))

/** Adds to the small default answer. Its default is not in the JSON Schema: that of a switch goes without saying. */
export const raw = (description: string) =>
  Schema.Boolean.annotate({ description }).pipe(Schema.withDecodingDefaultKey(Effect.succeed(false)))
