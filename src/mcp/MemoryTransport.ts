/** Client and server in one process, for tests. */
import { InMemoryTransport } from "@modelcontextprotocol/sdk/inMemory.js"
import type { Transport } from "@modelcontextprotocol/sdk/shared/transport.js"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { closed, connect, McpTransport, type Served } from "./McpTransport.ts"

/** A linked pair; `client` receives the end for an SDK `Client`. */
export const layer = (client: Deferred.Deferred<Transport>): Layer.Layer<McpTransport> =>
  Layer.succeed(McpTransport, {
    serve: Effect.fnUntraced(function*({ makeServer }: Served) {
      const [near, far] = InMemoryTransport.createLinkedPair()
      const server = yield* connect(yield* makeServer({ client: undefined }), far)
      yield* Deferred.succeed(client, near)
      yield* closed(server)
    }, Effect.scoped)
  })
