/** What is wrong with a workflow by an operator's rules. */
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import type * as Errors from "../../base/Errors.ts"
import { type Obj, obj, str } from "../../base/Json.ts"
import * as Visible from "../../base/Visible.ts"
import * as ToolVariant from "../../catalogue/types/ToolVariant.ts"
import * as Workflow from "../../n8n/model/Workflow.ts"
import { enabled, inWords, rulesOf, shortestGap } from "./schedule.ts"

const Names = Schema.Array(Schema.String.check(Schema.isMinLength(1)))

/** The rules; one that is absent allows everything. */
export const Rules = Schema.Struct({
  /** Node types that no workflow may hold: `n8n-nodes-base.ssh`, or `ssh` of any package; their tool variants too. */
  bannedNodes: Schema.optionalKey(Names),
  /** No schedule or polling trigger may start a workflow sooner again. */
  minScheduleMinutes: Schema.optionalKey(Schema.Finite.check(Schema.isGreaterThan(0))),
  /** A workflow with one of these tags is not changed at all. */
  protectedTags: Schema.optionalKey(Names),
  /** A workflow must name another that n8n runs when it fails; an error workflow needs none. */
  requireErrorWorkflow: Schema.optionalKey(Schema.Boolean)
})
export type Rules = typeof Rules.Type

/** One rule that is broken. */
export interface Fault {
  /** The rule in its own words, and what breaks it. */
  readonly message: string
  /** Where, in the workflow. */
  readonly path: string
}

const nameOf = (node: Obj) => Visible.label(Workflow.nameOf(node) || "?")

const lower = (text: string) => text.toLowerCase()

/** The entry of the list that a type falls under. */
const ban = (type: string, banned: ReadonlyArray<string>) => {
  const names = new Set([type, ToolVariant.baseOf(type) ?? type].flatMap((name) => [
    lower(name),
    lower(name.slice(name.lastIndexOf(".") + 1))
  ]))
  return banned.find((entry) => names.has(lower(entry)))
}

/** Deeper than workflows hold workflows. */
const maxDepth = 5

/** A workflow that stands in a node: its JSON, why nobody knows it, or nothing. */
const nested = (node: Obj): Obj | string | undefined => {
  if (!/(executeWorkflow|executeWorkflowTool|toolWorkflow|retrieverWorkflow)$/.test(Workflow.typeOf(node))) {
    return undefined
  }
  const parameters = Workflow.parametersOf(node)
  const source = str(parameters["source"]) ?? "database"
  if (source === "database") return undefined
  if (source !== "parameter") return `it runs a workflow from ${source === "url" ? "a URL" : `'${source}'`}`
  try {
    return obj(JSON.parse(str(parameters["workflowJson"]) ?? "")) ?? "the workflow in it is no object"
  } catch {
    return "the workflow in it is an expression or no JSON"
  }
}

/** The banned nodes among these, also in workflows that stand in nodes. */
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
    const inner = depth < maxDepth ? nested(node) : "workflows in it hold workflows in turn, too deep to look into"
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

/** Whether a type polls; `undefined` for one that no one knows. */
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
      }' starts the workflow cannot be checked: write the times out, without an expression`,
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

/** The id of the error workflow that a workflow names; an expression is none, for n8n does not evaluate it. */
const errorWorkflowId = (workflow: Obj) => {
  const id = str(obj(workflow["settings"])?.["errorWorkflow"])?.trim() ?? ""
  return id === "" || id === "DEFAULT" || id.startsWith("=") ? undefined : id
}

/** Whether n8n runs another workflow when this one fails, or this is such a one. */
export const hasErrorWorkflow = (workflow: Obj): boolean =>
  isErrorWorkflow(workflow) || errorWorkflowId(workflow) !== undefined

/** What is wrong with the error workflow that a workflow names; `read` reads a workflow by its id. */
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
  const found = id === workflow["id"]
    ? workflow
    : obj(yield* Effect.catchTag(read(id), "NotFoundError", () => Effect.undefined))
  if (found === undefined) return fault(`${named}, which does not exist`)
  if (found["isArchived"] === true) return fault(`${named}, which is archived`)
  return isErrorWorkflow(found) ? [] : fault(`${named}, which has no enabled Error Trigger`)
})

/** Everything else about a workflow's content that breaks the rules. */
export const faultsOf = (workflow: Obj, rules: Rules, isPolling: IsPolling): ReadonlyArray<Fault> => [
  ...bannedIn(Workflow.nodes(workflow), rules),
  ...scheduled(workflow, rules, isPolling)
]

/** The protected tag among these names. */
export const protectedTag = (names: ReadonlyArray<string>, { protectedTags = [] }: Rules): string | undefined =>
  names.find((name) => protectedTags.some((tag) => lower(tag) === lower(name)))
