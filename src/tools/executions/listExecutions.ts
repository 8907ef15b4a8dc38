import * as Effect from "effect/Effect"
import { sumAll } from "effect/Number"
import * as Schema from "effect/Schema"
import * as Hints from "../../answer/Hints.ts"
import * as Tool from "../../answer/Tool.ts"
import { defined } from "../../base/Json.ts"
import { counted } from "../../base/Plural.ts"
import * as Visible from "../../base/Visible.ts"
import * as ItemView from "../../executions/ItemView.ts"
import * as Selection from "../../executions/Selection.ts"
import * as Triage from "../../executions/Triage.ts"
import * as links from "../../n8n/Links.ts"
import * as ExecutionHead from "../../n8n/model/ExecutionHead.ts"
import { cursorAfter, isV1, N8nClient } from "../../n8n/N8nClient.ts"
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

const Failed = Schema.Struct({ id: Schema.String, at: Schema.NullOr(Schema.String) })

const WorkflowGroup = Schema.Struct({
  workflowId: Schema.String,
  workflowName: Schema.String,
  total: Schema.Int,
  byStatus: Schema.Record(Schema.String, Schema.Int),
  lastFailed: Schema.optionalKey(Failed)
})

/** Executions with the same failure, newest first. For a model, `workflowId` is omitted if the name is unique. */
const FailureGroup = Schema.Struct({
  workflowId: Schema.String,
  workflowName: Schema.String,
  node: Schema.optionalKey(Schema.String),
  /** Error message with placeholders, such as `{1}`, for the parts that vary. */
  message: Schema.String,
  description: Schema.optionalKey(Schema.String),
  httpCode: Schema.optionalKey(Schema.String),
  /** Workflow that the failing node called, whose failures show the cause. */
  subWorkflow: Schema.optionalKey(Schema.String),
  /** `{distinct, values}` of each placeholder. */
  varies: Schema.optionalKey(
    Schema.Record(Schema.String, Schema.Struct({ distinct: Schema.Int, values: Schema.Array(Schema.String) }))
  ),
  count: Schema.Int,
  /** Failed runs of the sub-workflow itself, which are not counted. */
  also: Schema.optionalKey(Schema.String),
  /** Number of those that a retry has repaired. */
  retried: Schema.optionalKey(Schema.Int),
  first: Schema.optionalKey(Schema.String),
  last: Schema.optionalKey(Schema.String),
  executions: Schema.Array(Schema.String)
})

/** Node over all executions in which it ran; times in milliseconds. The time of `within` and `calledBy` includes its time. */
const NodeGroup = Schema.Struct({
  workflow: Schema.String,
  node: Schema.String,
  within: Schema.optionalKey(Schema.String),
  calledBy: Schema.optionalKey(Schema.String),
  executions: Schema.Int,
  runs: Schema.Int,
  time: Schema.Struct({ total: Schema.Finite, p50: Schema.Finite, p95: Schema.Finite, share: Schema.Finite }),
  items: Schema.Struct({ p50: Schema.Int, max: Schema.Int }),
  bytes: Schema.optionalKey(Schema.Struct({ p50: Schema.Int, max: Schema.Int })),
  tokens: Schema.optionalKey(
    Schema.Struct({
      prompt: Schema.Finite,
      completion: Schema.Finite,
      p50: Schema.Finite,
      max: Schema.Finite,
      estimated: Schema.optionalKey(Schema.Literal(true))
    })
  )
})

const VersionGroup = Schema.Struct({
  workflow: Schema.String,
  version: Schema.optionalKey(Schema.String),
  publishedAt: Schema.optionalKey(Schema.String),
  savedAt: Schema.optionalKey(Schema.String),
  runs: Schema.Int,
  failed: Schema.Int,
  firstFailure: Schema.optionalKey(Failed)
})

const maxRuns = 500

const read = (groupBy: (typeof Triage.groupings)[number] | undefined, query: Triage.Query, redact: boolean) => {
  switch (groupBy) {
    case "workflow":
      return Effect.map(Triage.byWorkflow(query), (result) => ({ groupBy, ...result }))
    case "failure":
      return Effect.map(Triage.byFailure({ ...query, redact }), (result) => ({ groupBy, ...result }))
    case "node":
      return Effect.map(Triage.byNode(query), (result) => ({ groupBy, ...result }))
    case "version":
      return Effect.map(Triage.byVersion(query), (result) => ({ groupBy, ...result }))
  }
  return Effect.map(Triage.list(query), (result) => ({ groupBy, ...result }))
}

type Result = Effect.Success<ReturnType<typeof read>>

const remarks = (result: Result) => {
  const { groupBy, hint, nextCursor, note, runs } = result
  return ItemView.joinNotes([
    note === undefined && groupBy !== undefined && nextCursor !== undefined
      ? `Groups of these ${counted(runs.length, "execution")} only: ${
        runs.length < maxRuns ? "raise limit or " : ""
      }continue with cursor.`
      : note,
    Hints.text(hint),
    ...(groupBy !== "node" ? [] : [
      ItemView.noteAbout(
        result.empty,
        "execution",
        (some) => `${some} without data: not saved by n8n, or not started.`
      ),
      ItemView.hiddenNotes.sizes(result.redacted)
    ])
  ])
}

type Group = typeof WorkflowGroup.Type | typeof FailureGroup.Type | typeof NodeGroup.Type | typeof VersionGroup.Type

const isSharedName = (workflows: ReadonlyArray<{ readonly name: string }>) => (name: string) =>
  workflows.filter((workflow) => workflow.name === name).length > 1

const groupsOf = (result: Result, name: (workflowId: string) => string): ReadonlyArray<Group> => {
  const labelled = <A extends { readonly workflowId: string }>({ workflowId, ...rest }: A) => ({
    workflow: name(workflowId),
    ...rest
  })
  switch (result.groupBy) {
    case "workflow":
      return result.groups.map(({ failed: _, lastFailed, workflowId, ...rest }) =>
        defined({ workflowId, workflowName: name(workflowId), ...rest, lastFailed })
      )
    case "failure":
      return result.groups.map(({ called, subRuns, workflowId, ...rest }) =>
        defined({
          workflowId,
          workflowName: name(workflowId),
          ...rest,
          subWorkflow: called && name(called),
          also: subRuns === undefined ? undefined : `${counted(subRuns, "run")} of the sub-workflow itself`
        })
      )
    case "node":
      return result.groups.map((row) => defined({ ...labelled(row), calledBy: row.calledBy && name(row.calledBy) }))
    case "version":
      return result.groups.map(labelled)
  }
  return []
}

/** `GET /executions`, newest first, with the names of their workflows; or grouped. */
export const listExecutions = Tool.make({
  name: "list_executions",
  title: "List executions",
  searchHint: "execution history, runs, logs, failures, last night, triage, slow, profile, tokens",
  isEntry: true,
  description: "List runs, newest first. groupBy summarizes up to 500: what failed and why, where time goes.",
  annotations: Tool.readOnly,
  scopes: ["execution:list"],
  partialScopes: {
    "execution:read": "groupBy failure, node and version",
    "workflow:list": "workflowName",
    "workflow:read": "names of workflows"
  },
  unlisted: { offset: "never" },
  input: Schema.Struct({
    ...Selection.parameters,
    groupBy: parameters.optional(
      Schema.Literals(Triage.groupings),
      "failure: by error; node: time, items, bytes, tokens."
    ),
    limit: parameters.optionalInt(
      "limit",
      { minimum: 1, maximum: maxRuns },
      "20; groupBy 200, node 50."
    ),
    raw: parameters.flag("All fields; with groupBy all groups."),
    offset: parameters.offset("offset", "Groups to skip.")
  }),
  output: Schema.Struct({
    count: Schema.optionalKey(Schema.Int),
    executions: Schema.optionalKey(Schema.Array(Row)),
    /** Groups instead of `executions`, with groupBy. */
    groups: Schema.optionalKey(Schema.Array(Schema.Union([WorkflowGroup, FailureGroup, NodeGroup, VersionGroup]))),
    /** Slow or fragile parts, largest effect first. */
    findings: Schema.optionalKey(
      Schema.Array(
        Schema.Struct({ workflow: Schema.String, node: Schema.String, finding: Schema.String, detail: Schema.String })
      )
    ),
    /** All workflows among the executions, most failures first. */
    workflows: Schema.optionalKey(
      Schema.Array(Schema.Struct({ id: Schema.String, name: Schema.String, runs: Schema.Int, failed: Schema.Int }))
    ),
    /** Number of failures in the groups; that of a sub-workflow's run and its caller is one. */
    failed: Schema.optionalKey(Schema.Int),
    /** Number of executions in the groups. */
    scanned: Schema.optionalKey(Schema.Int),
    /** Whether the groups cover all executions that match from the cursor on. */
    complete: Schema.optionalKey(Schema.Boolean),
    nextCursor: Schema.optionalKey(Schema.String),
    url: Schema.optionalKey(Schema.String),
    hint: Schema.optionalKey(Schema.String)
  }),
  handler: ({ groupBy, limit, offset: _, raw: __, ...query }) =>
    Effect.gen(function*() {
      const { instance, release } = yield* N8nClient
      if (groupBy === "version" && isV1(yield* release)) {
        return yield* parameters.invalid(
          "groupBy",
          "n8n 1 does not record which version of a workflow ran",
          "groupBy 'failure' with startedBefore and startedAfter compares the runs before and after a change."
        )
      }
      const result: Result = yield* read(groupBy, { ...query, last: limit }, yield* Tool.RedactSecrets)
      return { result, url: links.executions(instance, result.workflowId) }
    }),
  ending: ({ result, url }) => ({
    // Groups are about all of the executions.
    size: result.groupBy === undefined ? result.runs.length : 0,
    after: (count) => {
      const runs = result.runs.slice(0, count)
      const last = runs.at(-1)
      return { url, result: { ...result, runs, nextCursor: last && cursorAfter(last.head.id) } as Result }
    }
  }),
  summarize: ({ result, url }, { groupBy, raw }) => {
    const { isComplete, names, nextCursor, runs } = result
    const hint = remarks(result)
    const nameOf = (id: string | null | undefined) => names.get(id ?? "") ?? (id || Selection.unknownWorkflow)
    if (groupBy !== undefined) {
      const workflows = Triage.countByWorkflow(runs.map(({ head }) => head))
        .map(({ failed, total, workflowId }) => ({ id: workflowId, name: nameOf(workflowId), runs: total, failed }))
      const isShared = isSharedName(workflows)
      const label = (id: string) => isShared(nameOf(id)) ? `${nameOf(id)} (${id})` : nameOf(id)
      const isById = groupBy === "workflow" || groupBy === "failure"
      return defined({
        groups: groupsOf(result, isById ? nameOf : label),
        findings: result.groupBy !== "node"
          ? undefined
          : result.findings.map(({ workflowId, ...rest }) => ({ workflow: label(workflowId), ...rest })),
        workflows: groupBy === "workflow" ? undefined : workflows,
        failed: result.groupBy === "failure" ? sumAll(result.groups.map(({ count }) => count)) : undefined,
        scanned: runs.length,
        complete: isComplete && nextCursor === undefined,
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
        workflowName: nameOf(head.workflowId),
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
  message: ({ count = 0, failed = 0, scanned = 0, workflows = [] }, { groupBy }) => {
    const runs = sumAll(workflows.map((each) => each.failed))
    const once = failed < runs ? `, ${failed} apart from their sub-runs` : ""
    return {
      en: groupBy === undefined
        ? `Found ${counted(count, "execution")}`
        : groupBy === "failure"
        ? `${Math.max(runs, failed)} of ${counted(scanned, "execution")} failed${once}`
        : `${counted(scanned, "execution")} by ${groupBy}`,
      ja: "実行履歴を取得しました"
    }
  },
  paged: ["groups"],
  next: ({ offset, raw, ...rest }) => (path, count) =>
    path === "groups" && !raw
      ? Hints.call("list_executions", { ...rest, offset: offset + count, raw: true })
      : undefined,
  budget: (data, { groupBy, raw }) =>
    data.groups === undefined ? {} : {
      total: raw ? Infinity : groupBy === "node" ? 3_000 : 9_000,
      lists: { "groups[].executions": 50 },
      rooms: { "groups[].message": 300, "groups[].description": 300, "groups[].varies.*.values[]": 80 }
    }
})
