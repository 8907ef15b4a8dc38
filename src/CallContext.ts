/** What one call has besides its input: progress it may report. Cancellation is interruption of the fiber. */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"

/** Tells the caller how far a call has come; `total` where it is known. */
export interface Service {
  readonly progress: (done: number, total: number | undefined, message: string) => Effect.Effect<void>
}

/** Silent unless a transport provides the caller's end. */
export const CallContext = Context.Reference<Service>("effect-n8n-mcp/CallContext", {
  defaultValue: () => ({ progress: () => Effect.void })
})
