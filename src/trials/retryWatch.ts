/**
 * Search for the runs that requests have started. n8n does not say which, and the requests are not marked: a run belongs
 * to a request if its trigger has returned the same.
 */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Schedule from "effect/Schedule"
import * as Semaphore from "effect/Semaphore"
import * as Execution from "../executions/Execution.ts"
import { Executions } from "../executions/Executions.ts"
import { N8nClient } from "../n8n/N8nClient.ts"
import { isSettled, statusFilters } from "./executionWatch.ts"
import * as retryRequests from "./retryRequests.ts"

/** Maximum number of a workflow's newest runs that are searched. */
const maxListed = 100

/** Milliseconds that n8n may take to list a run after the webhook has answered. */
const listingDelay = 4_000

/** Run of a request, or the reason why it is not known. */
export type Match =
  | { readonly newId: string; readonly status: string }
  | { readonly candidates: ReadonlyArray<string> }

/** First item of the node that started an execution, and the output that it left by. */
export const startOf = (execution: Execution.Execution) => {
  const [name, [run] = []] = [...execution.runs].toSorted(([, [a]], [, [b]]) => Execution.byOrder(a, b))[0] ?? []
  const node = execution.workflow?.nodes.find((node) => node.name === name)
  const part = run === undefined ?
    undefined :
    Execution.outputSlots(name ?? "", run).find(({ slot }) => slot.port.type === "main")
  if (node === undefined || part === undefined) return undefined
  const [item] = execution.items(part.slot, 0, 1)
  return { node, output: part.slot.port.index, item }
}

/** Watches the runs of a workflow from now on. */
export const make = Effect.fn("retryWatch.make")(function*(workflowId: string) {
  const n8n = yield* N8nClient
  const list = (limit: number) =>
    Effect.map(
      Effect.forEach(statusFilters, (status) => n8n.listExecutions({ workflowId, status, limit })),
      (lists) => new Map(lists.flatMap(({ executions }) => executions).map((head) => [String(head.id), head]))
    )
  const before = Math.max(0, ...[...(yield* list(1)).keys()].map(Number))
  const statuses = new Map<string, string>()
  const fingerprints = new Map<string, string>()
  const sent = new Map<string, ReadonlyArray<string>>()
  const turn = yield* Semaphore.make(1)

  const refresh = turn.withPermit(Effect.gen(function*() {
    for (const [id, { retryOf, status }] of yield* list(maxListed)) {
      if (Number(id) <= before || retryOf !== null && retryOf !== undefined) continue
      statuses.set(id, status ?? "unknown")
      if (fingerprints.has(id) || !isSettled(status ?? "")) continue
      const execution = yield* Executions.use((executions) => executions.get(id)).pipe(
        Effect.catchTag("NotFoundError", () => Effect.undefined)
      )
      const start = execution && startOf(execution)
      fingerprints.set(id, start === undefined ? "" : retryRequests.fingerprint(start.item))
    }
  }))

  const matches = (fingerprint: string) =>
    [...fingerprints].flatMap(([id, each]) => each === fingerprint ? [id] : []).toSorted((a, b) =>
      Number(a) - Number(b)
    )
  const sentAs = (fingerprint: string) => sent.get(fingerprint) ?? []
  /** Runs that have not ended, which may be of any request. */
  const pending = () => [...statuses.keys()].filter((id) => !fingerprints.has(id))

  return {
    /** Notes that the request of a run is about to be sent. */
    expect: (run: string, fingerprint: string) => void sent.set(fingerprint, [...sentAs(fingerprint), run]),
    /** Notes that the request of a run has certainly started nothing. */
    forget: (run: string, fingerprint: string) =>
      void sent.set(fingerprint, sentAs(fingerprint).filter((each) => each !== run)),
    /** Waits until the runs of a request have ended or wait, or n8n lists no run for it; the webhook has answered. */
    awaitEnd: (fingerprint: string) =>
      Effect.gen(function*() {
        const start = yield* Clock.currentTimeMillis
        yield* Effect.andThen(refresh, Clock.currentTimeMillis).pipe(
          Effect.repeat({
            schedule: Schedule.spaced("250 millis"),
            until: (now) =>
              matches(fingerprint).length >= sentAs(fingerprint).length ||
              pending().length === 0 && now - start > listingDelay
          })
        )
      }),
    /** Run of each request that was sent; to be called when all are over, so that equal ones are noticed. */
    resolve: Effect.map(Effect.ignore(refresh), () => {
      const results = new Map<string, Match>()
      const open: Array<string> = []
      for (const [fingerprint, runs] of sent) {
        const ids = matches(fingerprint)
        if (ids.length > runs.length) {
          for (const run of runs) results.set(run, { candidates: ids })
          continue
        }
        runs.forEach((run, index) => {
          const newId = ids[index]
          if (newId === undefined) open.push(run)
          else results.set(run, { newId, status: statuses.get(newId) ?? "unknown" })
        })
      }
      const candidates = pending()
      const [newId] = candidates
      for (const run of open) {
        results.set(
          run,
          newId !== undefined && open.length === 1 && candidates.length === 1
            ? { newId, status: statuses.get(newId) ?? "running" }
            : { candidates }
        )
      }
      return results
    })
  }
})

/** Search for the runs of a workflow's requests. */
export type Watch = Effect.Success<ReturnType<typeof make>>
