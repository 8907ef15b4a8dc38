/** MCP up to 2025-11-25, by the official SDK's low-level `Server`, which is loaded when a client needs it. */
import { Server } from "@modelcontextprotocol/sdk/server/index.js"
import type { RequestHandlerExtra } from "@modelcontextprotocol/sdk/shared/protocol.js"
import type { Transport } from "@modelcontextprotocol/sdk/shared/transport.js"
import {
  JSONRPCMessageSchema,
  ResultSchema,
  type ServerCapabilities,
  type ServerNotification,
  type ServerRequest
} from "@modelcontextprotocol/sdk/types.js"
import type { jsonSchemaValidator } from "@modelcontextprotocol/sdk/validation/types.js"
import * as Effect from "effect/Effect"
import * as FiberSet from "effect/FiberSet"
import * as Record from "effect/Record"
import * as Result from "effect/Result"
import type * as Scope from "effect/Scope"
import { type Obj, obj } from "../../base/Json.ts"
import type { Caller, Protocol } from "../McpTransport.ts"
import * as Methods from "../Methods.ts"
import * as Rpc from "../Rpc.ts"

type Extra = RequestHandlerExtra<ServerRequest, ServerNotification>

/** Validator that the SDK requires but never calls, since the methods validate their input. */
const noValidator: jsonSchemaValidator = {
  getValidator: () => () => ({ valid: false, data: undefined, errorMessage: "not validated here" })
}

const ask = (capabilities: Obj, { sendRequest }: Extra): Methods.Request["ask"] => (questions) =>
  Effect.andThen(
    Methods.checkCanAsk(capabilities, questions),
    Effect.all(
      Record.map(questions, ({ method, params }) =>
        Effect.tryPromise({
          try: () => sendRequest({ method, params } as ServerRequest, ResultSchema),
          catch: (error) =>
            new Rpc.RpcError({ code: Rpc.codes.internalError, message: `${method} failed: ${String(error)}` })
        })),
      { concurrency: "unbounded" }
    )
  )

/** Connects a new server to the transport, until the scope ends. */
export const connect = Effect.fnUntraced(function*({ about, methods }: Protocol, caller: Caller, transport: Transport) {
  const runPromise = yield* FiberSet.makeRuntimePromise()
  const { capabilities, instructions, name, version } = about
  const server = new Server({ name, version }, {
    jsonSchemaValidator: noValidator,
    capabilities: capabilities as ServerCapabilities,
    ...(instructions === undefined ? {} : { instructions })
  })
  server.fallbackRequestHandler = (request, extra) => {
    const capabilities: Obj = { ...server.getClientCapabilities() }
    const answer = Methods.run(methods, request.method, {
      params: obj(request.params) ?? {},
      caller,
      capabilities,
      notify: (method, params) =>
        Effect.ignore(Effect.tryPromise(() => extra.sendNotification({ method, params } as ServerNotification))),
      ask: ask(capabilities, extra)
    })
    return runPromise(Effect.result(answer), { signal: extra.signal }).then(Result.getOrThrowWith((error) => error))
      .then((result) => ({ ...result }))
  }
  yield* Effect.acquireRelease(
    Effect.promise(() => server.connect(transport)),
    () => Effect.promise(() => server.close())
  )
  return server
})

/** Opens a connection and returns the function that receives the client's messages; the server's go to `send`. */
export const converse = (
  protocol: Protocol,
  caller: Caller,
  send: (message: Rpc.Message) => void
): Effect.Effect<(message: Rpc.Message) => void, never, Scope.Scope> => {
  const transport: Transport = {
    start: () => Promise.resolve(),
    close: () => Promise.resolve(transport.onclose?.()),
    send: (message) => Promise.resolve(send(message as Rpc.Message))
  }
  return Effect.as(connect(protocol, caller, transport), (message) => {
    const { data, error } = JSONRPCMessageSchema.safeParse(message)
    // The SDK would not answer unknown messages.
    if (error === undefined) transport.onmessage?.(data)
    else if (Rpc.isRequest(message)) {
      const problems = error.issues.map(({ message, path }) => `${path.join(".")}: ${message}`)
      send(Rpc.failure(message.id, Rpc.invalidParams(`Invalid request: ${problems.join("; ").slice(0, 500)}`)))
    }
  })
}
