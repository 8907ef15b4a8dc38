/** From one n8n to another: reads both, plans, and writes if nothing is in the way. */
import * as Effect from "effect/Effect"
import { WorkflowFiles } from "../../workflows/files/WorkflowFiles.ts"
import * as CarryOut from "./carryOut.ts"
import * as Facts from "./facts.ts"
import * as Plan from "./plan.ts"
import type { PromoteOptions, Promotion, PromotionReport } from "./promotion.ts"
import * as Record from "./record.ts"

export { Bindings, type Obstacle, type PromoteOptions, type Promotion, type PromotionReport } from "./promotion.ts"

/** What a dry run tells. */
const foreseen = ({ entry }: Plan.Task): Promotion => ({
  ...entry,
  action: entry.status === "new" ? "created" : "updated"
})

/**
 * Brings workflows from one n8n to another: creates those that are not there, and updates those it created or that are
 * bound.
 *
 * **Details**
 *
 * Credentials, called workflows, error workflows and data tables become those of the second n8n: by the bindings, by
 * what was promoted before, else by type and name. What cannot be resolved is told all at once, and then nothing is
 * written; nor is it where the second n8n changed since the last time. What became what stands in the folder's
 * `.n8n-promotion.json`, written after each workflow. Nothing is published unless asked.
 *
 * **Gotchas**
 *
 * A workflow of the second n8n that merely has the same name is never overwritten unless it is bound.
 */
export const promote = Effect.fn("Sync.promote")(function*<R = never>(
  userPath: string,
  options: PromoteOptions<R>
) {
  const { dryRun = false, from, publishes = false, to } = options
  if (from.instance.url === to.instance.url) {
    return yield* Facts.refuse("Both profiles are the same n8n", "Give two profiles with different addresses.")
  }
  const folder = yield* WorkflowFiles.use((files) => files.folder(userPath))
  return yield* folder.exclusively(Effect.gen(function*() {
    const recorded = yield* Record.read(folder, from.instance.url, to.instance.url)
    const facts = yield* Facts.read(options)
    const plan = yield* Plan.make(options, facts, recorded.route)
    const { obstacles } = plan
    const hasConflicts = plan.tasks.some(({ entry }) => entry.status === "conflict")
    const outcomes: ReadonlyMap<string, Promotion> = dryRun
      ? new Map(CarryOut.due(plan, publishes).map((task) => [task.entry.id, foreseen(task)]))
      : obstacles.length > 0 || hasConflicts
      ? new Map()
      : yield* CarryOut.run(options, facts, plan, folder, recorded)
    const planned = new Map(plan.tasks.map(({ entry }) => [entry.id, entry]))
    const entries = [...facts.chosen].flatMap((id) => outcomes.get(id) ?? planned.get(id) ?? [])
    const report: PromotionReport = {
      entries,
      obstacles,
      hasConflicts,
      hasErrors: obstacles.length > 0 || entries.some(({ error }) => error !== undefined)
    }
    return report
  }))
})
