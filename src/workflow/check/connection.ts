/** Problems with connections: ports that do not exist or do not fit, and inputs that need a connection. */
import * as Turn from "../../base/Turn.ts"
import { mayHave, type Port } from "../../catalogue/types/Ports.ts"
import * as Connections from "../../n8n/model/Connections.ts"
import {
  admits,
  type Checked,
  type Fault,
  isSubNode,
  type Node,
  portTypes,
  problemOf,
  quoted
} from "./CheckedWorkflow.ts"
import type { Ruled } from "./Rules.ts"

const listed = (ports: ReadonlyArray<Port>) => portTypes(ports).join(" and ") || "none"

const has = (ports: ReadonlyArray<Port> | undefined, type: string) => ports?.some((port) => port.type === type) === true

const written = (from: Node, to: Node, type: string) =>
  `Write connections['${from.name}'].${type} = [[{node: '${to.name}', type: '${type}', index: 0}]].`

const common = (from: Node, to: Node) => portTypes(from.outputs).find((type) => type !== "main" && has(to.inputs, type))

const named = (ports: ReadonlyArray<Port>, type: string) => {
  const names = ports.flatMap((port) => port.type === type && port.name !== undefined ? [port.name] : [])
  return names.length === 0 ? "" : ` (${quoted(names)})`
}

const beyond = (node: Node, ports: ReadonlyArray<Port>, port: Connections.Port, kind: "output" | "input") => {
  const count = ports.filter(({ type }) => type === port.type).length
  return `'${node.name}' has ${count} ${port.type} ${kind}${count === 1 ? "" : "s"}${named(ports, port.type)}: ` +
    `${port.type}[${port.index}] is not one of them.`
}

const atSource = (link: Connections.PlacedLink, from: Node, to: Node): Fault | undefined => {
  const { outputs } = from
  if (outputs === undefined) return undefined
  const { type } = link.output
  if (!has(outputs, type)) {
    const shared = common(from, to)
    if (shared !== undefined) {
      return {
        message: `'${from.name}' serves '${to.name}' by ${shared}, not by ${type}.`,
        fix: written(from, to, shared)
      }
    }
    if (has(to.outputs, type) && has(from.inputs, type) && !mayHave(from.description?.outputs ?? [], type)) {
      return {
        message: `${type} goes the other way: from '${to.name}' to '${from.name}'.`,
        fix: written(to, from, type)
      }
    }
    return {
      message: `'${from.name}' has no ${type} output; it has ${listed(outputs)}.`,
      fix: isSubNode(from) ? `Connect it by ${listed(outputs)} to a node that takes that.` : undefined
    }
  }
  return outputs.some((port) => Connections.samePort(port, link.output))
    ? undefined
    : { message: beyond(from, outputs, link.output, "output") }
}

const atTarget = (link: Connections.PlacedLink, from: Node, to: Node): Fault | undefined => {
  const { type } = link.input
  if (type !== link.output.type) {
    return {
      message: `A ${link.output.type} output cannot be connected to an input of type ${type}.`,
      fix: `Write type: '${link.output.type}'.`
    }
  }
  const { inputs } = to
  if (inputs === undefined) return undefined
  if (!has(inputs, type)) {
    const shared = type === "main" ? common(to, from) : undefined
    if (shared !== undefined) {
      return { message: `'${to.name}' serves '${from.name}' by ${shared}.`, fix: written(to, from, shared) }
    }
    return {
      message: `'${to.name}' has no ${type} input; it has ${listed(inputs)}.`,
      fix: to.description?.group.includes("trigger") && type === "main"
        ? "A trigger starts a workflow; connect from it."
        : undefined
    }
  }
  const port = inputs.find((each) => Connections.samePort(each, link.input))
  if (port === undefined) {
    // n8n ignores the index at inputs of sub-nodes.
    if (type !== "main") return undefined
    const isOnly = inputs.filter((each) => each.type === type).length === 1
    return { message: beyond(to, inputs, link.input, "input"), fix: isOnly ? "Write index: 0." : undefined }
  }
  return admits(port, from) ? undefined : {
    message: `'${to.name}' does not take a '${from.type}' as ${port.name ?? type}.`,
    fix: port.only && `It takes ${quoted(port.only, 20)}.`
  }
}

const ofLink = (link: Connections.PlacedLink, byName: ReadonlyMap<string, Node>): ReadonlyArray<Ruled> => {
  const [from, to] = [byName.get(link.from), byName.get(link.to)]
  const fault = from && to && (atSource(link, from, to) ?? atTarget(link, from, to))
  return from === undefined || fault === undefined
    ? []
    : [problemOf(from, "connection-port", "error", fault.message, fault.fix, link.at)]
}

const ofInputs = (node: Node, into: ReadonlyArray<Connections.PlacedLink>, byName: ReadonlyMap<string, Node>) => {
  if (node.isDisabled) return []
  return (node.inputs ?? []).flatMap((port): ReadonlyArray<Ruled> => {
    const here = into.filter(({ input }) => Connections.samePort(input, port))
    const enabled = here.filter(({ from }) => byName.get(from)?.isDisabled === false)
    const label = port.name ?? port.type
    const most = port.maxConnections ?? Infinity
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
    const names = quoted(enabled.map(({ from }) => from).toSorted())
    const message = `'${node.name}' takes ${most} ${label}, and ${enabled.length} are connected: ${names}.`
    return enabled.length > most
      ? [problemOf(node, "too-many-connections", "error", message, undefined, enabled[most]?.at)]
      : []
  })
}

export const connectionProblems = function*({ byName, links, nodes }: Checked): Turn.Steps<ReadonlyArray<Ruled>> {
  const into = Map.groupBy(links, ({ to }) => to)
  return [
    ...yield* Turn.flatMap(links, (link) => ofLink(link, byName)),
    ...yield* Turn.flatMap(nodes, (node) => ofInputs(node, into.get(node.name) ?? [], byName))
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

const reached = ({ byName, links }: Checked, from: ReadonlyArray<Node>): ReadonlySet<string> => {
  const next = Map.groupBy(
    links.flatMap(({ from, output, to }) => {
      const source = byName.get(from)
      const serves = output.type !== "main" || source !== undefined && isSubNode(source)
      return [serves ? [to, from] as const : [from, to] as const]
    }),
    ([name]) => name
  )
  const names = new Set(from.map(({ name }) => name))
  for (const name of names) for (const [, to] of next.get(name) ?? []) names.add(to)
  return names
}

export const reachProblems = (checked: Checked): ReadonlyArray<Ruled> => {
  const nodes = checked.nodes.filter(({ isNote }) => !isNote)
  const targets = new Set(checked.links.flatMap(({ output, to }) => output.type === "main" ? [to] : []))
  const triggers = nodes.filter((node) => starts(node, (name) => targets.has(name)))
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
  const reachable = reached(checked, triggers)
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
