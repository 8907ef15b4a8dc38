/** Merges patches of parameters, checks them against the node type and completes them as n8n's editor does. */
import * as Result from "effect/Result"
import { mapValues, type Obj, obj, without } from "../../base/Json.ts"
import * as JsonPath from "../../base/JsonPath.ts"
import * as Parameters from "../../catalogue/parameters/Parameters.ts"
import { isMultiple } from "../../catalogue/parameters/ParameterValues.ts"
import { type Description, groups, members, type Property } from "../../catalogue/types/NodeType.ts"
import * as Step from "./step.ts"

/** Applies a merge patch (RFC 7396): objects are merged, null removes, any other value replaces. */
export const merge = (value: unknown, patch: unknown): unknown => {
  const changes = obj(patch)
  if (changes === undefined) return patch
  const result = new Map(Object.entries(obj(value) ?? {}))
  for (const [key, change] of Object.entries(changes)) {
    if (change === null) result.delete(key)
    else result.set(key, merge(result.get(key), change))
  }
  return Object.fromEntries(result)
}

const strict = { caseSensitive: true, leftValue: "", typeValidation: "strict" }

const optionsOf = (property: Property, version: number, root: Obj, { evaluate }: Step.Lookups): Obj => {
  const options = mapValues(
    obj(property.typeOptions?.["filter"]) ?? {},
    (value) => Parameters.isExpression(value) ? evaluate(value, { parameters: root, version }) : value
  )
  return { ...strict, ...without(options, (value) => value === undefined || value === null) }
}

/** Adds to each filter in a parameter the `options` and `combinator` without which n8n fails. */
const completeFilters = (
  properties: ReadonlyArray<Property>,
  value: unknown,
  options: (filter: Property) => Obj
): unknown => {
  const object = obj(value)
  if (object === undefined) return value
  return mapValues(object, (inner, key) => {
    const filters = properties.find(({ name, type }) => name === key && type === "filter")
    const holder = properties.find(({ name, type }) =>
      name === key && (type === "collection" || type === "fixedCollection")
    )
    if (filters !== undefined) return completeFilter(inner, () => options(filters))
    if (holder === undefined) return inner
    if (holder.type === "collection") return completeFilters(members(holder), inner, options)
    const collection = obj(inner)
    return collection === undefined ? inner : mapValues(collection, (items, name) => {
      const values = groups(holder).find((group) => group.name === name)?.values ?? []
      return isMultiple(holder) && Array.isArray(items)
        ? items.map((item) => completeFilters(values, item, options))
        : completeFilters(values, items, options)
    })
  })
}

const completeFilter = (value: unknown, options: () => Obj): unknown => {
  const object = obj(value)
  if (object === undefined || "options" in object && "combinator" in object) return value
  return { combinator: "and", ...object, options: { ...options(), ...obj(object["options"]) } }
}

interface For {
  readonly description: Description | undefined
  readonly typeVersion: number
  readonly parameters: Obj
}

export const withFilters = (
  { description, parameters, typeVersion }: For,
  keys: ReadonlyArray<string>,
  lookups: Step.Lookups
): Obj => {
  const properties = description?.properties.filter(({ name }) => keys.includes(name)) ?? []
  if (description === undefined || properties.length === 0) return parameters
  const root = () => Parameters.complete(description, { typeVersion, parameters })
  return obj(completeFilters(properties, parameters, (each) => optionsOf(each, typeVersion, root(), lookups))) ??
    parameters
}

/** Refuses parameters at these paths on which the catalogue has a remark. */
export const refuseRemarked = (
  { description, parameters, typeVersion }: For,
  paths: ReadonlyArray<string>,
  { suggest }: Step.Lookups,
  messageOf = ({ message }: { readonly path: string; readonly message: string }) => message
): Step.Attempt<void> => {
  const remark = description === undefined || paths.length === 0
    ? undefined
    : Parameters.remarks(description, { typeVersion, parameters }, suggest).find(({ path }) => paths.includes(path))
  return remark === undefined
    ? Result.void
    : Step.refuse(JsonPath.join("parameters", remark.path), messageOf(remark), remark.fix ?? { _tag: "ShowParameters" })
}

export const refuseUnknown = (node: For, keys: ReadonlyArray<string>, lookups: Step.Lookups): Step.Attempt<void> => {
  const { description, typeVersion } = node
  const unknown = keys.filter((key) => description?.properties.every(({ name }) => name !== key))
    .map((key) => JsonPath.member("", key))
  return refuseRemarked(
    node,
    unknown,
    lookups,
    ({ path }) => `${description?.displayName} ${typeVersion} has no parameter '${path.slice(0, 100)}'.`
  )
}
