/** Failed runs, by cause. Pure. */
import * as Schema from "effect/Schema"
import { sha256 } from "../../base/Hash.ts"
import { defined } from "../../base/Json.ts"
import * as FailureGroups from "../../executions/FailureGroups.ts"
import { day, isAttended, type Run } from "../Observation.ts"
import type { Detector, Failed, Origin } from "./Detector.ts"

const Text = Schema.optionalKey(Schema.String)

const Episode = Schema.Struct({
  cause: Schema.String,
  from: Schema.Finite,
  to: Schema.Finite,
  count: Schema.Finite,
  read: Schema.Finite,
  run: Schema.String,
  worked: Schema.optionalKey(Schema.Finite),
  since: Schema.Finite,
  before: Schema.optionalKey(Schema.Finite),
  /** Largest number of successful runs between two of its failed ones. */
  between: Schema.Finite,
  origin: Schema.Struct({
    failure: Schema.Struct({
      node: Text,
      message: Schema.String,
      description: Text,
      httpCode: Text,
      called: Text,
      calledRun: Text,
      network: Text
    }),
    version: Text,
    isCrash: Schema.Boolean,
    isAssumed: Schema.optionalKey(Schema.Boolean)
  })
})
type Episode = typeof Episode.Type

/** Causes of a workflow's failures: small, and JSON. */
export const Memory = Schema.Struct({
  /** Start of the last successful run. */
  worked: Schema.optionalKey(Schema.Finite),
  /** Latest first. */
  causes: Schema.Array(Episode)
})
export type Memory = typeof Memory.Type

/** Maximum number of causes of a workflow that are remembered. */
const maxCauses = 20

/** Whether the failure of a run is worth a report. */
export const hasFailed = (run: Run): boolean => (run.status === "error" || run.status === "crashed") && !isAttended(run)

/** Identity of a cause. */
export const causeOf = (workflowId: string, { failure }: Origin) =>
  sha256(FailureGroups.keyOf({ ...failure, workflowId })).slice(0, 20)

/** Reasons of failed runs in order; one that was not read has that of its workflow's next one that was, else the last. */
export const assumed = (runs: ReadonlyArray<Run>, origins: ReadonlyMap<string, Origin>): ReadonlyMap<string, Origin> =>
  new Map(
    [...Map.groupBy(runs.filter(hasFailed), ({ workflowId }) => workflowId).values()].flatMap((own) => {
      let next = origins.get(own.findLast(({ id }) => origins.has(id))?.id ?? "")
      return own.toReversed().flatMap(({ id }) => {
        const read = origins.get(id)
        next = read ?? next
        return next === undefined ? [] : [[id, read ?? { ...next, isAssumed: true }] as const]
      })
    })
  )

const failedOf = ({ between, ...episode }: Episode): Failed => ({
  kind: "failed",
  ...episode,
  isOver: episode.since > 2 * between
})

/** Whether a failure belongs to an episode: not after a day in which the workflow worked without it, or after a week. */
const goesOn = ({ since, to }: Episode, run: Run) => run.startedAt - to < (since > 0 ? 1 : 7) * day

/** Detects failed runs. */
export const detect: Detector<Memory> = (before = { causes: [] }, { ended, origins, workflow }) => {
  let { causes, worked } = before
  const episodes = new Map<string, Failed>()
  /** Reports what is known of an episode if it went on, or if successes since then may have ended it. */
  const report = (each: Episode) => {
    const key = `${each.cause} ${each.from}`
    const isSame = ({ cause, from, since }: Episode) =>
      cause === each.cause && from === each.from && since === each.since
    if (episodes.has(key) || !before.causes.some(isSame)) episodes.set(key, failedOf(each))
  }
  for (const run of ended) {
    if (run.status === "success" && !isAttended(run)) {
      worked = run.startedAt
      causes = causes.map((each) => ({ ...each, since: each.since + 1 }))
      continue
    }
    const origin = hasFailed(run) ? origins.get(run.id) : undefined
    if (origin === undefined) continue
    const cause = causeOf(workflow.id, origin)
    const earlier = causes.find((each) => each.cause === cause)
    const former = earlier !== undefined && goesOn(earlier, run) ? earlier : undefined
    const read = origin.isAssumed === true ? 0 : 1
    const next: Episode = former === undefined
      ? {
        cause,
        from: run.startedAt,
        to: run.startedAt,
        count: 1,
        read,
        run: run.id,
        ...defined({ worked, before: earlier?.to }),
        since: 0,
        between: 0,
        origin
      }
      : {
        ...former,
        to: Math.max(former.to, run.startedAt),
        count: former.count + 1,
        read: former.read + read,
        ...read === 0 ? {} : { run: run.id, origin },
        since: 0,
        between: Math.max(former.between, former.since)
      }
    if (former === undefined && earlier !== undefined) report(earlier)
    const rest = causes.filter((each) => each.cause !== cause)
    for (const each of rest.slice(maxCauses - 1)) report(each)
    causes = [next, ...rest.slice(0, maxCauses - 1)]
    episodes.set(`${cause} ${next.from}`, failedOf(next))
  }
  for (const each of causes) report(each)
  return { memory: { ...defined({ worked }), causes }, episodes: [...episodes.values()] }
}
