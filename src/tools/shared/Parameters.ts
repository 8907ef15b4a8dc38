/** Parameters shared by several tools. */
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Reference from "../../workflows/Reference.ts"

export { invalid } from "../../base/Errors.ts"

/** Required text; if it is missing or empty, the error is worded as in the earlier servers. */
export const required = (name: string, description: string) =>
  Schema.String.check(Schema.isMinLength(1, { message: `${name} is required` }))
    .annotate({ description })
    .pipe(Schema.annotateKey({ messageMissingKey: `${name} is required` }))

export const optional = <S extends Schema.Top>(schema: S, description: string) =>
  Schema.optionalKey(schema.annotate({ description }))

/** Refuses references to a version, which cannot be changed. */
const writable = Schema.makeFilter<string>((id) => Reference.versionIn(id) === undefined, {
  message: "A version cannot be changed: use the id alone; workflow_restore(id, version) restores a version"
})

export const workflowId = required("Workflow ID", "From list_workflows.").check(writable)

/** Current workflow on n8n, in a file or a draft. */
export const anyWorkflowId = required("Workflow ID", "Id, file or draft.").check(writable)

export const referenceForms = "Id (@published, @VERSION), file or draft."

/** Reference to a workflow or one of its versions: see `Reference`. */
export const reference = required("Workflow ID", referenceForms)

export const workflowFile = required("File path", "Path (.json) or draft.")

export const executionIdFor = (description: string) =>
  Schema.String
    .annotate({ description })
    .check(
      Schema.isMinLength(1, { message: "Execution ID is required" }).abort(),
      Schema.isPattern(/^\d+$/, { message: "Execution ID must be digits, as in list_executions" })
    )
    .pipe(Schema.annotateKey({ messageMissingKey: "Execution ID is required" }))

export const executionId = executionIdFor("From list_executions.")

type Bounds = Parameters<typeof Schema.isBetween>[0]

const within = (name: string, bounds: Bounds) =>
  Schema.Int.check(
    Schema.isBetween(bounds, { message: `${name} must be from ${bounds.minimum} to ${bounds.maximum}` })
  )

export const int = (name: string, bounds: Bounds, byDefault: number, description: string) =>
  within(name, bounds).annotate({ description, default: byDefault }).pipe(
    Schema.withDecodingDefaultKey(Effect.succeed(byDefault)),
    Schema.withConstructorDefault(Effect.succeed(byDefault))
  )

/** Number that may be missing; `byDefault` is only shown. */
export const optionalInt = (name: string, bounds: Bounds, description: string, byDefault?: number) =>
  Schema.optionalKey(
    within(name, bounds).annotate({ description, ...(byDefault === undefined ? {} : { default: byDefault }) })
  )

const max = 1_000_000

export const offset = (name: string, description: string) => int(name, { minimum: 0, maximum: max }, 0, description)

export const index = (name: string, description: string) =>
  Schema.optionalKey(
    Schema.Int.check(
      Schema.isBetween({ minimum: 0, maximum: max }, { message: `${name} must be 0 or more` })
    ).annotate({ description })
  )

export const project = optional(Schema.String.check(Schema.isMinLength(1)), "Id of the project, from project_list.")

export const place = {
  project,
  folder: optional(Schema.String.check(Schema.isMinLength(1)), "Id of a folder in it, from project_list.")
}

export const limit = int("limit", { minimum: 1, maximum: 100 }, 20, "Rows.")

export const cursor = optional(Schema.String, "nextCursor.")

/** Switch; the JSON Schema omits its default, `false`. */
export const flag = (description: string) =>
  Schema.Boolean.annotate({ description }).pipe(
    Schema.withDecodingDefaultKey(Effect.succeed(false)),
    Schema.withConstructorDefault(Effect.succeed(false))
  )
