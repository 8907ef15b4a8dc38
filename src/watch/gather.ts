/** Readings of a poll: runs, workflows, and why runs failed and what they ended with, as far as its requests allow. */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import { defined } from "../base/Json.ts"
import { isV1, N8nClient } from "../n8n/N8nClient.ts"
import * as Traffic from "../n8n/Traffic.ts"
import { failures } from "./detect/Detectors.ts"
import * as Judgment from "./Judgment.ts"
import { day, type Run } from "./Observation.ts"
import * as observe from "./observe.ts"
import * as reading from "./reading.ts"
import * as Thresholds from "./Thresholds.ts"
import type { Entry, State } from "./watchState.ts"

/** Maximum number of failed runs, and of others, whose data a poll reads. */
const mostRead = 3

/** n8n's release, since 1.x counts the units of schedules differently. */
const releaseOf = Effect.fnUntraced(function*(state: State | undefined, now: number) {
  if (state !== undefined && now - state.release.at < day) return state.release
  const release = yield* N8nClient.use((n8n) => n8n.release)
  return { at: now, isV1: isV1(release) }
})

const ruledOf = (workflows: State["workflows"], rules: Thresholds.Rules | undefined) =>
  Object.entries(workflows).map(([id, entry]) => ({ id, entry, ...Thresholds.of({ id, ...entry }, rules) }))

/** n8n's own time zone, as runs of Schedule Triggers show it: known for a day, else asked for once an hour. */
const zoneOf = Effect.fnUntraced(function*(
  state: State | undefined,
  workflows: State["workflows"],
  { ended, left, now }: { readonly ended: ReadonlyArray<Run>; readonly left: number; readonly now: number }
) {
  const { at, name } = state?.zone ?? { at: -Infinity }
  const isDue = now - at >= (name === undefined ? day / 24 : day) && left > 5 &&
    ended.some(({ mode, workflowId }) => mode === "trigger" && Object.hasOwn(workflows, workflowId))
  if (!isDue) return state?.zone
  const published = Object.entries(workflows).map(([id, entry]) => ({ id, ...entry }))
  const source = yield* reading.instanceZone(published, ended)
  return { at: now, ...defined({ name: source?.zone ?? name }) }
})

/** Maximum number of failed runs in the queue, in total and of one workflow, and of runs of workflows not yet listed. */
const maxWaiting = { all: 1_000, one: 50, unlisted: 5_000 }

const byId = (runs: ReadonlyArray<Run>) => [...new Map(runs.map((run) => [run.id, run])).values()]

/** Failed runs to read now, and those that wait for a later poll. */
const choose = (
  failed: ReadonlyArray<Run>,
  most: number,
  hasWaited: (run: Run) => boolean
) => {
  const crashed = failed.filter(({ status }) => status === "crashed")
  // Runs that end with n8n itself record no more than that. While it starts, it marks them one by one: others may follow.
  const isRestart = crashed.length > 1
  const awaited = isRestart ? [] : crashed.filter((run) => !hasWaited(run))
  const readable = failed.filter((run) => isRestart ? run.status !== "crashed" : !awaited.includes(run))
  const groups = [...Map.groupBy(readable, ({ workflowId }) => workflowId).values()]
  const now = groups.slice(0, most)
  // The newest of each workflow first, which stands for those of its workflow that are not read.
  const ranked = [...now.flatMap((all) => all.at(-1) ?? []), ...now.flatMap((all) => all.slice(0, -1))]
  return {
    restarted: isRestart ? crashed : [],
    chosen: ranked.slice(0, most),
    judged: now.flat(),
    waiting: [...awaited, ...groups.slice(most).flatMap((all) => all.slice(-maxWaiting.one))].slice(0, maxWaiting.all)
  }
}

/** Reads what happened since the last poll; failures first, then item counts with the requests that are left. */
export const gather = Effect.fn("watch.gather")(function*(
  state: State | undefined,
  { every, rules, slot, traffic, zone: named }: {
    readonly every: number
    readonly rules?: Thresholds.Rules | undefined
    readonly slot: number
    readonly traffic: Traffic.Traffic
    readonly zone?: string | undefined
  }
) {
  const now = yield* Clock.currentTimeMillis
  const runs: observe.Runs = yield* observe.executions(state, {
    count: Math.floor(slot / every),
    until: now + every / 2
  })
  const release = yield* releaseOf(state, now)
  const before = state?.unlisted ?? []
  const isNeeded = [...runs.started, ...before].some(({ workflowId }) => state?.workflows[workflowId] === undefined)
  const { gone, list, workflows } = yield* observe.workflows(state, { every, isNeeded, left: Traffic.left(traffic) })
  // Runs of workflows that are newer than the list wait for the next one.
  const isListed = ({ workflowId }: Run) => Object.hasOwn(workflows, workflowId)
  const isAwaited = (run: Run) => !isListed(run) && (list.cursor !== undefined || run.startedAt > list.at - every)
  const late = before.filter(isListed)
  const ended = byId([...late.filter(({ stoppedAt }) => stoppedAt !== undefined), ...runs.ended])
  const ruled = ruledOf({ ...state?.workflows, ...workflows }, rules)
  const off = new Set(ruled.flatMap(({ id, isOff }) => isOff ? [id] : []))
  const failed = byId([...state?.unread ?? [], ...ended.filter(failures.hasFailed)]).filter((run) =>
    isListed(run) && !off.has(run.workflowId)
  )
  const { chosen, judged, restarted, waiting } = choose(
    state === undefined ? [] : failed,
    Math.min(mostRead, Traffic.left(traffic)),
    ({ id }) => state?.unread.some((run) => run.id === id) ?? false
  )
  const lost = restarted.map(({ id, status }) => [id, reading.unrecorded(status)] as const)
  const origins = new Map([...yield* reading.origins(chosen), ...lost])
  const isRead = ({ workflowId }: Run) => judged.some((run) => run.workflowId === workflowId && origins.has(run.id))
  const unread = [...waiting, ...judged.filter((run) => !isRead(run))]
  const readings = yield* Effect.forEach(
    (state === undefined ? [] : Judgment.sampled(workflows, { ...runs, ended }, now))
      .slice(0, Math.max(0, Math.min(mostRead, Traffic.left(traffic) - 3))),
    reading.sample
  )
  const later = readings.flatMap(({ after, run: { workflowId } }): ReadonlyArray<readonly [string, Entry]> => {
    const entry = workflows[workflowId]
    return after === undefined || entry === undefined ? [] : [[workflowId, { ...entry, sampleAfter: after }]]
  })
  const zone = named !== undefined
    ? undefined
    : yield* zoneOf(state, workflows, { ended: runs.ended, left: Traffic.left(traffic), now })
  const waitingIds = new Set(unread.map(({ id }) => id))
  const complete = byId([...restarted, ...judged, ...ended]).filter(({ id }) => !waitingIds.has(id))
  const observed: Judgment.Observed = {
    ...runs,
    started: byId([...late, ...runs.started]),
    ended: complete,
    samples: new Map(
      readings.flatMap(({ run: { id }, sample }) => sample === undefined ? [] : [[id, sample] as const])
    ),
    origins: failures.assumed(complete, origins)
  }
  return {
    runs,
    release,
    zone,
    gone,
    list,
    known: { ...workflows, ...Object.fromEntries(later) },
    observed,
    off,
    ruled,
    unread,
    unlisted: byId([...before, ...runs.started, ...runs.ended]).filter(isAwaited).slice(-maxWaiting.unlisted)
  }
})

export type Gathered = Effect.Success<ReturnType<typeof gather>>
