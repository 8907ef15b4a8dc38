/** The least that a node needs: values for what is required, and for what a node of its type is there for. */
import { type Obj, obj, str } from "../../base/Json.ts"
import * as Parameters from "../parameters/Parameters.ts"
import { choices, type Description, type Group, groups, members, type Mode, type Property } from "./NodeType.ts"
import { exampleOf } from "./ParameterView.ts"

const isEmpty = (value: unknown) =>
  value === undefined || value === null || value === "" || typeof value === "object" && Object.keys(value).length === 0

const expression = (name: string) => `={{ $json.${name} }}`

const fits = (mode: Mode, value: string) =>
  (mode.validation ?? []).every(({ properties, type }) => {
    if (type !== "regex" || properties?.regex === undefined) return true
    try {
      return new RegExp(`^${properties.regex}$`).test(value)
    } catch {
      return false
    }
  })

/** A list is chosen from in the editor; ids and addresses can be written. */
const locator = ({ default: initial, modes = [], name }: Property) => {
  if (str(obj(initial)?.["value"])) return { __rl: true, ...obj(initial) }
  const mode = modes.find((each) => each.name === "id") ?? modes.find((each) => each.name !== "list") ?? modes[0]
  if (mode === undefined) return { __rl: true, mode: "id", value: expression(name) }
  const value = exampleOf({ type: "string", ...mode })
  return { __rl: true, mode: mode.name, value: value !== "" && fits(mode, value) ? value : expression(name) }
}

const condition = {
  leftValue: expression("status"),
  rightValue: "active",
  operator: { type: "string", operation: "equals" }
}

/** As the editor writes it; without its `options` older versions of the nodes fail. */
const filter = {
  combinator: "and",
  conditions: [condition],
  options: { caseSensitive: true, leftValue: "", typeValidation: "strict" }
}

/** A default whose conditions compare nothing yet, with one that does. */
const compared = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(compared)
  const object = obj(value)
  if (object === undefined) return value
  if (Array.isArray(object["conditions"]) && "combinator" in object) return { ...object, conditions: [condition] }
  return Object.fromEntries(Object.entries(object).map(([key, inner]) => [key, compared(inner)]))
}

const assignments = { assignments: [{ name: "field", type: "string", value: expression("field") }] }

const must = (property: Property): Property => ({ ...property, required: true })

const least = (properties: ReadonlyArray<Property>, depth: number) =>
  Object.fromEntries(
    properties.flatMap((each) => each.required && depth < 3 ? [[each.name, sample(each, depth + 1)]] : [])
  )

const group = (property: Property, { name, values }: Group, depth: number) => {
  const required = least(values, depth)
  const value = isEmpty(required) && depth === 0 ? least(values.slice(0, 2).map(must), depth) : required
  return { [name]: property.typeOptions?.["multipleValues"] === true ? [value] : value }
}

const alphanumeric = "string-alphanumeric"

const code: Readonly<Record<string, string>> = { jsCode: "return $input.all()", pythonCode: "return _items" }

/** A value that will do where nothing better is known. */
const sample = (property: Property, depth = 0): unknown => {
  const { name, type } = property
  if (code[name] !== undefined) return code[name]
  if (!isEmpty(property.default) && !/^resource|Selector$/.test(type)) return compared(property.default)
  if (property.validateType === alphanumeric) return exampleOf(property).replace(/\W+/g, "_") || name
  switch (type) {
    case "options":
    case "credentialsSelect":
      return choices(property).find(({ value }) => value !== "")?.value ?? expression(name)
    case "multiOptions": {
      const [first] = choices(property)
      return first === undefined ? expression(name) : [first.value]
    }
    case "boolean":
      return false
    case "number":
      return 1
    case "dateTime":
      return "2026-01-31T09:00:00"
    case "json":
      return "{}"
    case "resourceLocator":
    case "workflowSelector":
    case "agentSelector":
      return locator(property)
    case "resourceMapper":
      return { mappingMode: "autoMapInputData", value: null }
    case "filter":
      return filter
    case "assignmentCollection":
      return assignments
    case "collection":
      return least(members(property), depth)
    case "fixedCollection": {
      const [first] = groups(property)
      return first === undefined ? {} : group(property, first, depth)
    }
  }
  return exampleOf(property) || expression(name)
}

/** What the node is for, though n8n would take it without. */
const isPurpose = ({ default: initial, name, type, typeOptions, validateType }: Property) =>
  typeOptions?.["minRequiredFields"] !== undefined || validateType === alphanumeric && isEmpty(initial) ||
  type === "filter" || type === "assignmentCollection" || type === "fixedCollection" && !isEmpty(initial) ||
  type === "options" && (name === "resource" || name === "operation") ||
  type === "string" && (name === "path" || name === "name" || Object.hasOwn(code, name))

/**
 * Parameters that n8n accepts: the given ones, and what is required besides.
 *
 * **Details**
 *
 * What is filled in can make more parameters appear, and these be required: it goes on until nothing new does.
 */
export const parameters = (description: Description, typeVersion: number, base: Obj): Obj => {
  const added = Parameters.applying(description, { typeVersion, parameters: base }).filter((property) =>
    !Object.hasOwn(base, property.name) && property.type !== "hidden" && (property.required || isPurpose(property))
  )
  if (added.length === 0) return base
  const samples = Object.fromEntries(added.map((property) => [property.name, sample(property)]))
  return parameters(description, typeVersion, { ...base, ...samples })
}
