/** Rows of an answer or a report: equal ones as one group, and the first of many in words. Pure. */
import type { NonEmptyReadonlyArray } from "effect/Array"
import * as Visible from "./Visible.ts"

/** Equal rows; the first stands for all. */
export interface Group<A> {
  readonly first: A
  readonly rows: NonEmptyReadonlyArray<A>
  readonly count: number
}

/** Equal rows as one group each, in the order of their first; rows are equal if their keys are the same JSON. */
export const grouped = <A>(rows: Iterable<A>, keyOf: (row: A) => unknown): ReadonlyArray<Group<A>> =>
  [...Map.groupBy(rows, (row) => JSON.stringify(keyOf(row))).values()].map((all) => {
    const rows = all as unknown as NonEmptyReadonlyArray<A>
    return { first: rows[0], rows, count: rows.length }
  })

/** Numbers of rows by key, in the order of the first row of each. */
export const counts = <A>(rows: Iterable<A>, keyOf: (row: A) => string): { readonly [key: string]: number } =>
  Object.fromEntries(grouped(rows, keyOf).map(({ count, first }) => [keyOf(first), count]))

/** Numbers of rows by key as part of a sentence: `3 failed, 1 slow`. */
export const tally = <A>(rows: Iterable<A>, keyOf: (row: A) => string): string =>
  Object.entries(counts(rows, keyOf)).map(([key, count]) => `${count} ${key}`).join(", ")

/**
 * The first texts and the number of the others: `A, B and 3 more`; after lines, the number has a line of its own.
 * `total` also counts those of which there are no texts.
 */
export const listed = (
  texts: ReadonlyArray<string>,
  most: number,
  separator = ", ",
  total = texts.length
): string => {
  const shown = texts.slice(0, most).join(separator)
  const gap = separator.endsWith("\n") ? separator : " "
  return total > most ? `${shown}${gap}and ${total - most} more` : shown
}

/** A name as part of a sentence. */
export const quote = (name: string, length?: number): string => `'${Visible.label(name, length)}'`

/** Names of which one may be meant: `'A' or 'B'`. */
export const alternatives = (all: Iterable<string>): string => [...all].map((name) => quote(name)).join(" or ")

/** Names as part of a sentence, each once: `'A', 'B' and 3 more`. */
export const names = (all: Iterable<string>, most = 8, length?: number): string =>
  listed([...new Set(all)].map((name) => quote(name, length)), most)

/** Returns elements whose names differ; of two of one name, the second would never be called. */
export const distinct = <A>(what: string, all: ReadonlyArray<A>, nameOf: (one: A) => string): ReadonlyArray<A> => {
  const names = all.map(nameOf)
  const repeated = names.find((name, index) => names.indexOf(name) !== index)
  if (repeated === undefined) return all
  throw new Error(
    `Two ${what} have the name '${repeated}', and the second is never called: name it otherwise, or leave one out`
  )
}
