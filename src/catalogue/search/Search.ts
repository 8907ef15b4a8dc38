/** Full-text search over node types. */
import * as Effect from "effect/Effect"
import MiniSearch from "minisearch"
import * as Errors from "../../base/Errors.ts"
import { suggestion } from "../../base/Nearest.ts"
import type { NodeType } from "../types/NodeType.ts"
import { deprecations } from "../types/Releases.ts"
import {
  cut,
  type Document,
  joined,
  make as makeWords,
  type Row,
  spaced,
  stem,
  toDocument,
  type TypeLists,
  type WordLists,
  type Words,
  words as wordsOf
} from "./document.ts"
import type { Query } from "./Query.ts"

export type { Row } from "./document.ts"
export type { Query } from "./Query.ts"

/** Matching types, best first. */
export interface Hits {
  /** Number of all matches; `nodes` has the best of them. */
  readonly count: number
  readonly nodes: ReadonlyArray<Row>
}

export interface Contents {
  readonly words: WordLists
  readonly documents: ReadonlyArray<Document>
}

export interface Index {
  readonly documents: ReadonlyArray<Document>
  /** @internal */
  readonly text: MiniSearch<Document["text"] & { readonly id: number }>
  readonly words: Words
  readonly terms: ReadonlySet<string>
}

const fields: ReadonlyArray<keyof Document["text"]> = ["name", "phrases", "alias", "kind", "operations", "description"]

const boost = { name: 4, phrases: 4, operations: 0.4 }

export const serialize = (types: ReadonlyArray<NodeType>, lists: WordLists & TypeLists): string => {
  const { eventWords, stopWords, synonyms, weakWords } = lists
  const words = { synonyms, stopWords, weakWords, eventWords }
  const byLists = makeWords(words)
  const successors = deprecations(types)
  const contents: Contents = {
    words,
    documents: types.map((type) => toDocument(type, byLists, lists, successors[type.type]))
  }
  return JSON.stringify(contents)
}

/** Indexes serialized contents and more types. */
export const open = (serialized: string, more: ReadonlyArray<NodeType> = []): Index => {
  const contents = JSON.parse(serialized) as Contents
  const words = makeWords(contents.words)
  const documents = [...contents.documents, ...more.map((type) => toDocument(type, words))]
  const terms = new Set<string>()
  const text = new MiniSearch<Document["text"] & { readonly id: number }>({
    fields: [...fields],
    tokenize: (text) => text === "" ? [] : text.split(" "),
    processTerm: (term) => {
      terms.add(term)
      return term
    },
    searchOptions: { boost, processTerm: (term) => term }
  })
  text.addAll(documents.map(({ text }, id) => ({ ...text, id })))
  return { documents, text, words, terms }
}

const maxWords = 24

const swapsOf = (word: string) =>
  Array.from(word).slice(1).map((_, at) => word.slice(0, at) + word[at + 1] + word[at] + word.slice(at + 2))

/** All words of a question, and the terms to search for, without stop words. */
const analyze = ({ terms, words }: Index, question: string) => {
  const isKnown = (word: string) => terms.has(word) || terms.has(stem(word))
  const all = question.slice(0, 1_000).split(/\s+/)
    .flatMap((word) => wordsOf(isKnown(joined(word)) ? word : spaced(word)))
    .flatMap(words.expand)
  const searched = all.filter((word) => !words.isStopWord(word)).map((word) => {
    const isTypo = word.length > 3 && !isKnown(word)
    return stem(isTypo ? swapsOf(word).find(isKnown) ?? word : word)
  })
  return { all, searched: [...new Set(searched)].slice(0, maxWords) }
}

const factors = { action: { action: 1, trigger: 0.6 }, trigger: { action: 0.6, trigger: 2 } } as const

const isForAgent = (all: ReadonlyArray<string>) => all.some((word) => /(tool|agent)s?$/.test(word))

const toolFactor = 1.5

const kindOf = ({ words }: Index, all: ReadonlyArray<string>): keyof typeof factors =>
  all.some((word, at) => words.isEvent(word) || /^t?ri+g+e+r(s|ed)?$/.test(word) && (at > 0 || all.length === 1))
    ? "trigger"
    : "action"

const fullType = /^(?:@n8n\/)?(?:n8n-)?nodes-(?:base|langchain)\./

const mostUsed = (documents: ReadonlyArray<Document>): ReadonlyArray<Document> =>
  documents.filter(({ outdated }) => !outdated)
    .toSorted((a, b) => b.popularity - a.popularity || a.row.name.localeCompare(b.row.name))

/** Fraction of the best score below which a match is noise. */
const noise = 0.12

const rank = (
  index: Index,
  { all, searched }: ReturnType<typeof analyze>
): ReadonlyArray<Document> => {
  const isUnknown = (term: string) => !index.terms.has(term)
  const boostTerm = (term: string) => index.words.isWeak(term) ? 0.3 : 1
  const hits = index.text.search(searched.join(" "), {
    prefix: (term) => term.length > 3 && isUnknown(term),
    fuzzy: (term) => isUnknown(term) && (term.length > 7 ? 2 : term.length > 3 ? 1 : 0),
    boostTerm
  })
  // Rare terms count more.
  const counts = new Map<string, number>()
  for (const term of hits.flatMap(({ queryTerms }) => queryTerms)) counts.set(term, (counts.get(term) ?? 0) + 1)
  const weightOf = (term: string) => boostTerm(term) * Math.log(1 + index.documents.length / (counts.get(term) ?? 1))
  const weigh = (terms: Iterable<string>) => [...terms].reduce((sum, term) => sum + weightOf(term), 0)
  const total = weigh(counts.keys())

  const factor = factors[kindOf(index, all)]
  const forTool = isForAgent(all) ? toolFactor : 1
  const scored = hits.flatMap(({ id, queryTerms, score }) => {
    const document = index.documents[id]
    if (document === undefined || document.outdated) return []
    return [{
      document,
      score: score * weigh(queryTerms) / total * (1 + document.popularity / 2) *
        factor[document.trigger ? "trigger" : "action"] *
        (document.tool === undefined ? 1 : forTool)
    }]
  }).toSorted((a, b) => b.score - a.score)
  return scored.filter(({ score }) => score >= (scored[0]?.score ?? 0) * noise).map(({ document }) => document)
}

const lift = (list: ReadonlyArray<Document>, place: number, documents: ReadonlyArray<Document>) => [
  ...new Set([...list.slice(0, place), ...documents, ...list])
]

/** Maximum number of successors before an outdated node, which keeps it among the first three. */
const maxSuccessors = 2

/** Ranks documents named as the question first, and the best with it as an alias third; outdated ones come later. */
const liftNamed = (
  { documents }: Index,
  question: string,
  all: ReadonlyArray<string>,
  ranked: ReadonlyArray<Document>
): ReadonlyArray<Document> => {
  const keys = new Set([joined(question), joined(question.replace(/\bnode\s*$/i, "")), all.join("")])
  const place = (document: Document) => ranked.indexOf(document) >>> 0
  const having = (key: "names" | "aliases") =>
    documents.filter((document) => document[key].some((name) => keys.has(name))).toSorted((a, b) => place(a) - place(b))
  const isCurrent = ({ outdated }: Document) => !outdated
  const named = having("names")
  const replaced = named.flatMap((document) => [
    ...document.successors.slice(0, maxSuccessors).flatMap((type) => documents.filter(({ row }) => row.id === type)),
    document
  ])
  const first = named.some(isCurrent) ? named.filter(isCurrent) : replaced
  return lift(lift(ranked, 0, first), 2, having("aliases").filter(isCurrent).slice(0, 1))
}

/** Size limit of an answer in bytes: for each requested row, and the minimum for few rows. */
const room = { row: 140, least: 900 }

const size = (value: unknown) => Buffer.byteLength(JSON.stringify(value))

/** Shortens rows, the last first, and drops the last, until they fit. */
const fit = (rows: ReadonlyArray<Row>, bytes: number): ReadonlyArray<Row> => {
  const less: ReadonlyArray<(row: Row) => Row> = [
    ({ parameters: _, ...row }) => row,
    (row) => row.description === undefined ? row : { ...row, description: cut(row.description, 40) },
    (row) => row.categories === undefined ? row : { ...row, categories: row.categories.slice(0, 1) }
  ]
  const fitting = [...rows]
  for (const reduce of less) {
    for (let at = fitting.length - 1; at > 0 && size(fitting) > bytes; at--) {
      const row = fitting[at]
      if (row !== undefined) fitting[at] = reduce(row)
    }
  }
  while (fitting.length > 1 && size(fitting) > bytes) fitting.pop()
  return fitting
}

const fold = (name: string) => joined(name).replace(/(node)?s$/, "")

export const categories = ({ documents }: Index): ReadonlyArray<string> => {
  const counts = new Map<string, number>()
  for (const { categories } of documents) for (const name of categories) counts.set(name, (counts.get(name) ?? 0) + 1)
  return [...counts].toSorted(([, a], [, b]) => b - a).map(([name]) => name)
}

/** Best matches first; without words, the most used types. Fails for an unknown category. */
export const search = (
  index: Index,
  { category = "", functionality = "", keyword = "", limit }: Query
): Effect.Effect<Hits, Errors.ValidationError> => {
  const foldedCategory = fold(category)
  if (category.trim() !== "" && !categories(index).some((name) => fold(name) === foldedCategory)) {
    return Effect.fail(
      Errors.invalid(
        "category",
        `There is no category '${category.slice(0, 60)}'`,
        suggestion(category, categories(index), 20)
      )
    )
  }
  const question = `${keyword} ${functionality}`.trim().replace(fullType, "")
  const asks = /[\p{L}\p{N}]/u.test(question)
  const analyzed = analyze(index, question)
  const onlyTriggers = asks && analyzed.searched.length === 0 && kindOf(index, analyzed.all) === "trigger"
  const ranked = asks && !onlyTriggers ? rank(index, analyzed) : mostUsed(index.documents)
  const type = keyword.trim().toLowerCase()
  const typed = index.documents.filter(({ row }) => row.id.toLowerCase() === type)
  const lifted = lift(liftNamed(index, question, analyzed.all, ranked), 0, typed)
  const matching = lifted.filter(({ categories, trigger }) =>
    (foldedCategory === "" || categories.some((name) => fold(name) === foldedCategory)) && (trigger || !onlyTriggers)
  )
  const forAgent = isForAgent(analyzed.all)
  const rows = matching.flatMap(({ row, tool }) => forAgent && tool !== undefined ? [{ ...row, ...tool }, row] : [row])
  return Effect.succeed({
    count: rows.length,
    nodes: fit(rows.slice(0, limit), Math.max(limit * room.row, room.least))
  })
}
