/** Reads connections of callers and files, by name or id, and repairs their shape and ports. */
import * as Predicate from "effect/Predicate"
import * as Result from "effect/Result"
import { obj, str } from "../../base/Json.ts"
import { member } from "../../base/JsonPath.ts"
import type { Port as NamedPort } from "../../catalogue/types/Ports.ts"
import { type Connections, isType, type Port } from "../../n8n/model/Connections.ts"
import { resolvePort } from "../PortNames.ts"
import type { Nodes } from "./nodesInput.ts"
import { type Checked, isNull, note, numeric, objectOf, refuse, type Repairs, type Source } from "./Repairs.ts"

type Target = { readonly node: string; readonly type: string; readonly index: number }
export interface Scope extends Omit<Nodes, "nodes"> {
  readonly source: Source
  readonly repairs: Repairs
  /** Outputs of a node by name; `undefined` if they are not known. */
  readonly outputs: (name: string) => ReadonlyArray<NamedPort> | undefined
}

/** Name of the node that a word refers to; `undefined` if a file names one that does not exist. */
const nodeNamed = (word: string, path: string, scope: Scope): Checked<string | undefined> => {
  const { byId, names, repairs, source } = scope
  const name = names.has(word) ? word : byId.get(word)
  if (name === undefined && source === "caller") {
    return Result.fail({ path, message: `There is no node '${word}'.`, name: word, candidates: [...names] })
  }
  if (name === undefined) note(repairs, "Left out connections of nodes that do not exist", `'${word}'`)
  else if (name !== word) note(repairs, "Connections named nodes by id; now they go by name", `'${name}'`)
  return Result.succeed(name)
}

const reshaped = "Repaired the shape of connections"

const targetOf = (value: unknown, type: string, path: string, scope: Scope): Checked<Target | undefined> =>
  Result.gen(function*() {
    const target = obj(Predicate.isString(value) ? { node: value } : value)
    const node = str(target?.["node"])
    if (node === undefined) return yield* refuse(path, `${path} must be {node, type, index}.`)
    const index = numeric(target?.["index"] ?? 0)
    if (index === undefined || index < 0 || !Number.isInteger(index)) {
      const at = member(path, "index")
      return yield* refuse(at, `${at} must be the number of an input: 0, 1, …`)
    }
    const written = str(target?.["type"]) || type
    const isPort = isType(written) || scope.source === "stored"
    const complete = { ...target, node, type: isPort ? written : type, index }
    if (complete.type !== target?.["type"] || index !== target["index"]) note(scope.repairs, reshaped, path)
    const name = yield* nodeNamed(node, member(path, "node"), scope)
    return name === undefined ? undefined : { ...complete, node: name }
  })

const isTarget = (value: unknown) => Predicate.isString(value) || obj(value) !== undefined

const outputsOf = (value: unknown, path: string, repairs: Repairs): Checked<ReadonlyArray<unknown>> => {
  const list: unknown = isNull(value) ? [] : isTarget(value) ? [value] : value
  if (!Array.isArray(list) || !list.every((each) => isNull(each) || Array.isArray(each) || isTarget(each))) {
    return refuse(path, `${path} must be a list of outputs, each a list of {node, type, index}.`)
  }
  const flat = list.filter(isTarget).length
  if (flat > 1 && flat === list.length) {
    return refuse(path, `${path} is one level too flat: [[a, b]] is two on the first output, [[a], [b]] one on each.`)
  }
  if (flat > 0 || list !== value) note(repairs, reshaped, path)
  return Result.succeed(list.map((each) => isTarget(each) ? [each] : each))
}

/** Links of one output, as a list of them or a list of outputs with one that is used; else the value. */
const linksOf = (value: unknown): unknown => {
  const lists = Array.isArray(value) ? value.filter((each) => Array.isArray(each) && each.length > 0) : []
  return Array.isArray(value) && value.every((each) => isNull(each) || Array.isArray(each))
    ? lists.length > 1 ? value : lists[0] ?? []
    : isTarget(value)
    ? [value]
    : value
}

/** Output that a key beside `main` means, with its links; a key that is an output's number or name carries nothing. */
const portOf = (
  key: string,
  outputs: unknown,
  from: string,
  path: string,
  scope: Scope
): Checked<{ readonly port: Port; readonly outputs: unknown }> => {
  // n8n refuses outputs that are not a list.
  const isWritten = isType(key) || scope.source === "stored" && !key.endsWith("]")
  if (isWritten || /^main$/i.test(key)) {
    if (!isWritten) note(scope.repairs, reshaped, path)
    return Result.succeed({ port: { type: isWritten ? key : "main", index: 0 }, outputs })
  }
  const port = Result.getOrUndefined(resolvePort({ name: from, outputs: scope.outputs(from) }, "output", key, "main"))
  const links = linksOf(outputs)
  const isClear = isNull(links) || Array.isArray(links) && links.every((each) => isNull(each) || isTarget(each))
  if (port === undefined || port.isNewError === true || !isClear) {
    return refuse(path, `${path} is not an output: write main: [[links of output 0], [links of output 1], …].`)
  }
  note(scope.repairs, "Moved connections to the outputs that they name", path)
  return Result.succeed({ port, outputs: [...Array.from({ length: port.index }, () => null), links ?? null] })
}

/** Outputs of a node by key; the numbers of outputs below a type are keys such as `main[1]`. */
const typesOf = (
  value: unknown,
  path: string,
  repairs: Repairs
): Checked<ReadonlyArray<readonly [string, unknown]>> => {
  const types = obj(value)
  if (types !== undefined && !Predicate.isString(types["node"])) {
    return Result.succeed(
      Object.entries(types).flatMap(([type, outputs]) => {
        const byNumber = Object.entries(obj(outputs) ?? {})
        return byNumber.length > 0 && byNumber.every(([key]) => /^\d{1,3}$/.test(key))
          ? byNumber.map(([key, links]) => [`${type}[${key}]`, links] as const)
          : [[type, outputs] as const]
      })
    )
  }
  if (!isNull(value) && !isTarget(value) && !Array.isArray(value)) return refuse(path, `${path} must be {main: [[…]]}.`)
  note(repairs, reshaped, path)
  return Result.succeed(isNull(value) ? [] : [["main", value]])
}

const isEmpty = (value: unknown, depth = 3): boolean =>
  isNull(value) || depth > 0 && Predicate.isObjectOrArray(value) &&
    Object.values(value).every((each) => isEmpty(each, depth - 1))

type Outputs = Array<Map<string, Target> | null>

export const connectionsOf = (input: unknown, scope: Scope): Checked<Connections> =>
  Result.gen(function*() {
    const sources = objectOf(input)
    if (sources === undefined) return yield* refuse("connections", "'connections' must be {[node]: {main: [[…]]}}.")
    const connections = new Map<string, Map<string, Outputs>>()
    for (const [key, value] of Object.entries(sources)) {
      if (!scope.names.has(key) && !scope.byId.has(key) && isEmpty(value)) continue
      const at = member("connections", key)
      const from = yield* nodeNamed(key, at, scope)
      if (from === undefined) continue
      // A node can occur twice, by name and by id.
      const types = connections.get(from) ?? new Map<string, Outputs>()
      connections.set(from, types)
      for (const [word, written] of yield* typesOf(value, at, scope.repairs)) {
        const path = member(at, word)
        const { outputs, port: { type } } = yield* portOf(word, written, from, path, scope)
        const all = types.get(type) ?? []
        types.set(type, all)
        for (const [index, targets] of (yield* outputsOf(outputs, path, scope.repairs)).entries()) {
          all[index] ??= Array.isArray(targets) ? new Map() : null
          if (Array.isArray(targets)) yield* linked(targets, all[index] ?? new Map(), type, member(path, index), scope)
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

const linked = (
  targets: ReadonlyArray<unknown>,
  links: Map<string, Target>,
  type: string,
  path: string,
  scope: Scope
): Checked<void> =>
  Result.gen(function*() {
    for (const [index, value] of targets.entries()) {
      const target = isNull(value) ? undefined : yield* targetOf(value, type, member(path, index), scope)
      if (isNull(value)) note(scope.repairs, reshaped, path)
      if (target === undefined) continue
      const key = JSON.stringify([target.node, target.type, target.index])
      if (links.has(key)) note(scope.repairs, "Merged duplicate connections", path)
      links.set(key, target)
    }
  })
