/** Appearance of nodes from the catalogue: triggers, sub-nodes, named ports. */
import * as Effect from "effect/Effect"
import { num, type Obj, str } from "../base/Json.ts"
import * as NodeCatalogue from "../catalogue/NodeCatalogue.ts"
import * as Parameters from "../catalogue/parameters/Parameters.ts"
import * as Evaluate from "../catalogue/types/Evaluate.ts"
import * as NodeType from "../catalogue/types/NodeType.ts"
import * as Ports from "../catalogue/types/Ports.ts"
import * as Workflow from "../n8n/model/Workflow.ts"
import type { LookOf } from "./model.ts"

const subtitleOf = ({ operation, resource }: Obj) =>
  typeof operation === "string" && !operation.startsWith("=")
    ? { subtitle: typeof resource === "string" && !resource.startsWith("=") ? `${operation}: ${resource}` : operation }
    : {}

const of = (find: (type: string) => NodeType.NodeType | undefined, evaluate: Ports.Evaluate): LookOf => (node) => {
  const nodeType = find(Workflow.typeOf(node))
  const version = num(node["typeVersion"]) ?? 1
  const description = nodeType && (NodeType.at(nodeType, version) ?? nodeType.descriptions[0])
  if (description === undefined) return undefined
  const parameters = Parameters.complete(description, {
    typeVersion: version,
    parameters: Workflow.parametersOf(node)
  })
  const shape = { parameters, version, onError: str(node["onError"]) }
  return {
    label: description.displayName,
    isTrigger: description.group.includes("trigger"),
    inputs: Ports.inputs(description, shape, evaluate),
    outputs: Ports.outputs(description, shape, evaluate),
    ...subtitleOf(parameters)
  }
}

/** Appearance of the nodes of these workflows; unknown if the catalogue cannot be read. */
export const forWorkflows = (
  ...workflows: ReadonlyArray<Obj>
): Effect.Effect<LookOf, never, NodeCatalogue.NodeCatalogue> =>
  Effect.all([NodeCatalogue.findAll(workflows.flatMap(Workflow.typesOf)), Evaluate.make]).pipe(
    Effect.map(([find, evaluate]) => of(find, evaluate)),
    Effect.orElseSucceed(() => () => undefined)
  )
