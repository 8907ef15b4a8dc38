/** Decoding of the arguments that models send: lenient about types, strict about names. */
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as SchemaIssue from "effect/SchemaIssue"
import * as Errors from "../base/Errors.ts"
import { arr, deeper, obj, str } from "../base/Json.ts"
import { suggestion } from "../base/Nearest.ts"

/** Value of a JSON text; a text that is not JSON is returned unchanged. */
export const parseJson = (text: string): unknown => {
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

/** Maximum depth of a value, more than any workflow has: functions that recurse into values must not overflow the stack. */
const maxDepth = 200

const parameterOf = (path: string) => path.split(".")[0] ?? ""

/** Maximum length of a text parameter. Longer texts, such as a node's code, are in objects, whose texts have no limit. */
const maxChars = 2_000

const isText = (schema: unknown): boolean => {
  const { anyOf, type } = obj(schema) ?? {}
  return type === "string" || arr(anyOf).some(isText)
}

const schemaAt = (schema: unknown, key: string): unknown => {
  const { anyOf, items, properties } = obj(schema) ?? {}
  return obj(properties)?.[key] ?? items ?? arr(anyOf).map((each) => schemaAt(each, key)).find(obj)
}

/** Issues of values and keys with lone surrogates, of values nested too deeply and of texts that are too long. */
const malformed = (value: unknown, path: string, schema: unknown, depth = 0): ReadonlyArray<Issue> => {
  const half = (field: string) => [{ field, reason: `${field} contains half of a UTF-16 surrogate pair` }]
  if (typeof value === "string") {
    return value.length > maxChars && isText(schema)
      ? [{ field: path, reason: `${path} has more than ${maxChars} characters` }]
      : value.isWellFormed()
      ? []
      : half(path)
  }
  if (typeof value !== "object" || value === null) return []
  if (depth >= maxDepth) {
    const field = parameterOf(path)
    return [{ field, reason: `${field} is nested more than ${maxDepth} levels deep` }]
  }
  return Object.entries(value).flatMap(([key, each]) => {
    const at = deeper(path, clip(key))
    return key.isWellFormed() ? malformed(each, at, schemaAt(schema, key), depth + 1) : half(at)
  })
}

const clip = (key: string) => key.slice(0, maxKey).toWellFormed()

const maxKey = 100

interface Issue {
  readonly field: string
  readonly reason: string
  readonly hint?: string
}

const format = SchemaIssue.makeFormatterStandardSchemaV1()

/** Decodes a tool's arguments; JSON strings for other types and `null` are accepted, unknown keys are refused. */
export const decoder = <A, R>(
  tool: string,
  schema: Schema.ConstraintCodec<A, unknown, R>,
  jsonSchema: { readonly properties?: { readonly [key: string]: object } }
) => {
  const properties = jsonSchema.properties ?? {}
  const decode = Schema.decodeUnknownEffect(schema, { errors: "all", onExcessProperty: "error" })
  const usage = `${tool} takes: ${Object.keys(properties).join(", ") || "no parameters"}.`

  const fail = (issues: ReadonlyArray<Issue>) => {
    const hints = new Set(issues.flatMap(({ hint }) => hint ?? []))
    const first = issues.slice(0, maxIssues)
    const more = issues.length - first.length
    return Errors.invalid(
      issues[0]?.field ?? "",
      [...first.map(({ reason }) => reason), ...more > 0 ? [`and ${more} more`] : []].join("; "),
      [...hints, usage].join(" ")
    )
  }

  const issuesOf = (error: Schema.SchemaError): ReadonlyArray<Issue> =>
    format(error.issue).issues.map(({ message, path }) => {
      const field = (path ?? []).map((part) => String(typeof part === "object" ? part.key : part)).join(".")
      return { field, reason: sentence(field, message) }
    })

  return Effect.fnUntraced(function*(args: unknown): Effect.fn.Return<A, Errors.ValidationError, R> {
    const input = args === undefined || args === null ? {} : obj(coerce(args, { type: "object" }))
    if (input === undefined) {
      return yield* fail([{ field: "arguments", reason: "arguments must be a JSON object" }])
    }
    const entries = Object.entries(input)
    const unknown = entries.flatMap(([key]): ReadonlyArray<Issue> =>
      Object.hasOwn(properties, key) ? [] : [{
        field: clip(key),
        reason: `Unknown parameter '${clip(key)}'`,
        hint: suggestion(key, Object.keys(properties))
      }]
    )
    const values = entries.flatMap(([key, value]) =>
      Object.hasOwn(properties, key) && value !== null ? [[key, coerce(value, properties[key])] as const] : []
    )
    const malformedIssues = values.flatMap(([key, value]) => malformed(value, key, properties[key]))
    // A malformed value cannot be decoded or shown.
    const isMalformed = (path: string) => malformedIssues.some(({ field }) => parameterOf(field) === parameterOf(path))
    const decoded = yield* Effect.result(decode(Object.fromEntries(values.filter(([key]) => !isMalformed(key)))))
    const refused = decoded._tag === "Failure" ? issuesOf(decoded.failure) : []
    const issues = [...unknown, ...malformedIssues, ...refused.filter(({ field }) => !isMalformed(field))]
    return decoded._tag === "Success" && issues.length === 0 ? decoded.success : yield* fail(issues)
  })
}

const maxIssues = 20

/** Returns our own message ("Workflow ID is required") unchanged, and a message of Effect after the name of its field. */
const sentence = (field: string, message: string) =>
  /^(Expected|Missing|Invalid|Unexpected)/.test(message) ? `${field}: ${message}` : message
