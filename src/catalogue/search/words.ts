/** Text as words to search for: camelCase taken apart, synonyms resolved, one form for the forms of a word. */
import { stemmer } from "stemmer"

/** The lists that a question needs; each is words with a space between. */
export interface WordLists {
  /** What stands for a word: abbreviations in full, Japanese in English. */
  readonly synonyms: { readonly [word: string]: string }
  /** Words that say nothing about a node. */
  readonly stopWords: string
  /** Words that fit any node an agent may use: they weigh little. */
  readonly weakWords: string
  /** Words for something that happens: a trigger is wanted. */
  readonly eventWords: string
}

/** What is done with words, by their lists. */
export interface Words {
  /** Synonyms in place of a word that has any. */
  readonly expand: (word: string) => ReadonlyArray<string>
  /** The stems of a text's words, synonyms resolved, without stop words: what is indexed and searched for. */
  readonly terms: (text: string) => ReadonlyArray<string>
  readonly isStopWord: (word: string) => boolean
  readonly isWeak: (term: string) => boolean
  readonly isEvent: (word: string) => boolean
}

const isJapanese = /[\p{scx=Han}\p{scx=Hiragana}\p{scx=Katakana}]/u

let segmenter: Intl.Segmenter | undefined

// Made at first need: that takes longer than all other preparations of the search.
const segments = (text: string): ReadonlyArray<string> =>
  [...(segmenter ??= new Intl.Segmenter("ja", { granularity: "word" })).segment(text)].map(({ segment }) => segment)

const normalize = (word: string) => word.normalize("NFKD").replace(/\p{M}+|['’]/gu, "").toLowerCase()

/** Lower-case words of letters and digits, accents dropped; Japanese, which has no spaces, by its dictionary. */
export const words = (text: string): ReadonlyArray<string> =>
  (text.normalize("NFKC").match(/[\p{L}\p{M}\p{N}'’]+/gu) ?? [])
    .flatMap((word) => isJapanese.test(word) ? segments(word) : word)
    .map(normalize).filter((word) => word !== "")

/** `googleSheetsTrigger` and `HTTPRequest` with spaces. */
export const spaced = (text: string): string =>
  text.replace(/(\p{Ll}|\d)(\p{Lu})/gu, "$1 $2").replace(/(\p{Lu})(\p{Lu}\p{Ll})/gu, "$1 $2")

/** All words of the text as one: `google sheets` as people write `googlesheets`. */
export const joined = (text: string): string => words(text).join("")

const stems = new Map<string, string>()

/** Porter's stem, but for words too short to have one. */
export const stem = (word: string): string => {
  const known = stems.get(word)
  if (known !== undefined) return known
  const computed = word.length > 3 ? stemmer(word) : word
  if (stems.size < 20_000) stems.set(word, computed)
  return computed
}

/** Reads the lists. */
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
