/** Waiting for an execution to end. */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Schedule from "effect/Schedule"
import { CallContext } from "../base/CallContext.ts"
import type * as Errors from "../base/Errors.ts"
import * as ExecutionHead from "../n8n/model/ExecutionHead.ts"
import { N8nClient } from "../n8n/N8nClient.ts"

const polling = Schedule.spaced("1 second")

/** Maximum wait, which leaves time to read the data within the 50 seconds of a call. */
const maxSeconds = 40

/**
 * Waits until the execution has ended or the time is up, and reports progress.
 *
 * Polls the status only, once a second, for at most 40 seconds. Does not wait for an unknown execution.
 */
export const wait = Effect.fn("ExecutionEnd.wait")(
  function*(id: string, seconds: number): Effect.fn.Return<void, Errors.N8nError, N8nClient> {
    const n8n = yield* N8nClient
    const { progress } = yield* CallContext
    const start = yield* Clock.currentTimeMillis
    yield* n8n.executionHead(id).pipe(
      Effect.map(({ status }) => status ?? "unknown"),
      Effect.tap((status) =>
        Effect.flatMap(
          Clock.currentTimeMillis,
          (now) => progress(Math.min(seconds, Math.round((now - start) / 1000)), seconds, status)
        )
      ),
      Effect.repeat({ schedule: polling, until: ExecutionHead.isOver }),
      Effect.timeoutOption(`${Math.min(seconds, maxSeconds)} seconds`),
      Effect.catchTag("NotFoundError", () => Effect.void)
    )
  }
)
