/** Context of a call besides its input: progress reports and the user to ask. Cancellation interrupts the fiber. */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"

/** The user's answer; `unasked` if the client cannot ask. */
export type Consent = "yes" | "no" | "unasked"

/** The caller's side of one call. */
export interface Service {
  /** Whether the client receives `progress` and therefore waits longer. */
  readonly hearsProgress?: boolean
  /** Reports progress: `done` of `total` steps, if the total is known. */
  readonly progress: (done: number, total: number | undefined, message: string) => Effect.Effect<void>
  /** Asks the user of the client. */
  readonly confirm: (question: string) => Effect.Effect<Consent>
}

/** The current call's context; by default progress is dropped and questions are unanswered. */
export const CallContext = Context.Reference<Service>("effect-n8n-mcp/CallContext", {
  defaultValue: () => ({ progress: () => Effect.void, confirm: () => Effect.succeed("unasked" as const) })
})

/** Name of the caller, recorded with changes. Unknown by default. */
export const Author = Context.Reference<string | undefined>("effect-n8n-mcp/Author", { defaultValue: () => undefined })
