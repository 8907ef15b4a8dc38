/** Facts about one workflow that determine its links to others: references, addresses and inputs. Pure. */
import { arr, defined, type Obj, obj, str } from "../base/Json.ts"
import * as Workflow from "../n8n/model/Workflow.ts"
import * as References from "../workflow/References.ts"
import * as Webhooks from "../workflow/Webhooks.ts"

export type Inputs = ReadonlyMap<string, string>

interface Passed {
  readonly values: ReadonlyMap<string, unknown>
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
  const trigger = Workflow.nodes(workflow).find((node) =>
    Workflow.typeOf(node) === References.trigger && node["disabled"] !== true
  )
  if (trigger === undefined || version(trigger) < 1.1) return undefined
  const { inputSource = "workflowInputs", jsonExample = usualExample, workflowInputs } = Workflow.parametersOf(trigger)
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

const passed = (node: Obj): Passed | undefined => {
  const isCall = Workflow.typeOf(node) === References.caller
  const parameters = Workflow.parametersOf(node)
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

/** Limit of a link that does not always count: its node is disabled, or only one of two versions has it. */
export type State = "disabled" | "draft" | "live"

export interface Reference extends References.Reference {
  readonly state?: State
  /** Node that passes inputs to the workflow that it calls. */
  readonly passes?: Obj
}

/** Facts about one workflow; what it offers to others is as it runs, what it refers to as it runs or as its draft has it. */
export interface Facts extends References.Callee {
  readonly name: string
  readonly inputs: Inputs | undefined
  readonly webhooks: ReadonlyArray<Webhooks.Webhook>
  readonly references: ReadonlyArray<Reference>
  readonly credentials: ReadonlyArray<References.NamedRef & { readonly type: string }>
}

type Source = Pick<Workflow.Listed, "id" | "name" | "active" | "isArchived"> & {
  readonly nodes: ReadonlyArray<unknown>
  readonly settings?: unknown
}

const linking: ReadonlySet<References.Kind> = new Set(["calls", "tool", "error", "http", "table"])

const referencesOf = (nodes: ReadonlyArray<Obj>, settings: unknown): ReadonlyArray<Reference> =>
  References.of({ nodes, settings }).flatMap((reference) => {
    const { kind, steps, unused } = reference
    if (!linking.has(kind) || unused === "unread") return []
    return defined({
      ...reference,
      state: unused,
      passes: References.isCall(reference) ? nodes[Number(steps[1])] : undefined
    })
  })

const keyOf = ({ decidedBy, id, kind, name, node, request, state }: Reference) =>
  JSON.stringify([kind, node, state, id ?? [name], decidedBy, request])

/** References of the draft and of the version that runs; each says so if only one has it. */
const merged = (draft: ReadonlyArray<Reference>, live: ReadonlyArray<Reference>): ReadonlyArray<Reference> => {
  const [inDraft, inLive] = [new Set(draft.map(keyOf)), new Set(live.map(keyOf))]
  const only = (list: ReadonlyArray<Reference>, other: ReadonlySet<string>, state: State) =>
    list.map((each) => other.has(keyOf(each)) || each.state !== undefined ? each : { ...each, state })
  return [...only(draft, inLive, "draft"), ...only(live, inDraft, "live").filter((each) => !inDraft.has(keyOf(each)))]
}

/** Facts about a workflow; `running` are the nodes that run, if they are not those of the workflow. */
export const of = (workflow: Source, running?: ReadonlyArray<unknown>): Facts => {
  const { name, nodes, settings } = workflow
  const live = running ?? nodes
  const draft = referencesOf(Workflow.nodes({ nodes }), settings)
  return {
    ...References.callee(workflow, live),
    name,
    inputs: declared({ nodes: live }),
    webhooks: Webhooks.of(workflow.id, { nodes: live }),
    references: running === undefined
      ? draft
      : merged(draft, referencesOf(Workflow.nodes({ nodes: running }), settings)),
    credentials: References.credentials([{ nodes }, { nodes: live }])
  }
}
