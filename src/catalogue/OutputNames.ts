/** Names of nodes' outputs as the editor shows them, by their types. */
import * as Effect from "effect/Effect"
import { obj } from "../base/Json.ts"
import { hasErrorOutput, type NodeShape, type OutputNames } from "../n8n/model/Connections.ts"
import * as NodeCatalogue from "./NodeCatalogue.ts"
import * as ParameterRules from "./parameters/ParameterRules.ts"
import * as NodeType from "./types/NodeType.ts"
import * as Ports from "./types/Ports.ts"

export const of = (
  find: (type: string) => NodeType.NodeType | undefined,
  evaluate: Ports.Evaluate
): OutputNames => {
  const read = (node: NodeShape) => {
    const { type, typeVersion = 1 } = node
    const own = obj(node.parameters) ?? {}
    const nodeType = find(type)
    const description = nodeType && NodeType.at(nodeType, typeVersion)
    if (description === undefined) return undefined
    const parameters = ParameterRules.complete(description, { typeVersion, parameters: own })
    const names = Ports.outputs(description, { parameters, own, version: typeVersion }, evaluate)
      ?.flatMap((port) => port.type === "main" ? [port.name] : [])
    // A Filter's run data also contains discarded items, for which it has no port.
    const inRuns = description.outputNames ?? []
    if (names?.length === 1 && inRuns.length > 1 && !hasErrorOutput(node)) return inRuns
    // Names distinguish outputs; a Webhook's only one is called POST.
    return names?.length === 1 ? [undefined] : names
  }
  const cache = new Map<NodeShape, ReturnType<typeof read>>()
  return (node) => {
    if (!cache.has(node)) cache.set(node, read(node))
    return cache.get(node)
  }
}

/** Output names of these nodes; none if the catalogue cannot be read. */
export const forNodes = (
  nodes: ReadonlyArray<Pick<NodeShape, "type">>
): Effect.Effect<OutputNames, never, NodeCatalogue.NodeCatalogue> =>
  Effect.all([NodeCatalogue.findAll(nodes.map(({ type }) => type)), Ports.evaluator]).pipe(
    Effect.map(([find, evaluate]) => of(find, evaluate)),
    Effect.orElseSucceed(() => () => undefined)
  )
