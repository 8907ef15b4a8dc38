/** What is wrong with the shape of a workflow: n8n refuses to store it, or stores something else. */
import * as Predicate from "effect/Predicate"
import { arr, num, type Obj, obj, str } from "../Json.ts"
import type { Lookups } from "./CheckedWorkflow.ts"
import { placedLinks } from "./CheckedWorkflow.ts"
import type { Problem } from "./Problem.ts"

const error = (path: string, message: string, fix?: string): Problem => ({
  severity: "error",
  path,
  message,
  ...(fix === undefined ? {} : { fix })
})

const longestName = 128

const ofRoot = ({ name, nodes, settings }: Obj): ReadonlyArray<Problem> => [
  ...(Predicate.isString(name) && name !== ""
    ? [...name].length > longestName
      ? [error("name", `The workflow's name has ${[...name].length} characters; n8n takes ${longestName}.`)]
      : []
    : [error("name", "The workflow has no name.", "Add name: \"…\".")]),
  ...(Array.isArray(nodes) ? [] : [error("nodes", "nodes must be a list.")]),
  ...(Predicate.isNullish(settings) || obj(settings) !== undefined
    ? []
    : [error("settings", "settings must be an object.")])
]

const onErrors: ReadonlyArray<unknown> = ["stopWorkflow", "continueRegularOutput", "continueErrorOutput"]

/** What a key of a node must be; `undefined` where it is. */
const keys: { readonly [key: string]: (value: unknown) => readonly [message: string, fix?: string] | undefined } = {
  name: (value) => Predicate.isString(value) && value !== "" ? undefined : ["The node has no name."],
  type: (value) => Predicate.isString(value) && value !== "" ? undefined : ["The node has no type."],
  typeVersion: (value) =>
    num(value) !== undefined
      ? undefined
      : Predicate.isNullish(value)
      ? ["The node has no typeVersion: it decides which parameters there are.", "Add the version it was written for."]
      : ["typeVersion must be a number."],
  position: (value) =>
    Array.isArray(value) && value.length === 2 && value.every((each) => num(each) !== undefined)
      ? undefined
      : ["The node has no position [x, y].", "Add position: [x, y], two numbers."],
  parameters: (value) =>
    Predicate.isNullish(value) || obj(value) !== undefined ? undefined : ["parameters must be an object."],
  id: (value) => Predicate.isNullish(value) || Predicate.isString(value) ? undefined : ["id must be a string."],
  disabled: (value) =>
    Predicate.isNullish(value) || Predicate.isBoolean(value) ? undefined : ["disabled must be true or false."],
  credentials: (value) =>
    Predicate.isNullish(value) || obj(value) !== undefined ? undefined : ["credentials must be an object."],
  onError: (value) =>
    Predicate.isNullish(value) || onErrors.includes(value) ? undefined : [`onError must be ${onErrors.join(", ")}.`]
}

const ofNode = (node: Obj, at: string): ReadonlyArray<Problem> =>
  Object.entries(keys).flatMap(([key, check]) => {
    const [message, fix] = check(node[key]) ?? []
    if (message === undefined) return []
    const [name, id] = [str(node["name"]), str(node["id"])]
    return [{
      ...error(`${at}.${key}`, message, fix),
      ...(name === undefined ? {} : { node: name }),
      ...(id === undefined ? {} : { nodeId: id })
    }]
  })

const twice = (nodes: ReadonlyArray<unknown>, key: "name" | "id"): ReadonlyArray<Problem> => {
  const first = new Map<string, number>()
  return nodes.flatMap((given, index) => {
    const node = obj(given)
    const value = str(node?.[key])
    if (value === undefined || value === "") return []
    const before = first.get(value)
    if (before === undefined) {
      first.set(value, index)
      return []
    }
    const name = str(node?.["name"])
    return [{
      ...error(
        `nodes[${index}].${key}`,
        `nodes[${before}] has the ${key} '${value}' too.`,
        key === "name" ? "Rename one of them, also in connections and expressions." : "Give it an id of its own."
      ),
      ...(name === undefined ? {} : { node: name })
    }]
  })
}

// ---- connections

/** A node that was removed can leave an entry without links behind. */
const ofSources = (connections: Obj, nodes: ReadonlyArray<Obj>, { nearest }: Lookups): ReadonlyArray<Problem> => {
  const names = new Set(nodes.flatMap((node) => str(node["name"]) ?? []))
  const byId = new Map(nodes.map((node) => [node["id"], str(node["name"])]))
  const links = placedLinks(connections)
  const sources = Map.groupBy(links, ({ from }) => from)
  const unknown = (path: string, name: string, end: string): Problem => {
    const meant = byId.get(name)
    const near = nearest(name, names)
    return error(
      path,
      meant === undefined ? `${end} '${name}', which does not exist.` : `${end} '${name}', a node's id.`,
      meant !== undefined
        ? `Connections go by name: write '${meant}'.`
        : near.length > 0
        ? `Did you mean ${near.map((each) => `'${each}'`).join(" or ")}?`
        : undefined
    )
  }
  return [
    ...Object.keys(connections).flatMap((name) =>
      names.has(name)
        ? []
        : sources.has(name)
        ? [unknown(`connections.${name}`, name, "Connections start at")]
        : [{
          severity: "warning" as const,
          path: `connections.${name}`,
          message: `'${name}' does not exist; the entry has no connections.`,
          fix: "Remove it."
        }]
    ),
    ...[...sources].flatMap(([from, out]) =>
      [...Map.groupBy(out.filter(({ to }) => !names.has(to)), ({ to }) => to)].map(([to, [first, ...more]]) => ({
        ...unknown(
          `${first?.at ?? "connections"}.node`,
          to,
          more.length === 0 ? leads : `${more.length + 1} connections lead to`
        ),
        ...(names.has(from) ? { node: from } : {})
      }))
    )
  ]
}

const leads = "A connection leads to"

const ofTarget = (given: unknown, at: string): ReadonlyArray<Problem> => {
  const target = obj(given)
  if (target === undefined) return [error(at, "A connection is {node, type, index}.")]
  return [
    ...(str(target["node"]) ? [] : [error(`${at}.node`, "The connection names no node.")]),
    ...(str(target["type"]) ? [] : [error(`${at}.type`, "The connection has no type.", "Add type: \"main\".")]),
    ...(Number.isInteger(target["index"]) && Number(target["index"]) >= 0
      ? []
      : [error(`${at}.index`, "index must be the number of an input: 0, 1, …", "Add index: 0.")])
  ]
}

const shape = "It must be {[type]: [[{node, type, index}]]}: a list of outputs, each a list."

const ofShape = (connections: Obj): ReadonlyArray<Problem> =>
  Object.entries(connections).flatMap(([from, given]) => {
    const types = obj(given)
    if (types === undefined) return [error(`connections.${from}`, "These are no connections.", shape)]
    return Object.entries(types).flatMap(([type, outputs]) => {
      const at = `connections.${from}.${type}`
      if (!Array.isArray(outputs)) return [error(at, "These are no connections.", shape)]
      return outputs.flatMap((targets, index) =>
        Array.isArray(targets)
          ? targets.flatMap((target, position) => ofTarget(target, `${at}[${index}][${position}]`))
          : Predicate.isNullish(targets)
          ? []
          : [error(`${at}[${index}]`, "An output is a list of connections.", shape)]
      )
    })
  })

/** Everything wrong with the shape, with the exact path of each. */
export const structureProblems = (workflow: Obj, lookups: Lookups): ReadonlyArray<Problem> => {
  const nodes = arr(workflow["nodes"])
  const connections = obj(workflow["connections"])
  return [
    ...ofRoot(workflow),
    ...nodes.flatMap((given, index) => {
      const node = obj(given)
      return node === undefined ? [error(`nodes[${index}]`, "A node is an object.")] : ofNode(node, `nodes[${index}]`)
    }),
    ...twice(nodes, "name"),
    ...twice(nodes, "id"),
    ...(connections === undefined
      ? [error("connections", "connections must be an object.", "Write {} where there are none.")]
      : [...ofShape(connections), ...ofSources(connections, nodes.map((node) => obj(node) ?? {}), lookups)])
  ]
}
