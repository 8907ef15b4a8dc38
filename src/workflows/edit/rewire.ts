/** Changes a node; its links follow the labelled ports. */
import { type Obj, obj } from "../../base/Json.ts"
import type { Port } from "../../catalogue/types/Ports.ts"
import * as Connections from "../../n8n/model/Connections.ts"
import { type Node, quoted } from "../check/CheckedWorkflow.ts"
import * as WorkflowDiff from "../diff/WorkflowDiff.ts"
import * as Links from "./links.ts"
import { matchPorts } from "./portMatch.ts"
import * as PortName from "./portName.ts"
import * as Step from "./step.ts"

type Side = "input" | "output"

/** Port of a link; for inputs of sub-nodes n8n ignores the index. */
const portOf = (ports: Iterable<Port>, { index, type }: Connections.Port) => {
  const ofType = [...ports].filter((port) => port.type === type)
  return ofType.find((port) => port.index === index) ?? (type === "main" ? undefined : ofType[0])
}

/** A port that moved or disappeared, with the nodes at the other ends of its links. */
interface PortChange {
  readonly before: Port
  readonly after: Port | undefined
  readonly others: Array<string>
}

const inWords = (name: string, side: Side, { after, before, others }: PortChange) => {
  const links = `with its link${others.length === 1 ? "" : "s"} ${side === "input" ? "from" : "to"} ${quoted(others)}`
  return after === undefined
    ? `${name}: ${side} ${PortName.label(before)} is gone, ${links}`
    : `${name}: ${side} '${after.name ?? before.name ?? ""}' moved from ${Connections.portLabel(before)} to ` +
      `${Connections.portLabel(after)}, ${links}`
}

/** Connections after the ports of a node changed, and lines about moved and removed links. */
const moveLinks = (workflow: Obj, entry: Step.NodeEntry, before: Node, after: Node) => {
  const connections = obj(workflow["connections"]) ?? {}
  const isNode = Step.meaning(workflow, entry)
  const sides = (["output", "input"] as const).map((side) => {
    const matches = (side === "input" ? before.inputs && after.inputs : before.outputs && after.outputs) === undefined
      ? new Map<Port, Port | undefined>()
      : matchPorts(before, after, side)
    return { side, matches, changes: new Map<Port, PortChange>() }
  })
  const moved = new Map<Connections.Link, Connections.Link | undefined>()
  for (const link of Connections.links(connections)) {
    let result: Connections.Link | undefined = link
    for (const { changes, matches, side } of sides) {
      const [name, other] = side === "output" ? [link.from, link.to] : [link.to, link.from]
      const port = isNode(name) ? portOf(matches.keys(), link[side]) : undefined
      const match = port && matches.get(port)
      if (port === undefined || match !== undefined && Connections.samePort(match, port)) continue
      const change = changes.get(port) ?? { before: port, after: match, others: [] }
      changes.set(port, change)
      change.others.push(other)
      result = result && match && { ...result, [side]: { type: match.type, index: match.index } }
    }
    if (result !== link) moved.set(link, result)
  }
  return {
    connections: Links.move(connections, moved),
    changes: sides.flatMap(({ changes, side }) => [...changes.values()].map((each) => inWords(entry.name, side, each)))
  }
}

/** Changes a node and the links of its ports; reports the differences. */
export const withNode = (workflow: Obj, entry: Step.NodeEntry, node: Obj, lookups: Step.Lookups): Step.Step => {
  const fields = WorkflowDiff.lines(entry.node, node).map((line) =>
    `${entry.name}: ${line.replace(/^parameters\./, "")}`
  )
  if (fields.length === 0) return { workflow, changes: [`'${entry.name}' already has these values`] }
  const next = Step.withNode(workflow, entry.index, node)
  const [before, after] = [Step.read(entry, lookups), Step.read({ node }, lookups)]
  if (before === undefined || after === undefined) return { workflow: next, changes: fields }
  const { changes, connections } = moveLinks(workflow, entry, before, after)
  return {
    workflow: changes.length === 0 ? next : { ...next, connections },
    changes: [...fields, ...changes]
  }
}
