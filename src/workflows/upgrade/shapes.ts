/** Further nodes that shape data: Item Lists, HTML, Summarize, Execution Data, Remove Duplicates. */
import * as Result from "effect/Result"
import type { Parse } from "../../base/JavaScript.ts"
import { arr, type Obj, obj, str } from "../../base/Json.ts"
import { carry, left, type Mapping, type New, type Outcome } from "./mapping.ts"
import { operand } from "./operands.ts"

const base = "n8n-nodes-base."
const done = (parameters: Obj): Outcome => Result.succeed<New>({ parameters })

const extractsText = (parameters: Obj) =>
  arr(obj(parameters["extractionValues"])?.["values"])
    .some((each) => !["attribute", "html", "value"].includes(str(obj(each)?.["returnValue"]) ?? "text"))

const plainText = (type: string) =>
  left(
    `${type} gives an element's text as it is; the new version lays it out like a browser, or leaves it out if it is empty.`,
    "Compare both texts on a real page, then set the new version by an update."
  )

export const html: Mapping = (old) =>
  old.parameters["operation"] === "extractHtmlContent" && extractsText(old.parameters)
    ? plainText("Version 1")
    : carry(old)

export const htmlExtract: Mapping = ({ own, parameters }) => {
  const { options, ...rest } = own
  return extractsText(parameters)
    ? plainText("HTML Extract")
    : done({ operation: "extractHtmlContent", ...rest, options: { trimValues: true, ...obj(options) } })
}

export const summarize: Mapping = (old) => {
  const { continueIfFieldNotFound: _, ...options } = obj(old.own["options"]) ?? {}
  return (str(old.parameters["fieldsToSplitBy"]) ?? "x").trim() === ""
    ? done({ ...old.own, options })
    : left(
      "Version 1 groups by the text of the fields, and returns them as text; version 1.1 keeps their types.",
      "Check that no later node needs text there, then set typeVersion 1.1 by an update."
    )
}

/** Value that is stored as `0` too, which the new version takes for nothing. */
const stored = (value: unknown, parse: Parse): unknown => {
  const { code, isLiteral, kind } = operand(value, parse)
  return value === 0
    ? "0"
    : isLiteral || kind === "string" || kind === "boolean"
    ? value
    : code && `={{ ${code} === 0 ? "0" : ${code} }}`
}

export const executionData: Mapping = ({ lookups, own, parameters }) => {
  const values = arr(obj(parameters["dataToSave"])?.["values"]).map((each) => obj(each) ?? {})
  const next = values.map((each) => ({ ...each, value: stored(each["value"], lookups.parse) }))
  return next.some(({ value }, index) => value === undefined && values[index]?.["value"] !== undefined)
    ? left("A value has code that cannot be read.", "Write it for the new version by hand.")
    : done(values.length === 0 ? own : { ...own, dataToSave: { ...obj(own["dataToSave"]), values: next } })
}

const newer: { readonly [operation: string]: string } = {
  splitOutItems: "splitOut",
  concatenateItems: "aggregate",
  aggregateItems: "aggregate",
  limit: "limit",
  removeDuplicates: "removeDuplicates",
  sort: "sort",
  summarize: "summarize"
}

/** Names of fields, which the first versions take one by one, as text. */
const names = (fields: unknown, key = "fields"): string | undefined => {
  const all = arr(obj(fields)?.[key]).map((each) => str(obj(each)?.["fieldName"]) ?? "")
  return all.some((name) => name.includes(",") || name.startsWith("=")) ? undefined : all.join(", ")
}

export const itemLists: Mapping = ({ own, parameters, version }) => {
  const operation = str(parameters["operation"]) ?? "splitOutItems"
  const type = Object.hasOwn(newer, operation) ? newer[operation] : undefined
  const { operation: _, resource: __, ...rest } = own
  const byHand = (why: string) => left(why, "Set up the node that replaces it by hand.")
  if (type === undefined) return byHand(`Its operation '${operation}' is not known.`)
  if (
    type === "summarize" && (str(parameters["fieldsToSplitBy"]) ?? "").trim() !== "" ||
    type === "aggregate" && version < 3
  ) {
    return byHand(
      type === "summarize" ? "It groups by the text of fields." : "The first versions aggregate fields in another way."
    )
  }
  const next: Record<string, unknown> = { ...rest }
  if (version < 3) {
    for (const key of ["fieldsToInclude", "fieldsToExclude", "fieldsToCompare"]) {
      if (next[key] === undefined) continue
      const joined = typeof next[key] === "string" ? next[key] : names(next[key])
      if (joined === undefined) return byHand(`Names in '${key}' are expressions or contain commas.`)
      next[key] = joined
    }
  }
  const { continueIfFieldNotFound: ___, ...options } = obj(next["options"]) ?? {}
  return Result.succeed<New>({
    type: `${base}${type}`,
    parameters: type === "summarize" ? { ...next, options } : next
  })
}
export const itemListTypes = [...new Set(Object.values(newer))].map((name) => `${base}${name}`)
