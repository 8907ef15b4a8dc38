/** Readings of single runs and workflows, for judgments: reasons, items, changes, paces, and the time zone of n8n. */
import * as Clock from "effect/Clock"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { defined, obj, str } from "../base/Json.ts"
import { redactText } from "../base/Redact.ts"
import * as Execution from "../executions/Execution.ts"
import { Executions } from "../executions/Executions.ts"
import * as Profile from "../executions/Profile.ts"
import * as Publications from "../n8n/model/Publications.ts"
import * as Workflow from "../n8n/model/Workflow.ts"
import { N8nClient } from "../n8n/N8nClient.ts"
import type { Origin, Sample } from "./detect/Detectors.ts"
import type { Change } from "./Health.ts"
import { day, hour, minute, type Run } from "./Observation.ts"

/** Maximum length of a message. */
const maxText = 400

const clean = (text: string) => redactText(text).slice(0, maxText)

/** Reason of a run of which n8n recorded no error. */
export const unrecorded = (status: string): Origin => ({
  failure: { message: `n8n recorded no error (status ${status})` },
  isCrash: status === "crashed"
})

/** Reason of a failed run; `undefined` if it cannot be read now. */
export const origin = Effect.fnUntraced(function*({ id, status }: Run) {
  const { failure, version } = yield* Executions.use(({ origin }) => origin(id)).pipe(
    // n8n may have pruned it since it was listed.
    Effect.catchTag("NotFoundError", () => Effect.succeed({ failure: undefined, version: undefined }))
  )
  const { description, message, ...more } = failure ?? unrecorded(status).failure
  return {
    failure: { ...more, message: clean(message), ...defined({ description: description && clean(description) }) },
    ...defined({ version }),
    isCrash: status === "crashed"
  } satisfies Origin as Origin
}, Effect.orElseSucceed(() => undefined))

/** Reasons of failed runs, by id, without those that cannot be read now. */
export const origins = (runs: ReadonlyArray<Run>, concurrency = 2) =>
  Effect.map(
    Effect.forEach(runs, (run) => Effect.map(origin(run), (origin) => [run.id, origin] as const), { concurrency }),
    (all) => new Map(all.flatMap(([id, origin]) => origin === undefined ? [] : [[id, origin] as const]))
  )

/** Times at which n8n published the version of a workflow that is live, by version. */
export const publishedAt = (workflowId: string) =>
  N8nClient.use((n8n) => n8n.getWorkflow(workflowId)).pipe(
    Effect.map((workflow) =>
      new Map(
        Publications.of(workflow).flatMap(({ at, event, version }) =>
          event === "published" && version !== undefined ? [[version, at] as const] : []
        )
      )
    ),
    Effect.orElseSucceed((): ReadonlyMap<string, number> => new Map())
  )

/** Answers of a service that does not accept a credential. */
const refusal = /\b40[13]\b|authori[sz]ation failed|unauthori[sz]ed|check your credentials/i

/** Whether a service did not accept a credential. */
export const isRefused = ({ failure: { description, httpCode, message } }: Origin): boolean =>
  refusal.test(`${httpCode} ${message} ${description}`)

/** Number of items at the end of a run; `undefined` if it cannot be read. */
export const sample = Effect.fnUntraced(function*(run: Run) {
  const start = yield* Clock.currentTimeMillis
  const execution = yield* Executions.use(({ get }) => get(run.id)).pipe(Effect.orElseSucceed(() => undefined))
  const took = (yield* Clock.currentTimeMillis) - start
  const last = execution?.lastNode
  return {
    run,
    sample: execution === undefined || last === undefined ? undefined : {
      items: Execution.itemCount(execution.runs.get(last) ?? []),
      ...defined({ version: execution.version })
    } satisfies Sample as Sample,
    // Large data is a burden for n8n: the next read for this workflow is tomorrow.
    after: took > 3_000 ? start + day : undefined
  }
})

/** Maximum number of runs that are read. */
const maxRead = 3

/** Workflow with the triggers that start it. */
interface Scheduled {
  readonly id: string
  readonly nodes: ReadonlyArray<{ readonly [key: string]: unknown }>
  readonly settings?: unknown
}

/** The older Cron and Interval nodes record nothing. */
const isSchedule = (node: unknown) => Workflow.typeOf(node) === "n8n-nodes-base.scheduleTrigger"

/** Whether n8n's own zone applies; of an empty name or "DEFAULT" in the API's settings n8n makes UTC. */
const isUnzoned = (settings: unknown) => (obj(settings)?.["timezone"] ?? undefined) === undefined

/** Time zone that a Schedule Trigger recorded, such as `America/New_York (UTC-05:00)`. */
const recorded = (execution: Execution.Execution): string | undefined => {
  if (!isUnzoned(execution.workflow?.settings)) return undefined
  for (const { name } of (execution.workflow?.nodes ?? []).filter(isSchedule)) {
    const slot = (execution.runs.get(name) ?? []).flatMap((run) => Execution.outputSlots(name, run))[0]?.slot
    const [item] = slot === undefined ? [] : execution.items(slot, 0, 1)
    const zone = /^(\S+) \(UTC[+-]\d\d:\d\d\)$/.exec(str(obj(obj(item)?.["json"])?.["Timezone"]) ?? "")?.[1]
    if (zone !== undefined && Option.isSome(DateTime.zoneMakeNamed(zone))) return zone
  }
  return undefined
}

/** Runs that may tell the zone: newest first, those of other workflows before a second one of the same. */
const candidates = (workflows: ReadonlyArray<Scheduled>, runs: ReadonlyArray<Run>) => {
  const ids = new Set(
    workflows.filter(({ nodes, settings }) => isUnzoned(settings) && nodes.some(isSchedule)).map(({ id }) => id)
  )
  const known = runs.filter((run) => run.mode === "trigger" && run.stoppedAt !== undefined && ids.has(run.workflowId))
  const groups = [...Map.groupBy(known, ({ workflowId }) => workflowId).values()].map((own) =>
    own.toSorted((a, b) => b.startedAt - a.startedAt)
  )
  return groups.flatMap((own) => own.slice(0, maxRead).map((run, rank) => ({ run, rank })))
    .toSorted((a, b) => a.rank - b.rank || b.run.startedAt - a.run.startedAt)
    .slice(0, maxRead).map(({ run }) => run)
}

/** Name of n8n's own time zone and the run that tells it; `undefined` if none of the newest does. */
export const instanceZone = Effect.fn("InstanceClock.zone")(
  function*(workflows: ReadonlyArray<Scheduled>, runs: ReadonlyArray<Run>) {
    for (const { id } of candidates(workflows, runs)) {
      const execution = yield* Executions.use(({ get }) => get(id)).pipe(Effect.orElseSucceed(() => undefined))
      const name = execution && recorded(execution)
      if (name !== undefined) return { zone: name, run: id }
    }
    return undefined
  }
)

/** Maximum number of usual and of slow runs that are read. */
const maxPaced = 3

/** Place with the milliseconds that usual and slow runs spend there; empty if no place has half of the difference. */
export type Pace =
  | { readonly node: string; readonly outside?: never; readonly before: number; readonly after: number }
  /** Before, between and after the nodes: loading and saving data, a busy n8n. The wait for a worker is before the run. */
  | { readonly node?: never; readonly outside: true; readonly before: number; readonly after: number }
  | { readonly node?: never; readonly outside?: never }

/** Nodes that n8n waits for itself; a sub-node works within the time of one of them. */
const timesOf = ({ nodes }: Profile.Use) =>
  new Map(nodes.flatMap(({ node, time, within }) => within === undefined ? [[node, time] as const] : []))

const median = (values: ReadonlyArray<number>) => Profile.percentile(values, 0.5)

/** Finds where the time of slow runs goes, from medians. Pure. */
export const paceBetween = (usual: ReadonlyArray<Profile.Use>, slow: ReadonlyArray<Profile.Use>): Pace => {
  const sides = [usual, slow].map((uses) =>
    uses.filter(({ duration, nodes }) => duration !== undefined && nodes.length > 0)
  )
  const [former = [], latter = []] = sides.map((uses) => uses.map((use) => ({ use, times: timesOf(use) })))
  if (former.length === 0 || latter.length === 0) return {}
  const place = (of: (each: (typeof former)[number]) => number) => {
    const [before, after] = [median(former.map(of)), median(latter.map(of))]
    return { before, after, excess: after - before }
  }
  const { excess } = place(({ use }) => use.duration ?? 0)
  const names = new Set([...former, ...latter].flatMap(({ times }) => [...times.keys()]))
  const places = Array.from(names, (node) => ({ node, ...place(({ times }) => times.get(node) ?? 0) }))
  const node = places.toSorted((a, b) => b.excess - a.excess)[0]
  const outside = place(({ use }) => use.outside)
  const explains = (part: number) => excess > 0 && part >= excess / 2
  if (node !== undefined && node.excess >= outside.excess && explains(node.excess)) {
    return { node: node.node, before: node.before, after: node.after }
  }
  return explains(outside.excess) ? { outside: true, before: outside.before, after: outside.after } : {}
}

/** Reads usual and slow runs of a workflow, at most three of each, and finds where the time of the slow ones goes. */
export const paceOf = Effect.fn("Pace.of")(function*(usual: ReadonlyArray<string>, slow: ReadonlyArray<string>) {
  const read = (ids: ReadonlyArray<string>) =>
    Effect.forEach(
      ids.slice(0, maxPaced),
      (id) => Executions.use(({ get }) => get(id)).pipe(Effect.map(Profile.use), Effect.orElseSucceed(() => undefined)),
      { concurrency: 2 }
    )
  const [former, latter] = [yield* read(usual), yield* read(slow)]
  return paceBetween(former.flatMap((use) => use ?? []), latter.flatMap((use) => use ?? []))
})

/** Changes of a workflow in order, as far as n8n tells them, in at most two requests. None of a deleted workflow. */
export const changesOf = Effect.fn("Changes.of")(function*(workflowId: string) {
  const n8n = yield* N8nClient
  const workflow = yield* n8n.getWorkflow(workflowId).pipe(Effect.orElseSucceed(() => undefined))
  if (workflow === undefined) return []
  const versions = yield* n8n.workflowHistory(workflowId).pipe(Effect.orElseSucceed(() => undefined))
  const changes: ReadonlyArray<Change> = [
    ...Publications.of(workflow).map(({ at, ...rest }) => ({ at: new Date(at).toISOString(), ...rest })),
    ...(versions ?? []).map(({ createdAt, versionId }) => ({
      at: createdAt,
      event: "saved" as const,
      version: versionId
    })),
    // n8n 1 reports the last save only; what a trigger stores does not count as one.
    ...versions === undefined && workflow.updatedAt !== undefined
      ? [defined({ at: workflow.updatedAt, event: "saved" as const, version: workflow.versionId ?? undefined })]
      : []
  ]
  return changes.toSorted((a, b) => Date.parse(a.at) - Date.parse(b.at))
})

/** Time before and after the beginning of an incident in which a change is near it. */
const nearby = { before: 6 * hour, after: hour }

/** Changes in order, in which a version that is saved and published, or published again, within a minute is one change. */
const united = (changes: ReadonlyArray<Change>) => {
  const all = changes.toSorted((a, b) => Date.parse(a.at) - Date.parse(b.at))
  return all.filter(({ at, event, version }, index) =>
    !all.some((each, other) =>
      version !== undefined && each.event === "published" && each.version === version &&
      Math.abs(Date.parse(each.at) - Date.parse(at)) <= minute && (event === "saved" || other > index)
    )
  )
}

/** Changes near the beginnings of incidents, and the last one before each beginning, in order and each once. Pure. */
export const changesNear = (
  changes: ReadonlyArray<Change>,
  times: ReadonlyArray<number>,
  within: { readonly before: number; readonly after: number } = nearby
): ReadonlyArray<Change> => {
  const all = united(changes)
  const latest = new Set(times.map((time) => all.findLastIndex(({ at }) => Date.parse(at) <= time)))
  return all.filter(({ at }, index) =>
    latest.has(index) ||
    times.some((time) => Date.parse(at) >= time - within.before && Date.parse(at) <= time + within.after)
  )
}
