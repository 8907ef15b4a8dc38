/** References of a workflow to others of its n8n: credentials, workflows, data tables. Pure. */
import { arr, defined, mapValues, type Obj, obj, own, str } from "../base/Json.ts"
import * as JsonPath from "../base/JsonPath.ts"
import type { Place } from "../workflow/NodeParameters.ts"

export interface NamedRef {
  readonly id: string
  readonly name: string
}

export type Reference =
  & { readonly node?: string }
  & (
    | { readonly kind: "credential"; readonly type: string; readonly id?: string; readonly name?: string }
    /** `isUsed`: whether the workflow would fail without it; `name` as the editor last showed it. */
    | {
      readonly kind: "workflow" | "table"
      readonly id: string
      readonly name?: string
      readonly isUsed: boolean
    }
  )

/** Returns the counterpart of a reference on another n8n; `undefined` leaves the reference unchanged. */
export type Resolve = (reference: Reference) => NamedRef | undefined

const isExpression = (value: string) => value.startsWith("=")

const inUrl = /\/workflow\/([\w-]+)/

const kindOf = ({ property: { modes = [], name, type } }: Place): "workflow" | "table" | undefined => {
  if (type === "workflowSelector") return "workflow"
  const isById = type === "string" || type === "resourceLocator" && modes.some((mode) => mode.name === "id")
  if (name === "workflowId" && isById) return "workflow"
  return name === "dataTableId" && type === "resourceLocator" ? "table" : undefined
}

const idIn = (value: unknown): string | undefined => {
  const plain = str(value) ?? str(own(value, "value"))
  if (plain === undefined || plain === "" || isExpression(plain) || own(value, "mode") === "name") return undefined
  return own(value, "mode") === "url" ? inUrl.exec(plain)?.[1] : plain
}

const moved = (kind: "workflow" | "table", value: unknown, { id, name }: NamedRef): unknown => {
  const locator = obj(value)
  if (locator === undefined) return id
  return Object.fromEntries(
    Object.entries(locator).flatMap(([key, inner]) => {
      if (key === "value") return [[key, id]]
      if (key === "mode") return [[key, inner === "url" ? "id" : inner]]
      if (key === "cachedResultName") return [[key, name]]
      if (key === "cachedResultUrl") {
        // A table's URL contains its project.
        return kind === "workflow" ? [[key, `/workflow/${id}`]] : []
      }
      return [[key, inner]]
    })
  )
}

const withParameters = (node: Obj, places: ReadonlyArray<Place>, resolve: Resolve): Obj => {
  const references = places.flatMap((place) => {
    const kind = kindOf(place)
    return kind === undefined ? [] : [{ ...place, kind }]
  })
  const byPath = Map.groupBy(references, ({ path }) => JSON.stringify(path))
  let parameters: unknown = node["parameters"]
  for (const same of byPath.values()) {
    const { kind, path, property, value } = same.find(({ isShown }) => isShown) ?? same[0] ?? {}
    const id = idIn(value)
    if (kind === undefined || path === undefined || id === undefined) continue
    // A hidden parameter is not used, and a plain id may be of another n8n that the node has a credential for.
    const isUsed = same.some(({ isShown }) => isShown) && (kind === "table" || property?.type === "workflowSelector")
    const ref = resolve(
      defined({ kind, id, isUsed, name: str(own(value, "cachedResultName")), node: str(node["name"]) })
    )
    if (ref !== undefined) parameters = JsonPath.modify(parameters, path, (old) => moved(kind, old, ref))
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
    const ref = id === undefined && name === undefined
      ? undefined
      : resolve(defined({ kind: "credential" as const, type, id, name, node: str(node["name"]) }))
    return ref === undefined ? credential : { ...obj(credential), id: ref.id, name: ref.name }
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

export const map = (content: Obj, placesOf: (node: unknown) => ReadonlyArray<Place>, resolve: Resolve): Obj =>
  mapValues(content, (value, key) => {
    if (key === "settings") return withSettings(obj(value) ?? {}, resolve)
    return key === "nodes"
      ? arr(value).map((node) => withCredentials(withParameters(obj(node) ?? {}, placesOf(node), resolve), resolve))
      : value
  })
