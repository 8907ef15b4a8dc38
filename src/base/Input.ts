/** Decoding of what callers enter, and its refusal in words. */
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as SchemaIssue from "effect/SchemaIssue"
import * as Errors from "./Errors.ts"
import { defined, obj } from "./Json.ts"
import * as JsonPath from "./JsonPath.ts"
import * as Rows from "./Rows.ts"

/** Reason for which a value is refused, and its path. */
export interface Issue {
  readonly field: string
  readonly reason: string
  readonly hint?: string
}

const format = SchemaIssue.makeFormatterStandardSchemaV1()

/** Returns our own message ("Workflow ID is required") unchanged, and a message of Effect after the name of its field. */
const sentence = (field: string, message: string) =>
  field !== "" && /^(Expected|Missing|Invalid|Unexpected)/.test(message) ? `${field}: ${message}` : message

/** Issues of a value that does not fit its schema. */
export const issues = ({ issue }: Schema.SchemaError): ReadonlyArray<Issue> =>
  format(issue).issues.map(({ message, path }) => {
    const steps = (path ?? []).map((part) => typeof part === "object" ? part.key : part)
    const field = JsonPath.print(steps.map((step) => typeof step === "symbol" ? String(step) : step))
    return { field, reason: sentence(field, message) }
  })

/** Maximum number of issues that an error names. */
export const maxIssues = 20

/** Refusal for issues, of which `others` more are not listed. */
export const refusal = (issues: ReadonlyArray<Issue>, hint: string, others = 0): Errors.ValidationError =>
  Errors.invalid(
    issues[0]?.field ?? "",
    Rows.listed(issues.map(({ reason }) => reason), maxIssues, "; ", issues.length + others),
    hint
  )

/** Options of schemas for what callers enter: all issues, and unknown names are among them. */
export const strict = { errors: "all", onExcessProperty: "error" } as const

/** Returns a decoder of what a program enters; `ignore` leaves values alone that the schema does not name. */
export const decoder = <A, R>(
  schema: Schema.ConstraintCodec<A, unknown, R>,
  onExcessProperty: "error" | "ignore" = "error"
) => {
  const decode = Schema.decodeUnknownEffect(schema, { ...strict, onExcessProperty })
  return (input: unknown): Effect.Effect<A, Errors.ValidationError, R> => {
    const fields = obj(input)
    return Effect.mapError(
      decode(fields === undefined ? input : defined(fields)),
      (error) => refusal(issues(error), "Nothing was sent.")
    )
  }
}

/** Smallest and largest number of a kind. */
export interface Bounds {
  readonly minimum: number
  readonly maximum: number
}

/** Whole number within bounds. */
export const within = (name: string, bounds: Bounds) =>
  Schema.Int.check(
    Schema.isBetween(bounds, { message: `${name} must be from ${bounds.minimum} to ${bounds.maximum}` })
  )

/** Number of things that a page or a search may have. */
export const count = (name: string, maximum: number) => within(name, { minimum: 1, maximum })

/** Index, or number of things to skip. */
export const fromZero: Bounds = { minimum: 0, maximum: 1_000_000 }
