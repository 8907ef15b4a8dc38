/** Mappings of services and databases. */
import { type Obj, obj, str } from "../../base/Json.ts"
import * as ParameterRules from "../../catalogue/parameters/ParameterRules.ts"
import {
  carry,
  left,
  type Mapping,
  type Old,
  type StepData,
  type Steps,
  steps as ofData,
  type Successors
} from "./mapping.ts"
import data from "./serviceNodes.json" with { type: "json" }

const writes = new Set(["append", "update", "appendOrUpdate"])

const filtersOf = ({ parameters }: Old) => obj(parameters["filtersUI"])?.["values"]

const expression = left(
  "Its operation or options are an expression.",
  "Choose the operation, then set the newest typeVersion."
)

const ofSheet = (change: (operation: string, options: Obj, old: Old) => ReturnType<Mapping>): Mapping => (old) => {
  const { operation, resource } = old.parameters
  if (resource !== "sheet" && !ParameterRules.isExpression(resource) || typeof operation !== "string") return carry(old)
  const options = obj(old.own["options"] ?? {})
  return options === undefined || ParameterRules.isExpression(operation) ? expression : change(operation, options, old)
}

const toColumns = ofSheet((operation, _, old) => {
  if (!writes.has(operation)) return carry(old)
  const { columnToMatchOn, dataMode } = old.parameters
  if (dataMode !== "autoMapInputData") {
    return left(
      "Version 4 maps columns by the sheet's list of columns.",
      "Choose the columns again in the newest version."
    )
  }
  const { columnToMatchOn: _column, dataMode: _mode, fieldsUi: _fields, valueToMatchOn: _value, ...own } = old.own
  const matchingColumns = operation === "append" ? [] : [columnToMatchOn]
  return carry({ ...old, own }, {
    columns: { mappingMode: "autoMapInputData", value: {}, matchingColumns, schema: [] }
  })
})

/** Up to 4.0 values were written as they are. */
const toCellFormat = ofSheet((operation, options, old) =>
  writes.has(operation) && options["cellFormat"] === undefined
    ? carry(old, { options: { ...options, cellFormat: "RAW" } })
    : carry(old)
)

/** Up to 4.1 a sheet was read once, whatever the number of items. */
const toReadings = ofSheet((operation, _, old) => {
  if (operation !== "read") return carry(old)
  const filters = filtersOf(old)
  if (filters !== undefined && (!Array.isArray(filters) || JSON.stringify(filters).includes("\"="))) {
    return left(
      "Up to 4.1 all items' filters were combined into one reading; from 4.2 on each item reads for itself.",
      "Decide whether each item is to read for itself, then set the newest typeVersion."
    )
  }
  return carry(old, {}, old.next.name.endsWith("Tool") ? {} : { keys: { executeOnce: true } })
})

const toListedColumns = ofSheet((operation, _, old) => {
  if (operation !== "append" && operation !== "appendOrUpdate") return carry(old)
  const columns = obj(old.own["columns"])
  if (columns?.["mappingMode"] !== "autoMapInputData") {
    return left(
      "From 4.4 on a sheet that lacks one of the listed columns fails instead of losing its values.",
      "Refresh the list of columns, then set the newest typeVersion."
    )
  }
  return operation === "append" ? carry(old) : carry(old, { columns: { ...columns, schema: [] } })
})

/** Before 4.5 the first match was returned, unless all were asked for. */
const toMatches = ofSheet((operation, { returnAllMatches, ...options }, old) => {
  if (operation !== "read") return carry(old)
  if (ParameterRules.isExpression(returnAllMatches)) return expression
  const returnsFirst = returnAllMatches !== "returnAllMatches" && filtersOf(old) !== undefined
  return carry({ ...old, own: { ...old.own, options } }, {
    options: returnsFirst ? { ...options, returnFirstMatch: true } : options
  })
})

/**
 * From 4.6 on an update without its row number fails here; before, Google refused it (a range such as `Sheet1!B`), and
 * a filter that wants one match finds the first of any filter, no more the first of each.
 */
const toFirstMatch = ofSheet((operation, { returnFirstMatch = false }, old) => {
  const filters = filtersOf(old)
  const isSame = operation !== "read" || returnFirstMatch === false || old.parameters["combineFilters"] === "AND" ||
    filters === undefined || Array.isArray(filters) && filters.length < 2
  return isSame ? carry(old) : left(
    "From 4.6 on the first match of any filter is returned, not the first of each.",
    "Decide which rows are wanted, then set the newest typeVersion."
  )
})

const literal = ({ parameters }: Old) => {
  const query = str(parameters["query"])
  return query === undefined || query.startsWith("=") || query.includes("{{") ? undefined : query
}

const isSilent = (query: string | undefined) =>
  query !== undefined && !/['"$]|--|\/\*|\breturning\b/i.test(query) &&
  query.split(";").map((each) => each.trim()).every((each) =>
    each === "" || /^(?:insert|update|delete|create|drop|alter|truncate|grant|revoke|comment)\s/i.test(each)
  )

const toDateTexts: Mapping = (old) => {
  const { operation } = old.parameters
  return operation === "deleteTable" || operation === "executeQuery" && isSilent(literal(old)) ? carry(old) : left(
    "From 2.7 on dates are returned as \"2026-01-31\", before as \"2026-01-31T00:00:00.000Z\".",
    "Check what reads the dates that this node returns, then set typeVersion 2.7."
  )
}

/** Whether the placeholders of a query are $1, $2 …, each once and outside of quotes, and each has a value. */
const isPlain = (query: string, replacements: unknown) => {
  const used = [...query.matchAll(/\$(\d+)(:name)?/g)].map(([, digits, name]) => name === undefined ? digits : "0")
  const text = str(replacements)?.replace(/\{\{.*?\}\}/gs, "x") ?? ""
  const values = text.split(",").length
  return used.length === 0 || !/['"]/.test(query) && used.length < 10 && values >= used.length &&
      used.every((digits, index) => Number(digits) === index + 1) &&
      (values > 1 || text !== "" && !text.startsWith("="))
}

const toReplacements: Mapping = (old) => {
  if (old.parameters["operation"] !== "executeQuery") return carry(old)
  const query = literal(old)
  return query !== undefined && isPlain(query, obj(old.own["options"])?.["queryReplacement"]) ? carry(old) : left(
    "From 2.5 on $1, $2 … in quotes or without a value are not replaced.",
    "Check that each of them is outside of quotes and has a value, then set typeVersion 2.5."
  )
}

const code: { readonly [type: string]: { readonly [to: string]: Mapping } } = {
  "n8n-nodes-base.googleSheets": {
    4: toColumns,
    4.1: toCellFormat,
    4.2: toReadings,
    4.4: toListedColumns,
    4.5: toMatches,
    4.6: toFirstMatch
  },
  "n8n-nodes-base.postgres": { 2.7: toDateTexts },
  "n8n-nodes-base.mySql": { 2.5: toReplacements }
}

export const steps: Steps = ofData(data as { readonly [type: string]: ReadonlyArray<StepData> }, code)

export const successors: Successors = {}
