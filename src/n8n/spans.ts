/** What the spans of the client's methods tell, named as OpenTelemetry's conventions for HTTP have it. */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
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

/** Tells of a request in the span of the client's method that sends it; no query, header or body. */
export const annotated =
  ({ isPrivate, method, resends, url }: Sent) =>
  <A, E extends Errors.N8nError, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
    Effect.flatMap(Effect.option(Effect.currentSpan), (span) => {
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
