/** Builders of workflows and their parts. */
import type { Obj } from "../../src/base/Json.ts"

/** A node with an id of its own; a type without a package is of n8n-nodes-base. */
export const node = (name: string, type: string, typeVersion = 1, parameters: Obj = {}, more: Obj = {}) => ({
  id: `id of ${name}`,
  name,
  type: type.includes(".") ? type : `n8n-nodes-base.${type}`,
  typeVersion,
  position: [0, 0] as const,
  parameters,
  ...more
})

/** The target of a connection. */
export const to = (node: string, type = "main", index = 0) => ({ node, type, index })

/** A node's connections from its main outputs, each to one node. */
export const main = (...nodes: ReadonlyArray<string>) => ({ main: nodes.map((name) => [to(name)]) })

export type Link = readonly [from: string, to: string, type?: string, output?: number, input?: number]

/** Connections from `[from, to, type, output, input]`; both ends are of one type. */
export const joined = (...links: ReadonlyArray<Link>): Obj => {
  const connections: { [from: string]: { [type: string]: Array<Array<Obj>> } } = {}
  for (const [from, target, type = "main", output = 0, index = 0] of links) {
    const outputs = (connections[from] ??= {})[type] ??= []
    while (outputs.length <= output) outputs.push([])
    outputs[output]?.push(to(target, type, index))
  }
  return connections
}

/** A workflow whose name is its id. */
export const workflow = (id: string, nodes: ReadonlyArray<Obj>, more: Obj = {}) => ({
  id,
  name: id,
  nodes,
  connections: {},
  settings: {},
  ...more
})
