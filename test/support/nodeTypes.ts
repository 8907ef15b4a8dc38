/** Every node type of n8n's packages, read without the catalogue. */
import * as Schema from "effect/Schema"
import { readFileSync } from "node:fs"
import * as NodeType from "../../src/catalogue/types/NodeType.ts"

const decode = Schema.decodeUnknownSync(NodeType.Description)

const newest = (description: NodeType.Description) => Math.max(...NodeType.versionsOf(description))

export const packages = ["n8n-nodes-base", "@n8n/n8n-nodes-langchain"] as const

/** As the package has it. */
export const read = (name: string): ReadonlyArray<unknown> =>
  JSON.parse(readFileSync(new URL(`../../node_modules/${name}/dist/types/nodes.json`, import.meta.url), "utf8"))

/** By type. */
export const all: ReadonlyMap<string, NodeType.NodeType> = new Map(
  packages.flatMap((name) =>
    [...Map.groupBy(read(name).map((each) => decode(each)), (description) => `${name}.${description.name}`)].map((
      [type, descriptions]
    ) => [type, { type, descriptions: descriptions.toSorted((a, b) => newest(b) - newest(a)) }] as const)
  )
)

/** The one of that type, which must be there. */
export const get = (type: string): NodeType.NodeType => {
  const found = all.get(type)
  if (found === undefined) throw new Error(`no ${type}`)
  return found
}

/** Every description with each of its versions. */
export const versions: ReadonlyArray<
  readonly [nodeType: NodeType.NodeType, description: NodeType.Description, version: number]
> = [...all.values()].flatMap((nodeType) =>
  nodeType.descriptions.flatMap((description) =>
    NodeType.versionsOf(description).map((version) => [nodeType, description, version] as const)
  )
)
