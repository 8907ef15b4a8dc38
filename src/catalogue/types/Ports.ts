/** Inputs and outputs of a node, by its type, version and parameters. */
import * as Schema from "effect/Schema"
import { defined, type Obj } from "../../base/Json.ts"
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

/**
 * Evaluates an expression of n8n's own, `={{ … }}` over `$parameter` and `$nodeVersion`; `undefined` if it fails.
 */
export type Evaluate = (
  expression: string,
  scope: { readonly parameters: Obj; readonly version: number }
) => unknown

/** Properties of a node that determine its ports; the parameters include defaults. */
export interface Node {
  readonly parameters: Obj
  readonly version: number
  readonly onError?: string | undefined
}

const PortList = Schema.Array(Schema.NullOr(Schema.Union([
  Schema.String,
  Schema.StructWithRest(Schema.Struct({ type: Schema.String }), [Schema.Record(Schema.String, Schema.Unknown)])
])))

const Extra = {
  name: Schema.decodeUnknownOption(Schema.String),
  required: Schema.decodeUnknownOption(Schema.Boolean),
  maxConnections: Schema.decodeUnknownOption(Schema.Finite),
  filter: Schema.decodeUnknownOption(Schema.Struct({
    nodes: Schema.optionalKey(Schema.Array(Schema.String)),
    excludedNodes: Schema.optionalKey(Schema.Array(Schema.String))
  }))
}

const valueOf = <A>(option: { readonly _tag: "None" } | { readonly _tag: "Some"; readonly value: A }) =>
  option._tag === "Some" ? option.value : undefined

/** Whether the type's ports may depend on the parameter. */
export const dependOn = ({ inputs, outputs }: Description, name: string): boolean =>
  [inputs, outputs].some((ports) => typeof ports === "string" && ports.split(/\W+/).includes(name))

/** Maximum number of ports; a node with more has unknown ports. */
const maxPorts = 256

const decode = (value: unknown): ReadonlyArray<Omit<Port, "index">> | undefined =>
  Array.isArray(value) && value.length > maxPorts ?
    undefined :
    valueOf(Schema.decodeUnknownOption(PortList)(value))?.flatMap((port) => {
      if (port === null) return []
      if (typeof port === "string") return [{ type: port }]
      const filter = valueOf(Extra.filter(port["filter"]))
      return [defined({
        type: port.type,
        name: valueOf(Extra.name(port["displayName"])) || undefined,
        required: valueOf(Extra.required(port["required"])),
        maxConnections: valueOf(Extra.maxConnections(port["maxConnections"])),
        only: filter?.nodes,
        never: filter?.excludedNodes
      })]
    })

const counted = (ports: ReadonlyArray<Omit<Port, "index">>): ReadonlyArray<Port> => {
  const counts = new Map<string, number>()
  return ports.map((port) => {
    const index = counts.get(port.type) ?? 0
    counts.set(port.type, index + 1)
    return { ...port, index }
  })
}

const named = (
  ports: ReadonlyArray<Port>,
  names: ReadonlyArray<string> = []
): ReadonlyArray<Port> =>
  ports.map((port) => {
    const name = port.name ?? (port.type === "main" ? names[port.index] : undefined)
    return name === undefined ? port : { ...port, name }
  })

const portsOf = (declared: Ports, { parameters, version }: Node, evaluate: Evaluate) => {
  const ports = decode(typeof declared === "string" ? evaluate(declared, { parameters, version }) : declared)
  return ports === undefined ? undefined : counted(ports)
}

/** Inputs; `undefined` if they are unknown. */
export const inputs = (
  description: Description,
  node: Node,
  evaluate: Evaluate
): ReadonlyArray<Port> | undefined => {
  const ports = portsOf(description.inputs, node, evaluate)
  return ports === undefined ? undefined : named(ports, description.inputNames)
}

/** Outputs, including the error output; `undefined` if they are unknown. */
export const outputs = (
  description: Description,
  node: Node,
  evaluate: Evaluate
): ReadonlyArray<Port> | undefined => {
  const ports = portsOf(description.outputs, node, evaluate)
  if (ports === undefined) return undefined
  const index = ports.filter(({ type }) => type === "main").length
  const error = node.onError === "continueErrorOutput" ? [{ type: "main", index, name: "error" }] : []
  return [...named(ports, description.outputNames), ...error]
}
