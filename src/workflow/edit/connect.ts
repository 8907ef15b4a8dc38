/** Connects and disconnects nodes by ports as callers name them: `main`, `1`, `main[1]`, `ai_tool`, or a label. */
import * as Result from "effect/Result"
import { type Obj, obj } from "../../base/Json.ts"
import type { Port } from "../../catalogue/types/Ports.ts"
import * as Connections from "../../n8n/model/Connections.ts"
import { admits, type Node, portTypes, quoted } from "../check/CheckedWorkflow.ts"
import { choices, connectionTypeOf, label, type ResolvedPort, resolvePort, type Unclear } from "../PortNames.ts"
import * as Links from "./links.ts"
import type { Of } from "./operation.ts"
import * as Step from "./step.ts"

export type Ends = Pick<Of<"connect">, "sourceOutput" | "targetInput">

const commonType = (from: Node, to: Node): string => {
  if (from.outputs === undefined) return "main"
  const types = portTypes(from.outputs)
  const shared = to.inputs === undefined ? types : types.filter((type) => portTypes(to.inputs).includes(type))
  return (shared.includes("main") ? "main" : shared[0]) ?? types[0] ?? "main"
}

const reverseHint = (from: Node, to: Node): string => {
  const type = commonType(to, from)
  return type !== "main" && portTypes(from.inputs).includes(type) && portTypes(to.outputs).includes(type)
    ? `'${to.name}' serves '${from.name}' by ${type}: connect from '${to.name}' to '${from.name}'. `
    : ""
}

export const misfit = (
  from: Node,
  output: ResolvedPort,
  to: Node,
  input: Connections.Port
): (Unclear & { readonly at: "output" | "input" }) | undefined => {
  const { inputs } = to
  const { outputs } = from
  const isOutput = output.isNewError === true || outputs === undefined ||
    outputs.some((port) => Connections.samePort(port, output))
  if (!isOutput) {
    return {
      at: "output",
      message: `'${from.name}' has no ${Connections.portLabel(output)} output.`,
      hint: reverseHint(from, to) + choices(from, "output")
    }
  }
  const hint = reverseHint(from, to) + choices(to, "input")
  if (output.type !== input.type) {
    return {
      at: "input",
      message: `Output ${output.type} cannot be connected to an input of type ${input.type}.`,
      hint
    }
  }
  const ofType = inputs?.filter(({ type }) => type === input.type)
  const port = ofType?.find(({ index }) => index === input.index) ?? (input.type === "main" ? undefined : ofType?.[0])
  if (inputs !== undefined && port === undefined) {
    const isTrigger = to.description?.group.includes("trigger") === true && input.type === "main"
    return {
      at: "input",
      message: `'${to.name}' has no ${Connections.portLabel(input)} input.`,
      hint: isTrigger ? `'${to.name}' is a trigger: it starts a workflow. Connect from it.` : hint
    }
  }
  return port === undefined || admits(port, from) ? undefined : {
    at: "input",
    message: `'${to.name}' does not take a '${from.type}' as ${port.name ?? port.type}.`,
    hint: port.only === undefined ? choices(to, "input") : `It takes ${port.only.join(", ")}.`
  }
}

const labelAmong = (port: Connections.Port, ports: ReadonlyArray<Port> = []) =>
  label(ports.find((each) => Connections.samePort(each, port)) ?? port)

/** `'If' main[1] 'false' → 'Next' main[0]`; without ports if each side has only one. */
export const inWords = (link: Connections.Link, from?: Node, to?: Node) =>
  Connections.isPlain(link) && (from?.outputs?.length ?? 1) === 1 && (to?.inputs?.length ?? 1) === 1
    ? `'${link.from}' → '${link.to}'`
    : `'${link.from}' ${labelAmong(link.output, from?.outputs)} → '${link.to}' ${labelAmong(link.input, to?.inputs)}`

const connectable = (
  workflow: Obj,
  entry: Step.NodeEntry,
  field: string,
  lookups: Step.Lookups
): Step.Attempt<Node> => {
  const node = Step.read(entry, lookups)
  if (node === undefined) {
    return Step.refuse(field, `nodes[${entry.index}] has no name, and connections go by name.`, "Rename it first.")
  }
  return Step.isNamesake(workflow, entry)
    ? Step.refuse(field, `Another node is also named '${entry.name}'.`, "Connections go by name: rename one of them.")
    : Result.succeed(node)
}

const portOf = (
  field: string,
  ...reference: Parameters<typeof resolvePort>
): Step.Attempt<ResolvedPort> => Result.mapError(resolvePort(...reference), (unclear) => ({ field, ...unclear }))

export const link = (
  workflow: Obj,
  source: Step.NodeEntry,
  target: Step.NodeEntry,
  { sourceOutput, targetInput }: Ends,
  lookups: Step.Lookups
): Step.Attempt<Step.Step> =>
  Result.gen(function*() {
    const from = yield* connectable(workflow, source, "from", lookups)
    const to = yield* connectable(workflow, target, "to", lookups)
    const fields = {
      output: sourceOutput === undefined ? "from" : "sourceOutput",
      input: targetInput === undefined ? "to" : "targetInput"
    }
    const ofInput = connectionTypeOf(targetInput)
    const isServed = from.outputs?.some((port) => port.type === ofInput) ?? true
    const defaultType = connectionTypeOf(sourceOutput) ?? (isServed ? ofInput : undefined) ??
      commonType(from, to)
    const output: ResolvedPort = sourceOutput === undefined
      ? { type: defaultType, index: 0 }
      : yield* portOf(fields.output, from, "output", sourceOutput, defaultType)
    const ofType = to.inputs?.filter(({ type }) => type === output.type)
    const { index, type }: Connections.Port = targetInput === undefined
      ? { type: output.type, index: ofType?.find((port) => admits(port, from))?.index ?? 0 }
      : yield* portOf(fields.input, to, "input", targetInput, output.type)
    const input = { type, index }
    const wrong = misfit(from, output, to, input)
    if (wrong !== undefined) return yield* Step.refuse(fields[wrong.at], wrong.message, wrong.hint)
    const newLink = { from: from.name, output: { type: output.type, index: output.index }, to: to.name, input }
    const words = inWords(newLink, from, to)
    const [isFrom, isTo] = [Step.meaning(workflow, source), Step.meaning(workflow, target)]
    const into = Connections.links(workflow["connections"]).flatMap((each) =>
      isTo(each.to) ? [{ ...each, to: to.name }] : []
    )
    if (into.some((each) => Connections.sameLink({ ...each, from: isFrom(each.from) ? from.name : "" }, newLink))) {
      return { workflow, changes: [`${words} is already connected`] }
    }
    const port = to.inputs?.find((each) => Connections.samePort(each, input))
    const there = into.flatMap((each) => {
      const source = Step.peek(workflow, each.from)
      const isHere = Connections.samePort(each.input, input)
      return isHere && source !== undefined && source.node["disabled"] !== true ? [source.name] : []
    })
    if (there.length >= (port?.maxConnections ?? Infinity)) {
      return yield* Step.refuse(
        fields.input,
        `'${to.name}' takes ${port?.maxConnections} ${port?.name ?? input.type}; connected: ${quoted(there)}.`,
        `Disconnect one first. ${choices(to, "input")}`
      )
    }
    const connections = Links.add(workflow["connections"], newLink)
    if (connections === undefined) {
      return yield* Step.refuse(
        "from",
        `The connections of '${from.name}' are not of n8n's shape.`,
        "They must be {[type]: [[{node, type, index}]]}: fix them first."
      )
    }
    if (output.isNewError !== true) return { workflow: { ...workflow, connections }, changes: [`connected ${words}`] }
    const failing = Step.withNode(workflow, source.index, { ...source.node, onError: "continueErrorOutput" })
    const change = `connected '${from.name}' error → '${to.name}' ${labelAmong(input, to.inputs)}`
    return {
      workflow: { ...failing, connections },
      changes: [`${change}; its onError is continueErrorOutput now`]
    }
  })

export const connect: Step.Edit<"connect"> = (workflow, operation, lookups) =>
  Result.gen(function*() {
    const source = yield* Step.locate(workflow, operation.from, "from", lookups)
    const target = yield* Step.locate(workflow, operation.to, "to", lookups)
    return yield* link(workflow, source, target, operation, lookups)
  })

const endOf = (workflow: Obj, word: string, isNamed: boolean, field: string, lookups: Step.Lookups) =>
  isNamed && Step.peek(workflow, word) === undefined
    ? Result.succeed({ name: word, node: undefined, means: (each: string) => each === word })
    : Result.map(Step.locate(workflow, word, field, lookups), (entry) => ({
      name: entry.name,
      node: Step.read(entry, lookups),
      means: Step.meaning(workflow, entry)
    }))

/** Removes one link or, without ports, every link from one node to the other, also of nodes that no longer exist. */
export const disconnect: Step.Edit<"disconnect"> = (workflow, operation, lookups) =>
  Result.gen(function*() {
    const { from: fromWord, sourceOutput, targetInput, to: toWord } = operation
    const all = Connections.links(workflow["connections"])
    const from = yield* endOf(workflow, fromWord, all.some((link) => link.from === fromWord), "from", lookups)
    const to = yield* endOf(workflow, toWord, all.some((link) => link.to === toWord), "to", lookups)
    const between = all.filter((link) => from.means(link.from) && to.means(link.to))
    const type = between[0]?.output.type ?? "main"
    const output = sourceOutput === undefined
      ? undefined
      : yield* portOf("sourceOutput", from.node ?? from, "output", sourceOutput, type)
    const input = targetInput === undefined
      ? undefined
      : yield* portOf("targetInput", to.node ?? to, "input", targetInput, type)
    const removed = between.filter((link) =>
      Connections.samePort(link.output, output ?? link.output) && Connections.samePort(link.input, input ?? link.input)
    )
    const inTurn = (link: Connections.Link) => inWords({ ...link, from: from.name, to: to.name }, from.node, to.node)
    if (removed.length === 0) {
      const there = between.length > 0
        ? between.map(inTurn)
        : all.filter((link) => from.means(link.from)).map((link) => inWords(link))
      return yield* Step.refuse(
        "to",
        `'${from.name}' is not connected to '${to.name}'${between.length > 0 ? " there" : ""}.`,
        there.length === 0
          ? `'${from.name}' has no outgoing connections.`
          : `Existing: ${there.slice(0, 8).join(", ")}.`
      )
    }
    const isRemoved = (link: Connections.Link) => removed.some((each) => Connections.sameLink(each, link))
    return {
      workflow: { ...workflow, connections: Links.remove(obj(workflow["connections"]) ?? {}, isRemoved) },
      changes: [`disconnected ${removed.map(inTurn).join(", ")}`]
    }
  })
