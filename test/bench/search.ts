/**
 * `pnpm bench search`: how well node_search finds the right node. For each set of queries it prints the share in the
 * first ten and three, and the mean reciprocal rank; compared with plain MiniSearch over n8n's own texts, and with the
 * search without each of its word lists.
 */
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import MiniSearch from "minisearch"
import * as Search from "../../src/catalogue/search/Search.ts"
import wordLists from "../../src/catalogue/search/wordLists.json" with { type: "json" }
import * as NodeType from "../../src/catalogue/types/NodeType.ts"
import { blindQueries, queries } from "../catalogue/search/queries.ts"
import * as nodeTypes from "../support/nodeTypes.ts"

type Ranked = (query: string) => ReadonlyArray<string>

const types = [...nodeTypes.all.values()]
const { blind = {}, ...tuned } = queries
const { japanese = {}, japaneseBlind = {}, ...english } = blindQueries
const sets: { readonly [name: string]: { readonly [query: string]: string } } = {
  "blind, new": Object.assign({}, ...Object.values(english)),
  "blind, Japanese": japaneseBlind,
  "blind, old": blind,
  "known to the lists": Object.assign({}, japanese, ...Object.values(tuned))
}

const short = (id: string) => id.replace("@n8n/n8n-nodes-langchain.", "ai.").replace("n8n-nodes-base.", "")

const withLists = (changed: Partial<typeof wordLists> = {}): Ranked => {
  const index = Search.open(Search.serialize(types, { ...wordLists, ...changed }))
  return (keyword) => Effect.runSync(Search.search(index, { keyword, limit: 10 })).nodes.map(({ id }) => short(id))
}

/** MiniSearch over the texts in n8n's packages. */
const plain = (): Ranked => {
  const index = new MiniSearch({
    fields: ["type", "name", "alias", "description", "categories", "operations"],
    storeFields: ["type", "hidden"],
    searchOptions: { prefix: true, fuzzy: 0.2, boost: { type: 4, name: 4, alias: 2, operations: 0.5 } }
  })
  index.addAll(types.map((type, id) => {
    const description = NodeType.at(type, NodeType.defaultVersion(type))
    const { codex, displayName, properties = [] } = description ?? {}
    const choices = properties.filter(({ name }) => name === "resource" || name === "operation")
    return {
      id,
      type: short(type.type),
      name: displayName,
      alias: codex?.alias?.join(" "),
      description: description?.description,
      categories: codex?.categories?.join(" "),
      operations: choices.flatMap(NodeType.choices).map((each) => `${each.name} ${each.description ?? ""}`).join(" "),
      hidden: description?.hidden === true
    }
  }))
  return (query) =>
    index.search(query, { filter: ({ hidden }) => hidden !== true }).slice(0, 10).map(({ type }) => type)
}

const measure = (ranked: Ranked, queries: { readonly [query: string]: string }) => {
  let rows = 0
  const ranks = Object.entries(queries).map(([query, types]) => {
    const right = new Set(types.split(" ").flatMap((type) => [type, `${type}Tool`]))
    const found = ranked(query)
    rows += found.length
    return found.findIndex((type) => right.has(type)) + 1
  })
  const share = (best: number) => 100 * ranks.filter((rank) => rank > 0 && rank <= best).length / ranks.length
  const reciprocals = ranks.map((rank) => rank === 0 ? 0 : 1 / rank)
  return {
    ten: share(10).toFixed(1),
    three: share(3).toFixed(1),
    rows,
    asked: ranks.length,
    mean: (reciprocals.reduce((sum, each) => sum + each, 0) / ranks.length).toFixed(3)
  }
}

const contenders: ReadonlyArray<readonly [name: string, make: () => Ranked]> = [
  ["plain MiniSearch", plain],
  ["node_search", withLists],
  ["… without phrases", () => withLists({ phrases: {} as typeof wordLists.phrases, kinds: [] })],
  ["… without kinds", () => withLists({ kinds: [] })],
  ["… without synonyms", () => withLists({ synonyms: {} as typeof wordLists.synonyms })],
  ["… without stop words", () => withLists({ stopWords: "" })],
  ["… without weak words", () => withLists({ weakWords: "" })],
  ["… without event words", () => withLists({ eventWords: "" })],
  ["… without popularity", () => withLists({ mostUsed: "" })]
]

const cell = (text: string) => text.padEnd(22)

const report = Effect.gen(function*() {
  yield* Console.log(cell("@10 / @3 / MRR") + Object.keys(sets).map(cell).join("") + "rows  ms a query")
  for (const [name, make] of contenders) {
    const ranked = make()
    const start = performance.now()
    const results = Object.values(sets).map((queries) => measure(ranked, queries))
    const took = performance.now() - start
    const asked = results.reduce((sum, { asked }) => sum + asked, 0)
    const rows = results.reduce((sum, { rows }) => sum + rows, 0)
    yield* Console.log(
      cell(name) + results.map(({ mean, ten, three }) => cell(`${ten} / ${three} / ${mean}`)).join("") +
        `${(rows / asked).toFixed(1)}   ${(took / asked).toFixed(2)}`
    )
  }
})

Effect.runSync(report)
