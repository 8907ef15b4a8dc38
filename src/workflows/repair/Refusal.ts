/**
 * What n8n's 400 refuses of a workflow, so that just that can be left out and the rest written.
 *
 * 2.x names the keys. 1.x only says that there are too many (`request/body/settings must NOT have additional
 * properties`), and 2.x is built like it up to 2.30; so it is known here which n8n takes what: tried on 1.123 and 2.41,
 * between them read from the API descriptions of 1.60, 2.0, 2.20, 2.30 and 2.35.
 */
import * as Predicate from "effect/Predicate"
import { arr, type Obj, obj, own } from "../../base/Json.ts"
import { type NodeKey, nodeKeys } from "../../n8n/model/NodeKeys.ts"
import { readOnly } from "./WorkflowInput.ts"

/** Where in the body: keys of objects, indices of lists. */
export type Path = ReadonlyArray<string | number>

/** What n8n takes at one place. */
type Known = {
  /** Never left out: without these it is another workflow. */
  readonly needed: ReadonlySet<string>
  /** What every n8n takes besides. */
  readonly old: ReadonlySet<string>
  /** What only newer ones take, by generation, the newest first. */
  readonly newer: ReadonlyArray<ReadonlyArray<string>>
}

const words = (text: string) => text.split(" ")

const root: Known = {
  needed: new Set(words("name nodes connections settings")),
  old: new Set(["staticData"]),
  // A POST takes projectId longer than description, a PUT never does.
  newer: [["parentFolderId"], ["nodeGroups"], ["description"], ["projectId"], ["pinData"]]
}
const settings: Known = {
  needed: new Set(),
  old: new Set([
    ...words("saveExecutionProgress saveManualExecutions saveDataErrorExecution saveDataSuccessExecution"),
    ...words("executionTimeout errorWorkflow timezone executionOrder")
  ]),
  newer: [
    words("credentialResolverId timeSavedMode binaryMode"),
    words("redactionPolicy customTelemetryTags"),
    words("availableInMCP"),
    words("timeSavedPerExecution callerIds callerPolicy")
  ]
}
const keysOfNodes = (isTaken: (key: NodeKey) => boolean) =>
  [...nodeKeys].flatMap(([name, key]) => isTaken(key) ? [name] : [])
const node: Known = {
  needed: new Set(keysOfNodes(({ isEssential }) => isEssential === true)),
  old: new Set(keysOfNodes(({ isEssential, since }) => isEssential !== true && since === undefined)),
  newer: [keysOfNodes(({ since }) => since !== undefined)]
}

const isNode = (path: Path) => path.length === 2 && path[0] === "nodes"
const knownAt = (path: Path): Known | undefined =>
  path.length === 0 ? root : isNode(path) ? node : path.length === 1 && path[0] === "settings" ? settings : undefined

/** Of a list only an item, not its length. */
const inside = (value: unknown, key: string | number): unknown =>
  Array.isArray(value) && !Predicate.isNumber(key) ? undefined : own(value, key)
const valueAt = (body: Obj, path: Path): unknown => path.reduce<unknown>(inside, body)

/** The keys out of `'a', 'b'`: n8n lists them in the order they have in the object, and quotes nothing in them. */
const listedIn = (list: string, keys: ReadonlyArray<string>): ReadonlyArray<string> => {
  let rest = list
  return keys.filter((key) => {
    const quoted = `'${key}'`
    if (rest !== quoted && !rest.startsWith(`${quoted}, `)) return false
    rest = rest.slice(quoted.length + 2)
    return true
  })
}

/** What is too much where n8n does not say: what no n8n takes, else the newest of what only newer ones take. */
const surplus = (keys: ReadonlyArray<string>, { needed, newer, old }: Known): ReadonlyArray<string> => {
  const later = new Set(newer.flat())
  const generations = [keys.filter((key) => !needed.has(key) && !old.has(key) && !later.has(key)), ...newer]
  return generations.map((some) => some.filter((key) => keys.includes(key))).find((some) => some.length > 0) ?? []
}

/** These keys at that place; of a node, the same keys of every node, which n8n would refuse one after the other. */
const everywhere = (path: Path, keys: ReadonlyArray<string>, body: Obj): ReadonlyArray<Path> => {
  const places = isNode(path) ? arr(body["nodes"]).map((_, index): Path => ["nodes", index]) : [path]
  return places.flatMap((place) => keys.map((key): Path => [...place, key]))
}

/** Without its place, a workflow would land in another project. */
const location: ReadonlySet<string | number> = new Set(["projectId", "parentFolderId"])

/** The smallest part that can be left out because of a value that n8n does not take: of a node, only what is null. */
const optional = (path: Path, body: Obj): ReadonlyArray<Path> => {
  const [top = "", second = ""] = path
  if (top === "settings") return second === "" ? [] : [["settings", second]]
  if (top === "nodes") {
    return everywhere(path.slice(0, 2), path.slice(2, 3).map(String), body).filter((at) => valueAt(body, at) === null)
  }
  return location.has(top) || root.needed.has(String(top)) ? [] : [path.slice(0, Array.isArray(body[top]) ? 2 : 1)]
}

/** Whether there is no workflow without it. */
const isNeeded = (path: Path) =>
  path.length === 0 || isNode(path) || knownAt(path.slice(0, -1))?.needed.has(String(path.at(-1))) === true

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
 * The parts of `body` that n8n refuses with this message, as paths to `drop`; none when it is about something else.
 *
 * **When to use**
 *
 * After a 400: drop them, write again, and name them in the warnings. Each path exists in `body`, so this ends.
 *
 * **Details**
 *
 * Left out are: keys that this n8n does not know, read-only keys, values in settings and in optional keys at the root
 * that it does not take, and nulls in nodes. Never: name, nodes, connections and settings themselves; of a node its
 * name, type, typeVersion, position and parameters, nor any value: without its `disabled: "yes"` a node would run.
 */
export const toDrop = (message: string, body: Obj): ReadonlyArray<Path> => {
  const [, pointer = "", words] = /^request\/body(\/\S+)? (.+)$/s.exec(message) ?? []
  if (words === undefined) return []
  const path = pointer.split("/").slice(1).map((part) => /^\d+$/.test(part) ? Number(part) : part)
  return refused(path, words, body).filter((at) => valueAt(body, at) !== undefined && !isNeeded(at))
}

/** The body without what is at `path`; the body itself where there is nothing. */
export const drop = (body: Obj, path: Path): Obj => obj(without(body, path)) ?? body

const without = (value: unknown, [key, ...rest]: Path): unknown => {
  if (key === undefined || inside(value, key) === undefined) return value
  if (Array.isArray(value)) {
    return rest.length === 0
      ? value.toSpliced(Number(key), 1)
      : value.with(Number(key), without(value[Number(key)], rest))
  }
  const { [key]: inner, ...others } = obj(value) ?? {}
  return rest.length === 0 ? others : { ...obj(value), [key]: without(inner, rest) }
}
