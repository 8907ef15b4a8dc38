/** A server over HTTP on a free port, in this process. */
import * as Context from "effect/Context"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as HttpServer from "effect/http/HttpServer"
import * as Layer from "effect/Layer"
import * as Demo from "../../src/Demo.ts"
import * as McpServer from "../../src/McpServer.ts"
import * as resources from "../../src/resources.ts"
import * as Services from "../../src/Services.ts"
import * as FakeN8n from "../../src/testing/FakeN8n.ts"
import type * as Tool from "../../src/Tool.ts"
import * as tools from "../../src/tools/index.ts"
import * as Http from "../../src/transport/Http.ts"
import * as Access from "../../src/transport/http/Access.ts"
import * as NodeServer from "../../src/transport/http/NodeServer.ts"

export const options: Http.Options = {
  host: "127.0.0.1",
  allowedHosts: [],
  allowedOrigins: [],
  access: Access.make([], undefined),
  callsPerMinute: undefined,
  maxInFlight: 256,
  n8n: Effect.succeed("ok")
}

/** Serves the demo, and these tools besides, until the test ends or `stop` is run. */
export const served = Effect.fnUntraced(function*(
  more: Partial<Http.Options> = {},
  others: ReadonlyArray<Tool.Any<never>> = []
) {
  const listening = yield* Deferred.make<string>()
  const fiber = yield* Effect.gen(function*() {
    const context = yield* Layer.build(NodeServer.layer({ host: "127.0.0.1", port: 0, linger: 0 }))
    const { address } = Context.get(context, HttpServer.HttpServer)
    yield* Deferred.succeed(listening, HttpServer.formatAddress(address))
    yield* McpServer.serve({
      name: "test",
      version: "0",
      tools: [...tools.all, ...others],
      resources: resources.all
    }).pipe(
      Effect.provide(
        Layer.mergeAll(FakeN8n.layer(Demo.seed), Services.layerMemory, Http.layer({ ...options, ...more }))
      ),
      Effect.provideContext(context)
    )
  }).pipe(Effect.scoped, Effect.forkScoped)
  const url = yield* Deferred.await(listening)
  while ((yield* Effect.promise(() => fetch(`${url}/health`))).status === 503) yield* Effect.sleep("2 millis")
  return { url, stop: Fiber.interrupt(fiber) }
})
