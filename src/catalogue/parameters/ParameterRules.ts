/** Parameters of a node by n8n's rules: existence, defaults, problems. */
import * as Predicate from "effect/Predicate"
import { arr, equals, num, type Obj, obj, own, str } from "../../base/Json.ts"
import { isWithin, member, print } from "../../base/JsonPath.ts"
import { type Choice, choices, type Description, groups, members, type Property } from "../types/NodeType.ts"
import { fits, inWords, isMissing, issues, locators, type Remark, type Suggest, typeInWords } from "./issues.ts"
import operators from "./operators.json" with { type: "json" }
import { isExpression, isMultiple, isShown, type Node, type Scope, scopeOf, text } from "./ParameterValues.ts"
import * as shapeFaults from "./shapeFaults.ts"

export { issues, type Remark, type Suggest } from "./issues.ts"
export { about, applying, complete, type Node, scopeOf } from "./ParameterValues.ts"
export { isExpression, isShown, type Scope } from "./ParameterValues.ts"
export { faults } from "./shapeFaults.ts"

type Remarks = ReadonlyArray<Remark>

const none: Remarks = []

const remark = (severity: Remark["severity"]) => (path: string, message: string, fix: string): Remarks => [
  { severity, path, message, fix }
]

const warning = remark("warning")

const error = remark("error")

/** Resource and operation that n8n offers for every node with credentials and resources. */
const customApiCall = "__CUSTOM_API_CALL__"

const choosable = (property: Property, scope: Scope): ReadonlyArray<Choice["value"]> | undefined => {
  const { allowArbitraryValues, typeOptions } = property
  const all = choices(property)
  const isOpen = allowArbitraryValues === true || all.length === 0 || typeOptions?.["loadOptions"] !== undefined ||
    typeOptions?.["loadOptionsMethod"] !== undefined
  return isOpen ? undefined : all.filter((one) => isShown(one.displayOptions, scope)).map(({ value }) => value)
}

const choice = (property: Property, value: unknown, path: string, scope: Scope, suggest: Suggest): Remarks => {
  const all = choosable(property, scope)
  if (all === undefined || all.some((one) => one === value) || value === customApiCall) return none
  const same = all.find((one) => String(one) === text(value))
  const fix = same === undefined
    ? suggest(Predicate.isObjectOrArray(value) ? "" : text(value).slice(0, 100), all.map(String))
    : `Give ${JSON.stringify(same)}, a ${typeof same}.`
  const stripped = Predicate.isString(value) && value.startsWith("{{") ? " n8n evaluates no expression here." : ""
  const message = `'${property.name}' is ${inWords(value)}, which is not one of its options.${stripped}`
  return error(path, message, fix)
}

const locator = ({ modes = [], name }: Property, value: unknown, path: string, suggest: Suggest): Remarks => {
  const shape = "{__rl: true, mode, value}"
  const object = obj(value)
  if (object === undefined) {
    const isPlain = Predicate.isString(value) || Predicate.isNumber(value)
    return isPlain ? none : warning(path, `'${name}' is ${inWords(value)}.`, `Give ${shape}.`)
  }
  if (!("value" in object && "mode" in object)) {
    return warning(path, `'${name}' lacks ${"value" in object ? "'mode'" : "'value'"}.`, `Give ${shape}.`)
  }
  const names = modes.map((mode) => mode.name)
  const isMode = object["mode"] === "" || names.some((mode) => mode === object["mode"])
  if (names.length > 0 && !isMode) {
    return warning(member(path, "mode"), `'${name}' has no mode ${inWords(object["mode"])}.`, suggest("", names))
  }
  return object["__rl"] === true ? none : warning(path, `'${name}' lacks '__rl'.`, `Set '__rl' to true: ${shape}.`)
}

/** Operations of filters (If, Switch, Filter) by the type of their operator. */
const operations: Readonly<Record<string, string>> = operators

/** Whether n8n accepts the literal for the type; expressions always pass. */
const isReadable = (value: unknown, type: string, { isStrict, version }: Strictness): boolean => {
  if (!Object.hasOwn(operations, type) || isExpression(value)) return true
  if (type === "boolean" && !isStrict) return true
  const isBlank = (Array.isArray(value) && value.length === 0) || (str(value)?.trim() === "")
  return (type === "number" && isBlank && version >= 3) || fits(value, type, { isStrict })
}

interface Strictness {
  readonly isStrict: boolean
  readonly version: number
}

const sides = (condition: Obj, operator: Obj, path: string, strictness: Strictness): Remarks => {
  const type = str(operator["type"]) ?? ""
  const isUnary = Boolean(operator["singleValue"])
  return [["leftValue", type], ...isUnary ? [] : [["rightValue", str(operator["rightType"]) ?? type]]]
    .flatMap(([side = "", expected = ""]) => {
      const value = condition[side]
      if (isReadable(value, expected, strictness)) return none
      return error(
        member(path, side),
        `'${side}' is ${inWords(value)}; the operator compares ${expected} and wants ${typeInWords(expected)}.`,
        strictness.isStrict && fits(value, expected)
          ? "Change the value or the operator's type, or set the filter's options.typeValidation to 'loose'."
          : "Change the value or the operator's type, or give an expression that begins with '='."
      )
    })
}

const operation = (operator: Obj, path: string, suggest: Suggest): Remarks => {
  const type = str(operator["type"]) ?? ""
  const name = str(operator["operation"]) ?? ""
  const names = Object.hasOwn(operations, type) ? operations[type]?.split(" ") ?? [] : type === "any" ? [] : undefined
  if (names === undefined) {
    return warning(
      member(path, "type"),
      `The operator's type is ${inWords(operator["type"])}, which n8n does not know.`,
      suggest(type.slice(0, 100), Object.keys(operations))
    )
  }
  return type === "any" || names.includes(name) ? none : warning(
    member(path, "operation"),
    `Type ${type} has no operator '${name}': n8n treats the condition as false.`,
    suggest(name.slice(0, 100), names)
  )
}

const filterRemarks = (filter: Obj, path: string, suggest: Suggest): Remarks => {
  const { conditions, options } = filter
  const isStrict = (own(options, "typeValidation") ?? "strict") === "strict"
  const strictness = { isStrict, version: num(own(options, "version")) ?? 1 }
  return arr(conditions).flatMap((condition, index) => {
    const at = print(["conditions", index], path)
    const operator = obj(own(condition, "operator"))
    if (operator === undefined) {
      return error(
        member(at, "operator"),
        `The operator is ${inWords(own(condition, "operator"))}: n8n fails on the condition.`,
        "Give an object such as {type: 'string', operation: 'equals'}."
      )
    }
    return [
      ...operation(operator, member(at, "operator"), suggest),
      ...sides(condition as Obj, operator, at, strictness)
    ]
  })
}

/** Remarks on places that are not within those of others: a misshapen value has no other faults. */
const outside = <R extends { readonly path: string }>(
  others: ReadonlyArray<{ readonly path: string }>,
  all: ReadonlyArray<R>
): ReadonlyArray<R> => all.filter(({ path }) => !others.some((other) => isWithin(path, other.path)))

interface Context {
  readonly suggest: Suggest
  readonly properties: ReadonlyArray<Property>
  readonly type: string
  readonly isTool: boolean
}

/** Value of a parameter; `completed` includes n8n's defaults. */
interface Given {
  readonly property: Property
  readonly value: unknown
  readonly completed: unknown
  readonly path: string
  readonly scope: Scope
}

const ofValue = (given: Given, context: Context): Remarks => {
  const { path, property, value } = given
  const { type } = property
  const { suggest } = context
  if (equals(value, property.default) || value === null) return none
  if (locators.has(type)) return isExpression(value) ? none : locator(property, value, path, suggest)
  const misshapen = shapeFaults.faults(property, value).map(({ at, ...fault }) => ({
    path: print(at, path),
    ...fault
  }))
  return [...misshapen, ...outside(misshapen, inside(given, context))]
}

/** Remarks on the parts of a value that has the shape of its parameter. */
const inside = (given: Given, context: Context): Remarks => {
  const { completed, path, property, scope, value } = given
  const { name, type } = property
  const { suggest } = context
  if (type === "boolean" || type === "number") {
    const isNumber = Predicate.isNumber(value) ||
      (Predicate.isString(value) && value !== "" && !Number.isNaN(Number(value)))
    const isRight = isExpression(value) || (type === "number" ? isNumber : Predicate.isBoolean(value))
    const fix = type === "number"
      ? "Give a number, or an expression that begins with '='."
      : "Give true or false, or an expression."
    return isRight ? none : warning(path, `'${name}' is ${inWords(value)}; its type is ${type}.`, fix)
  }
  if (type === "assignmentCollection") {
    return Object.keys(obj(value) ?? {}).filter((key) => key !== "assignments")
      .flatMap((key) => dropped(property, key, ["assignments"], member(path, key), context))
  }
  if (type === "filter") return filterRemarks(obj(value) ?? {}, path, suggest)
  if (type === "collection") return ofCollection(given, context)
  if (type === "fixedCollection") return ofGroups(given, context)
  if ((type === "options" && !isMultiple(property)) || type === "multiOptions") {
    if (isExpression(completed) || (property.required === true && isMissing(property, value))) return none
    const isList = Array.isArray(value)
    return (isList && type === "multiOptions" ? value : [completed]).flatMap((one, index) =>
      isExpression(one) ? none : choice(property, one, isList ? member(path, index) : path, scope, suggest)
    )
  }
  return none
}

const dropped = (property: Property, key: string, names: ReadonlyArray<string>, path: string, { suggest }: Context) =>
  warning(
    path,
    `'${property.name}' holds no '${key.slice(0, 60)}': n8n drops it.`,
    suggest(key.slice(0, 100), names)
  )

const ofCollection = ({ completed, path, property, scope, value }: Given, context: Context): Remarks => {
  const inner = members(property)
  if (!isMultiple(property)) return level(inner, obj(value) ?? {}, { ...scope, values: completed }, path, context)
  return arr(value).flatMap((item, index) =>
    level(inner, obj(item) ?? {}, { ...scope, values: item }, member(path, index), context)
  )
}

const ofGroups = ({ completed, path, property, scope, value }: Given, context: Context): Remarks => {
  const all = groups(property)
  return Object.entries(obj(value) ?? {}).flatMap(([key, inner]): Remarks => {
    const at = member(path, key)
    const group = all.find(({ name }) => name === key)
    if (group === undefined) return dropped(property, key, all.map(({ name }) => name), at, context)
    const values = own(completed, key)
    const item = (one: unknown, values: unknown, at: string) =>
      level(group.values, obj(one) ?? {}, { ...scope, values }, at, context)
    return isMultiple(property)
      ? arr(inner).flatMap((one, index) => item(one, arr(values)[index], member(at, index)))
      : item(inner, values, at)
  })
}

/** Parameters of tool variants, and leftovers of the editor. */
const toolNames = new Set(["descriptionType", "toolDescription"])
const leftovers = new Set(["", "requestOptions"])

const unknown = (
  name: string,
  properties: ReadonlyArray<Property>,
  candidates: () => ReadonlyArray<string>,
  path: string,
  context: Context
): Remarks => {
  const isAtRoot = path === member("", name)
  if (isAtRoot && (leftovers.has(name) || (context.isTool && toolNames.has(name)))) return none
  const holder = properties.find((one) =>
    one.type === "collection" && members(one).some((member) => member.name === name)
  )
  const isOfRoot = !isAtRoot && context.properties.some((one) => one.name === name)
  return warning(
    path,
    `${context.type} has no parameter '${name.slice(0, 60)}' here: n8n drops it.`,
    holder !== undefined
      ? `It belongs in '${holder.name}'.`
      : isOfRoot
      ? `It belongs at the top of 'parameters'.`
      : context.suggest(name.slice(0, 100), candidates())
  )
}

const missing = (properties: ReadonlyArray<Property>, scope: Scope, path: string): Remarks =>
  properties.flatMap((property) => {
    const value = own(scope.values, property.name)
    const isEmpty = property.required === true && value !== undefined && isMissing(property, value) &&
      isShown(property.displayOptions, scope)
    const message = `'${property.displayName}' (${property.name}) is required and is empty; n8n runs it anyway.`
    return isEmpty ? warning(member(path, property.name), message, `Set '${property.name}'.`) : none
  })

/** Remarks on the parameters of one level; `scope` contains them with n8n's defaults. */
const level = (
  properties: ReadonlyArray<Property>,
  parameters: Obj,
  scope: Scope,
  path: string,
  context: Context
): Remarks => {
  const byName = Map.groupBy(properties, ({ name }) => name)
  let names: ReadonlyArray<string> | undefined
  /** Names for suggestions, shown ones first. */
  const candidates = () => {
    names ??= [...properties.filter(({ displayOptions }) => isShown(displayOptions, scope)), ...properties]
      .filter(({ type }) => type !== "notice").map(({ name }) => name)
    return names
  }
  const result = Object.entries(parameters).flatMap(([name, value]): Remarks => {
    const at = member(path, name)
    const named = byName.get(name)
    if (named === undefined) return unknown(name, properties, candidates, at, context)
    const shown = named.filter(({ displayOptions }) => isShown(displayOptions, scope))
    const all = shown.map((property) =>
      ofValue({ property, value, completed: own(scope.values, name), path: at, scope }, context)
    )
    return all.some((remarks) => remarks.length === 0) ? none : all.at(-1) ?? none
  })
  return path === "" ? result : [...result, ...missing(properties, scope, path)]
}

/** Remarks on the node besides n8n's own issues; none for a disabled node. */
export const remarks = (
  description: Description,
  node: Node,
  suggest: Suggest,
  scope: Scope = scopeOf(description, node)
): Remarks => {
  if (node.disabled === true) return none
  const { displayName: type, properties } = description
  return level(properties, node.parameters, scope, "", { suggest, properties, type, isTool: scope.isTool })
}

/**
 * Problems of a node's parameters: n8n's own, then remarks on others; paths start below `parameters`. A misshapen value
 * is one problem.
 */
export const problems = (description: Description, node: Node, suggest: Suggest): ReadonlyArray<Remark> => {
  const scope = scopeOf(description, node)
  const all = remarks(description, node, suggest, scope)
  const misshapen = all.filter(({ shape }) => shape !== undefined)
  const byKey = new Map<string, Remark>()
  for (const { name: _, ...issue } of outside(misshapen, issues(description, node, suggest, scope))) {
    byKey.set(`${issue.path} ${issue.message}`, issue)
  }
  const paths = new Set([...byKey.values()].map(({ path }) => path))
  return [...byKey.values(), ...all.filter(({ path }) => !paths.has(path))]
}
