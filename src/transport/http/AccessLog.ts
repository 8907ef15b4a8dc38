/** One line for each request, once its answer is sent. */
import * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as HttpEffect from "effect/http/HttpEffect"
import { ClientAbort } from "effect/http/HttpServerError"
import * as HttpServerRequest from "effect/http/HttpServerRequest"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import { randomUUID } from "node:crypto"

/** What whoever handles the request adds to its line. */
export interface Entry {
  client?: string | undefined
  /** The tool that is called, else MCP's method. */
  call?: string | undefined
}

/** The line of the request at hand. */
export const CurrentEntry = Context.Reference<Entry>("effect-n8n-mcp/AccessLog", { defaultValue: () => ({}) })

/** A request's id as a balancer may have given it; whatever else stands there is not repeated. */
const givenId = /^[\w.:-]{1,128}$/

/** The path alone, as the router takes it: a query may carry what is no log's business. */
export const pathOf = ({ url }: HttpServerRequest.HttpServerRequest): string =>
  url.replace(/[?#].*$/s, "").replace(/(?<=.)\/+$/, "")

const statusOf = (exit: Exit.Exit<HttpServerResponse.HttpServerResponse, unknown>) => {
  if (Exit.isSuccess(exit)) return exit.value.status
  const aborted = exit.cause.reasons.some((reason) => reason.annotations.has(ClientAbort.key))
  return aborted || Cause.hasInterruptsOnly(exit.cause) ? 499 : 500
}

/** Logs the request on its way out, and answers its id as `x-request-id`. */
export const middleware = <E, R>(
  app: Effect.Effect<HttpServerResponse.HttpServerResponse, E, R>
): Effect.Effect<HttpServerResponse.HttpServerResponse, E, HttpServerRequest.HttpServerRequest | R> =>
  Effect.gen(function*() {
    const request = yield* HttpServerRequest.HttpServerRequest
    const asked = request.headers["x-request-id"] ?? ""
    const id = givenId.test(asked) ? asked : randomUUID()
    const entry: Entry = {}
    const started = yield* Clock.currentTimeMillis
    yield* HttpEffect.appendPreResponseHandler((_request, response) =>
      Effect.succeed(HttpServerResponse.setHeader(response, "x-request-id", id))
    )
    const exit = yield* app.pipe(
      Effect.provideService(CurrentEntry, entry),
      Effect.annotateLogs("request", id),
      Effect.exit
    )
    const path = pathOf(request)
    const log = path === "/health" ? Effect.logDebug("request") : Effect.logInfo("request")
    yield* Effect.annotateLogs(log, {
      id,
      method: request.method,
      path: path.slice(0, 200),
      status: statusOf(exit),
      ms: (yield* Clock.currentTimeMillis) - started,
      ...(entry.client === undefined ? {} : { client: entry.client }),
      ...(entry.call === undefined ? {} : { call: entry.call.slice(0, 100) })
    })
    return yield* exit
  })
