/** The nodes of a workflow that n8n has newer versions of, or has deprecated: no problem, but worth knowing. */
import * as Schema from "effect/Schema"
import { defined, num, type Obj, str } from "../base/Json.ts"
import { nodes } from "../n8n/model/Workflow.ts"
import type { NodeLookups } from "./NodeLookups.ts"

/** A node that is outdated. */
export const Outdated = Schema.Struct({
  node: Schema.String,
  type: Schema.String,
  /** The node's version, and the newest that the n8n it is for has. */
  has: Schema.Finite,
  newest: Schema.Finite,
  deprecated: Schema.optionalKey(Schema.Boolean),
  /** The types that took a deprecated one's place. */
  use: Schema.optionalKey(Schema.Array(Schema.String))
})
export type Outdated = typeof Outdated.Type

/** The deprecated first. Nodes of types that are not known, or without a version, are left out. */
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
