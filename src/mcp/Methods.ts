/** Methods of a server, independent of the client's era and transport. */
import * as Effect from "effect/Effect"
import * as App from "../answer/App.ts"
import { arr, type Obj, obj } from "../base/Json.ts"
import * as Rpc from "./Rpc.ts"

/** Caller, as far as the transport knows. */
export interface Caller {
  /** Name from the transport; absent for the only caller over stdio. */
  readonly client: string | undefined
  /** Identity in all processes of the server, such as the digest of the token; absent if there is only one caller. */
  readonly principal?: string
  /** Name for people, such as the subject of an OAuth token; for logs and recorded changes. */
  readonly subject?: string | undefined
  /** Whether the caller may only read, whatever the server offers. */
  readonly readOnly?: boolean
  /** Data of one's own about the caller, as `access` returned them. */
  readonly data?: unknown
}

/** Question to the client or its user. */
export interface Question {
  readonly method: "elicitation/create" | "roots/list" | "sampling/createMessage"
  readonly params: Obj
  /** Whether an answer counts that the client sent before it was asked. Default: `false`. */
  readonly isOpen?: boolean
}

/** Questions or their answers by names that the handler chooses; the same question has the same name each time. */
export type Named<A> = { readonly [name: string]: A }

/** Request for a handler. */
export interface Request {
  readonly params: Obj
  readonly caller: Caller
  readonly capabilities: Obj
  /** Notifies the client before the answer. */
  readonly notify: (method: string, params: Obj) => Effect.Effect<void>
  /**
   * Asks the client all questions together; fails if the client has not declared the capability.
   *
   * **Gotchas**
   *
   * A client of 2026-07-28 receives the questions as the result, and the handler restarts with the answers: ask before
   * changing anything.
   */
  readonly ask: (questions: Named<Question>) => Effect.Effect<Named<unknown>, Rpc.RpcError>
}

/** Handler of one method. */
export type Method = (request: Request) => Effect.Effect<Obj, Rpc.RpcError>

/** Methods by name; those of the protocol itself belong to the eras. */
export type Methods = { readonly [method: string]: Method }

/** Whether a client with these capabilities shows pages of tools (MCP Apps). */
export const showsApps = (capabilities: Obj): boolean => {
  const types = obj(obj(capabilities["extensions"])?.["io.modelcontextprotocol/ui"])?.["mimeTypes"]
  return arr(types).includes(App.mimeType)
}

/** Description of the server for clients. */
export interface About {
  readonly name: string
  readonly version: string
  readonly capabilities: Obj
  readonly instructions?: string | undefined
}

const needed = {
  "elicitation/create": "elicitation",
  "roots/list": "roots",
  "sampling/createMessage": "sampling"
} as const

/** Whether a client with these capabilities can be asked this question. */
export const canAsk = (capabilities: Obj, { method, params }: Question): boolean => {
  const capability = capabilities[needed[method]]
  if (typeof capability !== "object" || capability === null) return false
  // Only named modes are supported; without names, only forms.
  const modes = Object.keys(capability)
  const mode = typeof params["mode"] === "string" ? params["mode"] : "form"
  return method !== "elicitation/create" || modes.includes(mode) || mode === "form" && !modes.includes("url")
}

/** Fails unless a client with these capabilities can be asked all questions. */
export const checkCanAsk = (capabilities: Obj, questions: Named<Question>): Effect.Effect<void, Rpc.RpcError> => {
  const missing = Object.values(questions).filter((question) => !canAsk(capabilities, question))
  return missing.length === 0 ? Effect.void : new Rpc.RpcError({
    code: Rpc.codes.missingCapability,
    message: `The client cannot be asked: ${missing.map(({ method }) => method).join(", ")}`,
    data: { requiredCapabilities: Object.fromEntries(missing.map(({ method }) => [needed[method], {}])) }
  })
}

/** Message for a bug of this server. */
export const bug = "Internal error: a bug of this server, not of your call"

/** Runs one method; defects are logged and hidden. */
export const run = (methods: Methods, name: string, request: Request): Effect.Effect<Obj, Rpc.RpcError> => {
  const method = Object.hasOwn(methods, name) ? methods[name] : undefined
  if (method === undefined) return new Rpc.RpcError({ code: Rpc.codes.methodNotFound, message: "Method not found" })
  return Effect.suspend(() => method(request)).pipe(
    Effect.catchDefect((defect) =>
      Effect.andThen(
        Effect.logError("request died", defect),
        new Rpc.RpcError({ code: Rpc.codes.internalError, message: bug })
      )
    )
  )
}
