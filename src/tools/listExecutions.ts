import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Execution from "../domain/executions/Execution.ts"
import { defined } from "../domain/Json.ts"
import { truncated } from "../domain/Truncated.ts"
import { N8nClient } from "../N8nClient.ts"
import * as Tool from "../Tool.ts"
import * as links from "./links.ts"
import * as parameters from "./parameters.ts"

const statuses = ["success", "error", "waiting", "running", "canceled", "crashed"] as const

const Row = Schema.StructWithRest(
  Schema.Struct({
    id: Schema.String,
    workflowId: Schema.String,
    workflowName: Schema.String,
    status: Schema.String,
    startedAt: Schema.NullOr(Schema.String),
    stoppedAt: Schema.NullOr(Schema.String),
    /** Milliseconds. */
    executionTime: Schema.NullOr(Schema.Finite)
  }),
  [Schema.Record(Schema.String, Schema.Json)]
)

/** A name that cannot be had must not cost the list. */
const unknownName = "Unknown Workflow"

const isoTime = (name: string, description: string) =>
  Schema.optionalKey(
    Schema.String.annotate({ description }).check(
      Schema.makeFilter((text) => !Number.isNaN(Date.parse(text)), {
        message: `${name} must be an ISO 8601 time such as 2026-01-31T00:00:00Z`
      })
    )
  )

const normalized = (time: string | undefined) => time === undefined ? undefined : new Date(time).toISOString()

/** `GET /executions`, newest first, with the names of their workflows. */
export const listExecutions = Tool.make({
  name: "list_executions",
  title: "List executions",
  searchHint: "execution history, runs, logs, failed, errors, last night, recent",
  description:
    "List past and present runs, newest first: what ran, when, and whether it failed. Next: get_execution with an id.",
  annotations: Tool.readOnly,
  scopes: ["execution:list", "workflow:read"],
  input: Schema.Struct({
    workflowId: Schema.optionalKey(
      Schema.String.check(Schema.isMinLength(1)).annotate({ description: "Only runs of this workflow." })
    ),
    status: Schema.optionalKey(Schema.Literals(statuses).annotate({ description: "Only runs in this state." })),
    limit: parameters.limit,
    cursor: parameters.cursor,
    startedAfter: isoTime("startedAfter", "Only runs started from this time on, ISO 8601."),
    startedBefore: isoTime("startedBefore", "Only runs started before this time, ISO 8601."),
    raw: parameters.raw("Adds mode, retries and whatever else n8n tells.")
  }),
  output: Schema.Struct({
    count: Schema.Int,
    executions: Schema.Array(Row),
    nextCursor: Schema.optionalKey(Schema.String),
    url: Schema.String,
    ...truncated
  }),
  handler: ({ raw: _, ...query }) =>
    Effect.gen(function*() {
      const n8n = yield* N8nClient
      const page = yield* n8n.listExecutions({
        ...query,
        startedAfter: normalized(query.startedAfter),
        startedBefore: normalized(query.startedBefore)
      })
      const ids = [
        ...new Set(page.executions.flatMap(({ workflowId }) => typeof workflowId === "string" ? [workflowId] : []))
      ]
      const names = yield* Effect.forEach(
        ids,
        (id) =>
          n8n.workflowName(id).pipe(Effect.orElseSucceed(() => unknownName), Effect.map((name) => [id, name] as const)),
        { concurrency: 4 }
      )
      return { page, names: new Map(names), url: links.executions(n8n.instance, query.workflowId) }
    }),
  summarize: ({ names, page, url }, { raw }) =>
    defined({
      count: page.executions.length,
      executions: page.executions.map((execution) => ({
        ...(raw ? execution as { readonly [key: string]: Schema.Json } : {}),
        id: String(execution.id),
        workflowId: execution.workflowId ?? "",
        workflowName: names.get(execution.workflowId ?? "") ?? unknownName,
        status: execution.status ?? "unknown",
        startedAt: execution.startedAt ?? null,
        stoppedAt: execution.stoppedAt ?? null,
        executionTime: Execution.duration(execution)
      })),
      nextCursor: page.nextCursor,
      url
    }),
  message: ({ count }) => ({ en: `Found ${count} execution${count === 1 ? "" : "s"}`, ja: "実行履歴を取得しました" }),
  next: ({ limit }) => (path) =>
    path === "executions" && limit > 1 ? `list_executions(limit: ${Math.ceil(limit / 2)})` : undefined
})
