/** Parameters as an edit gives them: which there are, and what n8n's editor would add. */
import * as Result from "effect/Result"
import { type Obj, obj } from "../Json.ts"
import { type Description, groups, members, type Property } from "../nodes/NodeType.ts"
import { isMultiple } from "../parameters/ParameterDefaults.ts"
import { equals, own } from "../parameters/ParameterDisplay.ts"
import * as Parameters from "../parameters/Parameters.ts"
import * as Step from "./EditStep.ts"

/** The patch of RFC 7396 applied: objects are merged, null takes away, all else replaces. */
export const merge = (value: unknown, patch: unknown): unknown => {
  const changes = obj(patch)
  if (changes === undefined) return equals(value, patch) && equals(patch, value) ? value : patch
  const before = obj(value)
  const result = new Map(Object.entries(before ?? {}))
  for (const [key, change] of Object.entries(changes)) {
    if (change === null) result.delete(key)
    else result.set(key, merge(result.get(key), change))
  }
  const isSame = before !== undefined && result.size === Object.keys(before).length &&
    [...result].every(([key, inner]) => own(before, key) === inner)
  return isSame ? before : Object.fromEntries(result)
}

/** One value before and after. */
export interface Change {
  readonly path: string
  readonly before: unknown
  readonly after: unknown
}

/** What differs, leaf by leaf. */
export const changes = (before: unknown, after: unknown, path: string): ReadonlyArray<Change> => {
  const [left, right] = [obj(before), obj(after)]
  if (before === after) return []
  if (left === undefined || right === undefined) return [{ path, before, after }]
  return [...new Set([...Object.keys(left), ...Object.keys(right)])]
    .flatMap((key) => changes(own(left, key), own(right, key), path === "" ? key : `${path}.${key}`))
}

const strict = { caseSensitive: true, leftValue: "", typeValidation: "strict" }

/** The options of a filter as its type says, in n8n's expressions. */
const optionsOf = (property: Property, version: number, root: Obj, { evaluate }: Step.Lookups): Obj => {
  const said = Object.entries(obj(property.typeOptions?.["filter"]) ?? {}).flatMap(([key, value]) => {
    const meant = Parameters.isExpression(value) ? evaluate(value, { parameters: root, version }) : value
    return meant === undefined || meant === null ? [] : [[key, meant] as const]
  })
  return { ...strict, ...Object.fromEntries(said) }
}

/** The value of a parameter, each filter in it with the `options` and `combinator` without which n8n fails. */
const completed = (
  properties: ReadonlyArray<Property>,
  value: unknown,
  options: (filter: Property) => Obj
): unknown => {
  const given = obj(value)
  if (given === undefined) return value
  const entries = Object.entries(given).map(([key, inner]) => {
    const filters = properties.find(({ name, type }) => name === key && type === "filter")
    const holder = properties.find(({ name, type }) =>
      name === key && (type === "collection" || type === "fixedCollection")
    )
    if (filters !== undefined) return [key, filter(inner, () => options(filters))] as const
    if (holder === undefined) return [key, inner] as const
    if (holder.type === "collection") return [key, completed(members(holder), inner, options)] as const
    const collected = Object.entries(obj(inner) ?? {}).map(([name, items]) => {
      const values = groups(holder).find((group) => group.name === name)?.values ?? []
      return [
        name,
        isMultiple(holder) && Array.isArray(items)
          ? kept(items, items.map((item) => completed(values, item, options)))
          : completed(values, items, options)
      ] as const
    })
    return [key, obj(inner) === undefined ? inner : sameOr(obj(inner) ?? {}, collected)] as const
  })
  return sameOr(given, entries)
}

const kept = (before: ReadonlyArray<unknown>, after: ReadonlyArray<unknown>) =>
  after.every((item, index) => item === before[index]) ? before : after

const sameOr = (before: Obj, entries: ReadonlyArray<readonly [string, unknown]>): Obj =>
  entries.every(([key, inner]) => own(before, key) === inner) ? before : Object.fromEntries(entries)

const filter = (value: unknown, options: () => Obj): unknown => {
  const given = obj(value)
  if (given === undefined || "options" in given && "combinator" in given) return value
  return { combinator: "and", ...given, options: { ...options(), ...obj(given["options"]) } }
}

/** A node for which parameters are given. */
interface For {
  readonly description: Description | undefined
  readonly typeVersion: number
  /** All of its parameters. */
  readonly parameters: Obj
}

/** The parameters with what the filters among `keys` need. */
export const withFilters = (
  { description, parameters, typeVersion }: For,
  keys: ReadonlyArray<string>,
  lookups: Step.Lookups
): Obj => {
  const properties = description?.properties.filter(({ name }) => keys.includes(name)) ?? []
  if (description === undefined || properties.length === 0) return parameters
  const root = () => Parameters.complete(description, { typeVersion, parameters })
  return obj(completed(properties, parameters, (each) => optionsOf(each, typeVersion, root(), lookups))) ?? parameters
}

/** Refuses the first of `keys` that is no parameter of the type at all. */
export const known = (
  { description, parameters, typeVersion }: For,
  keys: ReadonlyArray<string>,
  { suggest }: Step.Lookups
): Step.Attempt<void> => {
  const names = new Set(description?.properties.map(({ name }) => name))
  const unknown = new Set(keys.filter((key) => !names.has(key)))
  if (description === undefined || unknown.size === 0) return Result.succeed(undefined)
  const remark = Parameters.remarks(description, { typeVersion, parameters }, suggest).find(({ path }) =>
    unknown.has(path)
  )
  return remark === undefined
    ? Result.succeed(undefined)
    : Step.refuse(
      `parameters.${remark.path}`,
      `${description.displayName} ${typeVersion} has no parameter '${remark.path.slice(0, 100)}'.`,
      remark.fix ?? "node_get tells its parameters."
    )
}
