/** Node types for validating and editing workflows, and their availability on the connected n8n. */
import * as Effect from "effect/Effect"
import * as JavaScript from "../base/JavaScript.ts"
import { nearest, suggestion } from "../base/Nearest.ts"
import { findAll, NodeCatalogue } from "../catalogue/NodeCatalogue.ts"
import * as NodeType from "../catalogue/types/NodeType.ts"
import * as Ports from "../catalogue/types/Ports.ts"
import * as Releases from "../catalogue/types/Releases.ts"
import * as ToolVariant from "../catalogue/types/ToolVariant.ts"
import { isV1 } from "../n8n/N8nClient.ts"
import type { NodeLookups } from "../workflow/check/CheckedWorkflow.ts"
import { OwnRules } from "../workflow/check/Rules.ts"

/** Looks up node types; `connected` is the release of the n8n that the workflow is for, if known. */
export const make = Effect.fn("NodeLookups.make")(function*(
  types: Iterable<string>,
  connected?: string
) {
  const catalogue = yield* NodeCatalogue
  const { deprecations, evaluate, known, parse, release, releases } = yield* Effect.all({
    evaluate: Ports.evaluator,
    parse: JavaScript.parser,
    release: catalogue.release,
    releases: catalogue.releases,
    deprecations: catalogue.deprecations,
    known: catalogue.types
  })
  const find = yield* findAll([...types].flatMap((type) => [type, NodeType.withPackage(type, known)]))
  /** Listed type: for a tool variant its base. */
  const listed = (type: string) => known.includes(type) ? type : ToolVariant.baseOf(type) ?? type
  const isLackedIn = (type: string, version: number, release: string) =>
    Releases.isLacked(releases, listed(type), version, release)
  const isLacked = (type: string, version: number) => connected !== undefined && isLackedIn(type, version, connected)
  return {
    find,
    types: known,
    release,
    connected,
    isV1: isV1(connected),
    isLacked,
    isLackedIn,
    knownReleases: Releases.known(releases, release),
    /** Version of a new node: the newest that the connected n8n has. */
    newest: (type: string) => {
      const nodeType = find(type)
      if (nodeType === undefined) return undefined
      const byDefault = NodeType.defaultVersion(nodeType)
      return NodeType.versions(nodeType).findLast((version) => version <= byDefault && !isLacked(type, version))
    },
    successors: (type: string) => {
      const successors = Object.hasOwn(deprecations, type) ? deprecations[type] : undefined
      return successors?.filter((each) => connected === undefined || !Releases.isTypeLacked(releases, each, connected))
    },
    removed: (type: string) => Object.hasOwn(releases.removed, type) ? releases.removed[type] : undefined,
    nearest,
    suggest: suggestion,
    evaluate,
    parse,
    rules: yield* OwnRules
  } satisfies NodeLookups
})
