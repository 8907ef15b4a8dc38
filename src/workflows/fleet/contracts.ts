/** Inputs that a sub-workflow declares, compared with those that a caller passes. Pure. */
import { arr, type Obj, obj, str } from "../../base/Json.ts"
import { nodes, parametersOf, typeOf } from "../../n8n/model/Workflow.ts"
import { caller } from "../Calls.ts"

export type Inputs = ReadonlyMap<string, string>

interface Passed {
  readonly values: ReadonlyMap<string, unknown>
  /** Types that the caller has stored of the inputs. */
  readonly types: ReadonlyMap<string, string>
}

/** Difference between declared and passed inputs; each list is absent if it is empty. */
export interface Mismatch {
  /** Declared, but not mapped by the caller: empty unless an item has a field of that name. */
  readonly missing?: ReadonlyArray<string>
  /** Passed, but not declared: the trigger drops them. */
  readonly unknown?: ReadonlyArray<string>
  readonly wrongType?: ReadonlyArray<string>
}

export const triggerType = "n8n-nodes-base.executeWorkflowTrigger"

/** Example that n8n uses until another is entered. */
const usualExample = { aField: "a string", aNumber: 123, thisFieldAcceptsAnyType: null, anArray: [] }

const parsed = (text: unknown): unknown => {
  try {
    return typeof text === "string" ? JSON.parse(text) : text
  } catch {
    return undefined
  }
}

const typeOfValue = (value: unknown) => value === null ? "any" : Array.isArray(value) ? "array" : typeof value

const version = ({ typeVersion }: Obj) => typeof typeVersion === "number" ? typeVersion : 1

/** Inputs that a workflow declares at its Execute Workflow Trigger; `undefined` if it takes any items as they are. */
export const declared = (workflow: { readonly nodes?: unknown }): Inputs | undefined => {
  const trigger = nodes(workflow).find((node) => typeOf(node) === triggerType && node["disabled"] !== true)
  if (trigger === undefined || version(trigger) < 1.1) return undefined
  const { inputSource = "workflowInputs", jsonExample = usualExample, workflowInputs } = parametersOf(trigger)
  switch (inputSource) {
    case "workflowInputs":
      return new Map(
        arr(obj(workflowInputs)?.["values"]).flatMap((input) => {
          const { name, type = "string" } = obj(input) ?? {}
          return typeof name === "string" && name !== "" ? [[name, String(type)]] : []
        })
      )
    case "jsonExample": {
      const example = obj(parsed(jsonExample))
      return example && new Map(Object.entries(example).map(([name, value]) => [name, typeOfValue(value)]))
    }
  }
  return undefined
}

/** Inputs of nodes whose callee gets a `query`, with further fields. */
const withQuery = ({ fields, inputSchema, jsonSchemaExample, schemaType, specifyInputSchema }: Obj): Passed => {
  const schema = obj(parsed(schemaType === "manual" ? inputSchema : jsonSchemaExample)) ?? {}
  const own = specifyInputSchema === true
    ? Object.keys(schemaType === "manual" ? obj(schema["properties"]) ?? {} : schema)
    : ["query"]
  const added = arr(obj(fields)?.["values"]).flatMap((field) => str(obj(field)?.["name"]) ?? [])
  return { values: new Map([...own, ...added].map((name) => [name, "="])), types: new Map() }
}

/** Inputs that a node passes; `undefined` if it passes its items as they are. */
const passed = (node: Obj): Passed | undefined => {
  const isCall = typeOf(node) === caller
  const parameters = parametersOf(node)
  if (version(node) < (isCall ? 1.2 : 2)) return isCall ? undefined : withQuery(parameters)
  const { mappingMode, schema, value } = obj(parameters["workflowInputs"]) ?? {}
  const fields = arr(schema).map((field) => obj(field) ?? {})
  const values = obj(value) ?? {}
  if (typeof value === "string" || mappingMode === "autoMapInputData") return undefined
  if (fields.length === 0 && Object.keys(values).length === 0) return isCall ? undefined : withQuery({})
  return {
    values: new Map(Object.entries(values).filter(([, value]) => value !== null && value !== undefined)),
    types: new Map(
      fields.flatMap(({ id, type }) => typeof id === "string" && typeof type === "string" ? [[id, type]] : [])
    )
  }
}

/** Type of a value that does not fit the declared one; `undefined` if it fits or is decided at run time. */
const wrongType = (takes: string, value: unknown, stored: string | undefined): string | undefined => {
  if (takes === "any") return undefined
  if (typeof value === "string" && value.startsWith("=")) {
    return stored === undefined || stored === "any" || stored === takes ? undefined : stored
  }
  const is = typeOfValue(value)
  // n8n makes text of other values, and reads JSON in text.
  const fits = is === takes || takes === "string" || is === "string" && typeOfValue(parsed(value)) === takes
  return fits ? undefined : is
}

const nonEmpty = <A>(key: string, list: ReadonlyArray<A>) => list.length === 0 ? {} : { [key]: list }

/** Mismatch between the inputs of a callee and those that a node passes; `undefined` if they agree. */
export const mismatch = (node: Obj | undefined, inputs: Inputs | undefined): Mismatch | undefined => {
  const all = node && passed(node)
  if (inputs === undefined || all === undefined) return undefined
  const result: Mismatch = {
    ...nonEmpty("missing", [...inputs.keys()].filter((name) => !all.values.has(name))),
    ...nonEmpty("unknown", [...all.values.keys()].filter((name) => !inputs.has(name))),
    ...nonEmpty(
      "wrongType",
      [...inputs].flatMap(([name, takes]) => {
        const passes = all.values.has(name) ? wrongType(takes, all.values.get(name), all.types.get(name)) : undefined
        return passes === undefined ? [] : [`${name}: passes ${passes}, takes ${takes}`]
      })
    )
  }
  return Object.keys(result).length === 0 ? undefined : result
}
