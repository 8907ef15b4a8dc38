/**
 * Graph of a workflow, built once: links by node, what leads where, loops, layers, and its forms for readers. Pure.
 *
 * Items pass the links of type `main`; the others lead from a sub-node, such as a model, to the node that it serves.
 */
import * as Effects from "effect/Graph"
import { type Obj, str } from "../base/Json.ts"
import * as Connections from "../n8n/model/Connections.ts"
import * as Workflow from "../n8n/model/Workflow.ts"

/** Least that the graph needs of a link; without an output, items pass it. */
export interface Edge {
  readonly from: string
  readonly to: string
  readonly output?: { readonly type: string; readonly index?: number }
}

/** Links by node; every function below takes time in proportion to nodes and links. */
export interface Graph<E extends Edge = Connections.PlacedLink> {
  /** In n8n's order. */
  readonly links: ReadonlyArray<E>
  /** Links that start at a node, in the order of its outputs. */
  readonly out: (name: string) => ReadonlyArray<E>
  /** Links that end at a node. */
  readonly into: (name: string) => ReadonlyArray<E>
}

/** Graph of these links. */
export const of = <E extends Edge>(links: ReadonlyArray<E>): Graph<E> => {
  const sources = Map.groupBy(links, ({ from }) => from)
  const targets = Map.groupBy(links, ({ to }) => to)
  return { links, out: (name) => sources.get(name) ?? [], into: (name) => targets.get(name) ?? [] }
}

/** Graph of n8n's connections, with links to missing nodes. */
export const make = (connections: unknown): Graph => of(Connections.links(connections))

/**
 * Graph of a workflow's nodes alone: an id means the node, as a repair writes it. Links to other words are omitted, and
 * those of types that n8n does not follow.
 */
export const resolved = (workflow: Obj): Graph => {
  const nodes = Workflow.nodes(workflow)
  const names = new Map(nodes.flatMap((node) => {
    const [id, name] = [str(node["id"]), Workflow.nameOf(node)]
    return id === undefined || name === "" ? [] : [[id, name] as const]
  }))
  for (const node of nodes) {
    const name = Workflow.nameOf(node)
    if (name !== "") names.set(name, name)
  }
  return of(
    Connections.links(workflow["connections"]).flatMap((link) => {
      const [from, to] = [names.get(link.from), names.get(link.to)]
      return from === undefined || to === undefined || !Connections.isType(link.output.type)
        ? []
        : [{ ...link, from, to }]
    })
  )
}

/** Whether items pass the link. */
export const isMain = ({ output }: Edge): boolean => output === undefined || output.type === "main"

/** Links to or from nodes, each once. */
export const around = <E extends Edge>(graph: Graph<E>, names: Iterable<string>): ReadonlyArray<E> => [
  ...new Set([...names].flatMap((name) => [...graph.into(name), ...graph.out(name)]))
]

/** Nodes that get a node's items, from all main outputs or from one; one that gets them by two links occurs twice. */
export const next = (graph: Graph<Edge>, name: string, output?: number): ReadonlyArray<string> =>
  graph.out(name).flatMap((link) =>
    isMain(link) && (output === undefined || link.output?.index === output) ? [link.to] : []
  )

/** Nodes whose items a node gets. */
export const previous = (graph: Graph<Edge>, name: string): ReadonlyArray<string> =>
  graph.into(name).flatMap((link) => isMain(link) ? [link.from] : [])

/** Nodes that a node serves, as a model serves an agent. */
export const served = (graph: Graph<Edge>, name: string): ReadonlyArray<string> =>
  graph.out(name).flatMap((link) => isMain(link) ? [] : [link.to])

const reach = (starts: Iterable<string>, nextOf: (name: string) => Iterable<string>): ReadonlySet<string> => {
  const names = new Set(starts)
  for (const name of names) for (const each of nextOf(name)) names.add(each)
  return names
}

/** The nodes, and all that their items reach; `blocked` is not passed. */
export const after = (graph: Graph<Edge>, starts: Iterable<string>, blocked?: string): ReadonlySet<string> => {
  const open = (names: Iterable<string>) => [...names].filter((name) => name !== blocked)
  return reach(open(starts), (name) => open(next(graph, name)))
}

/** The nodes, and all whose items reach them. */
export const before = (graph: Graph<Edge>, ends: Iterable<string>): ReadonlySet<string> =>
  reach(ends, (name) => previous(graph, name))

/** The nodes and their sub-nodes, at any depth. */
export const withSubNodes = (graph: Graph<Edge>, names: Iterable<string>): ReadonlySet<string> =>
  reach(names, (name) => graph.into(name).flatMap((link) => isMain(link) ? [] : [link.from]))

/** The nodes, all that their items reach, and the sub-nodes of these; by a link that `serves`, its source serves its target. */
export const running = <E extends Edge>(
  graph: Graph<E>,
  starts: Iterable<string>,
  serves: (link: E) => boolean = (link) => !isMain(link)
): ReadonlySet<string> =>
  reach(starts, (name) => [
    ...graph.out(name).flatMap((link) => serves(link) ? [] : [link.to]),
    ...graph.into(name).flatMap((link) => serves(link) ? [link.from] : [])
  ])

/** Index of a node's main output from which the shortest way leads to another node. */
export const outputTowards = (graph: Graph, from: string, to: string): number | undefined => {
  const names = new Set([to])
  for (const name of names) {
    for (const link of graph.into(name)) {
      if (!isMain(link)) continue
      if (link.from === from) return link.output.index
      names.add(link.from)
    }
  }
  return undefined
}

/** Number of a node's main outputs up to the last linked one. */
export const outputCount = (graph: Graph<Connections.Link>, name: string): number =>
  graph.out(name).reduce((count, link) => isMain(link) ? Math.max(count, link.output.index + 1) : count, 0)

/** Whether two links lead to the same input of a node, which then runs once for each. */
export const isFedTwice = (graph: Graph<Connections.Link>, name: string): boolean => {
  const inputs = graph.into(name).flatMap((link) => isMain(link) ? [link.input.index] : [])
  return new Set(inputs).size < inputs.length
}

/** The links that items pass, for the algorithms of `effect`. */
const flowOf = (graph: Graph<Edge>, names: Iterable<string>) => {
  const list = [...new Set(names)]
  const indices = new Map(list.map((name, index) => [name, index]))
  const flow = Effects.directed<string, void>((mutable) => {
    for (const name of list) Effects.addNode(mutable, name)
    for (const [from, index] of indices) {
      for (const name of new Set(next(graph, from))) {
        const to = indices.get(name)
        if (to !== undefined) Effects.addEdge(mutable, index, to, undefined)
      }
    }
  })
  return { list, indices, flow }
}

/** Groups of nodes whose items reach every node of the group again. */
export const loops = (graph: Graph<Edge>): ReadonlyArray<ReadonlyArray<string>> => {
  const { flow, list } = flowOf(graph, graph.links.flatMap(({ from, to }) => [from, to]))
  return Effects.stronglyConnectedComponents(flow)
    .map((component) => component.map((index) => list[index] ?? ""))
    .filter(([name = "", ...others]) => others.length > 0 || next(graph, name).includes(name))
}

/** Nodes in loops. */
export const looping = (graph: Graph<Edge>): ReadonlySet<string> => new Set(loops(graph).flat())

/** Order of nodes from left to right. */
export interface Layers {
  /** Targets of each node, without those of links that lead back. */
  readonly forward: ReadonlyMap<string, ReadonlyArray<string>>
  /** Number of the column of each node that others lead to: right of the last of them. */
  readonly columns: ReadonlyMap<string, number>
  /** Nodes between which links lead. */
  readonly islands: ReadonlyArray<ReadonlySet<string>>
}

/** Layers of some nodes, by the links that items pass. */
export const layers = (graph: Graph<Edge>, names: ReadonlyArray<string>): Layers => {
  const { flow, indices, list } = flowOf(graph, names)
  const targets = (from: string) => [...new Set(next(graph, from))].filter((to) => to !== from && indices.has(to))
  const isTarget = new Set(list.flatMap(targets))
  const start = list.toSorted((a, b) => Number(isTarget.has(a)) - Number(isTarget.has(b)))
    .map((name) => indices.get(name) ?? 0)
  const ended = [...Effects.values(Effects.dfsPostOrder(flow, { start }))]
  const turn = new Map(ended.map((name, index) => [name, index]))
  // A link leads back if the search ends its target after its source.
  const forward = new Map(
    [...Effects.values(Effects.dfs(flow, { start }))].map((from) => [
      from,
      targets(from).filter((to) => (turn.get(to) ?? 0) < (turn.get(from) ?? 0))
    ])
  )
  const columns = new Map<string, number>()
  for (const from of ended.toReversed()) {
    const column = (columns.get(from) ?? 0) + 1
    for (const to of forward.get(from) ?? []) columns.set(to, Math.max(columns.get(to) ?? 0, column))
  }
  const islands = Effects.weaklyConnectedComponents(flow)
    .map((island) => new Set(island.map((index) => list[index] ?? "")))
  return { forward, columns, islands }
}

/** A function that describes the ports of links from one node. */
const describePorts = (node: Connections.NamedShape | undefined, count: number, namesOf: Connections.OutputNames) => {
  return ({ input, output }: Connections.Link) => {
    const name = node && Connections.outputName(node, output, namesOf, count)
    return {
      output: Connections.portLabel(output),
      ...(name === undefined ? {} : { name }),
      input: Connections.portLabel(input)
    }
  }
}

/** The nodes with links whose ports answers show: only their outputs need names. */
export const withPorts = <A extends Connections.NamedShape>(graph: Graph, nodes: ReadonlyArray<A>): ReadonlyArray<A> =>
  nodes.filter(({ name }) => graph.out(name).some((link) => !Connections.isPlain(link)))

/** The neighbours of each node, in the workflow's order. */
export const neighbours = (
  graph: Graph,
  nodes: ReadonlyArray<Connections.NamedShape & { readonly id?: string }>,
  namesOf: Connections.OutputNames
) =>
  nodes.map((node) => {
    const out = graph.out(node.name)
    const end = describePorts(node, outputCount(graph, node.name), namesOf)
    const ports = out.filter((link) => !Connections.isPlain(link)).map((link) => ({ ...end(link), to: link.to }))
    return {
      node: node.name,
      id: node.id ?? "",
      type: node.type,
      inputs: [...new Set(graph.into(node.name).map(({ from }) => from))],
      outputs: [...new Set(out.map(({ to }) => to))],
      ...(ports.length === 0 ? {} : { ports })
    }
  })

/** Some links by source, without ports that are `main[0]`: `{Source: [{to, output?, name?, input?}]}`. */
export const simplify = (
  graph: Graph,
  links: ReadonlyArray<Connections.Link>,
  nodes: ReadonlyArray<Connections.NamedShape>,
  namesOf: Connections.OutputNames
) => {
  const shapes = new Map(nodes.map((node) => [node.name, node]))
  return Object.fromEntries([...Map.groupBy(links, ({ from }) => from)].map(([from, own]) => {
    const end = describePorts(shapes.get(from), outputCount(graph, from), namesOf)
    return [from, own.map((link) => ({ to: link.to, ...(Connections.isPlain(link) ? {} : end(link)) }))]
  }))
}
