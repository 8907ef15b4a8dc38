/** Decoding of what callers enter, and its refusal in words. */
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as SchemaIssue from "effect/SchemaIssue"
import type { Advice, Hint } from "./Advice.ts"
import * as Errors from "./Errors.ts"
import { defined, obj } from "./Json.ts"
import * as JsonPath from "./JsonPath.ts"
import * as Rows from "./Rows.ts"

/** Reason for which a value is refused, and its path. */
export interface Issue {
  readonly field: string
  readonly reason: string
  readonly hint?: Hint
}

/** Reason for which a text is refused, and advice. */
export interface Refusal {
  readonly message: string
  readonly hint?: Hint
}

/** Issue of a schema with advice, which {@link issues} returns beside its message. */
export const refused = ({ hint, message }: Refusal) => new SchemaIssue.InvalidValue({ message, hint })

const missing = "Missing key"

/** Issues of a value that does not fit its schema. */
export const issues = ({ issue }: Schema.SchemaError): ReadonlyArray<Issue> => {
  const hints = new Map<string, Hint>()
  const format = SchemaIssue.makeFormatterStandardSchemaV1({
    leafHook: (leaf) => {
      const message = SchemaIssue.defaultLeafHook(leaf)
      const hint = leaf._tag === "InvalidValue" ? leaf.annotations?.["hint"] : undefined
      if (hint !== undefined) hints.set(message, hint as Hint)
      return message
    }
  })
  return format(issue).issues.map(({ message, path }) => {
    const steps = (path ?? []).map((part) => typeof part === "object" ? part.key : part)
    const field = JsonPath.print(steps.map((step) => typeof step === "symbol" ? String(step) : step))
    const reason = message === missing && field !== "" ? `${field} is required` : message
    return { field, reason, ...defined({ hint: hints.get(message) }) }
  })
}

const kindOf = (part: string | Advice) => typeof part === "string" ? part : part._tag

/** Advice on issues, each kind once, and then `hint`. */
const adviceOn = (issues: ReadonlyArray<Issue>, hint: Hint | undefined): Hint | undefined => {
  const all = issues.flatMap(({ hint }) => hint ?? [])
  if (all.length === 0) return hint
  const first = all.filter((part, index) => all.findIndex((other) => kindOf(other) === kindOf(part)) === index)
  return [...first, ...[hint ?? []].flat()]
}

/** Maximum number of issues that an error names. */
export const maxIssues = 20

/** Refusal for issues, of which `others` more are not listed. */
export const refusal = (issues: ReadonlyArray<Issue>, hint?: Hint, others = 0): Errors.ValidationError =>
  Errors.invalid(
    issues[0]?.field ?? "",
    // The error itself names the field of its first reason.
    Rows.listed(
      issues.map(({ field, reason }, index) => index === 0 ? reason : Errors.ofField(field, reason)),
      maxIssues,
      "; ",
      issues.length + others
    ),
    adviceOn(issues, hint)
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
      (error) => refusal(issues(error))
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
