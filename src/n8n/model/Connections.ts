/**
 * Connections between nodes: ports, their indices and types.
 *
 * n8n stores connections by source: `{[source]: {[type]: [links of output 0, links of output 1, …]}}`. The type is
 * `main` for items, and `ai_tool`, `ai_languageModel`, … for what a sub-node provides to an AI node; there the source
 * is the sub-node.
 */
import * as Schema from "effect/Schema"
import { arr, int, obj, str } from "../../base/Json.ts"

const Target = Schema.Struct({
  node: Schema.String,
  type: Schema.optionalKey(Schema.String),
  index: Schema.optionalKey(Schema.Finite)
})

/** Connections as n8n stores them; unused outputs are `null` or empty. */
export const Connections = Schema.Record(
  Schema.String,
  Schema.Record(Schema.String, Schema.NullOr(Schema.Array(Schema.NullOr(Schema.Array(Target)))))
)
export type Connections = typeof Connections.Type

/** One output or input of a node. */
export interface Port {
  readonly type: string
  readonly index: number
}

/** One connection. */
export interface Link {
  readonly from: string
  readonly output: Port
  readonly to: string
  readonly input: Port
}

/** A connection and its path in the workflow, such as `connections.A.main[0][1]`. */
export interface PlacedLink extends Link {
  readonly at: string
}

/** The link that an entry of an output describes; `undefined` if it describes none. */
export const linkOf = (from: string, output: Port, entry: unknown): Link | undefined => {
  const target = obj(entry)
  const to = str(target?.["node"])
  return to === undefined ? undefined : {
    from,
    output,
    to,
    input: { type: str(target?.["type"]) || output.type, index: Math.max(int(target?.["index"]) ?? 0, 0) }
  }
}

/** All connections with their paths, in n8n's order, including links to missing nodes; malformed ones are omitted. */
export const placedLinks = (connections: unknown): ReadonlyArray<PlacedLink> =>
  Object.entries(obj(connections) ?? {}).flatMap(([from, types]) =>
    Object.entries(obj(types) ?? {}).flatMap(([type, outputs]) =>
      arr(outputs).flatMap((entries, index) =>
        arr(entries).flatMap((entry, position) => {
          const link = linkOf(from, { type, index }, entry)
          return link === undefined ? [] : [{ ...link, at: `connections.${from}.${type}[${index}][${position}]` }]
        })
      )
    )
  )

/** All connections, as {@link placedLinks} without their paths. */
export const links = (connections: unknown): ReadonlyArray<Link> =>
  placedLinks(connections).map(({ at: _, ...link }) => link)

/** Whether both have the same type and index. */
export const samePort = (left: Port, right: Port) => left.type === right.type && left.index === right.index

/** Whether both connect the same ports of the same nodes. */
export const sameLink = (left: Link, right: Link): boolean =>
  left.from === right.from && left.to === right.to && samePort(left.output, right.output) &&
  samePort(left.input, right.input)

/** The label of a port: `main[1]`, or `ai_tool` for the first port of another type. */
export const portLabel = ({ index, type }: Port): string => type === "main" || index > 0 ? `${type}[${index}]` : type

/** Whether both ends are the first main port, the default that answers omit. */
export const isPlain = ({ input, output }: Link): boolean =>
  input.type === "main" && input.index === 0 && output.type === "main" && output.index === 0

/** The properties of a node that its ports depend on. */
export interface NodeShape {
  readonly type: string
  readonly typeVersion?: number
  readonly parameters?: unknown
  readonly onError?: string | null
}

/** Whether the node has an error output, which comes after its others. */
export const hasErrorOutput = (node: NodeShape): boolean => node.onError === "continueErrorOutput"

/** Names of a node's main outputs on n8n, without the error output; `undefined` if its outputs are not known. */
export type OutputNames = (node: NodeShape) => ReadonlyArray<string | undefined> | undefined

/** Name that n8n shows on an output; the last of `count` unknown ones counts as the error output. */
export const outputName = (
  node: NodeShape,
  { index, type }: Port,
  namesOf: OutputNames,
  count = 2
): string | undefined => {
  if (type !== "main") return undefined
  const names = namesOf(node)
  return hasErrorOutput(node) && index === (names?.length ?? Math.max(1, count - 1)) ? "error" : names?.[index]
}

/** The number of main outputs of a node up to the last connected one. */
export const connectedOutputs = (out: ReadonlyArray<Link>): number =>
  out.reduce((count, { output }) => output.type === "main" ? Math.max(count, output.index + 1) : count, 0)

/** A node as links see it, with the name that they use. */
export type NamedShape = NodeShape & { readonly name: string }

/** A function that describes the ports of links from one node. */
const describePorts = (node: NodeShape | undefined, out: ReadonlyArray<Link>, namesOf: OutputNames) => {
  const count = connectedOutputs(out)
  return ({ input, output }: Link) => {
    const name = node && outputName(node, output, namesOf, count)
    return { output: portLabel(output), ...(name === undefined ? {} : { name }), input: portLabel(input) }
  }
}

/** The nodes with links whose ports answers show: only their outputs need names. */
export const withPorts = <A extends NamedShape>(
  nodes: ReadonlyArray<A>,
  connections: Connections
): ReadonlyArray<A> => {
  const sources = new Set(links(connections).flatMap((link) => isPlain(link) ? [] : [link.from]))
  return nodes.filter(({ name }) => sources.has(name))
}

const unique = (names: ReadonlyArray<string>) => [...new Set(names)]

/** The neighbours of each node, in the workflow's order. */
export const graph = (
  nodes: ReadonlyArray<NamedShape & { readonly id?: string }>,
  connections: Connections,
  namesOf: OutputNames
) => {
  const all = links(connections)
  const bySource = Map.groupBy(all, (link) => link.from)
  const byTarget = Map.groupBy(all, (link) => link.to)
  return nodes.map((node) => {
    const out = bySource.get(node.name) ?? []
    const end = describePorts(node, out, namesOf)
    const ports = out.filter((link) => !isPlain(link)).map((link) => ({ ...end(link), to: link.to }))
    return {
      node: node.name,
      id: node.id ?? "",
      type: node.type,
      inputs: unique((byTarget.get(node.name) ?? []).map((link) => link.from)),
      outputs: unique(out.map((link) => link.to)),
      ...(ports.length === 0 ? {} : { ports })
    }
  })
}

/** Connections by source, without ports that are `main[0]`: `{Source: [{to, output?, name?, input?}]}`. */
export const simplify = (nodes: ReadonlyArray<NamedShape>, connections: Connections, namesOf: OutputNames) => {
  const shapes = new Map(nodes.map((node) => [node.name, node]))
  return Object.fromEntries(
    [...Map.groupBy(links(connections), (link) => link.from)].map(([from, out]) => {
      const end = describePorts(shapes.get(from), out, namesOf)
      return [from, out.map((link) => ({ to: link.to, ...(isPlain(link) ? {} : end(link)) }))]
    })
  )
}

/** Whether a word is the type of a connection; n8n follows no others. */
export const isType = (word: string): boolean => /^(?:main|ai_\w+)$/.test(word)
