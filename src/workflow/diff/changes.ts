/** Differences between two states of a workflow. */
import * as Difference from "../../base/Difference.ts"
import { canonical, defined, equals, type Obj, obj, str } from "../../base/Json.ts"
import * as Turn from "../../base/Turn.ts"
import * as Connections from "../../n8n/model/Connections.ts"
import { namedNodes, nameOf, tagNames } from "../../n8n/model/Workflow.ts"
import * as Graph from "../Graph.ts"

/** Workflow of any origin; parts that are not in n8n's form are not compared. */
export interface Document {
  readonly [key: string]: unknown
}

type Differences = ReadonlyArray<Difference.Difference>

/** Change of one node; `moved` if only its position differs. */
export interface NodeDiff {
  /** Name after the change, or before it for a removed node. */
  readonly name: string
  readonly change: "added" | "removed" | "changed" | "renamed" | "moved"
  /** Name before the change, for a renamed node. */
  readonly formerName?: string
  /** Everything but name and position; the whole node if it was added or removed. */
  readonly value?: ReadonlyArray<Difference.Difference>
  readonly position?: ReadonlyArray<Difference.Difference>
}

/** Differences between two states of a workflow. */
export interface WorkflowDiff {
  readonly nodes: ReadonlyArray<NodeDiff>
  /** Nodes have their names after the change; removed nodes have their former name, see {@link plainName}. */
  readonly links: { readonly added: ReadonlyArray<Connections.Link>; readonly removed: ReadonlyArray<Connections.Link> }
  /** Changes of the name, settings and other parts of the whole workflow. */
  readonly rest?: ReadonlyArray<Difference.Difference>
}

const restKeys = ["name", "description", "settings", "pinData", "staticData", "nodeGroups", "tags"] as const

export const content = ({ name: _, position: __, ...rest }: Obj): Obj => rest

type Pair = readonly [before: Obj, after: Obj]

/** Pairs of nodes with equal keys that no other node has, and the unpaired nodes of each side. */
const pairBy = (
  before: ReadonlyArray<Obj>,
  after: ReadonlyArray<Obj>,
  key: (node: Obj, side: "before" | "after") => string | undefined
) => {
  const others = Map.groupBy(after, (node) => key(node, "after") ?? "")
  const pairs = [...Map.groupBy(before, (node) => key(node, "before") ?? "")].flatMap(
    ([text, nodes]): ReadonlyArray<Pair> => {
      const [[node, other], count] = [[nodes[0], others.get(text)?.[0]], nodes.length + (others.get(text)?.length ?? 0)]
      return text === "" || node === undefined || other === undefined || count > 2 ? [] : [[node, other]]
    }
  )
  const paired = new Set(pairs.flat())
  return { pairs, before: before.filter((node) => !paired.has(node)), after: after.filter((node) => !paired.has(node)) }
}

const neighbours = (graph: Graph.Graph, translate: (name: string) => string) => (name: string) =>
  Graph.around(graph, [name]).map((link) =>
    Connections.linkKey({
      ...link,
      from: link.from === name ? "" : translate(link.from),
      to: link.to === name ? "" : translate(link.to)
    })
  ).toSorted()

interface Graphs {
  readonly before: Graph.Graph
  readonly after: Graph.Graph
}

/** Maximum number of rounds in which pairs make others comparable: a chain of equal nodes would take one per node. */
const maxRounds = 20

const match = function*(before: Document, after: Document, graphs: Graphs, isOther: boolean) {
  const byId = (node: Obj) => str(node["id"])
  const pairs: Array<Pair> = []
  let rest = { before: namedNodes(before), after: namedNodes(after) }
  const pair = (key: Parameters<typeof pairBy>[2]) => {
    const next = pairBy(rest.before, rest.after, key)
    pairs.push(...next.pairs)
    rest = next
  }
  const contents = new Map<Obj, string>()
  const content = (node: Obj) => {
    const text = contents.get(node) ?? canonical(node["parameters"])
    contents.set(node, text)
    return [node["type"], text]
  }
  const links = neighbours(graphs.after, (name) => name)
  const around = () => {
    const former = new Map(pairs.map(([a, b]) => [nameOf(a), nameOf(b)]))
    const old = neighbours(graphs.before, (name) => former.get(name) ?? name)
    return (node: Obj, side: "before" | "after") => (side === "before" ? old : links)(nameOf(node))
  }
  const pairAround = (of: (node: Obj) => ReadonlyArray<unknown>) => {
    const linksOf = around()
    pair((node, side) => JSON.stringify([...of(node), linksOf(node, side)]))
  }
  // Ids of different workflows agree only by accident.
  if (!isOther) pair(byId)
  pair(isOther ? (node) => JSON.stringify([nameOf(node), node["type"]]) : nameOf)
  yield
  pairAround(content)
  // Each pair makes the links of others comparable.
  for (let count = isOther ? -1 : pairs.length, round = 0; count < pairs.length && round < maxRounds; round++) {
    yield
    count = pairs.length
    pair((node) => JSON.stringify(content(node)))
    pairAround(({ type }) => [type])
  }
  if (isOther) pair(nameOf)
  return { pairs, removed: rest.before, added: rest.after }
}

const linksOf = ({ links }: Graph.Graph, names: ReadonlyMap<string, string>): ReadonlyArray<Connections.Link> =>
  links.map(({ from, input, output, to }) => ({
    from: names.get(from) ?? from,
    output,
    to: names.get(to) ?? to,
    input
  }))

const renameKeys = (value: unknown, names: ReadonlyMap<string, string>): unknown => {
  const object = obj(value)
  return object === undefined
    ? value
    : Object.fromEntries(Object.entries(object).map(([key, inner]) => [names.get(key) ?? key, inner]))
}

/** `null`, `{}` and `[]` equal a missing key: n8n writes either. */
const isEmpty = (value: unknown) =>
  value === undefined || value === null || typeof value === "object" && Object.keys(value).length === 0

const pick = (workflow: Document, names: ReadonlyMap<string, string>): Obj =>
  Object.fromEntries(
    restKeys.flatMap((key) => {
      const value = key === "pinData"
        ? renameKeys(workflow[key], names)
        : key === "tags"
        ? tagNames(workflow).toSorted()
        : workflow[key]
      return isEmpty(value) ? [] : [[key, value]]
    })
  )

const without = (links: ReadonlyArray<Connections.Link>, others: ReadonlyArray<Connections.Link>) => {
  const keys = new Set(others.map(Connections.linkKey))
  return [...new Map(links.map((link) => [Connections.linkKey(link), link])).values()].filter((link) =>
    !keys.has(Connections.linkKey(link))
  )
}

const shared = ({ id: _, webhookId: __, ...rest }: Obj): Obj => content(rest)

/** Differences of two values; `undefined` if there are none. */
const between = (before: unknown, after: unknown): Differences | undefined => {
  const all = Difference.between(before, after)
  return all.length === 0 ? undefined : all
}

/** Changed values of a node without an id that only one side has: handwritten nodes have none, and n8n gives them one. */
export const relevant = (differences: Differences): ReadonlyArray<Difference.Field> =>
  Difference.fields(differences).filter(({ after, before, path }) =>
    path !== "id" || before !== undefined && after !== undefined
  )

const nodeDiff = ([before, after]: Pair, isOther: boolean): NodeDiff | undefined => {
  const name = nameOf(after)
  const [value, position] = isOther
    ? [between(shared(before), shared(after)), undefined]
    : [between(content(before), content(after)), between(before["position"], after["position"])]
  const isRenamed = nameOf(before) !== name
  if (!isRenamed && value === undefined && position === undefined) return undefined
  return defined({
    name,
    change: isRenamed ? "renamed" as const : value === undefined ? "moved" as const : "changed" as const,
    formerName: isRenamed ? nameOf(before) : undefined,
    value,
    position
  })
}

/** Prefix of a removed node's name that now belongs to another node. */
const removedMark = "\u0000"

/** Name of a link's end without the mark of a removed node whose name another node has now. */
export const plainName = (name: string): string => name.startsWith(removedMark) ? name.slice(1) : name

const newNames = (nodes: ReadonlyArray<NodeDiff>): ReadonlyMap<string, string> => {
  const renamed = nodes.flatMap(({ formerName, name }) => formerName === undefined ? [] : [[formerName, name] as const])
  const taken = new Set(renamed.map(([, name]) => name))
  const removed = nodes.filter(({ change, name }) => change === "removed" && taken.has(name))
  return new Map([...removed.map(({ name }) => [name, removedMark + name] as const), ...renamed])
}

/** Differences from `before` to `after`; with `isOther`, ids, webhook ids and positions do not count. */
export const make = (before: Document, after: Document, isOther = false): WorkflowDiff =>
  Turn.finish(steps(before, after, isOther))

/** {@link make} in steps: a pair of nodes each. @internal */
export const steps = function*(before: Document, after: Document, isOther: boolean): Turn.Steps<WorkflowDiff> {
  const graphs = { before: Graph.make(before["connections"]), after: Graph.make(after["connections"]) }
  const { added, pairs, removed } = yield* match(before, after, graphs, isOther)
  const nodes = [
    ...removed.map((node) =>
      defined({ name: nameOf(node), change: "removed" as const, value: between(node, undefined) })
    ),
    ...yield* Turn.flatMap(pairs, (pair) => [nodeDiff(pair, isOther) ?? []].flat()),
    ...added.map((node) => defined({ name: nameOf(node), change: "added" as const, value: between(undefined, node) }))
  ]
  const names = newNames(nodes)
  yield
  const [old, now] = [linksOf(graphs.before, names), linksOf(graphs.after, new Map())]
  yield
  return defined({
    nodes,
    links: { added: without(now, old), removed: without(old, now) },
    rest: between(pick(before, names), pick(after, new Map()))
  })
}

const same = (before: unknown, after: unknown): number =>
  Object.entries(obj(after) ?? {}).filter(([key, value]) => equals(obj(before)?.[key], value)).length

/** Numbers of nodes (apart from positions), credentials of nodes and settings that are equal before and after. */
export const unchanged = (before: Document, after: Document) => {
  const { nodes } = make(before, after)
  const changed = new Set(nodes.flatMap(({ change, name }) => change === "moved" || change === "removed" ? [] : [name]))
  const former = new Map(nodes.flatMap(({ formerName, name }) => formerName === undefined ? [] : [[name, formerName]]))
  const old = new Map(namedNodes(before).map((node) => [nameOf(node), node["credentials"]]))
  const all = namedNodes(after)
  return {
    nodes: all.filter((node) => !changed.has(nameOf(node))).length,
    credentials: all.reduce((sum, node) => {
      const name = nameOf(node)
      return sum + same(old.get(former.get(name) ?? name), node["credentials"])
    }, 0),
    settings: same(before["settings"], after["settings"])
  }
}
