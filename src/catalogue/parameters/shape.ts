/** Shapes of values: a list where n8n reads an object, text where it reads a list, and the value that was meant. */
import * as Predicate from "effect/Predicate"
import { arr, type Obj, obj, str } from "../../base/Json.ts"
import { choices, groups, type Property } from "../types/NodeType.ts"
import { inWords, type Remark } from "./issues.ts"
import { isExpression, isMultiple } from "./ParameterValues.ts"

/** Value that n8n reads otherwise than it was meant, or fails on. */
export interface Fault extends Pick<Remark, "severity" | "message" | "fix"> {
  /** Place below the parameter. */
  readonly at: ReadonlyArray<string | number>
  readonly shape: NonNullable<Remark["shape"]>
}

const parsed = (value: unknown): unknown => {
  if (!Predicate.isString(value) || !/^\s*[[{]/.test(value)) return undefined
  try {
    return JSON.parse(value)
  } catch {
    return undefined
  }
}

/** The list that was meant: an object with the keys 0, 1, … or one object for a list of it, or either as JSON. */
const listOf = (input: unknown): ReadonlyArray<unknown> | undefined => {
  const value = parsed(input) ?? input
  const object = obj(value)
  if (object === undefined) return Array.isArray(value) ? value : value === null ? [] : undefined
  const keys = Object.keys(object)
  return keys.every((key, index) => key === String(index)) ? Object.values(object) : [object]
}

/** The object that was meant: the only one of a list, or either as JSON. */
const objectOf = (input: unknown): Obj | undefined => {
  const value = parsed(input) ?? input
  if (!Array.isArray(value)) return obj(value)
  return value.length === 0 ? {} : value.length === 1 ? obj(value[0]) : undefined
}

const namesOf = (properties: ReadonlyArray<Property>): ReadonlySet<string> =>
  new Set(properties.map(({ name }) => name))

/** Whether a value is an object with these keys only, and not empty. */
const hasOnly = (value: unknown, names: ReadonlySet<string>): value is Obj => {
  const keys = Object.keys(obj(value) ?? {})
  return keys.length > 0 && keys.every((key) => names.has(key))
}

/** Whether a value contains nothing but empty objects and lists. */
const isEmpty = (value: unknown, depth = 3): boolean =>
  Predicate.isObjectOrArray(value)
    ? depth > 0 && Object.values(value).every((inner) => isEmpty(inner, depth - 1))
    : Predicate.isNullish(value) || value === ""

const fault = (at: Fault["at"], severity: Remark["severity"], message: string, fix: string, repaired?: unknown) => [
  { at, severity, message, fix, shape: repaired === undefined ? {} : { repaired } }
]

export const fields = (properties: ReadonlyArray<Property>): string => [...namesOf(properties)].slice(0, 8).join(", ")

const shapes: Record<string, string> = {
  assignmentCollection: "{assignments: [{id, name, type, value}]}",
  filter: "{combinator: 'and' | 'or', conditions: [{leftValue, rightValue, operator: {type, operation}}]}",
  resourceMapper: "{mappingMode: 'defineBelow' | 'autoMapInputData', value: {…}, schema: […]}"
}

const example = (property: Property): string => {
  const { name, type } = property
  if (type === "collection") return `an ${isMultiple(property) ? "array of objects" : "object"} for '${name}'`
  const [group] = groups(property)
  return type === "fixedCollection" && group !== undefined
    ? `{${group.name}: ${isMultiple(property) ? "[{…}]" : "{…}"}} for '${name}'`
    : `${shapes[type] ?? "an object"} for '${name}'`
}

/** Types whose value is an object, by the key of the list in it. */
const holders: Readonly<Record<string, string>> = { assignmentCollection: "assignments", filter: "conditions" }

/** Whether an item belongs in the list of such a value. */
const isItem: Readonly<Record<string, (value: unknown) => boolean>> = {
  assignmentCollection: (value) => obj(value) !== undefined && "name" in (value as Obj),
  filter: (value) => obj(value) !== undefined && "operator" in (value as Obj)
}

/** Whether a value is an object of these parameters, and none is misshapen. */
const fits = (value: unknown, properties: ReadonlyArray<Property>): boolean => {
  const byName = Map.groupBy(properties, ({ name }) => name)
  return hasOnly(value, new Set(byName.keys())) &&
    Object.entries(value).every(([name, inner]) =>
      byName.get(name)?.some((property) => faults(property, inner).length === 0) === true
    )
}

/** Items of a list of names and values, written as an object with the names as keys. */
const pairs = (property: Property, value: Obj): Obj | undefined => {
  const [group, other] = groups(property)
  const names = namesOf(group?.values ?? [])
  const isPairs = isMultiple(property) && other === undefined && names.size === 2 && names.has("name") &&
    names.has("value") && Object.values(value).every((inner) => !Predicate.isObjectOrArray(inner))
  return group !== undefined && isPairs
    ? { [group.name]: Object.entries(value).map(([name, value]) => ({ name, value })) }
    : undefined
}

/** The value in the holder that was left out: `[…]` for `{values: […]}`. */
const held = (property: Property, value: unknown): Obj | undefined => {
  const { type } = property
  const [group, other] = groups(property)
  const key = holders[type] ?? group?.name
  const list = listOf(value)
  if (list === undefined || list.length === 0 || key === undefined || other !== undefined) return undefined
  if (!list.every((item) => isItem[type]?.(item) ?? fits(item, group?.values ?? []))) return undefined
  if (holders[type] !== undefined || isMultiple(property)) return { [key]: list }
  return list.length === 1 ? { [key]: list[0] } : undefined
}

const ofAssignments = ({ name }: Property, value: Obj): ReadonlyArray<Fault> => {
  const { assignments } = value
  if (Predicate.isNullish(assignments) || isExpression(assignments)) return []
  if (!Array.isArray(assignments)) {
    const list = listOf(assignments)
    const fix = list === undefined ? "Give an array of {id, name, type, value}." : "Put the object in an array."
    return fault(
      ["assignments"],
      "error",
      `'${name}' is ${inWords(assignments)}: n8n fails without an array.`,
      fix,
      list
    )
  }
  return assignments.flatMap((item, index) => {
    const at = ["assignments", index]
    const object = obj(item)
    if (object === undefined) {
      const message = `An item of '${name}' is ${inWords(item)}, which n8n cannot read.`
      return fault(at, "error", message, "Give {id, name, type, value}.", objectOf(item))
    }
    if (Predicate.isString(object["type"])) return []
    const { value } = object
    const type = Array.isArray(value) ? "array" : value === null ? "undefined" : typeof value
    const isKnown = Predicate.isNullish(object["type"]) && !isExpression(value) && type !== "undefined"
    return fault(
      [...at, "type"],
      "error",
      `An item of '${name}' has no type: n8n fails on it.`,
      isKnown ? `Set type to '${type}'.` : "Set type to 'string', 'number', 'boolean', 'array' or 'object'.",
      isKnown ? type : undefined
    )
  })
}

const ofFilter = (_: Property, { conditions }: Obj): ReadonlyArray<Fault> => {
  const item = "{leftValue, rightValue, operator: {type, operation}}"
  if (!Array.isArray(conditions)) {
    const message = `'conditions' of the filter is ${inWords(conditions)}: n8n fails without an array.`
    return fault(["conditions"], "error", message, `Give an array of ${item}.`, conditions && listOf(conditions))
  }
  return conditions.flatMap((condition, index) => {
    if (obj(condition) !== undefined) return []
    const message = `A condition is ${inWords(condition)}: n8n fails on it.`
    return fault(["conditions", index], "error", message, `Give ${item}.`, objectOf(condition))
  })
}

const ofMapper = ({ name }: Property, value: Obj): ReadonlyArray<Fault> => {
  const { mappingMode, schema } = value
  if (mappingMode === "autoMapInputData" || !("schema" in value) || Array.isArray(schema)) return []
  const message = `'schema' of '${name}' is ${inWords(schema)}: n8n fails on it.`
  return fault(["schema"], "error", message, "Give an array.", listOf(schema))
}

const ofGroups = (property: Property, value: Obj): ReadonlyArray<Fault> => {
  const all = groups(property)
  const names = new Set(all.map(({ name }) => name))
  const keys = Object.keys(value)
  const [group] = all
  if (group !== undefined && !isEmpty(value) && keys.every((key) => !names.has(key))) {
    // The group's fields without the group, the group under another name, or names with their values.
    const wrapped = held(property, value) ?? (keys.length === 1 ? held(property, value[keys[0] ?? ""]) : undefined) ??
      pairs(property, value)
    const at = keys.length === 1 ? keys : []
    const quoted = keys.slice(0, 5).map((key) => `'${key.slice(0, 60)}'`).join(", ")
    const message = `'${property.name}' holds no ${quoted}: n8n drops ${keys.length === 1 ? "it" : "them"}` +
      (isMultiple(property) ? ", and n8n 1 does not publish the workflow." : ".")
    return fault(
      wrapped === undefined ? at : [],
      // n8n drops an option that it does not know, and runs.
      isMultiple(property) ? "error" : "warning",
      message,
      `It holds '${[...names].slice(0, 5).join("', '")}': give ${example(property)} with ${fields(group.values)}.`,
      wrapped
    )
  }
  return all.flatMap(({ name: key, values }) => {
    const inner = value[key]
    const [only, more] = namesOf(values)
    const itemOf = (item: unknown) =>
      objectOf(item) ??
        (only !== undefined && more === undefined && !Predicate.isObjectOrArray(item) ? { [only]: item } : undefined)
    const item = (one: unknown, at: Fault["at"]) =>
      obj(one) !== undefined ? [] : fault(
        at,
        "error",
        `'${key}' holds ${inWords(one)} where an object belongs.`,
        `Give an object with ${fields(values)}.`,
        Predicate.isNullish(one) ? {} : itemOf(one)
      )
    if (!Object.hasOwn(value, key)) return []
    if (!isMultiple(property)) return item(inner, [key])
    if (Array.isArray(inner)) return inner.flatMap((one, index) => item(one, [key, index]))
    const list = listOf(inner)
    return [{
      at: [key],
      severity: "error" as const,
      message: `'${property.name}.${key}' is ${inWords(inner)} where n8n reads an array: it ${
        Predicate.isString(inner) ? "takes each character for an item" : "cannot open the node"
      }.`,
      fix: obj(inner) === undefined
        ? `Give an array of objects with ${fields(values)}.`
        : "Put the object in an array.",
      shape: list === undefined ? { isUnreadable: true } : { repaired: list }
    }]
  })
}

const inside: Readonly<Record<string, (property: Property, value: Obj) => ReadonlyArray<Fault>>> = {
  assignmentCollection: ofAssignments,
  filter: ofFilter,
  fixedCollection: ofGroups,
  resourceMapper: ofMapper
}

const textTypes = new Set(["string", "dateTime", "color"])

/** Single value, or several in a text, for a parameter that takes a list. */
const listed = (property: Property, value: unknown): ReadonlyArray<unknown> | undefined => {
  const all = choices(property).map((choice) => choice.value)
  const isChoice = (one: unknown) => all.length === 0 || all.includes(one as string)
  const list = Predicate.isObjectOrArray(parsed(value) ?? value)
    ? listOf(value)
    : Predicate.isString(value) && value.includes(",")
    ? all.length > 0 ? value.split(",").map((one) => one.trim()) : undefined
    : value === ""
    ? []
    : [value]
  return list?.every((one) => !Predicate.isObjectOrArray(one) && isChoice(one)) ? list : undefined
}

/** Faults of the shape of a parameter's value. */
export const faults = (property: Property, value: unknown): ReadonlyArray<Fault> => {
  const { name, type } = property
  const wrong = (severity: Remark["severity"], fix: string, repaired?: unknown) =>
    fault([], severity, `'${name}' is ${inWords(value)}; its type is ${type}.`, fix, repaired)
  if (type === "collection") {
    const isRight = isMultiple(property) ? Array.isArray(value) : obj(value) !== undefined
    if (!isRight) {
      return wrong("warning", `Give ${example(property)}.`, isMultiple(property) ? listOf(value) : objectOf(value))
    }
    return arr(value).flatMap((item, index) =>
      obj(item) !== undefined
        ? []
        : fault([index], "warning", `An item of '${name}' is ${inWords(item)}.`, "Give an object.", objectOf(item))
    )
  }
  if (inside[type] !== undefined) {
    const whole = obj(value)
    if (whole !== undefined && !isItem[type]?.(value)) return inside[type](property, whole)
    if (type !== "fixedCollection" && isExpression(value)) return []
    const names = new Set([holders[type] ?? "mappingMode", ...groups(property).map((group) => group.name)])
    const single = objectOf(value)
    const isSingle = Object.keys(single ?? {}).some((key) => names.has(key)) ||
      Object.keys(single ?? { "": 0 }).length === 0
    const object = held(property, value) ?? (isSingle ? single : undefined)
    return wrong(type === "resourceMapper" ? "warning" : "error", `Give ${example(property)}.`, object)
  }
  if (isExpression(value)) return []
  if (isMultiple(property) && type !== "options" || type === "multiOptions") {
    const what = type === "multiOptions" ? "an array of values" : "an array"
    return Array.isArray(value) ? [] : wrong("warning", `Give ${what}.`, listed(property, value))
  }
  const [only, more] = Array.isArray(value) ? value : []
  const single = more === undefined && !Predicate.isObjectOrArray(only) ? only : undefined
  if (type === "options" && single !== undefined) return wrong("error", `Give ${JSON.stringify(single)}.`, single)
  return textTypes.has(type) && Predicate.isObjectOrArray(value) ? wrong("warning", "Give a string.", str(single)) : []
}
