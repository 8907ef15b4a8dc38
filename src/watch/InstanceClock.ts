/** Time zone of n8n itself, which its API does not tell but the runs of Schedule Triggers do. */
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { obj, str } from "../base/Json.ts"
import * as Execution from "../executions/Execution.ts"
import { Executions } from "../executions/Executions.ts"
import * as Workflow from "../n8n/model/Workflow.ts"
import type { Run } from "./Observation.ts"

/** Maximum number of runs that are read. */
const maxRead = 3

/** Workflow with the triggers that start it. */
export interface Scheduled {
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
export const zone = Effect.fn("InstanceClock.zone")(
  function*(workflows: ReadonlyArray<Scheduled>, runs: ReadonlyArray<Run>) {
    for (const { id } of candidates(workflows, runs)) {
      const execution = yield* Executions.use(({ get }) => get(id)).pipe(Effect.orElseSucceed(() => undefined))
      const name = execution && recorded(execution)
      if (name !== undefined) return { zone: name, run: id }
    }
    return undefined
  }
)
