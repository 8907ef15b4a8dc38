/** Maps of workflows as Mermaid flowcharts. Pure. */
import * as Mermaid from "../workflow/Mermaid.ts"
import type { Edge, WorkflowMap } from "./Map.ts"

const arrows: { readonly [K in Edge["kind"]]: string } = { calls: "-->", tool: "-.->", http: "==>", error: "-.->" }

/** Draws links between workflows: broken ones red, unpublished workflows dashed. */
export const ofMap = ({ broken, workflows }: WorkflowMap, edges: ReadonlyArray<Edge>): string => {
  const ids = new Map([...new Set(edges.flatMap(({ from, to }) => [from, to]))].map((id, index) => [id, `n${index}`]))
  const failing = new Set(broken.map(({ from, kind, node, to }) => JSON.stringify([from, kind, node, to])))
  const isBroken = ({ from, kind, node, to }: Edge) => failing.has(JSON.stringify([from, kind, node, to]))
  const red = edges.flatMap((edge, index) => isBroken(edge) ? [index] : [])
  const unpublished = [...ids].flatMap(([id, key]) => workflows.get(id)?.isPublished === false ? [key] : [])
  const flowchart = Mermaid.chart(
    [...ids].map(([id, key]) => [key, workflows.get(id)?.name ?? `missing: ${id}`]),
    edges.map(({ from, kind, to }) =>
      `${ids.get(from)} ${arrows[kind]}${kind === "calls" ? "" : `|${kind}|`} ${ids.get(to)}`
    ),
    { name: "unpublished", keys: unpublished }
  )
  return red.length === 0 ? flowchart : `${flowchart}\n  linkStyle ${red.join(",")} stroke:red`
}
