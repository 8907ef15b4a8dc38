/** Client and server in one process, for tests. */
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

/** Makes a linked pair: the transport of an SDK `Client`, and the layer of the server. */
export const make: Effect.Effect<{ readonly client: Transport; readonly layer: Layer.Layer<McpTransport> }> = Effect
  .gen(
    function*() {
      // Imported here so that tests without a client do not load the SDK.
      const { InMemoryTransport } = yield* Effect.promise(() => import("@modelcontextprotocol/sdk/inMemory.js"))
      const Legacy = yield* Effect.promise(() => import("./eras/Legacy.ts"))
      const [client, far] = InMemoryTransport.createLinkedPair()
      const serve = Effect.fnUntraced(function*(served: Served) {
        const server = yield* Legacy.connect(served, { client: undefined }, far)
        yield* Effect.callback<void>((resume) => {
          server.onclose = () => resume(Effect.void)
        })
      }, Effect.scoped)
      return { client, layer: Layer.succeed(McpTransport, { serve }) }
    }
  )
