/**
 * Connections between nodes: ports, their indices and types.
 *
 * n8n stores connections by source: `{[source]: {[type]: [links of output 0, links of output 1, …]}}`. The type is
 * `main` for items, and `ai_tool`, `ai_languageModel`, … for what a sub-node provides to an AI node; there the source
 * is the sub-node.
 */
import * as Schema from "effect/Schema"
import { arr, equals, int, mapValues, type Obj, obj, own, str, without } from "../../base/Json.ts"
import { print } from "../../base/JsonPath.ts"

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

/** A connection and its place in n8n's connections: `connections[source][output.type][output.index][position]`. */
export interface PlacedLink extends Link {
  /** Key of the source: its name, or an id that means it. */
  readonly source: string
  readonly position: number
}

const slotOf = ({ index, type }: Port, position: number) => `${type}[${index}][${position}]`

/** Path of a connection in its workflow, such as `connections.A.main[0][1]`. */
export const placeOf = ({ output, position, source }: PlacedLink): string =>
  print(["connections", source, output.type, output.index, position])

/** All connections in n8n's order, including links to missing nodes; malformed ones are omitted. */
export const links = (connections: unknown): ReadonlyArray<PlacedLink> =>
  Object.entries(obj(connections) ?? {}).flatMap(([from, types]) =>
    Object.entries(obj(types) ?? {}).flatMap(([type, outputs]) =>
      arr(outputs).flatMap((entries, index) =>
        arr(entries).flatMap((entry, position): ReadonlyArray<PlacedLink> => {
          const target = obj(entry)
          const to = str(target?.["node"])
          if (to === undefined) return []
          const input = { type: str(target?.["type"]) || type, index: Math.max(int(target?.["index"]) ?? 0, 0) }
          return [{ from, output: { type, index }, to, input, source: from, position }]
        })
      )
    )
  )

/** Connections as n8n stores them. */
export const fromLinks = (links: ReadonlyArray<Link>): Connections => {
  const sources = new Map<string, Map<string, Array<Array<typeof Target.Type>>>>()
  for (const { from, input, output, to } of links) {
    const types = sources.get(from) ?? new Map<string, Array<Array<typeof Target.Type>>>()
    const outputs = types.get(output.type) ?? []
    while (outputs.length <= output.index) outputs.push([])
    outputs[output.index]?.push({ node: to, type: input.type, index: input.index })
    sources.set(from, types.set(output.type, outputs))
  }
  return Object.fromEntries([...sources].map(([from, types]) => [from, Object.fromEntries(types)]))
}

/** Links from each node to the next, by their first main ports. @internal */
export const chain = (names: ReadonlyArray<string>): ReadonlyArray<Link> => {
  const port = { type: "main", index: 0 }
  return names.slice(1).map((to, index) => ({ from: names[index] ?? "", output: port, to, input: port }))
}

/** Connections with one more; `undefined` if they do not have n8n's form there. @internal */
export const add = (connections: unknown, { from, input, output, to }: Link): Obj | undefined => {
  const sources = (connections ?? null) === null ? {} : obj(connections)
  const types = obj(own(sources, from) ?? {})
  const list = own(types, output.type) ?? []
  if (sources === undefined || types === undefined || !Array.isArray(list)) return undefined
  const outputs: Array<unknown> = [...list]
  while (outputs.length <= output.index) outputs.push([])
  const targets = outputs[output.index] ?? []
  if (!Array.isArray(targets)) return undefined
  outputs[output.index] = [...targets, { node: to, type: input.type, index: input.index }]
  return { ...sources, [from]: { ...types, [output.type]: outputs } }
}

const isUnused = (output: unknown) => output === null || Array.isArray(output) && output.length === 0

/** Connections without some; malformed parts stay. @internal */
export const remove = (connections: Obj, links: Iterable<PlacedLink>): Obj => {
  const removed = Map.groupBy(links, ({ source }) => source)
  const rest = mapValues(connections, (types, source) => {
    const slots = new Set(removed.get(source)?.map(({ output, position }) => slotOf(output, position)))
    const trim = (outputs: unknown, type: string) => {
      if (!Array.isArray(outputs)) return outputs
      const rest = outputs.map((targets: unknown, index) =>
        Array.isArray(targets)
          ? targets.filter((_, position) => !slots.has(slotOf({ type, index }, position)))
          : targets
      )
      if (equals(rest, outputs)) return outputs
      const used = rest.slice(0, rest.findLastIndex((output) => !isUnused(output)) + 1)
      return used.length === 0 ? undefined : used
    }
    const own = obj(types)
    return slots.size === 0 || own === undefined
      ? types
      : without(mapValues(own, trim), (outputs) => outputs === undefined)
  })
  return without(rest, (types, source) => equals(types, {}) && !equals(connections[source], {}))
}

/** Connections with links in the place of others, or without them. @internal */
export const move = (connections: Obj, moved: ReadonlyMap<PlacedLink, Link | undefined>): Obj =>
  [...moved.values()].reduce<Obj>(
    (result, link) => link === undefined ? result : add(result, link) ?? result,
    remove(connections, moved.keys())
  )

/** Object with a renamed key at the same place. @internal */
export const renameKey = (value: Obj, before: string, after: string): Obj =>
  Object.hasOwn(value, before)
    ? Object.fromEntries(
      Object.entries(value).flatMap(([key, inner]) =>
        key === before ? [[after, inner]] : key === after ? [] : [[key, inner]]
      )
    )
    : value

/** Connections of a renamed node. @internal */
export const rename = (connections: Obj, before: string, after: string): Obj => {
  const renamed = (target: unknown) => own(target, "node") === before ? { ...obj(target), node: after } : target
  const renamedIn = (targets: unknown) => Array.isArray(targets) ? targets.map(renamed) : targets
  const targets = mapValues(connections, (value) => {
    const types = obj(value)
    return types === undefined
      ? value
      : mapValues(types, (outputs) => Array.isArray(outputs) ? outputs.map(renamedIn) : outputs)
  })
  return renameKey(targets, before, after)
}

/** Whether both have the same type and index. */
export const samePort = (left: Port, right: Port) => left.type === right.type && left.index === right.index

/** Text by which links between the same ports of the same nodes are equal. */
export const linkKey = ({ from, input, output, to }: Link): string =>
  JSON.stringify([from, output.type, output.index, to, input.type, input.index])

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

/** A node as links see it, with the name that they use. */
export type NamedShape = NodeShape & { readonly name: string }

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

/** Whether a word is the type of a connection; n8n follows no others. */
export const isType = (word: string): boolean => /^(?:main|ai_\w+)$/.test(word)
