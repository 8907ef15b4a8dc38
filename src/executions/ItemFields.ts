/** Selected fields of items. Pure. */
import { type Obj, obj } from "../base/Json.ts"
import * as JsonPath from "../base/JsonPath.ts"
import { nearest } from "../base/Nearest.ts"

/** Path as written, and its steps. */
export interface Field {
  readonly path: string
  readonly steps: ReadonlyArray<JsonPath.Step>
}

export const pick = (json: unknown, fields: ReadonlyArray<Field>): Obj =>
  Object.fromEntries(fields.flatMap(({ path, steps }) => {
    const value = JsonPath.get(json, steps)
    return value === undefined ? [] : [[path, value]]
  }))

export const missing = (jsons: ReadonlyArray<unknown>, fields: ReadonlyArray<Field>): ReadonlyArray<string> =>
  fields.flatMap(({ path, steps }) => jsons.every((json) => JsonPath.get(json, steps) === undefined) ? [path] : [])

/** Path as written in an expression: `customer.id`, `lines[0].sku`. */
export const written = (steps: ReadonlyArray<JsonPath.Step>): string => steps.reduce<string>(JsonPath.member, "")

/** Whether a path equals another one or is below it. */
export const isWithin = (path: string, other: string): boolean =>
  path === other || path.startsWith(other) && /^[.[]/.test(path.slice(other.length))

const outer = (json: unknown): ReadonlyArray<string> =>
  Object.keys(obj(json) ?? {}).map((key) => JsonPath.member("", key))

const inner = (json: unknown): ReadonlyArray<string> =>
  Object.entries(obj(json) ?? {}).flatMap(([key, value]) => {
    const [first] = Array.isArray(value) ? value : [value]
    const path = JsonPath.member("", key)
    return Object.keys(obj(first) ?? {}).map((name) =>
      JsonPath.member(Array.isArray(value) ? `${path}[0]` : path, name)
    )
  })

const maxPaths = 12

/** Paths of the items' fields, outer ones first. */
const all = (jsons: ReadonlyArray<unknown>) => [...new Set([...jsons.flatMap(outer), ...jsons.flatMap(inner)])]

/** Sentence about paths that no item has, with the nearest existing ones. */
export const note = (paths: ReadonlyArray<string>, jsons: ReadonlyArray<unknown>, items = "item here"): string => {
  const known = all(jsons)
  const near = [...new Set(paths.flatMap((path) => nearest(path, known)))].filter((path) => !paths.includes(path))
  const names = (near.length > 0 ? near : known).slice(0, maxPaths).join(", ")
  const advice = names === "" ? "" : `; ${near.length > 0 ? "nearest" : "they have"}: ${names}`
  return `No ${items} has ${paths.join(", ")}${advice}.`
}

const shown = (value: unknown): string => {
  const text = JSON.stringify(value) ?? "undefined"
  return text.length > 40 ? `${text.slice(0, 40)}…` : text
}

/** Sentence about a condition that no item meets, with first values of the fields that it names. */
export const noMatch = (values: ReadonlyArray<readonly [path: string, value: unknown]>): string =>
  values.length === 0
    ? "Nothing matches."
    : `Nothing matches; the first values: ${
      values.slice(0, 6).map(([path, value]) => `${path} ${shown(value)}`).join(", ")
    }.`
