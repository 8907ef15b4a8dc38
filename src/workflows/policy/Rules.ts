/** Violations of an operator's rules in a workflow. */
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import type * as Errors from "../../base/Errors.ts"
import { type Obj, obj, str } from "../../base/Json.ts"
import * as Visible from "../../base/Visible.ts"
import * as ToolVariant from "../../catalogue/types/ToolVariant.ts"
import * as Workflow from "../../n8n/model/Workflow.ts"
import { enabled, inWords, rulesOf, shortestGap } from "./schedule.ts"

const Names = Schema.Array(Schema.String.check(Schema.isMinLength(1)))

/** Rules of an operator. An absent rule allows everything. */
export const Rules = Schema.Struct({
  /** Node types that no workflow may contain, with their tool variants: `n8n-nodes-base.ssh`, or `ssh` of any package. */
  bannedNodes: Schema.optionalKey(Names),
  /** Minimum number of minutes between two starts of a workflow by schedules and polling triggers. */
  minScheduleMinutes: Schema.optionalKey(Schema.Finite.check(Schema.isGreaterThan(0))),
  /** Tags of workflows that must not be changed. */
  protectedTags: Schema.optionalKey(Names),
  /** Requires an error workflow in the settings of every workflow that is not one itself. */
  requireErrorWorkflow: Schema.optionalKey(Schema.Boolean)
})
export type Rules = typeof Rules.Type

export interface Fault {
  readonly message: string
  readonly path: string
}

const nameOf = (node: Obj) => Visible.label(Workflow.nameOf(node) || "?")

const lower = (text: string) => text.toLowerCase()

/** Entry of the list that bans a type. */
const ban = (type: string, banned: ReadonlyArray<string>) => {
  const names = new Set([type, ToolVariant.baseOf(type) ?? type].flatMap((name) => [
    lower(name),
    lower(name.slice(name.lastIndexOf(".") + 1))
  ]))
  return banned.find((entry) => names.has(lower(entry)))
}

const maxDepth = 5

/** JSON of the workflow inside a node, or the reason why it is unknown. */
const nested = (node: Obj): Obj | string | undefined => {
  if (!/(executeWorkflow|executeWorkflowTool|toolWorkflow|retrieverWorkflow)$/.test(Workflow.typeOf(node))) {
    return undefined
  }
  const parameters = Workflow.parametersOf(node)
  const source = str(parameters["source"]) ?? "database"
  if (source === "database") return undefined
  if (source !== "parameter") return `it runs a workflow from ${source === "url" ? "a URL" : `'${source}'`}`
  try {
    return obj(JSON.parse(str(parameters["workflowJson"]) ?? "")) ?? "the workflow in it is not an object"
  } catch {
    return "the workflow in it is an expression or not JSON"
  }
}

/** Violations by banned nodes, including those of workflows inside nodes. */
export const bannedIn = (
  nodes: ReadonlyArray<Obj>,
  { bannedNodes = [] }: Rules,
  place = "nodes",
  depth = 0
): ReadonlyArray<Fault> => {
  if (bannedNodes.length === 0) return []
  return nodes.flatMap((node, index) => {
    const path = `${place}[${index}]`
    const entry = ban(Workflow.typeOf(node), bannedNodes)
    const inner = depth < maxDepth ? nested(node) : "its workflows are nested too deeply"
    return [
      ...(entry === undefined
        ? []
        : [{ message: `bannedNodes: '${entry}' is banned, and '${nameOf(node)}' is one`, path: `${path}.type` }]),
      ...(inner === undefined
        ? []
        : typeof inner === "string"
        ? [{ message: `bannedNodes: '${nameOf(node)}' cannot be checked: ${inner}`, path: `${path}.parameters` }]
        : bannedIn(Workflow.nodes(inner), { bannedNodes }, `${path}.parameters.workflowJson.nodes`, depth + 1))
    ]
  })
}

/** Whether a node type polls; `undefined` for an unknown type. */
type IsPolling = (type: string) => boolean | undefined

const scheduled = (
  workflow: Obj,
  { minScheduleMinutes }: Rules,
  isPolling: IsPolling
): ReadonlyArray<Fault> => {
  if (minScheduleMinutes === undefined) return []
  const nodes = Workflow.nodes(workflow)
  const byNode = enabled(workflow).flatMap((node) => {
    const rules = rulesOf(node, isPolling(Workflow.typeOf(node)))
    return rules.length === 0 ? [] : [{ node, rules }]
  })
  const unknown = byNode.find(({ rules }) => rules.includes(undefined))
  const at = (node: Obj | undefined) =>
    `nodes[${nodes.findIndex((each) => each["name"] === node?.["name"])}].parameters`
  if (unknown !== undefined) {
    return [{
      message: `minScheduleMinutes: ${minScheduleMinutes}, and when '${
        nameOf(unknown.node)
      }' starts the workflow cannot be checked: use fixed times instead of an expression`,
      path: at(unknown.node)
    }]
  }
  const gap = shortestGap(byNode.flatMap(({ rules }) => rules.flatMap((times) => times ?? [])))
  if (gap >= minScheduleMinutes * 60) return []
  const names = byNode.map(({ node }) => `'${nameOf(node)}'`).join(" and ")
  return [{
    message: `minScheduleMinutes: ${minScheduleMinutes}, and ${names} would start the workflow again after ${
      inWords(gap)
    }`,
    path: at(byNode[0]?.node)
  }]
}

const isErrorWorkflow = (workflow: Obj) => enabled(workflow).some(({ type }) => type === "n8n-nodes-base.errorTrigger")

/** Id of the error workflow in the settings; n8n does not evaluate an expression there. */
const errorWorkflowId = (workflow: Obj) => {
  const id = str(obj(workflow["settings"])?.["errorWorkflow"])?.trim() ?? ""
  return id === "" || id === "DEFAULT" || id.startsWith("=") ? undefined : id
}

export const hasErrorWorkflow = (workflow: Obj): boolean =>
  isErrorWorkflow(workflow) || errorWorkflowId(workflow) !== undefined

/** Violations by the error workflow in the settings; `read` reads a workflow by its id. */
export const errorWorkflowFaults = Effect.fnUntraced(function*(
  workflow: Obj,
  { requireErrorWorkflow }: Rules,
  read: (id: string) => Effect.Effect<unknown, Errors.N8nError>
) {
  if (requireErrorWorkflow !== true || isErrorWorkflow(workflow)) return []
  const fault = (what: string): ReadonlyArray<Fault> => [
    { message: `requireErrorWorkflow: settings.errorWorkflow names ${what}`, path: "settings.errorWorkflow" }
  ]
  const id = errorWorkflowId(workflow)
  if (id === undefined) return fault("no workflow")
  const named = `'${Visible.label(id)}'`
  const errorWorkflow = id === workflow["id"]
    ? workflow
    : obj(yield* Effect.catchTag(read(id), "NotFoundError", () => Effect.undefined))
  if (errorWorkflow === undefined) return fault(`${named}, which does not exist`)
  if (errorWorkflow["isArchived"] === true) return fault(`${named}, which is archived`)
  return isErrorWorkflow(errorWorkflow) ? [] : fault(`${named}, which has no enabled Error Trigger`)
})

/** Violations by the nodes and schedules of a workflow. */
export const faultsOf = (workflow: Obj, rules: Rules, isPolling: IsPolling): ReadonlyArray<Fault> => [
  ...bannedIn(Workflow.nodes(workflow), rules),
  ...scheduled(workflow, rules, isPolling)
]

export const protectedTag = (names: ReadonlyArray<string>, { protectedTags = [] }: Rules): string | undefined =>
  names.find((name) => protectedTags.some((tag) => lower(tag) === lower(name)))
