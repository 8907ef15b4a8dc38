/**
 * n8n's public REST API in memory, as an `HttpClient`: what talks to n8n runs unchanged against it, in tests and in
 * `--demo`. Its answers were compared with those of n8n 2.41.1 and 1.123.81, request by request.
 *
 * **Details**
 *
 * Nothing runs, so nothing is known of node types: a workflow is published without a look at parameters and
 * credentials. What is written gets the same ids at every start, and dates that only grow.
 */
import * as Clock from "effect/Clock"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as HttpClient from "effect/http/HttpClient"
import * as HttpClientError from "effect/http/HttpClientError"
import type * as HttpClientRequest from "effect/http/HttpClientRequest"
import * as HttpClientResponse from "effect/http/HttpClientResponse"
import * as Layer from "effect/Layer"
import * as about from "./about.ts"
import * as credentials from "./credentials.ts"
import * as executions from "./executions.ts"
import * as history from "./history.ts"
import * as publishing from "./publishing.ts"
import { checkQuery } from "./query.ts"
import { type Major, refuse } from "./refusal.ts"
import type { Route } from "./server.ts"
import * as State from "./state.ts"
import type { Seed } from "./state.ts"
import * as tags from "./tags.ts"
import * as webhooks from "./webhooks.ts"
import * as workflows from "./workflows.ts"

/** The newest are kept: a demo that serves for days must not grow. */
const mostRequests = 10_000

export type { Credential, Execution, Seed, Stored, Workflow } from "./state.ts"

/** A request as it arrived; `body` is what its JSON says. */
export interface RecordedRequest {
  readonly method: string
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: unknown
}

/** The connection breaks: a hook that fails with it leaves the client without an answer. */
export class Disconnected extends Data.TaggedError("Disconnected") {}

/** The n8n to be. */
export interface Options {
  /** Its major version. Default: "2". */
  readonly version?: "2" | "1"
  /** The only key it accepts. Default: any, and none. */
  readonly apiKey?: string
  /**
   * Sees each request before n8n does, and may answer in its place, change what n8n holds through `n8n.edit`, hang
   * (`Effect.never`) or break the connection (`Disconnected`): then nothing has happened.
   */
  readonly before?: (request: RecordedRequest, n8n: N8nApi) => Effect.Effect<Response | void, Disconnected>
  /** The same with the answer in hand: what was written is written, but the client may never learn of it. */
  readonly after?: (
    request: RecordedRequest,
    response: Response,
    n8n: N8nApi
  ) => Effect.Effect<Response | void, Disconnected>
  /** On 2.x, how many requests of its webhook still find the state before a workflow was (un)published. Default: 0. */
  readonly settling?: number
  /** On 2.x, how many attempts to delete a workflow just unpublished come too early (409). Default: 0. */
  readonly unpublishing?: number
}

/** One n8n: the client that reaches it, every request so far, and a way in behind the API's back. */
export interface N8nApi {
  readonly client: HttpClient.HttpClient
  readonly requests: Effect.Effect<ReadonlyArray<RecordedRequest>>
  /** What it holds now; no request. */
  readonly workflows: Effect.Effect<ReadonlyArray<State.Workflow>>
  /**
   * Somebody else saves a workflow.
   *
   * **Details**
   *
   * `updatedAt` moves, and what changes nodes, connections or node groups is a new version by `author` (default:
   * "Somebody Else"). On 2.x a published workflow then has a draft; on 1.x the change takes effect.
   */
  readonly edit: (
    id: string,
    change: (workflow: State.Stored) => State.Workflow,
    author?: string
  ) => Effect.Effect<void>
}

/** On 1.x the first path that matches decides, so the more specific stand first. */
const routes: ReadonlyArray<Route> = [
  ...about.routes,
  ...webhooks.routes,
  ...workflows.routes,
  ...publishing.routes,
  ...tags.routes,
  ...history.routes,
  ...executions.routes,
  ...credentials.routes
]

/** 2.x asks every path that matches for the method, 1.x only the first. */
const findRoute = (method: string, pathname: string, version: Major) => {
  const known = routes.filter(({ only2, path }) => path.test(pathname) && !(only2 === true && version === "1"))
  const here = version === "2" ? known : known.filter(({ path }) => path.source === known[0]?.path.source)
  const found = here.find((each) => each.method === method)
  if (found !== undefined) return Effect.succeed(found)
  return here.length === 0 ? refuse(404, "not found") : refuse(405, `${method} method not allowed`)
}

const authorize = (key: string | undefined, { apiKey, version = "2" }: Options) => {
  if (apiKey === undefined || key === apiKey) return Effect.void
  if (version === "2") return refuse(401, "Unauthorized")
  return refuse(401, key === undefined || key === "" ? "'X-N8N-API-KEY' header required" : "unauthorized")
}

const checkBody = ({ body: check, bodyIsOptional }: Route, { body, headers }: RecordedRequest, version: Major) => {
  if (check === undefined) return Effect.void
  if (body === undefined) {
    return bodyIsOptional === true ? Effect.void : refuse(415, `unsupported media type ${headers["content-type"]}`)
  }
  const fault = check(body, "request/body", version)
  return fault === undefined ? Effect.void : refuse(400, fault)
}

const isApi = (url: URL) => url.pathname.startsWith("/api/")

const decoder = new TextDecoder()

/** What is sent is expected to be JSON. */
const recorded = ({ body, headers, method }: HttpClientRequest.HttpClientRequest, url: URL): RecordedRequest => ({
  method,
  url: url.href,
  headers: { ...headers },
  ...(body._tag === "Uint8Array" && { body: JSON.parse(decoder.decode(body.body)) })
})

/** Starts an n8n that holds the seed. It never fails: what n8n refuses is an answer with a status, as from the wire. */
export const make = (seed: Seed, options: Options = {}): Effect.Effect<N8nApi> =>
  Effect.sync(() => {
    const { after, before, settling = 0, unpublishing = 0, version = "2" } = options
    const state = State.make(seed)
    const requests: Array<RecordedRequest> = []

    const answer = Effect.fnUntraced(function*(request: RecordedRequest, url: URL) {
      const { headers, method } = request
      const found = yield* findRoute(method, url.pathname, version)
      if (isApi(url)) {
        yield* authorize(headers["x-n8n-api-key"], options)
        yield* checkQuery(found.query ?? {}, url.searchParams, version)
      }
      yield* checkBody(found, request, version)
      const { id = "", version: versionId = "" } = found.path.exec(url.pathname)?.groups ?? {}
      const now = state.moment(yield* Clock.currentTimeMillis)
      return yield* found.handle({
        version,
        state,
        method,
        headers,
        id: decodeURIComponent(id),
        versionId: decodeURIComponent(versionId),
        query: url.searchParams,
        body: request.body,
        now,
        settling,
        unpublishing
      })
    }, Effect.catchTag("Refusal", ({ message, status }) => Effect.succeed(Response.json({ message }, { status }))))

    const exchange = Effect.fnUntraced(function*(request: RecordedRequest, url: URL) {
      requests.push(request)
      if (requests.length > mostRequests) requests.shift()
      const instead = yield* before?.(request, n8n) ?? Effect.void
      if (instead instanceof Response) return instead
      const response = yield* answer(request, url)
      const altered = yield* after?.(request, response, n8n) ?? Effect.void
      return altered instanceof Response ? altered : response
    })

    const n8n: N8nApi = {
      client: HttpClient.make((request, url) =>
        exchange(recorded(request, url), url).pipe(
          Effect.map((response) => HttpClientResponse.fromWeb(request, response)),
          Effect.catchTag("Disconnected", (cause) =>
            Effect.fail(
              new HttpClientError.HttpClientError({ reason: new HttpClientError.TransportError({ request, cause }) })
            ))
        )
      ),
      requests: Effect.sync(() => [...requests]),
      workflows: Effect.sync(() => [...state.workflows.values()]),
      edit: (id, change, author = "Somebody Else") =>
        Effect.map(Clock.currentTimeMillis, (clock) =>
          workflows.edit({ version, state, now: state.moment(clock) }, id, change, author))
    }
    return n8n
  })

/** An n8n of its own for each build of the layer. */
export const layer = (seed: Seed, options?: Options): Layer.Layer<HttpClient.HttpClient> =>
  Layer.effect(HttpClient.HttpClient, Effect.map(make(seed, options), ({ client }) => client))
