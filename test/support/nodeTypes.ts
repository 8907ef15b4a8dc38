/** Every node type of n8n's packages, read without the catalogue. */
import * as Schema from "effect/Schema"
import { readFileSync } from "node:fs"
import * as NodeType from "../../src/catalogue/types/NodeType.ts"

const decode = Schema.decodeUnknownSync(NodeType.Description)

const newest = (description: NodeType.Description) => Math.max(...NodeType.versionsOf(description))

export const packages = ["n8n-nodes-base", "@n8n/n8n-nodes-langchain"] as const

/** The descriptions in a package's `nodes.json`. */
export const read = (name: string): ReadonlyArray<unknown> =>
  JSON.parse(readFileSync(new URL(`../../node_modules/${name}/dist/types/nodes.json`, import.meta.url), "utf8"))

/** All node types by type. */
export const all: ReadonlyMap<string, NodeType.NodeType> = new Map(
  packages.flatMap((name) =>
    [...Map.groupBy(read(name).map((each) => decode(each)), (description) => `${name}.${description.name}`)].map((
      [type, descriptions]
    ) => [type, { type, descriptions: descriptions.toSorted((a, b) => newest(b) - newest(a)) }] as const)
  )
)

/** The node type of that type; throws if it is missing. */
export const get = (type: string): NodeType.NodeType => {
  const nodeType = all.get(type)
  if (nodeType === undefined) throw new Error(`There is no node type ${type}`)
  return nodeType
}

/** Every description with each of its versions. */
export const versions: ReadonlyArray<
  readonly [nodeType: NodeType.NodeType, description: NodeType.Description, version: number]
> = [...all.values()].flatMap((nodeType) =>
  nodeType.descriptions.flatMap((description) =>
    NodeType.versionsOf(description).map((version) => [nodeType, description, version] as const)
  )
)
