/** Node types in the search: the words that find them, and their rows in answers. */
import { stemmer } from "stemmer"
import * as NodeType from "../types/NodeType.ts"
import * as ToolVariant from "../types/ToolVariant.ts"

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

/** Row of an answer; the last rows of a long answer are shortened. */
export interface Row {
  readonly id: string
  readonly name: string
  readonly description?: string
  readonly categories?: ReadonlyArray<string>
  readonly version: number
  /** Most important parameters: the first values of a choice, or the types of required ones. */
  readonly parameters?: { readonly [name: string]: string | ReadonlyArray<string> }
}

export type Document = ReturnType<typeof toDocument>

/** Facts about types that n8n's packages lack; `ai.` is `@n8n/n8n-nodes-langchain.`, no prefix `n8n-nodes-base.`. */
export interface TypeLists {
  /** Purposes of a type, in the words of people who search for it. */
  readonly phrases: { readonly [type: string]: string }
  readonly kinds: ReadonlyArray<{ readonly types: string; readonly phrases: string }>
  readonly mostUsed: string
  /** Types of no use in a new workflow, though not hidden in n8n. */
  readonly unwanted: string
  /** Types of categories that n8n does not have. */
  readonly categories: { readonly [name: string]: string }
}

const includes = (list: string, word: string) => list.split(" ").includes(word)

/** Beginning of the first sentence, up to the end of a word. */
export const cut = (text: string, length: number): string => {
  const sentence = text.trim().replace(/\s*\.(\s.*)?$/s, "")
  if (sentence.length <= length) return sentence
  const end = sentence.lastIndexOf(" ", length - 1)
  return `${sentence.slice(0, end < length / 2 ? length - 1 : end).replace(/[\s,;:(–-]+$/, "")}…`
}

const few = (values: ReadonlyArray<string>, room: number): ReadonlyArray<string> => {
  const fits = values.filter((_, index) => values.slice(0, index + 1).join("\",\"").length <= room)
  return fits.length === values.length ? values : [...fits, "…"]
}

/** Parameters that distinguish what a node does, the most telling first. */
const choosing = "resource operation mode action event events updates triggerOn topic httpMethod method".split(" ")

const valuesOf = (
  properties: ReadonlyArray<NodeType.Property>,
  name: string
) => [
  ...new Set(
    properties.filter((property) => property.name === name).flatMap(NodeType.choices).map(({ value }) => `${value}`)
  )
]

const fewParameters = (properties: ReadonlyArray<NodeType.Property>): Row["parameters"] => {
  const name = choosing.find((name) => valuesOf(properties, name).length > 1)
  if (name !== undefined) return { [name]: few(valuesOf(properties, name), 56) }
  const required = properties.filter(({ displayOptions, required }) =>
    required === true && displayOptions === undefined
  )
  return required.length === 0
    ? undefined
    : Object.fromEntries(required.slice(0, 3).map(({ name, type }) => [name, type]))
}

const subcategoriesOf = (of: unknown): ReadonlyArray<string> =>
  typeof of === "object" && of !== null ? Object.values(of).flat().filter((name) => typeof name === "string") : []

/** Tool variant for AI agents. */
const toolOf = (nodeType: NodeType.NodeType): Pick<Row, "id" | "name" | "version"> | undefined => {
  const id = `${nodeType.type}Tool`
  const variant = ToolVariant.variant(id, nodeType)
  const name = variant?.descriptions[0]?.displayName
  return variant === undefined || name === undefined
    ? undefined
    : { id, name, version: NodeType.defaultVersion(variant) }
}

/** Document of a type, which need not be in `lists`; its texts are stems separated by spaces, so that nothing has to be stemmed at run time. */
export const toDocument = (
  nodeType: NodeType.NodeType,
  { terms }: Words,
  lists?: TypeLists,
  successors: ReadonlyArray<string> = []
) => {
  const { type } = nodeType
  const version = NodeType.defaultVersion(nodeType)
  const description = NodeType.at(nodeType, version) ?? nodeType.descriptions[0]
  if (description === undefined) throw new Error(`${type} has no description`)
  const codex = nodeType.descriptions.find(({ codex }) => codex !== undefined)?.codex ?? {}
  const short = type.replace(/^n8n-nodes-base\./, "").replace(/^@n8n\/n8n-nodes-langchain\./, "ai.")
  const local = NodeType.shortName(type)
  const trigger = description.group.includes("trigger")
  const plainName = description.displayName.replace(/\s*\(Beta\)/g, "").trim()
  const tool = toolOf(nodeType)
  const names = [plainName, local, local.replace(/Trigger$/, "")]
  const categories = (codex.categories ?? []).map((name) => name.trim())
  const subcategories = subcategoriesOf(codex.subcategories)
  const mostUsed = lists?.mostUsed.split(" ") ?? []
  const place = mostUsed.indexOf(short)
  // The phrases of an action suit its trigger.
  const typeAndAction = [...new Set([short, short.replace(/Trigger$/, "")])]
  const kinds = lists?.kinds.filter(({ types }) => typeAndAction.some((each) => includes(types, each))) ?? []
  const choices = description.properties.filter(({ name }) => choosing.includes(name)).flatMap(NodeType.choices)
  const says = description.description ?? ""
  const parameters = fewParameters(description.properties)

  const row: Row = {
    id: type,
    name: description.displayName,
    description: cut(says, 70),
    categories,
    version,
    ...(parameters && { parameters })
  }

  const textOf = (texts: ReadonlyArray<string>) => terms(texts.join(" ")).join(" ")
  return {
    row,
    text: {
      name: [
        ...new Set([
          ...terms(names.map(spaced).join(" ")),
          ...[...names, ...(tool ? [`${local}Tool`] : [])].map(joined)
        ])
      ].join(" "),
      phrases: textOf(typeAndAction.map((each) => lists?.phrases[each] ?? "")),
      alias: textOf(codex.alias ?? []),
      kind: textOf([...kinds.map(({ phrases }) => phrases), ...categories, ...subcategories]),
      operations: textOf(choices.map(({ description, name }) => `${name} ${description ?? ""}`)),
      description: textOf([says])
    },
    ...(tool && { tool }),
    /** Names of the type and of its tool variant, in full and as in the type, each as one word. */
    names: [row, tool].flatMap((each) =>
      each === undefined ? [] : [each.name, each.name.replace(/\(.*\)/, ""), each.id.replace(/.*\./, "")]
    ).map(joined),
    aliases: (codex.alias ?? []).map(joined),
    categories: [
      ...categories,
      ...subcategories,
      ...Object.entries(lists?.categories ?? {}).filter(([, types]) => includes(types, short)).map(([name]) => name),
      trigger ? "Trigger" : "Action"
    ],
    trigger,
    /** Whether it is hidden in n8n, deprecated or a dummy: only its name finds it. */
    outdated: description.hidden === true || includes(lists?.unwanted ?? "", short) ||
      /\b(deprecated|legacy|internal)\b/i.test(`${description.displayName} ${says}`),
    successors,
    /** From 1 (most used) to 0. */
    popularity: place < 0 ? 0 : 1 - place / mostUsed.length
  }
}
