/** Parameters that decide about what a node sends: the shown ones with a value of their own, in few levels. Pure. */
import { equals, type Obj, obj, own, str } from "../../base/Json.ts"
import * as JsonPath from "../../base/JsonPath.ts"
import type { Node } from "../../n8n/model/Workflow.ts"
import {
  at,
  defaultVersion,
  type Description,
  groups,
  members,
  type NodeType,
  type Property
} from "../types/NodeType.ts"
import * as ParameterRules from "./ParameterRules.ts"
import * as ParameterValues from "./ParameterValues.ts"

interface Unresolved {
  readonly path: string
  readonly reason: string
}

/** Names of parameters that say what happens to the target. */
export const verbs: ReadonlyArray<string> = ["method", "requestMethod", "resource", "operation"]

/** Parameters by name; expressions are as written. */
export interface Shape {
  readonly values: Obj
  /** Values that n8n's records do not determine though they are not expressions. */
  readonly open: ReadonlyArray<Unresolved>
  /** Names of those that name the target. */
  readonly targets: ReadonlyArray<string>
  readonly isOnce: boolean
}

/** Names of targets that are not resource locators. */
const target =
  /^(?:url|uri|endpoint|path|host|schema|table|tableName|collection|index|database|bucketName|fileKey|query|topic|queue|exchange|channel|channels|to|toEmail|sendTo|toRecipients|recipients?|toAddresses|phoneNumber|key|filePath|redirectURL)$|Id$/

const element = /^(?:name|key|column|columnName|fieldId|fieldName|property|propertyName|keyName)$/

/** Options about when something is sent, not what. */
const pace = new Set(["batching", "timeout"])

const remarks = new Set(["notice", "callout", "button", "curlImport"])

const locators = new Set(["resourceLocator", "workflowSelector", "agentSelector"])

const ofInput = "={{ $json }}"

const isAutomatic = (value: unknown) => value === "autoMapInputData"

/** Pairs of a literal name and a value as an object, if the names differ. */
const named = (list: ReadonlyArray<Obj>): Obj | undefined => {
  const pairs = list.map((each): readonly [string, unknown] | undefined => {
    const [[key = "", name] = [], second, more] = Object.entries(each)
    const isPair = second !== undefined && more === undefined && element.test(key)
    return isPair && typeof name === "string" && name !== "" && !name.startsWith("=") ? [name, second[1]] : undefined
  })
  const known = pairs.filter((pair) => pair !== undefined)
  return known.length === list.length && new Set(known.map(([name]) => name)).size === list.length
    ? Object.fromEntries(known)
    : undefined
}

/** Reason why a text is not what is sent. */
const openness = (property: Property, value: string, type: string): string | undefined =>
  /binary|^inputDataFieldName$/i.test(property.name) && value !== ""
    ? "n8n does not record files"
    : /^(?:sql|html)$/.test(ParameterValues.codeExtension(property) ?? "") && /^[^=][^]*\{\{/.test(value)
    ? "the node itself replaces {{ }}"
    : type.endsWith(".toolHttpRequest") && /\{[\w-]+\}/.test(value)
    ? "the model's values"
    : undefined

const reducer = (type: string, open: Array<Unresolved>, isSwitch: (property: Property) => boolean) => {
  const value = (property: Property, given: unknown, path: string): unknown => {
    if (property.type === "collection") {
      return Array.isArray(given)
        ? given.map((each, index) => reduced(members(property), obj(each) ?? {}, JsonPath.member(path, index), false))
        : reduced(members(property), obj(given) ?? {}, path, false)
    }
    if (property.type === "fixedCollection") {
      const all = groups(property).flatMap(({ name, values }) => {
        const group = own(given, name)
        if (group === undefined) return []
        const here = Object.keys(obj(given) ?? {}).length === 1 ? path : JsonPath.member(path, name)
        if (!Array.isArray(group)) return [[name, reduced(values, obj(group) ?? {}, here, true)] as const]
        const list = group.map((each, index) => reduced(values, obj(each) ?? {}, JsonPath.member(here, index), true))
        return [[name, named(list) ?? list] as const]
      })
      return all.length === 1 ? all[0]?.[1] : Object.fromEntries(all)
    }
    if (own(given, "__rl") !== undefined) return own(given, "value")
    if (property.type === "resourceMapper") {
      const { mappingMode, matchingColumns, value: columns } = obj(given) ?? {}
      const keys = Array.isArray(matchingColumns) && matchingColumns.length > 0 ? { matchingColumns } : {}
      return { ...(isAutomatic(mappingMode) ? { input: ofInput } : obj(columns)), ...keys }
    }
    const reason = typeof given === "string" ? openness(property, given, type) : undefined
    if (reason !== undefined) open.push({ path, reason })
    return given
  }
  const reduced = (properties: ReadonlyArray<Property>, values: Obj, path: string, isElement: boolean): Obj =>
    Object.fromEntries(
      Object.entries(values).flatMap(([name, given]) => {
        const all = properties.filter((property) => property.name === name)
        const property = all.at(-1)
        if (property === undefined || given === undefined || remarks.has(property.type) || pace.has(name)) return []
        const isText = isElement && !["options", "boolean", "hidden"].includes(property.type)
        const isDefault = !isText && all.some((each) => equals(each.default, given))
        if (isDefault && !(path === "" && verbs.includes(name) && property.type !== "hidden") || isSwitch(property)) {
          return []
        }
        const inner = value(property, given, JsonPath.member(path, name))
        return inner === undefined || equals(inner, {}) ? [] : [[name, inner]]
      })
    )
  return reduced
}

/** Types that run once for all items, and modes of others that do. */
const onceTypes = /\.(?:respondToWebhook|aggregate|summarize|merge|limit|sort|wait|form|function)$/
const onceModes = new Set(["once", "runOnceForAllItems"])

/** Body of a response without one of its own. */
const responses: { readonly [respondWith: string]: string } = {
  firstIncomingItem: ofInput,
  allIncomingItems: "={{ $input.all().map((item) => item.json) }}"
}

const shapeOf = (description: Description | undefined, type: string, node: ParameterRules.Node): Shape => {
  const isRespond = type.endsWith(".respondToWebhook")
  const open: Array<Unresolved> = []
  const all = description === undefined ? node.parameters : ParameterRules.complete(description, node)
  const properties = description === undefined ? [] : ParameterRules.applying(description, node)
  const deciding = new Set(
    description?.properties.flatMap(({ displayOptions }) => Object.keys(displayOptions?.show ?? {}))
  )
  const isSwitch = ({ name, type }: Property) =>
    type === "boolean" && deciding.has(name) && typeof all[name] === "boolean" || /^specify[A-Z]/.test(name)
  const reduced = description === undefined ? all : reducer(type, open, isSwitch)(properties, all, "", false)
  const response = isRespond ? responses[str(all["respondWith"]) ?? ""] : undefined
  const values = {
    ...reduced,
    ...(isAutomatic(all["dataMode"]) ? { input: ofInput } : {}),
    ...(response === undefined ? {} : { responseBody: response })
  }
  const isTarget = (name: string) =>
    target.test(name) ||
    properties.some((each) => each.name === name && locators.has(each.type) && !/model/i.test(name))
  return {
    values,
    open,
    targets: Object.keys(values).filter(isTarget),
    isOnce: onceTypes.test(type) || onceModes.has(str(all["mode"]) ?? "")
  }
}

export const hasExpression = (value: unknown): boolean =>
  typeof value === "string" ? value.startsWith("=") : obj(value) !== undefined || Array.isArray(value)
    ? Object.values(value as Obj).some(hasExpression)
    : false

const shapes = new WeakMap<Node, Map<string, Shape>>()

/** Top-level parameters with expressions on which the visibility of others depends. */
const decidingOf = (description: Description | undefined, parameters: Obj): ReadonlyArray<string> => {
  const names = Object.keys(parameters).filter((name) => hasExpression(parameters[name]))
  if (names.length === 0) return names
  const rules = new Set(
    description?.properties.flatMap(({ displayOptions }) =>
      Object.keys({ ...displayOptions?.show, ...displayOptions?.hide }).map((name) => name.replace(/^\//, ""))
    )
  )
  return names.filter((name) => rules.has(name))
}

/** File extensions of parameters that hold code, by their names. */
export const codeOf = (description: Pick<Description, "properties"> | undefined): ReadonlyMap<string, string> =>
  new Map(
    description?.properties.flatMap((property) => {
      const extension = ParameterValues.codeExtension(property)
      return extension === undefined ? [] : [[property.name, extension] as const]
    })
  )

export interface Sending {
  readonly deciding: ReadonlyArray<string>
  /** File extensions of the parameters that hold code, by their names. */
  readonly code: ReadonlyMap<string, string>
  readonly shaped: (decided: Obj) => Shape
}

/** Prepares the reduction of a node's parameters; without a type, all of them are taken as they are. */
export const of = (type: NodeType | undefined, node: Node): Sending => {
  const typeVersion = node.typeVersion ?? (type === undefined ? 1 : defaultVersion(type))
  const description = type && (at(type, typeVersion) ?? type.descriptions[0])
  const parameters = obj(node.parameters) ?? {}
  const shaped = (decided: Obj): Shape => {
    const key = JSON.stringify(decided)
    const known = shapes.get(node) ?? new Map<string, Shape>()
    shapes.set(node, known)
    const shape = known.get(key) ??
      shapeOf(description, node.type, { typeVersion, parameters: { ...parameters, ...decided } })
    if (known.size < 20) known.set(key, shape)
    return shape
  }
  return { deciding: decidingOf(description, parameters), code: codeOf(description), shaped }
}
