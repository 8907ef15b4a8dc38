/**
 * What n8n lets pass, and its editor or a reader would not: values that cannot be chosen, names that are not there,
 * values of a kind that cannot be right.
 */
import * as Predicate from "effect/Predicate"
import { arr, type Obj, obj } from "./Json.ts"
import { type Choice, choices, type Description, groups, members, type Property } from "./NodeType.ts"
import { isMultiple, type Node, scopeOf } from "./ParameterDefaults.ts"
import { equals, isExpression, isShown, own, type Scope } from "./ParameterDisplay.ts"
import * as Filter from "./ParameterFilter.ts"
import { deeper, type Found, inWords, isMissing, locators, type Suggest } from "./ParameterIssues.ts"

/** What all remarks on a node are made with. */
interface Making {
  readonly suggest: Suggest
  readonly properties: ReadonlyArray<Property>
  readonly type: string
  readonly isTool: boolean
}

type Remarks = ReadonlyArray<Found>

const none: Remarks = []

const kind = (path: string, message: string, fix: string): Remarks => [{ severity: "warning", path, message, fix }]

const fails = (path: string, message: string, fix: string): Remarks => [{ severity: "error", path, message, fix }]

// ---- what can be chosen

/** n8n offers this as a resource and operation of every node that has them and takes credentials. */
const customApiCall = "__CUSTOM_API_CALL__"

/** The values to choose from; `undefined` where others will do. */
const choosable = (property: Property, scope: Scope): ReadonlyArray<Choice["value"]> | undefined => {
  const { allowArbitraryValues, typeOptions } = property
  const all = choices(property)
  const isOpen = allowArbitraryValues === true || all.length === 0 || typeOptions?.["loadOptions"] !== undefined ||
    typeOptions?.["loadOptionsMethod"] !== undefined
  return isOpen ? undefined : all.filter((one) => isShown(one.displayOptions, scope)).map(({ value }) => value)
}

const choice = (property: Property, value: unknown, path: string, scope: Scope, suggest: Suggest): Remarks => {
  const all = choosable(property, scope)
  if (all === undefined || all.some((one) => one === value) || value === customApiCall) return none
  const same = all.find((one) => String(one) === value || (Predicate.isString(one) && one === String(value as string)))
  const fix = same === undefined
    ? suggest(Predicate.isObjectOrArray(value) ? "" : String(value), all.map(String))
    : `Give ${JSON.stringify(same)}, a ${typeof same}.`
  const stripped = Predicate.isString(value) && value.startsWith("{{") ? " n8n evaluates no expression here." : ""
  const message = `'${property.name}' is ${inWords(value)}, which is none of the values to choose from.${stripped}`
  return fails(path, message, fix)
}

// ---- what a value looks like

const locator = ({ modes = [], name }: Property, value: unknown, path: string, suggest: Suggest): Remarks => {
  const wanted = "{__rl: true, mode, value}"
  const given = obj(value)
  if (given === undefined) {
    const isPlain = Predicate.isString(value) || Predicate.isNumber(value)
    return isPlain ? none : kind(path, `'${name}' is ${inWords(value)}.`, `Give ${wanted}.`)
  }
  if (!("value" in given && "mode" in given)) {
    return kind(path, `'${name}' lacks ${"value" in given ? "'mode'" : "'value'"}.`, `Give ${wanted}.`)
  }
  const names = modes.map((mode) => mode.name)
  if (names.length > 0 && !names.some((mode) => mode === given["mode"])) {
    return kind(deeper(path, "mode"), `'${name}' has no mode ${inWords(given["mode"])}.`, suggest("", names))
  }
  return given["__rl"] === true ? none : kind(path, `'${name}' lacks '__rl'.`, `Set '__rl' to true: ${wanted}.`)
}

const mapper = ({ name }: Property, value: Obj, path: string): Remarks =>
  value["mappingMode"] !== "autoMapInputData" && "schema" in value && !Array.isArray(value["schema"])
    ? fails(
      deeper(path, "schema"),
      `'schema' of '${name}' is ${inWords(value["schema"])}: n8n fails on it.`,
      "Give an array."
    )
    : none

const objectTypes = new Set(["collection", "fixedCollection", "filter", "assignmentCollection", "resourceMapper"])
const textTypes = new Set(["string", "dateTime", "color"])

const wanted: Record<string, string> = {
  assignmentCollection: "{assignments: [{id, name, type, value}]}",
  filter: "{combinator: 'and' | 'or', conditions: [{leftValue, rightValue, operator: {type, operation}}]}",
  resourceMapper: "{mappingMode: 'defineBelow' | 'autoMapInputData', value: {…}, schema: […]}"
}

/** What the value should be, for a type whose values are objects. */
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
    : `${wanted[type] ?? "an object"} for '${name}'`
}

/** Whether the value is of a kind that the type has; the parameters in it are another matter. */
const ofKind = (property: Property, value: unknown): string | undefined => {
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

/** What is wrong with a value that is given to a parameter that is shown; `done` is what n8n makes of it. */
const ofValue = (
  property: Property,
  value: unknown,
  done: unknown,
  path: string,
  scope: Scope,
  making: Making
): Remarks => {
  const { name, type } = property
  const { suggest } = making
  if (equals(value, property.default) || value === null) return none
  if (locators.has(type)) return isExpression(value) ? none : locator(property, value, path, suggest)
  const fix = ofKind(property, value)
  if (fix !== undefined) return kind(path, `'${name}' is ${inWords(value)}; its type is ${type}.`, fix)
  if (type === "filter") return Filter.remarks(value as Obj, path, suggest)
  if (type === "resourceMapper") return mapper(property, value as Obj, path)
  if (type === "collection") return ofCollection(property, value, done, path, scope, making)
  if (type === "fixedCollection") return ofGroups(property, value as Obj, done, path, scope, making)
  if ((type === "options" && !isMultiple(property)) || type === "multiOptions") {
    if (isExpression(done) || (property.required === true && isMissing(property, value))) return none
    const isList = Array.isArray(value)
    return (isList && type === "multiOptions" ? value : [done])
      .flatMap((one, index) =>
        isExpression(one) ? none : choice(property, one, isList ? deeper(path, index) : path, scope, suggest)
      )
  }
  return none
}

const ofCollection = (
  property: Property,
  value: unknown,
  done: unknown,
  path: string,
  scope: Scope,
  making: Making
): Remarks => {
  const inner = members(property)
  if (!isMultiple(property)) return level(inner, value as Obj, { ...scope, values: done }, path, making)
  return arr(value).flatMap((item, index) => {
    const given = obj(item)
    const at = deeper(path, index)
    return given === undefined
      ? kind(at, `An item of '${property.name}' is ${inWords(item)}.`, "Give an object.")
      : level(inner, given, { ...scope, values: given }, at, making)
  })
}

const ofGroups = (
  property: Property,
  value: Obj,
  done: unknown,
  path: string,
  scope: Scope,
  making: Making
): Remarks => {
  const all = groups(property)
  return Object.entries(value).flatMap(([key, given]): Remarks => {
    const at = deeper(path, key)
    const group = all.find(({ name }) => name === key)
    if (group === undefined) {
      const names = all.map(({ name }) => name)
      return kind(at, `'${property.name}' holds no '${key.slice(0, 60)}': n8n drops it.`, making.suggest(key, names))
    }
    const inside = own(done, key)
    const item = (one: unknown, values: unknown, at: string): Remarks => {
      const known = obj(one)
      return known !== undefined
        ? level(group.values, known, { ...scope, values }, at, making)
        : kind(
          at,
          `'${key}' holds ${inWords(one)} where an object belongs.`,
          `Give an object with ${fields(group.values)}.`
        )
    }
    if (!isMultiple(property)) return item(given, inside, at)
    if (Array.isArray(given)) return given.flatMap((one, index) => item(one, arr(inside)[index], deeper(at, index)))
    const fix = obj(given) === undefined
      ? `Give an array of objects with ${fields(group.values)}.`
      : "Put the object in an array."
    return fails(
      at,
      `'${property.name}.${key}' is ${inWords(given)} where n8n reads an array: it cannot open the node.`,
      fix
    )
  })
}

const fields = (properties: ReadonlyArray<Property>): string =>
  [...new Set(properties.map(({ name }) => name))].slice(0, 8).join(", ")

// ---- names

/** The parameters that n8n gives the tool variant of a type. */
const toolNames = new Set(["descriptionType", "toolDescription"])

const unknown = (
  name: string,
  properties: ReadonlyArray<Property>,
  scope: Scope,
  path: string,
  making: Making
): Remarks => {
  if (making.isTool && path === name && toolNames.has(name)) return none
  const holder = properties.find((one) =>
    one.type === "collection" && members(one).some((member) => member.name === name)
  )
  const isOfRoot = path !== name && making.properties.some((one) => one.name === name)
  const shown = properties.filter(({ displayOptions }) => isShown(displayOptions, scope))
  const candidates = [...shown, ...properties].filter(({ type }) => type !== "notice").map((one) => one.name)
  return kind(
    path,
    `${making.type} has no parameter '${name.slice(0, 60)}' here: n8n drops it.`,
    holder !== undefined
      ? `It belongs in '${holder.name}'.`
      : isOfRoot
      ? `It belongs at the top of 'parameters'.`
      : making.suggest(name, candidates)
  )
}

const missing = (properties: ReadonlyArray<Property>, scope: Scope, path: string): Remarks =>
  properties.flatMap((property) => {
    const value = own(scope.values, property.name)
    const isEmpty = property.required === true && value !== undefined && isMissing(property, value) &&
      isShown(property.displayOptions, scope)
    const message = `'${property.displayName}' (${property.name}) is required and is empty; n8n runs all the same.`
    return isEmpty ? kind(deeper(path, property.name), message, `Set '${property.name}'.`) : none
  })

/** What there is to say about parameters given beside each other; `scope` has them as n8n fills them. */
const level = (
  properties: ReadonlyArray<Property>,
  given: Obj,
  scope: Scope,
  path: string,
  making: Making
): Remarks => {
  const byName = Map.groupBy(properties, ({ name }) => name)
  const said = Object.entries(given).flatMap(([name, value]): Remarks => {
    const at = deeper(path, name)
    const named = byName.get(name)
    if (named === undefined) return unknown(name, properties, scope, at, making)
    const shown = named.filter(({ displayOptions }) => isShown(displayOptions, scope))
    const all = shown.map((property) => ofValue(property, value, own(scope.values, name), at, scope, making))
    return all.some((remarks) => remarks.length === 0) ? none : all.at(-1) ?? none
  })
  return path === "" ? said : [...said, ...missing(properties, scope, path)]
}

/** What there is to say about the node beside n8n's own issues; about one that is disabled, nothing. */
export const remarks = (description: Description, node: Node, suggest: Suggest): ReadonlyArray<Found> => {
  if (node.disabled === true) return none
  const scope = scopeOf(description, node)
  const { displayName: type, properties } = description
  return level(properties, node.parameters, scope, "", { suggest, properties, type, isTool: scope.isTool })
}
