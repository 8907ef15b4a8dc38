/** A condition on a data table's rows, from JavaScript into n8n's filters; what has no exact filter is refused. Pure. */
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as JavaScript from "../base/JavaScript.ts"
import { arr, type Obj, obj, str } from "../base/Json.ts"
import { suggestion } from "../base/Nearest.ts"
import type { Condition, RowFilter } from "./dataTables.ts"

/** The type of each column, n8n's own included. */
export type Columns = ReadonlyMap<string, string>

/** The columns that every table has. */
export const systemColumns: ReadonlyArray<readonly [string, string]> = [
  ["id", "number"],
  ["createdAt", "date"],
  ["updatedAt", "date"]
]

/** Why an expression is no filter: what of it, and what is possible. */
export interface Refused {
  readonly reason: string
  readonly hint: string
}

type One = RowFilter["filters"][number]

/** Conditions that are joined by one word. */
interface Joined {
  readonly type: "and" | "or" | undefined
  readonly filters: ReadonlyArray<One>
}

const possible =
  "Use columns with ===, !==, <, <=, >, >=, includes, startsWith, endsWith, [\"a\", \"b\"].includes(column), null, and either && or ||."

class Untranslatable extends Error {
  readonly reason: string
  readonly hint: string
  constructor(reason: string, hint = possible) {
    super(reason)
    this.reason = reason
    this.hint = hint
  }
}

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

/** The millisecond before a day begins. */
const before = (day: string) => new Date(Date.parse(`${day}T00:00:00.000Z`) - 1).toISOString()

const isDay = (value: unknown): value is string =>
  typeof value === "string" && /^\d{4}-\d\d-\d\d$/.test(value) && !Number.isNaN(Date.parse(`${value}T00:00:00.000Z`))

const translate = (source: string, columns: Columns, root: Obj): Joined => {
  const shown = (node: Obj) => source.slice(Number(node["start"]) - 1, Number(node["end"]) - 1)

  const refuse = (node: Obj, why: string, hint?: string): never => {
    throw new Untranslatable(`'${shown(node).slice(0, 80)}' ${why}`, hint)
  }

  const checked = (node: Obj, name: string) =>
    columns.has(name) ? name : refuse(node, "names no column of the table", suggestion(name, [...columns.keys()]))

  /** The column that an expression names: `qty`, `$json.qty`, `$json["order no"]`. */
  const columnOf = (node: Obj): string | undefined => {
    if (node["type"] === "Identifier" && node["name"] !== "undefined") return checked(node, str(node["name"]) ?? "")
    const of = obj(node["object"])
    if (node["type"] !== "MemberExpression" || of?.["type"] !== "Identifier" || of["name"] !== "$json") return undefined
    const property = obj(node["property"])
    const name = node["computed"] === true ? str(property?.["value"]) : str(property?.["name"])
    return name === undefined ? undefined : checked(node, name)
  }

  /** The value that stands there, in a box: it may be null. */
  const valueOf = (node: Obj): { readonly value: unknown } | undefined => {
    switch (node["type"]) {
      case "Literal":
        return node["regex"] === undefined && node["bigint"] === undefined ? { value: node["value"] } : undefined
      case "Identifier":
        return node["name"] === "undefined" ? { value: null } : undefined
      case "UnaryExpression": {
        const inner = valueOf(obj(node["argument"]) ?? {})
        return node["operator"] === "-" && typeof inner?.value === "number" ? { value: -inner.value } : undefined
      }
      case "TemplateLiteral":
        return arr(node["expressions"]).length === 0
          ? { value: str(obj(obj(arr(node["quasis"])[0])?.["value"])?.["cooked"]) }
          : undefined
    }
    return undefined
  }

  const compare = (node: Obj, columnName: string, condition: Condition, value: unknown): One => {
    const type = columns.get(columnName) ?? "string"
    const isOrder = condition !== "eq" && condition !== "neq"
    if (value === null) {
      return isOrder ? refuse(node, "compares with null") : { columnName, condition, value }
    }
    if (type === "date") {
      // n8n compares dates as text, on SQLite in another form than they are stored in: only whole days come out right.
      if (!isOrder || !isDay(value)) {
        return refuse(node, "is no comparison of a date with a day", `Write ${columnName} >= '2026-01-31' or <.`)
      }
      return { columnName, condition: condition === "gt" || condition === "gte" ? "gt" : "lte", value: before(value) }
    }
    if (typeof value !== type || isOrder && type === "boolean") {
      return refuse(node, `does not fit: '${columnName}' is a ${type}`)
    }
    return { columnName, condition, value }
  }

  const alike = (
    node: Obj,
    columnName: string,
    text: unknown,
    pattern: (text: string) => string,
    ignoresCase: boolean
  ) => {
    if (columns.get(columnName) !== "string") return refuse(node, `does not fit: '${columnName}' is no text`)
    if (typeof text !== "string" || text === "") return refuse(node, "needs a text")
    if (text.includes("%")) return refuse(node, "looks for %, which stands for any text in n8n's filters")
    if (ignoresCase && text !== text.toLowerCase()) return refuse(node, "is never true: the text is not in lower case")
    return { columnName, condition: ignoresCase ? "ilike" : "like", value: pattern(text) } satisfies One
  }

  const patterns: Readonly<Record<string, (text: string) => string>> = {
    includes: (text) => `%${text}%`,
    startsWith: (text) => `${text}%`,
    endsWith: (text) => `%${text}`
  }

  const call = (node: Obj): Joined => {
    const callee = obj(node["callee"]) ?? {}
    const method = callee["type"] === "MemberExpression" && callee["computed"] !== true
      ? str(obj(callee["property"])?.["name"]) ?? ""
      : ""
    const of = obj(callee["object"]) ?? {}
    const [argument] = arr(node["arguments"]).map((each) => obj(each) ?? {})
    if (argument === undefined || arr(node["arguments"]).length !== 1) return refuse(node, "has no filter of n8n's")
    if (of["type"] === "ArrayExpression" && method === "includes") {
      const columnName = columnOf(argument) ?? refuse(argument, "is no column")
      const filters = arr(of["elements"]).map((each) => {
        const value = valueOf(obj(each) ?? {}) ?? refuse(of, "is no list of values")
        return compare(node, columnName, "eq", value.value)
      })
      return filters.length === 0
        ? refuse(of, "is an empty list")
        : { type: filters.length === 1 ? undefined : "or", filters }
    }
    const pattern = Object.hasOwn(patterns, method) ? patterns[method] : undefined
    const lowered = obj(of["callee"])
    const isLowered = of["type"] === "CallExpression" && str(obj(lowered?.["property"])?.["name"]) === "toLowerCase"
    const columnName = columnOf(isLowered ? obj(lowered?.["object"]) ?? {} : of)
    const value = valueOf(argument)
    return pattern === undefined || columnName === undefined || value === undefined
      ? refuse(node, "has no filter of n8n's")
      : { type: undefined, filters: [alike(node, columnName, value.value, pattern, isLowered)] }
  }

  /** A column that is true, or, negated, anything else. */
  const flag = (node: Obj, condition: Condition): Joined => {
    const columnName = columnOf(node) ?? refuse(node, "has no filter of n8n's")
    return columns.get(columnName) === "boolean"
      ? { type: undefined, filters: [{ columnName, condition, value: true }] }
      : refuse(node, "is no condition: compare it with a value")
  }

  const walk = (node: Obj): Joined => {
    switch (node["type"]) {
      case "LogicalExpression": {
        if (node["operator"] === "??") return refuse(node, "has no filter of n8n's")
        const type = node["operator"] === "&&" ? "and" : "or"
        const sides = [walk(obj(node["left"]) ?? {}), walk(obj(node["right"]) ?? {})]
        return sides.some((side) => side.type !== undefined && side.type !== type)
          ? refuse(node, "mixes && and ||: n8n takes one of them")
          : { type, filters: sides.flatMap(({ filters }) => filters) }
      }
      case "BinaryExpression": {
        const [left, right] = [obj(node["left"]) ?? {}, obj(node["right"]) ?? {}]
        const operator = str(node["operator"]) ?? ""
        const [columnName, value, mirror] = columnOf(left) === undefined
          ? [columnOf(right), valueOf(left), true]
          : [columnOf(left), valueOf(right), false]
        const condition = conditions[mirror ? mirrored[operator] ?? operator : operator]
        return columnName === undefined || value === undefined || condition === undefined
          ? refuse(node, "is no comparison of a column with a value")
          : { type: undefined, filters: [compare(node, columnName, condition, value.value)] }
      }
      case "CallExpression":
        return call(node)
      case "UnaryExpression":
        return node["operator"] === "!"
          ? flag(obj(node["argument"]) ?? {}, "neq")
          : refuse(node, "has no filter of n8n's")
      case "Identifier":
      case "MemberExpression":
        return flag(node, "eq")
      case "Literal":
        return refuse(node, "names no column")
    }
    return refuse(node, "has no filter of n8n's")
  }

  return walk(root)
}

/** Longer expressions are none that anybody writes. */
const maxSource = 4_000

/** The filter that an expression stands for. */
export const parse = (
  source: string,
  columns: Columns
): Effect.Effect<Result.Result<RowFilter, Refused>> =>
  Effect.map(JavaScript.parser, (parseCode) => {
    if (source.length > maxSource) return Result.fail({ reason: "where is too long", hint: possible })
    // In parentheses `{}` is an object, not a block.
    const parsed = parseCode(`(${source}\n)`, "expression")
    if (parsed === undefined || "mistake" in parsed) {
      return Result.fail({
        reason: `where is no expression: ${parsed?.mistake ?? "it is nested too deeply"}`,
        hint: possible
      })
    }
    const [statement, more] = arr(parsed.program["body"])
    const root = obj(obj(statement)?.["expression"])
    if (root === undefined || more !== undefined) {
      return Result.fail({ reason: "where is more than one expression", hint: possible })
    }
    try {
      const { filters, type = "and" } = translate(source, columns, root)
      return Result.succeed({ type, filters })
    } catch (error) {
      if (error instanceof Untranslatable) return Result.fail({ reason: error.reason, hint: error.hint })
      throw error
    }
  })
