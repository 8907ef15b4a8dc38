/** What one call has besides its input: progress, and a person to ask. Cancellation is interruption of the fiber. */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"

/** What the person said; `unasked` where the client cannot ask. */
export type Consent = "yes" | "no" | "unasked"

/** The caller's end of one call. */
export interface Service {
  /** Whether `progress` reaches somebody, who then waits longer. */
  readonly hearsProgress?: boolean
  /** Tells how far a call has come; `total` where it is known. */
  readonly progress: (done: number, total: number | undefined, message: string) => Effect.Effect<void>
  /** Asks the person behind the client. */
  readonly confirm: (question: string) => Effect.Effect<Consent>
}

/** Silent, with nobody to ask, unless a transport provides the caller's end. */
export const CallContext = Context.Reference<Service>("effect-n8n-mcp/CallContext", {
  defaultValue: () => ({ progress: () => Effect.void, confirm: () => Effect.succeed("unasked" as const) })
})
