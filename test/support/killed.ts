/** Ends of a process amid its writes. */
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import type * as N8nApi from "../../src/testing/n8nApi/N8nApi.ts"

/** Ends an effect at its k-th write, before or after n8n handles it. */
export const killed = (at: number, isAfter: boolean) => {
  let count = 0
  let stop: Deferred.Deferred<void> | undefined
  const here = (method: string) =>
    Effect.suspend(() =>
      stop === undefined || method === "GET" || ++count < at
        ? Effect.void
        : Effect.andThen(Deferred.succeed(stop, undefined), Effect.never)
    )
  return {
    options: isAfter
      ? { after: ({ method }: N8nApi.RecordedRequest) => here(method) }
      : { before: ({ method }: N8nApi.RecordedRequest) => here(method) },
    run: <A, E, R>(effect: Effect.Effect<A, E, R>) =>
      Effect.gen(function*() {
        stop = yield* Deferred.make<void>()
        const fiber = yield* Effect.forkChild(effect)
        yield* Effect.raceFirst(Deferred.await(stop), Fiber.await(fiber))
        stop = undefined
        yield* Fiber.interrupt(fiber)
      })
  }
}
