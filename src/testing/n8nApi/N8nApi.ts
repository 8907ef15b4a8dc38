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
import * as Effect from "effect/Effect"
import * as HttpClient from "effect/http/HttpClient"
import * as HttpClientError from "effect/http/HttpClientError"
import type * as HttpClientRequest from "effect/http/HttpClientRequest"
import * as Layer from "effect/Layer"
import { map as mapValues } from "effect/Record"
import * as credentialRoutes from "./credentialRoutes.ts"
import * as dataTableRoutes from "./dataTableRoutes.ts"
import * as executionRoutes from "./executionRoutes.ts"
import * as instanceRoutes from "./instanceRoutes.ts"
import * as publishingRoutes from "./publishingRoutes.ts"
import {
  Disconnected,
  json,
  type Major,
  type N8nApi,
  type Options,
  type RecordedRequest,
  refuse,
  respond,
  type Route
} from "./server.ts"
import { operations, requestFault } from "./validation.ts"
import * as workflowRoutes from "./workflowRoutes.ts"
import * as World from "./world.ts"
import type { Seed } from "./world.ts"

/** Maximum number of recorded requests; the memory of a long-running demo must not grow. */
const maxRequests = 10_000

export { Disconnected, type N8nApi, type Options, type RecordedRequest } from "./server.ts"
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
} from "./world.ts"

/** Routes, specific ones first, since the first matching path decides on 1.x. @internal */
export const routes: ReadonlyArray<Route> = [
  ...instanceRoutes.routes,
  ...workflowRoutes.routes,
  ...publishingRoutes.routes,
  ...executionRoutes.routes,
  ...credentialRoutes.routes,
  ...dataTableRoutes.routes
]

/** Operation of n8n that is not simulated. */
const missing = (method: string, pathname: string, version: Major) =>
  Object.entries(operations[version]).find(([name, operation]) =>
    operation === null &&
    new RegExp(`^${name.replace(" ", " /api/v1").replaceAll("{}", "[^/]+")}/?$`).test(`${method} ${pathname}`)
  )?.[0]

const placesIn = (name: string) => name.split("{}").length

/** Finds the route: 2.x tries the method on every matching path, 1.x only on the first. */
const findRoute = (method: string, pathname: string, version: Major) => {
  const known = routes.filter(({ name, path }) =>
    path.test(pathname) && (operations[version][name] !== undefined || !pathname.startsWith("/api/"))
  )
  const here = version === "2" ? known : known.filter(({ path }) => path.source === known[0]?.path.source)
  const route = here.find((each) => each.method === method)
  const name = missing(method, pathname, version)
  if (route !== undefined && !(name !== undefined && placesIn(name) < placesIn(route.name))) {
    return Effect.succeed(route)
  }
  if (name !== undefined) {
    return refuse(501, `this fake has no ${name}: answer it in the option \`before\`, or test it on a real n8n`)
  }
  return here.length === 0 ? refuse(404, "not found") : refuse(405, `${method} method not allowed`)
}

const authorize = (key: string | undefined, { apiKey, version = "2" }: Options) => {
  if (apiKey === undefined || key === apiKey) return Effect.void
  if (version === "2") return refuse(401, "Unauthorized")
  return refuse(401, key === undefined || key === "" ? "'X-N8N-API-KEY' header required" : "unauthorized")
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
    const { after, before, version = "2" } = options
    const state = World.make(seed, version, clock)
    const requests: Array<RecordedRequest> = []
    let failures: { left: number; readonly answer: Effect.Effect<Response, Disconnected> } | undefined

    const answer = Effect.fnUntraced(function*(request: RecordedRequest, url: URL) {
      const { headers, method } = request
      const route = yield* findRoute(method, url.pathname, version)
      const params = mapValues(route.path.exec(url.pathname)?.groups ?? {}, decodeURIComponent)
      const operation = operations[version][route.name]
      if (operation !== undefined && operation !== null) {
        yield* authorize(headers["x-n8n-api-key"], options)
        if (operation.needsBody === true && request.body === undefined) {
          return yield* refuse(415, `unsupported media type ${headers["content-type"]}`)
        }
        const { body } = request
        const fault = requestFault(operation, { params: Object.values(params), query: url.searchParams, body })
        if (fault !== undefined) return yield* refuse(400, fault)
      }
      const now = state.timestamp(yield* Clock.currentTimeMillis)
      return yield* route.handle({
        version,
        state,
        method,
        headers,
        id: params["id"] ?? "",
        params,
        query: url.searchParams,
        body: request.body,
        now,
        options
      })
    }, Effect.catchTag("Refusal", ({ message, status }) => Effect.succeed(json({ message }, { status }))))

    const exchange = Effect.fnUntraced(function*(request: RecordedRequest, url: URL) {
      requests.push(request)
      if (requests.length > maxRequests) requests.shift()
      if (failures !== undefined && failures.left-- > 0) return yield* failures.answer
      const instead = yield* before?.(request, n8n) ?? Effect.void
      if (instead instanceof Response) return instead
      const response = yield* answer(request, url)
      const altered = yield* after?.(request, response, n8n) ?? Effect.void
      return altered instanceof Response ? altered : response
    })

    const n8n: N8nApi = {
      client: HttpClient.make((request, url) =>
        exchange(record(request, url), url).pipe(
          Effect.flatMap((response) => respond(request, response)),
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
          (clock) => workflowRoutes.edit({ version, state, now: state.timestamp(clock) }, id, change, author)
        ),
      executions: Effect.sync(() => [...state.executions.values()].toSorted((a, b) => Number(a.id) - Number(b.id))),
      addExecution: (execution) =>
        Effect.map(Clock.currentTimeMillis, (clock) => World.addExecution(state, execution, clock)),
      failTimes: (left, status = 503, { message = "simulated failure", retryAfter } = {}) =>
        Effect.sync(() => {
          const headers = retryAfter === undefined ? {} : { "retry-after": String(retryAfter) }
          const answer = status === 0
            ? Effect.fail(new Disconnected())
            : Effect.sync(() => json({ message }, { status, headers }))
          failures = { left, answer }
        })
    }
    return n8n
  })

/** Client of a simulated n8n; each build of the layer has its own. */
export const layer = (seed?: Seed, options?: Options): Layer.Layer<HttpClient.HttpClient> =>
  Layer.effect(HttpClient.HttpClient, Effect.map(make(seed, options), ({ client }) => client))
