/** Types that n8n has deprecated, and their successors. */
import * as Schema from "effect/Schema"
import listed from "./deprecations.json" with { type: "json" }
import type { Description, NodeType } from "./NodeType.ts"

/** Successors by deprecated type; empty where there are none. */
export const Deprecations = Schema.Record(Schema.String, Schema.Array(Schema.String))
export type Deprecations = typeof Deprecations.Type

/**
 * Deprecations that only n8n's documentation mentions. List of deprecated nodes:
 * https://docs.n8n.io/integrations/builtin/deprecated-nodes/. Item Lists was split into one node per operation:
 * https://github.com/n8n-io/n8n/pull/7760. File nodes that both read and wrote were split in two. Tool Executor links
 * to another node's documentation by mistake. AI Transform and LangChain Code end with n8n 3:
 * https://docs.n8n.io/changelog/v30-breaking-changes.
 */
const documented: Deprecations = listed

/** Notices that the node shows regardless of its parameters. */
const noticesOf = ({ properties }: Description) =>
  properties.flatMap(({ displayName, displayOptions, type }) =>
    (type === "notice" || type === "callout") && displayOptions === undefined ? [displayName] : []
  )

const isDeprecation = /\bdeprecated\b|newer version of this node type|no longer maintained|do not use this node/i

/** Patterns of n8n's remarks that name the successor. */
const namedInstead = [
  /\bcalled the ['‘"]([^'’"]+)['’"] node/,
  /\buse (?:the )?['‘"]([^'’"]+)['’"] node/i,
  /\buse the ([A-Z][\w ]+?) node\b/,
  /\bdeprecated, use ([\w -]+)/i
]

const typeInstead = /do not use this node.*?`((?:@n8n\/)?n8n-nodes-[\w.-]+)`/i

/** Last part of the documentation's URL, which is the successor's: `n8n-nodes-base.scheduletrigger`. */
const documentationOf = ({ codex }: Description) =>
  /([^/]+)\/?$/.exec(codex?.resources?.primaryDocumentation?.[0]?.url ?? "")?.[1]

const foldedName = (name: string) => name.toLowerCase().replace(/[^a-z0-9]/g, "")

/** Name of the type in documentation URLs. */
const inAddress = (type: string) => foldedName(type.replace(/^@n8n\//, ""))

/** Deprecations from the remarks in the packages and from n8n's documentation. */
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
