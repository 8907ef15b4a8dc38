/** Google Sheets 3 to 4.7. */
import { arr, type Obj, obj, str } from "../../base/Json.ts"
import * as Parameters from "../../catalogue/parameters/Parameters.ts"
import { carry, left, type Mapping, type Old, type Step } from "./mapping.ts"

const writes = new Set(["append", "update", "appendOrUpdate"])

const operationOf = ({ parameters }: Old) =>
  parameters["resource"] === "sheet" || Parameters.isExpression(parameters["resource"])
    ? str(parameters["operation"])
    : undefined

const optionsOf = ({ own }: Old) => obj(own["options"]) ?? (own["options"] === undefined ? {} : undefined)

const filtersOf = ({ parameters }: Old) => obj(parameters["filtersUI"])?.["values"]

/** Filters that find the same for each item: none, or without expressions. */
const areFixed = (filters: unknown) =>
  filters === undefined || Array.isArray(filters) && !JSON.stringify(filters).includes("\"=")

const expression = left(
  "Its operation or options are an expression.",
  "Choose the operation, then set the newest typeVersion."
)

/** Applies to the operations of sheets, if they can be read. */
const of = (change: (operation: string, options: Obj, old: Old) => ReturnType<Mapping>): Mapping => (old) => {
  const [operation, options] = [operationOf(old), optionsOf(old)]
  if (operation === undefined) return carry(old)
  return options === undefined || Parameters.isExpression(operation) ? expression : change(operation, options, old)
}

const auto = (matching: ReadonlyArray<unknown>) => ({
  columns: { mappingMode: "autoMapInputData", value: {}, matchingColumns: matching, schema: [] }
})

const to4 = of((operation, _, old) => {
  if (!writes.has(operation)) return carry(old)
  const { columnToMatchOn, dataMode } = old.parameters
  if (dataMode !== "autoMapInputData") {
    return left(
      "Version 4 maps columns by the sheet's list of columns.",
      "Choose the columns again in the newest version."
    )
  }
  const { columnToMatchOn: _column, dataMode: _mode, fieldsUi: _fields, valueToMatchOn: _value, ...own } = old.own
  return carry({ ...old, own }, auto(operation === "append" ? [] : [columnToMatchOn]))
})

/** Up to 4.0 values were written as they are. */
const to41 = of((operation, options, old) =>
  writes.has(operation) && options["cellFormat"] === undefined
    ? carry(old, { options: { ...options, cellFormat: "RAW" } })
    : carry(old)
)

/** Up to 4.1 a sheet was read once, whatever the number of items. */
const to42 = of((operation, _, old) => {
  if (operation !== "read") return carry(old)
  if (!areFixed(filtersOf(old))) {
    return left(
      "Up to 4.1 all items' filters were combined into one reading; from 4.2 on each item reads for itself.",
      "Decide whether each item is to read for itself, then set the newest typeVersion."
    )
  }
  const outcome = carry(old)
  return outcome._tag === "Failure" || old.next.name.endsWith("Tool")
    ? outcome
    : { ...outcome, success: { ...outcome.success, keys: { executeOnce: true } } } as typeof outcome
})

const to44 = of((operation, _, old) => {
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
const to45 = of((operation, options, old) => {
  const { returnAllMatches, ...others } = options
  if (operation !== "read") return carry(old)
  if (Parameters.isExpression(returnAllMatches)) return expression
  const returnsFirst = returnAllMatches !== "returnAllMatches" && filtersOf(old) !== undefined
  return carry({ ...old, own: { ...old.own, options: others } }, {
    options: returnsFirst ? { ...others, returnFirstMatch: true } : others
  })
})

/**
 * From 4.6 on an update without its row number fails here; before, Google refused it (a range such as `Sheet1!B`), and
 * a filter that wants one match finds the first of any filter, no more the first of each.
 */
const to46 = of((operation, options, old) => {
  const filters = filtersOf(old)
  const isSame = operation !== "read" || [undefined, false].includes(options["returnFirstMatch"] as undefined) ||
    old.parameters["combineFilters"] === "AND" || filters === undefined ||
    Array.isArray(filters) && arr(filters).length < 2
  return isSame ? carry(old) : left(
    "From 4.6 on the first match of any filter is returned, not the first of each.",
    "Decide which rows are wanted, then set the newest typeVersion."
  )
})

export const sheets: ReadonlyArray<Step> = [
  {
    to: 3,
    change: () =>
      left("Version 3 addresses and returns rows differently.", "Create the node again in its newest version.")
  },
  { to: 4, change: to4 },
  { to: 4.1, change: to41 },
  { to: 4.2, change: to42 },
  { to: 4.3 },
  { to: 4.4, change: to44 },
  { to: 4.5, change: to45 },
  { to: 4.6, change: to46 },
  { to: 4.7 }
]
