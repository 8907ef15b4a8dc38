/** The simulated n8n behind a port, for servers that run as processes of their own. */
import * as Effect from "effect/Effect"
import type * as HttpClient from "effect/http/HttpClient"
import * as HttpClientRequest from "effect/http/HttpClientRequest"
import * as Stream from "effect/Stream"
import { createServer, type IncomingMessage } from "node:http"
import { buffer } from "node:stream/consumers"
import * as N8nApi from "../../src/testing/n8nApi/N8nApi.ts"

const toRequest = async (request: IncomingMessage) => {
  const body = new Uint8Array(await buffer(request))
  const { "content-length": _, ...headers } = request.headers
  const made = HttpClientRequest.make(request.method as "GET")(`http://n8n.test${request.url}`).pipe(
    HttpClientRequest.setHeaders(
      Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)]))
    )
  )
  return body.length === 0 ? made : HttpClientRequest.bodyUint8Array(made, body, "application/json")
}

/** Serves what answers a client until the scope ends; a request that breaks the connection does so here as well. */
export const serveClient = (client: HttpClient.HttpClient) =>
  Effect.gen(function*() {
    const server = createServer((request, answer) => {
      const exchange = Effect.gen(function*() {
        const response = yield* client.execute(yield* Effect.promise(() => toRequest(request)))
        const { "content-encoding": _, ...headers } = response.headers
        answer.writeHead(response.status, headers)
        yield* Stream.runForEach(response.stream, (chunk) => Effect.sync(() => void answer.write(chunk))).pipe(
          Effect.catchIf(({ reason }) => reason._tag === "EmptyBodyError", () => Effect.void)
        )
        answer.end()
      })
      void Effect.runPromise(Effect.catch(exchange, () => Effect.sync(() => void request.socket.destroy())))
    })
    const url = yield* Effect.acquireRelease(
      Effect.callback<URL>((resume) => {
        server.listen(0, "127.0.0.1", () => {
          const address = server.address()
          resume(Effect.succeed(new URL(`http://127.0.0.1:${typeof address === "object" ? address?.port : 0}/`)))
        })
      }),
      () =>
        Effect.sync(() => {
          server.close()
          server.closeAllConnections()
        })
    )
    return { url, server }
  })

/** Serves a simulated n8n until the scope ends. */
export const serve = (seed: N8nApi.Seed, options?: N8nApi.Options) =>
  Effect.gen(function*() {
    const api = yield* N8nApi.make(seed, options)
    return { api, ...yield* serveClient(api.client) }
  })
