/** Differences between the node types of n8n's releases: n8n's API does not list its types. */
import * as Schema from "effect/Schema"
import { type NodeType, versions } from "./NodeType.ts"

export const Releases = Schema.Struct({
  /** Last of these releases without the type, by `type` or `type@version`. */
  lacking: Schema.Record(Schema.String, Schema.String),
  /** Last of these releases with a type that was removed. */
  removed: Schema.Record(Schema.String, Schema.String)
})
export type Releases = typeof Releases.Type

export interface Release {
  /** `2.10` */
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
