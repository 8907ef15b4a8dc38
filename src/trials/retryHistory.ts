/** Earlier retries of runs: by n8n, which records them, and from the start, which `RetryLog` does. */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type * as RetryLog from "../executions/RetryLog.ts"
import * as ExecutionHead from "../n8n/model/ExecutionHead.ts"
import { maxPage } from "../n8n/model/Limits.ts"
import { N8nClient } from "../n8n/N8nClient.ts"
import { statusFilters } from "./executionWatch.ts"

type Head = ExecutionHead.Listed

/** Run that may be retried, or the reason why it may not, and the other run that is the reason. */
export type Decision =
  & { readonly id: string; readonly workflowId: string }
  & ({ readonly attempt: RetryLog.Attempt } | { readonly reason: string; readonly as?: string })

/** Maximum number of pages of a workflow's newer runs that are searched for retries. */
const maxPages = 4

const idOf = ({ id }: Head) => String(id)

/** Id in a field; 1.x returns numbers. */
const linkOf = (id: unknown) => id === null || id === undefined ? undefined : String(id)

/** Runs of a workflow that are newer than this one, as far as they are searched. */
const listNewer = Effect.fnUntraced(function*(workflowId: string, id: number) {
  const n8n = yield* N8nClient
  const heads: Array<Head> = []
  for (const status of statusFilters) {
    let cursor: string | undefined
    for (let page = 0; page < maxPages; page++) {
      const listed = yield* n8n.listExecutions({ workflowId, status, limit: maxPage, cursor })
      heads.push(...listed.executions)
      cursor = listed.nextCursor
      if (cursor === undefined || listed.executions.some((head) => Number(head.id) < id)) break
    }
  }
  return heads.filter((head) => Number(head.id) > id)
})

/** Retry of a run by n8n that is newer than any that was known. */
export const retryAfter = (workflowId: string, id: string, newest: number) =>
  Effect.map(listNewer(workflowId, newest), (heads) => heads.find(({ retryOf }) => linkOf(retryOf) === id))

const inDoubt =
  "it may have been sent again already: look for a newer run of its workflow; force: true sends it once more"

const stateReason = (status: string | null | undefined) => {
  if (status === "success") return "it succeeded"
  if (status === "waiting") return "it waits"
  return status === "running" || status === "new" ? "it is still running" : undefined
}

/**
 * Decides for each run whether it may be retried: of runs with the same request, its family, only the newest. Also
 * returns the newest run that is known.
 */
export const decide = Effect.fn("retryHistory.decide")(function*(
  heads: ReadonlyArray<Head>,
  log: ReadonlyArray<RetryLog.Attempt>,
  force: boolean
) {
  const n8n = yield* N8nClient
  const known = new Map<string, Head>(
    log.flatMap(({ newId, status = "" }) => newId === undefined ? [] : [[newId, { id: newId, status }]])
  )
  const newer = yield* Effect.forEach(
    Map.groupBy(heads, ({ workflowId }) => workflowId ?? ""),
    ([workflowId, all]) => listNewer(workflowId, Math.min(...all.map(({ id }) => Number(id)))),
    { concurrency: 4 }
  )
  for (const head of [...heads, ...newer.flat()]) known.set(idOf(head), head)

  const origins = new Map(log.map(({ newId, run }) => [newId, run]))
  const parentOf = (id: string) => {
    const parent = origins.get(id) ?? linkOf(known.get(id)?.["retryOf"])
    return Number(parent) < Number(id) ? parent : undefined
  }
  for (const head of heads) {
    for (let id = parentOf(idOf(head)); id !== undefined; id = parentOf(id)) {
      if (known.has(id)) continue
      const above = yield* Effect.option(n8n.executionHead(id))
      if (Option.isSome(above)) known.set(id, above.value)
    }
  }
  const rootOf = (id: string): string => {
    const parent = parentOf(id)
    return parent === undefined ? id : rootOf(parent)
  }
  const families = Map.groupBy(known.values(), (head) => rootOf(idOf(head)))
  const newestOf = new Map(
    heads.toSorted((a, b) => Number(a.id) - Number(b.id)).map((head) => [rootOf(idOf(head)), idOf(head)])
  )

  const decisionOf = (head: Head): Decision => {
    const id = idOf(head)
    const run = { id, workflowId: head.workflowId ?? "" }
    const state = stateReason(head.status)
    if (state !== undefined) return { ...run, reason: state }
    const root = rootOf(id)
    const family = families.get(root) ?? []
    for (const each of family) {
      const success = linkOf(each["retrySuccessId"]) ?? (each.status === "success" ? idOf(each) : undefined)
      if (success !== undefined) return { ...run, reason: "already retried successfully", as: success }
    }
    const attempts = log.filter(({ run }) => run === root)
    // n8n names the runs that it has resumed.
    const unknown = attempts.filter(({ newId }) => newId === undefined).length
    const resumed = family.filter((each) => linkOf(each["retryOf"]) !== undefined && !origins.has(idOf(each))).length
    if (unknown > resumed && !force) return { ...run, reason: inDoubt }
    const open = family.find((each) => each !== head && !ExecutionHead.isOver(each.status ?? ""))
    if (open !== undefined) return { ...run, reason: "it is being retried", as: idOf(open) }
    const newest = newestOf.get(root) ?? id
    return newest === id
      ? { ...run, attempt: { run: root, number: 1 + Math.max(-1, ...attempts.map(({ number }) => number)) } }
      : { ...run, reason: "another of these runs is a retry of it", as: newest }
  }
  return { decisions: heads.map(decisionOf), newest: Math.max(0, ...[...known.keys()].map(Number)) }
})
