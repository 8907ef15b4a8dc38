/** "Did you mean": the names closest to one that was not found. */
import { distance } from "fastest-levenshtein"
import * as Rows from "./Rows.ts"

export const fold = (name: string) => name.toLowerCase().replace(/[\s_-]+/g, "")

/** The score of the same words in another order: worse than one wrong letter, better than several. */
const reordered = 0.05

const sortWords = (name: string) => name.toLowerCase().split(/[\s_-]+/).toSorted().join(" ")

const letters = (text: string) => [...text].toSorted().join("")

/** Number of typos; two letters that changed places are one. */
const typosOf = (a: string, b: string) => {
  const count = distance(a, b)
  return count === 2 && letters(a) === letters(b) ? 1 : count
}

/** The longest name that is compared: the time grows with the product of both lengths. */
const maxChars = 100

/** The candidates most similar to `name` (at most 100 characters), best first: few typos, or words in other order. */
export const nearest = (name: string, candidates: Iterable<string>, limit = 3): ReadonlyArray<string> => {
  if (name.length > maxChars) return []
  const sought = fold(name)
  const words = sortWords(name)
  return [...new Set(candidates)].filter(({ length }) => length <= maxChars).map((candidate) => {
    const folded = fold(candidate)
    const contained = sought.length > 1 && folded.length > 1 && (folded.includes(sought) || sought.includes(folded))
    const typos = typosOf(sought, folded) / Math.max(sought.length, folded.length, 1)
    const score = contained ? typos / 2 : typos
    const isReordered = folded.length === sought.length && sortWords(candidate) === words
    return { candidate, score: isReordered ? Math.min(score, reordered) : score }
  })
    .filter(({ score }) => score < 0.5)
    .toSorted((a, b) => a.score - b.score)
    .slice(0, limit)
    .map(({ candidate }) => candidate)
}

/** A question that suggests names. */
export const didYouMean = (names: ReadonlyArray<string>): string => `Did you mean ${Rows.names(names)}?`

/** A sentence that suggests the nearest names, or else lists the first `limit` of all. */
export const suggestion = (name: string, candidates: Iterable<string>, limit = 8): string => {
  const all = [...new Set(candidates)]
  const near = nearest(name, all)
  if (near.length > 0) return didYouMean(near)
  return all.length === 0 ? "There are none." : `There are: ${Rows.names(all, limit)}.`
}
