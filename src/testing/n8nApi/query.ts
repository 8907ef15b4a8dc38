/** Query parameters and pages, with errors in the wording of each n8n version. */
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { type Major, refuse } from "./refusal.ts"

/** Query parameters by name, with `@2` if 1.x lacks one: checks that return an error in the wording of that version. */
export interface Parameters {
  readonly [name: string]: (value: string, version: Major, name: string) => string | undefined
}

type Parameter = Parameters[string]

export const text: Parameter = () => undefined

const notOneOf = (values: ReadonlyArray<string>, value: string) =>
  `Invalid enum value. Expected ${values.map((each) => `'${each}'`).join(" | ")}, received '${value}'`

export const flag: Parameter = (value, version) => {
  if (value === "true" || value === "false") return undefined
  return version === "2" ? notOneOf(["true", "false"], value) : "must be boolean"
}

export const whole: Parameter = (value, version, name) => {
  const number = Number(value)
  if (version === "1") return Number.isNaN(number) ? "must be number" : number > 250 ? "must be <= 250" : undefined
  if (Number.isNaN(number)) return `Param \`${name}\` must be a valid integer`
  return number < 0 ? `Param \`${name}\` must be a non-negative integer` : undefined
}

const statuses: Record<Major, ReadonlyArray<string>> = {
  "2": ["canceled", "crashed", "error", "new", "running", "success", "unknown", "waiting"],
  "1": ["canceled", "error", "running", "success", "waiting"]
}

export const executionStatus: Parameter = (value, version) => {
  if (statuses[version].includes(value)) return undefined
  return version === "2"
    ? notOneOf(statuses[version], value)
    : `must be equal to one of the allowed values: ${statuses[version].join(", ")}`
}

export const instant: Parameter = (value) =>
  /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:?\d\d)$/.test(value) ? undefined : "Invalid datetime"

export const pageQuery = { limit: whole, cursor: text }

/** Validates query parameters: 2.x ignores unknown ones, 1.x refuses them before anything else. */
export const checkQuery = (known: Parameters, query: URLSearchParams, version: Major) => {
  const checks = new Map(Object.entries(known))
  const checkOf = (name: string) => checks.get(name) ?? checks.get(`${name}@${version}`)
  const names = [...new Set(query.keys())]
  const unknown = names.find((name) => checkOf(name) === undefined)
  if (unknown !== undefined && version === "1") return refuse(400, `Unknown query parameter '${unknown}'`)
  for (const name of names) {
    const values = query.getAll(name)
    const [value = ""] = values
    if (version === "1" && value === "") return refuse(400, `Empty value found for query parameter '${name}'`)
    const repeated = version === "2" ? "Expected string, received array" : "must be string"
    const problem = values.length > 1 ? repeated : checkOf(name)?.(value, version, name)
    if (problem !== undefined) return refuse(400, `request/query/${name} ${problem}`)
  }
  return Effect.void
}

const Cursor = Schema.StringFromBase64.pipe(Schema.decodeTo(Schema.fromJsonString(Schema.Struct({
  lastId: Schema.optionalKey(Schema.String),
  limit: Schema.optionalKey(Schema.Finite),
  offset: Schema.optionalKey(Schema.Finite)
}))))

export const encodeCursor = Schema.encodeSync(Cursor)

/** Page of a query: a cursor's own limit wins, and 2.x treats a limit over 250 as 250. */
export const pageOf = Effect.fnUntraced(function*(query: URLSearchParams) {
  const limit = Math.min(Math.trunc(Number(query.get("limit") ?? 100)), 250)
  const offset = Math.trunc(Number(query.get("offset") ?? 0))
  const cursor = query.get("cursor") ?? ""
  if (cursor === "") return { lastId: Infinity, limit, offset }
  const fields = yield* Schema.decodeEffect(Cursor)(cursor).pipe(
    Effect.catchTag("SchemaError", () => refuse(400, "An invalid cursor was provided"))
  )
  return { lastId: Infinity, limit, offset, ...fields }
})

export const paginate = Effect.fnUntraced(function*<A>(all: ReadonlyArray<A>, query: URLSearchParams) {
  const { limit, offset } = yield* pageOf(query)
  const next = offset + limit
  return {
    data: all.slice(offset, limit === 0 ? undefined : next),
    nextCursor: all.length > next ? encodeCursor({ limit, offset: next }) : null
  }
})
