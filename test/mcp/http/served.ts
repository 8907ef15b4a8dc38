/** A server over HTTP on a free port, in this process. */
import * as Context from "effect/Context"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as HttpServer from "effect/http/HttpServer"
import * as Layer from "effect/Layer"
import type * as Tool from "../../../src/answer/Tool.ts"
import * as Services from "../../../src/app/Services.ts"
import * as Demo from "../../../src/demo/Demo.ts"
import * as Access from "../../../src/mcp/http/Access.ts"
import * as Http from "../../../src/mcp/http/Http.ts"
import * as NodeServer from "../../../src/mcp/http/NodeServer.ts"
import * as McpServer from "../../../src/mcp/McpServer.ts"
import * as FakeN8n from "../../../src/testing/FakeN8n.ts"
import * as tools from "../../../src/tools/index.ts"
import * as resources from "../../../src/tools/Resources.ts"

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
  others: ReadonlyArray<Tool.Any<never>> = [],
  node: Partial<NodeServer.Options> = {}
) {
  const listening = yield* Deferred.make<string>()
  const fiber = yield* Effect.gen(function*() {
    const context = yield* Layer.build(NodeServer.layer({ host: "127.0.0.1", port: 0, linger: 0, ...node }))
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
