/** Attributes of the spans of the client's methods, by OpenTelemetry's conventions for HTTP. */
import * as Effect from "effect/Effect"
import { constTrue } from "effect/Function"
import * as HttpClient from "effect/http/HttpClient"
import * as HttpClientRequest from "effect/http/HttpClientRequest"
import * as HttpTraceContext from "effect/http/HttpTraceContext"
import * as Option from "effect/Option"
import * as References from "effect/References"
import * as Errors from "../base/Errors.ts"

/** Any query parameter. */
export const anyName: ReadonlyArray<RegExp> = [/^/]

/**
 * Query parameters whose values stay out of traces and errors: all but those that say which page and which executions
 * were asked for. A name, tag, filter or search may be a person's.
 */
export const privateNames: ReadonlyArray<RegExp> = [
  /^(?!(?:limit|cursor|offset|skip|take|status|workflowId|projectId|startedAfter|startedBefore|active|includeData|excludePinnedData|ignoreDataSizeLimit|redactExecutionData|publishIfActive|dryRun|returnData|sortBy)$)/
]

interface Sent {
  readonly method: string
  readonly url: URL
  readonly resends: () => number
  /** Whether the path is secret, as a webhook's may be. */
  readonly isPrivate: boolean
}

const port = ({ port, protocol }: URL) => port === "" ? (protocol === "https:" ? 443 : 80) : Number(port)

const outcome = (error: Errors.N8nError | undefined) => {
  if (error === undefined) return {}
  const status = error._tag === "NotFoundError" ? 404 : Errors.statusOf(error)
  return status === undefined
    ? { "error.type": error._tag === "ApiError" ? error.reason._tag : error._tag }
    : { "http.response.status_code": status, "error.type": String(status) }
}

const visibleSpan = References.TracerEnabled.use(
  (isEnabled) => isEnabled ? Effect.option(Effect.currentSpan) : Effect.succeedNone
)

/** Describes a request, without query, headers and body, in the span of the client's method that sends it. */
export const annotated =
  ({ isPrivate, method, resends, url }: Sent) =>
  <A, E extends Errors.N8nError, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
    Effect.flatMap(visibleSpan, (current) => {
      const span = Option.getOrUndefined(current)
      if (span === undefined || !span.name.startsWith("N8nClient.")) return effect
      const annotate = (attributes: object) =>
        Effect.sync(() => {
          for (const [key, value] of Object.entries(attributes)) span.attribute(key, value)
        })
      const end = (error: E | undefined) =>
        annotate({ ...(resends() > 0 ? { "http.request.resend_count": resends() } : {}), ...outcome(error) })
      return annotate({
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

/** Trace headers of the current span, if it is exported. */
const headers = Effect.gen(function*() {
  const span = yield* visibleSpan
  return (yield* HttpClient.TracerPropagationEnabled) && Option.isSome(span)
    ? HttpTraceContext.toHeaders(span.value)
    : {}
})

/** Sends a request with a secret path without Effect's own span; n8n's trace continues the outer span. */
export const withoutAddress = <A, E, R>(
  request: HttpClientRequest.HttpClientRequest,
  send: (request: HttpClientRequest.HttpClientRequest) => Effect.Effect<A, E, R>
): Effect.Effect<A, E, R> =>
  Effect.flatMap(headers, (headers) => send(HttpClientRequest.setHeaders(request, headers))).pipe(
    Effect.provideService(HttpClient.TracerDisabledWhen, constTrue)
  )
