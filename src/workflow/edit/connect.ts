/** Connects and disconnects nodes by ports as callers name them: `main`, `1`, `main[1]`, `ai_tool`, or a label. */
import * as Result from "effect/Result"
import { type Obj, obj } from "../../base/Json.ts"
import { member } from "../../base/JsonPath.ts"
import * as Rows from "../../base/Rows.ts"
import type { Port } from "../../catalogue/types/Ports.ts"
import * as Connections from "../../n8n/model/Connections.ts"
import { type Node, portTypes } from "../check/CheckedWorkflow.ts"
import * as Connection from "../check/Connection.ts"
import * as Graph from "../Graph.ts"
import { choices, connectionTypeOf, label, type ResolvedPort, resolvePort } from "../PortNames.ts"
import type { Of } from "./operation.ts"
import * as Step from "./step.ts"

export type Ends = Pick<Of<"connect">, "sourceOutput" | "targetInput">

const commonType = (from: Node, to: Node): string => {
  if (from.outputs === undefined) return "main"
  const types = portTypes(from.outputs)
  const shared = to.inputs === undefined ? types : types.filter((type) => portTypes(to.inputs).includes(type))
  return (shared.includes("main") ? "main" : shared[0]) ?? types[0] ?? "main"
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
    const at = member("nodes", entry.index)
    return Step.refuse(field, `${at} has no name, and connections go by name.`, "Rename it first.")
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
      ? { type: output.type, index: ofType?.find((port) => Connection.admits(port, from))?.index ?? 0 }
      : yield* portOf(fields.input, to, "input", targetInput, output.type)
    const input = { type, index }
    const newLink = { from: from.name, output: { type: output.type, index: output.index }, to: to.name, input }
    const failing = { ...source.node, onError: "continueErrorOutput" }
    const judged = output.isNewError === true ? Step.read({ node: failing }, lookups) ?? from : from
    const wrong = Connection.misfit(newLink, judged, to)
    if (wrong !== undefined) {
      const hint = wrong.fix ?? (wrong.at === "output" ? choices(from, "output") : choices(to, "input"))
      return yield* Step.refuse(fields[wrong.at], wrong.message, hint)
    }
    const words = inWords(newLink, from, to)
    const fromWords = Step.wordsFor(workflow, source)
    const graph = Graph.make(workflow["connections"])
    const into = [...Step.wordsFor(workflow, target)].flatMap(graph.into)
    const key = Connections.linkKey(newLink)
    const isNew = ({ from: word, input, output }: Connections.Link) =>
      !fromWords.has(word) || Connections.linkKey({ from: from.name, output, to: to.name, input }) !== key
    if (!into.every(isNew)) return { workflow, changes: [`${words} is already connected`] }
    const port = Connection.portAt(to.inputs, input)
    const there = into.flatMap((each) => {
      const source = Step.peek(workflow, each.from)
      const isHere = port !== undefined && Connection.portAt(to.inputs, each.input) === port
      return isHere && source !== undefined && source.node["disabled"] !== true ? [source.name] : []
    })
    if (port !== undefined && !from.isDisabled && Connection.isCrowded(to, port, there.length + 1)) {
      return yield* Step.refuse(
        fields.input,
        `'${to.name}' takes ${port.maxConnections} ${port.name ?? input.type}; connected: ${Rows.names(there)}.`,
        `Disconnect one first. ${choices(to, "input")}`
      )
    }
    const connections = Connections.add(workflow["connections"], newLink)
    if (connections === undefined) {
      return yield* Step.refuse(
        "from",
        `The connections of '${from.name}' are not of n8n's shape.`,
        "They must be {[type]: [[{node, type, index}]]}: fix them first."
      )
    }
    if (output.isNewError !== true) return { workflow: { ...workflow, connections }, changes: [`connected ${words}`] }
    const change = `connected '${from.name}' error → '${to.name}' ${labelAmong(input, to.inputs)}`
    return {
      workflow: { ...Step.withNode(workflow, source.index, failing), connections },
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
    ? Result.succeed({ name: word, node: undefined, words: new Set([word]) as ReadonlySet<string> })
    : Result.map(Step.locate(workflow, word, field, lookups), (entry) => ({
      name: entry.name,
      node: Step.read(entry, lookups),
      words: Step.wordsFor(workflow, entry)
    }))

/** Removes one link or, without ports, every link from one node to the other, also of nodes that no longer exist. */
export const disconnect: Step.Edit<"disconnect"> = (workflow, operation, lookups) =>
  Result.gen(function*() {
    const { from: fromWord, sourceOutput, targetInput, to: toWord } = operation
    const graph = Graph.make(workflow["connections"])
    const from = yield* endOf(workflow, fromWord, graph.out(fromWord).length > 0, "from", lookups)
    const to = yield* endOf(workflow, toWord, graph.into(toWord).length > 0, "to", lookups)
    const out = [...from.words].flatMap(graph.out)
    const between = out.filter((link) => to.words.has(link.to))
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
        : out.map((link) => inWords(link))
      return yield* Step.refuse(
        "to",
        `'${from.name}' is not connected to '${to.name}'${between.length > 0 ? " there" : ""}.`,
        there.length === 0
          ? `'${from.name}' has no outgoing connections.`
          : `Existing: ${there.slice(0, 8).join(", ")}.`
      )
    }
    return {
      workflow: { ...workflow, connections: Connections.remove(obj(workflow["connections"]) ?? {}, removed) },
      changes: [`disconnected ${removed.map(inTurn).join(", ")}`]
    }
  })
