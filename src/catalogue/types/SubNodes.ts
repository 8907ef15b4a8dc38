/** Facts beside a node type's parameters: notes and versions for the connected n8n, conditional ports, and the nodes that serve it. */
import * as Schema from "effect/Schema"
import type { Obj } from "../../base/Json.ts"
import * as JsonPath from "../../base/JsonPath.ts"
import * as ParameterRules from "../parameters/ParameterRules.ts"
import * as NodeExample from "./example.ts"
import * as NodeType from "./NodeType.ts"
import * as ParameterView from "./ParameterView.ts"
import * as Ports from "./Ports.ts"
import * as Releases from "./Releases.ts"
import usual from "./subNodes.json" with { type: "json" }

/** Facts about the n8n that the answer is for, and about the type besides its descriptions. */
export interface Background {
  readonly release: string
  readonly releases: Releases.Releases
  readonly connected?: string | undefined
  readonly successors?: ReadonlyArray<string> | undefined
  /** Looks up the types that serve others; without it, the answer does not name them. */
  readonly find?: ((type: string) => NodeType.NodeType | undefined) | undefined
}

const longestAdvice = 300

const toolNote =
  "An agent knows the node by its name (letters, digits, _) and its description; its model fills in a value that is " +
  "={{ $fromAI('orderId', 'what it is', 'string') }} (or 'number', 'boolean', 'json')."

/** Differences between the connected n8n and this release, as far as they are known. */
const onConnected = (type: string, version: number, { connected, release, releases }: Background) => {
  if (connected === undefined) return []
  if (Releases.isTypeLacked(releases, type, connected)) {
    return [`n8n ${connected}, which is connected, lacks this type.`]
  }
  if (Releases.isLacked(releases, type, version, connected)) {
    return [`n8n ${connected}, which is connected, lacks version ${version}.`]
  }
  return Releases.isNewer(connected, release)
    ? [`n8n ${connected}, which is connected, may have newer versions: these are of n8n ${release}.`]
    : []
}

const onDeprecation = ({ successors }: Background) =>
  successors === undefined
    ? []
    : [successors.length === 0 ? "Deprecated, without a successor." : `Deprecated: use ${successors.join(", ")}.`]

export const notesOf = (
  { builderHint, credentials = [] }: NodeType.Description,
  version: number,
  { background, isTool, type }: { readonly type: string; readonly isTool: boolean; readonly background: Background }
) => {
  const advice = ParameterView.advice(builderHint?.searchHint, longestAdvice)
  const notes = [
    ...onConnected(type, version, background),
    ...onDeprecation(background),
    ...isTool ? [toolNote] : [],
    ...credentials.slice(0, 1).map(({ name }) => `Beside parameters: credentials: {"${name}": {id, name}}.`),
    ...advice === undefined ? [] : [advice]
  ]
  return notes.length === 0 ? undefined : notes
}

/** Versions that the connected n8n has, or all if it has none of them. */
export const versionsFor = (nodeType: NodeType.NodeType, { connected, releases }: Background) => {
  const all = NodeType.versions(nodeType)
  if (connected === undefined) return all
  const available = all.filter((version) =>
    !Releases.isLacked(releases, nodeType.base ?? nodeType.type, version, connected)
  )
  return available.length === 0 ? all : available
}

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
const comparedWith = ({ inputs, outputs }: NodeType.Description, name: string): ReadonlyArray<string> =>
  [inputs, outputs].flatMap((ports) =>
    typeof ports === "string"
      ? [...ports.matchAll(new RegExp(`\\b${name}\\s*===?\\s*'(\\w+)'`, "g"))].map(([, literal = ""]) => literal)
      : []
  )

const otherValues = (
  description: NodeType.Description,
  property: NodeType.Property,
  current: unknown
): ReadonlyArray<unknown> => {
  const { name, type } = property
  if (type === "boolean") return [current !== true]
  if (type === "number") return [(typeof current === "number" ? current : 1) + 1]
  if (type !== "options") return []
  const values = NodeType.choices(property).map(({ value }) => value)
  const others = (values.length === 0 ? comparedWith(description, name) : values).filter((value) => value !== current)
  // One more input or output shows how the rest are added.
  return typeof others[0] === "number" ? others.slice(0, 1) : others.slice(0, mostValues)
}

const selectors = new Set(["resource", "operation"])

/** Variants of the node's parameters, each with a change that its ports may depend on. */
const settings = (description: NodeType.Description, { parameters, version }: Ports.Node): ReadonlyArray<Setting> =>
  ParameterRules.applying(description, { typeVersion: version, parameters }).flatMap(
    (property): ReadonlyArray<Setting> => {
      const { name } = property
      if (property.type === "collection") {
        const outer = parameters[name] as Obj | undefined
        return NodeType.members(property).filter((member) => Ports.dependOn(description, member.name)).flatMap((
          member
        ) =>
          otherValues(description, member, member.default).map((value) => ({
            path: JsonPath.print([name, member.name]),
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
    }
  )

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
  description: NodeType.Description,
  node: Ports.Node,
  read: Read,
  evaluate: Ports.Evaluate
): ReadonlyArray<ConditionalPort> => {
  const portsOf = (parameters: Obj) =>
    read(
      description,
      { ...node, parameters: ParameterRules.complete(description, { typeVersion: node.version, parameters }) },
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

const usualTypes: Readonly<Record<string, ReadonlyArray<string>>> = usual

export const types: ReadonlyArray<string> = Object.values(usualTypes).flat()

/** Whether other nodes may serve nodes of this type. */
export const canBeServed = ({ descriptions }: NodeType.NodeType): boolean =>
  descriptions.some(({ inputs }) => JSON.stringify(inputs).includes("ai_"))

interface Root {
  readonly type: string
  readonly name: string
  readonly version: number
  readonly parameters: Obj
  readonly inputs: ReadonlyArray<Ports.Port>
  readonly conditional: ReadonlyArray<ConditionalPort>
}

export const Wired = Schema.Struct({
  nodes: Schema.Array(Schema.Record(Schema.String, Schema.Json)),
  connections: Schema.Record(Schema.String, Schema.Json)
})

const fits = ({ never, only }: Ports.Port) => (type: string) =>
  only?.includes(type) !== false && never?.includes(type) !== true

/** Usual types with their version for each port, and a root with one node on each; `undefined` without such ports. */
export const of = (root: Root, evaluate: Ports.Evaluate, background: Background) => {
  const { find } = background
  if (find === undefined) return undefined
  const ports = new Map<string, { readonly port: Ports.Port; readonly change: Obj | undefined }>()
  for (
    const { change, port } of [
      ...root.inputs.map((port) => ({ port, change: {} })),
      ...root.conditional.map((each) => ({ port: each.port, change: each.switch }))
    ]
  ) {
    if (Object.hasOwn(usualTypes, port.type) && !ports.has(port.type)) ports.set(port.type, { port, change })
  }
  const candidates = [...ports].flatMap(([type, { change, port }]) => {
    const nodes = (usualTypes[type] ?? []).filter(fits(port)).flatMap((type) => {
      const nodeType = find(type)
      if (nodeType === undefined) return []
      const byDefault = NodeType.defaultVersion(nodeType)
      const version = versionsFor(nodeType, background).findLast((each) => each <= byDefault) ?? byDefault
      const description = NodeType.at(nodeType, version)
      return description === undefined ? [] : [{ type, version, description }]
    })
    return nodes.length === 0 ? [] : [{ port: type, nodes, change }]
  })
  if (candidates.length === 0) return undefined
  const parameters = Object.assign({}, root.parameters, ...candidates.map(({ change }) => change))
  const node = (name: string, type: string, typeVersion: number, parameters: Obj, position: ReadonlyArray<number>) => ({
    name,
    type,
    typeVersion,
    position,
    parameters: parameters as Schema.Json
  })
  const served = candidates.flatMap(({ change, nodes: [first], port }, index) =>
    first === undefined || change === undefined
      ? []
      : [{ ...first, port, name: first.description.displayName, x: index * 150 }]
  )
  return {
    subNodes: Object.fromEntries(
      candidates.map(({ nodes, port }) => [port, nodes.map(({ type, version }) => `${type} ${version}`)])
    ),
    wired: {
      nodes: [
        node(root.name, root.type, root.version, parameters, [0, 0]),
        ...served.map(({ description, name, type, version, x }) =>
          node(
            name,
            type,
            version,
            NodeExample.parameters(description, {}, {
              version,
              evaluate,
              isTool: NodeExample.isAgentTool(description)
            }),
            [x, 200]
          )
        )
      ],
      connections: Object.fromEntries(
        served.map(({ name, port }) => [name, { [port]: [[{ node: root.name, type: port, index: 0 }]] }])
      )
    }
  }
}
