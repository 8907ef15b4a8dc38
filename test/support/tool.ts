/** A tool for tests. */
import type * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Tool from "../../src/answer/Tool.ts"
import type * as Errors from "../../src/base/Errors.ts"

/** Makes a tool that answers with a text; without `input` it takes no arguments. */
export const tool = <R>(
  name: string,
  handler: Effect.Effect<string, Errors.N8nError, R>,
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
