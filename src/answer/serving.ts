/** Tools of the current caller. */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Errors from "../base/Errors.ts"
import type { Answer, Any, Input, Output, Services } from "./toolParts.ts"

/** Tools that are served to the caller, wrappers included; resources read through these. */
export const CurrentTools = Context.Reference<ReadonlyArray<Any<never>>>("effect-n8n-mcp/CurrentTools", {
  defaultValue: () => []
})

/** Runs an effect with these tools as the caller's. */
export const serving =
  <T extends Any>(tools: ReadonlyArray<T>) =>
  <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R | Services<T>> =>
    Effect.flatMap(Effect.context<R | Services<T>>(), (context) =>
      // The context contains the services of the tools.
      Effect.provideContext(effect, Context.add(context, CurrentTools, tools as ReadonlyArray<Any> as never)))

/** Tool as it is served to the caller. */
export interface Served<T extends Any> {
  readonly call: (input: Input<T>) => Effect.Effect<Output<T>, Errors.Failure>
  readonly run: (args: unknown) => Effect.Effect<Answer<unknown>, Errors.Failure>
}

/** The caller's tool of the same name, for resources and completions; fails if it is not served. */
export const served = <T extends Any>(tool: T): Effect.Effect<Served<T>, Errors.ValidationError> =>
  Effect.flatMap(CurrentTools, (tools) => {
    const match = tools.find(({ name }) => name === tool.name)
    return match === undefined
      ? Effect.fail(
        new Errors.ValidationError({
          reason: `${tool.name} is not served here`,
          hint: "A resource is read through its tool: serve both, or provide Tool.serving."
        })
      )
      : Effect.succeed(match as unknown as Served<T>)
  })
