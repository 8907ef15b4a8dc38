/** Workflows that a change of one workflow affects. Pure. */
import * as Graph from "../workflow/Graph.ts"
import type { Edge, WorkflowMap } from "./Map.ts"

/** Link on the way to a workflow; `steps` is 1 for those that lead to it directly. */
export interface Step extends Edge {
  readonly steps: number
}

/** Links through which a change reaches others, the nearest first; not from an error workflow to its callers. */
export const of = ({ edges }: WorkflowMap, id: string): ReadonlyArray<Step> => {
  const graph = Graph.of(edges.filter(({ state }) => state !== "disabled"))
  const seen = new Set([id])
  const result: Array<Step> = []
  let next: ReadonlyArray<string> = [id]
  for (let steps = 1; next.length > 0; steps++) {
    const links = next.flatMap(graph.into).filter(({ kind }) => steps === 1 || kind !== "error")
    result.push(...links.map((edge) => ({ ...edge, steps })))
    const reached = links.flatMap(({ from, kind }) => kind === "error" || seen.has(from) ? [] : [from])
    next = [...new Set(reached)]
    for (const from of next) seen.add(from)
  }
  return result
}

/** Part of a map with the workflows that a change of one affects, and those that it uses. */
export const around = (map: WorkflowMap, id: string): WorkflowMap => {
  const uses = map.edges.filter(({ from }) => from === id)
  const ids = new Set([id, ...of(map, id).map(({ from }) => from), ...uses.map(({ to }) => to)])
  const within = <A extends { readonly from: string; readonly to?: string }>(links: ReadonlyArray<A>) =>
    links.filter(({ from, to }) => ids.has(from) && (to === undefined || ids.has(to) || from === id))
  return {
    workflows: new Map([...map.workflows].filter(([each]) => ids.has(each))),
    edges: within(map.edges),
    broken: within(map.broken),
    orphans: map.orphans.filter((each) => ids.has(each.id)),
    cycles: map.cycles.filter((each) => each.some((id) => ids.has(id))),
    contracts: within(map.contracts),
    shared: map.shared.filter(({ workflows }) => workflows.includes(id)),
    unresolved: within(map.unresolved)
  }
}
