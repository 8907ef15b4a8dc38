/**
 * What a caller or a file gives, turned into what n8n accepts: the one place that repairs and refuses.
 *
 * It starts from everything given, so that a key n8n learns next month is not lost here; what an n8n refuses after all
 * is found by `Refusal`.
 */
import * as Predicate from "effect/Predicate"
import * as Result from "effect/Result"
import type { Connections } from "./Connections.ts"
import { num, type Obj, obj, str } from "./Json.ts"

/** What n8n accepts, as far as can be told without asking it. */
export type Prepared = {
  readonly workflow: Obj & {
    readonly name: string
    readonly nodes: ReadonlyArray<Obj>
    readonly connections: Connections
    readonly settings: Obj
  }
  /** What was repaired or left out: one sentence for each kind, naming nodes or paths. */
  readonly warnings: ReadonlyArray<string>
}

/** What cannot be repaired; where `name` is the name of no node, `candidates` are the names there are. */
export type Problem = {
  /** Such as `nodes[2].typeVersion`; empty for the whole. */
  readonly path: string
  readonly message: string
  readonly name?: string
  readonly candidates?: ReadonlyArray<string>
}

/** Where the input comes from: a caller can put a wrong connection right, whoever imports a file cannot. */
export type Options = { readonly source: "caller" | "file"; readonly newId: () => string }

type Checked<A> = Result.Result<A, Problem>
const refuse = (path: string, message: string) => Result.fail<Problem>({ path, message })

/** Keys that n8n's editor, API or export writes at the root and that no n8n takes back (`shared` is ignored). */
export const readOnly: ReadonlySet<string> = new Set(
  [
    "id active activeVersion activeVersionId versionId versionCounter versionMetadata checksum createdAt updatedAt",
    "isArchived triggerCount tags meta shared sharedWithProjects homeProject parentFolder scopes sourceWorkflowId",
    "usedCredentials"
  ].join(" ").split(" ")
)

/** Repairs by kind: 250 nodes without an id are one warning. */
type Repairs = Map<string, Set<string>>

const note = (repairs: Repairs, kind: string, where?: string) => {
  const places = repairs.get(kind) ?? new Set()
  if (where !== undefined) places.add(where)
  repairs.set(kind, places)
}

const sentences = (repairs: Repairs, most = 20): ReadonlyArray<string> =>
  [...repairs].map(([kind, places]) => {
    const more = places.size > most ? ` and ${places.size - most} more` : ""
    return places.size === 0 ? `${kind}.` : `${kind}: ${[...places].slice(0, most).join(", ")}${more}.`
  })

const isNull = (value: unknown): boolean => Predicate.isNullish(value)
const without = (value: Obj, isDropped: (value: unknown, key: string) => boolean): Obj =>
  Object.fromEntries(Object.entries(value).filter(([key, inner]) => !isDropped(inner, key)))

/** The value as an object; an empty list is how some languages write an empty one. */
const objectOf = (value: unknown): Obj | undefined => Array.isArray(value) && value.length === 0 ? {} : obj(value)

// ---- the whole

/** The workflow itself, out of lists of one and of answers that hold it. */
const unwrap = (input: unknown, depth = 0): Obj | undefined => {
  if (depth > 3) return undefined
  if (Array.isArray(input)) return input.length === 1 ? unwrap(input[0], depth + 1) : undefined
  const given = obj(input)
  if (given === undefined || "nodes" in given) return given
  const inner = unwrap(given["workflow"], depth + 1) ?? unwrap(given["data"], depth + 1)
  return inner === undefined || "name" in inner ? inner : { name: given["name"], ...inner }
}

const isNode = (value: unknown) => Predicate.hasProperty(value, "type") && Predicate.hasProperty(value, "parameters")

const whyNone = (input: unknown): string => {
  const given = obj(input)
  if (given !== undefined) return `it has no 'nodes'; its keys are: ${Object.keys(given).slice(0, 8).join(", ")}`
  if (!Array.isArray(input)) return `it is ${input === null ? "null" : `a ${typeof input}`}, not a JSON object`
  if (input.length > 0 && input.every(isNode)) return "it is a list of nodes alone; write {name, nodes, connections}"
  const workflows = input.filter((each) => unwrap(each) !== undefined).length
  return workflows > 1 ? `it holds ${workflows} workflows; give one` : `it is a list of ${input.length} other things`
}

/**
 * Turns anything into a workflow that n8n accepts, or says what is wrong with it before anything is written.
 *
 * **Details**
 *
 * Everything given is kept but the read-only keys at the root and what is null; in settings also what is empty.
 * Repaired, each with a warning: wrappers, ids, positions, duplicate names, values of the wrong kind that can only mean
 * one thing, connections that go by node id or are of the wrong shape, node groups. A connection to a node that does
 * not exist is a problem in what a caller wrote, and left out of a file. What is right comes out as it went in.
 *
 * **Gotchas**
 *
 * A missing `typeVersion` is a problem: n8n would store none, and the node would act as its oldest version.
 */
export const prepare = (input: unknown, options: Options): Checked<Prepared> =>
  Result.gen(function*() {
    const repairs: Repairs = new Map()
    const given = unwrap(input)
    if (given === undefined) return yield* refuse("", `This is no n8n workflow: ${whyNone(input)}.`)
    if (given !== input) note(repairs, "Took the workflow out of what was wrapped around it")
    const name = yield* nameOf(given["name"])
    const settings = objectOf(given["settings"] ?? {})
    if (settings === undefined) return yield* refuse("settings", "'settings' must be an object.")
    const { byId, names, nodes } = yield* nodesOf(given["nodes"], options.newId, repairs)
    if (options.source === "file" && isNull(given["connections"])) note(repairs, "The file has no connections")
    const scope: Scope = { byId, names, repairs, source: options.source }
    const connections = yield* connectionsOf(given["connections"] ?? {}, scope)
    const workflow = {
      ...without(given, (value, key) => isNull(value) || readOnly.has(key)),
      name,
      nodes,
      connections,
      settings: without(settings, (value) => isNull(value) || value === "")
    }
    return { workflow: groupsPruned(workflow, repairs), warnings: sentences(repairs) }
  })

const longestName = 128

const nameOf = (name: unknown): Checked<string> => {
  if (isNull(name) || name === "") {
    return refuse("name", "The workflow has no name: add a 'name' (what is copied from n8n's editor has none).")
  }
  if (!Predicate.isString(name)) return refuse("name", "The workflow's name must be a string.")
  const length = [...name].length
  return length <= longestName
    ? Result.succeed(name)
    : refuse("name", `The workflow's name has ${length} characters; n8n takes ${longestName}.`)
}

// ---- nodes

/** What n8n takes in the keys of a node that it knows. */
const kinds = {
  "a string": "id webhookId notes onError",
  "a number": "typeVersion maxTries waitBetweenTries",
  "a boolean": "disabled notesInFlow executeOnce alwaysOutputData retryOnFail continueOnFail",
  "an object": "parameters credentials"
}
const kindOf = Object.entries(kinds).flatMap(([kind, keys]) => keys.split(" ").map((key) => [key, kind] as const))

const numeric = (value: unknown): number | undefined =>
  Predicate.isString(value) && value.trim() !== "" ? num(Number(value)) : num(value)

/** The value as that kind, where it can mean but one. */
const readAs = (kind: string, value: unknown): unknown => {
  switch (kind) {
    case "a string":
      return Predicate.isNumber(value) ? String(value) : str(value)
    case "a number":
      return numeric(value)
    case "a boolean":
      return value === "true" ? true : value === "false" ? false : Predicate.isBoolean(value) ? value : undefined
  }
  return objectOf(value)
}

type Node = Obj & { readonly name: string }

const nodeOf = (value: unknown, path: string, repairs: Repairs): Checked<Node> => {
  const given = obj(value)
  if (given === undefined) return refuse(path, `${path} is no node: {name, type, typeVersion, position, parameters}.`)
  const [name, type] = [str(given["name"]) ?? "", str(given["type"]) ?? ""]
  if (name === "") return refuse(`${path}.name`, `${path} has no name.`)
  if (type === "") return refuse(`${path}.type`, `Node '${name}' has no type.`)
  const node = new Map<string, unknown>(
    Object.entries({ ...without(given, isNull), parameters: given["parameters"] ?? {} })
  )
  for (const [key, kind] of kindOf) {
    if (!node.has(key)) continue
    const meant = readAs(kind, node.get(key))
    if (meant === undefined) return refuse(`${path}.${key}`, `${key} of node '${name}' must be ${kind}.`)
    if (meant !== node.get(key)) note(repairs, `Read ${key} as ${kind}`, `'${name}'`)
    node.set(key, key === "credentials" ? without(obj(meant) ?? {}, isNull) : meant)
  }
  return node.has("typeVersion")
    ? Result.succeed({ ...Object.fromEntries(node), name })
    : refuse(`${path}.typeVersion`, `Node '${name}' (${type}) has no typeVersion.`)
}

type Nodes = {
  readonly nodes: ReadonlyArray<Node>
  /** The names as given: connections mean the first of two namesakes, and never one that was just made up. */
  readonly names: ReadonlySet<string>
  readonly byId: ReadonlyMap<string, string>
}

const nodesOf = (given: unknown, newId: () => string, repairs: Repairs): Checked<Nodes> =>
  Result.gen(function*() {
    if (!Array.isArray(given)) return yield* refuse("nodes", "'nodes' must be a list of nodes.")
    const read: Array<Node> = []
    for (const [index, value] of given.entries()) read.push(yield* nodeOf(value, `nodes[${index}]`, repairs))
    const names = new Set(read.map((node) => node.name))
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
      if (id === "") note(repairs, "Gave ids to nodes without", `'${name}'`)
      else if (byId.has(id)) note(repairs, "Gave new ids to nodes whose id was taken", `'${name}'`)
      else byId.set(id, name)
      return { ...node, name, id: byId.get(id) === name ? id : newId() }
    })
    return { nodes: placed(nodes, repairs), names, byId }
  })

/** `[x, y]`, `["x", "y"]` or `{x, y}`. */
const placeOf = (position: unknown): readonly [x: number, y: number] | undefined => {
  const at = obj(position)
  const [x, y] = (at === undefined ? Array.isArray(position) ? position : [] : [at["x"], at["y"]]).map(numeric)
  return x === undefined || y === undefined ? undefined : [x, y]
}

/** Nodes without a position stand in a row to the right of all others. */
const placed = (nodes: ReadonlyArray<Node>, repairs: Repairs): ReadonlyArray<Node> => {
  let [right, top] = [-220, 0]
  for (const node of nodes) {
    const place = placeOf(node["position"])
    // A sticky note is as wide as it says.
    const width = num(obj(node["parameters"])?.["width"]) ?? 0
    if (place !== undefined && place[0] + width > right) [right, top] = [place[0] + width, place[1]]
  }
  return nodes.map((node) => {
    const { position } = node
    if (Array.isArray(position) && position.length === 2 && position.every(Predicate.isNumber)) return node
    const place = placeOf(position)
    note(repairs, place === undefined ? "Placed nodes without a position" : "Read position as [x, y]", `'${node.name}'`)
    return { ...node, position: place ?? [right += 220, top] }
  })
}

/** n8n refuses groups that name a node which is gone, and groups of none. */
const groupsPruned = <W extends Obj & { readonly nodes: ReadonlyArray<Obj> }>(workflow: W, repairs: Repairs): W => {
  const groups = workflow["nodeGroups"]
  if (!Array.isArray(groups)) return workflow
  const ids = new Set(workflow.nodes.map((node) => node["id"]))
  const nodeGroups = groups.flatMap((group, index) => {
    const members = obj(group)?.["nodeIds"]
    if (!Array.isArray(members) || members.length === 0) return [group]
    const nodeIds = members.filter((id) => ids.has(id))
    if (nodeIds.length === members.length) return [group]
    note(repairs, "Took nodes that do not exist out of node groups", `nodeGroups[${index}]`)
    return nodeIds.length === 0 ? [] : [{ ...group, nodeIds }]
  })
  return { ...workflow, nodeGroups }
}

// ---- connections

type Target = { readonly node: string; readonly type: string; readonly index: number }
type Scope = Omit<Nodes, "nodes"> & Pick<Options, "source"> & { readonly repairs: Repairs }

/** The name of the node that is meant; `undefined` where a file names one that does not exist. */
const nodeNamed = (given: string, path: string, scope: Scope): Checked<string | undefined> => {
  const { byId, names, repairs, source } = scope
  const name = names.has(given) ? given : byId.get(given)
  if (name === undefined && source === "caller") {
    return Result.fail({ path, message: `There is no node '${given}'.`, name: given, candidates: [...names] })
  }
  if (name === undefined) note(repairs, "Left out connections of nodes that do not exist", `'${given}'`)
  else if (name !== given) note(repairs, "Connections named nodes by id; now they go by name", `'${name}'`)
  return Result.succeed(name)
}

const reshaped = "Repaired the shape of connections"

const targetOf = (given: unknown, type: string, path: string, scope: Scope): Checked<Target | undefined> =>
  Result.gen(function*() {
    const target = obj(Predicate.isString(given) ? { node: given } : given)
    const node = str(target?.["node"])
    if (node === undefined) return yield* refuse(path, `${path} must be {node, type, index}.`)
    const index = numeric(target?.["index"] ?? 0)
    if (index === undefined || index < 0 || !Number.isInteger(index)) {
      return yield* refuse(`${path}.index`, `${path}.index must be the number of an input: 0, 1, …`)
    }
    const meant = { ...target, node, type: str(target?.["type"]) || type, index }
    if (meant.type !== target?.["type"] || index !== target["index"]) note(scope.repairs, reshaped, path)
    const name = yield* nodeNamed(node, `${path}.node`, scope)
    return name === undefined ? undefined : { ...meant, node: name }
  })

/** One target where a list of them belongs. */
const isTarget = (value: unknown) => Predicate.isString(value) || obj(value) !== undefined

/** The outputs of one type, each a list of targets or, where it is not used, nothing. */
const outputsOf = (given: unknown, path: string, repairs: Repairs): Checked<ReadonlyArray<unknown>> => {
  const list: unknown = isNull(given) ? [] : isTarget(given) ? [given] : given
  if (!Array.isArray(list) || !list.every((each) => isNull(each) || Array.isArray(each) || isTarget(each))) {
    return refuse(path, `${path} must be a list of outputs, each a list of {node, type, index}.`)
  }
  const flat = list.filter(isTarget).length
  if (flat > 1 && flat === list.length) {
    return refuse(path, `${path} is one level too flat: [[a, b]] is two on the first output, [[a], [b]] one on each.`)
  }
  if (flat > 0 || list !== given) note(repairs, reshaped, path)
  return Result.succeed(list.map((each) => isTarget(each) ? [each] : each))
}

/** Outputs by type; where the type is left out, it is `main`. */
const typesOf = (given: unknown, path: string, repairs: Repairs): Checked<Obj> => {
  const types = obj(given)
  if (types !== undefined && !Predicate.isString(types["node"])) return Result.succeed(types)
  if (!isNull(given) && !isTarget(given) && !Array.isArray(given)) return refuse(path, `${path} must be {main: [[…]]}.`)
  note(repairs, reshaped, path)
  return Result.succeed(isNull(given) ? {} : { main: given })
}

/** A node that was removed can leave an entry without links behind. */
const isEmpty = (value: unknown, depth = 3): boolean =>
  isNull(value) || depth > 0 && Predicate.isObjectOrArray(value) &&
    Object.values(value).every((each) => isEmpty(each, depth - 1))

type Outputs = Array<Map<string, Target> | null>

const connectionsOf = (given: unknown, scope: Scope): Checked<Connections> =>
  Result.gen(function*() {
    const sources = objectOf(given)
    if (sources === undefined) return yield* refuse("connections", "'connections' must be {[node]: {main: [[…]]}}.")
    const connections = new Map<string, Map<string, Outputs>>()
    for (const [key, value] of Object.entries(sources)) {
      if (!scope.names.has(key) && !scope.byId.has(key) && isEmpty(value)) continue
      const from = yield* nodeNamed(key, `connections.${key}`, scope)
      if (from === undefined) continue
      // A node can be there twice, by name and by id.
      const types = connections.get(from) ?? new Map<string, Outputs>()
      connections.set(from, types)
      for (const [type, outputs] of Object.entries(yield* typesOf(value, `connections.${key}`, scope.repairs))) {
        const path = `connections.${key}.${type}`
        const all = types.get(type) ?? []
        types.set(type, all)
        for (const [index, targets] of (yield* outputsOf(outputs, path, scope.repairs)).entries()) {
          all[index] ??= Array.isArray(targets) ? new Map() : null
          if (Array.isArray(targets)) yield* linked(targets, all[index] ?? new Map(), type, `${path}[${index}]`, scope)
        }
      }
    }
    return Object.fromEntries(
      [...connections].map(([from, types]) => [
        from,
        Object.fromEntries([...types].map(([type, all]) => [type, all.map((links) => links && [...links.values()])]))
      ])
    )
  })

/** Adds the targets that one output has, each once. */
const linked = (
  targets: ReadonlyArray<unknown>,
  links: Map<string, Target>,
  type: string,
  path: string,
  scope: Scope
): Checked<void> =>
  Result.gen(function*() {
    for (const [index, given] of targets.entries()) {
      const target = isNull(given) ? undefined : yield* targetOf(given, type, `${path}[${index}]`, scope)
      if (isNull(given)) note(scope.repairs, reshaped, path)
      if (target === undefined) continue
      const key = JSON.stringify([target.node, target.type, target.index])
      if (links.has(key)) note(scope.repairs, "Merged duplicate connections", path)
      links.set(key, target)
    }
  })

// ---- updates

/**
 * Gives nodes that a caller wrote anew what it left out and cannot know, from the nodes as they are.
 *
 * **Details**
 *
 * A node inherits from the current node of its id, else from the one of its name if no other node has that one's id;
 * nobody inherits twice. `id` and `position` are inherited and, while the type is the same, `credentials`, `webhookId`
 * and `typeVersion`. All else that is left out is taken away, `parameters` too.
 *
 * **Gotchas**
 *
 * `credentials: {}` removes the credentials; `credentials: null` counts as left out.
 */
export const inherit = (nodes: ReadonlyArray<unknown>, current: ReadonlyArray<Obj>): ReadonlyArray<unknown> => {
  const by = (key: string) => new Map(current.flatMap((node) => isMissing(node[key]) ? [] : [[node[key], node]]))
  const [byId, byName] = [by("id"), by("name")]
  const claimed = new Set(nodes.map((node) => byId.get(obj(node)?.["id"])))
  const used = new Set<Obj>()
  return nodes.map((given) => {
    const node = obj(given)
    const namesake = byName.get(node?.["name"])
    const from = byId.get(node?.["id"]) ?? (claimed.has(namesake) ? undefined : namesake)
    if (node === undefined || from === undefined || used.has(from)) return given
    used.add(from)
    const isSameType = isNull(node["type"]) || node["type"] === from["type"]
    const keys = isSameType ? ["id", "position", "credentials", "webhookId", "typeVersion"] : ["id", "position"]
    const left = keys.filter((key) => isMissing(node[key]) && !isMissing(from[key]))
    return left.length === 0 ? given : { ...node, ...Object.fromEntries(left.map((key) => [key, from[key]])) }
  })
}

const isMissing = (value: unknown) => isNull(value) || value === ""
