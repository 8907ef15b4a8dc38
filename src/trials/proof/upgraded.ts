/** Versions before a change, as an upgrade of their nodes would make them. */
import * as Effect from "effect/Effect"
import { equals, type Obj } from "../../base/Json.ts"
import { type Node, typesOf } from "../../n8n/model/Workflow.ts"
import { N8nClient } from "../../n8n/N8nClient.ts"
import * as NodeLookups from "../../workflows/NodeLookups.ts"
import * as Upgrade from "../../workflows/upgrade/Upgrade.ts"

interface Version {
  readonly nodes: ReadonlyArray<Node>
  readonly connections: unknown
}

const isOf = (one: Pick<Node, "type" | "typeVersion">, other: Pick<Node, "type" | "typeVersion">) =>
  one.type === other.type && one.typeVersion === other.typeVersion

/** Earlier versions that were upgraded already, by the nodes of today. */
const upgradedFor = new WeakMap<ReadonlyArray<Node>, Array<Pick<Version, "nodes"> & { readonly from: Version }>>()

/**
 * Nodes of an earlier version. A node that differs from today's in its type or type version is upgraded, if that leads
 * to today's: what the upgrade alone has changed is no difference then.
 */
export const nodesOf = Effect.fnUntraced(function*(
  before: Version,
  today: Pick<Version, "nodes">,
  nameThen: (name: string) => string
) {
  const known = upgradedFor.get(today.nodes) ?? []
  const same = known.find(({ from }) => equals(from.nodes, before.nodes))
  if (same !== undefined) return same.nodes
  const now = new Map(today.nodes.map((node) => [nameThen(node.name), node]))
  const outdated = before.nodes.flatMap((node) => {
    const current = now.get(node.name)
    return current === undefined || isOf(node, current) ? [] : [node.name]
  })
  if (outdated.length === 0) return before.nodes
  const workflow: Obj = { nodes: before.nodes, connections: before.connections }
  const release = yield* N8nClient.use((n8n) => n8n.release)
  const types = yield* NodeLookups.make([...typesOf(workflow), ...Upgrade.types(workflow)], release)
  const lookups = { ...types, sendsOnly: true }
  const upgraded = Upgrade.upgrade(workflow, outdated, lookups).workflow["nodes"] as ReadonlyArray<Node>
  const nodes = before.nodes.map((node, index) => {
    const [next, current] = [upgraded[index], now.get(node.name)]
    return next !== undefined && current !== undefined && isOf(next, current) ? next : node
  })
  upgradedFor.set(today.nodes, [...known, { from: before, nodes }])
  return nodes
})
