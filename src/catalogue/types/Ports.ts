/** Inputs and outputs of a node, by its type, version and parameters. */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as Interpreter from "../../base/Interpreter.ts"
import { defined, num, type Obj, obj, own, str } from "../../base/Json.ts"
import type * as Connections from "../../n8n/model/Connections.ts"
import { faults, isExpression } from "../parameters/ParameterRules.ts"
import { choices, type Description, groups, members, type Ports, type Property } from "./NodeType.ts"

/** Input or output; `index` counts those of its type. */
export interface Port extends Connections.Port {
  /** Label in the editor: `true`, `Chat Model`, `error`. */
  readonly name?: string
  readonly required?: boolean
  readonly maxConnections?: number
  /** Node types that may be connected here, and those that may not. */
  readonly only?: ReadonlyArray<string>
  readonly never?: ReadonlyArray<string>
}

/** Evaluates an expression of n8n's own, `={{ … }}` over `$parameter` and `$nodeVersion`; `undefined` if it fails. */
export type Evaluate = (
  expression: string,
  scope: { readonly parameters: Obj; readonly version: number }
) => unknown

export interface Node {
  /** Shown parameters with defaults. */
  readonly parameters: Obj
  /** Parameters as they are in the workflow, whatever their form. */
  readonly own?: Obj
  readonly version: number
  readonly onError?: string | undefined
}

const decodeFilter = Schema.decodeUnknownOption(Schema.Struct({
  nodes: Schema.optionalKey(Schema.Array(Schema.String)),
  excludedNodes: Schema.optionalKey(Schema.Array(Schema.String))
}))

const wordsOf = (ports: Ports): ReadonlySet<string> => new Set(typeof ports === "string" ? ports.split(/\W+/) : [])

export const dependOn = ({ inputs, outputs }: Description, name: string): boolean =>
  [inputs, outputs].some((ports) => wordsOf(ports).has(name))

/** Whether a type has such ports in some configuration. */
export const mayHave = (ports: Ports, type: string): boolean =>
  typeof ports === "string"
    ? ports.includes(type)
    : ports.some((port) => port === type || obj(port)?.["type"] === type)

/** Whether a value has the form of the property as far as ports can depend on it: not an expression, not misshapen. */
const isReadable = (property: Property, value: unknown, words: ReadonlySet<string>): boolean => {
  const { type } = property
  const areReadable = (properties: ReadonlyArray<Property>, values: unknown) =>
    properties.every((each) =>
      !words.has(each.name) || own(values, each.name) === undefined || isReadable(each, own(values, each.name), words)
    )
  // n8n also takes others than those it lists, such as 12 inputs.
  const kinds = type === "options" ? choices(property).map((choice) => typeof choice.value) : [type]
  const isKind = !/^(?:number|boolean|options)$/.test(type) || kinds.length === 0 ||
    kinds.some((kind) => kind === typeof value)
  const areKnown = type !== "fixedCollection" ||
    Object.keys(obj(value) ?? {}).every((key) => groups(property).some(({ name }) => name === key))
  return isKind && areKnown && !isExpression(value) && faults(property, value).length === 0 &&
    (type !== "collection" || areReadable(members(property), value)) &&
    groups(property).every(({ name, values }) => [own(value, name)].flat().every((item) => areReadable(values, item)))
}

/** Whether the ports can be computed: the parameters that they depend on are readable. */
const areKnown = (ports: Ports, { properties }: Description, node: Node): boolean => {
  const values = node.own ?? node.parameters
  const words = wordsOf(ports)
  const named = Map.groupBy(properties.filter(({ name }) => words.has(name)), ({ name }) => name)
  return [...named].every(([name, all]) =>
    !Object.hasOwn(values, name) || all.some((property) => isReadable(property, values[name], words))
  )
}

/** Maximum number of ports; a node with more has unknown ports. */
const maxPorts = 256

const portOf = (value: unknown): Omit<Port, "index"> | undefined => {
  if (typeof value === "string") return { type: value }
  const { displayName, filter, maxConnections, required, type } = obj(value) ?? {}
  if (typeof type !== "string") return undefined
  const allowed = Option.getOrUndefined(decodeFilter(filter))
  return defined({
    type,
    name: str(displayName) || undefined,
    required: typeof required === "boolean" ? required : undefined,
    maxConnections: num(maxConnections),
    only: allowed?.nodes,
    never: allowed?.excludedNodes
  })
}

const decode = (value: unknown): ReadonlyArray<Omit<Port, "index">> | undefined => {
  if (!Array.isArray(value) || value.length > maxPorts) return undefined
  const ports = value.filter((each) => each !== null).map(portOf)
  return ports.every((port) => port !== undefined) ? ports : undefined
}

const counted = (ports: ReadonlyArray<Omit<Port, "index">>): ReadonlyArray<Port> => {
  const counts = new Map<string, number>()
  return ports.map((port) => {
    const index = counts.get(port.type) ?? 0
    counts.set(port.type, index + 1)
    return { ...port, index }
  })
}

const portsOf = (
  description: Description,
  side: "inputs" | "outputs",
  node: Node,
  evaluate: Evaluate
): ReadonlyArray<Port> | undefined => {
  const { [side]: declared, [`${side === "inputs" ? "input" : "output"}Names` as const]: names = [] } = description
  if (!areKnown(declared, description, node)) return undefined
  const { parameters, version } = node
  const ports = decode(typeof declared === "string" ? evaluate(declared, { parameters, version }) : declared)
  return ports && counted(ports).map((port) => {
    const name = port.name ?? (port.type === "main" ? names[port.index] : undefined)
    return name === undefined ? port : { ...port, name }
  })
}

/** Inputs; `undefined` if they are unknown, as where an expression decides about them. */
export const inputs = (
  description: Description,
  node: Node,
  evaluate: Evaluate
): ReadonlyArray<Port> | undefined => portsOf(description, "inputs", node, evaluate)

/** Outputs, including the error output; `undefined` if they are unknown. */
export const outputs = (
  description: Description,
  node: Node,
  evaluate: Evaluate
): ReadonlyArray<Port> | undefined => {
  const ports = portsOf(description, "outputs", node, evaluate)
  if (ports === undefined || node.onError !== "continueErrorOutput") return ports
  return [...ports, { type: "main", index: ports.filter(({ type }) => type === "main").length, name: "error" }]
}

/** Step limit of one expression; the 256 inputs of a Merge take a third of it. */
const perExpression = 50_000

/** Step limit of a workflow: enough for ten thousand nodes whose ports depend on parameters. */
const perWorkflow = 20_000_000

const programs = new Map<string, Result.Result<Interpreter.Program, Interpreter.Problem>>()

/** Evaluator with one budget, for one workflow; the untrusted expressions see copies of parameters and version. */
export const evaluator: Effect.Effect<Evaluate> = Effect.map(Interpreter.load, ({ compile }): Evaluate => {
  let left = perWorkflow
  return (expression, { parameters, version }) => {
    const program = programs.get(expression) ?? compile(expression.replace(/^=\s*\{\{/, "").replace(/\}\}\s*$/, ""))
    programs.set(expression, program)
    if (Result.isFailure(program)) return undefined
    const steps = Math.min(perExpression, left)
    const budget: Interpreter.Budget = { steps }
    const scope = { $parameter: parameters, $nodeVersion: version }
    const result = Interpreter.evaluate(program.success, scope, budget)
    left -= steps - budget.steps
    return Result.getOrUndefined(result)
  }
})
