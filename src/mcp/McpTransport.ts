/** How MCP messages reach the server. One layer per way: stdio, HTTP, memory. */
import * as Context from "effect/Context"
import * as Data from "effect/Data"
import type * as Effect from "effect/Effect"
import type * as Result from "effect/Result"
import type * as Envelope from "../answer/Envelope.ts"
import type * as Tool from "../answer/Tool.ts"
import type { Caller } from "./Caller.ts"
import type { Sealing } from "./eras/Sealing.ts"
import type * as Methods from "./Methods.ts"

export { type Caller } from "./Caller.ts"

/**
 * The caller asked for a tool that is not served.
 *
 * @category errors
 * @since 0.1.0
 */
export class UnknownTool extends Data.TaggedError("UnknownTool")<{ readonly message: string }> {}

/**
 * A call that failed.
 *
 * @category models
 * @since 0.1.0
 */
export interface Failure {
  readonly envelope: Envelope.Envelope
  /** Not the call is at fault, but this server or its machine. */
  readonly isServerFault: boolean
}

/**
 * MCP without its transport.
 *
 * @category models
 * @since 0.1.0
 */
export interface Protocol {
  readonly about: Methods.About
  readonly methods: Methods.Methods
  /** Keeps what a client holds between a question and its answer. */
  readonly sealing: Sealing
}

/**
 * What a transport brings to its callers.
 *
 * @category models
 * @since 0.1.0
 */
export interface Served extends Protocol {
  /** The tools that the caller is offered, without MCP. */
  readonly list: (caller: Caller) => Effect.Effect<ReadonlyArray<Tool.Any>>
  /** Calls one tool, without MCP: its answer, or its failure. */
  readonly call: (
    caller: Caller,
    name: string,
    args: unknown
  ) => Effect.Effect<Result.Result<object, Failure>, UnknownTool>
}

/**
 * One way for messages to come and go.
 *
 * @category services
 * @since 0.1.0
 */
export class McpTransport extends Context.Service<McpTransport, {
  /** Serves until the peer leaves. */
  readonly serve: (served: Served) => Effect.Effect<void>
}>()("effect-n8n-mcp/McpTransport") {}
