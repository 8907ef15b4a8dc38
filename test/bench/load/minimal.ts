/**
 * The least an HTTP server of Effect can be: its server and its client, with nothing of MCP but the form of a call. It
 * asks n8n and answers a text of the size it is asked for, as the bare server does. What it needs beside the bare server
 * is what Effect's runtime costs.
 */
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import * as Effect from "effect/Effect"
import * as FetchHttpClient from "effect/http/FetchHttpClient"
import * as HttpClient from "effect/http/HttpClient"
import * as HttpClientRequest from "effect/http/HttpClientRequest"
import * as HttpServer from "effect/http/HttpServer"
import * as HttpServerRequest from "effect/http/HttpServerRequest"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import { createServer } from "node:http"

const Call = Schema.Struct({
  id: Schema.Int,
  params: Schema.Struct({
    arguments: Schema.Struct({ size: Schema.Int, paths: Schema.Array(Schema.String) })
  })
})

const texts = new Map<number, { readonly success: true; readonly data: string }>()

const structuredOf = (size: number) => {
  const made = texts.get(size) ?? { success: true, data: "x".repeat(Math.max(0, size - 26)) }
  texts.set(size, made)
  return made
}

const app = Effect.gen(function*() {
  const request = yield* HttpServerRequest.HttpServerRequest
  const { id, params } = yield* Effect.flatMap(request.json, Schema.decodeUnknownEffect(Call))
  const client = yield* HttpClient.HttpClient
  yield* Effect.forEach(params.arguments.paths, (path) =>
    client.execute(
      HttpClientRequest.get(new URL(path, process.env["N8N_URL"])).pipe(
        HttpClientRequest.setHeaders({ "x-n8n-api-key": process.env["N8N_API_KEY"] ?? "", accept: "application/json" })
      )
    ).pipe(Effect.flatMap((response) => response.json)), { concurrency: "unbounded" })
  const structuredContent = structuredOf(params.arguments.size)
  return HttpServerResponse.jsonUnsafe({
    jsonrpc: "2.0",
    id,
    result: { content: [{ type: "text", text: JSON.stringify(structuredContent) }], structuredContent }
  })
})

const server = createServer()
server.keepAliveTimeout = 75_000
const started = Layer.effectDiscard(Effect.gen(function*() {
  const { address } = yield* HttpServer.HttpServer
  yield* Effect.sync(() => void process.stderr.write(`address=${HttpServer.formatAddress(address)}\n`))
}))

await Effect.runPromise(
  Layer.launch(Layer.merge(HttpServer.serve(app), started)).pipe(
    Effect.provide([
      NodeHttpServer.layer(() => server, { port: 0, host: "127.0.0.1" }),
      FetchHttpClient.layer
    ])
  )
)
