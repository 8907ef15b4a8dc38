/** How an answer says what was cut from it. */
import * as Schema from "effect/Schema"

/** How much was kept of what, and the call that fetches the rest. */
export const Mark = Schema.Struct({
  path: Schema.String,
  kept: Schema.Int,
  total: Schema.Int,
  next: Schema.optionalKey(Schema.String)
})
export type Mark = typeof Mark.Type

/** The key under which an output schema admits marks; belongs into every object that holds a list. */
export const truncated = { _truncated: Schema.optionalKey(Schema.Union([Mark, Schema.Array(Mark)])) }

/** For a list at a path such as `nodes` or `output.items`: the call that fetches what comes after `kept` elements. */
export type Next = (path: string, kept: number) => string | undefined
