/** Overview of many executions: how often each workflow failed, and why. */
import * as Effect from "effect/Effect"
import type * as ExecutionHead from "../n8n/model/ExecutionHead.ts"
import { Executions } from "./Executions.ts"
import type * as FailureGroups from "./FailureGroups.ts"

const hasFailed = ({ status }: ExecutionHead.Listed) => status === "error" || status === "crashed"

const readFailure = Effect.fnUntraced(function*(execution: ExecutionHead.Listed) {
  const { id, startedAt, status, workflowId } = execution
  const failure = yield* Executions.use((executions) => executions.failure(String(id))).pipe(
    // n8n may have pruned it since it was listed.
    Effect.catchTag("NotFoundError", () => Effect.succeed(undefined))
  )
  return {
    ...(failure ?? { message: `n8n recorded no error (status ${status})` }),
    id: String(id),
    workflowId: workflowId ?? "",
    ...(typeof startedAt === "string" ? { at: startedAt } : {})
  } satisfies FailureGroups.Failed
})

/** Reads why an execution failed; returns `undefined` if it did not. */
export const failure = (execution: ExecutionHead.Listed) => hasFailed(execution) ? readFailure(execution) : undefined

/** Number of executions of a workflow by status. */
export interface WorkflowGroup {
  readonly workflowId: string
  readonly total: number
  readonly byStatus: Readonly<Record<string, number>>
  /** Newest failed execution. */
  readonly lastFailed: { readonly id: string; readonly at: string | null } | undefined
}

/** Groups executions, newest first, by workflow: most failures first. */
export const byWorkflow = (executions: ReadonlyArray<ExecutionHead.Listed>): ReadonlyArray<WorkflowGroup> =>
  [...Map.groupBy(executions, ({ workflowId }) => workflowId ?? "")]
    .map(([workflowId, all]) => {
      const failed = all.filter(hasFailed)
      const [newest] = failed
      const byStatus = Object.fromEntries(
        [...Map.groupBy(all, ({ status }) => status ?? "unknown")].map(([status, some]) => [status, some.length])
      )
      const lastFailed = newest === undefined
        ? undefined
        : { id: String(newest.id), at: newest.startedAt ?? null }
      return { group: { workflowId, total: all.length, byStatus, lastFailed }, failed: failed.length }
    })
    .toSorted((a, b) => b.failed - a.failed || b.group.total - a.group.total)
    .map(({ group }) => group)
