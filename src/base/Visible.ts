/** Escapes characters that a model reads but no one sees: foreign data must not hide or reverse text. Pure. */
import * as Predicate from "effect/Predicate"
import { redactText } from "./Redact.ts"
import * as Turn from "./Turn.ts"

/** A fast path: most texts match nothing of this. */
const unusual = /[^\t\n\r -~]/

/** Controls except tab and line ends, separators, bidirectional marks, and all that Unicode draws as nothing. */
const hidden = /(?![\t\n\r])\p{Cc}|[\p{Default_Ignorable_Code_Point}\p{Bidi_Control}\u2028\u2029\uFFF9-\uFFFB]/gu

/** Scripts in which an invisible character between letters joins or separates them. */
const joining = "Arab Syrc Mong Nkoo Deva Beng Guru Gujr Orya Taml Telu Knda Mlym Sinh Khmr Mymr".split(" ")
  .map((script) => `\\p{scx=${script}}`).join("")

/**
 * Invisible characters with a use in writing, one at a time: a second one right after it never matches. Of the
 * variation selectors of Han characters only those that fonts support are accepted: all 240 could encode a letter each.
 */
const legitimate = new RegExp(
  [
    "(?<=[\\p{Emoji}--[\\d#*]])[\\uFE0E\\uFE0F]",
    "(?<=[\\d#*])\\uFE0F(?=\\u20E3)",
    "(?<=[\\p{Extended_Pictographic}\\p{Emoji_Modifier}]\\uFE0F?)\\u200D(?=\\p{Extended_Pictographic})",
    `(?<=(?=\\p{L}|\\p{M})[${joining}])[\\u200C\\u200D]`,
    "(?<=\\p{scx=Mong})[\\u180B-\\u180F]",
    "(?<=\\p{sc=Han})[\\uFE00-\\uFE02\\u{E0100}-\\u{E011F}]"
  ].join("|"),
  "vy"
)

const isLegitimate = (value: string, at: number): boolean => {
  legitimate.lastIndex = at
  return legitimate.test(value)
}

/** Such as `\u202e`, and `\u{e0041}` beyond the first plane. */
const escape = (character: string): string => {
  const code = (character.codePointAt(0) ?? 0).toString(16)
  return code.length > 4 ? `\\u{${code}}` : `\\u${code.padStart(4, "0")}`
}

export const text = (value: string): string =>
  unusual.test(value)
    ? value.replace(hidden, (character, at: number) => isLegitimate(value, at) ? character : escape(character))
    : value

export const line = (value: string): string => text(value.replace(/\s+/g, " ").trim())

/** Makes foreign text safe inside a sentence: one visible line without secrets, of at most `length` characters. */
export const label = (value: string, length = 60): string => {
  const visible = line(redactText(value))
  const characters = Array.from(visible.slice(0, 2 * length + 2))
  return characters.length > length ? `${characters.slice(0, length - 1).join("")}…` : visible
}

/** Colours that this program prints. */
const colours = new RegExp(`(${String.fromCharCode(27)}\\[(?:0|3[1-3]|90)m)`)

const inUnits = (characters: string): string =>
  characters.replace(/[^]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`)

/** Text for a terminal or a CI runner's log, without hidden characters and a runner's commands; JSON stays JSON. */
export const terminal = (value: string): string =>
  /[^\t\n -~]|::|##/.test(value)
    ? value.split(colours).map((part, index) =>
      index % 2 === 1 ? part : part
        .replace(hidden, (character, at: number) => isLegitimate(part, at) ? character : inUnits(character))
        .replace(/\r(?!\n)|(?<=^[^\S\n]*):(?=:)|#(?=#\w*\[)/gm, inUnits)
    ).join("")
    : value

/** JSON with hidden characters in strings and keys escaped; a value without any is returned as the same reference. */
export const json = <A>(value: A): A => Turn.finish(steps(value))

/** {@link json} in steps, an object or a list each; `ofText` shows the texts apart from keys. */
export const steps = <A>(value: A, ofText = text): Turn.Steps<A> => escapeJson(value, ofText) as Turn.Steps<A>

const escapeJson = function*(value: unknown, ofText: typeof text): Turn.Steps<unknown> {
  if (typeof value === "string") return ofText(value)
  if (!Predicate.isObjectOrArray(value)) return value
  yield
  const keys = Object.keys(value)
  /** Entries so far, once one of them has changed. */
  let entries: Array<readonly [string, unknown]> | undefined
  for (let at = 0; at < keys.length; at++) {
    const key = keys[at] ?? ""
    const inner = (value as { readonly [key: string]: unknown })[key]
    const name = text(key)
    const shown = Predicate.isObjectOrArray(inner)
      ? yield* escapeJson(inner, ofText)
      : typeof inner === "string"
      ? ofText(inner)
      : inner
    if (name !== key || shown !== inner) entries ??= Object.entries(value).slice(0, at)
    entries?.push([name, shown])
  }
  if (entries === undefined) return value
  return Array.isArray(value) ? entries.map(([, inner]) => inner) : Object.fromEntries(entries)
}
