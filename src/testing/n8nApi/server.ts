/**
 * Options of the simulated n8n, and the calls, routes, answers, refusals and pages that all endpoints share.
 *
 * Bodies of answers are read without promises: effect's `TestClock` waits for a fiber only while the fiber's own scheduler
 * has tasks for it, so a promise would be late for a clock that is adjusted by more than a timeout.
 */
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import type * as HttpClient from "effect/http/HttpClient"
import type * as HttpClientRequest from "effect/http/HttpClientRequest"
import * as HttpClientResponse from "effect/http/HttpClientResponse"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import type { Execution, NewExecution, State, Stored, Workflow } from "./world.ts"

const encoder = new TextEncoder()

const bodies = new WeakMap<Response, Uint8Array<ArrayBuffer>>()

/** Answer with a text; a hook sees it as any other `Response`. */
export const text = (body: string, init?: ResponseInit): Response => {
  const response = new Response(body, init)
  bodies.set(response, encoder.encode(body))
  return response
}

export const json = (value: unknown, init: ResponseInit = {}): Response =>
  text(JSON.stringify(value), { ...init, headers: { "content-type": "application/json", ...init.headers } })

/** Answer without a body. */
export const empty = (headers: Record<string, string> = {}): Response => new Response(null, { status: 204, headers })

/** Turns of the event loop in which a body arrives that was in memory; one that takes longer is a stream. */
const turns = 8

/** Reads the body of a hook's response by turns of the scheduler; `undefined` if it is a stream, or breaks off. */
const bodyOf = Effect.fnUntraced(function*(response: Response) {
  const read = { body: bodies.get(response) }
  if (read.body !== undefined || response.bodyUsed) return read.body
  response.clone().arrayBuffer().then((bytes) => void (read.body = new Uint8Array(bytes)), () => {})
  for (let turn = 0; turn < turns && read.body === undefined; turn++) yield* Effect.yieldNow
  return read.body
})

/** Response for the client; a body in memory is read immediately. */
export const respond = Effect.fnUntraced(
  function*(request: HttpClientRequest.HttpClientRequest, response: Response) {
    const web = HttpClientResponse.fromWeb(request, response)
    const body = response.body === null ? undefined : yield* bodyOf(response)
    if (body === undefined) return web
    const inMemory: HttpClientResponse.HttpClientResponse = Object.create(web, {
      arrayBuffer: { value: Effect.sync(() => body.slice().buffer) },
      stream: { value: Stream.succeed(body) }
    })
    return inMemory
  }
)

export type Major = "2" | "1"

/** Request as received; `body` is the parsed JSON. */
export interface RecordedRequest {
  readonly method: string
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: unknown
}

/** Broken connection: if a hook fails with it, the client gets no answer. */
export class Disconnected extends Data.TaggedError("Disconnected") {
  /** Code of Node's `fetch` for a connection that the other side closes. */
  readonly code = "UND_ERR_SOCKET"
}

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
  readonly runs?: (workflow: Workflow, body: unknown) => NewExecution | Response | undefined
}

/** Simulated n8n: its client, the requests so far, and direct access to its workflows. */
export interface N8nApi {
  readonly client: HttpClient.HttpClient
  readonly requests: Effect.Effect<ReadonlyArray<RecordedRequest>>
  readonly workflows: Effect.Effect<ReadonlyArray<Workflow>>
  /**
   * Saves a workflow as another user. `updatedAt` changes, and a change of nodes, connections or node groups is a new
   * version by `author` (default: "Somebody Else"). On 2.x a published workflow then has a draft; on 1.x the change
   * takes effect immediately.
   */
  readonly edit: (
    id: string,
    change: (workflow: Stored) => Workflow,
    author?: string
  ) => Effect.Effect<void>
  readonly executions: Effect.Effect<ReadonlyArray<Execution>>
  readonly addExecution: (execution: NewExecution) => Effect.Effect<Execution>
  /**
   * Fails the next `times` requests with a status (default: 503; 0: the connection breaks) and a `Retry-After`, without
   * effect. A call replaces what the last one has left: `failTimes(0)` ends the failures, `failTimes(Infinity)` never.
   */
  readonly failTimes: (
    times: number,
    status?: number,
    options?: { readonly retryAfter?: number; readonly message?: string }
  ) => Effect.Effect<void>
}

/** Request after n8n's validation, as passed to a handler. */
export interface Call {
  readonly version: Major
  readonly state: State
  readonly method: string
  readonly id: string
  readonly params: Readonly<Record<string, string>>
  readonly query: URLSearchParams
  readonly headers: Readonly<Record<string, string>>
  /** `undefined` if nothing was sent. */
  readonly body: unknown
  readonly now: string
  readonly options: Options
}

export class Refusal extends Data.TaggedError("Refusal")<{ readonly status: number; readonly message: string }> {}

export const refuse = (status: number, message: string): Effect.Effect<never, Refusal> =>
  Effect.fail(new Refusal({ status, message }))

export type Handler = (call: Call) => Effect.Effect<Response, Refusal>

export interface Route {
  readonly method: string
  readonly path: RegExp
  /** Name of the operation, such as `GET /workflows/{}`. */
  readonly name: string
  readonly handle: Handler
}

/** Makes a route, for `:id` and other parameters; a `*` at the end of a path is its `id`. */
export const route = (method: string, path: string, handle: Handler): Route => {
  const pattern = path.replaceAll(/:(\w+)/g, "(?<$1>[^/]+)").replace("*", "(?<id>.+)")
  const name = `${method} ${path.replace("/api/v1", "").replaceAll(/:\w+/g, "{}")}`
  return { method, path: new RegExp(`^${pattern}/?$`), name, handle }
}

/** Makes a route of the API, which an n8n has if it describes it. */
export const api = (method: string, path: string, handle: Handler): Route => route(method, `/api/v1${path}`, handle)

const Cursor = Schema.StringFromBase64.pipe(Schema.decodeTo(Schema.fromJsonString(Schema.Struct({
  lastId: Schema.optionalKey(Schema.String),
  limit: Schema.optionalKey(Schema.Finite),
  offset: Schema.optionalKey(Schema.Finite)
}))))

export const encodeCursor = Schema.encodeSync(Cursor)

/** Page of a query: a cursor's own limit wins, and 2.x treats a limit over 250 as 250. */
export const pageOf = Effect.fnUntraced(function*({ query, version }: Call) {
  const limit = Math.min(Math.trunc(Number(query.get("limit") ?? 100)), 250)
  if (limit < 0 && version === "2") return yield* refuse(400, "Param `limit` must be a non-negative integer")
  const offset = Math.trunc(Number(query.get("offset") ?? 0))
  const cursor = query.get("cursor") ?? ""
  if (cursor === "") return { lastId: Infinity, limit, offset }
  const fields = yield* Schema.decodeEffect(Cursor)(cursor).pipe(
    Effect.catchTag("SchemaError", () => refuse(400, "An invalid cursor was provided"))
  )
  return { lastId: Infinity, limit, offset, ...fields }
})

/** Answers with the page of a list for which a call asks, with a view of each entry. */
export const paginate = Effect.fnUntraced(function*<A>(
  call: Call,
  all: ReadonlyArray<A>,
  view: (entry: A) => unknown = (entry) => entry
) {
  const { query, version } = call
  const { limit, offset } = yield* pageOf(call)
  if (version === "1" && !Number.isInteger(Number(query.get("limit")))) {
    return yield* refuse(400, "SQLITE_MISMATCH: datatype mismatch")
  }
  const next = offset + limit
  return json({
    data: all.slice(offset, limit === 0 ? undefined : next).map(view),
    nextCursor: all.length > next ? encodeCursor({ limit, offset: next }) : null
  })
})
