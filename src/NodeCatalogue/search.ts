/** Full-text search over node types. */
import * as Effect from "effect/Effect"
import { distance } from "fastest-levenshtein"
import MiniSearch from "minisearch"
import * as N8nError from "../N8nError.ts"
import { suggestion } from "../Nearest.ts"
import { cut, type Document, type Row, type Text } from "./document.ts"
import * as vocabulary from "./vocabulary.ts"
import { joined, same, singular, spaced, stem, terms, words } from "./words.ts"

export { type Document, type Row, toDocument } from "./document.ts"

export interface Query {
  /** Names, words, or a type. */
  readonly keyword?: string | undefined
  /** A category or subcategory of n8n's codex, `trigger`, `action`, `http` or `database`; in whatever case. */
  readonly category?: string | undefined
  /** What the node is for: more words. */
  readonly functionality?: string | undefined
  readonly limit: number
}

export interface Hits {
  /** How many match in all; `nodes` has the best of them. */
  readonly count: number
  readonly nodes: ReadonlyArray<Row>
}

export interface Index {
  readonly documents: ReadonlyArray<Document>
  readonly text: MiniSearch<Text & { readonly id: number }>
  /** Every term, to tell a typo from a word. */
  readonly known: ReadonlySet<string>
}

const fields: ReadonlyArray<keyof Text> = ["name", "says", "alias", "kind", "operations", "description"]
const boost: { readonly [field in keyof Text]: number } = {
  name: 4,
  says: 2.5,
  alias: 1.5,
  kind: 1.2,
  operations: 0.4,
  description: 1
}

/** The documents as text for `open`; at build time. */
export const serialize = (documents: ReadonlyArray<Document>): string => JSON.stringify(documents)

/** Indexes documents: those of `serialize`, and more. */
export const open = (text: string, more: ReadonlyArray<Document> = []): Index => {
  const documents = [...JSON.parse(text) as ReadonlyArray<Document>, ...more]
  const known = new Set<string>()
  const index = new MiniSearch<Text & { readonly id: number }>({
    fields: [...fields],
    tokenize: (text) => text === "" ? [] : text.split(/,? /),
    processTerm: (term) => {
      known.add(term)
      return term
    },
    searchOptions: { boost, bm25: { k: 1.2, b: 0.3, d: 0.5 }, processTerm: (term) => term }
  })
  index.addAll(documents.map(({ text }, id) => ({ ...text, id })))
  return { documents, text: index, known }
}

/** More words than anyone asks with. */
const maxWords = 24

/** One word of a question in the forms it is looked up in. */
type Forms = ReadonlyArray<string>

const swapped = (word: string) =>
  Array.from(word).slice(1).map((_, at) => word.slice(0, at) + word[at + 1] + word[at] + word.slice(at + 2))

/** The words of a question, without those that say nothing. */
const formsOf = ({ known }: Index, question: string): ReadonlyArray<Forms> => {
  const isKnown = (word: string) => known.has(word) || known.has(singular(word)) || known.has(stem(word))
  const asked = question.slice(0, 1_000).split(/[^\p{L}\p{M}\p{N}'’]+/u)
    .flatMap((word) => isKnown(joined(word)) ? words(word) : words(spaced(word)))
    .flatMap(same)
  return asked.map((word, at) => {
    const pairs = [asked[at - 1], asked[at + 1]].map((other, after) =>
      other === undefined ? "" : after === 1 ? word + other : other + word
    ).filter((pair) => known.has(pair))
    if (vocabulary.stopWords.has(word)) return pairs
    const meant = isKnown(word) || word.length < 4 ? word : swapped(word).find(isKnown) ?? word
    return [...new Set([meant, singular(meant), stem(meant), ...pairs])]
  }).filter((forms) => forms.length > 0).slice(0, maxWords)
}

/** How much an action and a trigger are what was asked for. */
const meant = { action: [1, 0.6], event: [0.7, 1.7], start: [0.5, 2.2], trigger: [0.25, 2.2] } as const

const triggerWanted = (question: string): keyof typeof meant =>
  /\bt?ri+g+e+r(s|ed)?\b/.test(question.replace(/^trigger (an?|the|my|another)\b/, ""))
    ? "trigger"
    : vocabulary.happening.test(question)
    ? "start"
    : vocabulary.happened.test(question) && !vocabulary.order.test(question)
    ? "event"
    : "action"

const fullType = /^(?:@n8n\/)?(?:n8n-)?nodes-(?:base|langchain)\./

interface Scored {
  readonly document: Document
  readonly score: number
}

const mostUsed = (documents: ReadonlyArray<Document>): ReadonlyArray<Scored> =>
  documents.filter(({ outdated }) => !outdated)
    .map((document) => ({ document, score: document.common }))
    .toSorted((a, b) => b.score - a.score || a.document.row.name.localeCompare(b.document.row.name))

/** How much of the question and of a phrase are one and the same, from 0 to 1. */
const likeness = (says: string, asked: ReadonlySet<string>): number => {
  if (says === "") return 0
  return Math.max(
    ...says.split(", ").map((phrase) => {
      const terms = phrase.split(" ")
      const both = terms.filter((term) => asked.has(term)).length
      return both / (terms.length + asked.size - both)
    })
  )
}

/** What scores less than this part of the best is noise. */
const tail = 0.015

/** How many typos a word of its length may have. */
const typos = (word: string) => word.length > 7 ? 2 : word.length > 3 ? 1 : 0

const rank = (index: Index, question: string): ReadonlyArray<Scored> => {
  const forms = formsOf(index, question)
  const unknown = (term: string) => !index.known.has(term)
  const found = index.text.search([...new Set(forms.flat())].join(" "), {
    prefix: (term) => term.length > 3 && unknown(term),
    fuzzy: (term) => unknown(term) && typos(term),
    boostTerm: (term) => vocabulary.weak.has(term) ? 0.3 : 1
  })
  const matches = found.map(({ queryTerms }) => forms.map((each) => each.some((form) => queryTerms.includes(form))))
  // What many nodes match says little; what none matches says nothing.
  const weights = forms.map((each, at) => {
    const count = matches.filter((match) => match[at]).length
    const weight = count === 0 ? 0 : Math.log(1 + index.documents.length / count)
    return each.some((form) => vocabulary.weak.has(form)) ? weight * 0.3 : weight
  })
  const all = weights.reduce((sum, weight) => sum + weight, 0)
  const misspelt = forms.some((each) => each.every(unknown))
  const lower = spaced(question).toLowerCase()
  const whole = joined(lower.replace(/\btriggers?\b/g, ""))
  const asked = new Set(forms.flatMap(([word = ""]) => terms(word)))

  const relevant = found.flatMap(({ id, score, terms }, at) => {
    const document = index.documents[id]
    if (document === undefined) return []
    const local = joined(document.row.id.slice(document.row.id.lastIndexOf(".") + 1))
    const service = local.replace(/trigger$/, "")
    const exactly = [local, service, document.named.join("")].some((name) =>
      name === whole || misspelt && typos(whole) > 0 && distance(name, whole) <= typos(whole)
    )
    if (document.outdated && !exactly) return []
    const covered = weights.reduce((sum, weight, word) => matches[at]?.[word] ? sum + weight : sum, 0) / (all || 1)
    const named = document.named.filter((word) => terms.includes(word)).length / document.named.length
    const relevance = score * covered ** 2.5 * (1 + 0.6 * named ** 2) * (exactly ? 2.5 : 1) *
      (document.named.length === 1 && document.named[0] === forms[0]?.[0] ? 1.5 : 1) *
      (1 + 1.5 * likeness(document.text.says, asked) ** 2)
    return [{ document, service, relevance: document.outdated ? relevance * 0.1 : relevance }]
  })
  // The trigger and the action of one service are found by the same words; which of them is meant is told apart.
  const services = new Map<string, number>()
  for (const { relevance, service } of relevant) {
    services.set(service, Math.max(relevance, services.get(service) ?? 0))
  }
  const [asAction = 1, asTrigger = 1] = meant[triggerWanted(lower)]
  const scored = relevant.map(({ document, relevance, service }) => ({
    document,
    score: Math.max(relevance, document.outdated ? 0 : 0.8 * (services.get(service) ?? 0)) *
      (document.trigger ? asTrigger : asAction) * (1 + document.common * 0.5)
  })).toSorted((a, b) => b.score - a.score)
  return scored.filter(({ score }) => score >= (scored[0]?.score ?? 0) * tail)
}

/** Bytes that an answer's rows may take, for each row asked for; a few rows may be wide. */
const room = { row: 140, least: 900 }

const size = (value: unknown) => Buffer.byteLength(JSON.stringify(value))

/** Makes rows say less, the last first, and drops the last, until they fit. */
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

/** Every category there is, the widest first. */
export const categories = ({ documents }: Index): ReadonlyArray<string> => {
  const counts = new Map<string, number>()
  for (const { categories } of documents) for (const name of categories) counts.set(name, (counts.get(name) ?? 0) + 1)
  return [...counts].toSorted(([, a], [, b]) => b - a).map(([name]) => name)
}

/** The best matches first; without words the most used. An unknown category fails with those there are. */
export const search = (
  index: Index,
  { category = "", functionality = "", keyword = "", limit }: Query
): Effect.Effect<Hits, N8nError.Validation> => {
  const wanted = fold(category)
  if (category.trim() !== "" && !categories(index).some((name) => fold(name) === wanted)) {
    return Effect.fail(
      new N8nError.Validation({
        reason: `There is no category '${category.slice(0, 60)}'`,
        field: "category",
        hint: suggestion(category, categories(index), 20)
      })
    )
  }
  const question = `${keyword} ${functionality}`.trim().replace(fullType, "")
  const asks = /[\p{L}\p{N}]/u.test(question)
  const onlyTriggers = asks && formsOf(index, question).length === 0 &&
    triggerWanted(question.toLowerCase()) === "trigger"
  const all = asks && !onlyTriggers ? rank(index, question) : mostUsed(index.documents)
  const type = keyword.trim().toLowerCase()
  const named = index.documents.filter(({ row }) => row.id.toLowerCase() === type)
  const matching = [...named, ...all.map(({ document }) => document).filter((document) => !named.includes(document))]
    .filter(({ categories, trigger }) =>
      (wanted === "" || categories.some((name) => fold(name) === wanted)) && (trigger || !onlyTriggers)
    )
  return Effect.succeed({
    count: matching.length,
    nodes: fit(matching.slice(0, limit).map(({ row }) => row), Math.max(limit * room.row, room.least))
  })
}
