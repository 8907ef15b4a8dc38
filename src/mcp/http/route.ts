/** What the routes of our own server and those on somebody's router have in common. */
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

/** What else `/health` tells: one word each, soon; nothing of what is absent. */
export interface Health {
  /** Of n8n. */
  readonly n8n?: Effect.Effect<string> | undefined
  /** Of the database that holds the state. */
  readonly state?: Effect.Effect<string> | undefined
}

/** What `/health` answers: the server's name and version, and a word about what it depends on; it is fine without. */
export const health = (
  { about }: Protocol,
  { n8n, state }: Health
): Effect.Effect<HttpServerResponse.HttpServerResponse> =>
  Effect.map(
    Effect.all(defined({ n8n, state }), { concurrency: 2 }),
    (words) => HttpServerResponse.jsonUnsafe({ status: "ok", name: about.name, version: about.version, ...words })
  )

/** Answers a body that is posted. It takes no place before it is whole: whoever sends it slowly keeps nobody out. */
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

/** What a page's client has to send with each request. */
const protocolHeaders = ["mcp-protocol-version", "mcp-method", "mcp-name"]

/** Lets pages of these origins read answers. */
export const cors = (allowedOrigins: ReadonlyArray<string>) =>
  allowedOrigins.length === 0 ? identity : HttpMiddleware.cors({
    allowedOrigins: (origin) => allowedOrigins.includes(origin),
    allowedMethods: ["GET", "POST"],
    allowedHeaders: ["authorization", "content-type", "accept", "x-request-id", ...protocolHeaders],
    exposedHeaders: ["x-request-id", "retry-after", "www-authenticate"]
  })
