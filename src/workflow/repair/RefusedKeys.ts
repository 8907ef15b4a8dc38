/**
 * Finds the parts of a workflow that n8n refused with HTTP 400, so that the rest can be written without them.
 *
 * 2.x names the keys. 1.x only says that there are too many (`request/body/settings must NOT have additional
 * properties`), as does 2.x up to 2.30; so this module lists which n8n accepts which keys: tested on 1.123 and 2.41,
 * and read from the API descriptions of 1.60, 2.0, 2.20, 2.30 and 2.35.
 */
import * as Predicate from "effect/Predicate"
import { arr, type Obj, obj, own, without } from "../../base/Json.ts"
import * as JsonPath from "../../base/JsonPath.ts"
import { type NodeKey, nodeKeys } from "../../n8n/model/NodeKeys.ts"
import known from "./keys.json" with { type: "json" }
import { readOnly } from "./WorkflowInput.ts"

export type Path = ReadonlyArray<string | number>

/** Keys that n8n accepts at one place. */
type Known = {
  /** Never removed: without them it is a different workflow. */
  readonly needed: ReadonlyArray<string>
  /** Other keys that every n8n accepts. */
  readonly old: ReadonlyArray<string>
  /** Keys that only newer releases accept, by generation, the newest first. */
  readonly newer: ReadonlyArray<ReadonlyArray<string>>
}

// POST has accepted projectId for longer than description; PUT never does.
const { root, settings }: { readonly root: Known; readonly settings: Known } = known

/** Kinds of the settings that are not texts. */
const kinds: Readonly<Record<string, string>> = {
  availableInMCP: "boolean",
  customTelemetryTags: "list",
  executionTimeout: "number",
  saveExecutionProgress: "boolean",
  saveManualExecutions: "boolean",
  timeSavedPerExecution: "number"
}

const kindOf = (value: unknown) => Array.isArray(value) ? "list" : typeof value === "string" ? "text" : typeof value

/** Settings that no known release takes: those of an unknown name, and those with another kind of value. */
export const refusedSettings = (values: Obj) => {
  const names = new Set([...settings.old, ...settings.newer.flat()])
  const present = Object.keys(values).filter((key) => values[key] !== null && values[key] !== undefined)
  const unknown = present.filter((key) => !names.has(key))
  const misshapen = present.filter((key) => names.has(key) && kindOf(values[key]) !== (kinds[key] ?? "text"))
  return {
    keys: new Set([...unknown, ...misshapen]),
    unknown: unknown.map((key): Path => ["settings", key]),
    faults: misshapen.map((key) =>
      `n8n refuses the value of the setting '${key}', which is a ${kinds[key] ?? "text"}: left out`
    )
  }
}

const keysOfNodes = (isTaken: (key: NodeKey) => boolean) =>
  [...nodeKeys].flatMap(([name, key]) => isTaken(key) ? [name] : [])
const node: Known = {
  needed: keysOfNodes(({ isEssential }) => isEssential === true),
  old: keysOfNodes(({ isEssential, since }) => isEssential !== true && since === undefined),
  newer: [keysOfNodes(({ since }) => since !== undefined)]
}

const isNode = (path: Path) => path.length === 2 && path[0] === "nodes"
const knownAt = (path: Path): Known | undefined =>
  path.length === 0 ? root : isNode(path) ? node : path.length === 1 && path[0] === "settings" ? settings : undefined

/** Value at a key; in a list only an item, not its length. */
const inside = (value: unknown, key: string | number): unknown =>
  Array.isArray(value) && !Predicate.isNumber(key) ? undefined : own(value, key)
const valueAt = (body: Obj, path: Path): unknown => path.reduce<unknown>(inside, body)

/** Keys in a list `'a', 'b'`, which n8n writes in the order of the object and without escapes. */
const listedIn = (list: string, keys: ReadonlyArray<string>): ReadonlyArray<string> => {
  let rest = list
  return keys.filter((key) => {
    const quoted = `'${key}'`
    if (rest !== quoted && !rest.startsWith(`${quoted}, `)) return false
    rest = rest.slice(quoted.length + 2)
    return true
  })
}

/** Surplus keys if n8n does not name them: those that no n8n accepts, else the newest generation. */
const surplus = (keys: ReadonlyArray<string>, { needed, newer, old }: Known): ReadonlyArray<string> => {
  const later = new Set(newer.flat())
  const generations = [keys.filter((key) => !needed.includes(key) && !old.includes(key) && !later.has(key)), ...newer]
  const present = new Set(keys)
  return generations.map((some) => some.filter((key) => present.has(key))).find((some) => some.length > 0) ?? []
}

/** Paths of keys at a place; for a node, in every node, since n8n would refuse one after the other. */
const everywhere = (path: Path, keys: ReadonlyArray<string>, body: Obj): ReadonlyArray<Path> => {
  const places = isNode(path) ? arr(body["nodes"]).map((_, index): Path => ["nodes", index]) : [path]
  return places.flatMap((place) => {
    const holder = valueAt(body, place)
    return keys.flatMap((key): ReadonlyArray<Path> => inside(holder, key) === undefined ? [] : [[...place, key]])
  })
}

/** Keys without which a workflow would be created in another project. */
const location: ReadonlySet<string | number> = new Set(["projectId", "parentFolderId"])

/** Smallest removable part around a refused value; in a node only nulls. */
const optional = (path: Path, body: Obj): ReadonlyArray<Path> => {
  const [top = "", second = ""] = path
  if (top === "settings") return second === "" ? [] : [["settings", second]]
  if (top === "nodes") {
    return everywhere(path.slice(0, 2), path.slice(2, 3).map(String), body).filter((at) => valueAt(body, at) === null)
  }
  return location.has(top) || root.needed.includes(String(top)) ? [] : [path.slice(0, Array.isArray(body[top]) ? 2 : 1)]
}

const isNeeded = (path: Path) =>
  path.length === 0 || isNode(path) || knownAt(path.slice(0, -1))?.needed.includes(String(path.at(-1))) === true

const refused = (path: Path, words: string, body: Obj): ReadonlyArray<Path> => {
  const keys = Object.keys(obj(valueAt(body, path)) ?? {})
  const listed = /^Unrecognized key\(s\) in object: (.+)$/s.exec(words)?.[1]
  if (listed !== undefined) return everywhere(path, listedIn(listed, keys), body)
  const known = knownAt(path)
  if (known !== undefined && words.startsWith("must NOT have additional properties")) {
    return everywhere(path, surplus(keys, known), body)
  }
  if (!/^is read-only|^must pass "readOnly"/.test(words)) return optional(path, body)
  if (isNode(path.slice(0, -1))) return everywhere(path.slice(0, -1), path.slice(-1).map(String), body)
  return path.length === 1
    ? [path, ...[...readOnly].filter((key) => key !== path[0]).map((key) => [key])]
    : optional(path, body)
}

/**
 * Returns the parts of `body` that n8n refuses with this message, as paths to `drop`; none for other messages. After a
 * 400: drop them, retry, and name them in the warnings. Each path exists in `body`, so retries end. Dropped: keys that
 * this n8n does not know, read-only keys, values in settings and in optional keys at the root that it refuses, and
 * nulls in nodes. Never dropped: name, nodes, connections and settings themselves; name, type, typeVersion, position
 * and parameters of a node; any value in a node: without its `disabled: "yes"` it would run.
 */
export const toDrop = (message: string, body: Obj): ReadonlyArray<Path> => {
  const [, pointer = "", words] = /^request\/body(\/\S+)? (.+)$/s.exec(message) ?? []
  if (words === undefined) return []
  const path = pointer.split("/").slice(1).map((part) => /^\d+$/.test(part) ? Number(part) : part)
  return refused(path, words, body).filter((at) => valueAt(body, at) !== undefined && !isNeeded(at))
}

/** Removes the values at the paths, all of one object or list together. */
export const drop = (body: Obj, paths: ReadonlyArray<Path>): Obj =>
  [...Map.groupBy(paths, (path) => JSON.stringify(path.slice(0, -1))).values()].reduce((rest, group) => {
    const holder = group[0]?.slice(0, -1) ?? []
    const keys = new Set(group.map((path) => path.at(-1)))
    const value = valueAt(rest, holder)
    const object = obj(value)
    const remaining = Array.isArray(value)
      ? value.filter((_, index) => !keys.has(index))
      : object && without(object, (_, key) => keys.has(key))
    return remaining === undefined ? rest : obj(JsonPath.modify(rest, holder, () => remaining)) ?? rest
  }, body)
