/** Advice on where to resume a failed run: which recorded items n8n would use again, and whether a fix is newer. */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type * as Errors from "../base/Errors.ts"
import { obj, str } from "../base/Json.ts"
import * as Rows from "../base/Rows.ts"
import type { NodeCatalogue } from "../catalogue/NodeCatalogue.ts"
import * as Sending from "../catalogue/parameters/Sending.ts"
import * as Execution from "../executions/Execution.ts"
import { Executions } from "../executions/Executions.ts"
import * as Workflow from "../n8n/model/Workflow.ts"
import type { N8nClient } from "../n8n/N8nClient.ts"
import * as WorkflowDiff from "../workflow/diff/WorkflowDiff.ts"
import * as Graph from "../workflow/Graph.ts"
import * as References from "../workflow/References.ts"
import * as NodeLookups from "../workflows/NodeLookups.ts"
import { outsideOf } from "./boundary.ts"

/** Recommended start of a retry. */
export interface Advice {
  readonly from: "failure" | "start"
  readonly latest: boolean
  readonly why: string
  /** Nodes before the failure that reach outside or call a workflow, and whose recorded items n8n would use again. */
  readonly reuses: ReadonlyArray<string>
}

/** Reads a workflow as it is now; `undefined` if it cannot be read. */
export type WorkflowOf = (id: string) => Effect.Effect<Workflow.Workflow | undefined, never, N8nClient>

type Content = Pick<Workflow.Workflow, "connections" | "nodes">

/** Nodes that reach outside, with their types. */
export const outsideNodes = Effect.fnUntraced(function*(nodes: ReadonlyArray<Workflow.Node>) {
  return yield* outsideOf(nodes, yield* NodeLookups.make(nodes.map(({ type }) => type)))
})

/** Content without defaults, which n8n adds to the parameters when it runs a node, and without notes. */
const plain = Effect.fnUntraced(function*({ connections, nodes }: Content) {
  const { find } = yield* NodeLookups.make(nodes.map(({ type }) => type))
  return {
    connections,
    nodes: nodes.filter((node) => !Workflow.isNote(node)).map((node) => ({
      ...node,
      parameters: Sending.of(find(node.type), node).shaped({}).values
    }))
  }
})

/** Names of the nodes that have another definition now, or other inputs; a new name or position is no change. */
const changesOf = Effect.fnUntraced(function*(then: Content, now: Content) {
  const { links, nodes } = WorkflowDiff.make(yield* plain(then), yield* plain(now))
  const former = new Map(nodes.flatMap(({ formerName, name }) => formerName === undefined ? [] : [[name, formerName]]))
  const namesThen = (names: ReadonlyArray<string>) => names.map((name) => former.get(name) ?? name)
  return {
    nodes: namesThen(nodes.flatMap(({ name, value }) => value === undefined ? [] : [name])),
    inputs: namesThen([...links.added, ...links.removed].map(({ to }) => WorkflowDiff.plainName(to)))
  }
})

const isChanged = (then: Content, now: Content) =>
  Effect.map(changesOf(then, now), ({ inputs, nodes }) => inputs.length + nodes.length > 0)

const read = (id: string) => Effect.map(Effect.option(Executions.use((all) => all.get(id))), Option.getOrUndefined)

/** Calls of a node that are compared, and workflows that call one another. */
const max = { calls: 3, depth: 5 }

/** Name of the workflow whose change is newer than the recorded items of a call: the one called, or one that it calls. */
const changedCallee = Effect.fnUntraced(function*(
  execution: Execution.Execution,
  node: Workflow.Node,
  workflowOf: WorkflowOf,
  depth = 1
): Effect.fn.Return<string | undefined, Errors.N8nError, Executions | N8nClient | NodeCatalogue> {
  const runs = execution.runs.get(node.name) ?? []
  const recorded = runs.flatMap((run) => Execution.calls(execution, node.name, run, max.calls)).slice(0, max.calls)
  const calls = recorded.length > 0 ? recorded : [{ executionId: undefined, workflowId: undefined }]
  for (const { executionId, workflowId = References.calledBy(node) } of calls) {
    const stored = workflowId === undefined ? undefined : yield* workflowOf(workflowId)
    if (stored === undefined) continue
    const child = executionId === undefined ? undefined : yield* read(executionId)
    if (child?.workflow === undefined) {
      // n8n did not save the run, so only the times can be compared.
      const version = obj(stored["activeVersion"])
      const changedAt = str(version?.["createdAt"]) ?? stored.updatedAt ?? ""
      if (Date.parse(changedAt) > Date.parse(execution.startedAt ?? "")) return stored.name
      continue
    }
    if (yield* isChanged(child.workflow, Workflow.running(stored) ?? stored)) return stored.name
    if (depth === max.depth) continue
    for (const inner of child.workflow.nodes) {
      if (!References.isCaller(inner.type) || !child.runs.has(inner.name)) continue
      const name = yield* changedCallee(child, inner, workflowOf, depth + 1)
      if (name !== undefined) return name
    }
  }
  return undefined
})

const names = (all: Iterable<string>) => Rows.names(new Set(all), 4, 40)

/** Advice for a run; `undefined` if n8n stored no data of it. */
export const of = Effect.fnUntraced(function*(id: string, workflowOf: WorkflowOf) {
  const execution = yield* read(id)
  const then = execution?.workflow
  if (execution === undefined || then === undefined) return undefined
  const failed = Execution.failure(execution)?.node ?? execution.lastNode ?? ""
  const where = Rows.quote(failed)
  // Sub-nodes of the failed node run again with it.
  const again = Graph.withSubNodes(Graph.make(then.connections), [failed])
  const ran = then.nodes.filter(({ name }) => execution.runs.has(name) && !again.has(name))
  const outside = new Set((yield* outsideNodes(ran)).map(({ node }) => node.name))
  const reuses = ran.flatMap(({ name, type }) => outside.has(name) || References.isCaller(type) ? [name] : [])
  const advice = (from: Advice["from"], latest: boolean, why: string): Advice => ({ from, latest, why, reuses })
  const stored = yield* workflowOf(execution.workflowId)
  if (stored === undefined) {
    return advice("failure", false, `The workflow cannot be read, so a fix before ${where} is not known.`)
  }
  const now = Workflow.running(stored) ?? stored
  /** Nodes whose recorded items are older than a version. */
  const older = Effect.fnUntraced(function*(version: Content) {
    const { inputs, nodes } = yield* changesOf(then, version)
    const known = new Set(then.nodes.map(({ name }) => name))
    const before = Graph.before(Graph.make(version.connections), [failed])
    const isUsed = (name: string) =>
      !again.has(name) && (execution.runs.has(name) || !known.has(name) && before.has(name))
    return [...nodes.filter(isUsed), ...inputs.filter((name) => name === failed || isUsed(name))]
  })
  const stale = yield* older(now)
  const callees: Array<string> = []
  for (const node of ran) {
    if (!References.isCaller(node.type) || stale.includes(node.name)) continue
    const name = yield* changedCallee(execution, node, workflowOf)
    if (name !== undefined) callees.push(`${Rows.quote(node.name)} (sub-workflow ${Rows.quote(name)})`)
  }
  if (stale.length + callees.length > 0) {
    const all = [...stale.length > 0 ? [names(stale)] : [], ...callees.slice(0, 4)].join(", ")
    const runsAgain = reuses.length === 0 ? "" : `; the start runs ${names(reuses)} again`
    return advice(
      "start",
      false,
      `Changed since, and before ${where}, so resuming there would use old items: ${all}${runsAgain}.`
    )
  }
  const draft = now !== stored && (yield* isChanged(now, stored))
  const drafted = draft ? yield* older(stored) : []
  if (drafted.length > 0) {
    return advice("start", false, `A draft changes ${names(drafted)}, before ${where}: publish it first.`)
  }
  if (yield* isChanged(then, now)) {
    return advice(
      "failure",
      true,
      `The change since is at ${where} or after it${draft ? "; latest runs the draft" : ""}.`
    )
  }
  return draft
    ? advice("failure", true, `Only a draft has changed, at ${where} or after it; latest runs it.`)
    : advice("failure", false, `Nothing that ran has changed since.`)
})
