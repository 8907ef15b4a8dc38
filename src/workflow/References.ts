/** References of a workflow to what is outside of it: credentials, workflows, data tables, webhooks. Pure. */
import { arr, defined, mapValues, num, type Obj, obj, own, str } from "../base/Json.ts"
import * as JsonPath from "../base/JsonPath.ts"
import * as ParameterRules from "../catalogue/parameters/ParameterRules.ts"
import { about } from "../catalogue/parameters/ParameterValues.ts"
import * as NodeType from "../catalogue/types/NodeType.ts"
import * as Workflow from "../n8n/model/Workflow.ts"
import { type Request, requestOf } from "./Webhooks.ts"

/**
 * Kind of a reference: `calls` and `tool` run a workflow, `error` is the error workflow, `caller` a workflow that may
 * call this one, `api` a workflow that a request to an n8n's API names, which may be another n8n.
 */
export type Kind = "credential" | "calls" | "tool" | "error" | "caller" | "api" | "table" | "http"

/** Reference at one place; without `id`, a credential or table goes by its name. */
export interface Reference {
  readonly kind: Kind
  /** Steps from the workflow to the value. */
  readonly steps: ReadonlyArray<JsonPath.Step>
  /** Name of the node; absent in the settings. */
  readonly node?: string
  readonly nodeId?: string
  /** Reason why n8n does not use it: the node is disabled, or does not read it at its parameters. */
  readonly unused?: "disabled" | "unread"
  readonly id?: string
  /** Name as it is stored: for an id, as the editor last showed it. */
  readonly name?: string
  /** Text that decides at run time. */
  readonly decidedBy?: string
  /** Type of a credential. */
  readonly type?: string
  readonly request?: Request
}

/** Counterpart of a reference. */
export interface NamedRef {
  readonly id: string
  readonly name: string
}

/** Looks up a node type. */
export type Find = (type: string) => NodeType.NodeType | undefined

export const caller = "n8n-nodes-base.executeWorkflow"

const callers: { readonly [type: string]: "calls" | "tool" } = {
  [caller]: "calls",
  "@n8n/n8n-nodes-langchain.toolWorkflow": "tool",
  "@n8n/n8n-nodes-langchain.retrieverWorkflow": "tool"
}

/** Whether nodes of a type run another workflow. */
export const isCaller = (type: unknown): boolean => own(callers, String(type)) !== undefined

const textIn: { readonly [source: string]: string } = {
  parameter: "workflowJson",
  localFile: "workflowPath",
  url: "workflowUrl"
}

type Found = Pick<Reference, "id" | "name" | "decidedBy">

/** Value of a resource locator, or a plain one: its id, its name, or the expression that decides. */
const located = (value: unknown): Found | undefined => {
  const { cachedResultName, mode, value: inner } = obj(value) ?? { value }
  const text = (str(inner) ?? "").trim()
  if (text === "") return undefined
  if (text.startsWith("=")) return { decidedBy: text }
  if (mode === "name") return { name: text }
  const id = mode === "url" ? /\/workflow\/([\w-]+)/.exec(text)?.[1] : text
  return id === undefined ? undefined : defined({ id, name: str(cachedResultName) })
}

/** References to workflows and tables in a node's parameters, by the node's type. */
const inParameters = (node: Obj): ReadonlyArray<Pick<Reference, "kind" | "unused"> & Found & { at: string[] }> => {
  const type = Workflow.typeOf(node)
  const { dataTableId, filters, operation = "list", resource, source, workflowId } = Workflow.parametersOf(node)
  const one = (kind: Kind, at: string[], value: unknown, isRead: boolean) => {
    const target = located(value)
    return target === undefined ? [] : [{ kind, at, ...target, ...isRead ? {} : { unused: "unread" as const } }]
  }
  const kind = own(callers, type) as "calls" | "tool" | undefined
  if (kind !== undefined) {
    const isById = (source ?? "database") === "database"
    const text = textIn[String(source)] ?? ""
    const other = str(Workflow.parametersOf(node)[text]) ?? ""
    return [
      ...one(kind, ["workflowId"], workflowId, isById),
      // JSON in the node is a workflow of its own, without an id.
      ...isById
        ? []
        : [{ kind, at: [text], decidedBy: `${String(source)}: ${source === "parameter" ? "JSON in the node" : other}` }]
    ]
  }
  if (/\.n8n(Tool)?$/.test(type)) {
    return [
      ...one("api", ["workflowId"], workflowId, true),
      ...one("api", ["filters", "workflowId"], obj(filters)?.["workflowId"], true)
    ]
  }
  if (/\.evaluation(Trigger)?$/.test(type)) {
    const usual = (num(node["typeVersion"]) ?? 1) >= 4.7 ? "dataTable" : "googleSheets"
    return one("table", ["dataTableId"], dataTableId, (source ?? usual) === "dataTable")
  }
  return /\.dataTable(Tool)?$/.test(type)
    ? one(
      "table",
      ["dataTableId"],
      dataTableId,
      resource !== "table" || operation !== "list" && operation !== "create"
    )
    : []
}

/** Credential types that a node of this description reads at its parameters, complete with defaults. */
export const slots = (
  description: NodeType.Description,
  typeVersion: number,
  parameters: Obj
): ReadonlyArray<{ readonly type: string; readonly isRequired: boolean }> => {
  const scope = { values: parameters, root: parameters, ...about(description, { typeVersion, parameters }) }
  const { authentication } = parameters
  const key = authentication === "predefinedCredentialType"
    ? "nodeCredentialType"
    : authentication === "genericCredentialType"
    ? "genericAuthType"
    : ""
  const chosen = str(parameters[key]) ?? ""
  const byType = new Map(chosen === "" || chosen.startsWith("=") ? [] : [[chosen, true]])
  for (const { displayOptions, name, required } of description.credentials ?? []) {
    if (ParameterRules.isShown(displayOptions, scope)) byType.set(name, byType.get(name) === true || required === true)
  }
  return [...byType].map(([type, isRequired]) => ({ type, isRequired }))
}

/** Types of credentials that a node reads; `undefined` if its type is unknown. */
const typesRead = (node: Obj, find: Find): ReadonlySet<string> | undefined => {
  const nodeType = find(Workflow.typeOf(node))
  const typeVersion = num(node["typeVersion"]) ?? (nodeType && NodeType.defaultVersion(nodeType)) ?? 1
  const description = nodeType && NodeType.at(nodeType, typeVersion)
  if (description === undefined) return undefined
  const parameters = ParameterRules.complete(description, { typeVersion, parameters: Workflow.parametersOf(node) })
  return new Set(slots(description, typeVersion, parameters).map(({ type }) => type))
}

/** A credential in any of its forms: `{id, name}`, a name alone, or the text of n8n before 2022. */
const credential = (value: unknown): Found => {
  const { __aiGatewayManaged, id, name = value } = obj(value) ?? {}
  if (__aiGatewayManaged) return { decidedBy: "n8n" }
  const [byId, byName] = [str(id) || undefined, str(name) || undefined]
  return byId?.startsWith("=") === true ? { decidedBy: byId } : defined({ id: byId, name: byName })
}

/**
 * References of a node, in whatever state it is; `index` is its place in the workflow. With `find`, credentials that it
 * does not read are `unused`.
 */
export const ofNode = (node: Obj, index = 0, find?: Find): ReadonlyArray<Reference> => {
  const by = defined({ node: Workflow.nameOf(node), nodeId: str(node["id"]) })
  const disabled = node["disabled"] === true ? { unused: "disabled" as const } : {}
  const request = requestOf(node)
  const credentials = Object.entries(obj(node["credentials"]) ?? {})
  const read = find === undefined || credentials.length === 0 ? undefined : typesRead(node, find)
  return [
    ...inParameters(node).map(({ at, ...target }) => ({
      ...by,
      steps: ["nodes", index, "parameters", ...at],
      ...disabled,
      ...target
    })),
    ...request === undefined
      ? []
      : [{
        kind: "http" as const,
        ...by,
        steps: ["nodes", index, "parameters", request.parameter],
        ...disabled,
        request
      }],
    ...credentials.map(([type, value]) => ({
      kind: "credential" as const,
      ...by,
      steps: ["nodes", index, "credentials", type],
      ...disabled,
      ...read?.has(type) === false ? { unused: "unread" as const } : {},
      type,
      ...credential(value)
    }))
  ]
}

const ofSettings = (settings: Obj): ReadonlyArray<Reference> => {
  const error = (str(settings["errorWorkflow"]) ?? "").trim()
  return [
    // n8n does not evaluate an expression here.
    ...error === "" || error === "DEFAULT"
      ? []
      : [{ kind: "error" as const, steps: ["settings", "errorWorkflow"], id: error }],
    ...(str(settings["callerIds"]) ?? "").split(",").flatMap((id, index) =>
      id.trim() === "" ? [] : [{ kind: "caller" as const, steps: ["settings", "callerIds", index], id: id.trim() }]
    )
  ]
}

/** References of a workflow, those of its settings first. */
export const of = (
  { nodes, settings }: { readonly nodes?: unknown; readonly settings?: unknown },
  find?: Find
): ReadonlyArray<Reference> => [
  ...ofSettings(obj(settings) ?? {}),
  ...Workflow.nodes({ nodes }).flatMap((node, index) => ofNode(node, index, find))
]

/** Path of a reference from the workflow: `nodes[2].credentials.slackApi`. */
export const pathOf = ({ kind, steps }: Reference): string =>
  JsonPath.print(kind === "caller" ? steps.slice(0, -1) : steps)

/** Whether a reference names the workflow that a node runs. */
export const isCall = ({ kind }: Reference): boolean => kind === "calls" || kind === "tool"

/** Call of a workflow by a node, which may be disabled. */
export const callOf = (node: Obj): Reference | undefined =>
  ofNode(node).find((each) => isCall(each) && each.unused !== "unread")

/** Id of the workflow that a node runs, unless the node is disabled. */
export const calledBy = (node: Obj): string | undefined => node["disabled"] === true ? undefined : callOf(node)?.id

/** Credentials that workflows refer to by id, each once. */
export const credentials = (workflows: Iterable<{ readonly nodes?: unknown }>) => [
  ...new Map(
    [...workflows].flatMap((workflow) =>
      of({ nodes: workflow.nodes }).flatMap(({ id, kind, name = "", type = "" }) =>
        kind === "credential" && id !== undefined ? [[`${type} ${id}`, { id, name, type }] as const] : []
      )
    )
  ).values()
]

/** Value of a reference with another target; what the editor showed of the former is replaced. */
export const retargeted = ({ kind }: Reference, value: unknown, { id, name }: NamedRef): unknown => {
  if (kind === "credential") return { ...obj(value), id, name }
  const locator = obj(value)
  if (locator === undefined) return id
  return Object.fromEntries(
    Object.entries(locator).flatMap(([key, inner]) => {
      if (key === "value") return [[key, id]]
      if (key === "mode") return [[key, inner === "url" ? "id" : inner]]
      if (key === "cachedResultName") return [[key, name]]
      if (key === "cachedResultUrl") {
        // A table's URL contains its project.
        return kind === "table" ? [] : [[key, `/workflow/${id}`]]
      }
      return [[key, inner]]
    })
  )
}

/** Workflow whose references lead to their counterparts; `undefined` leaves one unchanged. */
export const replace = (workflow: Obj, resolve: (reference: Reference) => NamedRef | undefined): Obj =>
  of(workflow).reduce<Obj>((changed, reference) => {
    const target = resolve(reference)
    if (target === undefined) return changed
    const { kind, steps } = reference
    const isListed = kind === "caller"
    const at = isListed ? steps.slice(0, -1) : steps
    return obj(JsonPath.modify(changed, at, (value) =>
      isListed
        ? String(value).split(",").with(Number(steps.at(-1)), target.id).join(",")
        : retargeted(reference, value, target))) ?? changed
  }, workflow)

/**
 * Workflow in which a credential by its name alone has the id `null`: n8n then binds it to the only one of that name and
 * type, and otherwise to any of the type.
 */
export const withNullIds = (workflow: Obj): Obj => {
  const bindable = (value: unknown) => {
    const own = obj(value)
    const isOpen = own !== undefined && own["id"] === undefined && !own["__aiGatewayManaged"]
    return isOpen ? { name: "", ...own, id: null } : value
  }
  const nodes = arr(workflow["nodes"]).map((node) => {
    const credentials = obj(obj(node)?.["credentials"])
    return credentials === undefined ? node : { ...obj(node), credentials: mapValues(credentials, bindable) }
  })
  return Array.isArray(workflow["nodes"]) ? { ...workflow, nodes } : workflow
}

/** Type of the trigger that calls start. */
export const trigger = "n8n-nodes-base.executeWorkflowTrigger"
const byHand = [trigger, "n8n-nodes-base.manualTrigger", "@n8n/n8n-nodes-langchain.manualChatTrigger"]
const errorTrigger = "n8n-nodes-base.errorTrigger"

/** A workflow as those that refer to it see it: as it runs. */
export interface Callee {
  readonly id: string
  readonly isPublished: boolean
  readonly isArchived: boolean
  /** Types of its triggers that are not disabled. */
  readonly triggers: ReadonlySet<string>
  /** Ids of the workflows that may call it; absent if its settings do not list them. */
  readonly callers?: ReadonlySet<string>
}

export const isSub = ({ triggers }: Callee): boolean => triggers.has(trigger)

/** Whether anything else than a call, a failure or a person starts it. */
export const hasOwnTrigger = ({ triggers }: Callee): boolean =>
  [...triggers].some((type) => type !== errorTrigger && !byHand.includes(type))

const callersIn = (settings: unknown): ReadonlySet<string> | undefined => {
  const { callerIds, callerPolicy } = obj(settings) ?? {}
  if (callerPolicy !== "none" && callerPolicy !== "workflowsFromAList") return undefined
  return new Set(callerPolicy === "none" ? [] : (str(callerIds) ?? "").split(",").map((id) => id.trim()))
}

/** The workflow as a callee; `nodes` are those that run. */
export const callee = (
  workflow: Pick<Workflow.Listed, "active" | "id" | "isArchived"> & { readonly settings?: unknown },
  nodes: unknown
): Callee =>
  defined({
    id: workflow.id,
    isPublished: workflow.active,
    isArchived: workflow.isArchived === true,
    triggers: new Set(Workflow.enabledNodes({ nodes }).filter(Workflow.isTrigger).map(Workflow.typeOf)),
    callers: callersIn(workflow.settings)
  })

/** Reason why n8n does not follow a reference to an existing workflow: `isLive` is whether the referring version runs. */
export const faultOf = (
  kind: Kind,
  from: { readonly id: string | undefined; readonly isLive: boolean },
  to: Callee,
  isV1: boolean
) => {
  if (to.isArchived) return "archived"
  if (from.isLive && !to.isPublished && to.id !== from.id && (!isV1 || kind === "http")) return "unpublished"
  if (kind === "error" && !to.triggers.has(errorTrigger)) return "has no Error Trigger"
  if (kind === "calls" || kind === "tool") {
    if (!byHand.some((type) => to.triggers.has(type))) return "has no Execute Workflow Trigger"
    if (from.id !== undefined && to.callers?.has(from.id) === false) return "does not allow this caller"
  }
  return undefined
}
