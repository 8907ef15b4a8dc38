/** Mermaid flowcharts of workflows. */
import * as Connections from "../n8n/model/Connections.ts"
import * as Graph from "./Graph.ts"

const entity = (sign: string) => `#${sign.codePointAt(0)};`

/** Escapes characters that Mermaid reads as syntax, and list markers that it reads as Markdown, as Mermaid entities. */
const mermaidText = (text: string): string =>
  text.replace(/[^\p{L}\p{M}\p{N} .,:!?_+=*/@%&-]/gu, entity).replace(/(?<=^ *\d*)[.*+-](?= )/, entity)

/** Flowchart of boxes and arrows between their keys, with the boxes of one class dashed. */
export const chart = (
  boxes: Iterable<readonly [key: string, label: string]>,
  arrows: ReadonlyArray<string>,
  dashed: { readonly name: string; readonly keys: ReadonlyArray<string> }
): string =>
  [
    "flowchart LR",
    ...[...boxes].map(([key, label]) => `  ${key}["${mermaidText(label)}"]`),
    ...arrows.map((arrow) => `  ${arrow}`),
    ...dashed.keys.length === 0
      ? []
      : [`  classDef ${dashed.name} stroke-dasharray: 4 4`, `  class ${dashed.keys.join(",")} ${dashed.name}`]
  ].join("\n")

/** Draws a flowchart: disabled nodes dashed, links of sub-nodes dotted, ports other than `main[0]` labelled. */
export const flowchart = (
  nodes: ReadonlyArray<Connections.NodeShape & { readonly name: string; readonly disabled?: boolean | null }>,
  connections: Connections.Connections,
  namesOf: Connections.OutputNames = () => undefined
): string => {
  const ids = new Map(nodes.map((node, index) => [node.name, `n${index}`]))
  const byName = new Map(nodes.map((node) => [node.name, node]))
  const graph = Graph.make(connections)
  const arrows = graph.links.flatMap((link) => {
    const from = ids.get(link.from)
    const to = ids.get(link.to)
    const source = byName.get(link.from)
    if (from === undefined || to === undefined || source === undefined) return []
    const name = Connections.outputName(source, link.output, namesOf, Graph.outputCount(graph, link.from)) ??
      (Connections.isPlain(link) ? undefined : Connections.portLabel(link.output))
    const into = link.input.index > 0 ? ` to ${Connections.portLabel(link.input)}` : ""
    const label = name === undefined && into === ""
      ? ""
      : `|"${mermaidText(`${name ?? Connections.portLabel(link.output)}${into}`)}"|`
    return [`${from} ${Graph.isMain(link) ? "-->" : "-.->"}${label} ${to}`]
  })
  const disabled = nodes.flatMap((node, index) => node.disabled === true ? [`n${index}`] : [])
  return chart(nodes.map(({ name }, index) => [`n${index}`, name]), arrows, { name: "disabled", keys: disabled })
}
