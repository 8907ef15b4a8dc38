/** Pictures with the catalogue's knowledge of node types and a position for every node. */
import * as Effect from "effect/Effect"
import { num, type Obj, str } from "../base/Json.ts"
import * as NodeCatalogue from "../catalogue/NodeCatalogue.ts"
import * as ParameterRules from "../catalogue/parameters/ParameterRules.ts"
import * as NodeType from "../catalogue/types/NodeType.ts"
import * as Ports from "../catalogue/types/Ports.ts"
import * as Workflow from "../n8n/model/Workflow.ts"
import * as Picture from "./Picture.ts"
import * as Placement from "./Placement.ts"

const subtitleOf = ({ operation, resource }: Obj) =>
  typeof operation === "string" && !operation.startsWith("=")
    ? { subtitle: typeof resource === "string" && !resource.startsWith("=") ? `${operation}: ${resource}` : operation }
    : {}

const lookBy =
  (find: (type: string) => NodeType.NodeType | undefined, evaluate: Ports.Evaluate): Picture.LookOf => (node) => {
    const nodeType = find(Workflow.typeOf(node))
    const version = num(node["typeVersion"]) ?? 1
    const description = nodeType && (NodeType.at(nodeType, version) ?? nodeType.descriptions[0])
    if (description === undefined) return undefined
    const own = Workflow.parametersOf(node)
    const parameters = ParameterRules.complete(description, { typeVersion: version, parameters: own })
    const shape = { parameters, own, version, onError: str(node["onError"]) }
    return {
      label: description.displayName,
      isTrigger: description.group.includes("trigger"),
      inputs: Ports.inputs(description, shape, evaluate),
      outputs: Ports.outputs(description, shape, evaluate),
      ...subtitleOf(parameters)
    }
  }

/** Picture of a workflow with an overlay, ready to be drawn. */
export const make = Effect.fn("Pictures.make")(function*(
  workflow: Picture.Document,
  options: Pick<Picture.Options, "overlay" | "showsSecrets"> = {}
): Effect.fn.Return<Picture.Picture, never, NodeCatalogue.NodeCatalogue> {
  const before = options.overlay?._tag === "Difference" ? [options.overlay.before] : []
  const lookOf = yield* Effect.all([
    NodeCatalogue.findAll([workflow, ...before].flatMap(Workflow.typesOf)),
    Ports.evaluator
  ]).pipe(
    Effect.map(([find, evaluate]) => lookBy(find, evaluate)),
    // Without the catalogue, nodes have no ports and labels of their own.
    Effect.orElseSucceed(() => undefined)
  )
  return Placement.place(Picture.make(workflow, { ...options, ...(lookOf && { lookOf }) }))
})
