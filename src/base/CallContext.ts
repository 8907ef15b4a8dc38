/** What a call has besides its input: progress reports and a person to ask. Cancellation interrupts the fiber. */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"

/**
 * The person's answer; `unasked` if the client cannot ask.
 *
 * @category models
 * @since 0.1.0
 */
export type Consent = "yes" | "no" | "unasked"

/**
 * The caller's side of one call.
 *
 * @category models
 * @since 0.1.0
 */
export interface Service {
  /** Whether `progress` reaches somebody, who then waits longer. */
  readonly hearsProgress?: boolean
  /** Reports progress: `done` of `total` steps, if the total is known. */
  readonly progress: (done: number, total: number | undefined, message: string) => Effect.Effect<void>
  /** Asks the person behind the client. */
  readonly confirm: (question: string) => Effect.Effect<Consent>
}

/**
 * The current call's context; by default progress is dropped and nobody can be asked.
 *
 * @category services
 * @since 0.1.0
 */
export const CallContext = Context.Reference<Service>("effect-n8n-mcp/CallContext", {
  defaultValue: () => ({ progress: () => Effect.void, confirm: () => Effect.succeed("unasked" as const) })
})

/**
 * Who made the call, as people know them; for what is kept of a change. Unknown by default.
 *
 * @category services
 * @since 0.1.0
 */
export const Author = Context.Reference<string | undefined>("effect-n8n-mcp/Author", { defaultValue: () => undefined })
