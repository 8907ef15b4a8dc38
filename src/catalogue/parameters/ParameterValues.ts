/** Values of a node's parameters as n8n uses them: their places, the visible ones, and defaults. Pure. */
import * as Predicate from "effect/Predicate"
import { arr, equals, type Obj, obj, own, str } from "../../base/Json.ts"
import * as JsonPath from "../../base/JsonPath.ts"
import { type Description, type DisplayOptions, groups, members, type Property } from "../types/NodeType.ts"

/** Value and its property; several properties with the same name give several places. */
export interface Place {
  /** Path below `parameters`. */
  readonly path: ReadonlyArray<string | number>
  readonly property: Property
  readonly value: unknown
}

const below = (properties: ReadonlyArray<Property>, values: Obj, path: Place["path"]): ReadonlyArray<Place> =>
  properties.flatMap((property) => {
    if (!Object.hasOwn(values, property.name)) return []
    const value = values[property.name]
    const here = [...path, property.name]
    return [{ path: here, property, value }, ...inside(property, value, here)]
  })

/** Objects of a value that is one object or a list. */
const each = (properties: ReadonlyArray<Property>, value: unknown, path: Place["path"]): ReadonlyArray<Place> =>
  Array.isArray(value)
    ? value.flatMap((element, index) => below(properties, obj(element) ?? {}, [...path, index]))
    : below(properties, obj(value) ?? {}, path)

const inside = (property: Property, value: unknown, path: Place["path"]): ReadonlyArray<Place> =>
  property.type === "fixedCollection"
    ? groups(property).flatMap(({ name, values }) => each(values, own(value, name), [...path, name]))
    : property.type === "collection"
    ? each(members(property), value, path)
    : []

export const places = ({ properties }: Description, parameters: Obj): ReadonlyArray<Place> =>
  below(properties, parameters, [])

const extensions: Readonly<Record<string, string>> = {
  cssEditor: "css",
  htmlEditor: "html",
  jsEditor: "js",
  sqlEditor: "sql"
}

/** File extension for the code of a parameter, by its editor in n8n; `undefined` for other parameters. */
export const codeExtension = ({ typeOptions }: Property): string | undefined => {
  const editor = str(typeOptions?.["editor"]) ?? ""
  if (editor === "codeNodeEditor") return typeOptions?.["editorLanguage"] === "python" ? "py" : "js"
  return Object.hasOwn(extensions, editor) ? extensions[editor] : undefined
}

export interface Scope {
  /** Parameters beside the one in question, with defaults. */
  readonly values: unknown
  /** Parameters of the node, for rules such as `/resource`. */
  readonly root: unknown
  readonly version: number
  readonly isTool: boolean
}

/** Value at a path such as `options.pages[0].url`, unless the path is itself a property's name. */
export const at = (value: unknown, path: string): unknown => {
  const direct = own(value, path)
  if (direct !== undefined || !/[.[]/.test(path)) return direct
  const steps = JsonPath.parse(path)
  return steps && JsonPath.get(value, steps)
}

export const text = (value: unknown, depth = 20): string =>
  Array.isArray(value)
    ? depth === 0 ? "" : value.map((item) => Predicate.isNullish(item) ? "" : text(item, depth - 1)).join(",")
    : obj(value) !== undefined
    ? "[object Object]"
    : String(value)

/** Whether n8n treats the value as an expression. */
export const isExpression = (value: unknown): value is string => Predicate.isString(value) && value.startsWith("=")

/** Maximum length of a text that a pattern is tried on. */
const longest = 2_000

/** Whether a text matches a regular expression of a node type; `undefined` for an invalid pattern or a long text. */
export const matches = (pattern: string, text: string): boolean | undefined => {
  if (text.length > longest) return undefined
  try {
    return new RegExp(pattern).test(text)
  } catch {
    return undefined
  }
}

const valuesOf = (name: string, scope: Scope): ReadonlyArray<unknown> => {
  if (name === "@version") return [scope.version]
  if (name === "@tool") return [scope.isTool]
  if (name === "@feature") return []
  const parameter = name.startsWith("/") ? at(scope.root, name.slice(1)) : at(scope.values, name)
  const value = own(parameter, "__rl") ? own(parameter, "value") : parameter
  return Array.isArray(value) ? value : [value]
}

type Comparable = string | number

const comparable = (value: unknown): Comparable => Predicate.isObjectOrArray(value) ? text(value) : value as Comparable

const operators: Record<string, (value: unknown, target: unknown) => boolean> = {
  eq: equals,
  not: (value, target) => !equals(value, target),
  gte: (value, target) => comparable(value) >= comparable(target),
  lte: (value, target) => comparable(value) <= comparable(target),
  gt: (value, target) => comparable(value) > comparable(target),
  lt: (value, target) => comparable(value) < comparable(target),
  between: (value, target) =>
    comparable(value) >= comparable(own(target, "from")) && comparable(value) <= comparable(own(target, "to")),
  includes: (value, target) => Predicate.isString(value) && value.includes(text(target)),
  startsWith: (value, target) => Predicate.isString(value) && value.startsWith(text(target)),
  endsWith: (value, target) => Predicate.isString(value) && value.endsWith(text(target)),
  regex: (value, target) => Predicate.isString(value) && matches(text(target), value) === true,
  exists: (value) => !Predicate.isNullish(value) && value !== ""
}

/** Whether one of the conditions (values, or `{_cnd: {gte: 2}}`) is met; a `_cnd` must be met by all values. */
const isMet = (conditions: ReadonlyArray<unknown>, values: ReadonlyArray<unknown>): boolean =>
  conditions.some((condition) => {
    const rule = obj(own(condition, "_cnd"))
    if (rule === undefined || Object.keys(condition as Obj).length !== 1) return values.includes(condition)
    const [key = "", target] = Object.entries(rule)[0] ?? []
    if (values.length === 0) return key === "not"
    const operator = Object.hasOwn(operators, key) ? operators[key] : undefined
    return operator !== undefined && values.every((value) => operator(value, target))
  })

/**
 * Whether n8n shows an element with these display options.
 *
 * **Gotchas**
 *
 * Expressions are not evaluated: if `show` depends on one, the parameter is shown, whatever the other rules are.
 */
export const isShown = (options: DisplayOptions | undefined, scope: Scope): boolean => {
  for (const [name, conditions] of Object.entries(options?.show ?? {})) {
    const values = valuesOf(name, scope)
    if (values.some(isExpression)) return true
    if (!isMet(arr(conditions), values)) return false
  }
  return Object.entries(options?.hide ?? {}).every(([name, conditions]) => {
    const values = valuesOf(name, scope)
    return values.length === 0 || !isMet(arr(conditions), values)
  })
}

export interface Node {
  readonly typeVersion: number
  readonly parameters: Obj
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
      // n8n treats the characters of a string as items.
      all[key] = arr(value).map((item) => fill(group.values, item, within))
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
