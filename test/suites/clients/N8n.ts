/** The simulated n8n on loopback, for a server in another process. */
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import * as Effect from "effect/Effect"
import * as HttpClientRequest from "effect/http/HttpClientRequest"
import type * as HttpMethod from "effect/http/HttpMethod"
import * as HttpServer from "effect/http/HttpServer"
import * as HttpServerRequest from "effect/http/HttpServerRequest"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import { createServer } from "node:http"
import * as N8nApi from "../../../src/testing/n8nApi/N8nApi.ts"

/** A running n8n. */
export interface N8n {
  /** The environment with which our server reaches it. */
  readonly env: Readonly<Record<string, string>>
  /** The requests so far, as `GET /path`. */
  readonly requests: Effect.Effect<ReadonlyArray<string>>
}

/** Serves a simulated n8n with this seed until the scope ends. */
export const serve = Effect.fn("N8n.serve")(function*(seed: N8nApi.Seed) {
  const n8n = yield* N8nApi.make(seed)
  const server = yield* NodeHttpServer.make(createServer, { port: 0, host: "127.0.0.1" })
  const url = HttpServer.formatAddress(server.address)
  yield* server.serve(
    Effect.gen(function*() {
      const asked = yield* HttpServerRequest.HttpServerRequest
      const body = yield* asked.text
      const request = HttpClientRequest.make(asked.method as HttpMethod.HttpMethod)(`${url}${asked.url}`, {
        headers: asked.headers
      })
      const response = yield* n8n.client.execute(
        body === "" ? request : HttpClientRequest.bodyText(request, body, "application/json")
      )
      return HttpServerResponse.text(yield* response.text, {
        status: response.status,
        contentType: response.headers["content-type"] ?? "application/json"
      })
    })
  )
  return {
    env: { N8N_URL: url, N8N_API_KEY: "a-key" },
    requests: Effect.map(n8n.requests, (all) => all.map(({ method, url }) => `${method} ${new URL(url).pathname}`))
  } satisfies N8n
})
