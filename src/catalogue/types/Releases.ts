/** What earlier releases of n8n lack, and what later ones lack: its API tells of no node type whether it is there. */
import * as Schema from "effect/Schema"
import { type NodeType, versions } from "./NodeType.ts"

/** As far as a few releases show it. */
export const Releases = Schema.Struct({
  /** `type` or `type@version`, and the last of those releases that does not have it. */
  lacking: Schema.Record(Schema.String, Schema.String),
  /** Types that are no more, and the last of those releases that has them. */
  removed: Schema.Record(Schema.String, Schema.String)
})
export type Releases = typeof Releases.Type

/** The types of one release. */
export interface Release {
  /** `2.10` */
  readonly release: string
  readonly types: ReadonlyArray<NodeType>
}

const namesOf = ({ types }: { readonly types: ReadonlyArray<NodeType> }) =>
  new Set(types.flatMap((each) => [each.type, ...versions(each).map((version) => `${each.type}@${version}`)]))

/** What the types of earlier releases, oldest first, and those of now do not share. */
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

/** Whether one release, `2.10` or `2.10.3`, came after another; patches do not count. */
export const isNewer = (one: string, other: string): boolean => {
  const [[major = 0, minor = 0], [otherMajor = 0, otherMinor = 0]] = [one, other].map((each) =>
    each.split(".").map(Number)
  ) as [Array<number>, Array<number>]
  return major > otherMajor || major === otherMajor && minor > otherMinor
}

const isAnyLacked = ({ lacking }: Releases, names: ReadonlyArray<string>, release: string): boolean =>
  names.some((name) => {
    const last = Object.hasOwn(lacking, name) ? lacking[name] : undefined
    return last !== undefined && !isNewer(release, last)
  })

/** Whether an n8n of this release surely lacks the type, or this version of it. */
export const isLacked = (releases: Releases, type: string, version: number, release: string): boolean =>
  isAnyLacked(releases, [type, `${type}@${version}`], release)

/** Whether an n8n of this release surely lacks all versions of the type. */
export const isTypeLacked = (releases: Releases, type: string, release: string): boolean =>
  isAnyLacked(releases, [type], release)
