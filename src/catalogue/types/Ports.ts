/** Inputs and outputs of a node, by its type, version and parameters. */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as Interpreter from "../../base/Interpreter.ts"
import { defined, num, type Obj, obj, str } from "../../base/Json.ts"
import type * as Connections from "../../n8n/model/Connections.ts"
import type { Description, Ports } from "./NodeType.ts"

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
  readonly parameters: Obj
  readonly version: number
  readonly onError?: string | undefined
}

const decodeFilter = Schema.decodeUnknownOption(Schema.Struct({
  nodes: Schema.optionalKey(Schema.Array(Schema.String)),
  excludedNodes: Schema.optionalKey(Schema.Array(Schema.String))
}))

export const dependOn = ({ inputs, outputs }: Description, name: string): boolean =>
  [inputs, outputs].some((ports) => typeof ports === "string" && ports.split(/\W+/).includes(name))

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
  declared: Ports,
  names: ReadonlyArray<string> = [],
  { parameters, version }: Node,
  evaluate: Evaluate
): ReadonlyArray<Port> | undefined => {
  const ports = decode(typeof declared === "string" ? evaluate(declared, { parameters, version }) : declared)
  return ports && counted(ports).map((port) => {
    const name = port.name ?? (port.type === "main" ? names[port.index] : undefined)
    return name === undefined ? port : { ...port, name }
  })
}

/** Inputs; `undefined` if they are unknown. */
export const inputs = (
  description: Description,
  node: Node,
  evaluate: Evaluate
): ReadonlyArray<Port> | undefined => portsOf(description.inputs, description.inputNames, node, evaluate)

/** Outputs, including the error output; `undefined` if they are unknown. */
export const outputs = (
  description: Description,
  node: Node,
  evaluate: Evaluate
): ReadonlyArray<Port> | undefined => {
  const ports = portsOf(description.outputs, description.outputNames, node, evaluate)
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
