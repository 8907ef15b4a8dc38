import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Minimize from "../../answer/Minimize.ts"
import * as Tool from "../../answer/Tool.ts"
import { defined } from "../../base/Json.ts"
import { counted } from "../../base/Plural.ts"
import * as Visible from "../../base/Visible.ts"
import * as FailureGroups from "../../executions/FailureGroups.ts"
import * as Selection from "../../executions/Selection.ts"
import * as Triage from "../../executions/Triage.ts"
import * as WorkflowNames from "../../executions/WorkflowNames.ts"
import * as ExecutionHead from "../../n8n/model/ExecutionHead.ts"
import { N8nClient } from "../../n8n/N8nClient.ts"
import * as links from "../shared/Links.ts"
import * as parameters from "../shared/Parameters.ts"

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

/** Explains what the answer lacks and which call returns it. */
const continuation = ({ isComplete, nextCursor, note, runs }: Selection.Selection<unknown>, isGrouped: boolean) =>
  note === undefined && isGrouped && !isComplete && nextCursor !== undefined
    ? `Groups of the newest ${counted(runs.length, "execution")} only: raise limit or continue with cursor.`
    : note

type Group = typeof WorkflowGroup.Type | typeof FailureGroup.Type

const shortened = (group: Group): Group =>
  "message" in group
    ? defined({
      ...group,
      message: Minimize.fit(group.message, maxMessage),
      description: group.description && Minimize.fit(group.description, maxMessage)
    })
    : group

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
    ...Selection.parameters,
    groupBy: parameters.optional(
      Schema.Literals(["workflow", "failure"]),
      "workflow: run counts by status; failure: failed runs by node and error."
    ),
    limit: parameters.optional(
      Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 500 }, { message: "limit must be from 1 to 500" })),
      "Default 20, at most 100; with groupBy 200, at most 500."
    ),
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
  handler: ({ groupBy, limit, raw: _, ...query }) =>
    Effect.gen(function*() {
      if (groupBy === undefined && limit !== undefined && limit > maxRows) return yield* tooMany
      const { instance } = yield* N8nClient
      const selection = yield* Selection.select(
        { ...query, last: limit, defaultLast: groupBy === undefined ? 20 : 200 },
        (head) => groupBy === "failure" ? Triage.failure(head) : undefined
      )
      return { selection, url: links.executions(instance, selection.workflowId) }
    }),
  summarize: ({ selection, url }, { groupBy, raw }) => {
    const { isComplete, names, nextCursor, runs } = selection
    const hint = continuation(selection, groupBy !== undefined)
    const workflowName = (id: string | null | undefined) => names.get(id ?? "") ?? WorkflowNames.unknown
    if (groupBy !== undefined) {
      const groups = groupBy === "workflow"
        ? Triage.byWorkflow(runs.map(({ head }) => head))
        : FailureGroups.group(runs.flatMap(({ value }) => value ?? []))
      return defined({
        groups: groups.map((group) => defined({ ...group, workflowName: workflowName(group.workflowId) })),
        scanned: runs.length,
        complete: isComplete,
        nextCursor,
        hint
      })
    }
    return defined({
      count: runs.length,
      executions: runs.map(({ head }) => ({
        ...(raw ? head as { readonly [key: string]: Schema.Json } : {}),
        id: String(head.id),
        workflowId: head.workflowId ?? "",
        workflowName: workflowName(head.workflowId),
        status: Visible.label(head.status ?? "unknown"),
        startedAt: head.startedAt ?? null,
        stoppedAt: head.stoppedAt ?? null,
        executionTime: ExecutionHead.duration(head)
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
