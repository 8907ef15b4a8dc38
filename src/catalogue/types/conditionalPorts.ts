/** Ports that a node would have with other parameter values, each with its condition. */
import type { Obj } from "../../base/Json.ts"
import * as Parameters from "../parameters/Parameters.ts"
import { choices, type Description, members, type Property } from "./NodeType.ts"
import * as Ports from "./Ports.ts"

export interface ConditionalPort {
  readonly port: Ports.Port
  readonly condition: string
  /** Changed parameter, if the port only has to be switched on. */
  readonly switch: Obj | undefined
  /** Whether it replaces the ports that the node has otherwise. */
  readonly isInstead: boolean
}

type Read = typeof Ports.inputs

interface Setting {
  /** `options.fallbackOutput` */
  readonly path: string
  readonly value: unknown
  readonly parameters: Obj
}

const mostValues = 12

const mostNamed = 3

/** Literals with which the port expressions compare the parameter. */
const comparedWith = ({ inputs, outputs }: Description, name: string): ReadonlyArray<string> =>
  [inputs, outputs].flatMap((ports) =>
    typeof ports === "string"
      ? [...ports.matchAll(new RegExp(`\\b${name}\\s*===?\\s*'(\\w+)'`, "g"))].map(([, literal = ""]) => literal)
      : []
  )

const otherValues = (description: Description, property: Property, current: unknown): ReadonlyArray<unknown> => {
  const { name, type } = property
  if (type === "boolean") return [current !== true]
  if (type === "number") return [(typeof current === "number" ? current : 1) + 1]
  if (type !== "options") return []
  const values = choices(property).map(({ value }) => value)
  const others = (values.length === 0 ? comparedWith(description, name) : values).filter((value) => value !== current)
  // One more input or output shows how the rest are added.
  return typeof others[0] === "number" ? others.slice(0, 1) : others.slice(0, mostValues)
}

/** Parameters that the question selects. */
const selectors = new Set(["resource", "operation"])

/** Variants of the node's parameters, each with a change that its ports may depend on. */
const settings = (description: Description, { parameters, version }: Ports.Node): ReadonlyArray<Setting> =>
  Parameters.applying(description, { typeVersion: version, parameters }).flatMap((property): ReadonlyArray<Setting> => {
    const { name } = property
    if (property.type === "collection") {
      const outer = parameters[name] as Obj | undefined
      return members(property).filter((member) => Ports.dependOn(description, member.name)).flatMap((member) =>
        otherValues(description, member, member.default).map((value) => ({
          path: `${name}.${member.name}`,
          value,
          parameters: { ...parameters, [name]: { ...outer, [member.name]: value } }
        }))
      )
    }
    if (selectors.has(name) || !Ports.dependOn(description, name)) return []
    return otherValues(description, property, parameters[name] ?? property.default).map((value) => ({
      path: name,
      value,
      parameters: { ...parameters, [name]: value }
    }))
  })

const keyOf = ({ index, type }: Ports.Port) => `${type} ${index}`

const inWords = (path: string, values: ReadonlyArray<unknown>): string => {
  const named = values.slice(0, mostNamed).map((value) => JSON.stringify(value)).join(" or ")
  return `${path} is ${named}${values.length > mostNamed ? ` or ${values.length - mostNamed} others` : ""}`
}

const pick = (parameters: Obj, path: string): Obj => {
  const [name = ""] = path.split(".")
  return { [name]: parameters[name] }
}

/** Conditional inputs or outputs, depending on `read`; the node's parameters are without defaults. */
export const conditionalPorts = (
  description: Description,
  node: Ports.Node,
  read: Read,
  evaluate: Ports.Evaluate
): ReadonlyArray<ConditionalPort> => {
  const portsOf = (parameters: Obj) =>
    read(
      description,
      { ...node, parameters: Parameters.complete(description, { typeVersion: node.version, parameters }) },
      evaluate
    ) ?? []
  const present = new Set(portsOf(node.parameters).map(keyOf))
  const ports = new Map<
    string,
    Omit<ConditionalPort, "condition" | "switch"> & {
      readonly parameters: Obj
      readonly path: string
      values: Array<unknown>
    }
  >()
  for (const { parameters, path, value } of settings(description, node)) {
    const changed = portsOf(parameters)
    const isInstead = present.size > 0 && !changed.some((port) => present.has(keyOf(port)))
    for (const port of changed.filter((each) => !present.has(keyOf(each)))) {
      const key = `${keyOf(port)} ${port.name} ${path} ${isInstead}`
      const same = ports.get(key)
      if (same === undefined) ports.set(key, { port, isInstead, parameters, path, values: [value] })
      else same.values.push(value)
    }
  }
  return [...ports.values()].map(({ isInstead, parameters, path, port, values }) => ({
    port,
    switch: values[0] === true ? pick(parameters, path) : undefined,
    isInstead,
    condition: inWords(path, values)
  }))
}
