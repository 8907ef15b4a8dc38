/** Versions before a change, as an upgrade of their nodes would make them. */
import * as Effect from "effect/Effect"
import type * as Errors from "../../base/Errors.ts"
import { equals, type Obj } from "../../base/Json.ts"
import type { NodeCatalogue } from "../../catalogue/NodeCatalogue.ts"
import type * as Execution from "../../executions/Execution.ts"
import type { Node } from "../../n8n/model/Workflow.ts"
import { N8nClient } from "../../n8n/N8nClient.ts"
import * as NodeLookups from "../../workflows/NodeLookups.ts"
import * as Upgrade from "../../workflows/upgrade/Upgrade.ts"

interface Version {
  readonly nodes: ReadonlyArray<Node>
  readonly connections: unknown
}

const isOf = (one: Pick<Node, "type" | "typeVersion">, other: Pick<Node, "type" | "typeVersion">) =>
  one.type === other.type && one.typeVersion === other.typeVersion

/** Nodes of an earlier version, and its nodes whose main outputs are at other indexes today. */
interface Upgraded {
  readonly nodes: ReadonlyArray<Node>
  readonly moved: Upgrade.Outcome["moved"]
}

/** Earlier versions that were upgraded already, by the nodes of today. */
const upgradedFor = new WeakMap<ReadonlyArray<Node>, Array<Upgraded & { readonly from: Version }>>()

/**
 * An earlier version as an upgrade makes it. A node that differs from today's in its type or type version is upgraded,
 * if that leads to today's: what the upgrade alone has changed is no difference then.
 */
export const of = Effect.fnUntraced(function*(
  before: Version,
  today: Pick<Version, "nodes">,
  nameThen: (name: string) => string
): Effect.fn.Return<Upgraded, Errors.ValidationError, N8nClient | NodeCatalogue> {
  const known = upgradedFor.get(today.nodes) ?? []
  const same = known.find(({ from }) => equals(from.nodes, before.nodes))
  if (same !== undefined) return same
  const now = new Map(today.nodes.map((node) => [nameThen(node.name), node]))
  const outdated = before.nodes.flatMap((node) => {
    const current = now.get(node.name)
    return current === undefined || isOf(node, current) ? [] : [node.name]
  })
  if (outdated.length === 0) return { nodes: before.nodes, moved: new Map() }
  const workflow: Obj = { nodes: before.nodes, connections: before.connections }
  const release = yield* N8nClient.use((n8n) => n8n.release)
  const types = yield* NodeLookups.make(Upgrade.types(workflow), release)
  const upgraded = Upgrade.upgrade(workflow, outdated, { ...types, sendsOnly: true })
  const byName = new Map((upgraded.workflow["nodes"] as ReadonlyArray<Node>).map((node) => [node.name, node]))
  const nodes = before.nodes.map((node) => {
    const [next, current] = [byName.get(node.name), now.get(node.name)]
    return next !== undefined && current !== undefined && isOf(next, current) ? next : node
  })
  const isMoved = (name: string) => nodes.some((node, index) => node.name === name && node !== before.nodes[index])
  const result = { nodes, moved: new Map([...upgraded.moved].filter(([name]) => isMoved(name))) }
  upgradedFor.set(today.nodes, [...known, { from: before, ...result }])
  return result
})

/** Maximum number of outputs of a node whose outputs move. */
const maxOutputs = 32

/** Execution with the items of moved outputs at their indexes of today. */
export const withMoved = (execution: Execution.Execution, moved: Upgraded["moved"]): Execution.Execution => {
  if (moved.size === 0) return execution
  const inRecord = (slot: Execution.Slot): Execution.Slot => {
    const move = slot.side === "output" && slot.port.type === "main" ? moved.get(slot.node) : undefined
    const index = Array.from({ length: maxOutputs }).findIndex((_, index) => move?.(index) === slot.port.index)
    return index < 0 ? slot : { ...slot, port: { ...slot.port, index } }
  }
  const ofRun = (run: Execution.Run, move: (index: number) => number): Execution.Run => ({
    ...run,
    outputs: run.outputs.map((output) => output.type === "main" ? { ...output, index: move(output.index) } : output)
  })
  return {
    ...execution,
    items: (slot, offset, limit) => execution.items(inRecord(slot), offset, limit),
    segments: (slot, from) => execution.segments(inRecord(slot), from),
    runs: new Map([...execution.runs].map(([name, runs]) => {
      const move = moved.get(name)
      return [name, move === undefined ? runs : runs.map((run) => ofRun(run, move))]
    }))
  }
}
