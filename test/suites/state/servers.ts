/** Built servers, as processes of their own. */
import * as Effect from "effect/Effect"
import { installed } from "../../support/Process.ts"
import * as support from "../../support/serving.ts"

/** A built server with this state, before this n8n; its answers are their JSON. */
export const serving = Effect.fnUntraced(function*(
  state: string,
  n8n: URL,
  { args = [], env = {} }: { readonly args?: ReadonlyArray<string>; readonly env?: Readonly<Record<string, string>> } =
    {}
) {
  const { main } = yield* installed
  const place = { N8N_URL: n8n.href, N8N_API_KEY: "key", N8N_MCP_STATE: state }
  const { call, execute, ...server } = yield* support.serving(args, { ...place, ...env }, main)
  return {
    ...server,
    execute: (...args: Parameters<typeof execute>) => Effect.map(execute(...args), ({ json }) => json),
    call: (params: object) => Effect.map(call(params), ({ json }) => json)
  }
})

/** One that was started. */
export type Server = Effect.Success<ReturnType<typeof serving>>
