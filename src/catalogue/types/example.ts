/** Typical parameters of a node, derived from its type's description. */
import { type Obj, obj } from "../../base/Json.ts"
import * as Parameters from "../parameters/Parameters.ts"
import { choices, type Description, members, type Property } from "./NodeType.ts"
import * as Ports from "./Ports.ts"
import constants from "./samples.json" with { type: "json" }
import { type Context, isBody, isCode, isEmpty, sample } from "./samples.ts"

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

/** Commonly used members of collections. */
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

/** Whether the agent's model can fill in parameters of this type. */
const isForAgent = (type: string) => type === "string" || type === "fixedCollection"

/** Maximum number of default parameters in the example of a node without required ones. */
const mostDefaults = 4

const isPlain = ({ type }: Property) => ["string", "number", "options", "boolean", "dateTime"].includes(type)

/** Parameters whose values decide whether these are visible. */
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
    Parameters.applying(description, { typeVersion, parameters }).filter(({ type }) => type !== "hidden")

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

/** Whether agents call nodes of this type. */
export const isAgentTool = ({ outputs }: Description): boolean =>
  Array.isArray(outputs) && outputs.some((port) => port === "ai_tool" || obj(port)?.["type"] === "ai_tool")
