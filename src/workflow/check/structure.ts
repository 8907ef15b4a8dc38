/** Problems with the shape of a workflow, which n8n refuses to store or stores differently. */
import * as Predicate from "effect/Predicate"
import * as Result from "effect/Result"
import { arr, defined, type Obj, obj, str } from "../../base/Json.ts"
import { member, print } from "../../base/JsonPath.ts"
import * as Turn from "../../base/Turn.ts"
import * as Connections from "../../n8n/model/Connections.ts"
import * as Limits from "../../n8n/model/Limits.ts"
import * as NodeKeys from "../../n8n/model/NodeKeys.ts"
import * as Workflow from "../../n8n/model/Workflow.ts"
import * as Graph from "../Graph.ts"
import { resolvePort } from "../PortNames.ts"
import { either, type Lookups, readNode } from "./CheckedWorkflow.ts"
import type { Ruled, RuleId } from "./Rules.ts"

const error = (rule: RuleId, path: string, message: string, fix?: string): Ruled =>
  defined({ rule, severity: "error" as const, path, message, fix })

const nameProblems = (name: unknown): ReadonlyArray<Ruled> => {
  if (!Predicate.isString(name) || name === "") {
    return [error("workflow-shape", "name", "The workflow has no name.", "Add name: \"…\".")]
  }
  const fault = Limits.nameFault(name)
  return fault === undefined ? [] : [error("workflow-shape", "name", fault)]
}

const ofRoot = ({ name, nodes, settings }: Obj): ReadonlyArray<Ruled> => [
  ...nameProblems(name),
  ...(Array.isArray(nodes) ? [] : [error("workflow-shape", "nodes", "nodes must be a list.")]),
  ...(Predicate.isNullish(settings) || obj(settings) !== undefined
    ? []
    : [error("workflow-shape", "settings", "settings must be an object.")])
]

/** Messages and fixes for missing keys of a node; parameters and position may be missing. */
const missing: { readonly [key: string]: readonly [message: string, fix?: string] } = {
  name: ["The node has no name."],
  type: ["The node has no type."],
  typeVersion: [
    "The node has no typeVersion: it decides which parameters there are.",
    "Add the version it was written for."
  ]
}

const ofNode = (node: Obj, at: string): ReadonlyArray<Ruled> => {
  const [name, id] = [str(node["name"]), str(node["id"])]
  return [...NodeKeys.nodeKeys].flatMap(([key, nodeKey]) => {
    const value = node[key]
    if (NodeKeys.holds(nodeKey, value)) return []
    const isAbsent = Predicate.isNullish(value)
    if (isAbsent && missing[key] === undefined) return []
    const [message, fix] = isAbsent && missing[key] || [`${key} must be ${NodeKeys.words(nodeKey)}.`]
    return [{ ...error("node-shape", member(at, key), message, fix), ...defined({ node: name, nodeId: id }) }]
  })
}

const twice = (nodes: ReadonlyArray<unknown>, key: "name" | "id"): ReadonlyArray<Ruled> => {
  const values = nodes.map((node) => str(obj(node)?.[key]) || undefined)
  const first = new Map([...values.entries()].toReversed().map(([index, value]) => [value, index]))
  const fix = key === "name" ? "Rename one of them, also in connections and expressions." : "Give it a unique id."
  return nodes.flatMap((node, index) => {
    const [value, before = index] = [values[index], first.get(values[index])]
    if (value === undefined || before === index) return []
    const problem = error(
      `duplicate-${key}`,
      print(["nodes", index, key]),
      `${print(["nodes", before])} also has the ${key} '${value}'.`,
      fix
    )
    return [defined({ ...problem, node: str(obj(node)?.["name"]) })]
  })
}

const ofSources = function*(
  connections: Obj,
  nodes: ReadonlyArray<Obj>,
  { nearest }: Lookups
): Turn.Steps<ReadonlyArray<Ruled>> {
  const names = new Set(nodes.flatMap((node) => str(node["name"]) ?? []))
  const byId = new Map(nodes.map((node) => [node["id"], str(node["name"])]))
  const graph = Graph.make(connections)
  const unknown = (path: string, name: string, end: string): Ruled => {
    const nodeName = byId.get(name)
    const near = nearest(name, names)
    return error(
      "unknown-connection",
      path,
      nodeName === undefined ? `${end} '${name}', which does not exist.` : `${end} '${name}', a node's id.`,
      nodeName !== undefined
        ? `Connections go by name: write '${nodeName}'.`
        : near.length > 0
        ? `Did you mean ${either(near)}?`
        : undefined
    )
  }
  return [
    ...yield* Turn.flatMap(Object.keys(connections), (name) =>
      names.has(name)
        ? []
        : graph.out(name).length > 0
        ? [unknown(member("connections", name), name, "Connections start at")]
        : [{
          rule: "unknown-connection" as const,
          severity: "warning" as const,
          path: member("connections", name),
          message: `'${name}' does not exist; the entry has no connections.`,
          fix: "Remove it."
        }]),
    ...yield* Turn.flatMap(
      new Set(graph.links.map(({ from }) => from)),
      (from) =>
        [...Map.groupBy(graph.out(from).filter(({ to }) => !names.has(to)), ({ to }) => to)].map((
          [to, [first, ...more]]
        ) => ({
          ...unknown(
            member(first === undefined ? "connections" : Connections.placeOf(first), "node"),
            to,
            more.length === 0 ? leads : `${more.length + 1} connections lead to`
          ),
          ...(names.has(from) ? { node: from } : {})
        }))
    )
  ]
}

const leads = "A connection leads to"

const ofTarget = (value: unknown, at: string): ReadonlyArray<Ruled> => {
  const target = obj(value)
  if (target === undefined) return [error("connection-shape", at, "A connection must be {node, type, index}.")]
  return [
    ...(str(target["node"]) ? [] : [error("connection-shape", member(at, "node"), "The connection has no node.")]),
    ...(str(target["type"])
      ? []
      : [error("connection-shape", member(at, "type"), "The connection has no type.", "Add type: \"main\".")]),
    ...(Number.isInteger(target["index"]) && Number(target["index"]) >= 0
      ? []
      : [
        error("connection-shape", member(at, "index"), "index must be the number of an input: 0, 1, …", "Add index: 0.")
      ])
  ]
}

const shape = "It must be {[type]: [[{node, type, index}]]}: a list of outputs, each a list."

/** Problem of a key that is not the type of a connection, such as the number or the name of an output. */
const ofKey = (from: string, key: string, nodes: ReadonlyArray<Obj>, lookups: Lookups): Ruled => {
  const node = nodes.find(({ name }) => name === from)
  const outputs = node && readNode(node, lookups)?.outputs
  const port = Result.getOrUndefined(resolvePort({ name: from, outputs }, "output", key, "main"))
  return error(
    "connection-shape",
    print(["connections", from, key]),
    `'${key.slice(0, 60)}' is not a type of connections: n8n follows none of these.`,
    port === undefined || port.isNewError === true
      ? "Write main: [[links of output 0], [links of output 1], …]."
      : `Write the links at connections['${from}'].${port.type}[${port.index}].`
  )
}

const ofShape = (connections: Obj, nodes: ReadonlyArray<Obj>, lookups: Lookups): ReadonlyArray<Ruled> =>
  Object.entries(connections).flatMap(([from, value]) => {
    const types = obj(value)
    if (types === undefined || Predicate.isString(types["node"])) {
      return [error("connection-shape", member("connections", from), "These are not connections.", shape)]
    }
    return Object.entries(types).flatMap(([type, outputs]) => {
      const at = print(["connections", from, type])
      if (!Connections.isType(type)) return [ofKey(from, type, nodes, lookups)]
      if (!Array.isArray(outputs)) return [error("connection-shape", at, "These are not connections.", shape)]
      return outputs.flatMap((targets, index) =>
        Array.isArray(targets)
          ? targets.flatMap((target, position) => ofTarget(target, print([index, position], at)))
          : Predicate.isNullish(targets)
          ? []
          : [error("connection-shape", member(at, index), "An output must be a list of connections.", shape)]
      )
    })
  })

export const structureProblems = function*(workflow: Obj, lookups: Lookups): Turn.Steps<ReadonlyArray<Ruled>> {
  const nodes = arr(workflow["nodes"])
  const connections = obj(workflow["connections"])
  return [
    ...ofRoot(workflow),
    ...yield* Turn.flatMap(nodes.entries(), ([index, value]) => {
      const node = obj(value)
      return node === undefined
        ? [error("node-shape", print(["nodes", index]), "A node must be an object.")]
        : ofNode(node, print(["nodes", index]))
    }),
    ...twice(nodes, "name"),
    ...twice(nodes, "id"),
    ...(connections === undefined
      ? [error("workflow-shape", "connections", "connections must be an object.", "Write {} if there are none.")]
      : [
        ...ofShape(connections, Workflow.nodes(workflow), lookups),
        ...yield* ofSources(connections, Workflow.nodes(workflow), lookups)
      ])
  ]
}
