/** How MCP messages reach the server. One layer per way: stdio, HTTP, memory. */
import type { Server } from "@modelcontextprotocol/sdk/server/index.js"
import type { Transport } from "@modelcontextprotocol/sdk/shared/transport.js"
import type { JSONRPCMessage } from "@modelcontextprotocol/sdk/types.js"
import * as Context from "effect/Context"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import type * as Result from "effect/Result"
import * as Arguments from "../answer/Arguments.ts"
import type * as Envelope from "../answer/Envelope.ts"
import type * as Tool from "../answer/Tool.ts"
import { obj } from "../base/Json.ts"

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

/**
 * The SDK refuses a call whose arguments are no object in words of a library: they come to the tool as an object under
 * the name `arguments`, and the tool says what is wrong. Nothing and `null` are none.
 */
const withArguments = <M extends JSONRPCMessage>(message: M): M => {
  const params = "method" in message && message.method === "tools/call" ? obj(message.params) : undefined
  if (params === undefined || !Object.hasOwn(params, "arguments")) return message
  const { arguments: args, ...rest } = params
  if (obj(args) !== undefined) return message
  return { ...message, params: args === null ? rest : { ...rest, arguments: Arguments.wrap(args) } }
}

/** Joins the two, forgiving of what models send. */
export const join = async (server: Server, transport: Transport): Promise<void> => {
  await server.connect(transport)
  const { onmessage } = transport
  transport.onmessage = (message, extra) => onmessage?.(withArguments(message), extra)
}

/** Joins the two and closes the server with the scope. */
export const connect = (server: Server, transport: Transport) =>
  Effect.acquireRelease(
    Effect.as(Effect.promise(() => join(server, transport)), server),
    () => Effect.promise(() => server.close())
  )

/** Completes when the peer has closed the connection. */
export const closed = (server: Server) =>
  Effect.callback<void>((resume) => {
    server.onclose = () => resume(Effect.void)
  })
