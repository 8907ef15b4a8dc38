/** Decodes the arguments that models send: lenient in form, strict in names. */
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as SchemaIssue from "effect/SchemaIssue"
import * as Errors from "../base/Errors.ts"
import { type Obj, obj, str } from "../base/Json.ts"
import { suggestion } from "../base/Nearest.ts"

const parseJson = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

/** Coerces an argument: models send `"5"` for 5, `"[\"a\"]"` for a list, and 5 for `"5"`. */
const coerce = (value: unknown, schema: unknown): unknown => {
  const type = str(obj(schema)?.["type"])
  if (type === "string") return typeof value === "number" ? String(value) : value
  if (typeof value !== "string" || type === undefined) return value
  const inner = parseJson(value)
  return typeof inner === "string" ? value : inner
}

const format = SchemaIssue.makeFormatterStandardSchemaV1()

/**
 * Decodes a tool's arguments.
 *
 * **Details**
 *
 * A JSON string is accepted for an object, array, number or boolean, and `null` counts as absent. An unknown key is
 * refused with the nearest valid one as a suggestion. Every failure is a `ValidationError` with the name of the field.
 */
export const decoder = <A, R>(
  tool: string,
  schema: Schema.ConstraintCodec<A, unknown, R>,
  jsonSchema: { readonly properties?: { readonly [key: string]: object } }
) => {
  const properties = jsonSchema.properties ?? {}
  const decode = Schema.decodeUnknownEffect(schema, { errors: "all", onExcessProperty: "error" })
  const usage = `${tool} takes: ${Object.keys(properties).join(", ") || "no parameters"}.`

  const toError = (error: Schema.SchemaError) => {
    const issues = format(error.issue).issues.map(({ message, path }) => ({
      field: (path ?? []).map((part) => String(typeof part === "object" ? part.key : part)).join("."),
      message
    }))
    const field = issues[0]?.field ?? ""
    return new Errors.ValidationError({
      reason: issues.map((issue) => sentence(issue.field, issue.message)).join("; "),
      field,
      hint: usage
    })
  }

  return (args: unknown): Effect.Effect<A, Errors.ValidationError, R> => {
    const input: Obj | undefined = args === undefined || args === null ? {} : obj(coerce(args, { type: "object" }))
    if (input === undefined) {
      return Effect.fail(
        new Errors.ValidationError({ reason: "arguments must be a JSON object", field: "arguments", hint: usage })
      )
    }
    const unknown = Object.keys(input).find((key) => !Object.hasOwn(properties, key))
    if (unknown !== undefined) {
      return Effect.fail(
        new Errors.ValidationError({
          reason: `Unknown parameter '${unknown}'`,
          field: unknown,
          hint: `${suggestion(unknown, Object.keys(properties))} ${usage}`
        })
      )
    }
    const entries = Object.entries(input).filter(([, value]) => value !== null)
    return decode(Object.fromEntries(entries.map(([key, value]) => [key, coerce(value, properties[key])]))).pipe(
      Effect.mapError(toError)
    )
  }
}

/** A sentence for an issue: a schema's own message ("Workflow ID is required") as it is, Effect's after the field. */
const sentence = (field: string, message: string) =>
  /^(Expected|Missing|Invalid|Unexpected)/.test(message) ? `${field}: ${message}` : message
