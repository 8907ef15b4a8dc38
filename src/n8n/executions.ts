/** Executions: listed, read, run again and stopped, and what n8n 1.x lacks of that. */
import * as Effect from "effect/Effect"
import type * as HttpClientError from "effect/http/HttpClientError"
import * as Option from "effect/Option"
import * as Ref from "effect/Ref"
import * as Schema from "effect/Schema"
import type * as Stream from "effect/Stream"
import * as Deadline from "../base/Deadline.ts"
import * as Errors from "../base/Errors.ts"
import * as ExecutionHead from "./model/ExecutionHead.ts"
import { dataTimeout, getJson, isUnknownParameter, pageOf, type Requests, sendJson } from "./requests.ts"

/** Which executions; all conditions hold together. */
export interface Query {
  readonly workflowId?: string | undefined
  readonly status?: string | undefined
  /** 1 to 250. */
  readonly limit: number
  readonly cursor?: string | undefined
  /** ISO 8601; the execution started at or after. */
  readonly startedAfter?: string | undefined
  /** ISO 8601; the execution started at or before. */
  readonly startedBefore?: string | undefined
  /** What n8n cannot filter by, page by page. */
  readonly filter?:
    | ((
      executions: ReadonlyArray<ExecutionHead.Listed>
    ) => Effect.Effect<ReadonlyArray<ExecutionHead.Listed>, Errors.N8nError>)
    | undefined
}

/** `ignoreDataSizeLimit` (2.x): the data too that n8n keeps back because it is large. */
export interface ReadOptions {
  readonly ignoreDataSizeLimit?: boolean
}

/** Reads the body of an execution; called anew when the body breaks off and the request is repeated. */
export type ConsumeExecution<A> = (
  body: Stream.Stream<Uint8Array, HttpClientError.HttpClientError>,
  target: Errors.Target
) => Effect.Effect<A, HttpClientError.HttpClientError | Errors.N8nError>

const Page = pageOf(ExecutionHead.Listed)

const Retried = Schema.Struct({
  id: Schema.Union([Schema.String, Schema.Finite]),
  status: Schema.optionalKey(Schema.NullOr(Schema.String))
})

const Stopped = Schema.Struct({ status: Schema.optionalKey(Schema.NullOr(Schema.String)) })

/** The execution endpoints. */
export interface Service {
  /**
   * `GET /executions`, newest first; `filter`, and on 1.x the time filters, are applied while paging through at most
   * 5,000: `nextCursor` then goes on, however few there were.
   */
  readonly listExecutions: (
    query: Query
  ) => Effect.Effect<
    { readonly executions: ReadonlyArray<ExecutionHead.Listed>; readonly nextCursor?: string },
    Errors.N8nError
  >
  /** `GET /executions/{id}`: its status and times, without data. */
  readonly executionHead: (id: string) => Effect.Effect<ExecutionHead.Listed, Errors.N8nError>
  /** `GET /executions/{id}?includeData=true`: the bytes, as they arrive, to `consume`. */
  readonly readExecution: <A>(
    id: string,
    options: ReadOptions,
    consume: ConsumeExecution<A>
  ) => Effect.Effect<A, Errors.N8nError>
  /** `POST /executions/{id}/retry`; answers once the new execution has ended. */
  readonly retryExecution: (id: string, loadWorkflow: boolean) => Effect.Effect<typeof Retried.Type, Errors.N8nError>
  /** `POST /executions/{id}/stop` (2.x). */
  readonly stopExecution: (id: string) => Effect.Effect<typeof Stopped.Type, Errors.N8nError>
}

const target: Errors.Target = { operation: "list executions" }

const path = (id: string) => `/executions/${encodeURIComponent(id)}`

const executionTarget = (operation: string, id: string): Errors.Target => ({
  operation,
  resourceType: "Execution",
  resourceId: id
})

/** This many executions are looked through in one call for what n8n cannot filter by. */
const scanPages = 20
const scanPage = 250

/** n8n's own cursor: what comes after this id. */
const Cursor = Schema.StringFromBase64.pipe(
  Schema.decodeTo(Schema.fromJsonString(Schema.Struct({ lastId: Schema.String, limit: Schema.Int })))
)

const cursorAfter = (id: string | number, limit: number) => Schema.encodeSync(Cursor)({ lastId: String(id), limit })

const decodeCursor = Schema.decodeOption(Cursor)

/** To n8n the limit in a cursor is the one that counts. */
const withLimit = (cursor: string, limit: number) =>
  Option.match(decodeCursor(cursor), { onNone: () => cursor, onSome: ({ lastId }) => cursorAfter(lastId, limit) })

/** n8n refuses a status that it does not know in a 400; that is the caller's value, not n8n's failure. */
const statusRefused = (error: Errors.ApiError, status: string) =>
  error.statusCode === 400 && (error.errorDetails ?? "").startsWith("request/query/status")
    ? new Errors.ValidationError({
      reason: `This n8n does not know the status '${status}'`,
      field: "status",
      ...(error.errorDetails === undefined ? {} : { errorDetails: error.errorDetails }),
      hint: "errorDetails lists the values that it knows."
    })
    : error

const isTimed = ({ startedAfter, startedBefore }: Omit<Query, "limit">) =>
  startedAfter !== undefined || startedBefore !== undefined

/** The execution endpoints of one n8n. */
export const make = Effect.fnUntraced(function*(requests: Requests) {
  const hasTimeFilter = yield* Ref.make(true)

  const page = ({ filter: _, ...query }: Query) =>
    getJson(requests, "/executions", Page, target, {
      ...query,
      cursor: query.cursor === undefined ? undefined : withLimit(query.cursor, query.limit)
    }).pipe(
      Effect.map(({ data, nextCursor }) => ({
        executions: data,
        ...(typeof nextCursor === "string" ? { nextCursor } : {})
      })),
      Effect.mapError((error) => error._tag === "ApiError" ? statusRefused(error, query.status ?? "") : error)
    )

  /** Newest first, so the search ends at the first execution that is too old. */
  const scan = Effect.fnUntraced(function*({ filter = Effect.succeed, limit, ...query }: Query) {
    const { startedAfter, startedBefore, ...untimed } = query
    const from = Date.parse(startedAfter ?? "") || -Infinity
    const until = Date.parse(startedBefore ?? "") || Infinity
    const isInTime = ({ startedAt }: ExecutionHead.Listed) =>
      !isTimed(query) || Date.parse(startedAt ?? "") >= from && Date.parse(startedAt ?? "") <= until
    const conditions = (yield* Ref.get(hasTimeFilter)) ? query : untimed
    const kept: Array<ExecutionHead.Listed> = []
    let cursor = query.cursor
    for (let pages = 0; pages < scanPages; pages++) {
      const { executions, nextCursor } = yield* page({ ...conditions, cursor, limit: scanPage })
      const wanted = yield* filter(executions.filter(isInTime))
      kept.push(...wanted.slice(0, limit - kept.length))
      const last = kept.at(-1)
      if (kept.length === limit && last !== undefined && (nextCursor !== undefined || last !== executions.at(-1))) {
        return { executions: kept, nextCursor: cursorAfter(last.id, limit) }
      }
      const isPast = executions.some(({ startedAt }) => Date.parse(startedAt ?? "") < from)
      if (kept.length === limit || isPast || nextCursor === undefined) return { executions: kept }
      cursor = nextCursor
    }
    return { executions: kept, ...(cursor === undefined ? {} : { nextCursor: cursor }) }
  })

  const listExecutions = Effect.fn("N8nClient.listExecutions")(function*(query: Query) {
    const listed = query.filter === undefined ? page(query) : scan(query)
    if (!isTimed(query)) return yield* listed
    if (!(yield* Ref.get(hasTimeFilter))) return yield* scan(query)
    return yield* listed.pipe(
      Effect.catchIf(isUnknownParameter, () => Effect.andThen(Ref.set(hasTimeFilter, false), scan(query)))
    )
  })

  return {
    listExecutions,
    executionHead: Effect.fn("N8nClient.executionHead")((id: string) =>
      getJson(requests, path(id), ExecutionHead.Listed, executionTarget("get execution", id))
    ),
    readExecution: <A>(id: string, options: ReadOptions, consume: ConsumeExecution<A>) =>
      requests.send(
        {
          method: "GET",
          path: path(id),
          query: { includeData: true, ...options },
          seconds: dataTimeout
        },
        executionTarget("get execution", id),
        (response, target) =>
          // What is large takes long by its nature, where somebody is told that it goes on.
          Effect.andThen(Deadline.grantIfHeard(dataTimeout * 1000), consume(response.stream, target))
      ).pipe(Effect.withSpan("N8nClient.readExecution")),
    retryExecution: Effect.fn("N8nClient.retryExecution")((id: string, loadWorkflow: boolean) =>
      sendJson(
        requests,
        {
          method: "POST",
          path: `${path(id)}/retry`,
          body: { loadWorkflow },
          seconds: dataTimeout,
          lateHint: { _tag: "FollowRetry" }
        },
        Retried,
        executionTarget("retry execution", id)
      )
    ),
    stopExecution: Effect.fn("N8nClient.stopExecution")((id: string) =>
      sendJson(
        requests,
        { method: "POST", path: `${path(id)}/stop` },
        Stopped,
        executionTarget("stop execution", id)
      )
    )
  } satisfies Service
})
