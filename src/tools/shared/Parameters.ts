/** Parameters shared by several tools. */
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Input from "../../base/Input.ts"
import * as Links from "../../n8n/Links.ts"
import * as Reference from "../../workflows/Reference.ts"

export { invalid } from "../../base/Errors.ts"

/** Advice that names tools; programs, and callers that do not have these tools, do not read it. */
export const callTools = (tools: ReadonlyArray<string>, text: string) => ({ _tag: "CallTools" as const, tools, text })

const ifMissing = (name: string) => ({ messageMissingKey: `${name} is required` })

/** Required text; the error for a missing or empty one has the wording of the earlier servers. */
export const required = (name: string, description: string) =>
  Schema.String.check(Schema.isMinLength(1, { message: `${name} is required` }))
    .annotate({ description })
    .pipe(Schema.annotateKey(ifMissing(name)))

export const optional = <S extends Schema.Top>(schema: S, description: string) =>
  Schema.optionalKey(schema.annotate({ description }))

/** Refuses references to a version, which cannot be changed. */
const writable = Schema.makeFilter<string>((id) => Reference.versionIn(id) === undefined, {
  message: "A version cannot be changed: use the id alone; workflow_restore(id, version) restores a version"
})

const workflowFor = (description: string, name = "Workflow ID") =>
  required(name, description).pipe(Reference.reading, Schema.annotateKey(ifMissing(name)))

export const workflowId = workflowFor("Id or name.").check(writable)

/** Reference to a workflow, not to one of its versions. */
export const anyWorkflowId = workflowFor("Id, name, file.").check(writable)

/** Reference to a workflow or one of its versions; `Reference` parses it. */
export const referenceFor = (name: string, description = "Id, name (@published, @VERSION), file.") =>
  workflowFor(description, name)

export const reference = referenceFor("Workflow ID")

export const workflowFile = required("File path", "Path (.json) or draft.")

/** Id of an execution, or a link to it. */
export const execution = Links.reading(
  Links.executionOf,
  Schema.NonEmptyString.check(Schema.isPattern(/^\d+$/))
)

export const executionIdFor = (description: string) =>
  required("Execution ID", description).pipe(execution, Schema.annotateKey(ifMissing("Execution ID")))

export const executionId = executionIdFor("From list_executions.")

export const executionIds = (name: string, maximum: number, description: string) =>
  Schema.optionalKey(
    Schema.Array(Schema.String.pipe(execution)).check(
      Schema.isMinLength(1, { message: `${name} is empty: name the runs, or leave it out` }),
      Schema.isMaxLength(maximum, { message: `${name} takes at most ${maximum} at a time` })
    ).annotate({ description })
  )

export const withDefault = <S extends Schema.Top & Schema.WithoutConstructorDefault>(
  schema: S,
  byDefault: S["Encoded"] & S["Type"]
) =>
  schema.pipe(
    Schema.withDecodingDefaultKey(Effect.succeed(byDefault)),
    Schema.withConstructorDefault(Effect.succeed(byDefault))
  )

export const int = (name: string, bounds: Input.Bounds, byDefault: number, description: string) =>
  withDefault(Input.within(name, bounds).annotate({ description, default: byDefault }), byDefault)

/** One of several words; the first is the default. */
export const choice = <const Words extends readonly [string, ...ReadonlyArray<string>]>(
  words: Words,
  description: string
) => withDefault(Schema.Literals(words).annotate({ description, default: words[0] }), words[0])

export const graphFormat = choice(["graph", "mermaid"], "mermaid: for people.")

/** Optional number; its default is only shown, and the tool applies it. */
export const optionalInt = (name: string, bounds: Input.Bounds, description: string, byDefault?: number) =>
  Schema.optionalKey(
    Input.within(name, bounds).annotate({ description, ...(byDefault === undefined ? {} : { default: byDefault }) })
  )

export const offset = (name: string, description: string) => int(name, Input.fromZero, 0, description)

export const rowOffset = offset("offset", "Rows to skip.")

export const index = (name: string, description: string) =>
  optional(Schema.Int.check(Schema.isBetween(Input.fromZero, { message: `${name} must be 0 or more` })), description)

/** Character from which an answer shows its long texts; the mark of a text that was cut names it. */
export const textFrom = index("textFrom", "Start of long texts.")

export const project = optional(Schema.String.check(Schema.isMinLength(1)), "Id of the project, from project_list.")

/** Full length of a list that goes on after the rows up to `end`. */
export const totals = (list: string, end: number, total: number) => end < total ? { [list]: total } : {}

export const place = {
  project,
  folder: optional(Schema.String.check(Schema.isMinLength(1)), "Id of a folder in it, from project_list.")
}

export const limit = int("limit", { minimum: 1, maximum: 100 }, 20, "Rows.")

export const cursor = optional(Schema.String, "nextCursor.")

/** Switch; the JSON Schema omits its default, `false`. */
export const flag = (description: string) => withDefault(Schema.Boolean.annotate({ description }), false)
