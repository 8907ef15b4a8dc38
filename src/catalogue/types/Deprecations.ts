/** The types that n8n has deprecated, and those that took their place. */
import * as Schema from "effect/Schema"
import type { Description, NodeType } from "./NodeType.ts"

/** By deprecated type, the types to use instead; none where nothing took its place. */
export const Deprecations = Schema.Record(Schema.String, Schema.Array(Schema.String))
export type Deprecations = typeof Deprecations.Type

const base = (names: string) => names.split(" ").map((name) => `n8n-nodes-base.${name}`)

/**
 * What the packages do not say.
 *
 * **Details**
 *
 * n8n's list of deprecated nodes: https://docs.n8n.io/integrations/builtin/deprecated-nodes/. Item Lists was split into a
 * node for each of its operations: https://github.com/n8n-io/n8n/pull/7760. A file node that both read and wrote was
 * split in two. The documentation that Tool Executor links to is another node's, by mistake.
 */
const documented: Deprecations = {
  "n8n-nodes-base.start": base("manualTrigger"),
  "n8n-nodes-base.interval": base("scheduleTrigger"),
  "n8n-nodes-base.itemLists": base("splitOut aggregate limit removeDuplicates sort summarize"),
  "n8n-nodes-base.moveBinaryData": base("convertToFile extractFromFile"),
  "n8n-nodes-base.spreadsheetFile": base("convertToFile extractFromFile"),
  "n8n-nodes-base.orbit": [],
  "n8n-nodes-base.simulate": [],
  "n8n-nodes-base.simulateTrigger": [],
  "@n8n/n8n-nodes-langchain.documentGithubLoader": [],
  "@n8n/n8n-nodes-langchain.openAiAssistant": ["@n8n/n8n-nodes-langchain.openAi"],
  "@n8n/n8n-nodes-langchain.toolExecutor": []
}

/** Remarks that stand on the node whatever its parameters are. */
const noticesOf = ({ properties }: Description) =>
  properties.flatMap(({ displayName, displayOptions, type }) =>
    (type === "notice" || type === "callout") && displayOptions === undefined ? [displayName] : []
  )

const isDeprecation = /\bdeprecated\b|newer version of this node type|no longer maintained|do not use this node/i

/** How n8n's remarks name the node to use instead. */
const namedInstead = [
  /\bcalled the ['‘"]([^'’"]+)['’"] node/,
  /\buse (?:the )?['‘"]([^'’"]+)['’"] node/i,
  /\buse the ([A-Z][\w ]+?) node\b/,
  /\bdeprecated, use ([\w -]+)/i
]

const typeInstead = /do not use this node.*?`((?:@n8n\/)?n8n-nodes-[\w.-]+)`/i

/** The last part of the documentation's address, which is that of the successor: `n8n-nodes-base.scheduletrigger`. */
const documentationOf = ({ codex }: Description) =>
  /([^/]+)\/?$/.exec(codex?.resources?.primaryDocumentation?.[0]?.url ?? "")?.[1]

const foldedName = (name: string) => name.toLowerCase().replace(/[^a-z0-9]/g, "")

/** As documentation addresses name it. */
const inAddress = (type: string) => foldedName(type.replace(/^@n8n\//, ""))

/** Reads what the packages say of their types, and adds what only n8n's documentation says. */
export const deprecations = (types: ReadonlyArray<NodeType>): Deprecations => {
  const current = types.filter(({ descriptions }) => descriptions[0]?.hidden !== true)
  const byName = new Map(
    current.map(({ descriptions, type }) => [foldedName(descriptions[0]?.displayName ?? ""), type])
  )
  const byAddress = new Map(current.map(({ type }) => [inAddress(type), type]))
  const described = types.flatMap(({ descriptions: [description], type }) => {
    if (description === undefined) return []
    const hint = description.builderHint?.searchHint ?? ""
    const remarks = [description.description ?? "", hint, ...noticesOf(description)].filter((text) =>
      isDeprecation.test(text)
    )
    const named = remarks.flatMap((text) => [
      typeInstead.exec(text)?.[1],
      ...namedInstead.map((pattern) => byName.get(foldedName(pattern.exec(text)?.[1] ?? "")))
    ])
    const documentation = description.hidden === true
      ? byAddress.get(foldedName(documentationOf(description) ?? ""))
      : undefined
    const successor = [...named, documentation].find((each) => each !== undefined && each !== type)
    if (successor === undefined && remarks.length === 0) return []
    return [[type, successor === undefined ? [] : [successor]] as const]
  })
  const all: Deprecations = { ...Object.fromEntries(described), ...documented }
  return Object.fromEntries(
    Object.entries(all).map(([type, successors]) => [type, successors.filter((each) => all[each] === undefined)])
  )
}
