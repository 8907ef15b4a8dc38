/** Executions: list, read, retry and stop; filters that n8n 1.x lacks are applied here. */
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import type * as HttpClientError from "effect/http/HttpClientError"
import * as Option from "effect/Option"
import * as Ref from "effect/Ref"
import * as Schema from "effect/Schema"
import type * as Stream from "effect/Stream"
import * as Deadline from "../base/Deadline.ts"
import * as Errors from "../base/Errors.ts"
import * as ExecutionHead from "./model/ExecutionHead.ts"
import { maxPage } from "./model/Limits.ts"
import { checked, pageOf, pages } from "./pages.ts"
import { pathOf } from "./paths.ts"
import { dataTimeout, getJson, isUnknownParameter, postJson, type Requests, targetOf } from "./requests.ts"

/** Conditions of executions, which must meet all of them. */
export interface Conditions {
  readonly workflowId?: string | undefined
  readonly status?: ExecutionHead.Status | undefined
  /** Of this project (needs a licence). */
  readonly projectId?: string | undefined
  /** The execution started at or after; a text without a time zone is in UTC. */
  readonly startedAfter?: DateTime.DateTime.Input | undefined
  /** The execution started at or before. */
  readonly startedBefore?: DateTime.DateTime.Input | undefined
  /** A filter that n8n does not have, applied to one page at a time. */
  readonly filter?:
    | ((
      executions: ReadonlyArray<ExecutionHead.Listed>
    ) => Effect.Effect<ReadonlyArray<ExecutionHead.Listed>, Errors.RequestError>)
    | undefined
}

/** A query for a page of executions. */
export interface Query extends Conditions {
  /** 1 to 250. Default: 100. */
  readonly limit?: number | undefined
  readonly cursor?: string | undefined
}

/** Options of reading; `ignoreDataSizeLimit` (2.x) also returns data that n8n withholds for its size. */
export interface ReadOptions {
  readonly ignoreDataSizeLimit?: boolean
}

/** Reads the body of an execution; called again if the connection breaks and the request is retried. */
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

const target: Errors.Target = { operation: "list executions" }

/** n8n numbers executions. */
const path = (id: string) => pathOf`/executions/${/^\d+$/.test(id) ? id : ""}`

const executionTarget = targetOf("Execution")

/** Maximum number of pages that one call scans for a filter that n8n does not have. */
const scanPages = 20

/** n8n's own cursor: continue after this id. */
const Cursor = Schema.StringFromBase64.pipe(
  Schema.decodeTo(Schema.fromJsonString(Schema.Struct({ lastId: Schema.String, limit: Schema.Int })))
)

/** Cursor that continues a list of executions after one of them. */
export const cursorAfter = (id: string | number, limit: number = maxPage): string =>
  Schema.encodeSync(Cursor)({ lastId: String(id), limit })

const decodeCursor = Schema.decodeOption(Cursor)

/** Replaces the limit in a cursor, which n8n prefers to the one in the query. */
const withLimit = (cursor: string, limit: number) =>
  Option.match(decodeCursor(cursor), { onNone: () => cursor, onSome: ({ lastId }) => cursorAfter(lastId, limit) })

/** Converts n8n's 400 for an unknown status, which is the caller's mistake. */
const fromStatusRefusal = (error: Errors.ApiError, status: string) =>
  Errors.statusOf(error) === 400 && error.reason.details.startsWith("request/query/status")
    ? new Errors.ValidationError({
      reason: `This n8n does not know the status '${status}'`,
      field: "status",
      errorDetails: error.reason.details,
      hint: { _tag: "ReadDetails", have: "Values" }
    })
    : error

/** A query as n8n takes it. */
interface Prepared extends Omit<Query, "limit" | "startedAfter" | "startedBefore"> {
  readonly limit: number
  readonly startedAfter?: string | undefined
  readonly startedBefore?: string | undefined
}

const isoTime = (field: "startedAfter" | "startedBefore", time: DateTime.DateTime.Input | undefined) =>
  time === undefined ? Effect.undefined : Option.match(DateTime.make(time), {
    onSome: (time) => Effect.succeed(DateTime.formatIso(time)),
    onNone: () => Errors.invalid(field, `${field} is not a time`, "Write it as ISO 8601, such as 2026-01-31T00:00:00Z.")
  })

const prepare = Effect.fnUntraced(function*(query: Query) {
  return {
    ...yield* checked({ ...query, limit: query.limit ?? 100 }),
    startedAfter: yield* isoTime("startedAfter", query.startedAfter),
    startedBefore: yield* isoTime("startedBefore", query.startedBefore)
  } satisfies Prepared
})

const hasTimes = ({ startedAfter, startedBefore }: Pick<Prepared, "startedAfter" | "startedBefore">) =>
  startedAfter !== undefined || startedBefore !== undefined

export const make = Effect.fnUntraced(function*(requests: Requests) {
  const supportsTimeFilter = yield* Ref.make(true)

  const page = ({ filter: _, ...query }: Prepared) =>
    getJson(requests, "/executions", Page, target, {
      ...query,
      cursor: query.cursor === undefined ? undefined : withLimit(query.cursor, query.limit)
    }).pipe(
      Effect.map(({ data, nextCursor }) => ({
        executions: data,
        ...(typeof nextCursor === "string" ? { nextCursor } : {})
      })),
      Effect.mapError((error) => error._tag === "ApiError" ? fromStatusRefusal(error, query.status ?? "") : error)
    )

  /** Pages through executions, newest first, until one is too old. */
  const scan = Effect.fnUntraced(function*({ filter = Effect.succeed, limit, ...query }: Prepared) {
    const { startedAfter, startedBefore, ...queryWithoutTimes } = query
    const from = Date.parse(startedAfter ?? "") || -Infinity
    const until = Date.parse(startedBefore ?? "") || Infinity
    const isInTime = ({ startedAt }: ExecutionHead.Listed) =>
      !hasTimes(query) || Date.parse(startedAt ?? "") >= from && Date.parse(startedAt ?? "") <= until
    const conditions = (yield* Ref.get(supportsTimeFilter)) ? query : queryWithoutTimes
    const results: Array<ExecutionHead.Listed> = []
    let cursor = query.cursor
    for (let pages = 0; pages < scanPages; pages++) {
      const { executions, nextCursor } = yield* page({ ...conditions, cursor, limit: maxPage })
      const matches = yield* filter(executions.filter(isInTime))
      results.push(...matches.slice(0, limit - results.length))
      const last = results.at(-1)
      if (results.length === limit && last !== undefined && (nextCursor !== undefined || last !== executions.at(-1))) {
        return { executions: results, nextCursor: cursorAfter(last.id, limit) }
      }
      const isPast = executions.some(({ startedAt }) => Date.parse(startedAt ?? "") < from)
      if (results.length === limit || isPast || nextCursor === undefined) return { executions: results }
      cursor = nextCursor
    }
    return { executions: results, ...(cursor === undefined ? {} : { nextCursor: cursor }) }
  })

  const listExecutions = Effect.fn("N8nClient.listExecutions")(function*(
    wanted: Query = {}
  ): Effect.fn.Return<
    { readonly executions: ReadonlyArray<ExecutionHead.Listed>; readonly nextCursor?: string },
    Errors.RequestError
  > {
    const query = yield* prepare(wanted)
    const listed = query.filter === undefined ? page(query) : scan(query)
    if (!hasTimes(query)) return yield* listed
    if (!(yield* Ref.get(supportsTimeFilter))) return yield* scan(query)
    return yield* listed.pipe(
      Effect.catchIf(isUnknownParameter, () => Effect.andThen(Ref.set(supportsTimeFilter, false), scan(query)))
    )
  })

  return {
    /**
     * `GET /executions`, newest first. `filter`, and on 1.x the time filters, are applied to at most 5,000 executions;
     * `nextCursor` then continues from there, even if fewer than `limit` matched.
     */
    listExecutions,
    /**
     * All executions that meet the conditions, newest first, a page at a time as they are asked for.
     *
     * **Example** (Failures since yesterday)
     *
     * ```ts
     * import { N8nClient } from "effect-n8n-mcp"
     * import { FakeN8n } from "effect-n8n-mcp/testing"
     * import * as DateTime from "effect/DateTime"
     * import * as Effect from "effect/Effect"
     * import * as Stream from "effect/Stream"
     *
     * export const failures = Effect.gen(function*() {
     *   const n8n = yield* N8nClient.N8nClient
     *   const since = DateTime.subtract(yield* DateTime.now, { days: 1 })
     *   const failed = n8n.streamExecutions({ status: "error", startedAfter: since })
     *   return yield* Stream.runCollect(Stream.map(failed, ({ id }) => id))
     * })
     *
     * export const test = failures.pipe(Effect.provide(FakeN8n.layer({ workflows: [], executions: [] })))
     * ```
     */
    streamExecutions: (query: Conditions = {}) =>
      pages(target, (cursor) =>
        Effect.map(
          listExecutions({ ...query, limit: maxPage, cursor }),
          ({ executions, nextCursor }) => [executions, nextCursor] as const
        )),
    /** `GET /executions/{id}`: status and times, without data. */
    executionHead: Effect.fn("N8nClient.executionHead")((id: string) =>
      getJson(requests, path(id), ExecutionHead.Listed, executionTarget("get execution", id))
    ),
    /** `GET /executions/{id}?includeData=true`; streams the bytes to `consume`. */
    readExecution: <A>(id: string, options: ReadOptions, consume: ConsumeExecution<A>) =>
      requests.send(
        { method: "GET", path: path(id), query: { includeData: true, ...options }, seconds: dataTimeout },
        executionTarget("get execution", id),
        (response, target) =>
          // A large execution may take long, if the caller sees the progress.
          Effect.andThen(Deadline.grantIfHeard(dataTimeout * 1000), consume(response.stream, target))
      ).pipe(Effect.withSpan("N8nClient.readExecution")),
    /** `POST /executions/{id}/retry`; returns when the new execution has ended. */
    retryExecution: Effect.fn("N8nClient.retryExecution")((id: string, loadWorkflow: boolean) =>
      postJson(requests, `${path(id)}/retry`, Retried, executionTarget("retry execution", id), {
        body: { loadWorkflow },
        seconds: dataTimeout,
        lateHint: { _tag: "FollowRetry" }
      })
    ),
    /** `POST /executions/{id}/stop` (2.x). */
    stopExecution: Effect.fn("N8nClient.stopExecution")((id: string) =>
      postJson(requests, `${path(id)}/stop`, Stopped, executionTarget("stop execution", id))
    )
  }
})
