/** Connects nodes whose ports fit. */
import * as Result from "effect/Result"
import type { Obj } from "../../base/Json.ts"
import type { Port } from "../../catalogue/types/Ports.ts"
import * as Connections from "../../n8n/model/Connections.ts"
import { admits, type Node, portTypes, quoted } from "../check/CheckedWorkflow.ts"
import * as Links from "./links.ts"
import type { Of } from "./operation.ts"
import * as PortName from "./portName.ts"
import * as Step from "./step.ts"

/** References to the ports of both ends. */
export type Ends = Pick<Of<"connect">, "sourceOutput" | "targetInput">

/** Names of the operation's fields for both ends, for refusals. */
interface Fields {
  readonly from: string
  readonly to: string
  readonly sourceOutput: string
  readonly targetInput: string
}

const fieldsOf = (ends: Ends): Fields => ({
  from: "from",
  to: "to",
  sourceOutput: ends.sourceOutput === undefined ? "from" : "sourceOutput",
  targetInput: ends.targetInput === undefined ? "to" : "targetInput"
})

/** Default connection type between two nodes: `main` if possible, else the type by which one serves the other. */
const commonType = (from: Node, to: Node): string => {
  if (from.outputs === undefined) return "main"
  const types = portTypes(from.outputs)
  const shared = to.inputs === undefined ? types : types.filter((type) => portTypes(to.inputs).includes(type))
  return (shared.includes("main") ? "main" : shared[0]) ?? types[0] ?? "main"
}

/** Advice if the other direction would fit. */
const reverseHint = (from: Node, to: Node): string => {
  const type = commonType(to, from)
  return type !== "main" && portTypes(from.inputs).includes(type) && portTypes(to.outputs).includes(type)
    ? `'${to.name}' serves '${from.name}' by ${type}: connect from '${to.name}' to '${from.name}'. `
    : ""
}

/** Reason why an output cannot be connected to an input, and which of the two is wrong. */
export const misfit = (
  from: Node,
  output: PortName.ResolvedPort,
  to: Node,
  input: Connections.Port
): (PortName.Unclear & { readonly at: "output" | "input" }) | undefined => {
  const { inputs } = to
  const { outputs } = from
  const isOutput = output.isNewError === true || outputs === undefined ||
    outputs.some(({ index, type }) => type === output.type && index === output.index)
  if (!isOutput) {
    return {
      at: "output",
      message: `'${from.name}' has no ${Connections.portLabel(output)} output.`,
      hint: reverseHint(from, to) + PortName.choices(from, "output")
    }
  }
  const hint = reverseHint(from, to) + PortName.choices(to, "input")
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
    hint: port.only === undefined ? PortName.choices(to, "input") : `It takes ${port.only.join(", ")}.`
  }
}

const label = (port: Connections.Port, ports: ReadonlyArray<Port> = []) =>
  PortName.label(ports.find(({ index, type }) => type === port.type && index === port.index) ?? port)

/** `'If' main[1] 'false' → 'Next' main[0]`; without ports if each side has only one. */
export const inWords = (link: Connections.Link, from?: Node, to?: Node) =>
  Connections.isPlain(link) && (from?.outputs?.length ?? 1) === 1 && (to?.inputs?.length ?? 1) === 1
    ? `'${link.from}' → '${link.to}'`
    : `'${link.from}' ${label(link.output, from?.outputs)} → '${link.to}' ${label(link.input, to?.inputs)}`

/** The node with its ports; refuses a node that connections cannot name. */
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

/** Turns an unclear port reference into a refusal of a field. */
export const clear = <A>(field: string, result: Result.Result<A, PortName.Unclear>): Step.Attempt<A> =>
  Result.mapError(result, (unclear) => ({ field, ...unclear }))

/** Resolves the ports of both ends of a link. */
const linkOf = (from: Node, to: Node, { sourceOutput, targetInput }: Ends, fields: Fields) =>
  Result.gen(function*() {
    const ofInput = PortName.connectionTypeOf(targetInput)
    const isServed = from.outputs?.some((port) => port.type === ofInput) ?? true
    const type = PortName.connectionTypeOf(sourceOutput) ?? (isServed ? ofInput : undefined) ?? commonType(from, to)
    const output: PortName.ResolvedPort = sourceOutput === undefined
      ? { type, index: 0 }
      : yield* clear(fields.sourceOutput, PortName.resolvePort(from, "output", sourceOutput, type))
    const ofType = to.inputs?.filter((port) => port.type === output.type)
    const input = targetInput === undefined
      ? { type: output.type, index: ofType?.find((port) => admits(port, from))?.index ?? 0 }
      : yield* clear(fields.targetInput, PortName.resolvePort(to, "input", targetInput, output.type))
    const wrong = misfit(from, output, to, input)
    if (wrong !== undefined) {
      const { at, ...unclear } = wrong
      return yield* Step.refuse(
        at === "output" ? fields.sourceOutput : fields.targetInput,
        unclear.message,
        unclear.hint
      )
    }
    return { output, input: { type: input.type, index: input.index } }
  })

/** Connects two nodes of the workflow. */
export const link = (
  workflow: Obj,
  source: Step.NodeEntry,
  target: Step.NodeEntry,
  ends: Ends,
  lookups: Step.Lookups,
  fields: Fields = fieldsOf(ends)
): Step.Attempt<Step.Step> =>
  Result.gen(function*() {
    const from = yield* connectable(workflow, source, fields.from, lookups)
    const to = yield* connectable(workflow, target, fields.to, lookups)
    const { input, output: { index, isNewError, type } } = yield* linkOf(from, to, ends, fields)
    const made = { from: from.name, output: { type, index }, to: to.name, input }
    const words = inWords(made, from, to)
    const [isFrom, isTo] = [Step.meaning(workflow, source), Step.meaning(workflow, target)]
    const into = Connections.links(workflow["connections"]).flatMap((each) =>
      isTo(each.to) ? [{ ...each, to: to.name }] : []
    )
    if (into.some((each) => Connections.sameLink({ ...each, from: isFrom(each.from) ? from.name : "" }, made))) {
      return { workflow, changes: [`${words} is already connected`] }
    }
    const port = to.inputs?.find((each) => each.type === input.type && each.index === input.index)
    const there = into.flatMap((each) => {
      const source = Step.peek(workflow, each.from)
      const isHere = each.input.type === input.type && each.input.index === input.index
      return isHere && source !== undefined && source.node["disabled"] !== true ? [source.name] : []
    })
    if (there.length >= (port?.maxConnections ?? Infinity)) {
      return yield* Step.refuse(
        fields.targetInput,
        `'${to.name}' takes ${port?.maxConnections} ${port?.name ?? input.type}; connected: ${quoted(there)}.`,
        `Disconnect one first. ${PortName.choices(to, "input")}`
      )
    }
    const connections = Links.add(workflow["connections"], made)
    if (connections === undefined) {
      return yield* Step.refuse(
        fields.from,
        `The connections of '${from.name}' are not of n8n's shape.`,
        "They must be {[type]: [[{node, type, index}]]}: fix them first."
      )
    }
    const failing = isNewError === true
      ? Step.withNode(workflow, source.index, { ...source.node, onError: "continueErrorOutput" })
      : workflow
    const change = isNewError === true
      ? `connected '${from.name}' error → '${to.name}' ${
        label(input, to.inputs)
      }; its onError is continueErrorOutput now`
      : `connected ${words}`
    return { workflow: { ...failing, connections }, changes: [change] }
  })

/** Connects two nodes. */
export const connect: Step.Edit<"connect"> = (workflow, operation, lookups) =>
  Result.gen(function*() {
    const source = yield* Step.locate(workflow, operation.from, "from", lookups)
    const target = yield* Step.locate(workflow, operation.to, "to", lookups)
    return yield* link(workflow, source, target, operation, lookups)
  })
