/** The execution endpoints, and what n8n 1.x lacks of them. */
import * as Effect from "effect/Effect"
import type * as HttpClientError from "effect/http/HttpClientError"
import * as Option from "effect/Option"
import * as Ref from "effect/Ref"
import * as Schema from "effect/Schema"
import type * as Stream from "effect/Stream"
import * as Execution from "../domain/executions/Execution.ts"
import * as N8nError from "../N8nError.ts"
import { dataTimeout, getJson, type Requests } from "./Requests.ts"

/** Which executions; all conditions hold together. */
export interface Query {
  readonly workflowId?: string | undefined
  readonly status?: string | undefined
  /** 1 to 100. */
  readonly limit: number
  readonly cursor?: string | undefined
  /** ISO 8601; the execution started at or after. */
  readonly startedAfter?: string | undefined
  /** ISO 8601; the execution started at or before. */
  readonly startedBefore?: string | undefined
}

/** `ignoreDataSizeLimit` (2.x): the data too that n8n keeps back because it is large. */
export interface ReadOptions {
  readonly ignoreDataSizeLimit?: boolean
}

/** Reads the body of an execution; called anew when the body breaks off and the request is repeated. */
export type ConsumeExecution<A> = (
  body: Stream.Stream<Uint8Array, HttpClientError.HttpClientError>,
  target: N8nError.Target
) => Effect.Effect<A, HttpClientError.HttpClientError | N8nError.N8nError>

const Page = Schema.Struct({
  data: Schema.Array(Execution.Listed),
  nextCursor: Schema.optionalKey(Schema.NullOr(Schema.String))
})

const target: N8nError.Target = { operation: "list executions" }

/** What a request about one execution is about. */
export const executionTarget = (operation: string, id: string): N8nError.Target => ({
  operation,
  resourceType: "Execution",
  resourceId: id
})

/** n8n 1.x has no time filter: this many executions are looked through in one call. */
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
const statusRefused = (error: N8nError.Api, status: string) =>
  error.statusCode === 400 && (error.errorDetails ?? "").startsWith("request/query/status")
    ? new N8nError.Validation({
      reason: `This n8n does not know the status '${status}'`,
      field: "status",
      ...(error.errorDetails === undefined ? {} : { errorDetails: error.errorDetails }),
      hint: "errorDetails lists the values that it knows."
    })
    : error

const isUnknownParameter = (error: N8nError.N8nError) =>
  error._tag === "ApiError" && error.statusCode === 400 &&
  /Unknown query parameter '(startedAfter|startedBefore)'/.test(error.errorDetails ?? "")

export const make = Effect.fnUntraced(function*(requests: Requests) {
  const hasTimeFilter = yield* Ref.make(true)

  const page = (query: Query) =>
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
  const scan = Effect.fnUntraced(function*({ startedAfter, startedBefore, ...query }: Query) {
    const from = Date.parse(startedAfter ?? "") || -Infinity
    const until = Date.parse(startedBefore ?? "") || Infinity
    const kept: Array<Execution.Listed> = []
    let cursor = query.cursor
    for (let pages = 0; pages < scanPages; pages++) {
      const { executions, nextCursor } = yield* page({ ...query, cursor, limit: scanPage })
      for (const execution of executions) {
        const started = Date.parse(execution.startedAt ?? "")
        if (started < from) return { executions: kept }
        if (started > until || Number.isNaN(started)) continue
        kept.push(execution)
        if (kept.length === query.limit) {
          return { executions: kept, nextCursor: cursorAfter(execution.id, query.limit) }
        }
      }
      if (nextCursor === undefined) return { executions: kept }
      cursor = nextCursor
    }
    return { executions: kept, ...(cursor === undefined ? {} : { nextCursor: cursor }) }
  })

  const list = Effect.fn("N8nClient.listExecutions")(function*(query: Query) {
    const timed = query.startedAfter !== undefined || query.startedBefore !== undefined
    if (!timed) return yield* page(query)
    if (!(yield* Ref.get(hasTimeFilter))) return yield* scan(query)
    return yield* page(query).pipe(
      Effect.catchIf(isUnknownParameter, () => Effect.andThen(Ref.set(hasTimeFilter, false), scan(query)))
    )
  })

  return {
    listExecutions: list,
    executionHead: Effect.fn("N8nClient.executionHead")((id: string) =>
      getJson(requests, `/executions/${encodeURIComponent(id)}`, Execution.Listed, executionTarget("get execution", id))
    ),
    readExecution: <A>(id: string, options: ReadOptions, consume: ConsumeExecution<A>) =>
      requests.send(
        {
          method: "GET",
          path: `/executions/${encodeURIComponent(id)}`,
          query: { includeData: true, ...options },
          seconds: dataTimeout
        },
        executionTarget("get execution", id),
        (response, target) => consume(response.stream, target)
      ).pipe(Effect.withSpan("N8nClient.readExecution"))
  }
})
