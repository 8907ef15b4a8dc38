/** Decoding of arguments: lenient about the types that models send, exact for programs, strict about names. */
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import type * as Errors from "../base/Errors.ts"
import * as Input from "../base/Input.ts"
import { arr, type Obj, obj, str } from "../base/Json.ts"
import * as JsonPath from "../base/JsonPath.ts"
import * as JsonSize from "../base/JsonSize.ts"
import { didYouMean, nearest } from "../base/Nearest.ts"
import { digits } from "../base/Plural.ts"
import * as Turn from "../base/Turn.ts"

/** Value of a JSON text; a text that is not JSON, or too large, is returned unchanged. */
export const parseJson = (text: string): unknown => {
  try {
    return JsonSize.fault(text) === undefined ? JSON.parse(text) : text
  } catch {
    return text
  }
}

/** Coerces an argument: models send `"5"` for 5, `"[\"a\"]"` or `"a"` for a list of texts, and 5 for `"5"`. */
const coerce = (value: unknown, schema: unknown, wraps = false): unknown => {
  const { items, type } = obj(schema) ?? {}
  if (type === "string") return typeof value === "number" ? String(value) : value
  if (type === undefined) return value
  const inner = typeof value === "string" ? parseJson(value) : value
  const result = typeof inner === "string" ? value : inner
  const isBroken = typeof result === "string" && /^\s*(?:[[{]|$)/.test(result)
  if (!wraps || type !== "array" || isBroken || result === null || Array.isArray(result)) return result
  return [coerce(typeof value === "string" && str(obj(items)?.["type"]) === "string" ? value : result, items)]
}

const isEmpty = (value: unknown): boolean => value === "" || Array.isArray(value) && value.length === 0

/** Whether an optional argument means nothing: some clients fill each of them. */
const isNothing = (value: unknown, schema: unknown, mayBeEmpty: boolean): boolean =>
  obj(schema)?.["type"] !== undefined &&
  (value === "" || value === null || !mayBeEmpty && (value === "null" || isEmpty(value)))

/** Maximum depth of a value, more than any workflow has: functions that recurse into values must not overflow the stack. */
const maxDepth = 200

const parameterOf = (path: string) => path.split(/[.[]/, 1)[0] ?? ""

/** Maximum length of a text parameter. Longer texts, such as a node's code, are in objects, whose texts have no limit. */
const maxChars = 2_000

/** Maximum number of elements of a list that a schema looks at one by one, and of names of an object. */
const maxElements = JsonSize.maxNames

const isKind = (schema: unknown, kind: string): boolean => {
  const { anyOf, type } = obj(schema) ?? {}
  return type === kind || arr(anyOf).some((each) => isKind(each, kind))
}

const schemaAt = (schema: unknown, key: string): unknown => {
  const { anyOf, items, properties } = obj(schema) ?? {}
  return obj(properties)?.[key] ?? items ?? arr(anyOf).map((each) => schemaAt(each, key)).find(obj)
}

/** The reason why a value is not decoded, after its path. */
const faultOf = (value: unknown, schema: unknown, depth: number): string | undefined => {
  if (typeof value === "string") {
    return !isKind(schema, "string")
      ? depth === 0 ? JsonSize.fault(value) : undefined
      : value.length > maxChars
      ? `has more than ${maxChars} characters`
      : undefined
  }
  if (typeof value !== "object" || value === null) return undefined
  if (depth >= maxDepth) return `is nested more than ${maxDepth} levels deep`
  const count = Array.isArray(value) ? isKind(schema, "array") ? value.length : 0 : Object.keys(value).length
  return count > maxElements ? `has more than ${digits(maxElements)} elements` : undefined
}
interface Place {
  readonly key: string
  readonly value: unknown
  readonly path: string
  readonly schema: unknown
  readonly depth: number
}

/** Issues of values and keys with lone surrogates, and of values that are too large or nested too deeply. */
const malformed = function*(parameters: ReadonlyArray<Place>): Turn.Steps<ReadonlyArray<Input.Issue>> {
  const issues: Array<Input.Issue> = []
  const stack = parameters.toReversed()
  let count = 0
  for (let place = stack.pop(); place !== undefined; place = stack.pop()) {
    if (++count % valuesPerStep === 0) yield
    const { depth, key, path, schema, value } = place
    const isWell = key.isWellFormed() && (typeof value !== "string" || value.isWellFormed())
    const fault = isWell ? faultOf(value, schema, depth) : "contains half of a UTF-16 surrogate pair"
    if (fault !== undefined) {
      // The path of a value in the depth is too long.
      const field = depth >= maxDepth ? parameterOf(path) : path
      issues.push({ field, reason: `${field} ${fault}` })
    } else if (typeof value === "object" && value !== null) {
      const names = Object.keys(value)
      for (let index = names.length - 1; index >= 0; index--) {
        const name = names[index] ?? ""
        const inner = (value as Obj)[name]
        // Nothing is wrong with a number in a list.
        if (Array.isArray(value) && typeof inner !== "string" && typeof inner !== "object") continue
        const at = JsonPath.member(path, Array.isArray(value) ? Number(name) : clip(name))
        stack.push({ key: name, value: inner, path: at, schema: schemaAt(schema, name), depth: depth + 1 })
      }
    }
  }
  return issues
}

const valuesPerStep = 1_000

const clip = (key: string) => key.slice(0, maxKey).toWellFormed()

const maxKey = 100

/** Reason for which an empty list of chosen things, however it is written, is not the same as no choice. */
export const emptyChoice = "an empty choice is not all"

/** Leniency of a decoder. */
export interface Leniency {
  /** Optional arguments whose empty list, or text `null`, is a value, with the reason. */
  readonly empty?: { readonly [parameter: string]: string } | undefined
  /** Whether types are exact, and an optional argument that means nothing is refused: the input of a program. */
  readonly isExact?: boolean
}

/**
 * Decodes a tool's arguments; JSON strings for other types and `null` are accepted, unknown keys are refused. With
 * `empty`, one value for a list and nothing for an optional argument are accepted too, as models and clients send them.
 */
export const decoder = <A, R>(
  tool: string,
  schema: Schema.ConstraintCodec<A, unknown, R>,
  jsonSchema: { readonly properties?: { readonly [key: string]: object }; readonly required?: unknown },
  { empty, isExact = false }: Leniency = {}
) => {
  const properties = jsonSchema.properties ?? {}
  const required = new Set(arr(jsonSchema.required))
  const decode = Schema.decodeUnknownEffect(schema, Input.strict)
  const fail = (issues: ReadonlyArray<Input.Issue>, isUnknown = false, others = 0) =>
    Input.refusal(
      issues,
      { _tag: "TakeParameters", name: tool, parameters: Object.keys(properties), isUnknown },
      others
    )

  return Effect.fnUntraced(function*(args: unknown): Effect.fn.Return<A, Errors.ValidationError, R> {
    yield* Turn.pause
    const input = args === undefined || args === null ? {} : obj(isExact ? args : coerce(args, { type: "object" }))
    if (input === undefined) {
      return yield* fail([{ field: "arguments", reason: "arguments must be a JSON object" }])
    }
    const names = Object.keys(input)
    const near = (name: string) => {
      const some = nearest(name, Object.keys(properties))
      return some.length === 0 ? {} : { hint: didYouMean(some) }
    }
    const others = names.filter((name) => !Object.hasOwn(properties, name))
    const unknown = others.slice(0, Input.maxIssues).map((name): Input.Issue => ({
      field: clip(name),
      reason: `Unknown parameter '${clip(name)}'`,
      ...near(name)
    }))
    yield* Turn.pause
    const isLeftOut = (key: string, value: unknown) =>
      empty !== undefined && !required.has(key) && isNothing(value, properties[key], Object.hasOwn(empty, key))
    // A program that means nothing leaves the argument out: an id that is missing by mistake must not become all.
    const isRefused = (key: string) =>
      isExact && Object.hasOwn(properties, key) && isEmpty(input[key]) && isLeftOut(key, input[key])
    const places = names.flatMap((key): ReadonlyArray<Place> => {
      if (!Object.hasOwn(properties, key) || isRefused(key)) return []
      const schema = properties[key]
      if (isExact) return [{ key, value: input[key], path: key, schema, depth: 0 }]
      const written = coerce(input[key], schema, empty !== undefined)
      const value = written === null && input[key] !== null && empty?.[key] === emptyChoice ? [] : written
      return input[key] === null || isLeftOut(key, value)
        ? []
        : [{ key, value, path: key, schema, depth: 0 }]
    })
    const malformedIssues = yield* Turn.run(() => malformed(places))
    // A malformed value cannot be decoded or shown.
    const refusedNames = new Set(malformedIssues.map(({ field }) => parameterOf(field)))
    const isMalformed = (path: string) => refusedNames.has(parameterOf(path))
    const values = places.flatMap(({ key, value }) => isMalformed(key) ? [] : [[key, value] as const])
    yield* Turn.pause
    const decoded = yield* Effect.result(decode(Object.fromEntries(values)))
    const refused = decoded._tag === "Failure" ? Input.issues(decoded.failure) : []
    const emptyIssues = names.filter(isRefused).map((field): Input.Issue => ({
      field,
      reason: `${field} is empty: omit it, or enter a value`
    }))
    const issues = [
      ...unknown,
      ...emptyIssues,
      ...malformedIssues,
      ...refused.filter(({ field }) => !isMalformed(field))
    ]
    return decoded._tag === "Success" && issues.length === 0
      ? decoded.success
      : yield* fail(issues, others.length > 0, others.length - unknown.length)
  })
}
