/** Values in the parameters of a workflow's nodes, with their descriptions in the catalogue. */
import * as Effect from "effect/Effect"
import { arr, num, type Obj, obj } from "../base/Json.ts"
import * as NodeCatalogue from "../catalogue/NodeCatalogue.ts"
import * as Parameters from "../catalogue/parameters/Parameters.ts"
import * as ParameterValues from "../catalogue/parameters/ParameterValues.ts"
import * as NodeType from "../catalogue/types/NodeType.ts"
import { parametersOf, typeOf, typesOf } from "../n8n/model/Workflow.ts"

/** A value in a node's parameters, and whether n8n shows it. */
export interface Place extends ParameterValues.Place {
  readonly isShown: boolean
}

/** Place of code in a workflow. */
export interface CodePlace {
  /** Path from the workflow: `["nodes", 2, "parameters", "jsCode"]`. */
  readonly path: ReadonlyArray<string | number>
  readonly extension: string
}

/** Finds the code in a workflow. */
export type CodePlaces = (workflow: Obj) => ReadonlyArray<CodePlace>

/** Returns a function that lists the values of a node whose type occurs in the workflow; none for an unknown type. */
export const places = Effect.fn("NodeParameters.places")(function*(workflow: Obj) {
  const find = yield* NodeCatalogue.findAll(typesOf(workflow))
  return (node: unknown): ReadonlyArray<Place> => {
    const nodeType = find(typeOf(node))
    const typeVersion = num(obj(node)?.["typeVersion"]) ?? (nodeType && NodeType.defaultVersion(nodeType)) ?? 1
    const description = nodeType && (NodeType.at(nodeType, typeVersion) ?? nodeType.descriptions[0])
    if (description === undefined) return []
    const parameters = parametersOf(node)
    const scope = Parameters.scopeOf(description, { typeVersion, parameters })
    return ParameterValues.places(description, parameters).map((place) => ({
      ...place,
      isShown: place.path.length > 1 || Parameters.isShown(place.property.displayOptions, scope)
    }))
  }
})

/** Returns a function that finds code, by the editor n8n opens for it, in nodes whose types occur in the workflow. */
export const codePlaces = Effect.fn("NodeParameters.codePlaces")(function*(workflow: Obj) {
  const placesOf = yield* places(workflow)
  const find: CodePlaces = ({ nodes }) =>
    arr(nodes).flatMap((node, index) =>
      placesOf(node).flatMap(({ path, property }) => {
        const extension = ParameterValues.codeExtension(property)
        return extension === undefined ? [] : [{ path: ["nodes", index, "parameters", ...path], extension }]
      })
    )
  return find
})
