/** Client and server in one process, for tests. */
import { InMemoryTransport } from "@modelcontextprotocol/sdk/inMemory.js"
import type { Transport } from "@modelcontextprotocol/sdk/shared/transport.js"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Legacy from "./eras/Legacy.ts"
import { McpTransport, type Served } from "./McpTransport.ts"

/** A linked pair; `client` receives the end for an SDK `Client`. */
export const layer = (client: Deferred.Deferred<Transport>): Layer.Layer<McpTransport> =>
  Layer.succeed(McpTransport, {
    serve: Effect.fnUntraced(function*(served: Served) {
      const [near, far] = InMemoryTransport.createLinkedPair()
      const server = yield* Legacy.connect(served, { client: undefined }, far)
      yield* Deferred.succeed(client, near)
      yield* Effect.callback<void>((resume) => {
        server.onclose = () => resume(Effect.void)
      })
    }, Effect.scoped)
  })
