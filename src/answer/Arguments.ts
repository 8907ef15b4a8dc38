/** What a model sends as arguments: forgiving in form, strict in names. */
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as SchemaIssue from "effect/SchemaIssue"
import * as Errors from "../base/Errors.ts"
import { type Obj, obj, str } from "../base/Json.ts"
import { suggestion } from "../base/Nearest.ts"

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

/** Models send `"5"` for 5, `"[\"a\"]"` for a list, 5 for `"5"`, and null for what they leave out. */
const coerce = (value: unknown, schema: unknown): unknown => {
  const type = str(obj(schema)?.["type"])
  if (type === "string") return typeof value === "number" ? String(value) : value
  if (typeof value !== "string" || type === undefined) return value
  const inner = parsed(value)
  return typeof inner === "string" ? value : inner
}

const format = SchemaIssue.makeFormatterStandardSchemaV1()

/**
 * Decodes a tool's arguments.
 *
 * **Details**
 *
 * A JSON string where an object, array, number or boolean is expected is accepted; `null` counts as left out; an
 * unknown key is refused with the nearest valid one. Every failure is a `Validation` naming the field.
 */
export const decoder = <A, R>(
  tool: string,
  schema: Schema.ConstraintCodec<A, unknown, R>,
  jsonSchema: { readonly properties?: { readonly [key: string]: object } }
) => {
  const properties = jsonSchema.properties ?? {}
  const decode = Schema.decodeUnknownEffect(schema, { errors: "all", onExcessProperty: "error" })
  const usage = `${tool} takes: ${Object.keys(properties).join(", ") || "no parameters"}.`

  const failed = (error: Schema.SchemaError) => {
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
    const given: Obj | undefined = args === undefined || args === null ? {} : obj(coerce(args, { type: "object" }))
    if (given === undefined) {
      return Effect.fail(
        new Errors.ValidationError({ reason: "arguments must be a JSON object", field: "arguments", hint: usage })
      )
    }
    const unknown = Object.keys(given).find((key) => !Object.hasOwn(properties, key))
    if (unknown !== undefined) {
      return Effect.fail(
        new Errors.ValidationError({
          reason: `Unknown parameter '${unknown}'`,
          field: unknown,
          hint: `${suggestion(unknown, Object.keys(properties))} ${usage}`
        })
      )
    }
    const entries = Object.entries(given).filter(([, value]) => value !== null)
    return decode(Object.fromEntries(entries.map(([key, value]) => [key, coerce(value, properties[key])]))).pipe(
      Effect.mapError(failed)
    )
  }
}

/** A message of a schema's own ("Workflow ID is required") stands alone; the library's gets the field before it. */
const sentence = (field: string, message: string) =>
  /^(Expected|Missing|Invalid|Unexpected)/.test(message) ? `${field}: ${message}` : message
