/** A tool of tests. */
import type * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import type * as N8nError from "../src/N8nError.ts"
import * as Tool from "../src/Tool.ts"

/** A tool that answers a text; it takes nothing unless told. */
export const tool = <R>(
  name: string,
  handler: Effect.Effect<string, N8nError.N8nError, R>,
  input: Schema.ConstraintCodec<object, unknown> = Schema.Struct({})
) =>
  Tool.make({
    name,
    title: name,
    description: name,
    annotations: Tool.readOnly,
    scopes: [],
    input,
    output: Schema.Struct({ text: Schema.String }),
    handler: () => handler,
    summarize: (text) => ({ text }),
    message: () => ({ en: name, ja: name })
  })
