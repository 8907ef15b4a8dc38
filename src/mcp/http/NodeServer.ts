/** Node's HTTP server, hardened: slow clients, and those that send no HTTP, are refused in JSON and cut off. */
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import * as Effect from "effect/Effect"
import type * as HttpServer from "effect/http/HttpServer"
import type { ServeError } from "effect/http/HttpServerError"
import * as Layer from "effect/Layer"
import { createServer, type Server, type ServerResponse, STATUS_CODES } from "node:http"
import type { Duplex } from "node:stream"

/** Milliseconds that the headers, and the whole of a request, may take to arrive. */
const timeouts = { headers: 10_000, request: 30_000 }

/** Longer than a balancer keeps a connection idle (nginx: a minute): else one is cut as a call is put on it. */
const idleMillis = 75_000

/** Maximum bytes of headers; Node's default, explicit because larger ones are answered here. */
const maxHeaderBytes = 16 * 1024

/** Milliseconds that a refused client may take to read why; without a bound it holds the socket as long as it likes. */
const refusalMillis = 500

/** Seconds for calls in flight when the server ends; Docker kills after 10. */
const drainSeconds = 8

/** Milliseconds that idle connections stay open when the server ends: a balancer may just have put a call on one. */
const lingerMillis = 1_000

const problemOf = ({ code }: NodeJS.ErrnoException) => {
  switch (code) {
    case "HPE_HEADER_OVERFLOW":
      return { status: 431, message: `The headers are larger than ${maxHeaderBytes / 1024} kB.` }
    case "ERR_HTTP_REQUEST_TIMEOUT":
      return { status: 408, message: "The request took too long to arrive." }
    case "HPE_CHUNK_EXTENSIONS_OVERFLOW":
      return { status: 413, message: "The chunk extensions are too large." }
  }
  return { status: 400, message: "This is not HTTP." }
}

const body = (message: string, code: string) => JSON.stringify({ error: { message, code } })

const refuse = (error: NodeJS.ErrnoException, socket: Duplex) => {
  if (error.code === "ECONNRESET" || !socket.writable) return void socket.destroy()
  const { message, status } = problemOf(error)
  const text = body(message, "INVALID_REQUEST_FORMAT")
  socket.end([
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
    "content-type: application/json",
    `content-length: ${Buffer.byteLength(text)}`,
    "connection: close",
    "",
    text
  ].join("\r\n"))
  // Destroyed at once, the answer could be lost with what the client has sent and nobody reads.
  setTimeout(() => socket.destroy(), refusalMillis)
}

/** Answers requests that do not reach Effect's server. */
const answer = (response: ServerResponse, status: number, text: string) => {
  response.writeHead(status, {
    "content-type": "application/json",
    "content-length": Buffer.byteLength(text),
    connection: "close"
  })
  response.end(text)
}

const make = ({ linger = lingerMillis, maxConnections }: Options): Server => {
  const server = createServer({
    headersTimeout: timeouts.headers,
    requestTimeout: timeouts.request,
    connectionsCheckingInterval: 1_000,
    maxHeaderSize: maxHeaderBytes,
    keepAliveTimeout: idleMillis,
    // Without one it is refused as any other host: in JSON.
    requireHostHeader: false
  })
  if (maxConnections !== undefined) server.maxConnections = maxConnections
  // `close` cuts them at once, and with them what was sent in this moment.
  const closeIdle = server.closeIdleConnections.bind(server)
  server.closeIdleConnections = () => void setTimeout(closeIdle, linger).unref()
  server.on("clientError", refuse)
  server.on(
    "checkExpectation",
    (_request, response) => answer(response, 417, body("Only 100-continue can be expected.", "INVALID_REQUEST_FORMAT"))
  )
  // It listens a moment before and after it serves: without this nobody would answer then.
  server.on("request", (_request, response) => {
    if (server.listenerCount("request") > 1) return
    response.setHeader("retry-after", "1")
    answer(response, 503, body("This server does not serve at the moment: call again.", "UNAVAILABLE"))
  })
  return server
}

/**
 * Where to listen.
 *
 * @category models
 * @since 0.1.0
 */
export interface Options {
  readonly host: string
  readonly port: number
  /** Maximum open connections; further ones are closed as they come. No limit if absent. */
  readonly maxConnections?: number
  /** Milliseconds that idle connections stay open when the server ends; a second if absent. */
  readonly linger?: number
}

/**
 * Listens; when it ends, it takes no connection any more, waits some seconds for calls in flight, then cuts the rest.
 *
 * @category layers
 * @since 0.1.0
 */
export const layer = (options: Options): Layer.Layer<HttpServer.HttpServer, ServeError> =>
  Layer.unwrap(Effect.sync(() => {
    const server = make(options)
    const listening = NodeHttpServer.layerServer(() => server, {
      host: options.host,
      port: options.port,
      gracefulShutdownTimeout: drainSeconds * 1000
    })
    const cut = Layer.effectDiscard(Effect.addFinalizer(() => Effect.sync(() => server.closeAllConnections())))
    return Layer.provideMerge(cut, listening)
  }))
