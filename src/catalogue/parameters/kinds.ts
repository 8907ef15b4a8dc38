/** Checks of single values that n8n accepts although they are not available choices or cannot be right. */
import * as Predicate from "effect/Predicate"
import { deeper, type Obj, obj } from "../../base/Json.ts"
import { type Choice, choices, groups, type Property } from "../types/NodeType.ts"
import { inWords, type Remark, type Suggest } from "./issues.ts"
import { isMultiple } from "./ParameterDefaults.ts"
import { isExpression, isShown, type Scope, text } from "./ParameterDisplay.ts"

export type Remarks = ReadonlyArray<Remark>

export const none: Remarks = []

const remark = (severity: Remark["severity"]) => (path: string, message: string, fix: string): Remarks => [
  { severity, path, message, fix }
]

export const warning = remark("warning")

export const error = remark("error")

/** Resource and operation that n8n offers for every node with credentials and resources. */
const customApiCall = "__CUSTOM_API_CALL__"

/** Available choices; `undefined` if other values are valid too. */
const choosable = (property: Property, scope: Scope): ReadonlyArray<Choice["value"]> | undefined => {
  const { allowArbitraryValues, typeOptions } = property
  const all = choices(property)
  const isOpen = allowArbitraryValues === true || all.length === 0 || typeOptions?.["loadOptions"] !== undefined ||
    typeOptions?.["loadOptionsMethod"] !== undefined
  return isOpen ? undefined : all.filter((one) => isShown(one.displayOptions, scope)).map(({ value }) => value)
}

export const choice = (property: Property, value: unknown, path: string, scope: Scope, suggest: Suggest): Remarks => {
  const all = choosable(property, scope)
  if (all === undefined || all.some((one) => one === value) || value === customApiCall) return none
  const same = all.find((one) => String(one) === text(value))
  const fix = same === undefined
    ? suggest(Predicate.isObjectOrArray(value) ? "" : text(value).slice(0, 100), all.map(String))
    : `Give ${JSON.stringify(same)}, a ${typeof same}.`
  const stripped = Predicate.isString(value) && value.startsWith("{{") ? " n8n evaluates no expression here." : ""
  const message = `'${property.name}' is ${inWords(value)}, which is not one of its options.${stripped}`
  return error(path, message, fix)
}

export const locator = ({ modes = [], name }: Property, value: unknown, path: string, suggest: Suggest): Remarks => {
  const shape = "{__rl: true, mode, value}"
  const object = obj(value)
  if (object === undefined) {
    const isPlain = Predicate.isString(value) || Predicate.isNumber(value)
    return isPlain ? none : warning(path, `'${name}' is ${inWords(value)}.`, `Give ${shape}.`)
  }
  if (!("value" in object && "mode" in object)) {
    return warning(path, `'${name}' lacks ${"value" in object ? "'mode'" : "'value'"}.`, `Give ${shape}.`)
  }
  const names = modes.map((mode) => mode.name)
  const isMode = object["mode"] === "" || names.some((mode) => mode === object["mode"])
  if (names.length > 0 && !isMode) {
    return warning(deeper(path, "mode"), `'${name}' has no mode ${inWords(object["mode"])}.`, suggest("", names))
  }
  return object["__rl"] === true ? none : warning(path, `'${name}' lacks '__rl'.`, `Set '__rl' to true: ${shape}.`)
}

export const mapper = ({ name }: Property, value: Obj, path: string): Remarks =>
  value["mappingMode"] !== "autoMapInputData" && "schema" in value && !Array.isArray(value["schema"])
    ? error(
      deeper(path, "schema"),
      `'schema' of '${name}' is ${inWords(value["schema"])}: n8n fails on it.`,
      "Give an array."
    )
    : none

const objectTypes = new Set(["collection", "fixedCollection", "filter", "assignmentCollection", "resourceMapper"])
const textTypes = new Set(["string", "dateTime", "color"])

const shapes: Record<string, string> = {
  assignmentCollection: "{assignments: [{id, name, type, value}]}",
  filter: "{combinator: 'and' | 'or', conditions: [{leftValue, rightValue, operator: {type, operation}}]}",
  resourceMapper: "{mappingMode: 'defineBelow' | 'autoMapInputData', value: {…}, schema: […]}"
}

const example = (property: Property): string => {
  const { name, type } = property
  if (type === "collection") {
    return isMultiple(property)
      ? `an array of objects for '${name}'`
      : `an object for '${name}'`
  }
  const [group] = groups(property)
  return type === "fixedCollection" && group !== undefined
    ? `{${group.name}: ${isMultiple(property) ? "[{…}]" : "{…}"}} for '${name}'`
    : `${shapes[type] ?? "an object"} for '${name}'`
}

/** Whether the kind of value fits the type, apart from inner parameters. */
export const ofKind = (property: Property, value: unknown): string | undefined => {
  const { type } = property
  if (objectTypes.has(type)) {
    const isList = type === "collection" && isMultiple(property)
    return (isList ? Array.isArray(value) : obj(value) !== undefined) ? undefined : `Give ${example(property)}.`
  }
  if (isExpression(value)) return undefined
  if (isMultiple(property) && type !== "options") return Array.isArray(value) ? undefined : "Give an array."
  if (type === "multiOptions") return Array.isArray(value) ? undefined : "Give an array of values."
  if (type === "boolean") return Predicate.isBoolean(value) ? undefined : "Give true or false, or an expression."
  if (type === "number") {
    const isNumber = Predicate.isNumber(value) ||
      (Predicate.isString(value) && value !== "" && !Number.isNaN(Number(value)))
    return isNumber ? undefined : "Give a number, or an expression that begins with '='."
  }
  return textTypes.has(type) && Predicate.isObjectOrArray(value) ? "Give a string." : undefined
}
