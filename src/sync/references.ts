/** What in a workflow belongs to its n8n: credentials, other workflows, data tables. Pure. */
import { arr, defined, mapValues, type Obj, obj, own, str } from "../base/Json.ts"
import type { Place } from "../workflows/NodeParameters.ts"

/** A credential, workflow or table on an n8n. */
export interface Thing {
  readonly id: string
  readonly name: string
}

/** Something that a workflow refers to. */
export type Reference =
  & { readonly node?: string }
  & (
    | { readonly kind: "credential"; readonly type: string; readonly id?: string; readonly name?: string }
    /** `isUsed`: whether n8n would fail without it. */
    | { readonly kind: "workflow" | "table"; readonly id: string; readonly isUsed: boolean }
  )

/** What stands for it on the other n8n; `undefined` leaves it as it is. */
export type Resolve = (reference: Reference) => Thing | undefined

const isExpression = (value: string) => value.startsWith("=")

const setAt = (value: unknown, path: ReadonlyArray<string | number>, change: (value: unknown) => unknown): unknown => {
  const [key, ...rest] = path
  if (key === undefined) return change(value)
  if (Array.isArray(value)) return value.map((each, index) => index === key ? setAt(each, rest, change) : each)
  return mapValues(obj(value) ?? {}, (inner, name) => name === key ? setAt(inner, rest, change) : inner)
}

const inUrl = /\/workflow\/([\w-]+)/

/** The kind of thing that a parameter names. */
const kindOf = ({ property: { modes = [], name, type } }: Place): "workflow" | "table" | undefined => {
  if (type === "workflowSelector") return "workflow"
  const isById = type === "string" || type === "resourceLocator" && modes.some((mode) => mode.name === "id")
  if (name === "workflowId" && isById) return "workflow"
  return name === "dataTableId" && type === "resourceLocator" ? "table" : undefined
}

/** The id that a locator or plain value names; a table's name is the same on every n8n. */
const idIn = (value: unknown): string | undefined => {
  const plain = str(value) ?? str(own(value, "value"))
  if (plain === undefined || plain === "" || isExpression(plain) || own(value, "mode") === "name") return undefined
  return own(value, "mode") === "url" ? inUrl.exec(plain)?.[1] : plain
}

const moved = (kind: "workflow" | "table", value: unknown, { id, name }: Thing): unknown => {
  const locator = obj(value)
  if (locator === undefined) return id
  return Object.fromEntries(
    Object.entries(locator).flatMap(([key, inner]) => {
      switch (key) {
        case "value":
          return [[key, id]]
        case "mode":
          return [[key, inner === "url" ? "id" : inner]]
        case "cachedResultName":
          return [[key, name]]
        case "cachedResultUrl":
          // A table's has its project in it.
          return kind === "workflow" ? [[key, `/workflow/${id}`]] : []
        default:
          return [[key, inner]]
      }
    })
  )
}

const withParameters = (node: Obj, places: ReadonlyArray<Place>, resolve: Resolve): Obj => {
  const found = places.flatMap((place) => {
    const kind = kindOf(place)
    return kind === undefined ? [] : [{ ...place, kind }]
  })
  const byPath = Map.groupBy(found, ({ path }) => JSON.stringify(path))
  let parameters: unknown = node["parameters"]
  for (const same of byPath.values()) {
    const { kind, path, property, value } = same.find(({ isShown }) => isShown) ?? same[0] ?? {}
    const id = idIn(value)
    if (kind === undefined || path === undefined || id === undefined) continue
    // What is not shown is not used, and a mere id may be of another n8n that the node has a credential for.
    const isUsed = same.some(({ isShown }) => isShown) && (kind === "table" || property?.type === "workflowSelector")
    const thing = resolve(defined({ kind, id, isUsed, node: str(node["name"]) }))
    if (thing !== undefined) parameters = setAt(parameters, path, (old) => moved(kind, old, thing))
  }
  return parameters === node["parameters"]
    ? node
    : mapValues(node, (inner, key) => key === "parameters" ? parameters : inner)
}

const withCredentials = (node: Obj, resolve: Resolve): Obj => {
  const credentials = obj(node["credentials"])
  if (credentials === undefined) return node
  const next = mapValues(credentials, (credential, type) => {
    const [id, name] = [str(own(credential, "id")), str(own(credential, "name")) ?? str(credential)]
    const thing = id === undefined && name === undefined
      ? undefined
      : resolve(defined({ kind: "credential" as const, type, id, name, node: str(node["name"]) }))
    return thing === undefined ? credential : { ...obj(credential), id: thing.id, name: thing.name }
  })
  return mapValues(node, (inner, key) => key === "credentials" ? next : inner)
}

const withSettings = (settings: Obj, resolve: Resolve): Obj =>
  mapValues(settings, (value, key) => {
    const text = str(value)
    if (text === undefined || text === "") return value
    const idOf = (id: string, isUsed: boolean) => resolve({ kind: "workflow", id, isUsed })?.id ?? id
    if (key === "errorWorkflow" && text !== "DEFAULT" && !isExpression(text)) return idOf(text, true)
    return key === "callerIds" ? text.split(",").map((id) => idOf(id.trim(), false)).join(",") : value
  })

/** The content of a workflow with what `resolve` gives for each thing that it refers to. */
export const map = (content: Obj, placesOf: (node: unknown) => ReadonlyArray<Place>, resolve: Resolve): Obj =>
  mapValues(content, (value, key) => {
    if (key === "settings") return withSettings(obj(value) ?? {}, resolve)
    return key === "nodes"
      ? arr(value).map((node) => withCredentials(withParameters(obj(node) ?? {}, placesOf(node), resolve), resolve))
      : value
  })
