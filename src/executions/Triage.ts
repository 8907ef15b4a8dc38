/** Overview of many executions: how often each workflow failed, and why. */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { CallContext } from "../base/CallContext.ts"
import type * as Errors from "../base/Errors.ts"
import * as HttpErrors from "../n8n/HttpErrors.ts"
import type * as ExecutionHead from "../n8n/model/ExecutionHead.ts"
import { maxPage } from "../n8n/model/Limits.ts"
import { type ExecutionQuery, N8nClient } from "../n8n/N8nClient.ts"
import { Executions } from "./Executions.ts"
import * as FailureGroups from "./FailureGroups.ts"
import * as WorkflowNames from "./WorkflowNames.ts"

/** Seconds; a call has to answer within 50. */
const timeout = 45

const concurrency = 4

const hasFailed = ({ status }: ExecutionHead.Listed) => status === "error" || status === "crashed"

/** Executions and failures that were read within the time limit. */
export interface Triage {
  /** Newest first. */
  readonly executions: ReadonlyArray<ExecutionHead.Listed>
  readonly names: ReadonlyMap<string, string>
  /** Failed executions whose failure was read, newest first. */
  readonly failed: ReadonlyArray<FailureGroups.Failed>
  /** Number of failed executions that were not read. */
  readonly unread: number
  /** Whether as many executions are listed as `limit` allows. */
  readonly isListed: boolean
  /** Cursor that continues after the last one listed. */
  readonly nextCursor: string | undefined
}

/** No executions. */
export const nothing: Triage = {
  executions: [],
  names: new Map(),
  failed: [],
  unread: 0,
  isListed: true,
  nextCursor: undefined
}

/** Reads why an execution failed. */
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

/**
 * Lists up to `limit` executions and, if `failures` is set, reads why the failed ones failed.
 *
 * **Details**
 *
 * Failures are read a few at a time, newest first, and cached: after a timeout, the same call continues where this one
 * ended. Fails only if nothing could be read.
 */
export const triage = Effect.fn("Triage.triage")(function*(
  query: ExecutionQuery,
  wanted: { readonly failures: boolean }
) {
  const n8n = yield* N8nClient
  const { progress } = yield* CallContext
  const executions: Array<ExecutionHead.Listed> = []
  const failures = new Map<ExecutionHead.Listed, FailureGroups.Failed>()
  let names: ReadonlyMap<string, string> = new Map()
  let cursor = query.cursor
  let isListed = false
  let fault: Errors.N8nError | undefined

  const isInTime = yield* Effect.gen(function*() {
    while (!isListed) {
      const limit = Math.min(maxPage, query.limit - executions.length)
      const page = yield* n8n.listExecutions({ ...query, limit, cursor })
      executions.push(...page.executions)
      cursor = page.nextCursor
      isListed = cursor === undefined || executions.length >= query.limit
      // The client has scanned as many as one call should.
      if (page.executions.length < limit) break
    }
    names = yield* WorkflowNames.read(executions)
    if (!wanted.failures) return
    const failed = executions.filter(hasFailed)
    yield* Effect.forEach(failed, (execution) =>
      readFailure(execution).pipe(
        Effect.tap((failure) => {
          failures.set(execution, failure)
          return progress(failures.size, failed.length, "failures read")
        }),
        Effect.catch((error) => Effect.sync(() => void (fault = error)))
      ), { concurrency, discard: true })
  }).pipe(Effect.timeoutOption(`${timeout} seconds`), Effect.map(Option.isSome))

  if (fault !== undefined && failures.size === 0) return yield* fault
  if (!isInTime && executions.length === 0) {
    return yield* HttpErrors.timeoutError({ operation: "list executions" }, timeout)
  }
  const failed = executions.flatMap((execution) => failures.get(execution) ?? [])
  return {
    executions,
    names,
    failed,
    unread: wanted.failures ? executions.filter(hasFailed).length - failed.length : 0,
    isListed,
    nextCursor: cursor
  } satisfies Triage
})

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
