/** Failed runs, by cause. */
import * as Effect from "effect/Effect"
import { sha256 } from "../../base/Hash.ts"
import { arr, defined, obj, str } from "../../base/Json.ts"
import { counted } from "../../base/Plural.ts"
import { redactText } from "../../base/Redact.ts"
import * as Rows from "../../base/Rows.ts"
import * as Visible from "../../base/Visible.ts"
import { Executions } from "../../executions/Executions.ts"
import * as FailureGroups from "../../executions/FailureGroups.ts"
import { N8nClient } from "../../n8n/N8nClient.ts"
import type { Incident } from "../Incident.ts"
import { isAttended, type Run } from "../Observation.ts"
import type { Entry } from "../state.ts"

/** Maximum number of failed runs that a poll reads. */
const maxRead = 3

/** Maximum number of failed runs in the queue, in total and of one workflow. */
const maxWaiting = { all: 1_000, one: 10 }

/** Length of an error message in an incident. */
const maxMessage = 160

const hasFailed = ({ status }: Run) => status === "error" || status === "crashed"

const hour = 3_600_000

/** Runs whose failure is worth a report. */
export const among = (runs: ReadonlyArray<Run>): ReadonlyArray<Run> =>
  runs.filter((run) => hasFailed(run) && !isAttended(run))

/** Successful runs that no person started. */
export const succeeded = (runs: ReadonlyArray<Run>): ReadonlyArray<Run> =>
  runs.filter((run) => run.status === "success" && !isAttended(run))

interface Chosen {
  readonly run: Run
  /** Number of runs that it represents. */
  readonly all: ReadonlyArray<Run>
}

/** Chooses runs to read: the newest of each workflow, then others. Its unread runs count as the same failure. */
export const choose = (failed: ReadonlyArray<Run>, most: number) => {
  const groups = [...Map.groupBy(failed, ({ workflowId }) => workflowId).values()]
  const newest = groups.slice(0, most).flatMap((all) => all.at(-1) ?? [])
  const others = groups.slice(0, most).flatMap((all) => all.slice(0, -1)).slice(0, Math.max(0, most - newest.length))
  const chosen = [
    ...newest.map((run): Chosen => ({
      run,
      all: failed.filter((each) => each.workflowId === run.workflowId && !others.includes(each))
    })),
    ...others.map((run): Chosen => ({ run, all: [run] }))
  ]
  return { chosen, waiting: groups.slice(most).flatMap((all) => all.slice(-maxWaiting.one)) }
}

/** Merges the incidents of one cause: about its newest run, with the time and cause of the first. */
const merged = (incidents: ReadonlyArray<Incident>): ReadonlyArray<Incident> =>
  Rows.grouped(incidents, ({ key }) => key).map(({ first: { look, what }, rows }) => ({
    ...rows.reduce((first, each) => each.at < first.at ? each : first),
    ...defined({ look }),
    what,
    count: rows.reduce((sum, { count }) => sum + count, 0)
  }))

/** Cause of a crash; a version that needs too much memory also ends n8n itself. */
const end = "n8n was restarted or ran out of memory"

/** Runs that crashed together, as when n8n was restarted. */
const restart = (crashed: ReadonlyArray<Run>, entries: { readonly [id: string]: Entry }): Incident => {
  const names = crashed.map(({ workflowId }) => entries[workflowId]?.name ?? workflowId)
  const [first] = crashed
  const at = Math.min(...crashed.map(({ startedAt, stoppedAt }) => stoppedAt ?? startedAt))
  return {
    kind: "failed",
    key: `crashed:${first?.id}`,
    at: new Date(at).toISOString(),
    count: crashed.length,
    what: `${counted(crashed.length, "run")} ended with n8n itself: ${Rows.names(names, 3, 30)}`,
    cause: `${end} while they ran`,
    look: { tool: "list_executions", arguments: { status: "crashed" } }
  }
}

/** Time at which n8n published the version that runs; `undefined` if that is another version. */
export const publishedAt = Effect.fnUntraced(function*(workflowId: string, version?: string) {
  const workflow = yield* N8nClient.use((n8n) => n8n.getWorkflow(workflowId))
  if (version !== undefined && workflow.activeVersionId !== version) return undefined
  return arr(obj(workflow["activeVersion"])?.["workflowPublishHistory"]).map(obj)
    .flatMap((event) => event?.["event"] === "activated" ? str(event["createdAt"]) ?? [] : []).toSorted().at(-1)
}, Effect.orElseSucceed(() => undefined))

/** Time after a publication in which n8n may still run the version before. */
const takeover = 10_000

/** Answers of a service that does not accept a credential. */
const refusal = /\b40[13]\b|authori[sz]ation failed|unauthori[sz]ed|check your credentials/i

const minuteOf = (time: number) => `${new Date(time).toISOString().slice(0, 16)}Z`

/** Reads why a run failed, and reports it together with similar runs. */
const incidentOf = Effect.fnUntraced(function*(
  { all, run }: Chosen,
  { entry, isKnown, lastFailure, worked }: {
    readonly entry: Entry | undefined
    readonly isKnown: (key: string) => boolean
    readonly lastFailure: number
    /** Starts of successful runs. */
    readonly worked: ReadonlyArray<number>
  }
) {
  const origin = yield* Executions.use(({ origin }) => origin(run.id)).pipe(
    // n8n may have pruned it since it was listed.
    Effect.catchTag("NotFoundError", () => Effect.succeed({ failure: undefined, version: undefined }))
  )
  const { description, message, node, ...failure } = origin.failure ??
    { message: `n8n recorded no error (status ${run.status})`, node: undefined, description: undefined }
  const clean = {
    ...failure,
    ...defined({ node, description: description && redactText(description) }),
    message: redactText(message),
    workflowId: run.workflowId
  }
  const { name = run.workflowId } = entry ?? {}
  const key = `failed:${sha256(FailureGroups.keyOf(clean)).slice(0, 20)}`
  const isCrashed = run.status === "crashed"
  const since = origin.version === undefined || isCrashed || isKnown(key)
    ? undefined
    : yield* publishedAt(run.workflowId, origin.version)
  const first = all[0]?.startedAt ?? run.startedAt
  const published = Date.parse(since ?? "")
  const success = Math.max(...worked.filter((at) => at < first))
  const isNew = published > lastFailure && published <= first && first - published < 7 * 86_400_000
  const causes = [
    isCrashed && `${end} while it ran`,
    clean.description && Visible.label(clean.description, maxMessage),
    success >= published + takeover
      ? `its version, published at ${minuteOf(published)}, still worked at ${minuteOf(success)}`
      : isNew && `first seen with version ${origin.version?.slice(0, 8)}, published at ${minuteOf(published)}`,
    clean.called !== undefined && `the workflow ${clean.called} that it calls failed`
  ].filter((each) => typeof each === "string" && each !== "")
  const incident: Incident = {
    kind: "failed",
    key,
    workflowId: run.workflowId,
    workflowName: name,
    at: new Date(first).toISOString(),
    count: all.length,
    what: `'${Visible.label(name)}' failed${node === undefined ? "" : ` at '${Visible.label(node, 40)}'`}: ${
      Visible.label(clean.message, maxMessage)
    }`,
    ...causes.length === 0 ? {} : { cause: causes.join("; ") },
    look: { tool: "get_execution", arguments: { id: run.id } }
  }
  const isRefused = !isKnown(key) && refusal.test(`${clean.httpCode} ${clean.message} ${clean.description}`)
  return { incident, called: clean.called, isRefused }
})

/** Incidents of runs that failed since the last poll, and of earlier ones that are still unread. */
export const detect = Effect.fn("watch.failures")(function*(
  failed: ReadonlyArray<Run>,
  { before, ended, entries, isKnown, isLast = false, left, most = maxRead }: {
    /** Workflows as they were at the last poll. */
    readonly before: { readonly [id: string]: Entry }
    /** Runs since then. */
    readonly ended: ReadonlyArray<Run>
    readonly entries: { readonly [id: string]: Entry }
    readonly isKnown: (key: string) => boolean
    /** Whether no later poll follows, so that nothing may be left for it. */
    readonly isLast?: boolean
    /** Number of requests that may be sent. */
    readonly left: number
    readonly most?: number
  }
) {
  const known = failed.filter(({ workflowId }) => entries[workflowId] !== undefined)
  const crashed = known.filter(({ status }) => status === "crashed")
  const isRestart = crashed.length > 1
  // While n8n starts, it marks the runs that it lost one by one: others may follow.
  const awaited = isLast || isRestart
    ? []
    : crashed.filter(({ workflowId }) => before[workflowId]?.crashes === undefined)
  const own = known.filter((run) => !awaited.includes(run))
  const { chosen, waiting } = choose(
    isRestart ? own.filter(({ status }) => status !== "crashed") : own,
    Math.min(most, left)
  )
  const results = yield* Effect.forEach(chosen, ({ all, run }) => {
    const { workflowId } = run
    const { lastFailure = 0, lastSuccess } = before[workflowId] ?? {}
    const isUnread = own.some((each) => each.workflowId === workflowId && each.startedAt <= lastFailure)
    const context = {
      entry: entries[workflowId],
      isKnown,
      lastFailure: isUnread ? 0 : lastFailure,
      worked: [
        ...lastSuccess === undefined ? [] : [lastSuccess],
        ...succeeded(ended).flatMap((each) => each.workflowId === workflowId ? [each.startedAt] : [])
      ]
    }
    return incidentOf({ all, run }, context).pipe(
      // The failure of a called workflow is an incident of its own.
      Effect.map(({ called = "", incident, isRefused }) => ({
        incident: Math.abs((entries[called]?.lastFailure ?? -Infinity) - run.startedAt) < hour ? undefined : incident,
        unread: [],
        refused: isRefused ? [workflowId] : []
      })),
      Effect.orElseSucceed(() => ({ incident: undefined, unread: all, refused: [] }))
    )
  }, { concurrency: 2 })
  return {
    incidents: [
      ...isRestart ? [restart(crashed, entries)] : [],
      ...merged(results.flatMap(({ incident }) => incident ?? []))
    ],
    /** Workflows whose credential a service does not accept, for the first time today. */
    refused: results.flatMap(({ refused }) => refused),
    unread: [...awaited, ...results.flatMap(({ unread }) => unread), ...waiting].slice(0, maxWaiting.all)
  }
})
