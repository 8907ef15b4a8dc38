/** A mutual exclusion lock per key. */
import * as Effect from "effect/Effect"
import * as Semaphore from "effect/Semaphore"

/** A function that runs effects one at a time per key, in order; a lock exists only while it is held or awaited. */
export const make = () => {
  const locks = new Map<string, { readonly semaphore: Semaphore.Semaphore; users: number }>()
  return (key: string) => <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
    Effect.acquireUseRelease(
      Effect.sync(() => {
        const lock = locks.get(key) ?? { semaphore: Semaphore.makeUnsafe(1), users: 0 }
        lock.users++
        locks.set(key, lock)
        return lock
      }),
      (lock) => lock.semaphore.withPermits(1)(effect),
      (lock) => Effect.sync(() => --lock.users === 0 && locks.delete(key))
    )
}
