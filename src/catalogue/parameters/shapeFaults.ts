/** Shapes of values: a list where n8n reads an object, text where it reads a list, and the value that was meant. */
import * as Predicate from "effect/Predicate"
import { arr, type Obj, obj, str } from "../../base/Json.ts"
import * as Rows from "../../base/Rows.ts"
import { choices, groups, type Property } from "../types/NodeType.ts"
import { inWords, type Remark } from "./issues.ts"
import { isExpression, isMultiple } from "./ParameterValues.ts"

/** Value that n8n reads otherwise than it was meant, or fails on. */
export interface Fault extends Pick<Remark, "severity" | "message" | "fix"> {
  /** Place below the parameter. */
  readonly at: ReadonlyArray<string | number>
  readonly shape: NonNullable<Remark["shape"]>
}

type Faults = ReadonlyArray<Fault>

const fault = (
  at: Fault["at"],
  severity: Remark["severity"],
  message: string,
  fix: string,
  repaired?: unknown
): Faults => [
  { at, severity, message, fix, shape: repaired === undefined ? {} : { repaired } }
]

const parsed = (value: unknown): unknown => {
  if (!Predicate.isString(value) || !/^\s*[[{]/.test(value)) return value
  try {
    return JSON.parse(value)
  } catch {
    return value
  }
}

/** The list that was meant: an object with the keys 0, 1, … or one object for a list of it, or either as JSON. */
const listOf = (input: unknown): ReadonlyArray<unknown> | undefined => {
  const value = parsed(input)
  const object = obj(value)
  if (object === undefined) return Array.isArray(value) ? value : value === null ? [] : undefined
  return Object.keys(object).every((key, index) => key === String(index)) ? Object.values(object) : [object]
}

/** The object that was meant: the only one of a list, or either as JSON. */
const objectOf = (input: unknown): Obj | undefined => {
  const value = parsed(input)
  return Array.isArray(value) ? obj(value.length === 0 ? {} : value.length === 1 ? value[0] : undefined) : obj(value)
}

/** Whether a value contains nothing but empty objects and lists. */
const isEmpty = (value: unknown, depth = 3): boolean =>
  Predicate.isObjectOrArray(value)
    ? depth > 0 && Object.values(value).every((inner) => isEmpty(inner, depth - 1))
    : Predicate.isNullish(value) || value === ""

/** Part of an object that holds the value's content: a list of items, or one. */
interface Holder {
  readonly key: string
  readonly fields: ReadonlyArray<string>
  readonly isItem: (item: unknown) => boolean
}

const has = (key: string) => (item: unknown) => Predicate.hasProperty(item, key)

/** Whether a value is an object of these parameters, and none is misshapen. */
const fits = (properties: ReadonlyArray<Property>) => (value: unknown): boolean => {
  const entries = Object.entries(obj(value) ?? {})
  return entries.length > 0 &&
    entries.every(([key, inner]) =>
      properties.some((property) => property.name === key && faults(property, inner).length === 0)
    )
}

const holdersOf = (property: Property): ReadonlyArray<Holder> | undefined => {
  switch (property.type) {
    case "assignmentCollection":
      return [{ key: "assignments", fields: ["id", "name", "type", "value"], isItem: has("name") }]
    case "filter":
      return [{
        key: "conditions",
        fields: ["leftValue", "rightValue", "operator: {type, operation}"],
        isItem: has("operator")
      }]
    case "resourceMapper":
      return [{ key: "schema", fields: ["id", "type"], isItem: () => false }]
    case "fixedCollection":
      return groups(property).map(({ name, values }) => ({
        key: name,
        fields: [...new Set(values.map((each) => each.name))].slice(0, 8),
        isItem: fits(values)
      }))
  }
  return undefined
}

const example = (property: Property, [first]: ReadonlyArray<Holder> = []): string =>
  property.type === "resourceMapper"
    ? "{mappingMode: 'defineBelow' | 'autoMapInputData', value: {…}, schema: […]}"
    : first === undefined
    ? isMultiple(property) ? "an array of objects" : "an object"
    : property.type === "fixedCollection"
    ? `{${first.key}: ${isMultiple(property) ? "[{…}]" : "{…}"}}`
    : `{${first.key}: [{${first.fields.join(", ")}}]}`

/** Items of which the names and values are an object: `{total: 5}` for `[{name: "total", value: 5}]`. */
const pairsOf = (value: unknown, { fields }: Holder): ReadonlyArray<Obj> | undefined => {
  const pairs = Object.entries(obj(value) ?? {})
  const isNamed = fields.includes("name") && fields.includes("value")
  const isItem = pairs.some(([key]) => key !== "id" && key !== "type" && fields.includes(key))
  // An object without keys has no pairs either.
  if (!isNamed || isItem || pairs.every(([key], index) => key === String(index))) return undefined
  const isTyped = fields.includes("type")
  if (!isTyped && (fields.length > 2 || pairs.some(([, inner]) => Predicate.isObjectOrArray(inner)))) return undefined
  return pairs.map(([name, inner]) => {
    const type = typeOfValue(inner)
    return { name, value: inner, ...isTyped && type !== undefined ? { type } : {} }
  })
}

/** Type of an assignment, where its value tells it. */
const typeOfValue = (value: unknown): string | undefined =>
  Predicate.isNullish(value) || isExpression(value) ? undefined : Array.isArray(value) ? "array" : typeof value

/** The object whose holder was left out: `{values: […]}` of `[…]`, or of names with their values. */
const held = (value: unknown, isList: boolean, [holder, other]: ReadonlyArray<Holder>): Obj | undefined => {
  if (holder === undefined || other !== undefined) return undefined
  const { isItem, key } = holder
  const list = listOf(value) ?? []
  if (list.length > 0 && list.every(isItem) && (isList || list.length === 1)) return { [key]: isList ? list : list[0] }
  const pairs = isList ? pairsOf(value, holder) : undefined
  return pairs && { [key]: pairs }
}

const ofItem = (property: Property, { fields, key }: Holder, item: unknown, at: Fault["at"]): Faults => {
  const object = obj(item)
  const isAssignment = property.type === "assignmentCollection"
  if (object === undefined) {
    const [only, more] = fields
    const single = only !== undefined && more === undefined && !Predicate.isObjectOrArray(item)
    const message = `'${key}' holds ${inWords(item)} where an object belongs.`
    const isNothing = item === null && property.type === "fixedCollection"
    const repaired = objectOf(item) ?? (isNothing ? {} : single ? { [only]: item } : undefined)
    return fault(at, "error", message, `Give an object with ${fields.join(", ")}.`, repaired)
  }
  if (!isAssignment) return []
  const type = typeOfValue(object["value"])
  return [
    ...Predicate.isString(object["name"]) ? [] : fault(
      [...at, "name"],
      "error",
      `An item of '${property.name}' has no name: n8n calls the field 'undefined'.`,
      "Set name to the name of the field."
    ),
    ...Predicate.isString(object["type"]) ? [] : fault(
      [...at, "type"],
      "error",
      `An item of '${property.name}' has no type: n8n fails on it.`,
      type === undefined
        ? "Set type to 'string', 'number', 'boolean', 'array' or 'object'."
        : `Set type to '${type}'.`,
      object["type"] === undefined ? type : undefined
    )
  ]
}

const ofHolder = (property: Property, holder: Holder, value: Obj, isList: boolean): Faults => {
  const { name, type } = property
  const { fields, key } = holder
  const inner = value[key]
  const isGroup = type === "fixedCollection"
  if (!Object.hasOwn(value, key) && type !== "filter") return []
  // n8n evaluates an expression of assignments, and reads no schema where it maps by name.
  if (type === "assignmentCollection" && (Predicate.isNullish(inner) || isExpression(inner))) return []
  if (type === "resourceMapper" && (Array.isArray(inner) || value["mappingMode"] === "autoMapInputData")) return []
  if (!isList) return ofItem(property, holder, inner, [key])
  if (Array.isArray(inner)) return inner.flatMap((item, index) => ofItem(property, holder, item, [key, index]))
  const list = inner === undefined ? undefined : pairsOf(inner, holder) ?? listOf(inner)
  const effect = !isGroup
    ? "n8n fails"
    : Predicate.isString(inner)
    ? "it takes each character for an item"
    : "it cannot open the node"
  const message = `'${name}.${key}' is ${inWords(inner)} where n8n reads an array: ${effect}.`
  const fix = obj(inner) === undefined ? `Give an array of {${fields.join(", ")}}.` : "Put the object in an array."
  const [one] = fault([key], "error", message, fix, list)
  return one === undefined ? [] : isGroup && list === undefined ? [{ ...one, shape: { isUnreadable: true } }] : [one]
}

const ofHolders = (property: Property, value: unknown, holders: ReadonlyArray<Holder>): Faults => {
  const { name, type } = property
  const isGroup = type === "fixedCollection"
  const isList = !isGroup || isMultiple(property)
  const keys = Object.keys(obj(value) ?? {})
  const isHeld = (key: string) => holders.some((holder) => holder.key === key)
  const isOther = !isEmpty(value) && !keys.some(isHeld)
  const isBare = isGroup
    ? isOther
    : holders.some(({ isItem }) => isItem(value)) || type === "assignmentCollection" && isOther
  const whole = obj(value)
  if (whole !== undefined && !isBare) return holders.flatMap((holder) => ofHolder(property, holder, whole, isList))
  if (!isGroup && isExpression(value)) return []
  const [only = "", more] = keys
  const wrapped = held(value, isList, holders) ??
    (more === undefined ? held(whole?.[only], isList, holders) : undefined)
  const [first] = holders
  if (isGroup && whole !== undefined && first !== undefined) {
    const message = `'${name}' holds no ${Rows.names(keys, 5)}: n8n drops ${more === undefined ? "it" : "them"}` +
      (isList ? ", and n8n 1 does not publish the workflow." : ".")
    const known = Rows.names(holders.map(({ key }) => key), 5)
    const fix = `It holds ${known}: give ${example(property, holders)} for '${name}' with ${first.fields.join(", ")}.`
    const at = wrapped === undefined && more === undefined ? [only] : []
    // n8n drops an option that it does not know, and runs.
    return fault(at, isList ? "error" : "warning", message, fix, wrapped)
  }
  const single = objectOf(value)
  const isWhole = single !== undefined && (isEmpty(single) || Object.keys(single).some((key) => isHeld(key)))
  const message = `'${name}' is ${inWords(value)}; its type is ${type}.`
  const severity = type === "resourceMapper" ? "warning" : "error"
  const fix = `Give ${example(property, holders)} for '${name}'.`
  return fault([], severity, message, fix, wrapped ?? (isWhole ? single : undefined))
}

/** Single value, or several in a text, for a parameter that takes a list. */
const listed = (property: Property, input: unknown): ReadonlyArray<unknown> | undefined => {
  const all = choices(property).map((choice) => choice.value)
  const value = parsed(input)
  const isText = Predicate.isString(value) && value.includes(",")
  const list = Predicate.isObjectOrArray(value)
    ? listOf(value)
    : isText
    ? all.length > 0 ? value.split(",").map((one) => one.trim()) : undefined
    : value === ""
    ? []
    : [value]
  const isChoice = (one: unknown) =>
    !Predicate.isObjectOrArray(one) && (all.length === 0 || all.some((each) => each === one))
  return list?.every(isChoice) === true ? list : undefined
}

/** Faults of the shape of a parameter's value. */
export const faults = (property: Property, value: unknown): Faults => {
  const { name, type } = property
  const wrong = (fix: string, repaired: unknown, severity: Remark["severity"] = "warning") =>
    fault([], severity, `'${name}' is ${inWords(value)}; its type is ${type}.`, fix, repaired)
  const holders = holdersOf(property)
  if (holders !== undefined) return ofHolders(property, value, holders)
  if (type === "collection") {
    const isList = isMultiple(property)
    if (isList ? !Array.isArray(value) : obj(value) === undefined) {
      return wrong(`Give ${example(property)} for '${name}'.`, isList ? listOf(value) : objectOf(value))
    }
    return arr(value).flatMap((item, index) =>
      obj(item) !== undefined
        ? []
        : fault([index], "warning", `An item of '${name}' is ${inWords(item)}.`, "Give an object.", objectOf(item))
    )
  }
  if (isExpression(value)) return []
  if (isMultiple(property) && type !== "options" || type === "multiOptions") {
    return Array.isArray(value) ? [] : wrong("Give an array of values.", listed(property, value))
  }
  const [only, more] = Array.isArray(value) ? value : []
  const single = more === undefined && !Predicate.isObjectOrArray(only) ? only : undefined
  if (type === "options" && single !== undefined) return wrong(`Give ${JSON.stringify(single)}.`, single, "error")
  const isText = type === "string" || type === "dateTime" || type === "color"
  return isText && Predicate.isObjectOrArray(value) ? wrong("Give a string.", str(single)) : []
}
