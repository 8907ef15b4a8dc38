/** How MCP messages reach the server. `src/transport/` has one layer per way. */
import type { Server } from "@modelcontextprotocol/sdk/server/index.js"
import type { Transport } from "@modelcontextprotocol/sdk/shared/transport.js"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"

/** One way for messages to come and go. */
export class McpTransport extends Context.Service<McpTransport, {
  /** Serves until the peer leaves. `makeServer` gives a fresh server for each connection. */
  readonly serve: (makeServer: () => Server) => Effect.Effect<void>
}>()("effect-n8n-mcp/McpTransport") {}

/** Joins the two and closes the server with the scope. */
export const connect = (server: Server, transport: Transport) =>
  Effect.acquireRelease(
    Effect.as(Effect.promise(() => server.connect(transport)), server),
    () => Effect.promise(() => server.close())
  )

/** Completes when the peer has closed the connection. */
export const closed = (server: Server) =>
  Effect.callback<void>((resume) => {
    server.onclose = () => resume(Effect.void)
  })
