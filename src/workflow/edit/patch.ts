/** Merges patches of parameters, checks them against the node type and repairs them. */
import * as Result from "effect/Result"
import { type Obj, obj } from "../../base/Json.ts"
import * as JsonPath from "../../base/JsonPath.ts"
import * as ParameterRules from "../../catalogue/parameters/ParameterRules.ts"
import * as RepairedParameters from "../repair/RepairedParameters.ts"
import * as Step from "./step.ts"

type For = RepairedParameters.For

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

/** Parameters repaired below the names, and lines that say so. */
export const repaired = (
  node: For,
  names: ReadonlyArray<string>,
  name: string,
  lookups: Step.Lookups
): { readonly parameters: Obj; readonly lines: ReadonlyArray<string> } => {
  const { parameters, reshaped } = RepairedParameters.repaired(node, (each) => names.includes(each), lookups)
  return { parameters, lines: reshaped.map((path) => `repaired the shape of ${path} of '${name}'`) }
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
    : ParameterRules.remarks(description, { typeVersion, parameters }, suggest).find(({ path }) => paths.includes(path))
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
