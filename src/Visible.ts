/**
 * Makes characters visible that a person would not see and a model would obey: data that comes from workflows and
 * executions must not hide text, nor turn its order round. Pure.
 */
import * as Predicate from "effect/Predicate"

/**
 * Controls (but tab and line ends), bidirectional marks and overrides, invisible operators, and the tag characters that
 * spell hidden ASCII. Joiners stay: emoji and whole scripts need them.
 */
const hidden = /(?![\t\n\r])\p{Cc}|[\p{Bidi_Control}\u2060-\u206F\uFEFF]|\u{E0001}|[\u{E0020}-\u{E007F}]/gu

/** Such as `\u202e`, and `\u{e0041}` beyond the first plane. */
const spelled = (character: string): string => {
  const code = (character.codePointAt(0) ?? 0).toString(16)
  return code.length > 4 ? `\\u{${code}}` : `\\u${code.padStart(4, "0")}`
}

/** The text with hidden characters spelled out. */
export const text = (value: string): string => value.replace(hidden, spelled)

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
