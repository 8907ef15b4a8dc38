/**
 * In-memory implementation of n8n's public REST API as an `HttpClient`, for tests and `--demo`. Its answers are
 * compared with those of n8n 2.41.1 and 1.123.81, request by request.
 *
 * Workflows are not executed, except as `runs` defines for webhook calls. Node types are unknown, so publishing does not
 * check parameters and credentials.
 *
 * Generated ids are the same at every start, and dates always increase.
 */
import * as Clock from "effect/Clock"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as HttpClient from "effect/http/HttpClient"
import * as HttpClientError from "effect/http/HttpClientError"
import type * as HttpClientRequest from "effect/http/HttpClientRequest"
import * as HttpClientResponse from "effect/http/HttpClientResponse"
import * as Layer from "effect/Layer"
import { map as mapValues } from "effect/Record"
import * as about from "./about.ts"
import * as audit from "./audit.ts"
import * as credentials from "./credentials.ts"
import * as dataTables from "./dataTables.ts"
import * as executions from "./executions.ts"
import * as history from "./history.ts"
import * as projects from "./projects.ts"
import * as publishing from "./publishing.ts"
import { checkQuery } from "./query.ts"
import { type Major, refuse } from "./refusal.ts"
import type { Route } from "./server.ts"
import * as State from "./state.ts"
import type { Seed } from "./state.ts"
import * as tags from "./tags.ts"
import * as webhooks from "./webhooks.ts"
import * as workflows from "./workflows.ts"

/** Maximum number of recorded requests; the memory of a long-running demo must not grow. */
const maxRequests = 10_000

export type {
  CommunityPackage,
  Credential,
  DataTable,
  Execution,
  NewExecution,
  Node,
  Obj,
  Project,
  Seed,
  Stored,
  Workflow
} from "./state.ts"

/** Request as received; `body` is the parsed JSON. */
export interface RecordedRequest {
  readonly method: string
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: unknown
}

/** Broken connection: if a hook fails with it, the client gets no answer. */
export class Disconnected extends Data.TaggedError("Disconnected") {}

/** Options of the simulated n8n. */
export interface Options {
  /** Major version. Default: "2". */
  readonly version?: "2" | "1"
  /** The only API key accepted. Default: any key or none. */
  readonly apiKey?: string
  /**
   * Runs before each request is handled. It may return a response instead, change workflows with `n8n.edit`, hang
   * (`Effect.never`) or break the connection (`Disconnected`); the request then has no effect.
   */
  readonly before?: (request: RecordedRequest, n8n: N8nApi) => Effect.Effect<Response | void, Disconnected>
  /** Runs after each request; it may replace or lose the response, but the request has had its effect. */
  readonly after?: (
    request: RecordedRequest,
    response: Response,
    n8n: N8nApi
  ) => Effect.Effect<Response | void, Disconnected>
  /** On 2.x, number of requests to a webhook that still see the state before (un)publishing. Default: 0. */
  readonly webhookLag?: number
  /** On 2.x, number of attempts to delete a workflow after unpublishing that fail with 409. Default: 0. */
  readonly deletionLag?: number
  /**
   * On 2.x, whether deprecated nodes (Function, Function Item, LangChain Code) are refused as since n8n 2.42.6: in a new
   * workflow, and on an update unless they are only moved, removed or replaced. Default: false.
   */
  readonly blockDeprecated?: boolean
  /**
   * Returns the execution of a call of a production webhook with this body, such as `succeededExecution({ workflow })`,
   * which is stored, or a response instead, or `undefined` if none is saved. By default the call is refused:
   * `WorkflowTesting` needs it.
   */
  readonly runs?: (workflow: State.Workflow, body: unknown) => State.NewExecution | Response | undefined
}

/** Simulated n8n: its client, the requests so far, and direct access to its workflows. */
export interface N8nApi {
  readonly client: HttpClient.HttpClient
  readonly requests: Effect.Effect<ReadonlyArray<RecordedRequest>>
  readonly workflows: Effect.Effect<ReadonlyArray<State.Workflow>>
  /**
   * Saves a workflow as another user. `updatedAt` changes, and a change of nodes, connections or node groups is a new
   * version by `author` (default: "Somebody Else"). On 2.x a published workflow then has a draft; on 1.x the change
   * takes effect immediately.
   */
  readonly edit: (
    id: string,
    change: (workflow: State.Stored) => State.Workflow,
    author?: string
  ) => Effect.Effect<void>
  readonly executions: Effect.Effect<ReadonlyArray<State.Execution>>
  readonly addExecution: (execution: State.NewExecution) => Effect.Effect<State.Execution>
  /** Fails the next `times` requests with a status (0: the connection breaks) and a `Retry-After`, without effect. */
  readonly failTimes: (
    times: number,
    status: number,
    options?: { readonly retryAfter?: number; readonly message?: string }
  ) => Effect.Effect<void>
}

/** Routes, specific ones first, since the first matching path decides on 1.x. */
const routes: ReadonlyArray<Route> = [
  ...about.routes,
  ...webhooks.routes,
  ...workflows.routes,
  ...publishing.routes,
  ...tags.routes,
  ...history.routes,
  ...executions.routes,
  ...credentials.routes,
  ...dataTables.routes,
  ...audit.routes,
  ...projects.routes
]

/** Finds the route: 2.x tries the method on every matching path, 1.x only on the first. */
const findRoute = (method: string, pathname: string, version: Major) => {
  const known = routes.filter(({ only2, path }) => path.test(pathname) && !(only2 === true && version === "1"))
  const here = version === "2" ? known : known.filter(({ path }) => path.source === known[0]?.path.source)
  const route = here.find((each) => each.method === method)
  if (route !== undefined) return Effect.succeed(route)
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

const decoder = new TextDecoder()

const record = ({ body, headers, method }: HttpClientRequest.HttpClientRequest, url: URL): RecordedRequest => ({
  method,
  url: url.href,
  headers: { ...headers },
  ...(body._tag === "Uint8Array" && { body: JSON.parse(decoder.decode(body.body)) })
})

/**
 * Creates a simulated n8n with this seed; its refusals are HTTP responses with a status.
 *
 * **Example** (Two n8ns in one program)
 *
 * ```ts
 * import { N8nClient } from "effect-n8n-mcp"
 * import { N8nApi } from "effect-n8n-mcp/testing"
 * import * as Effect from "effect/Effect"
 * import * as HttpClient from "effect/http/HttpClient"
 * import * as Redacted from "effect/Redacted"
 *
 * const clientOf = (fake: N8nApi.N8nApi, name: string) =>
 *   N8nClient.make({ url: new URL(`https://${name}.example.test`), apiKey: Redacted.make("any") }).pipe(
 *     Effect.provideService(HttpClient.HttpClient, fake.client)
 *   )
 *
 * export const test = Effect.gen(function*() {
 *   const workflow = { id: "1", name: "Orders", nodes: [] }
 *   const [staging, production] = yield* Effect.all([N8nApi.make({ workflows: [workflow] }), N8nApi.make()])
 *   yield* (yield* clientOf(staging, "staging")).deleteWorkflow("1")
 *   return [yield* staging.workflows, yield* production.requests] // neither sees the other's requests
 * })
 * ```
 */
export const make = (seed: Seed = {}, options: Options = {}): Effect.Effect<N8nApi> =>
  Effect.map(Clock.currentTimeMillis, (clock) => {
    const { after, before, blockDeprecated = false, deletionLag = 0, runs, version = "2", webhookLag = 0 } = options
    const state = State.make(seed, version, clock)
    const requests: Array<RecordedRequest> = []
    const failures: Array<Effect.Effect<Response, Disconnected>> = []

    const answer = Effect.fnUntraced(function*(request: RecordedRequest, url: URL) {
      const { headers, method } = request
      const route = yield* findRoute(method, url.pathname, version)
      if (url.pathname.startsWith("/api/")) {
        yield* authorize(headers["x-n8n-api-key"], options)
        yield* checkQuery(route.query ?? {}, url.searchParams, version)
      }
      yield* checkBody(route, request, version)
      const params = mapValues(route.path.exec(url.pathname)?.groups ?? {}, decodeURIComponent)
      const { id = "", version: versionId = "" } = params
      const now = state.timestamp(yield* Clock.currentTimeMillis)
      return yield* route.handle({
        version,
        state,
        method,
        headers,
        id,
        versionId,
        params,
        query: url.searchParams,
        body: request.body,
        now,
        webhookLag,
        deletionLag,
        blocksDeprecated: blockDeprecated && version === "2",
        runs
      })
    }, Effect.catchTag("Refusal", ({ message, status }) => Effect.succeed(Response.json({ message }, { status }))))

    const exchange = Effect.fnUntraced(function*(request: RecordedRequest, url: URL) {
      requests.push(request)
      if (requests.length > maxRequests) requests.shift()
      const failure = failures.shift()
      if (failure !== undefined) return yield* failure
      const instead = yield* before?.(request, n8n) ?? Effect.void
      if (instead instanceof Response) return instead
      const response = yield* answer(request, url)
      const altered = yield* after?.(request, response, n8n) ?? Effect.void
      return altered instanceof Response ? altered : response
    })

    const n8n: N8nApi = {
      client: HttpClient.make((request, url) =>
        exchange(record(request, url), url).pipe(
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
        Effect.map(
          Clock.currentTimeMillis,
          (clock) => workflows.edit({ version, state, now: state.timestamp(clock) }, id, change, author)
        ),
      executions: Effect.sync(() => [...state.executions.values()].toSorted((a, b) => Number(a.id) - Number(b.id))),
      addExecution: (execution) =>
        Effect.map(Clock.currentTimeMillis, (clock) => State.addExecution(state, execution, clock)),
      failTimes: (times, status, { message = "simulated failure", retryAfter } = {}) =>
        Effect.sync(() => {
          const headers = retryAfter === undefined ? {} : { "retry-after": String(retryAfter) }
          const failure = status === 0
            ? Effect.fail(new Disconnected())
            : Effect.sync(() => Response.json({ message }, { status, headers }))
          failures.push(...Array.from({ length: times }, () => failure))
        })
    }
    return n8n
  })

/** Client of a simulated n8n; each build of the layer has its own. */
export const layer = (seed?: Seed, options?: Options): Layer.Layer<HttpClient.HttpClient> =>
  Layer.effect(HttpClient.HttpClient, Effect.map(make(seed, options), ({ client }) => client))
