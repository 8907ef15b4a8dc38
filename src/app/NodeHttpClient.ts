/**
 * HTTP client of the command, on `node:http`: a request takes two thirds of the processor time of one by `fetch`. Node's
 * own agents keep connections, and go through a proxy if `NODE_USE_ENV_PROXY` is set.
 */
import { NodeHttpIncomingMessage } from "@effect/platform-node/NodeHttpIncomingMessage"
import * as Effect from "effect/Effect"
import * as Cookies from "effect/http/Cookies"
import * as Headers from "effect/http/Headers"
import type * as HttpBody from "effect/http/HttpBody"
import * as HttpClient from "effect/http/HttpClient"
import * as HttpClientError from "effect/http/HttpClientError"
import type * as HttpClientRequest from "effect/http/HttpClientRequest"
import * as HttpClientResponse from "effect/http/HttpClientResponse"
import * as Layer from "effect/Layer"
import { pipeArguments } from "effect/Pipeable"
import * as Stream from "effect/Stream"
import { type IncomingMessage, request as requestHttp } from "node:http"
import { request as requestHttps } from "node:https"
import { pipeline, type Readable, type Transform } from "node:stream"
import * as zlib from "node:zlib"
import * as Hosts from "../mcp/http/Hosts.ts"

const decoders: { readonly [encoding: string]: (() => Transform) | undefined } = {
  gzip: zlib.createGunzip,
  "x-gzip": zlib.createGunzip,
  deflate: zlib.createInflate,
  br: zlib.createBrotliDecompress
}

/** Body as it was before compression; unknown encodings stay. */
const unpacked = (source: IncomingMessage): Readable => {
  const encodings = source.headers["content-encoding"]?.toLowerCase().split(",") ?? []
  const steps = encodings.toReversed().map((encoding) => decoders[encoding.trim()])
  return steps.reduce<Readable>(
    // The reader of the last stream sees its errors.
    (body, make) => make === undefined ? body : pipeline(body, make(), () => undefined),
    source
  )
}

const collect = (source: Readable) =>
  new Promise<Buffer>((resolve, reject) => {
    const parts: Array<Buffer> = []
    source.on("data", (part: Buffer) => void parts.push(part))
    source.once("end", () => resolve(parts.length === 1 && parts[0] !== undefined ? parts[0] : Buffer.concat(parts)))
    source.once("error", reject)
    source.once("close", () => reject(new Error("The body was closed before its end")))
  })

const decoder = new TextDecoder()

/** A response whose small bodies are read without a stream of Effect's. */
class NodeHttpResponse extends NodeHttpIncomingMessage<HttpClientError.HttpClientError>
  implements HttpClientResponse.HttpClientResponse
{
  readonly [HttpClientResponse.TypeId] = HttpClientResponse.TypeId
  readonly request: HttpClientRequest.HttpClientRequest
  readonly url: string
  private readonly fields: Headers.Headers
  private readonly body: Readable
  private whole: Promise<Buffer> | undefined

  constructor(request: HttpClientRequest.HttpClientRequest, source: IncomingMessage, url: string) {
    super(source, (cause) =>
      new HttpClientError.HttpClientError({
        reason: new HttpClientError.DecodeError({ request, response: this, cause })
      }))
    this.request = request
    this.url = url
    this.fields = Headers.fromInput(source.headers as Headers.Input)
    this.body = unpacked(source)
  }

  get status() {
    return this.source.statusCode ?? 0
  }

  override get headers() {
    return this.fields
  }

  get cookies() {
    return Cookies.fromSetCookie(this.source.headers["set-cookie"] ?? [])
  }

  protected override get bodySource() {
    return this.body
  }

  private get bytes() {
    return Effect.tryPromise({ try: () => this.whole ??= collect(this.body), catch: this.onError })
  }

  override get arrayBuffer() {
    return Effect.map(this.bytes, (bytes) => new Uint8Array(bytes).buffer)
  }

  override get text() {
    return Effect.map(this.bytes, (bytes) => decoder.decode(bytes))
  }

  get formData() {
    return Effect.flatMap(this.bytes, (bytes) =>
      Effect.tryPromise({
        try: () => new Response(new Uint8Array(bytes), { headers: this.fields }).formData(),
        catch: this.onError
      }))
  }

  get upgrade(): Effect.Effect<never, HttpClientError.HttpClientError> {
    const reason = new HttpClientError.StatusCodeError({ request: this.request, response: this })
    return Effect.fail(new HttpClientError.HttpClientError({ reason }))
  }

  toJSON() {
    return { _id: "effect/http/HttpClientResponse", status: this.status }
  }

  pipe() {
    return pipeArguments(this, arguments)
  }
}

interface Message {
  readonly bytes?: Uint8Array
  readonly headers?: { readonly [name: string]: string }
}

/** Body of a request, at whose end its length is known. */
const messageOf = (body: HttpBody.HttpBody): Effect.Effect<Message, unknown> => {
  switch (body._tag) {
    case "Empty":
      return Effect.succeed({})
    case "Uint8Array":
      return Effect.succeed({ bytes: body.body })
    case "Stream":
      return Effect.map(Stream.mkUint8Array(body.stream), (bytes) => ({ bytes }))
    case "Raw":
    case "FormData":
      return Effect.promise(async () => {
        const encoded = new Response(body._tag === "Raw" ? body.body as BodyInit : body.formData)
        const type = encoded.headers.get("content-type")
        const bytes = new Uint8Array(await encoded.arrayBuffer())
        return { bytes, ...(body._tag === "Raw" || type === null ? {} : { headers: { "content-type": type } }) }
      })
  }
}

/** Headers that `fetch` sends too. Compression takes more time than it saves within one machine. */
const defaultHeaders = ({ hostname }: URL) => ({
  "user-agent": "node",
  ...(Hosts.isLoopback(hostname.replace(/^\[|\]$/g, "")) ? {} : { "accept-encoding": "gzip, deflate, br" })
})

/** Error of a connection, which has the reason of OpenSSL as its code even if a write met it. */
const withReason = (error: NodeJS.ErrnoException) => {
  const [, reason] = /:SSL routines:[^:]*:([^:]+):/.exec(error.message) ?? []
  if (error.code === "EPROTO" && reason !== undefined) {
    error.code = `ERR_SSL_${reason.toUpperCase().replace(/\W/g, "_")}`
  }
  return error
}

const client = HttpClient.make((request, url, signal) => {
  const failed =
    (Reason: typeof HttpClientError.TransportError | typeof HttpClientError.EncodeError) => (cause: unknown) =>
      new HttpClientError.HttpClientError({ reason: new Reason({ request, cause }) })
  const send = ({ bytes, headers }: Message) =>
    Effect.callback<HttpClientResponse.HttpClientResponse, HttpClientError.HttpClientError>((resume) => {
      const fail = (cause: unknown) => resume(Effect.fail(failed(HttpClientError.TransportError)(cause)))
      try {
        const sent = (url.protocol === "https:" ? requestHttps : requestHttp)(url, {
          method: request.method,
          headers: { ...defaultHeaders(url), ...request.headers, ...headers }
        })
        // Stays: an error without a listener would end the process.
        sent.on("error", (error) => fail(withReason(error)))
        sent.once("response", (source) => resume(Effect.succeed(new NodeHttpResponse(request, source, url.href))))
        signal.addEventListener("abort", () => void sent.destroy(), { once: true })
        sent.end(bytes)
      } catch (cause) {
        fail(cause)
      }
    })
  return Effect.flatMap(Effect.mapError(messageOf(request.body), failed(HttpClientError.EncodeError)), send)
})

export const layer: Layer.Layer<HttpClient.HttpClient> = Layer.succeed(HttpClient.HttpClient, client)
