/**
 * Makes characters visible that a person would not see and a model would obey: data that comes from workflows and
 * executions must not hide text, nor turn its order round. Pure.
 */
import * as Predicate from "effect/Predicate"
import { redactText } from "./Redact.ts"

/** Everything but what most texts consist of: a quick way out. */
const unusual = /[^\t\n\r -~]/

/**
 * Controls (but tab and line ends), line separators, bidirectional marks and overrides, annotations, and all that
 * Unicode wants to be drawn as nothing: joiners, fillers, soft hyphens, variation selectors, tags that spell ASCII.
 */
const hidden = /(?![\t\n\r])\p{Cc}|[\p{Default_Ignorable_Code_Point}\p{Bidi_Control}\u2028\u2029\uFFF9-\uFFFB]/gu

/** Scripts whose letters join, or stop to join, by an invisible character between them. */
const joining = "Arab Syrc Mong Nkoo Deva Beng Guru Gujr Orya Taml Telu Knda Mlym Sinh Khmr Mymr".split(" ")
  .map((script) => `\\p{scx=${script}}`).join("")

/**
 * What writing needs, one at a time: a second one right behind it follows none of these. Of the selectors of Han
 * characters only the few that fonts know, for all 240 would spell a letter each.
 */
const ordinary = new RegExp(
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

const isOrdinary = (value: string, at: number): boolean => {
  ordinary.lastIndex = at
  return ordinary.test(value)
}

/** Such as `\u202e`, and `\u{e0041}` beyond the first plane. */
const spelled = (character: string): string => {
  const code = (character.codePointAt(0) ?? 0).toString(16)
  return code.length > 4 ? `\\u{${code}}` : `\\u${code.padStart(4, "0")}`
}

/** The text with hidden characters spelled out. */
export const text = (value: string): string =>
  unusual.test(value)
    ? value.replace(hidden, (character, at: number) => isOrdinary(value, at) ? character : spelled(character))
    : value

/**
 * Foreign text, such as a workflow's name, made safe inside a sentence: one line, visible, without secrets, and no longer
 * than `length` characters.
 */
export const label = (value: string, length = 60): string => {
  const line = text(redactText(value).replace(/\s+/g, " ").trim())
  const characters = Array.from(line.slice(0, 2 * length + 2))
  return characters.length > length ? `${characters.slice(0, length - 1).join("")}…` : line
}

/** JSON with hidden characters in its strings and keys spelled out; what holds none is the same value. */
export const json = <A>(value: A): A => spell(value) as A

const spell = (value: unknown): unknown => {
  if (typeof value === "string") return text(value)
  if (Array.isArray(value)) {
    const spelt = value.map(spell)
    return spelt.every((each, index) => each === value[index]) ? value : spelt
  }
  if (!Predicate.isObject(value)) return value
  const entries = Object.entries(value)
  const spelt = entries.map(([key, inner]) => [text(key), spell(inner)] as const)
  const isSame = spelt.every(([key, inner], index) => key === entries[index]?.[0] && inner === entries[index]?.[1])
  return isSame ? value : Object.fromEntries(spelt)
}
