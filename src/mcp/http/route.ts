/** Routes shared by our own server and servers mounted on a router. */
import * as Effect from "effect/Effect"
import { identity } from "effect/Function"
import * as HttpMiddleware from "effect/http/HttpMiddleware"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import { defined } from "../../base/Json.ts"
import { Turn } from "../../base/Turn.ts"
import type { Protocol } from "../McpTransport.ts"
import type { Known } from "./Access.ts"
import type * as Gate from "./gate.ts"
import * as RequestBody from "./requestBody.ts"

/** Further words of `/health`, computed quickly. */
export interface Health {
  /** State of n8n. */
  readonly n8n?: Effect.Effect<string> | undefined
  /** State of the database. */
  readonly state?: Effect.Effect<string> | undefined
}

/** Answer of `/health`: name and version, and a word about each dependency; the status stays ok without them. */
export const health = (
  { about }: Protocol,
  { n8n, state }: Health
): Effect.Effect<HttpServerResponse.HttpServerResponse> =>
  Effect.map(
    Effect.all(defined({ n8n, state }), { concurrency: 2 }),
    (words) => HttpServerResponse.jsonUnsafe({ status: "ok", name: about.name, version: about.version, ...words })
  )

/** Answers a posted body. The call takes a place only when the body is complete, so that slow senders block no one. */
export const posted =
  ({ admit, identify }: Effect.Success<ReturnType<typeof Gate.make>>) =>
  <E, R>(answer: (caller: Known, body: unknown) => Effect.Effect<HttpServerResponse.HttpServerResponse, E, R>) =>
    Effect.gen(function*() {
      const caller = yield* identify
      const body = yield* RequestBody.json
      const turn = yield* admit(caller)
      yield* turn
      return yield* Effect.provideService(answer(caller, body), Turn, turn)
    })

/** Headers that a browser client sends. */
const protocolHeaders = ["mcp-protocol-version", "mcp-method", "mcp-name"]

/** CORS for pages of these origins. */
export const cors = (allowedOrigins: ReadonlyArray<string>) =>
  allowedOrigins.length === 0 ? identity : HttpMiddleware.cors({
    allowedOrigins: (origin) => allowedOrigins.includes(origin),
    allowedMethods: ["GET", "POST"],
    allowedHeaders: ["authorization", "content-type", "accept", "x-request-id", ...protocolHeaders],
    exposedHeaders: ["x-request-id", "retry-after", "www-authenticate"]
  })
