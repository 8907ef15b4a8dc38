/** Text as words to search for: camelCase taken apart, one form for the forms of a word. */
import { stemmer } from "stemmer"
import * as vocabulary from "./vocabulary.ts"

/** Lower-case words of letters and digits, accents dropped. */
export const words = (text: string): ReadonlyArray<string> =>
  text.normalize("NFKD").replace(/\p{M}+|['’]/gu, "").toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []

/** `googleSheetsTrigger` and `HTTPRequest` with spaces. */
export const spaced = (text: string): string =>
  text.replace(/(\p{Ll}|\d)(\p{Lu})/gu, "$1 $2").replace(/(\p{Lu})(\p{Lu}\p{Ll})/gu, "$1 $2")

/** All its words as one: `google sheets` as people write `googlesheets`. */
export const joined = (text: string): string => words(text).join("")

/** The same word as others say it; several where the one is short for them. */
export const same = (word: string): ReadonlyArray<string> => vocabulary.sameAs.get(word)?.split(" ") ?? [word]

/** Words that tell nodes apart, in the form that is indexed beside the word itself. */
export const terms = (text: string): ReadonlyArray<string> =>
  words(text).flatMap(same).filter((word) => !vocabulary.stopWords.has(word)).map(stem)

/** Without a plural's `s`. */
export const singular = (word: string): string => word.length > 3 ? word.replace(/(?<!s)s$/, "") : word

const stems = new Map<string, string>()

/** Porter's stem, but for words too short to have one. */
export const stem = (word: string): string => {
  const known = stems.get(word)
  if (known !== undefined) return known
  const made = word.length > 3 ? stemmer(word.replace(/is(e[drs]?|ing|ations?)$/, "iz$1")) : word
  if (stems.size < 20_000) stems.set(word, made)
  return made
}
