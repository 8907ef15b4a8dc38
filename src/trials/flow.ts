/** What runs after what, and what serves it. */
import type * as Connections from "../n8n/model/Connections.ts"

/** What follows on a node, through main connections. */
export const after = (links: ReadonlyArray<Connections.Link>, start: string): ReadonlySet<string> => {
  const next = Map.groupBy(links.filter(({ output }) => output.type === "main"), ({ from }) => from)
  const found = new Set([start])
  for (const name of found) for (const { to } of next.get(name) ?? []) found.add(to)
  return found
}

/** What leads to a node, through main connections, and the node itself. */
export const before = (links: ReadonlyArray<Connections.Link>, end: string): ReadonlySet<string> => {
  const previous = Map.groupBy(links.filter(({ output }) => output.type === "main"), ({ to }) => to)
  const found = new Set([end])
  for (const name of found) for (const { from } of previous.get(name) ?? []) found.add(from)
  return found
}

/** What serves nodes: models, tools, memories, and what serves those. */
export const servants = (links: ReadonlyArray<Connections.Link>, served: Iterable<string>): ReadonlySet<string> => {
  const lent = Map.groupBy(links.filter(({ output }) => output.type !== "main"), ({ to }) => to)
  const found = new Set(served)
  for (const name of found) for (const { from } of lent.get(name) ?? []) found.add(from)
  return found
}

/** Whether something comes back to where it was. */
export const isCyclic = (links: ReadonlyArray<Connections.Link>): boolean =>
  links.some(({ from, output, to }) => output.type === "main" && after(links, to).has(from))

/** Links in n8n's own shape. */
export const asConnections = (links: ReadonlyArray<Connections.Link>): Connections.Connections =>
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
