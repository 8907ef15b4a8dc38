/** Facts about one workflow that determine its links to others: webhooks, requests, inputs, calls, tables. Pure. */
import { arr, defined, type Obj, obj, str } from "../base/Json.ts"
import * as Workflow from "../n8n/model/Workflow.ts"
import { caller, callOf } from "../workflow/Calls.ts"
import { tableOf } from "../workflow/TableUses.ts"

type Base = "webhook" | "form" | "mcp"

export interface Webhook {
  readonly base: Base
  /** A segment that begins with a colon stands for any text. */
  readonly segments: ReadonlyArray<string>
  readonly isPrefix: boolean
  readonly methods?: ReadonlyArray<string>
}

export interface Request {
  readonly url: string
  readonly host?: string
  readonly base: Base
  readonly isTest: boolean
  /** A segment that is decided at run time is `undefined`. */
  readonly segments: ReadonlyArray<string | undefined>
  readonly method?: string
}

const split = (path: string) => path.split("/").filter((segment) => segment !== "")

/** Addresses of a workflow's triggers; n8n 1 puts ids before the path of a node without a `webhookId`. */
export const webhooksOf = (id: string, workflow: { readonly nodes?: unknown }): ReadonlyArray<Webhook> =>
  Workflow.nodes(workflow).flatMap((node): ReadonlyArray<Webhook> => {
    if (node["disabled"] === true) return []
    const { httpMethod, multipleMethods, options, path } = Workflow.parametersOf(node)
    const own = [str(path), str(obj(options)?.["path"]), str(node["webhookId"])].find(Boolean) ?? ""
    const webhookId = str(node["webhookId"])
    if (own.startsWith("=")) return []
    switch (Workflow.typeOf(node)) {
      case "n8n-nodes-base.webhook": {
        const segments = split(own)
        const all = webhookId === undefined
          ? [segments, [id, Workflow.nameOf(node).toLowerCase(), ...segments]]
          : [segments.some((segment) => segment.startsWith(":")) ? [webhookId, ...segments] : segments]
        const methods = multipleMethods === true
          ? arr(httpMethod ?? ["GET", "POST"]).map(String)
          : [str(httpMethod) ?? "GET"]
        return all.map((segments) => ({ base: "webhook", segments, isPrefix: false, methods }))
      }
      case "n8n-nodes-base.formTrigger":
        return [{ base: "form", segments: split(own), isPrefix: true }]
      case "@n8n/n8n-nodes-langchain.mcpTrigger":
        return [{ base: "mcp", segments: split(own), isPrefix: true }]
    }
    return webhookId === undefined ? [] : [{ base: "webhook", segments: [webhookId], isPrefix: true }]
  })

const hasUrl: ReadonlySet<string> = new Set([
  "n8n-nodes-base.httpRequest",
  "n8n-nodes-base.httpRequestTool",
  "@n8n/n8n-nodes-langchain.toolHttpRequest",
  "@n8n/n8n-nodes-langchain.mcpClientTool",
  "@n8n/n8n-nodes-langchain.mcpClient"
])

/** Sign for a part of a URL that is decided at run time. */
const open = "\uFFFC"
const bases = /^(.*?)\/(webhook|form|mcp)(-test)?\/([^?#]*)/s
const literalWithPath = /(["'`])((?:(?!\1).)*\/(?:webhook|form|mcp)(?:-test)?\/(?:(?!\1).)*)\1\s*(\+)?/s

/** URL whose parts decided at run time are replaced by a sign, those beside a literal path in an expression too. */
const literalParts = (url: string): string =>
  // A `{placeholder}` of an HTTP tool is filled in by the model.
  !url.startsWith("=") ?
    url.replace(/\{[^{}]*\}/g, open) :
    url.slice(1).replace(/\{\{(.*?)\}\}/gs, (_, inner: string) => {
      const [, , text = "", plus] = literalWithPath.exec(inner.replace(/\$\{[^}]*\}/g, open)) ?? []
      return text === "" ? open : `${text.startsWith("http") ? "" : open}${text}${plus === undefined ? "" : open}`
    })

const decoded = (segment: string) => {
  try {
    return decodeURIComponent(segment)
  } catch {
    return segment
  }
}

/** Request of a node, if the literal part of its URL has the form of a webhook's. */
export const requestOf = (node: Obj): Request | undefined => {
  const type = Workflow.typeOf(node)
  if (!hasUrl.has(type)) return undefined
  const parameters = Workflow.parametersOf(node)
  const url = ["url", "endpointUrl", "sseEndpoint"].map((name) => str(parameters[name])).find(Boolean) ?? ""
  const [, before = "", base, test, path = ""] = bases.exec(literalParts(url)) ?? []
  if (base === undefined) return undefined
  const [, host] = /^\s*https?:\/\/([^/]+)/i.exec(before) ?? []
  const method = type.includes("mcp") ? undefined : str(parameters["method"] ?? parameters["requestMethod"] ?? "GET")
  return {
    url,
    base: base as Base,
    isTest: test !== undefined,
    segments: split(path).map((segment) => segment.includes(open) ? undefined : decoded(segment)),
    ...(host === undefined || host.includes(open) ? {} : { host: host.toLowerCase() }),
    ...(method === undefined || method.startsWith("=") ? {} : { method })
  }
}

/** Whether a request goes to a webhook's address, by whatever method. */
export const isTo = ({ base, segments }: Request, webhook: Webhook): boolean =>
  base === webhook.base &&
  (webhook.isPrefix ? segments.length >= webhook.segments.length : segments.length === webhook.segments.length) &&
  webhook.segments.every((segment, index) => segment.startsWith(":") || segments[index] === segment)

export const takes = ({ methods }: Webhook, { method }: Request): boolean =>
  methods === undefined || method === undefined || methods.includes(method)

const loopback = /^(localhost|127\.0\.0\.1|\[::1\]|0\.0\.0\.0)(?::(\d+))?$/

/** Whether a host is this n8n's, which may also call itself on its own machine. */
export const isHostOf = (hosts: ReadonlySet<string>) => (host: string): boolean => {
  const [, , port = "80"] = loopback.exec(host) ?? []
  return hosts.has(host) ||
    loopback.test(host) && (port === "5678" || [...hosts].some((each) => loopback.exec(each)?.[2] === port))
}

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
  const trigger = Workflow.nodes(workflow).find((node) =>
    Workflow.typeOf(node) === triggerType && node["disabled"] !== true
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
  const isCall = Workflow.typeOf(node) === caller
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

export type Kind = "calls" | "tool" | "error" | "http" | "table"

/** Limit of a link that does not always count: its node is disabled, or only one of two versions has it. */
export type State = "disabled" | "draft" | "live"

export interface Reference {
  readonly kind: Kind
  readonly node: string
  readonly state?: State
  readonly to?: string
  readonly toName?: string
  readonly decidedBy?: string
  readonly request?: Request
  readonly passes?: Obj
}

export interface Credential {
  readonly id: string
  readonly name: string
  readonly type: string
}

/** Facts about one workflow; what it offers to others is as it runs, what it refers to as it runs or as its draft has it. */
export interface Facts {
  readonly id: string
  readonly name: string
  readonly isPublished: boolean
  readonly isArchived: boolean
  readonly triggers: ReadonlySet<string>
  readonly inputs: Inputs | undefined
  /** Ids of the workflows that may call it; absent if its settings do not list them. */
  readonly callers?: ReadonlySet<string>
  readonly webhooks: ReadonlyArray<Webhook>
  readonly references: ReadonlyArray<Reference>
  readonly credentials: ReadonlyArray<Credential>
}

type Source = Pick<Workflow.Listed, "id" | "name" | "active" | "isArchived"> & {
  readonly nodes: ReadonlyArray<unknown>
  readonly settings?: unknown
}

const byHand = [triggerType, "n8n-nodes-base.manualTrigger", "@n8n/n8n-nodes-langchain.manualChatTrigger"]
const errorTrigger = "n8n-nodes-base.errorTrigger"

export const isSub = ({ triggers }: Facts): boolean => triggers.has(triggerType)

export const isCallable = ({ triggers }: Facts): boolean => byHand.some((type) => triggers.has(type))

export const handlesErrors = ({ triggers }: Facts): boolean => triggers.has(errorTrigger)

/** Whether anything else than a call, a failure or a person starts it. */
export const hasOwnTrigger = ({ triggers }: Facts): boolean =>
  [...triggers].some((type) => type !== errorTrigger && !byHand.includes(type))

const referencesOf = (nodes: ReadonlyArray<Obj>): ReadonlyArray<Reference> =>
  nodes.flatMap((node): ReadonlyArray<Reference> => {
    const call = callOf(node)
    const request = requestOf(node)
    const link = call === undefined
      ? request === undefined ? tableOf(node) : { kind: "http" as const, request }
      : { ...call, passes: node }
    if (link === undefined) return []
    return [{
      node: Workflow.nameOf(node),
      ...(node["disabled"] === true ? { state: "disabled" as const } : {}),
      ...link
    }]
  })

const keyOf = ({ decidedBy, kind, node, request, state, to, toName }: Reference) =>
  JSON.stringify([kind, node, state, to, toName, decidedBy, request])

/** References of the draft and of the version that runs; each says so if only one has it. */
const merged = (draft: ReadonlyArray<Reference>, live: ReadonlyArray<Reference>): ReadonlyArray<Reference> => {
  const [inDraft, inLive] = [new Set(draft.map(keyOf)), new Set(live.map(keyOf))]
  const only = (list: ReadonlyArray<Reference>, other: ReadonlySet<string>, state: State) =>
    list.map((each) => other.has(keyOf(each)) || each.state !== undefined ? each : { ...each, state })
  return [...only(draft, inLive, "draft"), ...only(live, inDraft, "live").filter((each) => !inDraft.has(keyOf(each)))]
}

const settingsReference = (settings: unknown): ReadonlyArray<Reference> => {
  const id = str(obj(settings)?.["errorWorkflow"]) ?? ""
  return id === "" || id === "DEFAULT" ? [] : [{ kind: "error", node: "settings.errorWorkflow", to: id }]
}

const callersIn = (settings: unknown): ReadonlySet<string> | undefined => {
  const { callerIds, callerPolicy } = obj(settings) ?? {}
  if (callerPolicy !== "none" && callerPolicy !== "workflowsFromAList") return undefined
  return new Set(callerPolicy === "none" ? [] : (str(callerIds) ?? "").split(",").map((id) => id.trim()))
}

/** Facts about a workflow; `running` are the nodes that run, if they are not those of the workflow. */
export const of = (workflow: Source, running?: ReadonlyArray<unknown>): Facts => {
  const draft = Workflow.nodes(workflow)
  const live = running === undefined ? draft : Workflow.nodes({ nodes: running })
  const types = live.filter(({ disabled }) => disabled !== true).map(Workflow.typeOf)
  const references = running === undefined ? referencesOf(draft) : merged(referencesOf(draft), referencesOf(live))
  const credentials = Workflow.credentialsOf({ nodes: running === undefined ? draft : [...draft, ...live] })
  return defined({
    id: workflow.id,
    name: workflow.name,
    isPublished: workflow.active,
    isArchived: workflow.isArchived === true,
    triggers: new Set(types.filter((type) => Workflow.isTrigger({ type }))),
    inputs: declared({ nodes: live }),
    callers: callersIn(workflow.settings),
    webhooks: webhooksOf(workflow.id, { nodes: live }),
    references: [...settingsReference(workflow.settings), ...references],
    credentials: [...new Map(credentials.map((each) => [each.id, each])).values()]
  }) as Facts
}
