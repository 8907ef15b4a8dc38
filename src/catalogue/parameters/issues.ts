/** Issues of parameters because of which n8n refuses to run or publish the workflow. */
import { arr, deeper, num, obj, own, str } from "../../base/Json.ts"
import type * as Problem from "../../base/Problem.ts"
import { choices, type Description, type Group, groups, members, type Mode, type Property } from "../types/NodeType.ts"
import { plain } from "../types/ParameterView.ts"
import * as FieldType from "./fieldType.ts"
import { at, isShown, matches, type Node, type Scope, scopeOf, text } from "./ParameterValues.ts"

/** Problem at a path below the node's `parameters`. */
export type Remark = Pick<Problem.Problem, "severity" | "path" | "message" | "fix">

/** Error of n8n, with the name under which n8n lists it. */
export interface Issue extends Remark {
  readonly name: string
}

/** Suggestion for an invalid name or value: the nearest candidates, or the first ones. */
export type Suggest = (name: string, candidates: Iterable<string>) => string

export const inWords = (value: unknown): string => {
  if (Array.isArray(value)) return value.length === 0 ? "an empty array" : `an array of ${value.length}`
  const keys = Object.keys(obj(value) ?? {})
  if (obj(value) !== undefined) {
    return keys.length === 0
      ? "an empty object"
      : `an object with ${keys.slice(0, 5).map((key) => key.slice(0, 40)).join(", ")}`
  }
  const string = str(value)
  if (string === undefined) return String(value)
  return string.length > 60 ? `'${string.slice(0, 60)}…'` : `'${string}'`
}

interface Place {
  readonly scope: Scope
  /** Place for items of the node's own fixed collections, where n8n looks for members of a collection beside it. */
  readonly kind: "root" | "item" | "nowhere"
  readonly path: string
}

/** Types whose values name a resource. */
export const locators = new Set(["resourceLocator", "workflowSelector", "agentSelector"])

const isFilled = (value: unknown): boolean => {
  const inner = obj(value) === undefined && !Array.isArray(value) ? value : own(value, "value")
  return typeof inner === "number" && inner !== value || Boolean(inner)
}

/** Whether n8n treats the value as missing where one is required. */
export const isMissing = ({ type }: Property, value: unknown): boolean =>
  type === "string" || type === "dateTime" || type === "options"
    ? value === "" || value === undefined
    : type === "multiOptions"
    ? Array.isArray(value) && value.length === 0
    : locators.has(type) && !isFilled(value)

const needed = (property: Property, suggest: Suggest): string => {
  const { description, hint, modes = [], name, placeholder, type } = property
  const values = choices(property).map(({ value }) => String(value))
  if (values.length > 0) return `Set '${name}'. ${suggest("", values)}`
  if (locators.has(type)) {
    const names = modes.map((mode) => mode.name).join(" | ")
    return `Set '${name}' to {__rl: true, mode: ${names === "" ? "…" : names}, value: …}.`
  }
  const example = placeholder === undefined || placeholder === "" ? "" : `, such as '${placeholder}'`
  const more = plain(hint ?? description, 150)
  return `Set '${name}'${example}${more === undefined ? "" : ` (${more})`}.`
}

const required = (property: Property, value: unknown, suggest: Suggest): ReadonlyArray<Finding> => {
  if (property.required !== true) return []
  const isList = property.typeOptions?.["multipleValues"] !== undefined
  const missing = isList ? arr(value).findIndex((one) => isMissing(property, one)) : isMissing(property, value) ? 0 : -1
  if (missing < 0) return []
  const message = `'${property.displayName}' (${property.name}) is required and is ${
    value === undefined ? "not set" : "empty"
  }.`
  return [{ message, fix: needed(property, suggest), at: isList ? [missing] : [] }]
}

interface Finding {
  readonly message: string
  readonly fix?: string
  readonly at?: ReadonlyArray<string | number>
  readonly name?: string
}

const invalidIn = ({ validation = [] }: Mode, value: string): ReadonlyArray<string> =>
  validation.flatMap(({ properties, type }) =>
    type === "regex" && properties?.regex !== undefined && matches(`^${properties.regex}$`, value) === false
      ? [`${properties.errorMessage ?? "It is not valid"}: it must match ${properties.regex.slice(0, 200)}`]
      : []
  )

const locator = ({ modes = [], name }: Property, value: unknown): ReadonlyArray<Finding> => {
  const object = obj(value)
  const mode = object && "value" in object ? modes.find((one) => one.name === object["mode"]) : undefined
  if (object === undefined || mode === undefined) return []
  const inner = text(object["value"] ?? "")
  if (inner.startsWith("=")) return []
  const example = mode.placeholder === undefined ? "" : `, such as '${mode.placeholder}'`
  const others = modes.filter((one) => one !== mode).map((one) => `'${one.name}'`).join(", ")
  return invalidIn(mode, inner).map((why) => ({
    message: `'${name}' is ${inWords(inner)} in mode '${mode.name}'. ${why}.`,
    fix: `Give a value for the mode '${mode.name}'${example}${
      others === "" ? "" : `, or use another mode: ${others}`
    }.`,
    at: ["value"]
  }))
}

const mapper = (property: Property, value: unknown): ReadonlyArray<Finding> => {
  const object = obj(value)
  if (object === undefined || object["mappingMode"] === "autoMapInputData") return []
  if (!["mappingMode", "schema", "value"].every((key) => Object.hasOwn(object, key))) return []
  const values = object["value"]
  const isAdding = own(property.typeOptions?.["resourceMapper"], "mode") === "add"
  return arr(object["schema"]).flatMap((field): ReadonlyArray<Finding> => {
    const id = text(own(field, "id"))
    const type = str(own(field, "type")) ?? ""
    const one = values ? own(values, id) : null
    const where = { at: ["value", id], name: id }
    if (isAdding && own(field, "required") && (values === null || one === undefined)) {
      return [{
        ...where,
        message: `'${id}' is required in '${property.name}' and is not set.`,
        fix: `Set it in 'value'.`
      }]
    }
    const options = arr(own(field, "options")).map((option) => own(option, "value"))
    if (text(one).startsWith("=") || FieldType.fits(one, type, { choices: options })) return []
    const words = type === "options" ? `one of ${options.slice(0, 10).map(inWords).join(", ")}` : FieldType.words(type)
    return [{
      ...where,
      message: `'${id}' is ${inWords(one)} and must be ${words}.`,
      fix: "Change it or give an expression."
    }]
  })
}

const typed = (property: Property, value: unknown): ReadonlyArray<Finding> => {
  const { name, validateType: type } = property
  const all = choices(property).map((choice) => choice.value)
  if (type === undefined || text(value).startsWith("=")) return []
  if (FieldType.fits(value, type, { choices: type === "options" ? all : [] })) return []
  const words = type === "options" ? `one of ${all.slice(0, 10).map(inWords).join(", ")}` : FieldType.words(type)
  const braces = text(value).includes("{{") ? " An expression must begin with '='." : ""
  return [{
    message: `'${name}' is ${inWords(value)} and must be ${words}.`,
    fix: `Change it or give an expression.${braces}`
  }]
}

const ofValue = (property: Property, value: unknown, shown: boolean): ReadonlyArray<Finding> =>
  shown && locators.has(property.type)
    ? locator(property, value)
    : shown && property.type === "resourceMapper"
    ? mapper(property, value)
    : shown && property.type === "filter"
    ? []
    : typed(property, value)

const count = ({ name, typeOptions }: Property, group: Group, value: unknown): ReadonlyArray<Finding> => {
  const { length } = arr(value)
  const least = num(typeOptions?.["minRequiredFields"]) ?? 0
  const most = num(typeOptions?.["maxAllowedFields"]) ?? Infinity
  return length >= least && (most === 0 || length <= most) ? [] : [{
    message: `'${name}.${group.name}' has ${length} items; n8n wants ${
      length < least ? `at least ${least}` : `at most ${most}`
    }.`,
    fix: `${length < least ? "Add" : "Remove"} items of 'parameters.${name}.${group.name}'.`,
    at: [group.name]
  }]
}

const itemsOf = ({ name, typeOptions }: Property, { name: group }: Group, { kind, path, scope }: Place) => {
  if (kind !== "root") return []
  const value = own(own(scope.values, name), group)
  const root = name === "parameters" ? own(scope.values, name) : scope.root
  const place = (values: unknown, path: string): Place => ({ kind: "item", path, scope: { ...scope, values, root } })
  const at = deeper(deeper(path, name), group)
  if (value === undefined) return []
  if (typeOptions?.["multipleValues"] === undefined) return [place(value, at)]
  return arr(value).map((item, index) => place(item, deeper(at, index)))
}

const nowhere = (place: Place): Place => ({ ...place, kind: "nowhere", scope: { ...place.scope, values: undefined } })

const judge = (property: Property, place: Place, suggest: Suggest): ReadonlyArray<Issue> => {
  const { name, type } = property
  const shown = isShown(property.displayOptions, place.scope)
  const value = at(place.scope.values, name)
  const path = deeper(place.path, name)
  const issue = ({ at = [], fix, message, name: behind }: Finding): Issue => ({
    severity: "error",
    path: at.reduce<string>(deeper, path),
    message,
    ...(fix === undefined ? {} : { fix }),
    name: behind === undefined ? name : `${name}.${behind}`
  })
  const direct = [...shown ? required(property, value, suggest) : [], ...ofValue(property, value, shown)].map(issue)
  if (type === "collection") {
    const inside = place.kind === "root" ? place : nowhere(place)
    return [...direct, ...members(property).flatMap((member) => judge(member, inside, suggest))]
  }
  if (type !== "fixedCollection" || !shown) return direct
  return [
    ...direct,
    ...groups(property).flatMap((group) => [
      ...count(property, group, place.kind === "root" ? at(value, group.name) : undefined).map(issue),
      ...itemsOf(property, group, place).flatMap((item) => group.values.flatMap((inner) => judge(inner, item, suggest)))
    ])
  ]
}

/** Issues that n8n itself reports; none for a disabled node. */
export const issues = (
  description: Description,
  node: Node,
  suggest: Suggest,
  scope: Scope = scopeOf(description, node)
): ReadonlyArray<Issue> =>
  node.disabled === true
    ? []
    : description.properties.flatMap((property) => judge(property, { kind: "root", path: "", scope }, suggest))
