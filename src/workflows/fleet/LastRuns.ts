/** Newest execution of each workflow, in few requests: n8n lists the executions of all workflows, or of one. */
import * as Effect from "effect/Effect"
import type * as ExecutionHead from "../../n8n/model/ExecutionHead.ts"
import { maxPage } from "../../n8n/model/Limits.ts"
import { N8nClient } from "../../n8n/N8nClient.ts"

/** Maximum number of pages of n8n's list that are read, newest first: by default n8n keeps 10,000 executions. */
const maxPages = 40

/** Number of unknown workflows above which a further page is read before each is looked up by itself. */
const manyUnknown = 20

const maxLookups = 100

const concurrency = 4

/** Newest execution; `null` for a workflow of which n8n has saved none. */
export type LastRun = ExecutionHead.Listed | null

/** Starts with some pages of the newest executions, and those that are running, which n8n lists only by that status. */
export const make = Effect.fn("LastRuns.make")(function*(firstPages = 1) {
  const n8n = yield* N8nClient
  const newest = new Map<string, LastRun>()
  const add = (executions: ReadonlyArray<ExecutionHead.Listed>) => {
    for (const each of executions) {
      if (typeof each.workflowId !== "string") continue
      const other = newest.get(each.workflowId)
      if (other == null || Number(other.id) < Number(each.id)) newest.set(each.workflowId, each)
    }
  }
  let cursor: string | undefined
  let pages = 0
  const hasMore = () => pages < maxPages && (pages === 0 || cursor !== undefined)
  const readPage = Effect.gen(function*() {
    const { executions, nextCursor } = yield* n8n.listExecutions({ limit: maxPage, cursor })
    add(executions)
    cursor = nextCursor
    pages++
  })
  add((yield* n8n.listExecutions({ status: "running", limit: maxPage })).executions)
  for (let page = 0; page < firstPages && hasMore(); page++) yield* readPage

  /** Newest executions of these workflows; those beyond the limits are absent. */
  const of = Effect.fn("LastRuns.of")(function*(ids: ReadonlyArray<string>) {
    const unknown = () => ids.filter((id) => !newest.has(id))
    while (hasMore() && unknown().length > manyUnknown) yield* readPage
    if (cursor === undefined) { for (const id of unknown()) newest.set(id, null) }
    yield* Effect.forEach(
      unknown().slice(0, maxLookups),
      (workflowId) =>
        Effect.map(n8n.listExecutions({ workflowId, limit: 1 }), ({ executions }) => {
          newest.set(workflowId, null)
          add(executions)
        }),
      { concurrency, discard: true }
    )
    return new Map(ids.flatMap((id) => {
      const run = newest.get(id)
      return run === undefined ? [] : [[id, run] as const]
    }))
  })
  return { has: (id: string) => newest.get(id) != null, of }
})
