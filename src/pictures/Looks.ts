/** What nodes look like, as their types say: triggers, sub-nodes, ports by name. */
import * as Effect from "effect/Effect"
import { arr, num, type Obj, obj, str } from "../base/Json.ts"
import * as NodeCatalogue from "../catalogue/NodeCatalogue.ts"
import * as Parameters from "../catalogue/parameters/Parameters.ts"
import * as Evaluate from "../catalogue/types/Evaluate.ts"
import * as NodeType from "../catalogue/types/NodeType.ts"
import * as Ports from "../catalogue/types/Ports.ts"

/** What a node's type says of it. */
export interface Look {
  /** What people call the type: `HTTP Request`. */
  readonly label: string
  readonly isTrigger: boolean
  /** `undefined` where they are unknown. */
  readonly inputs: ReadonlyArray<Ports.Port> | undefined
  readonly outputs: ReadonlyArray<Ports.Port> | undefined
  /** What the node does, such as `post: message`. */
  readonly subtitle?: string
}

/** The look of a node; `undefined` where its type is unknown. */
export type LookOf = (node: Obj) => Look | undefined

/** Of nodes of which nothing is known. */
export const unknown: LookOf = () => undefined

const subtitleOf = ({ operation, resource }: Obj) =>
  typeof operation === "string" && !operation.startsWith("=")
    ? { subtitle: typeof resource === "string" && !resource.startsWith("=") ? `${operation}: ${resource}` : operation }
    : {}

const of = (find: (type: string) => NodeType.NodeType | undefined, evaluate: Ports.Evaluate): LookOf => (node) => {
  const nodeType = find(str(node["type"]) ?? "")
  const version = num(node["typeVersion"]) ?? 1
  const description = nodeType && (NodeType.at(nodeType, version) ?? nodeType.descriptions[0])
  if (description === undefined) return undefined
  const parameters = Parameters.complete(description, {
    typeVersion: version,
    parameters: obj(node["parameters"]) ?? {}
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

/** The looks of the nodes of these workflows; none where the catalogue cannot be read. */
export const forWorkflows = (
  ...workflows: ReadonlyArray<Obj>
): Effect.Effect<LookOf, never, NodeCatalogue.NodeCatalogue> => {
  const types = workflows.flatMap((workflow) =>
    arr(workflow["nodes"]).flatMap((node) => str(obj(node)?.["type"]) ?? [])
  )
  return Effect.all([NodeCatalogue.findAll(types), Evaluate.make]).pipe(
    Effect.map(([find, evaluate]) => of(find, evaluate)),
    Effect.orElseSucceed(() => unknown)
  )
}
