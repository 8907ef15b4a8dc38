/** What a server answers, method by method; it knows neither the era nor the transport of a client. */
import * as Effect from "effect/Effect"
import * as App from "../answer/App.ts"
import { arr, type Obj, obj } from "../base/Json.ts"
import type { Caller } from "./Caller.ts"
import * as Rpc from "./Rpc.ts"

/**
 * What the client, or the person behind it, is asked.
 *
 * @category models
 * @since 0.1.0
 */
export interface Question {
  readonly method: "elicitation/create" | "roots/list" | "sampling/createMessage"
  readonly params: Obj
  /** An answer counts even if it comes before it was asked for. Default: `false`. */
  readonly isOpen?: boolean
}

/**
 * Questions or their answers, by names that the handler chooses: a question has the same name each time.
 *
 * @category models
 * @since 0.1.0
 */
export type Named<A> = { readonly [name: string]: A }

/**
 * A request as its handler sees it.
 *
 * @category models
 * @since 0.1.0
 */
export interface Request {
  readonly params: Obj
  readonly caller: Caller
  /** What the client declares that it can do. */
  readonly capabilities: Obj
  /** Tells the client something before the answer. */
  readonly notify: (method: string, params: Obj) => Effect.Effect<void>
  /**
   * Asks the client, all at once; fails where it has not declared that it can be asked.
   *
   * **Gotchas**
   *
   * A client of 2026-07-28 gets the questions as the result, and the handler begins anew with the answers: whatever is
   * asked must be asked before anything is changed.
   */
  readonly ask: (questions: Named<Question>) => Effect.Effect<Named<unknown>, Rpc.RpcError>
}

/**
 * Answers the requests of one method.
 *
 * @category models
 * @since 0.1.0
 */
export type Method = (request: Request) => Effect.Effect<Obj, Rpc.RpcError>

/**
 * The methods by name; those of the protocol itself are the eras'.
 *
 * @category models
 * @since 0.1.0
 */
export type Methods = { readonly [method: string]: Method }

/**
 * Whether a client with these capabilities shows pages of tools (MCP Apps).
 *
 * @category functions
 * @since 0.1.0
 */
export const showsApps = (capabilities: Obj): boolean => {
  const types = obj(obj(capabilities["extensions"])?.["io.modelcontextprotocol/ui"])?.["mimeTypes"]
  return arr(types).includes(App.mimeType)
}

/**
 * What a client is told about the server.
 *
 * @category models
 * @since 0.1.0
 */
export interface About {
  readonly name: string
  readonly version: string
  readonly capabilities: Obj
  readonly instructions?: string | undefined
}

/** The capability that each kind of question needs. */
const needed = {
  "elicitation/create": "elicitation",
  "roots/list": "roots",
  "sampling/createMessage": "sampling"
} as const

/**
 * Whether a client with these capabilities can be asked this.
 *
 * @category functions
 * @since 0.1.0
 */
export const canAsk = (capabilities: Obj, { method, params }: Question): boolean => {
  const capability = capabilities[needed[method]]
  if (typeof capability !== "object" || capability === null) return false
  // One that names its modes has no others; without any it has forms.
  const modes = Object.keys(capability)
  const mode = typeof params["mode"] === "string" ? params["mode"] : "form"
  return method !== "elicitation/create" || modes.includes(mode) ||
    mode === "form" && !modes.includes("url")
}

/**
 * Fails unless a client with these capabilities can be asked all of it.
 *
 * @category functions
 * @since 0.1.0
 */
export const checkCanAsk = (capabilities: Obj, questions: Named<Question>): Effect.Effect<void, Rpc.RpcError> => {
  const missing = Object.values(questions).filter((question) => !canAsk(capabilities, question))
  return missing.length === 0 ? Effect.void : Effect.fail(
    new Rpc.RpcError({
      code: Rpc.codes.missingCapability,
      message: `The client cannot be asked: ${missing.map(({ method }) => method).join(", ")}`,
      data: { requiredCapabilities: Object.fromEntries(missing.map(({ method }) => [needed[method], {}])) }
    })
  )
}

/**
 * What a client is told when this server, not the caller, is wrong.
 *
 * @category constants
 * @since 0.1.0
 */
export const bug = "Internal error: a bug of this server, not of your call"

/**
 * Runs one method; defects are logged and hidden.
 *
 * @category functions
 * @since 0.1.0
 */
export const run = (methods: Methods, name: string, request: Request): Effect.Effect<Obj, Rpc.RpcError> => {
  const method = Object.hasOwn(methods, name) ? methods[name] : undefined
  if (method === undefined) {
    return Effect.fail(new Rpc.RpcError({ code: Rpc.codes.methodNotFound, message: "Method not found" }))
  }
  return Effect.suspend(() => method(request)).pipe(
    Effect.catchDefect((defect) =>
      Effect.andThen(
        Effect.logError("request died", defect),
        Effect.fail(new Rpc.RpcError({ code: Rpc.codes.internalError, message: bug }))
      )
    )
  )
}
