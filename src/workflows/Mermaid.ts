/** Workflows as Mermaid flowcharts. */
import * as Connections from "../n8n/model/Connections.ts"
import { mermaidText } from "./MermaidText.ts"

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
