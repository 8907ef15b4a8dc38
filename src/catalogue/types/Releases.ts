/** Differences between the node types of n8n's releases, and deprecated types: n8n's API does not list its types. */
import * as Schema from "effect/Schema"
import listed from "./deprecations.json" with { type: "json" }
import { type Description, type NodeType, versions } from "./NodeType.ts"

export const Releases = Schema.Struct({
  /** Last of these releases without the type, by `type` or `type@version`. */
  lacking: Schema.Record(Schema.String, Schema.String),
  /** Last of these releases with a type that was removed. */
  removed: Schema.Record(Schema.String, Schema.String)
})
export type Releases = typeof Releases.Type

interface Release {
  readonly release: string
  readonly types: ReadonlyArray<NodeType>
}

const namesOf = ({ types }: { readonly types: ReadonlyArray<NodeType> }) =>
  new Set(types.flatMap((each) => [each.type, ...versions(each).map((version) => `${each.type}@${version}`)]))

/** Differences between earlier releases, oldest first, and the current types. */
export const differences = (earlier: ReadonlyArray<Release>, types: ReadonlyArray<NodeType>): Releases => {
  const now = namesOf({ types })
  const lacking: Record<string, string> = {}
  const removed: Record<string, string> = {}
  for (const each of earlier) {
    const then = namesOf(each)
    for (const name of now) if (!then.has(name)) lacking[name] = each.release
    for (const { type } of each.types) if (!now.has(type)) removed[type] = each.release
  }
  return { lacking, removed }
}

/** Whether one release (`2.10` or `2.10.3`) came after another, ignoring patches. */
export const isNewer = (one: string, other: string): boolean => {
  const [[major = 0, minor = 0], [otherMajor = 0, otherMinor = 0]] = [one, other].map((each) =>
    each.split(".").map(Number)
  ) as [Array<number>, Array<number>]
  return major > otherMajor || major === otherMajor && minor > otherMinor
}

/** Releases whose types are known, oldest first; the last is that of the catalogue. */
export const known = ({ lacking, removed }: Releases, release: string): ReadonlyArray<string> =>
  [...new Set([...Object.values(lacking), ...Object.values(removed), release])]
    .toSorted((a, b) => isNewer(a, b) ? 1 : isNewer(b, a) ? -1 : 0)

/** Whether n8n of this release certainly lacks all versions of the type. */
export const isTypeLacked = ({ lacking }: Releases, name: string, release: string): boolean => {
  const last = Object.hasOwn(lacking, name) ? lacking[name] : undefined
  return last !== undefined && !isNewer(release, last)
}

/** Whether n8n of this release certainly lacks this version of the type. */
export const isLacked = (releases: Releases, type: string, version: number, release: string): boolean =>
  isTypeLacked(releases, type, release) || isTypeLacked(releases, `${type}@${version}`, release)

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

const inAddress = (type: string) => foldedName(type.replace(/^@n8n\//, ""))

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
