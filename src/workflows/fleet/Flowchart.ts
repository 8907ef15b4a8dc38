/** Maps of workflows as Mermaid flowcharts. Pure. */
import { mermaidText } from "../MermaidText.ts"
import type { Edge, WorkflowMap } from "./Map.ts"

const arrows: { readonly [K in Edge["kind"]]: string } = { calls: "-->", tool: "-.->", http: "==>", error: "-.->" }

/** Draws links between workflows: broken ones red, unpublished workflows dashed. */
export const ofMap = ({ broken, workflows }: WorkflowMap, edges: ReadonlyArray<Edge>): string => {
  const ids = new Map([...new Set(edges.flatMap(({ from, to }) => [from, to]))].map((id, index) => [id, `n${index}`]))
  const failing = new Set(broken.map(({ from, kind, node, to }) => JSON.stringify([from, kind, node, to])))
  const isBroken = ({ from, kind, node, to }: Edge) => failing.has(JSON.stringify([from, kind, node, to]))
  const among = (isOne: (id: string) => boolean) => [...ids].flatMap(([id, key]) => isOne(id) ? [key] : [])
  const unpublished = among((id) => workflows.get(id)?.isPublished === false)
  const red = edges.flatMap((edge, index) => isBroken(edge) ? [index] : [])
  return [
    "flowchart LR",
    ...[...ids].map(([id, key]) => `  ${key}["${mermaidText(workflows.get(id)?.name ?? `missing: ${id}`)}"]`),
    ...edges.map(({ from, kind, to }) =>
      `  ${ids.get(from)} ${arrows[kind]}${kind === "calls" ? "" : `|${kind}|`} ${ids.get(to)}`
    ),
    ...unpublished.length === 0
      ? []
      : ["  classDef unpublished stroke-dasharray: 4 4", `  class ${unpublished.join(",")} unpublished`],
    ...red.length === 0 ? [] : [`  linkStyle ${red.join(",")} stroke:red`]
  ].join("\n")
}
