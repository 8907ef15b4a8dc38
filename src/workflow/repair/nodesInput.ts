/** Reads nodes of callers and files, with unambiguous repairs. */
import * as Predicate from "effect/Predicate"
import * as Result from "effect/Result"
import { num, type Obj, obj, str, without } from "../../base/Json.ts"
import { join, member, print } from "../../base/JsonPath.ts"
import * as NodeType from "../../catalogue/types/NodeType.ts"
import { nodeIdLength } from "../../n8n/model/Limits.ts"
import * as NodeKeys from "../../n8n/model/NodeKeys.ts"
import { nameOf, parametersOf, typeOf } from "../../n8n/model/Workflow.ts"
import { isLarge, type Lookups } from "../check/CheckedWorkflow.ts"
import { repaired } from "./RepairedParameters.ts"
import { type Checked, isNull, note, numeric, objectOf, refuse, type Repairs, type Source } from "./Repairs.ts"

const readAs = (kind: NodeKeys.Kind, value: unknown): unknown => {
  switch (kind) {
    case "number":
      return numeric(value)
    case "boolean":
      return value === "true" ? true : value === "false" ? false : Predicate.isBoolean(value) ? value : undefined
    case "object":
      return objectOf(value)
  }
  return Predicate.isNumber(value) ? String(value) : str(value)
}

/** Keys to convert; names, types and positions are read separately. */
const readKeys = [...NodeKeys.nodeKeys].filter(([, { kind }]) => kind !== "text" && kind !== "position")

export type Node = Obj & { readonly name: string }

export interface Supply {
  readonly newId: () => string
  readonly versionOf?: ((type: string) => number | undefined) | undefined
  /** Types of the nodes, for the shape of parameters and the names of outputs. */
  readonly lookups?: Lookups | undefined
  /** Ids of nodes stored on n8n, which never change. */
  readonly stored?: ReadonlySet<string> | undefined
  /** Whether the workflow exists on n8n: then duplicate names are a problem and not renamed. */
  readonly isExisting?: boolean | undefined
}

const nodeOf = (value: unknown, path: string, { versionOf }: Supply, repairs: Repairs): Checked<Node> => {
  const object = obj(value)
  if (object === undefined) {
    return refuse(path, `${path} is not a node: {name, type, typeVersion, position, parameters}.`)
  }
  const [name, type] = [nameOf(object), typeOf(object)]
  if (name === "") return refuse(member(path, "name"), `${path} has no name.`)
  if (type === "") return refuse(member(path, "type"), `Node '${name}' has no type.`)
  const node = new Map<string, unknown>(
    Object.entries({ ...without(object, isNull), parameters: object["parameters"] ?? {} })
  )
  for (const [key, nodeKey] of readKeys) {
    if (!node.has(key)) continue
    const value = readAs(nodeKey.kind, node.get(key))
    if (value === undefined) {
      return refuse(member(path, key), `${key} of node '${name}' must be ${NodeKeys.words(nodeKey)}.`)
    }
    if (value !== node.get(key)) {
      note(repairs, `Read ${key} as ${nodeKey.kind === "object" ? "an" : "a"} ${nodeKey.kind}`, `'${name}'`)
    }
    node.set(key, key === "credentials" ? without(obj(value) ?? {}, isNull) : value)
  }
  if (node.has("typeVersion")) return Result.succeed({ ...Object.fromEntries(node), name })
  const typeVersion = versionOf?.(type)
  const at = member(path, "typeVersion")
  if (typeVersion === undefined) return refuse(at, `Node '${name}' (${type}) has no typeVersion.`)
  note(repairs, "Set the missing typeVersion of nodes", `${typeVersion} to '${name}'`)
  return Result.succeed({ ...Object.fromEntries(node), name, typeVersion })
}

export type Nodes = {
  readonly nodes: ReadonlyArray<Node>
  readonly names: ReadonlySet<string>
  readonly byId: ReadonlyMap<string, string>
}

/** Refuses duplicate names, since links by name would be ambiguous. */
const checkUnique = (nodes: ReadonlyArray<Node>): Checked<void> => {
  const names = nodes.map(({ name }) => name)
  const index = names.findIndex((name, at) => names.indexOf(name) < at)
  const name = names[index]
  if (name === undefined) return Result.void
  const [first, second] = [names.indexOf(name), index].map((at) => member("nodes", at))
  return refuse(print(["nodes", index, "name"]), `${first} and ${second} are both named '${name}'.`)
}

/** Repairs the shape of a node's parameters; refuses what n8n cannot open, and names what else is unclear. */
const reshaped = (node: Node, path: string, lookups: Lookups, repairs: Repairs): Checked<Node> => {
  const [nodeType, typeVersion, own] = [lookups.find(typeOf(node)), num(node["typeVersion"]), parametersOf(node)]
  if (nodeType === undefined || typeVersion === undefined || isLarge(own)) return Result.succeed(node)
  const { completed, parameters, reshaped, unclear } = repaired(
    { description: NodeType.at(nodeType, typeVersion), typeVersion, parameters: own },
    () => true,
    lookups
  )
  for (const at of reshaped) note(repairs, "Repaired the shape of parameters", `'${node.name}' ${at}`)
  for (const at of completed) note(repairs, "Completed filters as n8n's editor does", `'${node.name}' ${at}`)
  for (const { fix, message, path: at, shape } of unclear) {
    const problem = `'${node.name}' ${at}: ${message}${fix === undefined ? "" : ` ${fix}`}`
    if (shape?.isUnreadable === true) return refuse(join(member(path, "parameters"), at), problem)
    note(repairs, problem.replace(/\.$/, ""))
  }
  return Result.succeed(reshaped.length + completed.length === 0 ? node : { ...node, parameters })
}

export const nodesOf = (input: unknown, source: Source, supply: Supply, repairs: Repairs): Checked<Nodes> =>
  Result.gen(function*() {
    if (!Array.isArray(input)) return yield* refuse("nodes", "'nodes' must be a list of nodes.")
    const read: Array<Node> = []
    const { lookups } = supply
    const hasWebhook = (type: string) =>
      lookups?.find(type)?.descriptions.some(({ webhooks = [] }) => webhooks.length > 0) === true
    for (const [index, value] of input.entries()) {
      const path = member("nodes", index)
      const node = yield* nodeOf(value, path, supply, repairs)
      read.push(source === "stored" || lookups === undefined ? node : yield* reshaped(node, path, lookups, repairs))
    }
    const names = new Set(read.map((node) => node.name))
    if (supply.isExisting === true) yield* checkUnique(read)
    const taken = new Set(names)
    const next = new Map<string, number>()
    const byId = new Map<string, string>()
    const nodes = read.map((node) => {
      let name = node.name
      let number = next.get(name) ?? 0
      if (number > 0) {
        while (taken.has(name)) name = `${node.name}${number++}`
        note(repairs, "Renamed nodes whose name was taken", `'${node.name}' to '${name}'`)
      }
      taken.add(name)
      next.set(node.name, Math.max(number, 1))
      const id = str(node["id"]) ?? ""
      const fits = id.length <= nodeIdLength || supply.stored?.has(id) === true
      if (byId.has(id)) note(repairs, "Gave new ids to nodes whose id was taken", `'${name}'`)
      // Missing ids need no note: n8n and its editor assign them too.
      else if (id !== "") byId.set(id, name)
      if (!fits) note(repairs, `Gave new ids to nodes whose id has more than ${nodeIdLength} characters`, `'${name}'`)
      const hasOwnPath = !isNull(node["webhookId"]) || supply.stored?.has(id) === true ||
        // n8n 1 puts ids before the path of a node that answers web requests and has no `webhookId`.
        !hasWebhook(typeOf(node))
      return {
        ...node,
        name,
        id: fits && byId.get(id) === name ? id : supply.newId(),
        ...(hasOwnPath ? {} : { webhookId: supply.newId() })
      }
    })
    return { nodes: placed(nodes, repairs), names, byId }
  })

/** `[x, y]`, `["x", "y"]` or `{x, y}`. */
const placeOf = (position: unknown): readonly [x: number, y: number] | undefined => {
  const at = obj(position)
  const [x, y] = (at === undefined ? Array.isArray(position) ? position : [] : [at["x"], at["y"]]).map(numeric)
  return x === undefined || y === undefined ? undefined : [x, y]
}

const placed = (nodes: ReadonlyArray<Node>, repairs: Repairs): ReadonlyArray<Node> => {
  let [right, top] = [-220, 0]
  for (const node of nodes) {
    const place = placeOf(node["position"])
    // Sticky notes have a width.
    const width = num(parametersOf(node)["width"]) ?? 0
    if (place !== undefined && place[0] + width > right) [right, top] = [place[0] + width, place[1]]
  }
  return nodes.map((node) => {
    const { position } = node
    if (Array.isArray(position) && position.length === 2 && position.every(Predicate.isNumber)) return node
    const place = placeOf(position)
    if (!Predicate.isNullish(position)) {
      note(
        repairs,
        place === undefined ? "Repositioned nodes whose position was not [x, y]" : "Read position as [x, y]",
        `'${node.name}'`
      )
    }
    return { ...node, position: place ?? [right += 220, top] }
  })
}
