/** Routes shared by our own server and servers mounted on a router. */
import { isJsonContentType } from "@modelcontextprotocol/sdk/shared/mediaType.js"
import * as ByteSize from "effect/ByteSize"
import * as Effect from "effect/Effect"
import { identity } from "effect/Function"
import * as HttpIncomingMessage from "effect/http/HttpIncomingMessage"
import * as HttpMiddleware from "effect/http/HttpMiddleware"
import * as HttpServerRequest from "effect/http/HttpServerRequest"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as Result from "effect/Result"
import { defined } from "../../base/Json.ts"
import * as JsonSize from "../../base/JsonSize.ts"
import { Turn } from "../../base/Turn.ts"
import type { Protocol } from "../McpTransport.ts"
import type { Identity } from "./Access.ts"
import type * as Gate from "./gate.ts"
import * as Refusal from "./Refusal.ts"

/** States of dependencies in `/health`, computed quickly. */
export interface Health {
  /** State of n8n in one word, such as `ok`. Default: not checked. */
  readonly n8n?: Effect.Effect<string> | undefined
  /** State of the database in one word. Default: not checked. */
  readonly state?: Effect.Effect<string> | undefined
}

/** Answer of `/health`: name, version and the state of each dependency; `status` is always ok. */
export const health = (
  { about }: Protocol,
  { n8n, state }: Health
): Effect.Effect<HttpServerResponse.HttpServerResponse> =>
  Effect.map(
    Effect.all(defined({ n8n, state }), { concurrency: 2 }),
    (words) => HttpServerResponse.jsonUnsafe({ status: "ok", name: about.name, version: about.version, ...words })
  )

export const only = <R>(
  method: "GET" | "POST",
  answer: Effect.Effect<HttpServerResponse.HttpServerResponse, Refusal.Refusal, R>
): Effect.Effect<HttpServerResponse.HttpServerResponse, Refusal.Refusal, HttpServerRequest.HttpServerRequest | R> =>
  HttpServerRequest.HttpServerRequest.use((request): typeof answer => {
    const isAllowed = request.method === method || request.method === "HEAD" && method === "GET"
    if (isAllowed) return answer
    return Effect.fail(Refusal.make(405, `Only ${method} is allowed here.`, { headers: { allow: method } }))
  })

/** Maximum size of a body in bytes, equal to that of a workflow file. */
const maxBytes = 10 * 1024 * 1024

const tooLarge = Refusal.make(413, `The body is larger than ${maxBytes / 1024 / 1024} MB.`, {
  headers: { connection: "close" }
})

const tooManyValues = Refusal.make(413, `The body ${JsonSize.reason()}.`)

const decoder = new TextDecoder("utf-8", { fatal: true })

const parse = (bytes: ArrayBuffer): Result.Result<unknown, Refusal.Refusal> =>
  Result.try({
    try: () => decoder.decode(bytes),
    catch: () => Refusal.invalid("The body is not UTF-8.", -32700)
  }).pipe(
    Result.filterOrFail((text) => JsonSize.fault(text) === undefined, () => tooManyValues),
    Result.flatMap((text) =>
      Result.try({
        try: (): unknown => JSON.parse(text),
        catch: () => Refusal.invalid("The body is not JSON.", -32700)
      })
    )
  )

const json = HttpServerRequest.HttpServerRequest.use((request) => {
  if (!isJsonContentType(request.headers["content-type"])) {
    return Effect.fail(Refusal.make(415, "Content-Type must be application/json."))
  }
  const encoding = request.headers["content-encoding"] ?? "identity"
  if (encoding.toLowerCase() !== "identity") {
    return Effect.fail(Refusal.make(415, "Content-Encoding is not supported: send the body uncompressed.", {
      headers: { "accept-encoding": "identity" }
    }))
  }
  if (Number(request.headers["content-length"]) > maxBytes) return Effect.fail(tooLarge)
  return request.arrayBuffer.pipe(
    Effect.provideService(HttpIncomingMessage.MaxBodySize, ByteSize.bytes(maxBytes)),
    Effect.mapError(({ reason }) =>
      reason._tag === "RequestParseError" && reason.reason === "BodyTooLarge"
        ? tooLarge
        : Refusal.invalid("The body could not be read.", -32700)
    ),
    Effect.flatMap((bytes) => Effect.fromResult(parse(bytes)))
  )
})

/** Answers a posted body. The call counts as in flight only when the body is complete: slow senders do not block others. */
export const posted = ({ admit, identify }: Effect.Success<ReturnType<typeof Gate.make>>) =>
<R>(
  answer: (caller: Identity, body: unknown) => Effect.Effect<HttpServerResponse.HttpServerResponse, Refusal.Refusal, R>
) =>
  only(
    "POST",
    Effect.gen(function*() {
      const caller = yield* identify
      const body = yield* json
      const turn = yield* admit(caller)
      yield* turn
      return yield* Effect.provideService(answer(caller, body), Turn, turn)
    })
  )

export const foreignOrigin = (origin: string) =>
  Refusal.make(
    403,
    `Pages of '${origin}' may not call this server. The operator can allow them with --allowed-origins.`
  )

const protocolHeaders = ["mcp-protocol-version", "mcp-method", "mcp-name"]

export const cors = (allowedOrigins: ReadonlyArray<string>) =>
  allowedOrigins.length === 0 ? identity : HttpMiddleware.cors({
    allowedOrigins: (origin) => allowedOrigins.includes(origin),
    allowedMethods: ["GET", "POST"],
    allowedHeaders: ["authorization", "content-type", "accept", "x-request-id", ...protocolHeaders],
    exposedHeaders: ["x-request-id", "retry-after", "www-authenticate"]
  })
