/** Data tables by name, their columns, and conditions on their rows. */
import type * as Acorn from "acorn"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Stream from "effect/Stream"
import * as Errors from "../base/Errors.ts"
import * as Interpreter from "../base/Interpreter.ts"
import * as JavaScript from "../base/JavaScript.ts"
import { suggestion } from "../base/Nearest.ts"
import * as Redact from "../base/Redact.ts"
import * as Syntax from "../base/Syntax.ts"
import { type Condition, type DataTable, isUnsupported, N8nClient, type Row, type RowFilter } from "../n8n/N8nClient.ts"

export type Columns = ReadonlyMap<string, string>

export const systemColumns: ReadonlyArray<readonly [string, string]> = [
  ["id", "number"],
  ["createdAt", "date"],
  ["updatedAt", "date"]
]

interface Refused {
  readonly reason: string
  readonly hint: string
}

type One = RowFilter["filters"][number]

const possible =
  "Use columns with ===, !==, <, <=, >, >=, includes, startsWith, endsWith, [\"a\", \"b\"].includes(column), null, and either && or ||."

class Untranslatable extends Data.Error<Refused> {}

const mirrored: Readonly<Record<string, string>> = { "<": ">", "<=": ">=", ">": "<", ">=": "<=" }

const conditions: Readonly<Record<string, Condition>> = {
  "===": "eq",
  "==": "eq",
  "!==": "neq",
  "!=": "neq",
  "<": "lt",
  "<=": "lte",
  ">": "gt",
  ">=": "gte"
}

const before = (day: string) => new Date(Date.parse(`${day}T00:00:00.000Z`) - 1).toISOString()

const isDay = (value: unknown): value is string =>
  typeof value === "string" && /^\d{4}-\d\d-\d\d$/.test(value) && !Number.isNaN(Date.parse(`${value}T00:00:00.000Z`))

interface Scope {
  /** Removes the parentheses that were added for parsing. */
  readonly source: string
  readonly columns: Columns
}

type Operand = Acorn.Expression | Acorn.Super | Acorn.SpreadElement | Acorn.PrivateIdentifier

const refuse = ({ source }: Scope, { end, start }: Acorn.Node, why: string, hint = possible): never => {
  throw new Untranslatable({ reason: `'${source.slice(start, end).slice(0, 80)}' ${why}`, hint })
}

const noFilter = (scope: Scope, node: Acorn.Node) => refuse(scope, node, "has no filter of n8n's")

const one = (filter: One): RowFilter => ({ filters: [filter] })

const columnOf = (scope: Scope, node: Operand): string | undefined => {
  const checked = (name: string) =>
    scope.columns.has(name)
      ? name
      : refuse(scope, node, "names no column of the table", suggestion(name, [...scope.columns.keys()]))
  if (node.type === "Identifier" && node.name !== "undefined") return checked(node.name)
  const name = node.type === "MemberExpression" && Syntax.isNamed(node.object, "$json") ? Syntax.keyOf(node) : undefined
  return name === undefined ? undefined : checked(name)
}

const valueOf = (node: Operand): { readonly value: unknown } | undefined => {
  switch (node.type) {
    case "Literal":
      return node.regex === undefined && node.bigint == null ? { value: node.value } : undefined
    case "Identifier":
      return node.name === "undefined" ? { value: null } : undefined
    case "UnaryExpression": {
      const inner = valueOf(node.argument)
      return node.operator === "-" && typeof inner?.value === "number" ? { value: -inner.value } : undefined
    }
    case "TemplateLiteral":
      return node.expressions.length === 0 ? { value: node.quasis[0]?.value.cooked } : undefined
  }
  return undefined
}

const compare = (scope: Scope, node: Acorn.Node, columnName: string, condition: Condition, value: unknown): One => {
  const type = scope.columns.get(columnName) ?? "string"
  const isOrder = condition !== "eq" && condition !== "neq"
  if (value === null) {
    return isOrder ? refuse(scope, node, "compares with null") : { columnName, condition, value }
  }
  if (type === "date") {
    // n8n compares dates as text, on SQLite in a form other than the stored one: only whole days compare correctly.
    if (!isOrder || !isDay(value)) {
      return refuse(scope, node, "is no comparison of a date with a day", `Write ${columnName} >= '2026-01-31' or <.`)
    }
    return { columnName, condition: condition === "gt" || condition === "gte" ? "gt" : "lte", value: before(value) }
  }
  if (typeof value !== type || isOrder && type === "boolean") {
    return refuse(scope, node, `does not fit: '${columnName}' is a ${type}`)
  }
  return { columnName, condition, value }
}

const patterns: Readonly<Record<string, (text: string) => string>> = {
  includes: (text) => `%${text}%`,
  startsWith: (text) => `${text}%`,
  endsWith: (text) => `%${text}`
}

const alike = (
  scope: Scope,
  node: Acorn.Node,
  columnName: string,
  text: unknown,
  pattern: (text: string) => string,
  ignoresCase: boolean
): One => {
  if (scope.columns.get(columnName) !== "string") return refuse(scope, node, `does not fit: '${columnName}' is no text`)
  if (typeof text !== "string" || text === "") return refuse(scope, node, "needs a text")
  if (text.includes("%")) return refuse(scope, node, "looks for %, which stands for any text in n8n's filters")
  if (ignoresCase && text !== text.toLowerCase()) {
    return refuse(scope, node, "is never true: the text is not in lower case")
  }
  return { columnName, condition: ignoresCase ? "ilike" : "like", value: pattern(text) }
}

const methodOf = ({ callee }: Acorn.CallExpression) =>
  callee.type === "MemberExpression" ? { of: callee.object, method: Syntax.keyOf(callee) ?? "" } : undefined

const oneOf = (scope: Scope, node: Acorn.CallExpression, list: Acorn.ArrayExpression, argument: Operand): RowFilter => {
  const columnName = columnOf(scope, argument) ?? refuse(scope, argument, "is no column")
  const filters = list.elements.map((each) => {
    const { value } = (each === null ? undefined : valueOf(each)) ?? refuse(scope, list, "is no list of values")
    return compare(scope, node, columnName, "eq", value)
  })
  return filters.length === 0
    ? refuse(scope, list, "is an empty list")
    : { type: filters.length === 1 ? undefined : "or", filters }
}

const call = (scope: Scope, node: Acorn.CallExpression): RowFilter => {
  const [argument, ...more] = node.arguments
  const { method, of } = methodOf(node) ?? noFilter(scope, node)
  if (argument === undefined || more.length > 0) return noFilter(scope, node)
  if (of.type === "ArrayExpression" && method === "includes") return oneOf(scope, node, of, argument)
  const pattern = Object.hasOwn(patterns, method) ? patterns[method] : undefined
  const inner = of.type === "CallExpression" ? methodOf(of) : undefined
  const isLowered = inner?.method === "toLowerCase"
  const columnName = columnOf(scope, isLowered ? inner.of : of)
  const value = valueOf(argument)
  return pattern === undefined || columnName === undefined || value === undefined
    ? noFilter(scope, node)
    : one(alike(scope, node, columnName, value.value, pattern, isLowered))
}

const flag = (scope: Scope, node: Acorn.Expression, condition: Condition): RowFilter => {
  const columnName = columnOf(scope, node) ?? noFilter(scope, node)
  return scope.columns.get(columnName) === "boolean"
    ? one({ columnName, condition, value: true })
    : refuse(scope, node, "is no condition: compare it with a value")
}

const comparison = (scope: Scope, node: Acorn.BinaryExpression): RowFilter => {
  const isMirrored = columnOf(scope, node.left) === undefined
  const columnName = columnOf(scope, isMirrored ? node.right : node.left)
  const value = valueOf(isMirrored ? node.left : node.right)
  const condition = conditions[isMirrored ? mirrored[node.operator] ?? node.operator : node.operator]
  return columnName === undefined || value === undefined || condition === undefined
    ? refuse(scope, node, "is no comparison of a column with a value")
    : one(compare(scope, node, columnName, condition, value.value))
}

const translate = (scope: Scope, node: Acorn.Expression): RowFilter => {
  switch (node.type) {
    case "LogicalExpression": {
      if (node.operator === "??") break
      const type = node.operator === "&&" ? "and" : "or"
      const sides = [translate(scope, node.left), translate(scope, node.right)]
      return sides.some((side) => side.type !== undefined && side.type !== type)
        ? refuse(scope, node, "mixes && and ||: n8n supports only one of them in a filter")
        : { type, filters: sides.flatMap(({ filters }) => filters) }
    }
    case "BinaryExpression":
      return comparison(scope, node)
    case "CallExpression":
      return call(scope, node)
    case "UnaryExpression":
      if (node.operator === "!") return flag(scope, node.argument, "neq")
      break
    case "Identifier":
    case "MemberExpression":
      return flag(scope, node, "eq")
    case "Literal":
      return refuse(scope, node, "names no column")
  }
  return noFilter(scope, node)
}

const maxSource = 4_000

export const parse = (
  source: string,
  columns: Columns
): Effect.Effect<Result.Result<RowFilter, Refused>> =>
  Effect.map(JavaScript.parser, (parseCode) => {
    if (source.length > maxSource) return Result.fail({ reason: "where is too long", hint: possible })
    // In parentheses `{}` is an object, not a block.
    const inParentheses = `(${source}\n)`
    const parsed = parseCode(inParentheses, "expression")
    if (parsed?.program === undefined) {
      return Result.fail({
        reason: `where is not an expression: ${parsed?.mistake ?? "it is nested too deeply"}`,
        hint: possible
      })
    }
    const expression = Syntax.expressionOf(parsed.program)
    if (expression === undefined) return Result.fail({ reason: "where is more than one expression", hint: possible })
    try {
      const { filters, type = "and" } = translate({ source: inParentheses, columns }, expression)
      return Result.succeed({ type, filters })
    } catch (error) {
      if (error instanceof Untranslatable) return Result.fail({ reason: error.reason, hint: error.hint })
      throw error
    }
  })

/** Whether cells of a column may be redacted: texts may, dates only as the value of a pair (`name`, `value`). */
export const mayBeHidden = (column: string, columns: Columns): boolean => {
  const type = columns.get(column)
  return type === "string" ||
    type === "date" && Redact.places({ name: "password", k: "password", label: "password", [column]: "x" }).length > 0
}

/** Whether every row that meets a condition as shown, with secrets redacted, also meets it as stored. */
const holdsStored = ({ columnName, condition, value }: One, columns: Columns) =>
  !mayBeHidden(columnName, columns) || value === null ||
  ["eq", "like", "ilike"].includes(condition) && !Redact.occursInMarker(String(value).replaceAll("%", ""))

/** The part of a filter that misses no row if n8n applies it to values with secrets; may be `undefined`. */
export const withoutSecrets = (filter: RowFilter, columns: Columns): RowFilter | undefined => {
  const filters = filter.filters.filter((each) => holdsStored(each, columns))
  return filters.length === 0 || filter.type === "or" && filters.length < filter.filters.length
    ? undefined
    : { ...filter, filters }
}

/** Whether a filter has the same result for a row as shown and as stored. */
export const isOfPlainColumns = ({ filters }: RowFilter, columns: Columns): boolean =>
  filters.every(({ columnName, value }) => value === null || !mayBeHidden(columnName, columns))

/** Replaces the error of an n8n without data tables. */
export const orTooOld = Effect.catchIf(
  (error: Errors.N8nError) => isUnsupported(error),
  () => Errors.invalid("table", "This n8n has no data tables in its API: n8n 2.30 and later have", "Nothing was done.")
) as <A, R>(effect: Effect.Effect<A, Errors.N8nError, R>) => Effect.Effect<A, Errors.N8nError, R>

export const find = Effect.fnUntraced(
  function*(table: string): Effect.fn.Return<DataTable, Errors.N8nError, N8nClient> {
    const all = yield* Stream.runCollect((yield* N8nClient).streamDataTables)
    const matches = all.filter(({ id, name }) => id === table || name === table)
    const [first] = matches
    if (matches.length > 1) {
      return yield* Errors.invalid(
        "table",
        `${matches.length} tables are named '${table}'`,
        `Give an id: ${matches.map(({ id, projectId }) => `${id} (project ${projectId})`).join(", ")}.`
      )
    }
    return first ?? (yield* new Errors.NotFoundError({
      operation: "find data table",
      resourceType: "Data table",
      resourceId: table,
      hint: suggestion(table, all.map(({ name }) => name))
    }))
  }
)

export const columnsOf = ({ columns }: DataTable): ReadonlyArray<readonly [string, string]> =>
  columns.toSorted((a, b) => (a.index ?? 0) - (b.index ?? 0)).map(({ name, type }) => [name, type] as const)

export const typesOf = (table: DataTable): Columns => new Map([...systemColumns, ...columnsOf(table)])

export const checkColumns = (table: DataTable, names: Iterable<string>, field: string) => {
  const own = columnsOf(table).map(([name]) => name)
  const unknown = [...new Set(names)].find((name) => !own.includes(name))
  return unknown === undefined
    ? Effect.void
    : Errors.invalid(field, `'${table.name}' has no column '${unknown}' to write`, suggestion(unknown, own))
}

export const checkAskable = (column: string, field: string, redacts: boolean) =>
  redacts && Redact.places({ [column]: "x" }).length > 0
    ? Errors.invalid(field, `'${column}' contains secrets and cannot be used in a condition`, "Use another column.")
    : Effect.void

export interface RowCondition {
  readonly filter: RowFilter
  readonly holds: (row: Row) => boolean
}

/** Parses `where`; refuses a condition that n8n cannot filter by. */
export const condition = Effect.fnUntraced(function*(source: string, table: DataTable, redacts: boolean) {
  const parsed = yield* parse(source, typesOf(table))
  if (Result.isFailure(parsed)) return yield* Errors.invalid("where", parsed.failure.reason, parsed.failure.hint)
  for (const { columnName } of parsed.success.filters) yield* checkAskable(columnName, "where", redacts)
  const compiled = (yield* Interpreter.load).where(source)
  if (Result.isFailure(compiled)) {
    return yield* Errors.invalid("where", compiled.failure.message, "Simplify the condition.")
  }
  const shown = redacts ? Redact.redact : <A>(value: A) => value
  const matches = compiled.success()
  const holds = (row: Row) => Result.getOrElse(matches(shown(row)), () => false)
  return { filter: parsed.success, holds } satisfies RowCondition
})
