/**
 * Record of runs that were started again, written before a request is sent: a request of which the outcome is unknown
 * is never sent twice, by any process that shares the record.
 *
 * The record is a set of names per n8n, by {@link keyOf}: `<run>.<attempt>` before an attempt, and `<run>.<attempt>.<new run>.<status>`
 * when its outcome is known.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { Documents } from "../base/Documents.ts"
import * as Errors from "../base/Errors.ts"
import { defined } from "../base/Json.ts"
import * as Locks from "../base/KeyedMutex.ts"
import type { Instance } from "../n8n/N8nClient.ts"

/** Attempt to start a run again; without `newId`, its outcome is unknown. */
export interface Attempt {
  readonly run: string
  readonly number: number
  readonly newId?: string
  readonly status?: string
}

/** Attempts of one n8n; those that cannot be recorded fail. */
export interface Service {
  readonly read: (instance: string) => Effect.Effect<ReadonlyArray<Attempt>, Errors.ValidationError>
  /** Records an attempt; `false` if another call has made it. */
  readonly claim: (instance: string, attempt: Attempt) => Effect.Effect<boolean, Errors.ValidationError>
  /** Removes an attempt that certainly started nothing. */
  readonly release: (instance: string, attempt: Attempt) => Effect.Effect<void>
  /** Records the outcome of an attempt. */
  readonly settle: (instance: string, attempt: Required<Attempt>) => Effect.Effect<void>
  /** Runs retries of the same run one after the other. */
  readonly oneAtATime: (run: string) => <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
}

/** Record of retries. */
export class RetryLog extends Context.Service<RetryLog, Service>()("effect-n8n-mcp/RetryLog") {}

/** Key of an n8n: its address, whatever its API key, and however this machine is called in it. @internal */
export const keyOf = ({ url }: Instance): string =>
  url.replace(/^(https?:\/\/)(?:localhost|\[::1\])(?=[:/])/, "$1127.0.0.1")

/** Maximum number of names per n8n; the oldest runs, which n8n prunes too, are forgotten first. @internal */
export const maxNames = 20_000

const nameOf = ({ newId, number, run, status }: Attempt) =>
  [run, number, ...newId === undefined ? [] : [newId, status]].join(".")

/** Attempts by names; a name with an outcome is longer, and comes after the one without. */
const attemptsOf = (names: ReadonlyArray<string>): ReadonlyArray<Attempt> => {
  const attempts = new Map<string, Attempt>()
  for (const name of names.toSorted()) {
    const [, key, run, number, newId, status] = /^((\d+)\.(\d+))(?:\.(\d+)\.(\w+))?$/.exec(name) ?? []
    if (key !== undefined && run !== undefined) {
      attempts.set(key, defined({ run, number: Number(number), newId, status }))
    }
  }
  return [...attempts.values()]
}

const refusal = (error: Errors.ValidationError) =>
  new Errors.ValidationError({
    ...error,
    reason: `Nothing was sent, since a retry from the start is recorded first: ${error.reason}`
  })

/** Record in the collection `retries`. */
export const layer: Layer.Layer<RetryLog, never, Documents> = Layer.effect(
  RetryLog,
  Effect.map(Documents, ({ collection }) => {
    const of = (instance: string) => collection("retries", instance)
    return {
      read: (instance) => of(instance).list.pipe(Effect.map(attemptsOf), Effect.mapError(refusal)),
      claim: Effect.fn("RetryLog.claim")(function*(instance, { number, run }) {
        const { add, list, remove } = of(instance)
        if (!(yield* add(nameOf({ run, number })))) return false
        const names = (yield* list).toSorted((a, b) => Number.parseInt(b) - Number.parseInt(a))
        yield* Effect.forEach(names.slice(maxNames), (name) => Effect.ignore(remove(name)), { discard: true })
        return true
      }, Effect.mapError(refusal)),
      release: (instance, { number, run }) => Effect.ignore(of(instance).remove(nameOf({ run, number }))),
      settle: (instance, attempt) => Effect.ignore(of(instance).add(nameOf(attempt))),
      oneAtATime: Locks.make()
    }
  })
)
