/** Postgres 2 to 2.7 and MySQL 2 to 2.5. */
import { obj, str } from "../../base/Json.ts"
import { carry, left, type Mapping, type Old, type Step } from "./mapping.ts"

/** Text of a query without expressions. */
const literal = ({ parameters }: Old) => {
  const query = str(parameters["query"])
  return query === undefined || query.startsWith("=") || query.includes("{{") ? undefined : query
}

const silent = /^(?:insert|update|delete|create|drop|alter|truncate|grant|revoke|comment)\s/i

/** Whether a query certainly returns no rows. */
const isSilent = (query: string | undefined) =>
  query !== undefined && !/['"$]|--|\/\*|\breturning\b/i.test(query) &&
  query.split(";").map((each) => each.trim()).filter((each) => each !== "").every((each) => silent.test(each))

const hasReplacements = ({ own }: Old) => obj(own["options"])?.["queryReplacement"] !== undefined

const postgresTo26: Mapping = (old) => {
  const operation = old.parameters["operation"]
  const isSame = old.version >= 2.3 &&
    (old.version >= 2.5 || operation === "select" || operation === "deleteTable" ||
      operation === "executeQuery" && !hasReplacements(old))
  return isSame ? carry(old) : left(
    "Before 2.6 query parameters, arrays and empty results are treated differently.",
    "Compare the query's parameters and results, then set typeVersion 2.6."
  )
}

const postgresTo27: Mapping = (old) => {
  const operation = old.parameters["operation"]
  return operation === "deleteTable" || operation === "executeQuery" && isSilent(literal(old)) ? carry(old) : left(
    "From 2.7 on dates are returned as \"2026-01-31\", before as \"2026-01-31T00:00:00.000Z\".",
    "Check what reads the dates that this node returns, then set typeVersion 2.7."
  )
}

/** Whether the placeholders of a query are $1, $2 …, each once and outside of quotes, and each has a value. */
const isPlain = (query: string, replacements: unknown) => {
  const used = [...query.matchAll(/\$(\d+)(:name)?/g)].map(([, digits, name]) =>
    name === undefined ? Number(digits) : 0
  )
  if (used.length === 0) return true
  const text = str(replacements)?.replace(/\{\{.*?\}\}/gs, "x") ?? ""
  const values = text.split(",").length
  return !/['"]/.test(query) && used.length < 10 && used.every((number, index) => number === index + 1) &&
    values >= used.length && (values > 1 || text !== "" && !text.startsWith("="))
}

const mySqlTo24: Mapping = (old) =>
  old.version >= 2.2 && old.parameters["operation"] === "deleteTable" ? carry(old) : left(
    "Before 2.4 query parameters, results and semicolons are treated differently.",
    "Compare the query's results, then set typeVersion 2.4."
  )

const mySqlTo25: Mapping = (old) => {
  if (old.parameters["operation"] !== "executeQuery") return carry(old)
  const query = literal(old)
  return query !== undefined && isPlain(query, obj(old.own["options"])?.["queryReplacement"]) ? carry(old) : left(
    "From 2.5 on $1, $2 … in quotes or without a value are not replaced.",
    "Check that each of them is outside of quotes and has a value, then set typeVersion 2.5."
  )
}

export const postgres: ReadonlyArray<Step> = [
  { to: 2.6, change: postgresTo26 },
  { to: 2.7, change: postgresTo27 }
]

export const mySql: ReadonlyArray<Step> = [
  { to: 2.4, change: mySqlTo24 },
  { to: 2.5, change: mySqlTo25 }
]
