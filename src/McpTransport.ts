/** How MCP messages reach the server. `src/transport/` has one layer per way. */
import type { Server } from "@modelcontextprotocol/sdk/server/index.js"
import type { Transport } from "@modelcontextprotocol/sdk/shared/transport.js"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"

/** Who is at the other end, as far as the transport knows. */
export interface Caller {
  /** A name that the transport has for them; over stdio there is one caller only, without a name. */
  readonly client: string | undefined
}

/** A fresh server for one connection; what it does runs in the context, span and logs, of where it was made. */
export type MakeServer = (caller: Caller) => Effect.Effect<Server>

/** One way for messages to come and go. */
export class McpTransport extends Context.Service<McpTransport, {
  /** Serves until the peer leaves. */
  readonly serve: (makeServer: MakeServer) => Effect.Effect<void>
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
