/** What validating and editing workflows have to look up: node types, and what the connected n8n has of them. */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as NodeType from "./domain/nodes/NodeType.ts"
import * as Releases from "./domain/nodes/Releases.ts"
import type { Lookups } from "./domain/problems/CheckedWorkflow.ts"
import * as JavaScript from "./JavaScript.ts"
import { isV1 } from "./N8nClient.ts"
import type * as N8nError from "./N8nError.ts"
import { nearest, suggestion } from "./Nearest.ts"
import { NodeCatalogue } from "./NodeCatalogue.ts"
import { evaluate } from "./NodeCatalogue/evaluate.ts"

/** {@link Lookups}, and the version of a type that a new node gets: the newest that the connected n8n has. */
export type NodeLookups = Required<Pick<Lookups, "isLacked" | "removed">> & Omit<Lookups, "isLacked" | "removed"> & {
  readonly newest: (type: string) => number | undefined
}

/** Looks these types up; `connected` is the release of the n8n that the workflow is for, where it is known. */
export const make = Effect.fn("NodeLookups.make")(function*(
  types: Iterable<string>,
  connected?: string
): Effect.fn.Return<NodeLookups, N8nError.Validation, NodeCatalogue> {
  const catalogue = yield* NodeCatalogue
  const { parse, release, releases, known } = yield* Effect.all({
    parse: JavaScript.parser,
    release: catalogue.release,
    releases: catalogue.releases,
    known: catalogue.types
  })
  const found = new Map(
    yield* Effect.forEach(
      new Set(types),
      (type) => Effect.map(catalogue.find(type), (nodeType) => [type, Option.getOrUndefined(nodeType)] as const)
    )
  )
  const isLacked = (type: string, version: number) =>
    connected !== undefined && Releases.isLacked(releases, type, version, connected)
  return {
    find: (type) => found.get(type),
    types: known,
    release,
    connected,
    isV1: isV1(connected),
    isLacked,
    newest: (type) => {
      const nodeType = found.get(type)
      if (nodeType === undefined) return undefined
      const byDefault = NodeType.defaultVersion(nodeType)
      return NodeType.versions(nodeType).findLast((version) => version <= byDefault && !isLacked(type, version))
    },
    removed: (type) => Object.hasOwn(releases.removed, type) ? releases.removed[type] : undefined,
    nearest,
    suggest: suggestion,
    evaluate,
    parse
  }
})
