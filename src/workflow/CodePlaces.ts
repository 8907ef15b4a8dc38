/** Places of code in the parameters of a workflow's nodes, by their descriptions in the catalogue. */
import * as Effect from "effect/Effect"
import { arr, num, type Obj, obj } from "../base/Json.ts"
import * as NodeCatalogue from "../catalogue/NodeCatalogue.ts"
import * as ParameterValues from "../catalogue/parameters/ParameterValues.ts"
import * as NodeType from "../catalogue/types/NodeType.ts"
import { parametersOf, typeOf, typesOf } from "../n8n/model/Workflow.ts"

/** Place of code in a workflow. */
export interface CodePlace {
  /** Path from the workflow: `["nodes", 2, "parameters", "jsCode"]`. */
  readonly path: ReadonlyArray<string | number>
  readonly extension: string
}

/** Finds the code in a workflow. */
export type CodePlaces = (workflow: Obj) => ReadonlyArray<CodePlace>

const placesIn = (node: unknown, nodeType: NodeType.NodeType | undefined): ReadonlyArray<ParameterValues.Place> => {
  const typeVersion = num(obj(node)?.["typeVersion"]) ?? (nodeType && NodeType.defaultVersion(nodeType)) ?? 1
  const description = nodeType && (NodeType.at(nodeType, typeVersion) ?? nodeType.descriptions[0])
  return description === undefined ? [] : ParameterValues.places(description, parametersOf(node))
}

/** Returns a function that finds code, by the editor n8n opens for it, in nodes whose types occur in the workflow. */
export const codePlaces = Effect.fn("NodeParameters.codePlaces")(function*(workflow: Obj) {
  const findType = yield* NodeCatalogue.findAll(typesOf(workflow))
  const find: CodePlaces = ({ nodes }) =>
    arr(nodes).flatMap((node, index) =>
      placesIn(node, findType(typeOf(node))).flatMap(({ path, property }) => {
        const extension = ParameterValues.codeExtension(property)
        return extension === undefined ? [] : [{ path: ["nodes", index, "parameters", ...path], extension }]
      })
    )
  return find
})
