/** Reachability in a workflow: nodes that run, and the sub-nodes that they use. */
import type * as Connections from "../n8n/model/Connections.ts"

/** These nodes and all to which links lead from them. */
const closure = (links: ReadonlyArray<Connections.Link>, names: Iterable<string>, from: "from" | "to") => {
  const next = Map.groupBy(links, (link) => link[from])
  const result = new Set(names)
  for (const name of result) for (const link of next.get(name) ?? []) result.add(from === "from" ? link.to : link.from)
  return result as ReadonlySet<string>
}

const isMain = ({ output }: Connections.Link) => output.type === "main"

/** Node and all nodes reachable from it through main connections. */
export const reachableFrom = (links: ReadonlyArray<Connections.Link>, start: string): ReadonlySet<string> =>
  closure(links.filter(isMain), [start], "from")

/** Node and all nodes that lead to it through main connections. */
export const leadingTo = (links: ReadonlyArray<Connections.Link>, end: string): ReadonlySet<string> =>
  closure(links.filter(isMain), [end], "to")

/** Nodes and their sub-nodes (models, tools, memories), at any depth. */
export const withSubNodes = (links: ReadonlyArray<Connections.Link>, names: Iterable<string>): ReadonlySet<string> =>
  closure(links.filter((link) => !isMain(link)), names, "to")

export const isCyclic = (links: ReadonlyArray<Connections.Link>): boolean =>
  links.some(({ from, output, to }) => output.type === "main" && reachableFrom(links, to).has(from))

const linkTo = (from: string, to: string): Connections.Link => {
  const port = { type: "main", index: 0 }
  return { from, output: port, to, input: port }
}

export const inRow = (names: ReadonlyArray<string>): ReadonlyArray<Connections.Link> =>
  names.slice(1).map((name, index) => linkTo(names[index] ?? "", name))

export const toConnections = (links: ReadonlyArray<Connections.Link>): Connections.Connections =>
  Object.fromEntries([...Map.groupBy(links, ({ from }) => from)].map(([from, out]) => [
    from,
    Object.fromEntries([...Map.groupBy(out, ({ output }) => output.type)].map(([type, ofType]) => {
      const length = Math.max(...ofType.map(({ output }) => output.index)) + 1
      return [
        type,
        Array.from({ length }, (_, index) =>
          ofType.filter(({ output }) => output.index === index)
            .map(({ input, to }) => ({ node: to, type: input.type, index: input.index })))
      ]
    }))
  ]))
