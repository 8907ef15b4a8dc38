/** What n8n refuses, in the words of each major version. */
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"

/** n8n's major version. */
export type Major = "2" | "1"

/** An answer that says no, in n8n's words. */
export class Refusal extends Data.TaggedError("Refusal")<{ readonly status: number; readonly message: string }> {}

/** Says no. */
export const refuse = (status: number, message: string): Effect.Effect<never, Refusal> =>
  Effect.fail(new Refusal({ status, message }))
