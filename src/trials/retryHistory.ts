/** Earlier retries of runs: by n8n, which records them, and from the start, which `RetryLog` does. */
import * as Effect from "effect/Effect"
import * as RetryLog from "../executions/RetryLog.ts"
import type * as ExecutionHead from "../n8n/model/ExecutionHead.ts"
import { isOver } from "../n8n/model/ExecutionHead.ts"
import { maxPage } from "../n8n/model/Limits.ts"
import { N8nClient } from "../n8n/N8nClient.ts"
import { statusFilters } from "./executionWatch.ts"

/** Reason why a run is not retried. */
export interface Reason {
  readonly reason: string
  /** Other run that is the reason. */
  readonly as?: string
}

/** Run to retry. */
export interface Open {
  readonly head: ExecutionHead.Listed
  readonly attempt: RetryLog.Attempt
  /** Newest execution among the run and its retries by n8n. */
  readonly newest: string
}

type Head = ExecutionHead.Listed

/** Maximum number of pages of a workflow's newer runs that are searched for retries. */
const maxPages = 4

const idOf = ({ id }: Head) => String(id)

const text = (value: unknown) => typeof value === "string" || typeof value === "number" ? String(value) : undefined

/** Run of which this one is a retry by n8n. */
const retryOf = (head: Head) => text(head["retryOf"])

const newer = (a: string, b: string) => Number(b) - Number(a)

/** Runs of a workflow that are newer than one of them, as far as they are searched. */
const listNewer = Effect.fnUntraced(function*(workflowId: string, id: string) {
  const n8n = yield* N8nClient
  const heads: Array<Head> = []
  for (const status of statusFilters) {
    let cursor: string | undefined
    for (let page = 0; page < maxPages; page++) {
      const listed = yield* n8n.listExecutions({ workflowId, status, limit: maxPage, cursor })
      heads.push(...listed.executions)
      cursor = listed.nextCursor
      if (cursor === undefined || listed.executions.some((head) => Number(head.id) < Number(id))) break
    }
  }
  return heads.filter((head) => Number(head.id) > Number(id))
})

/** Retry of a run by n8n that is newer than another execution. */
export const retryAfter = (workflowId: string, id: string, after: string) =>
  Effect.map(listNewer(workflowId, after), (heads) => heads.find((head) => retryOf(head) === id))

const again = (as: string): Reason => ({ reason: "already retried successfully", as })

/** Reason why a run cannot be retried in its state. */
const stateReason = (status: string | null | undefined) => {
  if (status === "success") return "it succeeded"
  if (status === "waiting") return "it waits"
  return status === "running" || status === "new" ? "it is still running" : undefined
}

/** Decides for each run whether it may be retried: runs with the same request are retried once, the newest of them. */
export const decide = Effect.fn("retryHistory.decide")(function*(
  heads: ReadonlyArray<Head>,
  log: ReadonlyArray<RetryLog.Attempt>
) {
  const n8n = yield* N8nClient
  const known = new Map(heads.map((head) => [idOf(head), head]))
  const oldest = Map.groupBy(heads, ({ workflowId }) => workflowId ?? "")
  yield* Effect.forEach(oldest, ([workflowId, all]) =>
    Effect.gen(function*() {
      const [first] = all.map(idOf).toSorted((a, b) => Number(a) - Number(b))
      for (const head of yield* listNewer(workflowId, first ?? "0")) known.set(idOf(head), head)
    }), { concurrency: 4, discard: true })
  const origins = new Map(log.flatMap(({ newId, run }) => newId === undefined ? [] : [[newId, run]]))
  const parentOf = (id: string) => {
    const parent = origins.get(id) ?? retryOf(known.get(id) ?? { id })
    return Number(parent) < Number(id) ? parent : undefined
  }
  const roots = new Map<string, string>()
  for (const head of heads) {
    let root = idOf(head)
    for (let parent = parentOf(root); parent !== undefined; parent = parentOf(root)) {
      root = parent
      if (known.has(root)) continue
      const above = yield* Effect.option(n8n.executionHead(root))
      if (above._tag === "Some") known.set(root, above.value)
    }
    roots.set(idOf(head), root)
  }
  const rootOf = (id: string): string => {
    const parent = parentOf(id)
    return parent === undefined ? id : roots.get(id) ?? rootOf(parent)
  }
  const families = Map.groupBy(known.values(), (head) => rootOf(idOf(head)))
  const chosen = Map.groupBy(heads.map(idOf), (id) => roots.get(id) ?? id)

  const reasonOf = Effect.fnUntraced(function*(
    head: Head,
    root: string,
    attempts: ReadonlyArray<RetryLog.Attempt>
  ): Effect.fn.Return<Reason | undefined> {
    const own = stateReason(head.status)
    if (own !== undefined) return { reason: own }
    const family = families.get(root) ?? [head]
    for (const each of family) {
      const success = text(each["retrySuccessId"]) ?? (each.status === "success" ? idOf(each) : undefined)
      if (success !== undefined) return again(success)
      if (each !== head && stateReason(each.status) !== undefined) {
        return { reason: "it is being retried", as: idOf(each) }
      }
    }
    for (const { newId, status = "" } of attempts) {
      if (newId === undefined) {
        return { reason: "its request may have been sent again already, and n8n does not show with which result" }
      }
      const now = isOver(status)
        ? status
        : known.get(newId)?.status ??
          (yield* Effect.option(Effect.map(n8n.executionHead(newId), ({ status }) => status)))
            .pipe((option) => option._tag === "Some" ? option.value ?? status : status)
      if (now === "success") return again(newId)
      if (!isOver(now)) return { reason: "it was started again, which has not ended", as: newId }
    }
    const [newest] = (chosen.get(root) ?? []).toSorted(newer)
    return newest === idOf(head) || newest === undefined
      ? undefined
      : { reason: "another of these runs is a retry of it", as: newest }
  })

  return yield* Effect.forEach(heads, (head) =>
    Effect.gen(function*() {
      const root = roots.get(idOf(head)) ?? idOf(head)
      const attempts = log.filter(({ run }) => run === root)
      const reason = yield* reasonOf(head, root, attempts)
      const number = 1 + Math.max(-1, ...attempts.map(({ number }) => number))
      if (reason !== undefined) return { head, ...reason }
      const own = [...known.values()].filter((each) => retryOf(each) === idOf(head))
      const [newest = idOf(head)] = own.map(idOf).toSorted(newer)
      return { head, attempt: { run: root, number }, newest } satisfies Open
    }))
})
