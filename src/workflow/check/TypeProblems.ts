/** Problems with unknown or unavailable node types and versions. */
import { fold } from "../../base/Nearest.ts"
import type { Problem } from "../../base/Problem.ts"
import * as Rows from "../../base/Rows.ts"
import * as Turn from "../../base/Turn.ts"
import * as NodeType from "../../catalogue/types/NodeType.ts"
import { isNewer } from "../../catalogue/types/Releases.ts"
import * as ToolVariant from "../../catalogue/types/ToolVariant.ts"
import { type Checked, either, type Lookups, type Node, problemOf } from "./CheckedWorkflow.ts"
import type { Ruled, RuleId } from "./Rules.ts"

const own = /^(?:n8n-nodes-base|@n8n\/n8n-nodes-langchain)\./

/** Types of community packages and of n8n's custom folder. */
const community = /^(?:(?:@[^/]+\/)?n8n-nodes-[^/]+|CUSTOM)\.[^./]+$/

/** Whether the type belongs to a community package, which the catalogue does not describe. */
import { member } from "../../base/JsonPath.ts"
export const isCommunity = (type: string): boolean => !own.test(type) && community.test(type)

const base = "n8n-nodes-base."

const disabled: ReadonlySet<string> = new Set([`${base}executeCommand`, `${base}localFileTrigger`])

const internal: ReadonlySet<string> = new Set([`${base}dynamicCredentialCheck`, `${base}e2eTest`])

const unknownType = (node: Node, lookups: Lookups): Ruled => {
  const { at, type } = node
  const { connected, release } = lookups
  const problem = (rule: RuleId, severity: Problem["severity"], message: string, fix?: string) =>
    problemOf(node, rule, severity, message, fix, member(at, "type"))
  if (isCommunity(type)) {
    const message = `'${type}' is not one of n8n's own types and is not checked.`
    return problem("community-node", "warning", message, "Check that its package is installed in n8n.")
  }
  const last = lookups.removed?.(type)
  if (last !== undefined) {
    const [successor] = lookups.successors?.(type) ?? []
    const severity = connected !== undefined && !isNewer(connected, last) ? "warning" : "error"
    const message = `n8n ${release} no longer has the type '${type}'; n8n ${last} still had it.`
    return problem("removed-type", severity, message, successor && `Use '${successor}'.`)
  }
  const candidates = NodeType.nearestTypes(type, lookups)
  const isYounger = connected !== undefined && isNewer(connected, release)
  const isSame = candidates.some((each) => fold(NodeType.shortName(each)) === fold(NodeType.shortName(type)))
  const severity = isYounger && !isSame && own.test(type) ? "warning" : "error"
  const fix = isSame ? `Use ${either(candidates)}.` : `Did you mean ${either(candidates)}?`
  return problem(
    "unknown-type",
    severity,
    `n8n ${release} has no type '${type}'.`,
    candidates.length === 0 ? undefined : fix
  )
}

const unknownVersion = (node: Node, nodeType: NodeType.NodeType, version: number, lookups: Lookups): Ruled => {
  const versions = NodeType.versions(nodeType)
  const newest = versions.at(-1) ?? 1
  const isYounger = lookups.connected !== undefined && isNewer(lookups.connected, lookups.release)
  // n8n ignores the version if there is only one implementation.
  const isOverlooked = nodeType.descriptions.length === 1
  const more = isOverlooked
    ? "; n8n runs it anyway"
    : version > newest
    ? `: in n8n ${lookups.release} the newest is ${newest}`
    : ""
  return problemOf(
    node,
    "unknown-version",
    isOverlooked || version > newest && isYounger ? "warning" : "error",
    `'${node.type}' has no version ${version}${more}.`,
    `It has ${Rows.listed(versions.map(String), 20)}.`,
    member(node.at, "typeVersion")
  )
}

const lacked = (node: Node, nodeType: NodeType.NodeType, version: number, { connected, isLacked }: Lookups) => {
  const there = NodeType.versions(nodeType).findLast((each) => isLacked?.(node.type, each) !== true)
  const [what, fix] = there === undefined
    ? [`type '${node.type}'`, "Use another type, or update n8n."]
    : [`version ${version} of '${node.type}'`, `Use ${there}, the newest it has, or update n8n.`]
  return problemOf(
    node,
    "unavailable-type",
    "error",
    `The connected n8n ${connected} has no ${what}.`,
    fix,
    member(node.at, "typeVersion")
  )
}

const ofNode = (node: Node, lookups: Lookups): ReadonlyArray<Ruled> => {
  const { at, description, nodeType, type, version } = node
  if (type === "") return []
  if (nodeType === undefined) return [unknownType(node, lookups)]
  if (version === undefined) return []
  if (description === undefined) return [unknownVersion(node, nodeType, version, lookups)]
  const own = ToolVariant.baseOf(type) ?? type
  if (internal.has(own)) {
    return [
      problemOf(
        node,
        "unavailable-type",
        "error",
        `'${type}' is for n8n's own tests.`,
        "Use another type.",
        member(at, "type")
      )
    ]
  }
  if (disabled.has(own) && lookups.isV1 !== true) {
    const fix = "Use another type, or ask the operator of n8n to start it with NODES_EXCLUDE=[]."
    const message = `n8n 2 disables '${type}' by default.`
    return [problemOf(node, "unavailable-type", "error", message, fix, member(at, "type"))]
  }
  const isLacked = lookups.connected !== undefined && lookups.isLacked?.(type, version) === true
  return isLacked ? [lacked(node, nodeType, version, lookups)] : []
}

export const typeProblems = ({ nodes }: Checked, lookups: Lookups): Turn.Steps<ReadonlyArray<Ruled>> =>
  Turn.flatMap(nodes, (node) => ofNode(node, lookups))
