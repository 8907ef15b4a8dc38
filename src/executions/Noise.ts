/** What nobody reads in the items of an execution: stack traces, and most headers of a webhook's call. Pure. */
import type * as Schema from "effect/Schema"
import { mapValues, type Obj, obj } from "../base/Json.ts"
import { counted } from "../base/Plural.ts"
import type * as Execution from "./Execution.ts"

/** Lines such as `at read (/app/index.js:3:4)`. */
const frames = /(?:\n[ \t]+at [^\n]+)+/g

const withoutFrames = (text: string): string =>
  text.includes("at ")
    ? text.replace(
      frames,
      (lines) =>
        /:\d+:\d+\)?/.test(lines) ? ` [${counted(lines.split("\n").length - 1, "line")} of a stack trace]` : lines
    )
    : text

/** No answer shows what lies deeper, and no reader's stack bears it. */
const maxDepth = 64

const withoutStacks = (value: unknown, depth = 0): unknown => {
  if (typeof value === "string") return withoutFrames(value)
  if (depth > maxDepth) return value
  if (Array.isArray(value)) return value.map((inner) => withoutStacks(inner, depth + 1))
  const object = obj(value)
  return object === undefined ? value : mapValues(object, (inner) => withoutStacks(inner, depth + 1))
}

/** Headers that say something about the call: what it holds, who sent it, what proves it. */
const telling = /^(?:content-type|authorization|user-agent|x-.*|.*signature.*)$/i

/** What n8n's Webhook node puts out, and no other. */
const isRequest = (json: Obj): boolean =>
  ["headers", "params", "query", "body", "webhookUrl"].every((key) => Object.hasOwn(json, key))

const withTellingHeaders = (json: unknown): unknown => {
  const item = obj(json)
  const headers = obj(item?.["headers"])
  if (item === undefined || headers === undefined || !isRequest(item)) return json
  const all = Object.entries(headers)
  const kept = all.filter(([name]) => telling.test(name))
  if (kept.length === all.length) return json
  return Object.fromEntries(
    Object.entries(item).flatMap(([key, value]) =>
      key === "headers"
        ? [[key, Object.fromEntries(kept)], ["otherHeaders", all.length - kept.length]]
        : [[key, value]]
    )
  )
}

/**
 * The item without its noise.
 *
 * **Details**
 *
 * Lines of a stack trace are counted where they stood. Of a webhook's headers those that say something about the call
 * stay (type of content, authorization, user agent, signatures, `x-…`), and `otherHeaders` counts the rest.
 */
export const without = <A extends Pick<Execution.Item, "json">>(item: A): A => ({
  ...item,
  json: withTellingHeaders(withoutStacks(item.json)) as Schema.Json
})
