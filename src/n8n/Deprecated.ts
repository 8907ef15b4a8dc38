/**
 * n8n's refusal of deprecated nodes, since 2.42.6 and 2.43.3, unless `N8N_DEPRECATED_NODES_BLOCK` is `false`. n8n judges
 * a node by its type and version: none may be created, and one that exists may only be moved, removed or replaced.
 */
import type { Hint } from "../base/Advice.ts"
import { type ApiError, detailsOf, type N8nError, statusOf } from "../base/Errors.ts"

export interface RefusedNode {
  readonly node: string
  readonly type: string
}

const sentence = /Cannot \w+ an? "([^"]*)" node \("(.*?)"\): this node type is deprecated\./gs

/** Nodes that this message of n8n refuses. */
export const refusedNodes = (message: string | undefined): ReadonlyArray<RefusedNode> =>
  [...(message ?? "").matchAll(sentence)].map(([, type = "", node = ""]) => ({ node, type }))

/** Whether n8n refused a write because of deprecated nodes. */
export const isRefusal = (error: N8nError): error is ApiError =>
  statusOf(error) === 400 && refusedNodes(detailsOf(error)).length > 0

/** Advice after the refusal of nodes, if there are any. */
export const hint = (nodes: ReadonlyArray<RefusedNode>): Hint | undefined =>
  nodes.length === 0 ? undefined : { _tag: "UpgradeNodes", nodes }
