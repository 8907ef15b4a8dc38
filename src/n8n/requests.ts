/** Requests to n8n's public API: authentication, retries, timeouts and errors. */
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import { identity } from "effect/Function"
import * as FetchHttpClient from "effect/http/FetchHttpClient"
import * as Headers from "effect/http/Headers"
import * as HttpClient from "effect/http/HttpClient"
import * as HttpClientError from "effect/http/HttpClientError"
import * as HttpClientRequest from "effect/http/HttpClientRequest"
import type * as HttpClientResponse from "effect/http/HttpClientResponse"
import * as UrlParams from "effect/http/UrlParams"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import * as Schedule from "effect/Schedule"
import * as Schema from "effect/Schema"
import type * as Scope from "effect/Scope"
import * as Semaphore from "effect/Semaphore"
import type { Hint } from "../base/Advice.ts"
import * as Deadline from "../base/Deadline.ts"
import * as Errors from "../base/Errors.ts"
import { marker } from "../base/Redact.ts"
import * as Turn from "../base/Turn.ts"
import * as body from "./body.ts"
import * as HttpErrors from "./HttpErrors.ts"
import * as spans from "./spans.ts"
import { WriteGuard } from "./WriteGuard.ts"

/** n8n's address and how to send requests to it. */
export interface Options {
  /** The address of the editor; a trailing slash or `/api/v1` is ignored. */
  readonly url: URL
  readonly apiKey: Redacted.Redacted<string>
  /** The base address of production webhooks if it differs, as in n8n's WEBHOOK_URL. */
  readonly webhookUrl?: URL | undefined
  /**
   * The schedule for retries, over the error. Default: {@link retrySchedule}.
   *
   * **Details**
   *
   * It is asked only where another attempt is safe and may help: of a write only if it certainly had no effect. A
   * longer `Retry-After` of up to 30 seconds wins over its delay; a longer one than that ends the retries.
   */
  readonly retry?: Schedule.Schedule<unknown, Errors.N8nError> | undefined
  /**
   * The timeout of each request with its retries. Default: 45 seconds to read, 30 to write, 180 for executions with
   * data.
   */
  readonly timeout?: Duration.Input | undefined
}

/** Three retries after 200, 400 and 800 ms, each with 20 % jitter. */
export const retrySchedule: Schedule.Schedule<unknown, Errors.N8nError> = Schedule.exponential("200 millis").pipe(
  Schedule.jittered,
  Schedule.upTo({ times: 3 }),
  Schedule.setInputType<Errors.N8nError>()
)

/** The longest `Retry-After` that is honoured, in milliseconds; a longer one fails the call. */
const maxRetryAfter = 30_000
/** The timeout of a read with its retries, in seconds. */
const readTimeout = 45
/** The timeout of a write, in seconds: if it is not answered, its effect has to be found out. */
const writeTimeout = 30
/** The timeout for executions with data, in seconds: n8n takes about 9 s for 66 MB. */
export const dataTimeout = 180

/** Values of query parameters stay out of traces and errors. */
const anyName = [/^/]

const apiKeyHeader = "x-n8n-api-key"
const maxRedirects = 3

/** The editor's address, ending in a slash. */
export const baseUrl = (url: URL): URL => {
  const path = url.pathname.replace(/\/{2,}/g, "/").replace(/\/$/, "").replace(/\/api(\/v1)?$/, "")
  return new URL(`${path}/`, url)
}

const transientStatus: ReadonlySet<number> = new Set([408, 429, 500, 502, 503, 504])

/** Failures of certificates, protocols and host names, which a retry cannot fix. */
const permanentCodes: ReadonlySet<string> = new Set([
  "ENOTFOUND",
  "DEPTH_ZERO_SELF_SIGNED_CERT",
  "SELF_SIGNED_CERT_IN_CHAIN",
  "UNABLE_TO_VERIFY_LEAF_SIGNATURE",
  "UNABLE_TO_GET_ISSUER_CERT_LOCALLY",
  "ERR_TLS_CERT_ALTNAME_INVALID",
  "CERT_HAS_EXPIRED",
  "ERR_SSL_WRONG_VERSION_NUMBER"
])

/** The wait that `Retry-After` asks for, in milliseconds; the header has seconds or a date. */
const retryAfter = (error: HttpClientError.HttpClientError, now: number): number => {
  const header = error.response === undefined ? Option.none() : Headers.get(error.response.headers, "retry-after")
  if (Option.isNone(header)) return 0
  const seconds = Number(header.value)
  const wait = Number.isFinite(seconds) ? seconds * 1000 : Date.parse(header.value) - now
  return Number.isFinite(wait) ? Math.max(0, wait) : 0
}

const isTransient = (error: HttpClientError.HttpClientError): boolean => {
  switch (error.reason._tag) {
    case "StatusCodeError":
      return transientStatus.has(error.reason.response.status)
    case "DecodeError": // the connection broke in the middle of the body
      return true
    case "TransportError":
      return !permanentCodes.has(HttpErrors.transportCode(error) ?? "")
  }
  return false
}

/** Whether the failure means that nothing happened, so that even a write may be retried. */
const hadNoEffect = (error: HttpClientError.HttpClientError): boolean =>
  error.reason._tag === "StatusCodeError"
    ? error.reason.response.status === 429 || error.reason.response.status === 503
    : HttpErrors.transportCode(error) === "ECONNREFUSED"

/** Reads a response; called again if the body breaks off and the request is retried. */
export type Consume<A> = (
  response: HttpClientResponse.HttpClientResponse,
  target: Errors.Target
) => Effect.Effect<A, HttpClientError.HttpClientError | Errors.N8nError>

/** Query parameters; `undefined` ones are omitted. */
export type Query = { readonly [name: string]: string | number | boolean | undefined }

/** The failures of a request: what is not about one thing cannot be missing. */
export type ErrorOf<T extends Errors.Target> = T extends Errors.ResourceTarget ? Errors.N8nError
  : Errors.RequestError

/** One request. */
export interface Request {
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE" | "HEAD" | "OPTIONS"
  readonly path: string
  readonly query?: Query | undefined
  readonly headers?: { readonly [name: string]: string } | undefined
  /** Sent as JSON, unless it is a form. */
  readonly body?: unknown
  /** The timeout of the request with its retries, in seconds; less if less is left of the call's time. */
  readonly seconds?: number | undefined
  /** Of a `DELETE`: whether what it answers would be lost if it were sent twice; it is then retried like a `POST`. */
  readonly isOnce?: boolean | undefined
  /** What to do if there is no answer in time. */
  readonly lateHint?: Hint | undefined
  /** Default: the public API. To a webhook no key is sent, since executions show headers, and no request is retried. */
  readonly to?: "editor" | "webhook" | undefined
  /** Whether any status is a success. */
  readonly anyStatus?: boolean | undefined
}

/** Requests to one n8n, for the endpoints. */
export interface Requests {
  /**
   * Sends a request and passes the response to `consume`.
   *
   * **Details**
   *
   * `GET` and `DELETE` are retried when that may help, `POST`, `PUT` and `PATCH` only when they certainly had no effect
   * (the connection was refused, or n8n answered 429 or 503). A 404 for a retried `DELETE` counts as success and is passed
   * to `consume`.
   */
  readonly send: <A, T extends Errors.Target>(
    request: Request,
    target: T,
    consume: Consume<A>
  ) => Effect.Effect<A, ErrorOf<T>>
  /**
   * Runs writes of workflows one at a time.
   *
   * **Details**
   *
   * On 1.x with SQLite and no connection pool, the default, overlapping transactions break the connection permanently,
   * or one rolls back what another has written.
   */
  readonly serializeWrite: <A, E, R>(write: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
  /** The base address of production webhooks, ending in a slash. */
  readonly webhooks: URL
}

/** Whether n8n answered with one of these statuses. */
export const hasStatus = (...statuses: ReadonlyArray<number>) => (error: Errors.N8nError): boolean =>
  error._tag === "ApiError" && error.statusCode !== undefined && statuses.includes(error.statusCode)

/** Whether this n8n has no such endpoint: it is older than the operation. */
export const isUnsupported = (error: Errors.N8nError): error is Errors.ApiError =>
  error._tag === "ApiError" &&
  (error.statusCode === 405 || error.statusCode === 404 && error.errorDetails === HttpErrors.noRoute)

/** Whether n8n's licence does not include the operation. */
export const isUnlicensed = (error: Errors.N8nError): error is Errors.ApiError =>
  error._tag === "ApiError" && error.statusCode === 403 && HttpErrors.isAboutLicense(error.errorDetails)

/** Whether n8n does not know a query parameter: 1.x refuses the request, without effect; 2.x ignores the parameter. */
export const isUnknownParameter = (error: Errors.N8nError): boolean =>
  hasStatus(400)(error) && error._tag === "ApiError" &&
  (error.errorDetails ?? "").startsWith("Unknown query parameter")

const tooLarge = `an answer of more than ${body.maxBytes.json / 1_000_000} MB`

/** Whether an answer was larger than what is read. */
export const isTooLarge = (error: Errors.N8nError): boolean =>
  error._tag === "ApiError" && error.reason === "Unreadable" && error.errorDetails === tooLarge

/** The error for a body that is not JSON, mostly the page of a proxy or a login. */
export const notJson = (target: Errors.Target, beginning: string) =>
  HttpErrors.unreadableError(
    target,
    /^\s*</.test(beginning) ? "a web page instead of JSON" : "an answer that is not JSON"
  )

/** Reads and decodes a JSON response; an empty body is `undefined`. */
export const readJson = <S extends Schema.ConstraintDecoder<unknown>>(
  response: HttpClientResponse.HttpClientResponse,
  schema: S,
  target: Errors.Target
): Effect.Effect<S["Type"], HttpClientError.HttpClientError | Errors.ApiError> =>
  body.read(response, body.maxBytes.json).pipe(
    Effect.tap(Turn.wait),
    Effect.flatMap(({ isCut, text }) =>
      isCut
        ? Effect.fail(HttpErrors.unreadableError(target, tooLarge))
        : Effect.try({
          try: (): unknown => text === "" ? undefined : JSON.parse(text),
          catch: () => notJson(target, text)
        })
    ),
    Effect.flatMap(Schema.decodeUnknownEffect(schema)),
    Effect.catchIf(
      Schema.isSchemaError,
      (error) => Effect.fail(HttpErrors.unreadableError(target, error.message))
    )
  )

/** Sends a request and decodes the JSON response. */
export const sendJson = <S extends Schema.ConstraintDecoder<unknown>, T extends Errors.Target>(
  { send }: Requests,
  request: Request,
  schema: S,
  target: T
): Effect.Effect<S["Type"], ErrorOf<T> | Errors.ApiError> =>
  send(request, target, (response) => readJson(response, schema, target))

/** Sends a request whose answer says nothing; a web page instead is no success. */
export const sendOnly = <T extends Errors.Target>(
  { send }: Requests,
  request: Request,
  target: T
): Effect.Effect<void, ErrorOf<T> | Errors.ApiError> =>
  send(
    request,
    target,
    (response) => response.status === 404 ? Effect.void : Effect.asVoid(readJson(response, Schema.Unknown, target))
  )

/** Sends a `GET` and decodes the JSON response. */
export const getJson = <S extends Schema.ConstraintDecoder<unknown>, T extends Errors.Target>(
  requests: Requests,
  path: string,
  schema: S,
  target: T,
  query?: Query
): Effect.Effect<S["Type"], ErrorOf<T> | Errors.ApiError> =>
  sendJson(requests, { method: "GET", path, query }, schema, target)

/** Nobody knows what came of a write that is not answered. */
const uncertain = "n8n is slow or stuck, and may have done it all the same: read what is there before you call again."

/** n8n's keys are longer: replacing a shorter one could garble words. */
const minKey = 8

/** Redacts the API key, which a proxy or the HTTP client may repeat in a message; a cause that has it is left out. */
const redactKey = (apiKey: Redacted.Redacted<string>) => {
  const key = Redacted.value(apiKey)
  return (error: Errors.N8nError): Errors.N8nError => {
    if (error._tag !== "ApiError" || key.length < minKey) return error
    const { cause, errorDetails = "", ...rest } = { ...error }
    const leaks = cause !== undefined && HttpErrors.says(cause, key)
    return leaks || errorDetails.includes(key)
      ? new Errors.ApiError({
        ...rest,
        errorDetails: errorDetails.replaceAll(key, marker),
        ...(leaks || cause === undefined ? {} : { cause })
      })
      : error
  }
}

/** n8n refuses a `+` in some query parameters, as which `URLSearchParams` writes a space; a plus sign is `%2B` there. */
const withSpaces = (fetch: typeof globalThis.fetch): typeof globalThis.fetch => (input, init) => {
  if (!(input instanceof URL) || !input.search.includes("+")) return fetch(input, init)
  const url = new URL(input)
  url.search = url.search.replaceAll("+", "%20")
  return fetch(url, init)
}

/** Disables redirects in `fetch`, which would send the API key to any origin. */
const withoutRedirects = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  effect.pipe(
    Effect.updateService(FetchHttpClient.Fetch, withSpaces),
    Effect.provideService(FetchHttpClient.RequestInit, { redirect: "manual" })
  )

/** Whether a URL of this path would be another path: `..` and its spellings lead out of where it begins. */
const climbs = (path: string) => path.split(/[/\\]/).some((part) => /^(?:\.|%2e){1,2}$/i.test(part))

const climbing = ({ operation, resourceType = "Path", resourceId }: Errors.Target, path: string) =>
  new Errors.ValidationError({
    reason: `Cannot ${operation}: ${resourceType} '${resourceId ?? path}' would lead to another address of n8n`,
    ...(resourceType === "Version" ? { field: "version" } : resourceId === undefined ? {} : { field: "id" }),
    hint:
      "Nothing was sent. An id is letters and digits, as the lists give it; a webhook's path has no '.' or '..' in it."
  })

/**
 * Two turns of the event loop, with what the network has done between them. n8n closes connections that were idle for
 * 5 seconds: a process that was busy meanwhile would write to one of them, and nobody could say what came of it.
 */
const noticed = Effect.andThen(Effect.yieldNow, Effect.yieldNow)

/** Makes the requests to one n8n. */
export const make = Effect.fnUntraced(function*(options: Options) {
  const base = baseUrl(options.url)
  const api = new URL("api/v1", base)
  const webhooks = options.webhookUrl === undefined ? base : baseUrl(options.webhookUrl)
  // What is not read of an answer (of a failure that is retried, of a DELETE) would hold its connection until it is
  // collected as garbage: each request gives it back when it ends.
  const anonymous = (yield* HttpClient.HttpClient).pipe(
    HttpClient.mapRequest(HttpClientRequest.acceptJson),
    HttpClient.withScope
  )
  const authenticated = anonymous.pipe(
    HttpClient.mapRequest(HttpClientRequest.setHeader(apiKeyHeader, Redacted.value(options.apiKey)))
  )

  /** Sends a request and follows redirects of a `GET` on the same origin; others would leak the API key. */
  const execute = (
    http: HttpClient.HttpClient.With<HttpClientError.HttpClientError, Scope.Scope>,
    request: HttpClientRequest.HttpClientRequest,
    target: Errors.Target,
    redirects = 0
  ): Effect.Effect<
    HttpClientResponse.HttpClientResponse,
    HttpClientError.HttpClientError | Errors.ApiError,
    Scope.Scope
  > =>
    Effect.flatMap(withoutRedirects(http.execute(request)), (response) => {
      const location = Option.getOrUndefined(Headers.get(response.headers, "location"))
      if (response.status < 300 || response.status >= 400 || location === undefined) {
        return response.status >= 200 && response.status < 300
          ? Effect.succeed(response)
          : Effect.fail(
            new HttpClientError.HttpClientError({
              reason: new HttpClientError.StatusCodeError({ request, response })
            })
          )
      }
      const to = URL.canParse(location, request.url) ? new URL(location, request.url) : undefined
      return request.method === "GET" && to?.origin === api.origin && redirects < maxRedirects
        ? execute(http, HttpClientRequest.setUrl(request, to), target, redirects + 1)
        : Effect.fail(HttpErrors.redirectError(target, response.status, to?.origin ?? location))
    })

  /** Repeats while there is time: an n8n that asks for a longer pause is told of at once. */
  const retry = (
    last: () => HttpClientError.HttpClientError | undefined,
    mayRepeat: (error: HttpClientError.HttpClientError) => boolean,
    until: () => number
  ) => {
    const pause = (now: number) => {
      const error = last()
      return error === undefined ? 0 : retryAfter(error, now)
    }
    return (options.retry ?? retrySchedule).pipe(
      Schedule.while(({ now }) => {
        const error = last()
        return error !== undefined && mayRepeat(error) && pause(now) <= maxRetryAfter && now + pause(now) < until()
      }),
      Schedule.modifyDelay(({ duration, now }) => Effect.succeed(Duration.max(duration, Duration.millis(pause(now)))))
    )
  }

  /** Seconds of a request with its retries. */
  const timeoutOf = ({ seconds }: Request, isRead: boolean) => {
    if (seconds !== undefined && seconds !== dataTimeout) return seconds
    const usual = seconds ?? (isRead ? readTimeout : writeTimeout)
    return options.timeout === undefined
      ? usual
      : seconds === undefined
      ? Duration.toSeconds(options.timeout)
      : Math.max(seconds, Duration.toSeconds(options.timeout))
  }

  const sendAny = <A>(request: Request, target: Errors.Target, consume: Consume<A>) =>
    Effect.gen(function*() {
      const { body: json, headers = {}, method, path, query = {}, to } = request
      if (climbs(path)) return yield* climbing(target, path)
      const isRead = method === "GET" || method === "HEAD" || method === "OPTIONS"
      const start = yield* Clock.currentTimeMillis
      const until = yield* Deadline.request(target, timeoutOf(request, isRead))
      const url = new URL(`${(to === "editor" ? base : to === "webhook" ? webhooks : api).href}${path}`)
      const prepared = HttpClientRequest.make(method)(url).pipe(
        HttpClientRequest.setHeaders(headers),
        HttpClientRequest.setUrlParams(Object.entries(query).filter(([, value]) => value !== undefined)),
        json === undefined
          ? identity
          : json instanceof FormData
          ? HttpClientRequest.bodyFormData(json)
          : HttpClientRequest.bodyJsonUnsafe(json)
      )
      let attempts = 0
      let last: HttpClientError.HttpClientError | undefined
      const isWrite = method === "POST" || method === "PUT" || method === "PATCH" || to === "webhook" ||
        request.isOnce === true
      const attempt = Effect.suspend(() => {
        attempts++
        last = undefined
        const http = to === "webhook" ? anonymous : authenticated
        const send = (each: HttpClientRequest.HttpClientRequest) =>
          request.anyStatus === true ? withoutRedirects(http.execute(each)) : execute(http, each, target)
        return to === "webhook" ? spans.withoutAddress(prepared, send) : send(prepared)
      }).pipe(
        (sent) => isWrite ? Effect.andThen(noticed, sent) : sent,
        Effect.catchTag("HttpClientError", (error) =>
          method === "DELETE" && attempts > 1 && error.response?.status === 404
            ? Effect.succeed(error.response)
            : Effect.fail(error))
      )
      const answered = attempt.pipe(
        Effect.flatMap((response) =>
          consume(response, target)
        ),
        Effect.catchTag("HttpClientError", (error) => {
          last = error
          return HttpErrors.fromHttp(error, target)
        }),
        Effect.scoped,
        Effect.mapError(redactKey(options.apiKey)),
        Effect.retry(
          retry(() => last, isWrite ? (error) => isTransient(error) && hadNoEffect(error) : isTransient, until)
        ),
        spans.annotated({ method, url, resends: () => attempts - 1, isPrivate: to === "webhook" })
      )
      return yield* Deadline.before(
        answered,
        until,
        () =>
          Effect.flatMap(
            Clock.currentTimeMillis,
            (now) =>
              Effect.fail(
                HttpErrors.timeoutError(
                  target,
                  Math.round((now - start) / 1000),
                  request.lateHint ?? (isRead ? undefined : uncertain)
                )
              )
          )
      ).pipe(
        Effect.ensuring(Deadline.answered),
        Effect.updateService(Headers.CurrentRedactedNames, (names) => [...names, apiKeyHeader]),
        // What a webhook is sent is nobody's but its workflow's.
        Effect.provideService(UrlParams.CurrentRedactedNames, anyName)
      )
    })
  /** What is no read of the public API passes the guard first, whatever it is. */
  const guarded = <A>(request: Request, target: Errors.Target, consume: Consume<A>) => {
    const sending = sendAny(request, target, consume)
    const { body, method, path, to } = request
    if (to !== undefined || method === "GET" || method === "HEAD" || method === "OPTIONS") return sending
    const read = (path: string) =>
      sendAny(
        { method: "GET", path },
        { resourceType: "Resource", resourceId: path, ...target, operation: "look at what a write changes" },
        (response, target) => readJson(response, Schema.Unknown, target)
      )
    return Effect.andThen(WriteGuard.use(({ check }) => check({ method, path, body, read })), sending)
  }

  // Only what is about one thing can be missing.
  const send: Requests["send"] = (request, target, consume) => guarded(request, target, consume) as never
  return { send, serializeWrite: (yield* Semaphore.make(1)).withPermits(1), webhooks } satisfies Requests
})
