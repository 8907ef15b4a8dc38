/** Access log: one line for each request after its answer. */
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
import { defined } from "../../base/Json.ts"

interface Details {
  readonly client?: string | undefined
  readonly subject?: string | undefined
  /** Called tool, or MCP's method. */
  readonly call?: string | undefined
}

const CurrentNote = Context.Reference<(details: Details) => void>("effect-n8n-mcp/AccessLog", {
  defaultValue: () => () => undefined
})

export const note = (details: Details): Effect.Effect<void> => CurrentNote.useSync((add) => add(details))

/** Valid request id from a load balancer; others are replaced. */
const requestId = /^[\w.:-]{1,128}$/

/** Path without origin and query, which may contain secrets. */
export const pathOf = ({ url }: HttpServerRequest.HttpServerRequest): string =>
  url.replace(/^https?:\/\/[^/?#]*/i, "").replace(/[?#].*$/s, "").replace(/(?<=.)\/+$/, "")

const statusOf = (exit: Exit.Exit<HttpServerResponse.HttpServerResponse, unknown>) => {
  if (Exit.isSuccess(exit)) return exit.value.status
  const aborted = exit.cause.reasons.some((reason) => reason.annotations.has(ClientAbort.key))
  return aborted || Cause.hasInterruptsOnly(exit.cause) ? 499 : 500
}

/** Logs the request after its answer and returns its id as `x-request-id`. */
export const middleware = <E, R>(
  app: Effect.Effect<HttpServerResponse.HttpServerResponse, E, R>
): Effect.Effect<HttpServerResponse.HttpServerResponse, E, HttpServerRequest.HttpServerRequest | R> =>
  HttpServerRequest.HttpServerRequest.use((request) => {
    const header = request.headers["x-request-id"] ?? ""
    const id = requestId.test(header) ? header : randomUUID()
    let details: Details = {}
    const log = (exit: Exit.Exit<HttpServerResponse.HttpServerResponse, unknown>, ms: number) => {
      const path = pathOf(request)
      const { call, client, subject } = details
      return Effect.annotateLogs(path === "/health" ? Effect.logDebug("request") : Effect.logInfo("request"), {
        id,
        method: request.method,
        path: path.slice(0, 200),
        status: statusOf(exit),
        ms,
        ...defined({ client, subject, call: call?.slice(0, 100) })
      })
    }
    return Effect.flatMap(Clock.currentTimeMillis, (started) =>
      app.pipe(
        HttpEffect.withPreResponseHandler((_request, response) =>
          Effect.succeed(HttpServerResponse.setHeader(response, "x-request-id", id))
        ),
        Effect.provideService(CurrentNote, (more) => void (details = { ...details, ...more })),
        Effect.annotateLogs("request", id),
        Effect.onExit((exit) => Effect.flatMap(Clock.currentTimeMillis, (now) => log(exit, now - started)))
      ))
  })
