/** Nodes that serve another, such as an agent's model: the usual types for each port, and an example with all of them. */
import * as Schema from "effect/Schema"
import { type Obj } from "../../base/Json.ts"
import type { ConditionalPort } from "./conditionalPorts.ts"
import * as NodeExample from "./example.ts"
import * as NodeType from "./NodeType.ts"
import type { Background } from "./notes.ts"
import { versionsFor } from "./notes.ts"
import type * as Ports from "./Ports.ts"
import usual from "./subNodes.json" with { type: "json" }

const usualTypes: Readonly<Record<string, ReadonlyArray<string>>> = usual

export const types: ReadonlyArray<string> = Object.values(usualTypes).flat()

/** Whether other nodes may serve nodes of this type. */
export const canBeServed = ({ descriptions }: NodeType.NodeType): boolean =>
  descriptions.some(({ inputs }) => JSON.stringify(inputs).includes("ai_"))

export interface Root {
  readonly type: string
  readonly name: string
  readonly version: number
  readonly parameters: Obj
  readonly inputs: ReadonlyArray<Ports.Port>
  readonly conditional: ReadonlyArray<ConditionalPort>
}

export const Wired = Schema.Struct({
  nodes: Schema.Array(Schema.Record(Schema.String, Schema.Json)),
  connections: Schema.Record(Schema.String, Schema.Json)
})

const fits = ({ never, only }: Ports.Port) => (type: string) =>
  only?.includes(type) !== false && never?.includes(type) !== true

/** Usual types with their version for each port, and a root with one node on each; `undefined` without such ports. */
export const of = (root: Root, evaluate: Ports.Evaluate, background: Background) => {
  const { find } = background
  if (find === undefined) return undefined
  const ports = new Map<string, { readonly port: Ports.Port; readonly change: Obj | undefined }>()
  for (
    const { change, port } of [
      ...root.inputs.map((port) => ({ port, change: {} })),
      ...root.conditional.map((each) => ({ port: each.port, change: each.switch }))
    ]
  ) {
    if (Object.hasOwn(usualTypes, port.type) && !ports.has(port.type)) ports.set(port.type, { port, change })
  }
  const candidates = [...ports].flatMap(([type, { change, port }]) => {
    const nodes = (usualTypes[type] ?? []).filter(fits(port)).flatMap((type) => {
      const nodeType = find(type)
      if (nodeType === undefined) return []
      const byDefault = NodeType.defaultVersion(nodeType)
      const version = versionsFor(nodeType, background).findLast((each) => each <= byDefault) ?? byDefault
      const description = NodeType.at(nodeType, version)
      return description === undefined ? [] : [{ type, version, description }]
    })
    return nodes.length === 0 ? [] : [{ port: type, nodes, change }]
  })
  if (candidates.length === 0) return undefined
  const parameters = Object.assign({}, root.parameters, ...candidates.map(({ change }) => change))
  const node = (name: string, type: string, typeVersion: number, parameters: Obj, position: ReadonlyArray<number>) => ({
    name,
    type,
    typeVersion,
    position,
    parameters: parameters as Schema.Json
  })
  const served = candidates.flatMap(({ change, nodes: [first], port }, index) =>
    first === undefined || change === undefined
      ? []
      : [{ ...first, port, name: first.description.displayName, x: index * 150 }]
  )
  return {
    subNodes: Object.fromEntries(
      candidates.map(({ nodes, port }) => [port, nodes.map(({ type, version }) => `${type} ${version}`)])
    ),
    wired: {
      nodes: [
        node(root.name, root.type, root.version, parameters, [0, 0]),
        ...served.map(({ description, name, type, version, x }) =>
          node(
            name,
            type,
            version,
            NodeExample.parameters(description, {}, {
              version,
              evaluate,
              isTool: NodeExample.isAgentTool(description)
            }),
            [x, 200]
          )
        )
      ],
      connections: Object.fromEntries(
        served.map(({ name, port }) => [name, { [port]: [[{ node: root.name, type: port, index: 0 }]] }])
      )
    }
  }
}
