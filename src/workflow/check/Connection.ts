/** Judges links by the ports of their nodes, which decides what an edit connects and what validation accepts. */
import * as Rows from "../../base/Rows.ts"
import * as Turn from "../../base/Turn.ts"
import { mayHave, type Port } from "../../catalogue/types/Ports.ts"
import * as Connections from "../../n8n/model/Connections.ts"
import * as Graph from "../Graph.ts"
import { type Checked, isSubNode, type Node, portTypes, problemOf } from "./CheckedWorkflow.ts"
import type { Ruled } from "./Rules.ts"

/** Reason why a link does not fit the ports of its nodes. */
export interface Misfit {
  readonly at: "output" | "input"
  readonly message: string
  readonly fix?: string | undefined
  /** Fix in n8n's connections. */
  readonly json?: string | undefined
}

const listed = (ports: ReadonlyArray<Port>) => portTypes(ports).join(" and ") || "none"

const has = (ports: ReadonlyArray<Port> | undefined, type: string) => ports?.some((port) => port.type === type) === true

const common = (from: Node, to: Node) => portTypes(from.outputs).find((type) => type !== "main" && has(to.inputs, type))

const named = (ports: ReadonlyArray<Port>, type: string) => {
  const names = ports.flatMap((port) => port.type === type && port.name !== undefined ? [port.name] : [])
  return names.length === 0 ? "" : ` (${Rows.names(names)})`
}

const beyond = (node: Node, ports: ReadonlyArray<Port>, port: Connections.Port, kind: "output" | "input") => {
  const count = ports.filter(({ type }) => type === port.type).length
  return `'${node.name}' has ${count} ${port.type} ${kind}${count === 1 ? "" : "s"}${named(ports, port.type)}: ` +
    `${port.type}[${port.index}] is not one of them.`
}

/** Fix of a link by another between the same nodes. */
const instead = (from: Node, to: Node, type: string): Pick<Misfit, "fix" | "json"> => ({
  fix: `Connect '${from.name}' to '${to.name}' by ${type}.`,
  json: `Write connections['${from.name}'].${type} = [[{node: '${to.name}', type: '${type}', index: 0}]].`
})

/** Port at which a link starts or arrives; n8n ignores the index at inputs of sub-nodes. */
export const portAt = (ports: Iterable<Port> = [], { index, type }: Connections.Port): Port | undefined => {
  const ofType = [...ports].filter((port) => port.type === type)
  return ofType.find((port) => port.index === index) ?? (type === "main" ? undefined : ofType[0])
}

/** Whether an input accepts a node, as far as its type is known. */
export const admits = ({ never, only }: Port, { type }: Node): boolean =>
  type === "" || (only === undefined || only.includes(type)) && never?.includes(type) !== true

/** Whether an input of a node takes fewer enabled nodes than these. */
export const isCrowded = (node: Node, port: Port, enabled: number): boolean =>
  !node.isDisabled && enabled > (port.maxConnections ?? Infinity)

const atOutput = ({ output }: Connections.Link, from: Node, to: Node): Misfit | undefined => {
  const { outputs } = from
  const { type } = output
  if (outputs === undefined || outputs.some((port) => Connections.samePort(port, output))) return undefined
  if (has(outputs, type)) return { at: "output", message: beyond(from, outputs, output, "output") }
  const shared = common(from, to)
  if (shared !== undefined) {
    const message = `'${from.name}' serves '${to.name}' by ${shared}, not by ${type}.`
    return { at: "output", message, ...instead(from, to, shared) }
  }
  if (has(to.outputs, type) && has(from.inputs, type) && !mayHave(from.description?.outputs ?? [], type)) {
    const message = `${type} goes the other way: from '${to.name}' to '${from.name}'.`
    return { at: "output", message, ...instead(to, from, type) }
  }
  return {
    at: "output",
    message: `'${from.name}' has no ${type} output; it has ${listed(outputs)}.`,
    fix: isSubNode(from) ? `Connect it by ${listed(outputs)} to a node that takes that.` : undefined
  }
}

const atInput = ({ input, output }: Connections.Link, from: Node, to: Node): Misfit | undefined => {
  const { inputs } = to
  const { type } = input
  if (type !== output.type) {
    return {
      at: "input",
      message: `Output ${output.type} cannot be connected to an input of type ${type}.`,
      json: `Write type: '${output.type}'.`
    }
  }
  if (inputs === undefined) return undefined
  const port = portAt(to.inputs, input)
  if (port !== undefined) {
    return admits(port, from) ? undefined : {
      at: "input",
      message: `'${to.name}' does not take a '${from.type}' as ${port.name ?? type}.`,
      fix: port.only && `It takes ${Rows.names(port.only, 20)}.`
    }
  }
  if (has(inputs, type)) {
    const isOnly = inputs.filter((each) => each.type === type).length === 1
    return { at: "input", message: beyond(to, inputs, input, "input"), json: isOnly ? "Write index: 0." : undefined }
  }
  const shared = type === "main" ? common(to, from) : undefined
  if (shared !== undefined) {
    const message = `'${to.name}' serves '${from.name}' by ${shared}.`
    return { at: "input", message, ...instead(to, from, shared) }
  }
  return {
    at: "input",
    message: `'${to.name}' has no ${type} input; it has ${listed(inputs)}.`,
    fix: to.description?.group.includes("trigger") && type === "main"
      ? "A trigger starts a workflow; connect from it."
      : undefined
  }
}

/** Reason why a link does not fit; unknown ports fit every link. */
export const misfit = (link: Connections.Link, from: Node, to: Node): Misfit | undefined =>
  atOutput(link, from, to) ?? atInput(link, from, to)

const ofLink = (link: Connections.PlacedLink, byName: ReadonlyMap<string, Node>): ReadonlyArray<Ruled> => {
  const [from, to] = [byName.get(link.from), byName.get(link.to)]
  const wrong = from && to && misfit(link, from, to)
  return from === undefined || wrong === undefined
    ? []
    : [problemOf(from, "connection-port", "error", wrong.message, wrong.json ?? wrong.fix, Connections.placeOf(link))]
}

const ofInputs = (node: Node, { byName, graph }: Checked): ReadonlyArray<Ruled> => {
  if (node.isDisabled || node.inputs === undefined) return []
  const into = Map.groupBy(graph.into(node.name), ({ input }) => portAt(node.inputs, input))
  return node.inputs.flatMap((port): ReadonlyArray<Ruled> => {
    const here = into.get(port) ?? []
    const enabled = here.filter(({ from }) => byName.get(from)?.isDisabled === false)
    const label = port.name ?? port.type
    if (port.required === true && enabled.length === 0) {
      const needs = `'${node.name}' needs a ${label}`
      return [
        here.length === 0
          ? problemOf(
            node,
            "missing-sub-node",
            "error",
            `${needs}: nothing is connected to ${Connections.portLabel(port)}.`,
            `Connect one by ${port.type}, from the sub-node to this one.`
          )
          : problemOf(node, "missing-sub-node", "error", `${needs}, and the one connected is disabled.`)
      ]
    }
    const most = port.maxConnections ?? Infinity
    const names = Rows.names(enabled.map(({ from }) => from).toSorted())
    const message = `'${node.name}' takes ${most} ${label}, and ${enabled.length} are connected: ${names}.`
    return isCrowded(node, port, enabled.length)
      ? [
        problemOf(
          node,
          "too-many-connections",
          "error",
          message,
          undefined,
          enabled.slice(most, most + 1).map(Connections.placeOf)[0]
        )
      ]
      : []
  })
}

export const connectionProblems = function*(checked: Checked): Turn.Steps<ReadonlyArray<Ruled>> {
  return [
    ...yield* Turn.flatMap(checked.graph.links, (link) => ofLink(link, checked.byName)),
    ...yield* Turn.flatMap(checked.nodes, (node) => ofInputs(node, checked))
  ]
}

const byHand: ReadonlySet<string> = new Set([
  "n8n-nodes-base.manualTrigger",
  "@n8n/n8n-nodes-langchain.manualChatTrigger",
  "n8n-nodes-base.start"
])

const starts = (node: Node, isTarget: (name: string) => boolean): boolean =>
  !node.isDisabled &&
  (byHand.has(node.type) ||
    (node.nodeType === undefined
      ? /trigger$/i.test(node.type) || !isTarget(node.name)
      : node.nodeType.descriptions.some(({ group }) => group.includes("trigger"))))

export const reachProblems = ({ byName, graph, nodes: all }: Checked): ReadonlyArray<Ruled> => {
  const nodes = all.filter(({ isNote }) => !isNote)
  const triggers = nodes.filter((node) => starts(node, (name) => Graph.previous(graph, name).length > 0))
  if (triggers.length === 0) {
    const disabled = nodes.find((node) => starts({ ...node, isDisabled: false }, () => true))
    return [{
      rule: "no-trigger",
      severity: "warning",
      ...(disabled === undefined ? {} : { node: disabled.name }),
      path: disabled?.at ?? "nodes",
      message: disabled === undefined
        ? "The workflow has no trigger: nothing starts it, and n8n does not publish it."
        : `The trigger '${disabled.name}' is disabled: nothing starts the workflow, and n8n does not publish it.`,
      fix: disabled === undefined
        ? "Add one, such as n8n-nodes-base.scheduleTrigger or n8n-nodes-base.webhook."
        : "Enable it."
    }]
  }
  const reachable = Graph.running(graph, triggers.map(({ name }) => name), (link) => {
    const source = byName.get(link.from)
    return !Graph.isMain(link) || source !== undefined && isSubNode(source)
  })
  return [
    ...(triggers.every(({ type }) => byHand.has(type))
      ? [{
        rule: "manual-only" as const,
        severity: "warning" as const,
        path: "nodes",
        message: "The workflow can only be started manually: n8n does not publish it.",
        fix: "To publish it, add another trigger."
      }]
      : []),
    ...nodes.flatMap((node) =>
      node.isDisabled || reachable.has(node.name)
        ? []
        : [problemOf(
          node,
          "unreachable-node",
          "warning",
          isSubNode(node)
            ? `'${node.name}' does not serve a node that runs.`
            : `No trigger leads to '${node.name}': it never runs.`,
          "Connect it, or remove it."
        )]
    )
  ]
}
