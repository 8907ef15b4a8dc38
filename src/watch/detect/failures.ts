/** Failed runs, by cause. Pure. */
import * as Schema from "effect/Schema"
import { sha256 } from "../../base/Hash.ts"
import { defined } from "../../base/Json.ts"
import * as FailureGroups from "../../executions/FailureGroups.ts"
import { isAttended, type Run } from "../Observation.ts"
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
    isCrash: Schema.Boolean
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

const day = 86_400_000

/** Maximum number of causes of a workflow that are remembered. */
const maxCauses = 20

/** Whether the failure of a run is worth a report. */
export const hasFailed = (run: Run): boolean =>
  (run.status === "error" || run.status === "crashed") && !isAttended(run)

/** Identity of a cause. */
const causeOf = (workflowId: string, { failure }: Origin) =>
  sha256(FailureGroups.keyOf({ ...failure, workflowId })).slice(0, 20)

const failedOf = ({ between, ...episode }: Episode): Failed => ({
  kind: "failed",
  ...episode,
  isOver: episode.since > 2 * between
})

/** Whether a failure belongs to an episode: not after a day in which the workflow worked without it, or after a week. */
const goesOn = ({ since, to }: Episode, run: Run) => run.startedAt - to < (since > 0 ? 1 : 7) * day

/** Detects failed runs. One whose reason was not read counts with the next one that was, else with the one before. */
export const detect: Detector<Memory> = (before = { causes: [] }, { ended, origins, workflow }) => {
  let { causes, worked } = before
  const episodes = new Map<string, Failed>()
  const reasons = ended.map((run) => hasFailed(run) ? origins.get(run.id) : undefined)
  for (let index = reasons.length - 2; index >= 0; index--) reasons[index] ??= reasons[index + 1]
  for (const [index, run] of ended.entries()) {
    reasons[index] ??= reasons[index - 1]
    if (run.status === "success" && !isAttended(run)) {
      worked = run.startedAt
      causes = causes.map((each) => ({ ...each, since: each.since + 1 }))
      continue
    }
    const origin = hasFailed(run) ? reasons[index] : undefined
    if (origin === undefined) continue
    const cause = causeOf(workflow.id, origin)
    const earlier = causes.find((each) => each.cause === cause)
    const former = earlier !== undefined && goesOn(earlier, run) ? earlier : undefined
    const read = origins.has(run.id) ? 1 : 0
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
        from: Math.min(former.from, run.startedAt),
        to: Math.max(former.to, run.startedAt),
        count: former.count + 1,
        read: former.read + read,
        ...read === 0 ? {} : { run: run.id, origin },
        since: 0,
        between: Math.max(former.between, former.since)
      }
    causes = [next, ...causes.filter((each) => each.cause !== cause)].slice(0, maxCauses)
    episodes.set(`${cause} ${next.from}`, failedOf(next))
  }
  // A success since changes whether it is over.
  for (const each of causes) {
    const key = `${each.cause} ${each.from}`
    if (episodes.has(key) || before.causes.some((former) => former.cause === each.cause && former.since !== each.since)) {
      episodes.set(key, failedOf(each))
    }
  }
  return { memory: { ...defined({ worked }), causes }, episodes: [...episodes.values()] }
}
