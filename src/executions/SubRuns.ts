/** Runs of sub-workflows that an execution started. */
import * as Effect from "effect/Effect"
import { type Node, parametersOf } from "../n8n/model/Workflow.ts"
import { N8nClient } from "../n8n/N8nClient.ts"
import * as References from "../workflow/References.ts"
import * as Execution from "./Execution.ts"
import { Executions } from "./Executions.ts"

const recordedBy = (execution: Execution.Execution, node: string): ReadonlyArray<Execution.SubRun> =>
  (execution.runs.get(node) ?? []).flatMap((run) =>
    Execution.calls(execution, node, run).map((call) => ({ ...call, node }))
  )

/** Number of runs that one run of a node starts if none of its items fails. */
const expectedOf = (execution: Execution.Execution, node: Node, run: Execution.Run) => {
  if (parametersOf(node)["mode"] !== "each") return 1
  const items = Execution.inputs(execution, node.name, run)[0]?.count ?? 0
  return node["executeOnce"] === true ? Math.min(items, 1) : items
}

const expected = (execution: Execution.Execution, node: Node) =>
  (execution.runs.get(node.name) ?? []).reduce((sum, run) => sum + expectedOf(execution, node, run), 0)

/** Maximum number of runs that are read to find those of a caller. */
const maxRead = 50

const concurrency = 4

/**
 * Lists the runs that an execution started. Those that n8n does not name with the caller, as where an item failed, are
 * found by the caller that they name themselves: they are runs of the called workflow in the caller's time. `unnamed` are
 * nodes that failed and of which no run was found.
 */
export const of = Effect.fn("SubRuns.of")(function*(execution: Execution.Execution) {
  const recorded = [...execution.runs.keys()].flatMap((node) => recordedBy(execution, node))
  const open = (execution.workflow?.nodes ?? []).filter((node) =>
    node.type === References.caller &&
    recorded.filter((run) => run.node === node.name).length < expected(execution, node)
  )
  if (open.length === 0 || execution.startedAt === undefined) return { runs: recorded, unnamed: [] }
  const n8n = yield* N8nClient
  const executions = yield* Executions
  const known = new Set(recorded.map(({ executionId }) => executionId))
  const workflowOf = (node: Node) => References.callOf(node)?.id
  const listed = yield* Effect.forEach(new Set(open.map(workflowOf)), (workflowId) =>
    n8n.listExecutions({
      workflowId,
      startedAfter: execution.startedAt,
      startedBefore: execution.stoppedAt,
      limit: maxRead
    }))
  const candidates = listed.flatMap((page) => page.executions).filter(({ id, mode = "integrated" }) =>
    mode === "integrated" && Number(id) > Number(execution.id) && !known.has(String(id))
  )
  const read = yield* Effect.forEach(
    candidates.slice(0, maxRead),
    ({ id }) => Effect.option(executions.get(String(id))),
    { concurrency }
  )
  const children = read.flatMap((child): ReadonlyArray<Execution.SubRun> => {
    if (child._tag === "None" || child.value.calledBy?.executionId !== execution.id) return []
    const { id: executionId, workflowId } = child.value
    const node = open.find((each) => (workflowOf(each) ?? workflowId) === workflowId)
    return node === undefined ? [] : [{ node: node.name, executionId, workflowId, execution: child.value }]
  }).toSorted((a, b) => Number(a.executionId) - Number(b.executionId))
  const runs = [...recorded, ...children]
  const unnamed = open.filter(({ name }) =>
    Execution.nodeStatus(execution.runs.get(name) ?? []) === "error" && runs.every(({ node }) => node !== name)
  )
  return { runs, unnamed: unnamed.map(({ name }) => name) }
})

/**
 * Ids of the runs that each run of a node started, in their order, of `all` that its execution started: fewer than its
 * items after one that failed. `undefined` if some are missing, or are further tries.
 */
export const byRun = (execution: Execution.Execution, node: Node, all: ReadonlyArray<Execution.SubRun>) => {
  const unnamed = all.flatMap((each) =>
    each.node === node.name && each.execution !== undefined ? [each.executionId] : []
  )
  const runs = (execution.runs.get(node.name) ?? []).map((run) => {
    const named = Execution.calls(execution, node.name, run).map(({ executionId }) => executionId)
    const count = expectedOf(execution, node, run)
    const ids = [...named, ...unnamed.splice(0, Math.max(0, count - named.length))]
      .toSorted((a, b) => Number(a) - Number(b))
    return { ids, isWhole: ids.length >= count || run.error !== undefined && ids.length > 0 }
  })
  return unnamed.length === 0 && runs.every(({ isWhole }) => isWhole) ? runs.map(({ ids }) => ids) : undefined
}
