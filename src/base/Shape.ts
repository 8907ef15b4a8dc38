/**
 * Shapes of values that differ from run to run: a time, an id, a text with a number in it. Pure.
 *
 * A text is a row of words and what is between them. Words of letters that all values have are part of the shape; of the
 * others, only the length is, between half of the shortest and twice the longest. So another time has the shape of the
 * times before, and another format, a constant or an empty text has not.
 */
import * as Hash from "effect/Hash"
import { obj } from "./Json.ts"

interface Word {
  /** Hash of the word, which may be a secret, while it consists of letters and all values have it. */
  readonly letters: number | undefined
  readonly shortest: number
  readonly longest: number
}

/** Form of some values; `words` and `gaps` are absent if their texts have different forms. */
export interface Shape {
  readonly types: ReadonlySet<string>
  readonly words?: ReadonlyArray<Word>
  readonly gaps?: string
}

const typeOf = (value: unknown) =>
  value === null || value === undefined ? "none" : Array.isArray(value) ? "list" : obj(value) ? "object" : typeof value

const isLetters = /^\p{L}{2,}$/u

/** Integers of so many digits are times or ids, whose number of digits says something. */
const longInteger = /^-?\d{9,}$/

/** Maximum number of words that are looked at; longer texts have only a type. */
const maxWords = 200

/** Returns the shape of one value. */
export const of = (value: unknown): Shape => {
  const types = new Set([typeOf(value)])
  // Times have as many digits as other times.
  if (typeof value === "number" && longInteger.test(String(value))) {
    return { types, words: [], gaps: String(value).replace(/\d/g, "0") }
  }
  const text = typeof value === "string" ? value : undefined
  const parts = text?.split(/([\p{L}\p{N}]+)/u, 2 * maxWords + 2)
  if (parts === undefined || parts.length > 2 * maxWords) return { types }
  const words = parts.filter((_, index) => index % 2 === 1).map((word): Word => ({
    letters: isLetters.test(word) ? Hash.string(word) : undefined,
    shortest: word.length,
    longest: word.length
  }))
  return { types, words, gaps: JSON.stringify(parts.filter((_, index) => index % 2 === 0)) }
}

/** Returns the shape that both have. */
export const merge = (one: Shape, other: Shape | undefined): Shape => {
  if (other === undefined || one === other) return one
  const types = new Set([...one.types, ...other.types])
  if (one.words === undefined || other.words === undefined || one.gaps !== other.gaps) return { types }
  const words = one.words.map((word, index): Word => {
    const { letters, longest, shortest } = other.words?.[index] ?? word
    return {
      letters: word.letters === letters ? letters : undefined,
      shortest: Math.min(word.shortest, shortest),
      longest: Math.max(word.longest, longest)
    }
  })
  return { types, words, gaps: one.gaps ?? "" }
}

/** Whether values of the second shape could be among those of the first. */
export const includes = (all: Shape, more: Shape): boolean => {
  if ([...more.types].some((type) => !all.types.has(type))) return false
  if (all.words === undefined) return true
  if (more.words === undefined || all.gaps !== more.gaps) return false
  return all.words.every(({ letters, longest, shortest }, index) => {
    const word = more.words?.[index]
    if (word === undefined) return false
    if (letters !== undefined) return word.letters === letters
    return 2 * word.shortest >= shortest && word.longest <= 2 * longest
  })
}
