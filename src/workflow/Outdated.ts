/** Nodes of a workflow with newer versions or deprecated types: not a problem, but worth knowing. */
import * as Schema from "effect/Schema"
import { defined, num, type Obj, str } from "../base/Json.ts"
import { nodes } from "../n8n/model/Workflow.ts"
import type { NodeLookups } from "./check/CheckedWorkflow.ts"

export const Outdated = Schema.Struct({
  node: Schema.String,
  type: Schema.String,
  /** Version of the node, and `newest`, the newest version on the n8n that the workflow is for. */
  has: Schema.Finite,
  newest: Schema.Finite,
  deprecated: Schema.optionalKey(Schema.Boolean),
  use: Schema.optionalKey(Schema.Array(Schema.String))
})
export type Outdated = typeof Outdated.Type

/** Lists outdated nodes, deprecated ones first; nodes without a version or of an unknown type are omitted. */
export const outdated = (
  workflow: Obj,
  { newest, successors }: Pick<NodeLookups, "newest" | "successors">
): ReadonlyArray<Outdated> =>
  nodes(workflow).flatMap((node) => {
    const [name, type, has] = [str(node["name"]), str(node["type"]), num(node["typeVersion"])]
    if (name === undefined || type === undefined || has === undefined) return []
    const use = successors(type)
    const latest = newest(type) ?? (use === undefined ? undefined : has)
    if (latest === undefined || has >= latest && use === undefined) return []
    return [defined({
      node: name,
      type,
      has,
      newest: Math.max(has, latest),
      deprecated: use === undefined ? undefined : true,
      use: use === undefined || use.length === 0 ? undefined : use
    })]
  }).toSorted((a, b) => Number(b.deprecated ?? false) - Number(a.deprecated ?? false))
