/** Workflows that the guides show. */
import type { Obj } from "../../src/base/Json.ts"

/** A workflow as tools accept it: without ids and positions, which they fill in. */
export interface Example {
  readonly nodes: ReadonlyArray<Obj & { readonly name: string; readonly type: string }>
  readonly connections: Obj
}

/** Example that shows only one node, behind a manual trigger. */
const started = ({ connections, nodes }: Example): Example =>
  nodes.length > 1 ? { nodes, connections } : {
    nodes: [{ name: "Start", type: "n8n-nodes-base.manualTrigger", typeVersion: 1, parameters: {} }, ...nodes],
    connections: { Start: { main: [[{ node: nodes[0]?.name, type: "main", index: 0 }]] } }
  }

export const examplesIn = (guide: string): ReadonlyArray<Example> =>
  [...guide.matchAll(/```json\n(.*)\n```/g)].map(([, json = ""]) => started(JSON.parse(json)))
