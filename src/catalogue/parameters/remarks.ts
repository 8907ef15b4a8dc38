/** Remarks on likely mistakes that n8n accepts: unavailable choices, unknown names, values of the wrong kind. */
import { arr, deeper, equals, type Obj, obj, own } from "../../base/Json.ts"
import { type Description, groups, members, type Property } from "../types/NodeType.ts"
import * as Filter from "./filter.ts"
import { inWords, isMissing, locators, type Suggest } from "./issues.ts"
import { choice, error, locator, mapper, none, ofKind, type Remarks, warning } from "./kinds.ts"
import { isMultiple, type Node, scopeOf } from "./ParameterDefaults.ts"
import { isExpression, isShown, type Scope } from "./ParameterDisplay.ts"

interface Context {
  readonly suggest: Suggest
  readonly properties: ReadonlyArray<Property>
  readonly type: string
  readonly isTool: boolean
}

/** Value of a parameter; `completed` includes n8n's defaults. */
interface Given {
  readonly property: Property
  readonly value: unknown
  readonly completed: unknown
  readonly path: string
  readonly scope: Scope
}

const ofValue = (given: Given, context: Context): Remarks => {
  const { completed, path, property, scope, value } = given
  const { name, type } = property
  const { suggest } = context
  if (equals(value, property.default) || value === null) return none
  if (locators.has(type)) return isExpression(value) ? none : locator(property, value, path, suggest)
  const fix = ofKind(property, value)
  if (fix !== undefined) return warning(path, `'${name}' is ${inWords(value)}; its type is ${type}.`, fix)
  if (type === "assignmentCollection") {
    return Object.keys(value as Obj).filter((key) => key !== "assignments")
      .flatMap((key) => dropped(property, key, ["assignments"], deeper(path, key), context))
  }
  if (type === "filter") return Filter.remarks(value as Obj, path, suggest)
  if (type === "resourceMapper") return mapper(property, value as Obj, path)
  if (type === "collection") return ofCollection(given, context)
  if (type === "fixedCollection") return ofGroups(given, context)
  if ((type === "options" && !isMultiple(property)) || type === "multiOptions") {
    if (isExpression(completed) || (property.required === true && isMissing(property, value))) return none
    const isList = Array.isArray(value)
    return (isList && type === "multiOptions" ? value : [completed]).flatMap((one, index) =>
      isExpression(one) ? none : choice(property, one, isList ? deeper(path, index) : path, scope, suggest)
    )
  }
  return none
}

const dropped = (property: Property, key: string, names: ReadonlyArray<string>, path: string, { suggest }: Context) =>
  warning(
    path,
    `'${property.name}' holds no '${key.slice(0, 60)}': n8n drops it.`,
    suggest(key.slice(0, 100), names)
  )

const ofCollection = ({ completed, path, property, scope, value }: Given, context: Context): Remarks => {
  const inner = members(property)
  if (!isMultiple(property)) return level(inner, value as Obj, { ...scope, values: completed }, path, context)
  return arr(value).flatMap((item, index) => {
    const object = obj(item)
    const at = deeper(path, index)
    return object === undefined
      ? warning(at, `An item of '${property.name}' is ${inWords(item)}.`, "Give an object.")
      : level(inner, object, { ...scope, values: object }, at, context)
  })
}

const ofGroups = ({ completed, path, property, scope, value }: Given, context: Context): Remarks => {
  const all = groups(property)
  return Object.entries(value as Obj).flatMap(([key, inner]): Remarks => {
    const at = deeper(path, key)
    const group = all.find(({ name }) => name === key)
    if (group === undefined) return dropped(property, key, all.map(({ name }) => name), at, context)
    const inside = own(completed, key)
    const item = (one: unknown, values: unknown, at: string): Remarks => {
      const known = obj(one)
      return known !== undefined
        ? level(group.values, known, { ...scope, values }, at, context)
        : warning(
          at,
          `'${key}' holds ${inWords(one)} where an object belongs.`,
          `Give an object with ${fields(group.values)}.`
        )
    }
    if (!isMultiple(property)) return item(inner, inside, at)
    if (Array.isArray(inner)) return inner.flatMap((one, index) => item(one, arr(inside)[index], deeper(at, index)))
    const fix = obj(inner) === undefined
      ? `Give an array of objects with ${fields(group.values)}.`
      : "Put the object in an array."
    return error(
      at,
      `'${property.name}.${key}' is ${inWords(inner)} where n8n reads an array: it cannot open the node.`,
      fix
    )
  })
}

const fields = (properties: ReadonlyArray<Property>): string =>
  [...new Set(properties.map(({ name }) => name))].slice(0, 8).join(", ")

/** Parameters of tool variants, and leftovers of the editor. */
const toolNames = new Set(["descriptionType", "toolDescription"])
const leftovers = new Set(["", "requestOptions"])

const unknown = (
  name: string,
  properties: ReadonlyArray<Property>,
  scope: Scope,
  path: string,
  context: Context
): Remarks => {
  if (path === name && (leftovers.has(name) || (context.isTool && toolNames.has(name)))) return none
  const holder = properties.find((one) =>
    one.type === "collection" && members(one).some((member) => member.name === name)
  )
  const isOfRoot = path !== name && context.properties.some((one) => one.name === name)
  const shown = properties.filter(({ displayOptions }) => isShown(displayOptions, scope))
  const candidates = [...shown, ...properties].filter(({ type }) => type !== "notice").map((one) => one.name)
  return warning(
    path,
    `${context.type} has no parameter '${name.slice(0, 60)}' here: n8n drops it.`,
    holder !== undefined
      ? `It belongs in '${holder.name}'.`
      : isOfRoot
      ? `It belongs at the top of 'parameters'.`
      : context.suggest(name.slice(0, 100), candidates)
  )
}

const missing = (properties: ReadonlyArray<Property>, scope: Scope, path: string): Remarks =>
  properties.flatMap((property) => {
    const value = own(scope.values, property.name)
    const isEmpty = property.required === true && value !== undefined && isMissing(property, value) &&
      isShown(property.displayOptions, scope)
    const message = `'${property.displayName}' (${property.name}) is required and is empty; n8n runs it anyway.`
    return isEmpty ? warning(deeper(path, property.name), message, `Set '${property.name}'.`) : none
  })

/** Remarks on the parameters of one level; `scope` contains them with n8n's defaults. */
const level = (
  properties: ReadonlyArray<Property>,
  parameters: Obj,
  scope: Scope,
  path: string,
  context: Context
): Remarks => {
  const byName = Map.groupBy(properties, ({ name }) => name)
  const result = Object.entries(parameters).flatMap(([name, value]): Remarks => {
    const at = deeper(path, name)
    const named = byName.get(name)
    if (named === undefined) return unknown(name, properties, scope, at, context)
    const shown = named.filter(({ displayOptions }) => isShown(displayOptions, scope))
    const all = shown.map((property) =>
      ofValue({ property, value, completed: own(scope.values, name), path: at, scope }, context)
    )
    return all.some((remarks) => remarks.length === 0) ? none : all.at(-1) ?? none
  })
  return path === "" ? result : [...result, ...missing(properties, scope, path)]
}

/** Remarks on the node besides n8n's own issues; none for a disabled node. */
export const remarks = (
  description: Description,
  node: Node,
  suggest: Suggest,
  scope: Scope = scopeOf(description, node)
): Remarks => {
  if (node.disabled === true) return none
  const { displayName: type, properties } = description
  return level(properties, node.parameters, scope, "", { suggest, properties, type, isTool: scope.isTool })
}
