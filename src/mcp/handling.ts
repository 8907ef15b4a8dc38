/** What the handlers of a server share. */
import type { RequestHandlerExtra } from "@modelcontextprotocol/sdk/shared/protocol.js"
import { ErrorCode, McpError, type ServerNotification, type ServerRequest } from "@modelcontextprotocol/sdk/types.js"
import * as Effect from "effect/Effect"
import * as Envelope from "../answer/Envelope.ts"
import * as Errors from "../base/Errors.ts"
import * as Visible from "../base/Visible.ts"

/** What the SDK knows of a request besides its parameters. */
export type Extra = RequestHandlerExtra<ServerRequest, ServerNotification>

/** Runs for the caller until the client cancels it; what fails with an `McpError` rejects with it. */
export type RunFor<R> = <A>(effect: Effect.Effect<A, McpError, R>, extra: Extra) => Promise<A>

/** What a client is told when this server, not the caller, is wrong. */
export const bug = "Internal error: a bug of this server, not of your call"

/** Characters of an unknown name in an answer. */
const maxNameChars = 100

/** A name of the caller's, for a message: visible, and no longer than any real one. */
export const shorten = (name: string): string =>
  Visible.text(name.length > maxNameChars ? `${name.slice(0, maxNameChars)}…` : name)

/** Where there is no envelope for failures they are protocol errors in the same words; defects are logged and hidden. */
export const orMcpError = <A, R>(
  effect: Effect.Effect<A, Errors.Failure, R>,
  data?: object
): Effect.Effect<A, McpError, R> =>
  effect.pipe(
    Effect.mapError((error) => {
      const { hint, message } = Envelope.fromError(error)
      const code = error._tag === "ApiError" || Errors.isServerFault(error)
        ? ErrorCode.InternalError
        : ErrorCode.InvalidParams
      return new McpError(code, Visible.text(`${message}. ${hint}`), data)
    }),
    Effect.catchDefect((defect) =>
      Effect.andThen(
        Effect.logError("request died", defect),
        Effect.fail(new McpError(ErrorCode.InternalError, bug, data))
      )
    )
  )
