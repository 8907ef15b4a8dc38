/** Nodes of a workflow that reach outside. */
import type * as Effect from "effect/Effect"
import * as Turn from "../base/Turn.ts"
import type * as NodeType from "../catalogue/types/NodeType.ts"
import { reachesOutside } from "../catalogue/types/Outside.ts"
import * as Workflow from "../n8n/model/Workflow.ts"
import type { NodeLookups } from "../workflow/Lookups.ts"

/** Node that reaches outside; an unknown type does. */
export interface Outside {
  readonly node: Workflow.Node
  readonly type: NodeType.NodeType | undefined
}

export const isTriggerOf = ({ find }: NodeLookups) => ({ type }: Workflow.Node) =>
  find(type)?.descriptions.some(({ group }) => group.includes("trigger")) ??
    (/trigger$/i.test(type) || type === "n8n-nodes-base.start")

/** Nodes other than triggers that reach outside. */
export const outsideOf = (
  nodes: ReadonlyArray<Workflow.Node>,
  lookups: NodeLookups
): Effect.Effect<ReadonlyArray<Outside>> => {
  const isTrigger = isTriggerOf(lookups)
  return Turn.run(() =>
    Turn.flatMap(nodes, (node) => {
      const type = lookups.find(node.type)
      return isTrigger(node) || Workflow.isNote(node) || !reachesOutside(type, node, lookups.parse)
        ? []
        : [{ node, type }]
    })
  )
}
