/** What the spans of the client's methods tell, named as OpenTelemetry's conventions for HTTP have it. */
import * as Effect from "effect/Effect"
import { constTrue } from "effect/Function"
import * as HttpClient from "effect/http/HttpClient"
import * as HttpClientRequest from "effect/http/HttpClientRequest"
import * as HttpTraceContext from "effect/http/HttpTraceContext"
import * as Option from "effect/Option"
import * as References from "effect/References"
import type * as Errors from "../base/Errors.ts"

/** The request of a method. */
interface Sent {
  readonly method: string
  readonly url: URL
  /** How often it was sent again so far. */
  readonly resends: () => number
  /** Whether its path is a secret, as that of a webhook may be. */
  readonly isPrivate: boolean
}

const port = ({ port, protocol }: URL) => port === "" ? (protocol === "https:" ? 443 : 80) : Number(port)

const outcome = (error: Errors.N8nError | undefined) => {
  if (error === undefined) return {}
  switch (error._tag) {
    case "NotFoundError":
      return { "http.response.status_code": 404, "error.type": "404" }
    case "ApiError":
      return error.statusCode === undefined
        ? { "error.type": error.reason }
        : { "http.response.status_code": error.statusCode, "error.type": String(error.statusCode) }
  }
  return { "error.type": error._tag }
}

/** The span that is made now, if anybody sees it. */
const visibleSpan = Effect.flatMap(
  References.TracerEnabled,
  (isEnabled) => isEnabled ? Effect.option(Effect.currentSpan) : Effect.succeedNone
)

/** Tells of a request in the span of the client's method that sends it; no query, header or body. */
export const annotated =
  ({ isPrivate, method, resends, url }: Sent) =>
  <A, E extends Errors.N8nError, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
    Effect.flatMap(visibleSpan, (span) => {
      if (Option.isNone(span) || !span.value.name.startsWith("N8nClient.")) return effect
      const tell = (attributes: object) =>
        Effect.sync(() => {
          for (const [key, value] of Object.entries(attributes)) span.value.attribute(key, value)
        })
      const end = (error: E | undefined) =>
        tell({ ...(resends() > 0 ? { "http.request.resend_count": resends() } : {}), ...outcome(error) })
      return tell({
        "http.request.method": method,
        "server.address": url.hostname,
        "server.port": port(url),
        ...(isPrivate ? {} : { "url.path": url.pathname })
      }).pipe(
        Effect.andThen(effect),
        Effect.tapError(end),
        Effect.tap(() => end(undefined))
      )
    })

/** What tells n8n our span; nothing where there is none that anybody sees. */
const headers = Effect.gen(function*() {
  const span = yield* visibleSpan
  return (yield* HttpClient.TracerPropagationEnabled) && Option.isSome(span)
    ? HttpTraceContext.toHeaders(span.value)
    : {}
})

/**
 * Sends what has a secret path: Effect's own span of the request would tell its whole address. n8n's trace of the
 * execution goes on from the span around.
 */
export const withoutAddress = <A, E, R>(
  request: HttpClientRequest.HttpClientRequest,
  send: (request: HttpClientRequest.HttpClientRequest) => Effect.Effect<A, E, R>
): Effect.Effect<A, E, R> =>
  Effect.flatMap(headers, (headers) => send(HttpClientRequest.setHeaders(request, headers))).pipe(
    Effect.provideService(HttpClient.TracerDisabledWhen, constTrue)
  )
