/** A node type as the search keeps it: the words it is found by, and the row that an answer shows. */
import * as NodeType from "../domain/nodes/NodeType.ts"
import { kinds, phrases } from "./phrases.ts"
import * as vocabulary from "./vocabulary.ts"
import { joined, singular, spaced, stem, terms, words } from "./words.ts"

/** What an answer says of a type; the last rows of a long one say less. */
export interface Row {
  /** The type: `n8n-nodes-base.httpRequest`. */
  readonly id: string
  readonly name: string
  readonly description?: string
  readonly categories?: ReadonlyArray<string>
  /** That a new node gets. */
  readonly version: number
  /** The few that matter: of a choice its first values, of what is required its kind. */
  readonly parameters?: { readonly [name: string]: string | ReadonlyArray<string> }
}

/** What is searched: terms with a space between, so that nothing has to be stemmed at run time. */
export interface Text {
  readonly name: string
  /** Phrases, with a comma between. */
  readonly says: string
  readonly alias: string
  readonly kind: string
  readonly operations: string
  readonly description: string
}

export interface Document {
  readonly row: Row
  readonly text: Text
  /** The words of the name without `Trigger`: a question that has them all means this node. */
  readonly named: ReadonlyArray<string>
  /** Lower-case categories and subcategories, n8n's and ours. */
  readonly categories: ReadonlyArray<string>
  readonly trigger: boolean
  /** Hidden in n8n, deprecated or a dummy: shown only to who names it. */
  readonly outdated: boolean
  /** 1 for the most used, 0 for one as good as any. */
  readonly common: number
}

const prefixes: ReadonlyArray<readonly [prefix: string, short: string]> = [
  ["n8n-nodes-base.", ""],
  ["@n8n/n8n-nodes-langchain.", "ai."]
]

/** As the vocabulary names the types of n8n's own packages; any other stays as it is. */
const short = (type: string): string => {
  const [prefix, short] = prefixes.find(([prefix]) => type.startsWith(prefix)) ?? ["", ""]
  return short + type.slice(prefix.length)
}

const kindsOf = new Map<string, string>()
for (const [types, says] of kinds) {
  for (const type of types.split(" ")) kindsOf.set(type, `${kindsOf.get(type) ?? ""} ${says}`)
}

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

const chosen = [
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
  const name = chosen.find((name) => valuesOf(properties, name).length > 1)
  if (name !== undefined) return { [name]: few(valuesOf(properties, name), 56) }
  const required = properties.filter(({ displayOptions, required }) =>
    required === true && displayOptions === undefined
  )
  return required.length === 0
    ? undefined
    : Object.fromEntries(required.slice(0, 3).map(({ name, type }) => [name, type]))
}

const subcategories = (of: unknown): ReadonlyArray<string> =>
  typeof of === "object" && of !== null
    ? Object.values(of).flat().filter((name) => typeof name === "string")
    : []

/** What is indexed of a type and what an answer shows; at build time. */
export const toDocument = (nodeType: NodeType.NodeType): Document => {
  const { type } = nodeType
  const version = NodeType.defaultVersion(nodeType)
  const description = NodeType.at(nodeType, version) ?? nodeType.descriptions[0]
  if (description === undefined) throw new Error(`${type} has no description`)
  const codex = nodeType.descriptions.find(({ codex }) => codex !== undefined)?.codex ?? {}
  const known = short(type)
  const local = type.slice(type.lastIndexOf(".") + 1)
  const trigger = description.group.includes("trigger")
  const plain = description.displayName.replace(/\s*\(Beta\)|\bTrigger\b/g, "").trim()
  const parts = words(spaced(local)).filter((part) =>
    !words(plain).some((word) => word.length > part.length && word.includes(part))
  )
  const names = [...words(plain), ...parts, joined(plain), joined(local), joined(local.replace(/Trigger$/, ""))]
  const categories = (codex.categories ?? []).map((name) => name.trim())
  // Their names are ordinary words; those of services are not: who iterates does not mean Iterable.
  const core = categories.includes("Core Nodes")
  const common = vocabulary.common.indexOf(known)
  const choices = description.properties.filter(({ name }) => chosen.includes(name)).flatMap(NodeType.choices)
  const says = description.description ?? ""
  const parameters = fewParameters(description.properties)

  return {
    row: {
      id: type,
      name: description.displayName,
      description: cut(says, 70),
      categories,
      version,
      ...(parameters === undefined ? {} : { parameters })
    },
    text: {
      name: [...new Set(names.flatMap((word) => core ? [word, singular(word), stem(word)] : [word, singular(word)]))]
        .filter((word) => word !== "trigger").join(
          " "
        ),
      says: (phrases.get(known) ?? "").split(",").map((phrase) => terms(phrase).join(" ")).filter((phrase) =>
        phrase !== ""
      ).join(", "),
      alias: terms((codex.alias ?? []).join(" ")).join(" "),
      kind: terms([kindsOf.get(known) ?? "", ...categories, ...subcategories(codex.subcategories)].join(" ")).join(" "),
      operations: [...new Set(terms(choices.map(({ description, name }) => `${name} ${description ?? ""}`).join(" ")))]
        .join(" "),
      description: terms(says).join(" ")
    },
    named: words(plain),
    categories: [
      ...categories,
      ...subcategories(codex.subcategories),
      ...Object.keys(vocabulary.categories).filter((name) => vocabulary.categories[name]?.includes(known)),
      trigger ? "Trigger" : "Action"
    ],
    trigger,
    outdated: description.hidden === true || vocabulary.unwanted.has(known) ||
      /\b(deprecated|legacy|internal)\b/i.test(`${description.displayName} ${says}`),
    common: common < 0 ? 0 : 1 - common / vocabulary.common.length
  }
}
