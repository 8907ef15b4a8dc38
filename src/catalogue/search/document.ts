/** A node type as the search keeps it: the words that find it, and the row that an answer shows. */
import * as NodeType from "../types/NodeType.ts"
import * as ToolVariant from "../types/ToolVariant.ts"
import { joined, spaced, type Words } from "./words.ts"

/** What an answer says of a type; the last rows of a long one say less. */
export interface Row {
  /** The type: `n8n-nodes-base.httpRequest`. */
  readonly id: string
  readonly name: string
  readonly description?: string
  readonly categories?: ReadonlyArray<string>
  /** Version that a new node gets. */
  readonly version: number
  /** The few that matter: the first values of a choice, the kind of a required one. */
  readonly parameters?: { readonly [name: string]: string | ReadonlyArray<string> }
}

/** The searched fields: stems with a space between, so that nothing has to be stemmed at run time. */
export interface Text {
  readonly name: string
  readonly phrases: string
  readonly alias: string
  readonly kind: string
  readonly operations: string
  readonly description: string
}

export interface Document {
  readonly row: Row
  readonly text: Text
  /** The tool for AI agents that n8n makes of the type. */
  readonly tool?: Pick<Row, "id" | "name" | "version">
  /** Names of it and of its tool, in full and as in the type, each as one word. */
  readonly names: ReadonlyArray<string>
  /** n8n's other names for it, each as one word. */
  readonly aliases: ReadonlyArray<string>
  /** n8n's categories and subcategories, and ours. */
  readonly categories: ReadonlyArray<string>
  readonly trigger: boolean
  /** Hidden in n8n, deprecated or a dummy: only its name finds it. */
  readonly outdated: boolean
  /** Types to use instead, if it is deprecated. */
  readonly successors: ReadonlyArray<string>
  /** Popularity, 1 (most used) to 0. */
  readonly popularity: number
}

/**
 * What n8n's packages do not say about their types. `ai.` is short for `@n8n/n8n-nodes-langchain.`, no prefix for
 * `n8n-nodes-base.`; types are listed with a space between, phrases with a comma.
 */
export interface TypeLists {
  /** What a type is for, in the words of those who look for it. */
  readonly phrases: { readonly [type: string]: string }
  /** The same for several types of a kind. */
  readonly kinds: ReadonlyArray<{ readonly types: string; readonly phrases: string }>
  /** The most used first. */
  readonly mostUsed: string
  /** Of no use in a new workflow, though not hidden in n8n. */
  readonly unwanted: string
  /** Types of categories that n8n does not have. */
  readonly categories: { readonly [name: string]: string }
}

const shortOf = (type: string): string =>
  type.replace(/^n8n-nodes-base\./, "").replace(/^@n8n\/n8n-nodes-langchain\./, "ai.")

const includes = (list: string, word: string) => list.split(" ").includes(word)

/** The sentence's beginning, to a word's end. */
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

const choosing = [
  "resource",
  "operation",
  "mode",
  "action",
  "event",
  "events",
  "updates",
  "triggerOn",
  "topic",
  "httpMethod",
  "method"
]

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
  typeof of === "object" && of !== null
    ? Object.values(of).flat().filter((name) => typeof name === "string")
    : []

const toolOf = (nodeType: NodeType.NodeType): Document["tool"] => {
  const id = `${nodeType.type}Tool`
  const variant = ToolVariant.variant(id, nodeType)
  const name = variant?.descriptions[0]?.displayName
  return variant === undefined || name === undefined
    ? undefined
    : { id, name, version: NodeType.defaultVersion(variant) }
}

/** Makes documents of types; `lists` need not know them. */
export const toDocument = (
  nodeType: NodeType.NodeType,
  { terms }: Words,
  lists?: TypeLists,
  successors: ReadonlyArray<string> = []
): Document => {
  const { type } = nodeType
  const version = NodeType.defaultVersion(nodeType)
  const description = NodeType.at(nodeType, version) ?? nodeType.descriptions[0]
  if (description === undefined) throw new Error(`${type} has no description`)
  const codex = nodeType.descriptions.find(({ codex }) => codex !== undefined)?.codex ?? {}
  const short = shortOf(type)
  const local = type.slice(type.lastIndexOf(".") + 1)
  const trigger = description.group.includes("trigger")
  const plainName = description.displayName.replace(/\s*\(Beta\)/g, "").trim()
  const tool = toolOf(nodeType)
  const names = [plainName, local, local.replace(/Trigger$/, "")]
  const categories = (codex.categories ?? []).map((name) => name.trim())
  const subcategories = subcategoriesOf(codex.subcategories)
  const mostUsed = lists?.mostUsed.split(" ") ?? []
  const place = mostUsed.indexOf(short)
  // What an action works with, its trigger waits for.
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
    outdated: description.hidden === true || includes(lists?.unwanted ?? "", short) ||
      /\b(deprecated|legacy|internal)\b/i.test(`${description.displayName} ${says}`),
    successors,
    popularity: place < 0 ? 0 : 1 - place / mostUsed.length
  }
}
