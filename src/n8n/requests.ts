/** Requests to n8n's public API: authentication, retries, timeouts and errors. */
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import { identity } from "effect/Function"
import * as FetchHttpClient from "effect/http/FetchHttpClient"
import * as Headers from "effect/http/Headers"
import * as HttpClient from "effect/http/HttpClient"
import type * as HttpClientError from "effect/http/HttpClientError"
import * as HttpClientRequest from "effect/http/HttpClientRequest"
import * as HttpClientResponse from "effect/http/HttpClientResponse"
import * as UrlParams from "effect/http/UrlParams"
import * as Option from "effect/Option"
import type * as Redacted from "effect/Redacted"
import type * as Schedule from "effect/Schedule"
import * as Schema from "effect/Schema"
import * as Scope from "effect/Scope"
import * as Semaphore from "effect/Semaphore"
import type { Hint } from "../base/Advice.ts"
import * as Deadline from "../base/Deadline.ts"
import * as Errors from "../base/Errors.ts"
import * as Input from "../base/Input.ts"
import * as Turn from "../base/Turn.ts"
import * as body from "./body.ts"
import * as HttpErrors from "./HttpErrors.ts"
import { pathFault, queryFault } from "./paths.ts"
import { retrying } from "./retries.ts"
import * as secrets from "./secrets.ts"
import * as spans from "./spans.ts"
import * as Traffic from "./Traffic.ts"
import { type Write, WriteGuard } from "./WriteGuard.ts"

/** n8n's address and how to send requests to it. */
export interface Options {
  /** The address of the editor; a trailing slash or `/api/v1` is ignored. */
  readonly url: URL
  readonly apiKey: Redacted.Redacted<string>
  /** Headers that a proxy in front of n8n asks for, by name; sent to n8n's own origin only. */
  readonly headers?: Readonly<Record<string, Redacted.Redacted<string>>> | undefined
  /** The base address of production webhooks if it differs, as in n8n's WEBHOOK_URL. */
  readonly webhookUrl?: URL | undefined
  /**
   * The schedule for retries, over the error. Default: `retrySchedule`. It applies only if another attempt is safe and
   * may help: to a write only if it certainly had no effect. A longer `Retry-After` of up to 30 seconds overrides its
   * delay; one beyond that ends the retries.
   */
  readonly retry?: Schedule.Schedule<unknown, Errors.N8nError> | undefined
  /** Timeout of each request with its retries. Default: 45 seconds to read, 30 to write, 180 for data of executions. */
  readonly timeout?: Duration.Input | undefined
}

const readTimeout = 45
const writeTimeout = 30
/** The timeout for executions with data, in seconds: n8n takes about 9 s for 66 MB. */
export const dataTimeout = 180

const apiKeyHeader = "x-n8n-api-key"
const maxRedirects = 3

/** Pages of n8n's editor, and its API. A single word such as `/workflows` may be the path of n8n itself. */
const page =
  /\/(?:home\/[\w-]+|workflow\/[^/]+(?:\/.*)?|projects\/[^/]+\/.+|settings\/.+|executions\/\d+|signin|setup|api(?:\/v\d+(?:\/.*)?)?)$/

/** The editor's address, ending in a slash, in an address of its pages or API. */
export const baseUrl = (url: URL): URL => {
  const path = url.pathname.replace(/\/{2,}/g, "/").replace(/\/$/, "").replace(page, "").replace(/\/$/, "")
  const base = new URL(`${path}/`, url)
  // Requests with them are refused, and links are shown.
  base.username = base.password = ""
  return base
}

/** Reads a response; called again if the body breaks off and the request is retried. */
export type Consume<A> = (
  response: HttpClientResponse.HttpClientResponse,
  target: Errors.Target
) => Effect.Effect<A, HttpClientError.HttpClientError | Errors.N8nError>

/** Query parameters; `undefined` ones are omitted. */
export type Query = { readonly [name: string]: string | number | boolean | undefined }

/** The failures of a request: only a request for one resource can fail with `NotFoundError`. */
export type ErrorOf<T extends Errors.Target> = T extends Errors.ResourceTarget ? Errors.N8nError
  : Errors.RequestError

export interface Request {
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE" | "HEAD" | "OPTIONS"
  readonly path: string
  /** Pairs if a name can have several values. */
  readonly query?: Query | ReadonlyArray<readonly [string, string]> | undefined
  readonly headers?: { readonly [name: string]: string } | undefined
  /** Sent as JSON, unless it is a form, or bytes of the content type in the headers. */
  readonly body?: unknown
  /** The timeout of the request with its retries, in seconds; less if less is left of the call's time. */
  readonly seconds?: number | undefined
  /** Whether a repeated `DELETE` would lose the answer of the first; it is then retried like a `POST`. */
  readonly isOnce?: boolean | undefined
  /** Advice if there is no answer in time. */
  readonly lateHint?: Hint | undefined
  /** Default: the public API. A webhook gets no API key, since executions show headers, and is not called again. */
  readonly to?: "editor" | "webhook" | undefined
  readonly anyStatus?: boolean | undefined
}

export interface Requests {
  /** Sends a request; retries `GET` and `DELETE` (a 404 then passes), and others that certainly had no effect. */
  readonly send: <A, T extends Errors.Target>(
    request: Request,
    target: T,
    consume: Consume<A>
  ) => Effect.Effect<A, ErrorOf<T>>
  /** Runs writes of workflows one at a time: overlapping transactions break 1.x with SQLite permanently. */
  readonly serializeWrite: <A, E, R>(write: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
  /** The base address of production webhooks, ending in a slash. */
  readonly webhooks: URL
}

export const targetOf = (resourceType: string) => (operation: string, resourceId: string): Errors.ResourceTarget => ({
  operation,
  resourceType,
  resourceId
})

/** Whether n8n answered with one of these statuses. */
export const hasStatus = (...statuses: ReadonlyArray<number>) => (error: Errors.N8nError): error is Errors.ApiError =>
  statuses.includes(Errors.statusOf(error) ?? 0)

/** Whether this n8n has no such endpoint: it is older than the operation. */
export const isUnsupported = (error: Errors.N8nError): error is Errors.ApiError =>
  hasStatus(405)(error) || hasStatus(404)(error) && Errors.detailsOf(error) === HttpErrors.noRoute

/** Whether n8n's licence does not include the operation. */
export const isUnlicensed = (error: Errors.N8nError): error is Errors.ApiError =>
  hasStatus(403)(error) && HttpErrors.isAboutLicense(Errors.detailsOf(error))

/** Whether n8n does not know a query parameter: 1.x refuses the request, without effect; 2.x ignores the parameter. */
export const isUnknownParameter = (error: Errors.N8nError): boolean =>
  hasStatus(400)(error) && (Errors.detailsOf(error) ?? "").startsWith("Unknown query parameter")

const tooLarge = `an answer of more than ${body.maxBytes.json / 1_000_000} MB`

/** Whether an answer exceeded the maximum size of a body. */
export const isTooLarge = (error: Errors.N8nError): boolean =>
  error._tag === "ApiError" && error.reason._tag === "Unreadable" && error.reason.details === tooLarge

/** The error for a body that is not JSON, mostly the page of a proxy or a login. */
export const notJson = (target: Errors.Target, beginning: string) =>
  /^\s*</.test(beginning)
    ? HttpErrors.pageError(target, beginning)
    : HttpErrors.unreadableError(target, "an answer that is not JSON")

const otherAnswer = (target: Errors.Target, error: Schema.SchemaError) => {
  const reasons = Input.issues(error).map(({ field, reason }) => Errors.ofField(field, reason))
  return HttpErrors.unreadableError(target, `the answer is not one of n8n's (${reasons.join("; ")})`)
}

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
    Effect.tap(Turn.pause),
    Effect.flatMap(Schema.decodeUnknownEffect(schema)),
    Effect.tap(Turn.pause),
    Effect.catchIf(Schema.isSchemaError, (error) => Effect.fail(otherAnswer(target, error)))
  )

export const sendJson = <S extends Schema.ConstraintDecoder<unknown>, T extends Errors.Target>(
  { send }: Requests,
  request: Request,
  schema: S,
  target: T
): Effect.Effect<S["Type"], ErrorOf<T> | Errors.ApiError> =>
  send(request, target, (response) => readJson(response, schema, target))

/** Sends a request whose answer is not needed; a web page counts as a failure. */
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

export const getJson = <S extends Schema.ConstraintDecoder<unknown>, T extends Errors.Target>(
  requests: Requests,
  path: string,
  schema: S,
  target: T,
  query?: Query
): Effect.Effect<S["Type"], ErrorOf<T> | Errors.ApiError> =>
  sendJson(requests, { method: "GET", path, query }, schema, target)

export const postJson = <S extends Schema.ConstraintDecoder<unknown>, T extends Errors.Target>(
  requests: Requests,
  path: string,
  schema: S,
  target: T,
  rest: Partial<Request> = {}
): Effect.Effect<S["Type"], ErrorOf<T> | Errors.ApiError> =>
  sendJson(requests, { ...rest, method: "POST", path }, schema, target)

/** The outcome of an unanswered write is unknown. */
const uncertain =
  "n8n did not answer in time and may still have applied the change; read the current state before retrying."

/** Context of each request: no redirects of `fetch`, which would send the API key to any origin, and no secrets in traces. */
const inRequestContext = ({ headers = {} }: Options, { to }: Request) => <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.updateContext(effect, (context: Context.Context<R>): Context.Context<R> =>
    context.pipe(
      Context.add(FetchHttpClient.RequestInit, { redirect: "manual" }),
      Context.add(Headers.CurrentRedactedNames, [
        ...Context.get(context, Headers.CurrentRedactedNames),
        apiKeyHeader,
        ...Object.keys(headers)
      ]),
      // Query parameters of a webhook are private to its workflow.
      Context.add(UrlParams.CurrentRedactedNames, to === "webhook" ? spans.anyName : spans.privateNames)
    ))

/**
 * Aborts the request at its end unless its body was read to the end: an unread one (of a failure that is retried, of a
 * DELETE) would occupy its connection until it is collected as garbage, and aborting makes an error with a stack.
 */
const releasing = <A, E, R>(effect: Effect.Effect<A, E, R>, isRead: () => boolean) =>
  Effect.suspend(() => {
    const scope = Scope.makeUnsafe()
    return effect.pipe(
      Effect.provideService(Scope.Scope, scope),
      Effect.onExit((exit) => isRead() ? Effect.void : Scope.close(scope, exit))
    )
  })

/** Two turns of the event loop, which notice sockets that n8n closed: the outcome of a write there is unknown. */
const drainSocketEvents = Effect.andThen(Effect.yieldNow, Effect.yieldNow)

interface Connection {
  readonly options: Options
  /** Refusal of every request, if the options allow none. */
  readonly fault: Errors.ValidationError | undefined
  readonly base: URL
  readonly api: URL
  readonly webhooks: URL
  readonly http: Http
  /** Headers that a proxy in front of n8n asks for. */
  readonly headers: Readonly<Record<string, string>>
}

type Http = HttpClient.HttpClient.With<HttpClientError.HttpClientError, Scope.Scope>

const isRedirect = ({ status }: HttpClientResponse.HttpClientResponse) => status >= 300 && status < 400

/** Sends a request and follows redirects of a `GET` on the same origin; others would leak the API key. */
const execute = (
  http: Http,
  request: HttpClientRequest.HttpClientRequest,
  target: Errors.Target,
  origin: string,
  redirects = 0
): Effect.Effect<
  HttpClientResponse.HttpClientResponse,
  HttpClientError.HttpClientError | Errors.ApiError,
  Scope.Scope
> =>
  Effect.flatMap(http.execute(request), (response) => {
    const location = Option.getOrUndefined(Headers.get(response.headers, "location"))
    if (!isRedirect(response) || location === undefined) return HttpClientResponse.filterStatusOk(response)
    const to = URL.canParse(location, request.url) ? new URL(location, request.url) : undefined
    return request.method === "GET" && to?.origin === origin && redirects < maxRedirects
      ? execute(http, HttpClientRequest.setUrl(request, to), target, origin, redirects + 1)
      : Effect.fail(HttpErrors.redirectError(target, response.status, location, to))
  })

const timeoutOf = ({ method, seconds }: Request, timeout: Duration.Input | undefined) => {
  const configured = timeout === undefined ? undefined : Duration.toSeconds(timeout)
  if (seconds === undefined) return configured ?? (isRead(method) ? readTimeout : writeTimeout)
  return seconds === dataTimeout ? Math.max(seconds, configured ?? 0) : seconds
}

const isRead = (method: Request["method"]) => method === "GET" || method === "HEAD" || method === "OPTIONS"

/** Whether a request has an effect that a second one would repeat. */
const isWrite = ({ isOnce, method, to }: Request) =>
  method === "POST" || method === "PUT" || method === "PATCH" || to === "webhook" || isOnce === true

/** The query of an address. Spaces are `%20`: n8n refuses the `+` of `URLSearchParams` in some parameters. */
const search = (query: NonNullable<Request["query"]>) => {
  const pairs = (Array.isArray(query) ? query : Object.entries(query)).filter(([, value]) => value !== undefined)
  return pairs.length === 0 ? "" : `?${new URLSearchParams(pairs).toString().replaceAll("+", "%20")}`
}

const prepare = (
  { base, headers: own, options }: Connection,
  { body: json, headers = {}, method, query = {}, to }: Request,
  url: URL
) =>
  HttpClientRequest.make(method)(`${url.href}${search(query)}`).pipe(
    HttpClientRequest.setHeaders({
      accept: "application/json",
      ...headers,
      ...(url.origin === base.origin ? own : {}),
      ...(to === "webhook" ? {} : { [apiKeyHeader]: secrets.keyOf(options) })
    }),
    json === undefined
      ? identity
      : json instanceof FormData
      ? HttpClientRequest.bodyFormData(json)
      : json instanceof Uint8Array
      ? HttpClientRequest.bodyUint8Array(json, headers["content-type"])
      : HttpClientRequest.bodyJsonUnsafe(json)
  )

/** Refusal of a request that cannot be sent, or would ask for something else. */
const faultOf = ({ fault }: Connection, request: Request, target: Errors.Target) =>
  fault ?? secrets.headerFault(request.headers) ?? pathFault(request, target) ?? queryFault(request, target)

/** Sends a request with its retries, within its time; the guard has let it pass. */
const sendAny = Effect.fnUntraced(function*<A>(
  connection: Connection,
  request: Request,
  target: Errors.Target,
  consume: Consume<A>
) {
  const { api, base, http, options, webhooks } = connection
  const { method, path, to } = request
  const fault = faultOf(connection, request, target)
  if (fault !== undefined) return yield* fault
  const start = yield* Clock.currentTimeMillis
  const until = yield* Deadline.request(target, timeoutOf(request, options.timeout))
  const url = new URL(`${(to === "editor" ? base : to === "webhook" ? webhooks : api).href}${path}`)
  const prepared = prepare(connection, request, url)
  const send = (each: HttpClientRequest.HttpClientRequest) =>
    request.anyStatus === true ? http.execute(each) : execute(http, each, target, api.origin)
  let attempts = 0
  let last: HttpClientError.HttpClientError | undefined
  let response: HttpClientResponse.HttpClientResponse | undefined
  const attempt = Effect.suspend(() => {
    attempts++
    last = undefined
    response = undefined
    return to === "webhook" ? spans.withoutAddress(prepared, send) : send(prepared)
  }).pipe(
    Traffic.dated,
    (sent) => isWrite(request) ? Effect.andThen(drainSocketEvents, sent) : sent,
    Effect.catchTag("HttpClientError", (error) =>
      method === "DELETE" && attempts > 1 && error.response?.status === 404
        ? Effect.succeed(error.response)
        : Effect.fail(error))
  )
  const answered = attempt.pipe(
    Effect.flatMap((each) => consume(response = each, target)),
    Effect.catchTag("HttpClientError", (error) => {
      last = error
      return HttpErrors.fromHttp(error, target)
    }),
    // A redirect's body is not read.
    (sent) => releasing(sent, () => response?.request.url === prepared.url && body.isRead(response)),
    Traffic.counted(target),
    Effect.mapError(secrets.redacting(options, request)),
    retrying(options.retry, () => last, isWrite(request), until),
    spans.annotated({ method, url, resends: () => attempts - 1, isPrivate: to === "webhook" })
  )
  const late = Effect.flatMap(Clock.currentTimeMillis, (now) => {
    const hint = request.lateHint ?? (isRead(method) ? undefined : uncertain)
    return Effect.fail(HttpErrors.timeoutError(target, now - start, hint, url.origin))
  })
  return yield* Deadline.before(answered, until, (interrupt) => Effect.andThen(interrupt, late)).pipe(
    Effect.ensuring(Deadline.answered),
    inRequestContext(options, request)
  )
})

/** Sends a request after the guard has allowed it, unless it reads the public API or is sent elsewhere. */
const guarded = <A>(connection: Connection, request: Request, target: Errors.Target, consume: Consume<A>) => {
  const sending = sendAny(connection, request, target, consume)
  const { body, method, path, to } = request
  if (to !== undefined || isRead(method) || faultOf(connection, request, target) !== undefined) return sending
  const read: Write["read"] = (path, query) =>
    sendAny(
      connection,
      { method: "GET", path, query },
      { resourceType: "Resource", resourceId: path, ...target, operation: "look at what a write changes" },
      (response, target) => readJson(response, Schema.Unknown, target)
    )
  return Effect.andThen(WriteGuard.use(({ check }) => check({ method, path, body, read })), sending)
}

export const make = Effect.fnUntraced(function*(options: Options) {
  const base = baseUrl(options.url)
  const webhooks = options.webhookUrl === undefined ? base : baseUrl(options.webhookUrl)
  const fault = secrets.optionsFault(options)
  const headers = secrets.headersOf(options)
  const http = HttpClient.withScope(yield* HttpClient.HttpClient)
  const connection = { options, fault, base, api: new URL("api/v1", base), webhooks, http, headers }
  return {
    // Only what is about one thing can be missing.
    send: (request, target, consume) => guarded(connection, request, target, consume) as never,
    serializeWrite: (yield* Semaphore.make(1)).withPermits(1),
    webhooks
  } satisfies Requests
})
