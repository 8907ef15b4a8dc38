/** Removal of noise from items: stack traces and most headers of webhook calls. Pure. */
import type * as Schema from "effect/Schema"
import { mapValues, type Obj, obj } from "../base/Json.ts"
import { counted } from "../base/Plural.ts"
import type * as Execution from "./Execution.ts"

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

/** Whether an item has the shape of the Webhook node's output. */
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
export const without = <A extends Pick<Execution.Item, "json">>(item: A): A => ({
  ...item,
  json: withInformativeHeaders(withoutStacks(item.json)) as Schema.Json
})
