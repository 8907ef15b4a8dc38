/** Workflows as Mermaid flowcharts. */
import * as Connections from "../n8n/model/Connections.ts"
import type { Edge, WorkflowMap } from "./fleet/Map.ts"

const entity = (sign: string) => `#${sign.codePointAt(0)};`

/**
 * Escapes characters that Mermaid reads as syntax, and list markers that it reads as Markdown, as Mermaid entities.
 */
const mermaidText = (text: string) =>
  text.replace(/[^\p{L}\p{M}\p{N} .,:!?_+=*/@%&-]/gu, entity)
    .replace(/(?<=^ *\d*)[.*+-](?= )/, entity)

/**
 * Draws a flowchart from left to right.
 *
 * **Details**
 *
 * Disabled nodes are dashed; links of sub-nodes are dotted; ports other than `main[0]` are labelled.
 */
export const flowchart = (
  nodes: ReadonlyArray<Connections.NodeShape & { readonly name: string; readonly disabled?: boolean | null }>,
  connections: Connections.Connections,
  namesOf: Connections.OutputNames = () => undefined
): string => {
  const ids = new Map(nodes.map((node, index) => [node.name, `n${index}`]))
  const byName = new Map(nodes.map((node) => [node.name, node]))
  const boxes = nodes.map((node, index) => `  n${index}["${mermaidText(node.name)}"]`)
  const links = Connections.links(connections)
  const bySource = Map.groupBy(links, (link) => link.from)
  const arrows = links.flatMap((link) => {
    const from = ids.get(link.from)
    const to = ids.get(link.to)
    const source = byName.get(link.from)
    if (from === undefined || to === undefined || source === undefined) return []
    const count = Connections.connectedOutputs(bySource.get(link.from) ?? [])
    const name = Connections.outputName(source, link.output, namesOf, count) ??
      (Connections.isPlain(link) ? undefined : Connections.portLabel(link.output))
    const into = link.input.index > 0 ? ` to ${Connections.portLabel(link.input)}` : ""
    const label = name === undefined && into === ""
      ? ""
      : `|"${mermaidText(`${name ?? Connections.portLabel(link.output)}${into}`)}"|`
    return [`  ${from} ${link.output.type === "main" ? "-->" : "-.->"}${label} ${to}`]
  })
  const disabled = nodes.flatMap((node, index) => node.disabled === true ? [`n${index}`] : [])
  const dashed = disabled.length === 0
    ? []
    : [`  classDef disabled stroke-dasharray: 4 4`, `  class ${disabled.join(",")} disabled`]
  return ["flowchart LR", ...boxes, ...arrows, ...dashed].join("\n")
}

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
