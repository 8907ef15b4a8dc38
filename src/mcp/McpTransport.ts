/** How MCP messages reach the server. One layer per way: stdio, HTTP, memory. */
import type { Server } from "@modelcontextprotocol/sdk/server/index.js"
import type { Transport } from "@modelcontextprotocol/sdk/shared/transport.js"
import * as Context from "effect/Context"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import type * as Result from "effect/Result"
import type * as Envelope from "../answer/Envelope.ts"
import type * as Tool from "../answer/Tool.ts"

/** Who is at the other end, as far as the transport knows. */
export interface Caller {
  /** The transport's name for them; over stdio there is one caller only, without a name. */
  readonly client: string | undefined
}

/** The caller asked for a tool that is not served. */
export class UnknownTool extends Data.TaggedError("UnknownTool")<{ readonly message: string }> {}

/** A call that failed. */
export interface Failure {
  readonly envelope: Envelope.Envelope
  /** Not the call is at fault, but this server or its machine. */
  readonly isServerFault: boolean
}

/** What a transport brings to its callers. */
export interface Served {
  /** A fresh MCP server for one connection; it runs in the context, span and logs of where it was made. */
  readonly makeServer: (caller: Caller) => Effect.Effect<Server>
  /** The tools that the caller is offered, without MCP. */
  readonly list: (caller: Caller) => Effect.Effect<ReadonlyArray<Tool.Any>>
  /** Calls one tool, without MCP: its answer, or its failure. */
  readonly call: (
    caller: Caller,
    name: string,
    args: unknown
  ) => Effect.Effect<Result.Result<object, Failure>, UnknownTool>
}

/** One way for messages to come and go. */
export class McpTransport extends Context.Service<McpTransport, {
  /** Serves until the peer leaves. */
  readonly serve: (served: Served) => Effect.Effect<void>
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
