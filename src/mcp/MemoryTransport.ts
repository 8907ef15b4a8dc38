/** Client and server in one process, for tests. */
import type { Transport } from "@modelcontextprotocol/sdk/shared/transport.js"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { McpTransport, type Served } from "./McpTransport.ts"

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
