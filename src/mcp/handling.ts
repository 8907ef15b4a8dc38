/** Helpers of a server's methods. */
import * as Effect from "effect/Effect"
import * as Envelope from "../answer/Envelope.ts"
import * as Errors from "../base/Errors.ts"
import * as Visible from "../base/Visible.ts"
import * as Rpc from "./Rpc.ts"

const maxNameChars = 100

/** Name sent by the caller, escaped and shortened for a message. */
export const shorten = (name: string): string =>
  Visible.text(name.length > maxNameChars ? `${name.slice(0, maxNameChars)}…` : name)

/** Protocol error with the text of a failure, for methods without an error envelope. */
export const orRpcError = <A, R>(
  effect: Effect.Effect<A, Errors.Failure, R>,
  data?: object
): Effect.Effect<A, Rpc.RpcError, R> =>
  Effect.mapError(effect, (error) => {
    const { hint, message } = Envelope.fromError(error)
    const code = error._tag === "ApiError" || Errors.isServerFault(error)
      ? Rpc.codes.internalError
      : Rpc.codes.invalidParams
    return new Rpc.RpcError({ code, message: Visible.text(`${message}. ${hint}`), data })
  })

export const text = (
  params: { readonly [name: string]: unknown },
  name: string
): Effect.Effect<string, Rpc.RpcError> => {
  const value = params[name]
  return typeof value === "string"
    ? Effect.succeed(value)
    : Effect.fail(Rpc.invalidParams(`params.${name} is a string`))
}
