/** Transports of MCP messages. One layer each for stdio, HTTP and memory. */
import * as Context from "effect/Context"
import * as Data from "effect/Data"
import type * as Effect from "effect/Effect"
import type * as Result from "effect/Result"
import type * as Envelope from "../answer/Envelope.ts"
import type * as Tool from "../answer/Tool.ts"
import type { Sealing } from "./eras/Sealing.ts"
import type * as Methods from "./Methods.ts"

export { type Caller } from "./Methods.ts"

/** Error of a call of a tool that is not served. */
export class UnknownTool extends Data.TaggedError("UnknownTool")<{ readonly message: string }> {}

/** Failed call, or a caller who may not call. */
export interface Failure {
  readonly envelope: Envelope.Envelope
  /** Whether this server or its machine is at fault, not the call. */
  readonly isServerFault: boolean
}

/** MCP without its transport. */
export interface Protocol {
  readonly about: Methods.About
  readonly methods: Methods.Methods
  readonly sealing: Sealing
}

/** Protocol that a transport serves to its callers. */
export interface Served extends Protocol {
  /** Tools that are offered to the caller, without MCP; those of the server to a caller without a context. */
  readonly list: (caller: Methods.Caller) => Effect.Effect<ReadonlyArray<Tool.Any>>
  /** Calls one tool without MCP. */
  readonly call: (
    caller: Methods.Caller,
    name: string,
    args: unknown
  ) => Effect.Effect<Result.Result<object, Failure>, UnknownTool>
}

/** Transport of messages. */
export class McpTransport extends Context.Service<McpTransport, {
  /** Serves until the peer disconnects. */
  readonly serve: (served: Served) => Effect.Effect<void>
}>()("effect-n8n-mcp/McpTransport") {}
