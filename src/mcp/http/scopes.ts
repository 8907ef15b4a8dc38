/** Scope check before a tool runs, so that the client can request another token. */
import * as Effect from "effect/Effect"
import type { Served } from "../McpTransport.ts"
import type { Known } from "./Access.ts"
import type * as Refusal from "./refusal.ts"

/** Refuses a call of a tool that changes something if the token only allows reading. */
export const check = (
  { list }: Pick<Served, "list">,
  { writeRefusal, ...caller }: Known,
  tool: unknown
): Effect.Effect<void, Refusal.Refusal> =>
  writeRefusal === undefined ? Effect.void : Effect.flatMap(list({ ...caller, readOnly: false }), (tools) => {
    const isWrite = tools.some(({ annotations, name }) => name === tool && !annotations.readOnlyHint)
    return isWrite ? Effect.fail(writeRefusal) : Effect.void
  })
