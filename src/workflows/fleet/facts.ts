/** Facts about one workflow that its links to others follow from. Pure. */
import { defined, num, type Obj, obj, str } from "../../base/Json.ts"
import * as Workflow from "../../n8n/model/Workflow.ts"
import { callOf } from "../Calls.ts"
import * as contracts from "./contracts.ts"
import * as webhooks from "./webhooks.ts"

export type Kind = "calls" | "tool" | "error" | "http" | "table"

/** Limit of a link that does not always count: its node is disabled, or only one of two versions has it. */
export type State = "disabled" | "draft" | "live"

export interface Reference {
  readonly kind: Kind
  readonly node: string
  readonly state?: State
  readonly to?: string
  /** Name of a table that is selected by name. */
  readonly toName?: string
  /** Text that decides at run time. */
  readonly decidedBy?: string
  readonly request?: webhooks.Request
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
  readonly inputs: contracts.Inputs | undefined
  /** Ids of the workflows that may call it; absent if its settings do not list them. */
  readonly callers?: ReadonlySet<string>
  readonly webhooks: ReadonlyArray<webhooks.Webhook>
  readonly references: ReadonlyArray<Reference>
  readonly credentials: ReadonlyArray<Credential>
}

type Source = Pick<Workflow.Listed, "id" | "name" | "active" | "isArchived"> & {
  readonly nodes: ReadonlyArray<unknown>
  readonly settings?: unknown
}

const byHand = [contracts.triggerType, "n8n-nodes-base.manualTrigger", "@n8n/n8n-nodes-langchain.manualChatTrigger"]
const errorTrigger = "n8n-nodes-base.errorTrigger"

export const isSub = ({ triggers }: Facts): boolean => triggers.has(contracts.triggerType)

export const isCallable = ({ triggers }: Facts): boolean => byHand.some((type) => triggers.has(type))

export const handlesErrors = ({ triggers }: Facts): boolean => triggers.has(errorTrigger)

/** Whether anything else than a call, a failure or a person starts it. */
export const hasOwnTrigger = ({ triggers }: Facts): boolean =>
  [...triggers].some((type) => type !== errorTrigger && !byHand.includes(type))

const tableReference = (node: Obj): Pick<Reference, "kind" | "to" | "toName" | "decidedBy"> | undefined => {
  const { dataTableId, operation = "list", resource, source } = Workflow.parametersOf(node)
  const type = Workflow.typeOf(node)
  const usual = (num(node["typeVersion"]) ?? 1) >= 4.7 ? "dataTable" : "googleSheets"
  const isUsed = /\.evaluation(Trigger)?$/.test(type)
    ? (source ?? usual) === "dataTable"
    : /\.dataTable(Tool)?$/.test(type) && (resource !== "table" || operation !== "list" && operation !== "create")
  const { mode, value } = obj(dataTableId) ?? { value: dataTableId }
  if (!isUsed || typeof value !== "string" || value === "") return undefined
  if (value.startsWith("=")) return { kind: "table", decidedBy: value }
  return mode === "name" ? { kind: "table", toName: value } : { kind: "table", to: value }
}

const referencesOf = (nodes: ReadonlyArray<Obj>): ReadonlyArray<Reference> =>
  nodes.flatMap((node): ReadonlyArray<Reference> => {
    const call = callOf(node)
    const request = webhooks.requestOf(node)
    const link = call === undefined
      ? request === undefined ? tableReference(node) : { kind: "http" as const, request }
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
    inputs: contracts.declared({ nodes: live }),
    callers: callersIn(workflow.settings),
    webhooks: webhooks.webhooksOf(workflow.id, { nodes: live }),
    references: [...settingsReference(workflow.settings), ...references],
    credentials: [...new Map(credentials.map((each) => [each.id, each])).values()]
  }) as Facts
}
