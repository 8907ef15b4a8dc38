/**
 * Syncs a folder of workflow files with n8n.
 *
 * **Details**
 *
 * Each file is plain n8n JSON and belongs to the workflow of the `id` in it. The file `.n8n-sync.json` records the last
 * common state, which shows the side that changed since. Whether a workflow is active is not synced: pulling changes
 * nothing on n8n, and pushing publishes only when asked.
 *
 * **Gotchas**
 *
 * Pinned data and static data are synced only after they were requested once for a folder.
 */
import * as Effect from "effect/Effect"
import * as Compare from "./comparison.ts"
import { entryOf, type Options, reportOf, select } from "./report.ts"

export type { Status } from "./comparison.ts"
export type { Extra } from "./content.ts"
export { diff, type Difference, type DiffOptions } from "./differences.ts"
export {
  Bindings,
  type Obstacle,
  promote,
  type PromoteOptions,
  type Promotion,
  type PromotionReport,
  type PromotionStep
} from "./promotion/Promote.ts"
export { pull, type PullOptions } from "./pull.ts"
export { push, type PushOptions } from "./push.ts"
export type { Entry, Options, Outcome, Report, Step } from "./report.ts"

/** Status of each workflow; calls `GET /workflows`, and `GET /workflows/{id}` for changed ones. Writes nothing. */
export const status = Effect.fn("Sync.status")(function*(folder: string, options: Options = {}) {
  const comparison = yield* Compare.make(folder, options)
  return reportOf((yield* select(comparison, options)).map(entryOf))
})
