/** Versions before and after a change: the earlier one as an upgrade makes it, and changes that no replayed run could show. */
import * as Effect from "effect/Effect"
import type * as Errors from "../../base/Errors.ts"
import { equals, type Obj } from "../../base/Json.ts"
import type { NodeCatalogue } from "../../catalogue/NodeCatalogue.ts"
import * as Execution from "../../executions/Execution.ts"
import * as Connections from "../../n8n/model/Connections.ts"
import { isNote, type Node } from "../../n8n/model/Workflow.ts"
import { N8nClient } from "../../n8n/N8nClient.ts"
import * as NodeLookups from "../../workflows/NodeLookups.ts"
import * as Upgrade from "../../workflows/upgrade/Upgrade.ts"
import type * as Groups from "./Groups.ts"

interface EarlierVersion {
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

const upgradedFor = new WeakMap<ReadonlyArray<Node>, Array<Upgraded & { readonly from: EarlierVersion }>>()

/**
 * An earlier version as an upgrade makes it. A node that differs from today's in its type or type version is upgraded,
 * if that leads to today's: what the upgrade alone has changed is no difference then.
 */
export const upgradedVersion = Effect.fnUntraced(function*(
  before: EarlierVersion,
  today: Pick<EarlierVersion, "nodes">,
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

interface Version {
  readonly nodes: ReadonlyArray<Node>
  readonly connections: Connections.Connections
}

interface Run {
  readonly record: Execution.Execution
  readonly replay: Execution.Execution
  readonly names: ReadonlyMap<string, string>
}

const onFailure = ["onError", "continueOnFail", "retryOnFail", "maxTries", "waitBetweenTries"]

const always = ["type", "typeVersion", "parameters", "credentials", "disabled", "alwaysOutputData", "executeOnce"]

const isEqual = (one: unknown, other: unknown) => (one ?? false) === (other ?? false) || equals(one, other)

const targets = ({ connections }: Version, name: string, nameOf: (name: string) => string) => {
  const all: Array<Array<string>> = []
  for (const { from, output, to } of Connections.links(connections)) {
    if (from === name && output.type === "main") (all[output.index] ??= []).push(nameOf(to))
  }
  return Array.from(all, (each = []) => each.toSorted())
}

const usedOutputs = (runs: ReadonlyArray<Execution.Run> = []) =>
  runs.flatMap(({ outputs }) =>
    outputs.flatMap(({ count, index, type }) => type === "main" && count > 0 ? [index] : [])
  )

/** Changes from one version to another of which no run reached the node, failed at it, or used its output. */
export const unexercisedChanges = (
  before: Version,
  after: Version,
  runs: ReadonlyArray<Run>
): ReadonlyArray<Groups.NotReplayed> => {
  const formerOf = (name: string) => runs.map(({ names }) => names.get(name)).find((each) => each !== undefined) ?? name
  const today = new Map(after.nodes.map(({ name }) => [formerOf(name), name]))
  const subNodes = new Set(
    Connections.links(after.connections).flatMap(({ from, output }) => output.type === "main" ? [] : [from])
  )
  return after.nodes.flatMap((node): ReadonlyArray<Groups.NotReplayed> => {
    const { name } = node
    if (isNote(node) || subNodes.has(name)) return []
    const former = before.nodes.find((each) => each.name === formerOf(name))
    const hasRun = runs.some(({ replay }) => replay.runs.has(name))
    if (former === undefined) return hasRun ? [] : [{ node: name, why: "new, and no run reaches it" }]
    const changed = (keys: ReadonlyArray<string>) => keys.filter((key) => !isEqual(node[key], former[key]))
    const failing = changed(onFailure)
    if (!hasRun) {
      return [...changed(always), ...failing].length === 0
        ? []
        : [{ node: name, why: "changed, and no run reaches it" }]
    }
    const hasFailed = runs.some(({ record, replay }) =>
      [record.runs.get(former.name), replay.runs.get(name)].some((all) => all?.some(({ error }) => error !== undefined))
    )
    const used = new Set(
      runs.flatMap(({ record, replay }) => [
        ...usedOutputs(record.runs.get(former.name)),
        ...usedOutputs(replay.runs.get(name))
      ])
    )
    const [old, now] = [
      targets(before, former.name, (each) => today.get(each) ?? each),
      targets(after, name, (each) => each)
    ]
    const outputs = Array.from({ length: Math.max(old.length, now.length) }, (_, index) => index)
      .filter((index) => !used.has(index) && !equals(old[index] ?? [], now[index] ?? []))
    return [
      ...(failing.length > 0 && !hasFailed
        ? [{ node: name, why: `${failing.join(", ")} changed, and it failed in no run` }]
        : []),
      ...outputs.map((index) => ({ node: name, why: `links of output ${index} changed, and no run used it` }))
    ]
  })
}
