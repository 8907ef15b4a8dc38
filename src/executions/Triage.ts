/** Overview of many executions: how often each workflow and each of its versions failed, and why. */
import * as Effect from "effect/Effect"
import { arr, defined, obj, str } from "../base/Json.ts"
import type * as ExecutionHead from "../n8n/model/ExecutionHead.ts"
import { N8nClient } from "../n8n/N8nClient.ts"
import { Executions } from "./Executions.ts"
import * as FailureGroups from "./FailureGroups.ts"
import * as Profile from "./Profile.ts"
import * as Selection from "./Selection.ts"

const hasFailed = ({ status }: ExecutionHead.Listed) => status === "error" || status === "crashed"

const workflowOf = ({ workflowId }: ExecutionHead.Listed) => workflowId ?? ""

const readFailure = Effect.fnUntraced(function*(execution: ExecutionHead.Listed) {
  const { id, startedAt, status } = execution
  const failure = yield* Executions.use((executions) => executions.failure(String(id))).pipe(
    // n8n may have pruned it since it was listed.
    Effect.catchTag("NotFoundError", () => Effect.succeed(undefined))
  )
  return {
    ...(failure ?? { message: `n8n recorded no error (status ${status})` }),
    id: String(id),
    workflowId: workflowOf(execution),
    ...(typeof startedAt === "string" ? { at: startedAt } : {})
  } satisfies FailureGroups.Failed
})

const failedOf = (execution: ExecutionHead.Listed | undefined) =>
  execution && { id: String(execution.id), at: execution.startedAt ?? null }

/** Groups executions, newest first, by workflow: most failures first, and of each the newest one. */
export const byWorkflow = (executions: ReadonlyArray<ExecutionHead.Listed>) =>
  [...Map.groupBy(executions, workflowOf)]
    .map(([workflowId, all]) => {
      const failed = all.filter(hasFailed)
      return {
        workflowId,
        total: all.length,
        failed: failed.length,
        byStatus: Object.fromEntries(
          [...Map.groupBy(all, ({ status }) => status ?? "unknown")].map(([status, some]) => [status, some.length])
        ),
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
  const publications = arr(obj(workflow?.["activeVersion"])?.["workflowPublishHistory"]).map(obj)
    .flatMap((event) => event?.["event"] === "activated" ? str(event["createdAt"]) ?? [] : [])
  return {
    savedAt: new Map(versions.map(({ createdAt, versionId }) => [versionId, createdAt])),
    published: workflow?.activeVersionId,
    publishedAt: publications.toSorted().at(-1)
  }
})

/** Groups executions, newest first, by version: workflows with most failures first, and of each the newest first. */
const byVersion = Effect.fnUntraced(function*(runs: ReadonlyArray<Selection.Selected<string | undefined>>) {
  const workflows = byWorkflow(runs.map(({ head }) => head)).map(({ workflowId }) => workflowId)
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

export const groupings = ["workflow", "failure", "node", "version"] as const

/** Default number of executions; a profile reads all their data. */
const defaultLast = { workflow: 200, failure: 200, node: 50, version: 200 }

/**
 * Selects executions and reads what their groups need: nothing but the list, why those failed that failed, their data, or
 * the version that ran. `redact` changes the messages of failures before the values in them are separated.
 */
export const read = Effect.fn("Triage.read")(function*(
  groupBy: (typeof groupings)[number] | undefined,
  query: Omit<Selection.Query, "defaultLast">,
  redact: (text: string) => string
) {
  const all = { ...query, defaultLast: groupBy === undefined ? 20 : defaultLast[groupBy] }
  if (groupBy === "failure") {
    const selection = yield* Selection.select(all, (head) => hasFailed(head) ? readFailure(head) : undefined)
    const failed = selection.runs.flatMap(({ value }) => value ?? []).map((each) => ({
      ...each,
      message: redact(each.message),
      ...defined({ description: each.description && redact(each.description) })
    }))
    return { selection, failures: FailureGroups.group(failed) }
  }
  if (groupBy === "node") {
    const selection = yield* Selection.select(all, ({ id }) => Profile.read(String(id)), Profile.bytes)
    return { selection, profile: Profile.profile(selection.runs.flatMap(({ value }) => value ?? [])) }
  }
  if (groupBy === "version") {
    const selection = yield* Selection.select(all, ({ id }) => Executions.use(({ version }) => version(String(id))))
    return { selection, versions: yield* byVersion(selection.runs) }
  }
  return { selection: yield* Selection.select<never, never>(all, () => undefined) }
})
