/** Client and server in one process, for tests. */
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { McpTransport, type Served } from "./McpTransport.ts"

/** Transport for a `Client` of MCP's SDK, whose types this package does not need. */
export interface Transport {
  start(): Promise<void>
  send(message: object): Promise<void>
  close(): Promise<void>
  onclose?: (() => void) | undefined
  onerror?: ((error: Error) => void) | undefined
  // A method, which an SDK's narrower messages fit.
  onmessage?(message: object, extra?: object): void
}

/** Linked pair of transports; `client` receives the one for an SDK `Client`. */
export const layer = (client: Deferred.Deferred<Transport>): Layer.Layer<McpTransport> =>
  Layer.succeed(McpTransport, {
    serve: Effect.fnUntraced(function*(served: Served) {
      // Imported here so that tests without a client do not load the SDK.
      const { InMemoryTransport } = yield* Effect.promise(() => import("@modelcontextprotocol/sdk/inMemory.js"))
      const Legacy = yield* Effect.promise(() => import("./eras/Legacy.ts"))
      const [near, far] = InMemoryTransport.createLinkedPair()
      const server = yield* Legacy.connect(served, { client: undefined }, far)
      yield* Deferred.succeed(client, near)
      yield* Effect.callback<void>((resume) => {
        server.onclose = () => resume(Effect.void)
      })
    }, Effect.scoped)
  })
