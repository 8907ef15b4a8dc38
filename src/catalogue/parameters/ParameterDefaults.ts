/** Parameters of a node as n8n uses them: the visible ones, with defaults. */
import * as Predicate from "effect/Predicate"
import { arr, type Obj, obj, own } from "../../base/Json.ts"
import { type Description, groups, members, type Property } from "../types/NodeType.ts"
import { isExpression, isShown, type Scope } from "./ParameterDisplay.ts"

export interface Node {
  readonly typeVersion: number
  readonly parameters: Obj
  /** Whether it is the tool variant of its type. */
  readonly isTool?: boolean
  readonly disabled?: boolean
}

type About = Pick<Scope, "version" | "isTool">

/** Values of the display rules `@version` and `@tool`. */
export const about = ({ name }: Description, node: Node): About => ({
  version: node.typeVersion,
  isTool: node.isTool === true || name.endsWith("Tool")
})

interface Level {
  /** Properties in order; those that depend on a later one are repeated at the end. */
  readonly order: ReadonlyArray<Property>
  readonly repeated: ReadonlySet<string>
}

const levels = new WeakMap<ReadonlyArray<Property>, Level>()

const levelOf = (properties: ReadonlyArray<Property>): Level => {
  const known = levels.get(properties)
  if (known !== undefined) return known
  const dependencies = new Map<string, Set<string>>()
  const repeated = new Set<string>()
  for (const { displayOptions, name } of properties) {
    const all = dependencies.get(name)
    if (all !== undefined) repeated.add(name)
    const rules = { ...displayOptions?.show, ...displayOptions?.hide }
    dependencies.set(name, new Set([...all ?? [], ...Object.keys(rules)]))
  }
  const resolved = new Set<string>()
  const again: Array<Property> = []
  for (const property of properties) {
    const isEarly = [...dependencies.get(property.name) ?? []]
      .some((name) => dependencies.has(name) && !resolved.has(name))
    if (isEarly) again.push(property)
    resolved.add(property.name)
  }
  const level = { order: [...properties, ...again], repeated }
  levels.set(properties, level)
  return level
}

export const isMultiple = ({ typeOptions }: Property): boolean => typeOptions?.["multipleValues"] === true

/** Call of `$fromAI` with literals, which n8n keeps even where it does not accept expressions. */
const fromAI = new RegExp(
  String.raw`^(?:/\*n8n-auto-generated-fromAI-override\*/)?\s*\$fromAI\s*\((?:[\w.,\s-]|"(?:[^"\\]|\\[^])*"|` +
    String.raw`'(?:[^'\\]|\\[^])*'|(?<!\w\s*)` + "`(?:[^`\\\\$]|\\\\[^]|\\$(?!\\{))*`" + String.raw`)*\)\s*$`,
  "i"
)
const isFromAI = (expression: string): boolean => {
  const bare = expression.slice(1).trim()
  return fromAI.test(bare.startsWith("{{") && bare.endsWith("}}") ? bare.slice(2, -2).trim() : bare)
}

const nullable = new Set(["boolean", "number", "options"])

/** Keys that n8n's editor adds to a filter. */
const filter = (value: Obj): Obj => ({
  ...value,
  combinator: value["combinator"] ?? "and",
  options: { caseSensitive: true, leftValue: "", typeValidation: "strict", version: 1, ...obj(value["options"]) }
})

const filled = ({ default: initial, type }: Property, input: unknown): unknown => {
  if (nullable.has(type)) return input === undefined ? initial : input
  if (type === "resourceLocator" && (initial === null || Predicate.isObjectOrArray(initial))) {
    return input === undefined ? { __rl: true, ...initial } : input
  }
  return type === "filter" && obj(input) !== undefined ? filter(input as Obj) : input ?? initial
}

const simple = (property: Property, input: unknown): unknown => {
  const value = filled(property, input)
  return property.noDataExpression === true && isExpression(value) && !isFromAI(value) ? value.slice(1) : value
}

const holdsOthers = ({ type }: Property) => type === "collection" || type === "fixedCollection"

interface Within {
  readonly about: About
  /** Parameters at the root for rules that start there; absent at the root itself. */
  readonly root?: Obj
  /** Value of a collection, which contains only what was added. */
  readonly isCollection?: boolean
}

/** Simple parameters, visible or not; the visible one of those with the same name. */
const candidates = (properties: ReadonlyArray<Property>, input: unknown, within: Within): Obj => {
  const { order, repeated } = levelOf(properties)
  const values: Record<string, unknown> = {}
  const scope = { ...within.about, values, root: within.root ?? values }
  for (const property of order) {
    const { displayOptions, name } = property
    const value = own(input, name)
    if (holdsOthers(property) || (value === undefined && within.isCollection === true)) continue
    if (!repeated.has(name) || isShown(displayOptions, scope)) values[name] = simple(property, value)
  }
  return values
}

const fixedCollection = (property: Property, input: unknown, within: Within): Obj => {
  const all: Record<string, unknown> = {}
  for (const [key, value] of Object.entries(obj(input === undefined ? property.default : input) ?? {})) {
    const group = groups(property).find(({ name }) => name === key)
    if (group === undefined) continue
    if (isMultiple(property)) {
      // n8n treats the characters of a string as items; a thousand are enough.
      const items = Predicate.isString(value) ? Array.from(value.slice(0, 1_000)) : arr(value)
      all[key] = items.map((item) => fill(group.values, item, within))
      continue
    }
    const one = fill(group.values, own(input, key), within)
    if (Object.keys(one).length > 0) all[key] = one
  }
  return all
}

const collection = (property: Property, input: unknown, within: Within): unknown =>
  isMultiple(property)
    ? input ?? arr(property.default)
    : input === undefined
    ? property.default
    : fill(members(property), input, { ...within, isCollection: true })

const fill = (properties: ReadonlyArray<Property>, input: unknown, within: Within): Obj => {
  const isNothing = input === null || input === undefined || input === "" || input === 0 || input === false
  if (isNothing) return {}
  const shown = candidates(properties, input, within)
  const root = within.root ?? shown
  const scope = { ...within.about, values: shown, root }
  const inner = { about: within.about, root }
  const values: Record<string, unknown> = {}
  for (const property of levelOf(properties).order) {
    const { displayOptions, name, type } = property
    const value = own(input, name)
    if (value === undefined && within.isCollection === true) continue
    if (!isShown(displayOptions, scope)) continue
    const one = type === "collection"
      ? collection(property, value, inner)
      : type === "fixedCollection"
      ? fixedCollection(property, value, inner)
      : simple(property, value)
    if (one !== undefined) values[name] = one
  }
  return values
}

export const complete = (description: Description, node: Node): Obj =>
  fill(description.properties, node.parameters, { about: about(description, node) })

/** Scope of display options at the top level: those of parameters and credentials. */
export const scopeOf = (description: Description, node: Node): Scope => {
  const values = complete(description, node)
  return { ...about(description, node), values, root: values }
}

/** Top-level parameters that are visible for the node's values; of several with the same name the last, as in n8n. */
export const applying = (description: Description, node: Node): ReadonlyArray<Property> => {
  const scope = scopeOf(description, node)
  const shown = description.properties.filter(({ displayOptions }) => isShown(displayOptions, scope))
  const last = new Map(shown.map((property) => [property.name, property]))
  return shown.filter((property) => last.get(property.name) === property)
}
