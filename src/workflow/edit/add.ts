/** Adds nodes: chooses version, name and position, and connects them. */
import * as Result from "effect/Result"
import { num, type Obj, obj, str } from "../../base/Json.ts"
import * as NodeType from "../../catalogue/types/NodeType.ts"
import * as Connections from "../../n8n/model/Connections.ts"
import { nodes } from "../../n8n/model/Workflow.ts"
import * as Checked from "../check/CheckedWorkflow.ts"
import { isCommunity } from "../check/TypeProblems.ts"
import * as Arrangement from "./Arrangement.ts"
import * as Connect from "./connect.ts"
import { unique } from "./rename.ts"
import * as Step from "./step.ts"
import { descriptionOf, update } from "./update.ts"

export interface Kind {
  readonly type: string
  readonly typeVersion: number
  readonly description: NodeType.Description | undefined
  readonly name: string
  readonly hasWebhook: boolean
}

/** Properties by the node type or, for an unknown type, by the workflow's other nodes of that type. */
export const kindOf = (
  workflow: Obj,
  named: string,
  version: number | undefined,
  lookups: Step.Lookups
): Step.Attempt<Kind> => {
  const type = NodeType.withPackage(named, lookups.types)
  const nodeType = lookups.find(type)
  if (nodeType !== undefined) {
    const typeVersion = version ?? lookups.newest(type) ?? NodeType.defaultVersion(nodeType)
    return Result.map(descriptionOf({ type, typeVersion }, version !== undefined, lookups), (description) => {
      const known = description ?? nodeType.descriptions[0]
      return {
        type,
        typeVersion,
        description,
        name: known?.defaults?.name || known?.displayName || type,
        hasWebhook: (known?.webhooks ?? []).length > 0
      }
    })
  }
  const ofType = nodes(workflow).filter((node) => node["type"] === type)
  const [highest] = ofType.flatMap((node) => num(node["typeVersion"]) ?? []).toSorted((a, b) => b - a)
  if (highest !== undefined) {
    return Result.succeed({
      type,
      typeVersion: version ?? highest,
      description: undefined,
      name: NodeType.shortName(type) || type,
      hasWebhook: ofType.some((node) => str(node["webhookId"]) !== undefined)
    })
  }
  const near = Checked.either(NodeType.nearestTypes(type, lookups))
  return Step.refuse(
    "type",
    `There is no node type '${type.slice(0, 100)}'.`,
    isCommunity(type)
      ? { _tag: "LoadPackage" }
      : [near === "" ? "" : `Did you mean ${near}?`, { _tag: "SearchNodeTypes" }]
  )
}

const freshId = (workflow: Obj, { newId }: Step.Lookups): string => {
  const ids = new Set(nodes(workflow).map(({ id }) => id))
  let id = newId()
  while (ids.has(id)) id = newId()
  return id
}

/** Name of a new node; by default one without connections or pinned data of a removed node. */
const nameOf = (workflow: Obj, kind: Kind, wanted: string | undefined): string => {
  const taken = new Set([...Step.names(workflow), ...Object.keys(obj(workflow["pinData"]) ?? {})])
  if (wanted !== undefined && wanted.trim() !== "") return unique(wanted, taken, kind.name)
  for (const { from, to } of Connections.links(workflow["connections"])) taken.add(from).add(to)
  return unique(kind.name, taken)
}

export const add: Step.Edit<"add"> = (workflow, operation, lookups) =>
  Result.gen(function*() {
    const { after, name: wanted, op: _, parameters = {}, position, type: __, ...properties } = operation
    const before = workflow["nodes"] ?? []
    if (!Array.isArray(before)) {
      return yield* Step.refuse("op", "The workflow's 'nodes' is not a list.", "Fix it first.")
    }
    const kind = yield* kindOf(workflow, operation.type, num(properties["typeVersion"]), lookups)
    const anchor = after === undefined ? undefined : yield* Step.locate(workflow, after, "after", lookups)
    const { description, type, typeVersion } = kind
    const keys = Object.keys(parameters)
    const shape = { description, typeVersion, parameters }
    yield* Step.refuseUnknown(shape, keys, lookups)
    const [id, name] = [freshId(workflow, lookups), nameOf(workflow, kind, wanted)]
    const repaired = Step.repaired(shape, keys, name, lookups)
    const bare = { parameters: repaired.parameters, type, typeVersion, position: [0, 0], id, name }
    const checked = Step.read({ node: bare }, lookups)
    const isSub = checked !== undefined && Checked.isSubNode(checked)
    const node = {
      ...bare,
      position: position === undefined
        ? Arrangement.freePlace(workflow, { type, anchor: anchor?.node, isSub }, lookups)
        : [Math.round(position.x), Math.round(position.y)],
      ...(kind.hasWebhook ? { webhookId: lookups.newId() } : {})
    }
    const { workflow: added } = yield* update(
      { ...workflow, nodes: [...before, node] },
      { op: "update", node: id, ...properties },
      lookups
    )
    const extra = Object.keys(properties).filter((key) => key !== "typeVersion")
    const what = `added '${name}' (${Step.typed(type, typeVersion)}${
      extra.length === 0 ? "" : `, ${extra.join(", ")}`
    })`
    if (anchor === undefined) return { workflow: added, changes: [what, ...repaired.lines], added: id }
    const self = { index: before.length, node, name }
    const [source, target] = isSub ? [self, anchor] : [anchor, self]
    const ends: Connect.Ends = isSub ? {} : { sourceOutput: "main", targetInput: "main" }
    const linked = yield* Result.mapError(
      Connect.link(added, source, target, ends, lookups),
      (refusal): Step.Refusal => ({ ...refusal, field: "after" })
    )
    return {
      workflow: linked.workflow,
      changes: [`${what} ${isSub ? "for" : "after"} '${anchor.name}'`, ...repaired.lines],
      added: id
    }
  })
