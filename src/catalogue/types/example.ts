/** Typical parameters of a node, derived from its type's description. */
import { type Obj, obj, str } from "../../base/Json.ts"
import * as ParameterRules from "../parameters/ParameterRules.ts"
import { isShown } from "../parameters/ParameterValues.ts"
import { choices, type Description, type Group, groups, members, type Mode, type Property } from "./NodeType.ts"
import { exampleOf, plain } from "./ParameterView.ts"
import * as Ports from "./Ports.ts"
import constants from "./samples.json" with { type: "json" }

const { about, addressForAgent, assignments, body, bodyForAgent, condition, mapper, mapperForAgent, weekdays } =
  constants
const byEditor: Readonly<Record<string, string>> = constants.byEditor
const code: Readonly<Record<string, string>> = constants.code

interface Context {
  readonly version: number
  /** Whether an agent calls the node and fills in its values. */
  readonly isTool: boolean
  readonly evaluate: Ports.Evaluate
}

const isEmpty = (value: unknown): boolean =>
  value === undefined || value === null || value === "" || typeof value === "object" && Object.keys(value).length === 0

const field = (name: string) => `={{ $json.${name} }}`

/** Call of n8n's `$fromAI`: the agent's model fills in the value. */
const fromAI = ({ description, displayName, name }: Property) => {
  const meaning = plain(description, 60) ?? displayName
  return `={{ $fromAI('${name}', '${meaning.replace(/['\\{}]/g, "")}', 'string') }}`
}

const text = (property: Property, { isTool }: Context) =>
  isTool && property.noDataExpression !== true ? fromAI(property) : field(property.name)

const isToolDescription = ({ name }: Property) => name === "description" || name === "toolDescription"

/** Filter with `options`, as the editor writes it: older versions of the nodes fail without them. */
const filter = ({ typeOptions }: Property, { evaluate, version }: Context, options: Obj = {}) => {
  const declared = obj(typeOptions?.["filter"])?.["version"] ?? 1
  const filterVersion = str(declared) === undefined ? declared : evaluate(String(declared), { parameters: {}, version })
  return {
    options: { caseSensitive: true, leftValue: "", typeValidation: "strict", ...options, version: filterVersion ?? 1 },
    conditions: [condition],
    combinator: "and"
  }
}

const isCode = ({ name }: Property): boolean => Object.hasOwn(code, name)

const isBody = ({ name, type }: Property): boolean => type === "json" && /body|schema|json|payload/i.test(name)

/** Sample of a parameter in a list: the value of the field named beside it, or `$fromAI` for an agent. */
const inList = (property: Property, { isTool }: Context) =>
  label(property) ?? (!isValue(property) ? undefined : isTool ? fromAI(property) : field("name"))

/** Sample name of an entry in a list: a field, a column, a category. */
const label = ({ name }: Property): string | undefined =>
  /category|option$/i.test(name) ? "urgent" : /(?:name|label|key|column|fieldId)$/i.test(name) ? "name" : undefined

/** Maximum length of a default; a whole page of HTML would say no more than its heading. */
const longestDefault = 400

const ofEditor = ({ typeOptions }: Property): string | undefined => byEditor[str(typeOptions?.["editor"]) ?? ""]

const compact = (json: string): string => {
  try {
    return JSON.stringify(JSON.parse(json))
  } catch {
    return json
  }
}

const ofDefault = (property: Property, context: Context): unknown => {
  const { default: initial, type } = property
  const string = str(initial)
  if (string === undefined) return filled(property, initial, context)
  if (type === "json") return compact(string)
  return string.length > longestDefault ? ofEditor(property) ?? string : string
}

const fits = (mode: Mode, value: string) =>
  (mode.validation ?? []).every(({ properties, type }) => {
    if (type !== "regex" || properties?.regex === undefined) return true
    try {
      return new RegExp(`^${properties.regex}$`).test(value)
    } catch {
      return false
    }
  })

const locator = ({ default: initial, modes = [], name }: Property, { isTool }: Context) => {
  if (str(obj(initial)?.["value"])) return { __rl: true, ...obj(initial) }
  const writable = modes.filter((mode) => mode.name !== "list")
  const mode = writable.find((each) => each.name === "name" && each.placeholder !== undefined) ??
    writable.find((each) => each.name === "id") ?? writable[0] ?? modes[0]
  if (mode === undefined) return { __rl: true, mode: "id", value: field(name) }
  const value = exampleOf({ type: "string", ...mode })
  // The builder chooses the table or channel, not the agent's model.
  const literal = [value, ...isTool ? [`my_${name}`] : []].find((each) => each !== "" && fits(mode, each))
  return { __rl: true, mode: mode.name, value: literal ?? field(name) }
}

const required = (property: Property): Property => ({ ...property, required: true })

/** Members of a group that are visible with the defaults of the others. */
const shownOf = (values: ReadonlyArray<Property>, { isTool, version }: Context) => {
  const defaults = Object.fromEntries(values.map((each) => [each.name, each.default]))
  const scope = { values: defaults, root: {}, version, isTool }
  return values.filter(({ displayOptions = {} }) => {
    const beside = Object.entries(displayOptions.show ?? {}).filter(([name]) => !name.startsWith("/"))
    return isShown({ ...displayOptions, show: Object.fromEntries(beside) }, scope)
  })
}

const requiredOf = (properties: ReadonlyArray<Property>, context: Context, depth: number) =>
  Object.fromEntries(
    shownOf(properties, context).flatMap((each) =>
      each.required ? [[each.name, sample(each, context, depth + 1)] as const] : []
    )
  )

/** Whether the parameter is the value of a condition or an assignment, which n8n accepts empty. */
const isValue = ({ name, type }: Property) => type === "string" && /value$/i.test(name)

const group = (property: Property, { name, values }: Group, context: Context, depth: number) => {
  const least = requiredOf(values, context, depth)
  const shown = shownOf(values, context)
  const value = isEmpty(least) && depth === 0 ? requiredOf(shown.slice(0, 2).map(required), context, depth) : least
  const more = requiredOf(shown.filter(isValue).map(required), context, depth)
  return { [name]: property.typeOptions?.["multipleValues"] === true ? [{ ...value, ...more }] : { ...value, ...more } }
}

/** Default with samples instead of empty texts and empty conditions. */
const filled = (property: Property, value: unknown, context: Context): unknown => {
  if (property.type === "filter") return filter(property, context, obj(obj(value)?.["options"]) ?? {})
  if (property.type !== "fixedCollection") return value
  const inItem = (values: ReadonlyArray<Property>) => (item: unknown) => {
    const content = values.find(({ name, type }) => name === "content" && type === "string")
    const value = { ...content !== undefined && { content: "" }, ...obj(item) }
    return Object.fromEntries(
      Object.entries(value).map(([key, inner]) => {
        const member = values.find(({ name }) => name === key)
        if (member === undefined) return [key, inner]
        return [key, inner === "" ? sample(member, context, 1) : filled(member, inner, context)]
      })
    )
  }
  return Object.fromEntries(
    Object.entries(obj(value) ?? {}).map(([key, items]) => {
      const known = groups(property).find(({ name }) => name === key)
      if (known === undefined) return [key, items]
      if (known.values.some(({ name }) => name === "triggerAtDay")) return [key, weekdays]
      const fill = inItem(known.values)
      return [key, Array.isArray(items) ? items.map(fill) : fill(items)]
    })
  )
}

/** Value that n8n accepts, as typical as the description allows. */
const sample = (property: Property, context: Context, depth = 0): unknown => {
  const { name, type } = property
  if (!isEmpty(property.default) && !/^resource|Selector$/.test(type)) return ofDefault(property, context)
  if (context.isTool && isToolDescription(property)) return about
  const program = code[name]
  if (program !== undefined) return program
  const example = exampleOf(property) || ofEditor(property) || ""
  if (context.isTool && depth === 0 && /url|endpoint/i.test(property.name)) {
    return /\bexample\.(?:com|org)\b/.test(example) ? addressForAgent : example || addressForAgent
  }
  if (property.validateType === "string-alphanumeric") return example.replace(/\W+/g, "_") || name
  if (property.requiresDataPath !== undefined && type === "string") return example || "name"
  if (type === "options" || type === "credentialsSelect") {
    return choices(property).find(({ value }) => value !== "")?.value ??
      ((depth > 0 ? label(property) : undefined) ?? field(name))
  }
  if (type === "multiOptions") {
    const [first] = choices(property)
    return first === undefined ? field(name) : [first.value]
  }
  if (type === "boolean") return false
  if (type === "number") return 1
  if (type === "dateTime") return "2026-01-31T09:00:00"
  if (type === "json") return isBody(property) ? context.isTool ? bodyForAgent : body : "{}"
  if (type === "resourceLocator" || type === "workflowSelector" || type === "agentSelector") {
    return locator(property, context)
  }
  if (type === "resourceMapper") return context.isTool ? mapperForAgent : mapper
  if (type === "filter") return filter(property, context)
  if (type === "assignmentCollection") return assignments
  if (type === "collection") return requiredOf(members(property), context, depth)
  if (type === "fixedCollection") {
    const [first] = groups(property)
    return first === undefined ? {} : group(property, first, context, depth)
  }
  return context.isTool && depth === 0 && type === "string"
    ? text(property, context)
    : example || (depth > 0 ? inList(property, context) : undefined) || text(property, context)
}

/** Common choices that differ from n8n's defaults; the first that the parameter offers is used. */
const preferences: Readonly<Record<string, ReadonlyArray<unknown>>> = constants.preferred

const preferred = (property: Property, values: Obj): unknown => {
  const { name, type } = property
  if (name === "operation" && values["resource"] !== "message") return undefined
  const candidates = Object.hasOwn(preferences, name) ? preferences[name] ?? [] : []
  if (type === "boolean") return candidates.find((each) => typeof each === "boolean")
  const offered = choices(property)
  return candidates.find((each) => offered.some(({ value }) => value === each))
}

/** Optional texts that a node exists to send, store or show. */
const texts: ReadonlySet<string> = new Set(constants.texts.split(" "))

/** Lists that are essential to a node although they are empty by default. */
const lists: ReadonlySet<string> = new Set(constants.lists.split(" "))

const isPurpose = (property: Property): boolean => {
  const { default: initial, name, type, typeOptions, validateType } = property
  return typeOptions?.["minRequiredFields"] !== undefined ||
    validateType === "string-alphanumeric" && isEmpty(initial) ||
    type === "filter" || type === "assignmentCollection" || type === "fixedCollection" && !isEmpty(initial) ||
    type === "options" && (name === "resource" || name === "operation") ||
    type === "string" && texts.has(name) || type === "fixedCollection" && lists.has(name) ||
    isCode(property) || isBody(property)
}

const commonMembers: ReadonlySet<string> = new Set(["systemMessage"])

const commonOf = (property: Property, context: Context) =>
  Object.fromEntries(
    members(property).flatMap((each) =>
      commonMembers.has(each.name) ? [[each.name, sample(each, { ...context, isTool: false })] as const] : []
    )
  )

/** Settings of most nodes, unrelated to the purpose of any. */
const incidental = /^(?:authentication|options|resource|operation|descriptionType|toolDescription|simple|notice)$/

/** Whether the agent's model fills in part of the value. */
const isFilledByAgent = (value: unknown) => JSON.stringify(value)?.includes("$fromAI") === true

const isForAgent = (type: string) => type === "string" || type === "fixedCollection"

/** Maximum number of default parameters in the example of a node without required ones. */
const mostDefaults = 4

const isPlain = ({ type }: Property) => ["string", "number", "options", "boolean", "dateTime"].includes(type)

const deciding = (properties: ReadonlyArray<Property>): ReadonlySet<string> =>
  new Set(properties.flatMap(({ displayOptions }) => Object.keys(displayOptions?.show ?? {})))

const inOrder = (properties: ReadonlyArray<Property>, parameters: Obj): Obj => {
  const names = [...new Set(["resource", "operation", ...properties.map(({ name }) => name)])]
  return Object.fromEntries(
    [...names.filter((name) => Object.hasOwn(parameters, name)), ...Object.keys(parameters)]
      .map((name) => [name, parameters[name]])
  )
}

/** Parameters that n8n accepts: selected, required and essential ones, until filling in makes no more visible. */
export const parameters = (description: Description, selected: Obj, context: Context): Obj => {
  const { version: typeVersion } = context
  const applying = (parameters: Obj) =>
    ParameterRules.applying(description, { typeVersion, parameters }).filter(({ type }) => type !== "hidden")

  const complete = (values: Obj): Obj => {
    const missing = applying(values).filter(({ name }) => !Object.hasOwn(values, name))
    const chosen = Object.fromEntries(missing.flatMap((property) => {
      const value = preferred(property, values)
      return value === undefined ? [] : [[property.name, value] as const]
    }))
    if (Object.keys(chosen).length > 0) return complete({ ...values, ...chosen })
    const additions = missing.filter((property) =>
      property.required === true || isPurpose(property) || context.isTool && property.name === "description"
    )
    if (additions.length === 0) return values
    return complete({
      ...values,
      ...Object.fromEntries(additions.map((property) => [property.name, sample(property, context)]))
    })
  }

  const needed = complete(selected)
  const isBare = Object.keys(needed).every((name) => incidental.test(name))
  const candidates = applying(needed).filter(({ name, type }) =>
    !Object.hasOwn(needed, name) && !incidental.test(name) && type !== "notice" && type !== "callout"
  )
  const defaults = isBare
    ? candidates.filter((property) =>
      property.type === "fixedCollection" ||
      isPlain(property) && !isEmpty(property.default) && property.default !== false
    ).slice(0, mostDefaults)
    : []
  const withDefaults = complete({
    ...needed,
    ...Object.fromEntries(defaults.map((property) => [property.name, sample(property, context)]))
  })
  const forAgent = context.isTool && !isFilledByAgent(withDefaults)
    ? applying(withDefaults).flatMap((property): ReadonlyArray<readonly [string, unknown]> => {
      const { name, type } = property
      if (Object.hasOwn(withDefaults, name) || incidental.test(name) || !isForAgent(type)) return []
      const value = sample({ ...property, required: true }, context)
      return isFilledByAgent(value) ? [[name, value]] : []
    })
    : []
  const filledIn = complete({ ...withDefaults, ...Object.fromEntries(forAgent.slice(0, 1)) })

  const shown = applying(filledIn)
  const decisive = deciding(shown.filter(({ name }) => Object.hasOwn(filledIn, name)))
  const decisions = shown.filter(({ name, type }) =>
    type === "options" && !Object.hasOwn(filledIn, name) && (decisive.has(name) || Ports.dependOn(description, name))
  )
  const collections = shown.flatMap((property) => {
    const common = property.type === "collection" && !Object.hasOwn(filledIn, property.name)
      ? commonOf(property, context)
      : {}
    return isEmpty(common) ? [] : [[property.name, common] as const]
  })
  return inOrder(description.properties, {
    ...filledIn,
    ...Object.fromEntries(decisions.flatMap(({ default: initial, name }) => isEmpty(initial) ? [] : [[name, initial]])),
    ...Object.fromEntries(collections)
  })
}

export const isAgentTool = ({ outputs }: Description): boolean =>
  Array.isArray(outputs) && outputs.some((port) => port === "ai_tool" || obj(port)?.["type"] === "ai_tool")
