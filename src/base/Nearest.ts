/** "Did you mean": the names closest to one that does not exist. */
import { distance } from "fastest-levenshtein"
import * as Visible from "./Visible.ts"

/** A name without case and separators. */
export const fold = (name: string) => name.toLowerCase().replace(/[\s_-]+/g, "")

/** The same words in another order: worse than one letter, better than several. */
const shuffled = 0.05

const sorted = (name: string) => name.toLowerCase().split(/[\s_-]+/).toSorted().join(" ")

/**
 * The candidates most like `name`, best first: same letters but for case and separators, same words in another order,
 * contained, or few typos.
 */
export const nearest = (name: string, candidates: Iterable<string>, limit = 3): ReadonlyArray<string> => {
  const wanted = fold(name)
  return [...new Set(candidates)]
    .map((candidate) => {
      const folded = fold(candidate)
      const contained = wanted.length > 1 && folded.length > 1 && (folded.includes(wanted) || wanted.includes(folded))
      const typos = distance(wanted, folded) / Math.max(wanted.length, folded.length, 1)
      const score = contained ? typos / 2 : typos
      return { candidate, score: sorted(candidate) === sorted(name) ? Math.min(score, shuffled) : score }
    })
    .filter(({ score }) => score < 0.5)
    .toSorted((a, b) => a.score - b.score)
    .slice(0, limit)
    .map(({ candidate }) => candidate)
}

const quote = (names: ReadonlyArray<string>) => names.map((name) => `'${Visible.label(name)}'`).join(", ")

/** A sentence: the nearest names, else the first of them all. */
export const suggestion = (name: string, candidates: Iterable<string>, few = 8): string => {
  const all = [...new Set(candidates)]
  const near = nearest(name, all)
  if (near.length > 0) return `Did you mean ${quote(near)}?`
  if (all.length === 0) return "There are none."
  const more = all.length > few ? `, and ${all.length - few} more` : ""
  return `There are: ${quote(all.slice(0, few))}${more}.`
}
