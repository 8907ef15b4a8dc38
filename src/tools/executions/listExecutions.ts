import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Minimize from "../../answer/Minimize.ts"
import * as Tool from "../../answer/Tool.ts"
import { defined } from "../../base/Json.ts"
import { counted } from "../../base/Plural.ts"
import * as Visible from "../../base/Visible.ts"
import * as FailureGroups from "../../executions/FailureGroups.ts"
import * as Triage from "../../executions/Triage.ts"
import * as WorkflowNames from "../../executions/WorkflowNames.ts"
import * as ExecutionHead from "../../n8n/model/ExecutionHead.ts"
import { N8nClient } from "../../n8n/N8nClient.ts"
import * as links from "../shared/Links.ts"
import * as parameters from "../shared/Parameters.ts"

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

/** Executions of one workflow, counted by status. */
const WorkflowGroup = Schema.Struct({
  workflowId: Schema.String,
  workflowName: Schema.String,
  total: Schema.Int,
  byStatus: Schema.Record(Schema.String, Schema.Int),
  lastFailed: Schema.optionalKey(Schema.Struct({ id: Schema.String, at: Schema.NullOr(Schema.String) }))
})

/** Executions with the same failure; `executions` are the newest, at most three. */
const FailureGroup = Schema.Struct({
  workflowId: Schema.String,
  workflowName: Schema.String,
  node: Schema.optionalKey(Schema.String),
  message: Schema.String,
  description: Schema.optionalKey(Schema.String),
  count: Schema.Int,
  first: Schema.optionalKey(Schema.String),
  last: Schema.optionalKey(Schema.String),
  executions: Schema.Array(Schema.String)
})

/** Maximum number of rows in an ungrouped answer. */
const maxRows = 100

const maxGroupedChars = 9_000
const maxMessage = 300

const tooMany = parameters.invalid(
  "limit",
  `limit must be from 1 to ${maxRows}`,
  "With groupBy up to 500 are allowed; nextCursor continues after them."
)

const nothingNamed = (name: string | undefined, workflowId: string | undefined) =>
  `No workflow ${workflowId === undefined ? "" : "of this workflowId "}has ${
    JSON.stringify(name)
  } in its name: list_workflows lists the names.`

/** Explains what the answer lacks and which call returns it. */
const continuation = ({ executions, isListed, nextCursor, unread }: Triage.Triage, isGrouped: boolean) => {
  if (unread > 0) {
    return `${
      counted(unread, "failed execution")
    } not read yet: repeat the call; it reuses the executions already read.`
  }
  if (!isListed) return `Only ${counted(executions.length, "execution")} found so far: continue with cursor.`
  return isGrouped && nextCursor !== undefined
    ? `Groups of the newest ${counted(executions.length, "execution")} only: raise limit or continue with cursor.`
    : undefined
}

type Group = typeof WorkflowGroup.Type | typeof FailureGroup.Type

const shortened = (group: Group): Group =>
  "message" in group
    ? defined({
      ...group,
      message: Minimize.fit(group.message, maxMessage),
      description: group.description && Minimize.fit(group.description, maxMessage)
    })
    : group

const isoTime = (name: string, description: string) =>
  Schema.optionalKey(
    Schema.String.annotate({ description }).check(
      Schema.makeFilter((text) => !Number.isNaN(Date.parse(text)), {
        message: `${name} must be an ISO 8601 time such as 2026-01-31T00:00:00Z`
      })
    )
  )

const toIso = (time: string | undefined) => time === undefined ? undefined : new Date(time).toISOString()

/** `GET /executions`, newest first, with the names of their workflows; or grouped by workflow or failure. */
export const listExecutions = Tool.make({
  name: "list_executions",
  title: "List executions",
  searchHint: "execution history, runs, logs, failed, errors, last night, recent, who failed and why, triage",
  isEntry: true,
  description:
    "List runs, newest first. groupBy shows in one call what failed and why, over up to 500 runs. Next: get_execution with an id.",
  annotations: Tool.readOnly,
  scopes: ["execution:list"],
  partialScopes: {
    "execution:read": "groupBy failure",
    "workflow:list": "workflowName",
    "workflow:read": "names of workflows"
  },
  input: Schema.Struct({
    workflowId: parameters.optional(Schema.String.check(Schema.isMinLength(1)), "Only runs of this workflow."),
    workflowName: parameters.optional(
      Schema.String.check(Schema.isMinLength(1)),
      "Only runs of workflows whose name contains this."
    ),
    groupBy: parameters.optional(
      Schema.Literals(["workflow", "failure"]),
      "workflow: run counts by status; failure: failed runs by node and error."
    ),
    status: parameters.optional(Schema.Literals(statuses), "Only in this state."),
    limit: parameters.optional(
      Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 500 }, { message: "limit must be from 1 to 500" })),
      "Default 20, at most 100; with groupBy 200, at most 500."
    ),
    cursor: parameters.cursor,
    startedAfter: isoTime("startedAfter", "Started at or after, ISO 8601."),
    startedBefore: isoTime("startedBefore", "Started before."),
    raw: parameters.flag("Adds mode, retries and all other fields.")
  }),
  output: Schema.Struct({
    count: Schema.optionalKey(Schema.Int),
    executions: Schema.optionalKey(Schema.Array(Row)),
    /** Replaces `executions` with groupBy. */
    groups: Schema.optionalKey(Schema.Array(Schema.Union([WorkflowGroup, FailureGroup]))),
    /** Number of executions in the groups. */
    scanned: Schema.optionalKey(Schema.Int),
    /** Whether the groups cover all executions that match the filters, from the cursor on. */
    complete: Schema.optionalKey(Schema.Boolean),
    nextCursor: Schema.optionalKey(Schema.String),
    url: Schema.optionalKey(Schema.String),
    hint: Schema.optionalKey(Schema.String)
  }),
  handler: ({ groupBy, limit = groupBy === undefined ? 20 : 200, raw: _, workflowName, ...query }) =>
    Effect.gen(function*() {
      if (groupBy === undefined && limit > maxRows) return yield* tooMany
      const { instance } = yield* N8nClient
      const narrowed = workflowName === undefined ? {} : yield* WorkflowNames.matching(workflowName)
      const isEmpty = narrowed === undefined ||
        query.workflowId !== undefined && narrowed.workflowId !== undefined && query.workflowId !== narrowed.workflowId
      const url = links.executions(instance, narrowed?.workflowId ?? query.workflowId)
      if (isEmpty) return { triage: Triage.nothing, url, hint: nothingNamed(workflowName, query.workflowId) }
      const triage = yield* Triage.triage({
        ...query,
        ...narrowed,
        limit,
        startedAfter: toIso(query.startedAfter),
        startedBefore: toIso(query.startedBefore)
      }, { failures: groupBy === "failure" })
      return { triage, url, hint: continuation(triage, groupBy !== undefined) }
    }),
  summarize: ({ hint, triage, url }, { groupBy, raw }) => {
    const { executions, failed, isListed, names, nextCursor, unread } = triage
    const workflowName = (id: string | null | undefined) => names.get(id ?? "") ?? WorkflowNames.unknown
    if (groupBy !== undefined) {
      const groups = groupBy === "workflow" ? Triage.byWorkflow(executions) : FailureGroups.group(failed)
      return defined({
        groups: groups.map((group) => defined({ ...group, workflowName: workflowName(group.workflowId) })),
        scanned: executions.length,
        complete: isListed && nextCursor === undefined && unread === 0,
        nextCursor,
        hint
      })
    }
    return defined({
      count: executions.length,
      executions: executions.map((execution) => ({
        ...(raw ? execution as { readonly [key: string]: Schema.Json } : {}),
        id: String(execution.id),
        workflowId: execution.workflowId ?? "",
        workflowName: workflowName(execution.workflowId),
        status: Visible.label(execution.status ?? "unknown"),
        startedAt: execution.startedAt ?? null,
        stoppedAt: execution.stoppedAt ?? null,
        executionTime: ExecutionHead.duration(execution)
      })),
      nextCursor,
      url,
      hint
    })
  },
  message: ({ count = 0, scanned = 0 }, { groupBy }) => ({
    en: groupBy === undefined
      ? `Found ${counted(count, "execution")}`
      : groupBy === "workflow"
      ? `${counted(scanned, "execution")} by workflow`
      : `Failures among ${counted(scanned, "execution")}`,
    ja: "実行履歴を取得しました"
  }),
  next: ({ groupBy, limit = 20 }) => (path) => {
    if (path === "executions" && limit > 1) return `list_executions(limit: ${Math.ceil(limit / 2)})`
    return path === "groups" ? `list_executions(groupBy: '${groupBy}', workflowId: '…')` : undefined
  },
  maxChars: ({ groups }) => groups === undefined ? Infinity : maxGroupedChars,
  trim: (data) => data.groups === undefined ? data : { ...data, groups: data.groups.map(shortened) }
})
