/** n8n's refusals. */
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"

export type Major = "2" | "1"

export class Refusal extends Data.TaggedError("Refusal")<{ readonly status: number; readonly message: string }> {}

export const refuse = (status: number, message: string): Effect.Effect<never, Refusal> =>
  Effect.fail(new Refusal({ status, message }))
