/** Many executions at a glance: how often each workflow failed, and of what. */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { CallContext } from "../base/CallContext.ts"
import type * as Errors from "../base/Errors.ts"
import * as HttpErrors from "../n8n/HttpErrors.ts"
import type * as ExecutionHead from "../n8n/model/ExecutionHead.ts"
import { type ExecutionQuery, N8nClient } from "../n8n/N8nClient.ts"
import { Executions } from "./Executions.ts"
import * as FailureGroups from "./FailureGroups.ts"
import * as WorkflowNames from "./WorkflowNames.ts"

/** A call has to answer within 50 seconds. */
const patience = 45

/** The most n8n lists at once. */
const maxPage = 250

/** How many failures are read at once. */
const concurrency = 4

const hasFailed = ({ status }: ExecutionHead.Listed) => status === "error" || status === "crashed"

/** What was read before the time was up. */
export interface Triage {
  /** Newest first. */
  readonly executions: ReadonlyArray<ExecutionHead.Listed>
  readonly names: ReadonlyMap<string, string>
  /** Those that failed and whose failure was read; newest first. */
  readonly failed: ReadonlyArray<FailureGroups.Failed>
  /** How many failed executions were not read. */
  readonly unread: number
  /** Whether as many executions are listed as `limit` allows. */
  readonly isListed: boolean
  /** Goes on behind the last that is listed. */
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

/** One failed execution, and why; `undefined` where that could not be read. */
const readFailure = Effect.fnUntraced(function*(execution: ExecutionHead.Listed) {
  const { id, startedAt, status, workflowId } = execution
  const failure = yield* Executions.use((executions) => executions.failure(String(id))).pipe(
    // n8n may have pruned it since it was listed.
    Effect.catchTag("NotFoundError", () => Effect.succeed(undefined))
  )
  return {
    ...(failure ?? { message: `n8n noted no error (status ${status})` }),
    id: String(id),
    workflowId: workflowId ?? "",
    ...(typeof startedAt === "string" ? { at: startedAt } : {})
  } satisfies FailureGroups.Failed
})

/**
 * Lists up to `limit` executions, and reads why those failed that did, where `failures` are wanted.
 *
 * **Details**
 *
 * Failures are read a few at a time, newest first, and kept: where the time was up, the same call goes on where this
 * one ended. Fails only where nothing could be read at all.
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
      // The client has looked through as many as one call should.
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
  }).pipe(Effect.timeoutOption(`${patience} seconds`), Effect.map(Option.isSome))

  if (fault !== undefined && failures.size === 0) return yield* fault
  if (!isInTime && executions.length === 0) {
    return yield* HttpErrors.timeoutError({ operation: "list executions" }, patience)
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

/** How the executions of one workflow ended. */
export interface WorkflowGroup {
  readonly workflowId: string
  readonly total: number
  readonly byStatus: Readonly<Record<string, number>>
  /** The newest that failed. */
  readonly lastFailed: { readonly id: string; readonly at: string | null } | undefined
}

/** The executions, newest first, by workflow: those that failed most first. */
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
