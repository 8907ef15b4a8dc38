/** Work through many elements within the time of one call. */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import { CallContext } from "./CallContext.ts"
import * as Deadline from "./Deadline.ts"

export interface Options<A, E> {
  /** Milliseconds that must be left to begin another element, and for what follows the last one. */
  readonly needs: number
  /** Milliseconds that the call is granted before each element, more after a longer one, if its caller receives progress. */
  readonly grants?: number | undefined
  /** Number of elements at work at the same time; by default one after the other. */
  readonly concurrency?: number | undefined
  /** Whether the call has made progress before, so that not even the first elements must begin. */
  readonly isContinued?: boolean | undefined
  /** Milliseconds after which elements still at work are interrupted, and count as left. */
  readonly within?: number | undefined
  /** Reason why a failure ends the batch: its element counts as left, and no other begins. */
  readonly stopIf?: ((error: E) => string | undefined) | undefined
  /** Message of the progress after an element; steps report none of their own. */
  readonly message?: ((done: number, total: number, item: A) => string) | undefined
}

/** Elements of a batch by what became of them, each in the order of the batch. */
export interface Outcome<A, B, E> {
  readonly done: ReadonlyMap<A, B>
  readonly failed: ReadonlyMap<A, E>
  /** Elements that were not begun, or whose failure ended the batch. */
  readonly left: ReadonlyArray<A>
  /** Reason why the batch ended early. */
  readonly stopped: string | undefined
  /** Failure that ended the batch. */
  readonly fault: E | undefined
}

/** Reason of a batch for which there was no more time. */
export const timeUp = "time is up"

/**
 * Runs a step for each of distinct elements, in order, a few at a time. Ends early if time is up, that is, if less is
 * left than an element needs or than half again as much as the longest one took, or if a failure ends it. The first
 * elements, as many as run at the same time, always begin, so that calls that continue each other come to an end.
 */
export const run = Effect.fnUntraced(function*<A, B, E, R>(
  items: Iterable<A>,
  { concurrency = 1, grants = 0, isContinued = false, message, needs, stopIf = () => undefined, within = Infinity }:
    Options<A, E>,
  step: (item: A, index: number) => Effect.Effect<B, E, R>
): Effect.fn.Return<Outcome<A, B, E>, never, R> {
  const all = [...items]
  const context = yield* CallContext
  const silent = { ...context, progress: () => Effect.void }
  const results = new Map<A, Result.Result<B, E>>()
  let [begun, longest]: [number, number] = [isContinued ? concurrency : 0, 0]
  let stopped: string | undefined
  let fault: E | undefined
  const one = Effect.fnUntraced(function*(item: A, index: number) {
    if (stopped !== undefined) return
    if (grants > 0) yield* Deadline.grantIfHeard(Math.max(grants, longest * 1.5))
    if (begun++ >= concurrency && (yield* Deadline.left) < Math.max(needs, longest * 1.5)) {
      stopped ??= timeUp
      return
    }
    const start = yield* Clock.currentTimeMillis
    const result = yield* Effect.result(Effect.provideService(step(item, index), CallContext, silent))
    longest = Math.max(longest, (yield* Clock.currentTimeMillis) - start)
    const reason = Result.isFailure(result) ? stopIf(result.failure) : undefined
    if (reason !== undefined) {
      stopped ??= reason
      if (Result.isFailure(result)) fault ??= result.failure
      return
    }
    results.set(item, result)
    if (message !== undefined) {
      yield* context.progress(results.size, all.length, message(results.size, all.length, item))
    }
  })
  const work = Effect.forEach(all, one, { concurrency, discard: true })
  if (all.length > 0 && Option.isNone(yield* Effect.timeoutOption(work, within))) stopped ??= timeUp
  const done = new Map<A, B>()
  const failed = new Map<A, E>()
  const left: Array<A> = []
  for (const item of all) {
    const result = results.get(item)
    if (result === undefined) left.push(item)
    else if (Result.isFailure(result)) failed.set(item, result.failure)
    else done.set(item, result.success)
  }
  return { done, failed, left, stopped, fault }
})
