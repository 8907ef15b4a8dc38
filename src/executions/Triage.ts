/** Overview of many executions: how often each workflow and each of its versions failed, and why. */
import * as Effect from "effect/Effect"
import { identity } from "effect/Function"
import { defined } from "../base/Json.ts"
import { redactText } from "../base/Redact.ts"
import * as Rows from "../base/Rows.ts"
import type * as ExecutionHead from "../n8n/model/ExecutionHead.ts"
import * as Publications from "../n8n/model/Publications.ts"
import { N8nClient } from "../n8n/N8nClient.ts"
import * as Execution from "./Execution.ts"
import { Executions } from "./Executions.ts"
import * as FailureGroups from "./FailureGroups.ts"
import * as Profile from "./Profile.ts"
import * as Selection from "./Selection.ts"
import * as SubRuns from "./SubRuns.ts"

export type { Selected, Selection } from "./Selection.ts"

const hasFailed = ({ status }: ExecutionHead.Listed) => status === "error" || status === "crashed"

const workflowOf = ({ workflowId }: ExecutionHead.Listed) => workflowId ?? ""

/** Message of n8n that says nothing of what failed in the sub-workflow. */
const isOfItem = ({ message }: FailureGroups.Failure) => message.startsWith("Error executing workflow with item")

/** Cause of a failure in the sub-workflow's run, at the node of the caller; the failure itself if it is not found. */
const causeOf = Effect.fnUntraced(function*(id: string, failure: FailureGroups.Failure) {
  const execution = yield* Executions.use((executions) => executions.get(id))
  const child = Execution.failedSubRun(execution, (yield* SubRuns.of(execution)).runs)
  const cause = child && (yield* Executions.use((executions) => executions.failure(child.executionId)))
  return cause === undefined
    ? failure
    : defined({ ...cause, node: failure.node, called: child?.workflowId, calledRun: child?.executionId })
}, (effect, _, failure) => Effect.orElseSucceed(effect, () => failure))

const readFailure = Effect.fnUntraced(function*(execution: ExecutionHead.Listed) {
  const { id, startedAt, status } = execution
  const own = yield* Executions.use((executions) => executions.failure(String(id))).pipe(
    // n8n may have pruned it since it was listed.
    Effect.catchTag("NotFoundError", () => Effect.succeed(undefined))
  )
  const failure = own === undefined || !isOfItem(own) ? own : yield* causeOf(String(id), own)
  return {
    ...(failure ?? { message: `n8n recorded no error (status ${status})` }),
    id: String(id),
    workflowId: workflowOf(execution),
    isRetried: (execution["retrySuccessId"] ?? undefined) !== undefined,
    ...(typeof startedAt === "string" ? { at: startedAt } : {})
  } satisfies FailureGroups.Failed
})

const failedOf = (execution: ExecutionHead.Listed | undefined) =>
  execution && { id: String(execution.id), at: execution.startedAt ?? null }

/** Counts executions, newest first, by workflow: most failures first, and of each the newest one. */
export const countByWorkflow = (executions: ReadonlyArray<ExecutionHead.Listed>) =>
  [...Map.groupBy(executions, workflowOf)]
    .map(([workflowId, all]) => {
      const failed = all.filter(hasFailed)
      return {
        workflowId,
        total: all.length,
        failed: failed.length,
        byStatus: Rows.counts(all, ({ status }) => status ?? "unknown"),
        lastFailed: failedOf(failed[0])
      }
    })
    .toSorted((a, b) => b.failed - a.failed || b.total - a.total)

const maxHistories = 20

/** Times of a workflow's versions; empty if they cannot be read, as of a deleted workflow. */
const historyOf = Effect.fnUntraced(function*(workflowId: string) {
  const n8n = yield* N8nClient
  const [workflow, versions = []] = yield* Effect.all([
    n8n.getWorkflow(workflowId).pipe(Effect.orElseSucceed(() => undefined)),
    n8n.workflowHistory(workflowId).pipe(Effect.orElseSucceed(() => undefined))
  ])
  const at = Publications.liveSince(Publications.of(workflow))
  return {
    savedAt: new Map(versions.map(({ createdAt, versionId }) => [versionId, createdAt])),
    published: workflow?.activeVersionId,
    publishedAt: at === undefined ? undefined : new Date(at).toISOString()
  }
})

/** Groups executions, newest first, by version: workflows with most failures first, and of each the newest first. */
const groupByVersion = Effect.fnUntraced(function*(runs: ReadonlyArray<Selection.Selected<string | undefined>>) {
  const workflows = countByWorkflow(runs.map(({ head }) => head)).map(({ workflowId }) => workflowId)
  const histories = yield* Effect.forEach(workflows.slice(0, maxHistories), historyOf, { concurrency: 4 })
  return workflows.flatMap((workflowId, index) => {
    const history = histories[index]
    const own = runs.filter(({ head }) => workflowOf(head) === workflowId)
    return [...Map.groupBy(own, ({ value }) => value)].map(([version, all]) => {
      const failed = all.filter(({ head }) => hasFailed(head))
      return defined({
        workflowId,
        version,
        // n8n reports the last publication of the published version only.
        publishedAt: version !== undefined && version === history?.published ? history.publishedAt : undefined,
        savedAt: history?.savedAt.get(version ?? ""),
        runs: all.length,
        failed: failed.length,
        firstFailure: failedOf(failed.at(-1)?.head)
      })
    })
  })
})

/** Ways to group executions. */
export const groupings = ["workflow", "failure", "node", "version"] as const

/** Executions to group: all conditions hold, and of those at most the newest `last`, older than a `cursor`. */
export interface Query extends Omit<Selection.Query, "defaultLast"> {}

type Element<A extends ReadonlyArray<unknown>> = A[number]

/** Executions of a workflow, counted. */
export interface WorkflowGroup extends Element<ReturnType<typeof countByWorkflow>> {}

/** Executions with the same failure: messages that differ only in values are one, with placeholders such as `{1}`. */
export interface FailureGroup extends Element<ReturnType<typeof FailureGroups.group>> {}

/** Time, items and tokens of a node over all executions in which it ran. */
export interface NodeGroup extends Element<Profile.Profile["rows"]> {}

/** Executions of a version of a workflow, counted. */
export interface VersionGroup extends Element<Effect.Success<ReturnType<typeof groupByVersion>>> {}

/** Selected executions in groups, with what was read of each. */
export interface Groups<out G, out A = unknown> extends Selection.Selection<A> {
  readonly groups: ReadonlyArray<G>
}

/** Executions by node, with the causes of slowness. */
export interface NodeGroups extends Groups<NodeGroup, Profile.Use>, Omit<Profile.Profile, "rows"> {}

/** Selects executions and reads nothing but the list. */
export const list = (query: Query, defaultLast = 20) =>
  Selection.select<never, never>({ ...query, defaultLast }, () => undefined)

/** Groups executions by workflow, most failures first; of at most 200 unless `last` is set. */
export const byWorkflow = Effect.fn("Triage.byWorkflow")(function*(query: Query) {
  const selection = yield* list(query, 200)
  const groups: ReadonlyArray<WorkflowGroup> = countByWorkflow(selection.runs.map(({ head }) => head))
  const result: Groups<WorkflowGroup, never> = { ...selection, groups }
  return result
})

/**
 * Groups failed executions by their failure, most frequent first; of at most 200 executions unless `last` is set. With
 * `redact` secrets in messages are redacted.
 *
 * **Example** (Failures of a day)
 *
 * ```ts
 * import { Executions, Triage } from "effect-n8n-mcp"
 * import { FakeN8n } from "effect-n8n-mcp/testing"
 * import * as DateTime from "effect/DateTime"
 * import * as Effect from "effect/Effect"
 * import * as Layer from "effect/Layer"
 *
 * export const report = Effect.gen(function*() {
 *   const startedAfter = DateTime.subtract(yield* DateTime.now, { days: 1 })
 *   const { groups, names } = yield* Triage.byFailure({ startedAfter, last: 500 })
 *   return groups.map(({ count, message, workflowId }) => `${count} x ${names.get(workflowId)}: ${message}`)
 * })
 *
 * export const test = report.pipe(
 *   Effect.provide(Layer.merge(FakeN8n.layer({ workflows: [], executions: [] }), Executions.layer()))
 * )
 * ```
 */
export const byFailure = Effect.fn("Triage.byFailure")(
  function*({ redact = false, ...query }: Query & { readonly redact?: boolean | undefined }) {
    const clean = redact ? redactText : identity<string>
    const all = { ...query, defaultLast: 200 }
    const selection = yield* Selection.select(all, (head) => hasFailed(head) ? readFailure(head) : undefined)
    const failed = selection.runs.flatMap(({ value }) => value ?? []).map((each) => ({
      ...each,
      message: clean(each.message),
      ...defined({
        description: each.description && clean(each.description),
        network: each.network && clean(each.network)
      })
    }))
    const groups: ReadonlyArray<FailureGroup> = FailureGroups.group(failed)
    const result: Groups<FailureGroup, FailureGroups.Failed> = { ...selection, groups }
    return result
  }
)

/** Groups the data of executions by node, most time first, with findings; of at most 50 unless `last` is set. */
export const byNode = Effect.fn("Triage.byNode")(function*(query: Query) {
  const all = { ...query, defaultLast: 50 }
  const selection = yield* Selection.select(all, ({ id }) => Profile.read(String(id)), Profile.bytes)
  const { rows, ...rest } = Profile.profile(selection.runs.flatMap(({ value }) => value ?? []))
  const groups: ReadonlyArray<NodeGroup> = rows
  const result: NodeGroups = { ...selection, ...rest, groups }
  return result
})

/** Groups executions by the version of the workflow that ran (n8n 2); of at most 200 unless `last` is set. */
export const byVersion = Effect.fn("Triage.byVersion")(function*(query: Query) {
  const selection = yield* Selection.select(
    { ...query, defaultLast: 200 },
    ({ id }) => Executions.use(({ version }) => version(String(id)))
  )
  const groups: ReadonlyArray<VersionGroup> = yield* groupByVersion(selection.runs)
  const result: Groups<VersionGroup, string | undefined> = { ...selection, groups }
  return result
})
