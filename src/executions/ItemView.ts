/** Items and texts as readers see them: plain error texts, items without noise, selected fields, and notes on what is missing. Pure. */
import type * as Schema from "effect/Schema"
import { defined, mapValues, type Obj, obj, str } from "../base/Json.ts"
import * as JsonPath from "../base/JsonPath.ts"
import { nearest } from "../base/Nearest.ts"
import { counted } from "../base/Plural.ts"
import * as ExecutionHead from "../n8n/model/ExecutionHead.ts"
import type * as Execution from "./Execution.ts"

/** Whether a text is a service's page or data rather than n8n's own. */
const page = /<(?:!doctype|html|head|body|\?xml)\b|<!--/i

const emphasis = /<(b|strong|i|em|code)>([^<>]*)<\/\1>/gi
const lineBreak = /<br\s{0,9}\/?>/gi
const link = /<a\s([^<>]{0,2000})>([^<>]*)<\/a>/gi
const target = /(?:^|\s)href\s{0,9}=\s{0,9}(?:"([^"]*)"|'([^']*)')/i

const isWebAddress = (address: string) => /^https?:\/\//i.test(address) && URL.canParse(address)

/**
 * Text without n8n's links, line breaks and emphasis: `More info (https://…)`.
 *
 * Only complete elements are converted: `a < b`, `<your key>`, a lone `<b>`, and a service's page or XML stay
 * unchanged.
 */
export const plain = (text: string): string =>
  !text.includes("<") || page.test(text)
    ? text
    : text
      .replace(emphasis, "$2")
      .replace(lineBreak, "\n")
      .replace(link, (_, attributes: string, words: string) => {
        const [, double, single] = target.exec(attributes) ?? []
        const address = (double ?? single ?? "").trim()
        if (!isWebAddress(address)) return words
        return words.trim() === "" || words.trim() === address ? address : `${words} (${address})`
      })

/** Error from which n8n itself hid all but its kind (`redactedError`). */
export const hiddenError = (error: unknown) =>
  obj(error) && defined({
    name: str(obj(error)?.["type"]),
    message: "n8n hides the message of this error",
    httpCode: obj(error)?.["httpCode"] ?? undefined
  })

/** Sentence, or nothing if it does not apply. */
export type Note = string | false | undefined

export const joinNotes = (notes: ReadonlyArray<Note>): string | undefined =>
  notes.filter((note) => typeof note === "string" && note !== "").join(" ") || undefined

/** Sentence about a number of things; none without any. */
export const noteAbout = (count: number, noun: string, sentence: (counted: string) => string): Note =>
  count > 0 && sentence(counted(count, noun))

/** Statements that n8n itself hid items. */
export const hiddenNotes = {
  items: "n8n hides these items (redaction).",
  execution: ({ id }: Pick<Execution.Execution, "id">) => `n8n hides the items of execution '${id}' (redaction)`,
  runs: (count: number) => noteAbout(count, "run", (runs) => `n8n itself hides the items of ${runs}.`),
  sizes: (count: number) =>
    noteAbout(count, "execution", (some) => `n8n hides the items of ${some}: their bytes and tokens are not counted.`)
}

export const reveal = "n8n shows the items to a user with the scope execution:reveal."

/** Explains why an execution's data are incomplete; `undefined` if they are not. */
export const incomplete = ({ runs, status, unreadable }: Execution.Execution): string | undefined => {
  const isEmpty = runs.size === 0
  if (unreadable !== undefined) return `n8n cannot deliver the data of this execution: ${unreadable}`
  if (ExecutionHead.isOver(status)) return isEmpty ? "n8n has no data for this execution, or no node ran." : undefined
  return isEmpty
    ? `The execution is ${status}, and n8n shows no data for it yet: wait for its end.`
    : `The execution is ${status}: this is its data so far.`
}

/** Lines of a stack trace, such as `at read (/app/index.js:3:4)`. */
const frames = /(?:\n[ \t]+at [^\n]+)+/g

const withoutFrames = (text: string): string =>
  text.includes("at ")
    ? text.replace(
      frames,
      (lines) =>
        /:\d+:\d+\)?/.test(lines) ? ` [${counted(lines.split("\n").length - 1, "line")} of a stack trace]` : lines
    )
    : text

/** Maximum depth: no answer shows deeper values. */
const maxDepth = 64

const withoutStacks = (value: unknown, depth = 0): unknown => {
  if (typeof value === "string") return withoutFrames(value)
  if (depth > maxDepth) return value
  if (Array.isArray(value)) return value.map((inner) => withoutStacks(inner, depth + 1))
  const object = obj(value)
  return object === undefined ? value : mapValues(object, (inner) => withoutStacks(inner, depth + 1))
}

/** Headers with information about the call: content, sender, signatures. */
const informativeHeaders = /^(?:content-type|authorization|user-agent|x-.*|.*signature.*)$/i

const isRequest = (json: Obj): boolean =>
  ["headers", "params", "query", "body", "webhookUrl"].every((key) => Object.hasOwn(json, key))

const withInformativeHeaders = (json: unknown): unknown => {
  const item = obj(json)
  const headers = obj(item?.["headers"])
  if (item === undefined || headers === undefined || !isRequest(item)) return json
  const all = Object.entries(headers)
  const informative = all.filter(([name]) => informativeHeaders.test(name))
  if (informative.length === all.length) return json
  return Object.fromEntries(
    Object.entries(item).flatMap(([key, value]) =>
      key === "headers"
        ? [[key, Object.fromEntries(informative)], ["otherHeaders", all.length - informative.length]]
        : [[key, value]]
    )
  )
}

/**
 * Item without noise.
 *
 * Lines of a stack trace are replaced by their count. Informative headers of a webhook remain (content type,
 * authorization, user agent, signatures, `x-…`), and `otherHeaders` counts the rest.
 */
export const withoutNoise = <A extends Pick<Execution.Item, "json">>(item: A): A => ({
  ...item,
  json: withInformativeHeaders(withoutStacks(item.json)) as Schema.Json
})

/** Length of the piece that stands for a long text. */
const pieceLength = 120

const isHalf = /^[\uDC00-\uDFFF]|[\uD800-\uDBFF]$/g

const pieceOf = (text: string, needle: string): string => {
  if (text.length <= pieceLength * 1.5) return text
  const at = Math.max(0, text.toLowerCase().indexOf(needle))
  const start = Math.max(0, at - Math.max(0, Math.floor((pieceLength - needle.length) / 2)))
  const end = Math.min(text.length, start + Math.max(pieceLength, needle.length))
  const piece = text.slice(start, end).replace(isHalf, "")
  return `${start > 0 ? "…" : ""}${piece}${end < text.length ? "…" : ""}`
}

/** Item whose long texts are pieces: around a match, or their beginnings. */
export const pieces = <A extends Pick<Execution.Item, "json">>(item: A, text: string): A => ({
  ...item,
  json: JsonPath.mapStrings(item.json, (inner) => pieceOf(inner, text.toLowerCase())) as Schema.Json
})

/** Path as written, and its steps. */
export interface Field {
  readonly path: string
  readonly steps: JsonPath.Path
}

export const pick = (json: unknown, fields: ReadonlyArray<Field>): Obj =>
  Object.fromEntries(fields.flatMap(({ path, steps }) => {
    const value = JsonPath.get(json, steps)
    return value === undefined ? [] : [[path, value]]
  }))

export const missing = (jsons: ReadonlyArray<unknown>, fields: ReadonlyArray<Field>): ReadonlyArray<string> =>
  fields.flatMap(({ path, steps }) => jsons.every((json) => JsonPath.get(json, steps) === undefined) ? [path] : [])

const outer = (json: unknown): ReadonlyArray<string> =>
  Object.keys(obj(json) ?? {}).map((key) => JsonPath.member("", key))

const inner = (json: unknown): ReadonlyArray<string> =>
  Object.entries(obj(json) ?? {}).flatMap(([key, value]) => {
    const [first] = Array.isArray(value) ? value : [value]
    const path = JsonPath.member("", key)
    return Object.keys(obj(first) ?? {}).map((name) =>
      JsonPath.member(Array.isArray(value) ? JsonPath.member(path, 0) : path, name)
    )
  })

const maxPaths = 12

const all = (jsons: ReadonlyArray<unknown>) => [...new Set([...jsons.flatMap(outer), ...jsons.flatMap(inner)])]

/** Sentence about paths that no item has, with the nearest existing ones. */
export const missingNote = (
  paths: ReadonlyArray<string>,
  jsons: ReadonlyArray<unknown>,
  items = "item here"
): string => {
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
