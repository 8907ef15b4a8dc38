/** Text as search words: camelCase split, synonyms resolved, words reduced to stems. */
import { stemmer } from "stemmer"

/** Word lists for questions, each separated by spaces. */
export interface WordLists {
  /** Replacements of words: abbreviations in full, Japanese in English. */
  readonly synonyms: { readonly [word: string]: string }
  readonly stopWords: string
  /** Words that fit any node an agent may use, of little weight. */
  readonly weakWords: string
  /** Words for events, which ask for a trigger. */
  readonly eventWords: string
}

export interface Words {
  readonly expand: (word: string) => ReadonlyArray<string>
  /** Stems of a text's words, with synonyms resolved and without stop words: the indexed and searched terms. */
  readonly terms: (text: string) => ReadonlyArray<string>
  readonly isStopWord: (word: string) => boolean
  readonly isWeak: (term: string) => boolean
  readonly isEvent: (word: string) => boolean
}

const isJapanese = /[\p{scx=Han}\p{scx=Hiragana}\p{scx=Katakana}]/u

let segmenter: Intl.Segmenter | undefined

// Created on first use: it takes longer than all other preparations of the search.
const segments = (text: string): ReadonlyArray<string> =>
  [...(segmenter ??= new Intl.Segmenter("ja", { granularity: "word" })).segment(text)].map(({ segment }) => segment)

const normalize = (word: string) => word.normalize("NFKD").replace(/\p{M}+|['’]/gu, "").toLowerCase()

/** Lower-case words of letters and digits without accents; Japanese, which has no spaces, by a dictionary. */
export const words = (text: string): ReadonlyArray<string> =>
  (text.normalize("NFKC").match(/[\p{L}\p{M}\p{N}'’]+/gu) ?? [])
    .flatMap((word) => isJapanese.test(word) ? segments(word) : word)
    .map(normalize).filter((word) => word !== "")

/** `googleSheetsTrigger` and `HTTPRequest` with spaces. */
export const spaced = (text: string): string =>
  text.replace(/(\p{Ll}|\d)(\p{Lu})/gu, "$1 $2").replace(/(\p{Lu})(\p{Lu}\p{Ll})/gu, "$1 $2")

/** Words of the text as one: `googlesheets` for `google sheets`. */
export const joined = (text: string): string => words(text).join("")

const stems = new Map<string, string>()

/** Porter's stem, except of words too short to have one. */
export const stem = (word: string): string => {
  const known = stems.get(word)
  if (known !== undefined) return known
  const computed = word.length > 3 ? stemmer(word) : word
  if (stems.size < 20_000) stems.set(word, computed)
  return computed
}

export const make = (lists: WordLists): Words => {
  const synonyms = new Map(Object.entries(lists.synonyms).map(([word, same]) => [normalize(word), same.split(" ")]))
  const stopWords = new Set(lists.stopWords.split(" "))
  const weakTerms = new Set(lists.weakWords.split(" ").map(stem))
  const eventWords = new Set(lists.eventWords.split(" "))
  const expand = (word: string) => synonyms.get(word) ?? [word]
  return {
    expand,
    terms: (text) => words(text).flatMap(expand).filter((word) => !stopWords.has(word)).map(stem),
    isStopWord: (word) => stopWords.has(word),
    isWeak: (term) => weakTerms.has(term),
    isEvent: (word) => eventWords.has(word)
  }
}
