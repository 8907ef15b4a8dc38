/** Some places of an item instead of all of it. Pure. */
import { type Obj, obj } from "../base/Json.ts"
import * as JsonPath from "../base/JsonPath.ts"
import { nearest } from "../base/Nearest.ts"

/** A path as it was written, and its steps. */
export interface Field {
  readonly path: string
  readonly steps: ReadonlyArray<JsonPath.Step>
}

/** The values at these paths, under the paths themselves; what is not there is left out. */
export const pick = (json: unknown, fields: ReadonlyArray<Field>): Obj =>
  Object.fromEntries(fields.flatMap(({ path, steps }) => {
    const value = JsonPath.get(json, steps)
    return value === undefined ? [] : [[path, value]]
  }))

/** The paths that none of the items has. */
export const missing = (jsons: ReadonlyArray<unknown>, fields: ReadonlyArray<Field>): ReadonlyArray<string> =>
  fields.flatMap(({ path, steps }) => jsons.every((json) => JsonPath.get(json, steps) === undefined) ? [path] : [])

const pathsOf = (json: unknown): ReadonlyArray<string> =>
  Object.entries(obj(json) ?? {}).flatMap(([key, value]) => {
    const path = JsonPath.member("", key)
    return [path, ...Object.keys(obj(value) ?? {}).map((inner) => JsonPath.member(path, inner))]
  })

const maxPaths = 12

const all = (jsons: ReadonlyArray<unknown>) => [...new Set(jsons.slice(0, maxPaths).flatMap(pathsOf))]

/** A sentence about paths that no item has, with those that come nearest. */
export const note = (paths: ReadonlyArray<string>, jsons: ReadonlyArray<unknown>): string => {
  const near = [...new Set(paths.flatMap((path) => nearest(path, all(jsons))))]
  const names = (near.length > 0 ? near : all(jsons)).slice(0, maxPaths).join(", ")
  return `No item here has ${paths.join(", ")}; ${near.length > 0 ? "nearest" : "they have"}: ${names}.`
}

/** A sentence about a condition that no item meets: a misspelt field is only `undefined` there. */
export const noMatch = (jsons: ReadonlyArray<unknown>): string =>
  `Nothing matches; items have: ${all(jsons).slice(0, maxPaths).join(", ")}.`
