/** Hardened HTTP server of Node: slow and non-HTTP clients get a refusal in JSON and are disconnected. */
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import * as Effect from "effect/Effect"
import type * as HttpServer from "effect/http/HttpServer"
import type { ServeError } from "effect/http/HttpServerError"
import * as Layer from "effect/Layer"
import { createServer, type Server, type ServerResponse, STATUS_CODES } from "node:http"
import type { Duplex } from "node:stream"

/** Maximum bytes of headers: Node's default, explicit because larger ones are answered here. */
const maxHeaderBytes = 16 * 1024

const problems: { readonly [code: string]: { readonly status: number; readonly message: string } } = {
  HPE_HEADER_OVERFLOW: { status: 431, message: `The headers are larger than ${maxHeaderBytes / 1024} kB.` },
  ERR_HTTP_REQUEST_TIMEOUT: { status: 408, message: "The request took too long to arrive." },
  HPE_CHUNK_EXTENSIONS_OVERFLOW: { status: 413, message: "The chunk extensions are too large." }
}

const body = (message: string, code: string) => JSON.stringify({ error: { message, code } })

const refuse = (error: NodeJS.ErrnoException, socket: Duplex) => {
  if (error.code === "ECONNRESET" || !socket.writable) return void socket.destroy()
  const { message, status } = problems[error.code ?? ""] ?? { status: 400, message: "This is not HTTP." }
  const text = body(message, "INVALID_REQUEST_FORMAT")
  socket.end([
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
    "content-type: application/json",
    `content-length: ${Buffer.byteLength(text)}`,
    "connection: close",
    "",
    text
  ].join("\r\n"))
  // Immediate destruction could lose the answer together with unread input.
  setTimeout(() => socket.destroy(), 500)
}

const answer = (response: ServerResponse, status: number, text: string) => {
  response.writeHead(status, {
    "content-type": "application/json",
    "content-length": Buffer.byteLength(text),
    connection: "close"
  })
  response.end(text)
}

const make = ({ linger = 1_000, maxConnections }: Options): Server => {
  const server = createServer({
    headersTimeout: 10_000,
    requestTimeout: 30_000,
    connectionsCheckingInterval: 1_000,
    maxHeaderSize: maxHeaderBytes,
    // Longer than a load balancer's (nginx: a minute), which could send a call on a closing connection.
    keepAliveTimeout: 75_000,
    // A missing host is refused in JSON like any other.
    requireHostHeader: false
  })
  if (maxConnections !== undefined) server.maxConnections = maxConnections
  // `close` would end them immediately, and lose requests that were just sent.
  const closeIdle = server.closeIdleConnections.bind(server)
  server.closeIdleConnections = () => void setTimeout(closeIdle, linger).unref()
  server.on("clientError", refuse)
  server.on(
    "checkExpectation",
    (_request, response) => answer(response, 417, body("Only 100-continue can be expected.", "INVALID_REQUEST_FORMAT"))
  )
  // The server listens shortly before and after it serves: requests then receive a 503.
  server.on("request", (_request, response) => {
    if (server.listenerCount("request") > 1) return
    response.setHeader("retry-after", "1")
    answer(response, 503, body("This server is starting or stopping: call again.", "UNAVAILABLE"))
  })
  return server
}

/** Address and limits of the server. */
export interface Options {
  /** Address or name to listen on. Default: `127.0.0.1`, which only this machine reaches. */
  readonly host?: string
  /** Port; 0 for a free one. */
  readonly port: number
  /** Maximum open connections; further ones are closed immediately. Default: unlimited. */
  readonly maxConnections?: number
  /** Milliseconds that idle connections stay open at shutdown, in case a balancer has just used one. Default: 1,000. */
  readonly linger?: number
}

/** Listens; at shutdown it accepts no connections, waits some seconds for calls in flight, then closes the rest. */
export const layer = (options: Options): Layer.Layer<HttpServer.HttpServer, ServeError> =>
  Layer.unwrap(Effect.sync(() => {
    const server = make(options)
    const listening = NodeHttpServer.layerServer(() => server, {
      host: options.host ?? "127.0.0.1",
      port: options.port,
      // Docker kills after 10 seconds.
      gracefulShutdownTimeout: "8 seconds"
    })
    const cut = Layer.effectDiscard(Effect.addFinalizer(() => Effect.sync(() => server.closeAllConnections())))
    return Layer.provideMerge(cut, listening)
  }))
