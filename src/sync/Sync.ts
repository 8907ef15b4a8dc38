/**
 * A folder of workflow files in step with n8n.
 *
 * **Details**
 *
 * Each file is plain n8n JSON, and goes with its workflow by the `id` in it. What both sides had in common when they
 * last met stands in `.n8n-sync.json`, so that it is known which side changed. Whether a workflow runs is no part of
 * it: pulling changes nothing on n8n, and pushing publishes only when asked.
 *
 * **Gotchas**
 *
 * Pinned data and static data are left out unless they are asked for; from then on they belong to the folder.
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
  type PromotionReport
} from "./promotion/Promote.ts"
export { pull, type PullOptions } from "./pull.ts"
export { push, type PushOptions } from "./push.ts"
export type { Entry, Options, Outcome, Report, Step } from "./report.ts"

/** How each workflow stands; reads `GET /workflows`, and `GET /workflows/{id}` of what changed. Writes nothing. */
export const status = Effect.fn("Sync.status")(function*(folder: string, options: Options = {}) {
  const comparison = yield* Compare.make(folder, options)
  return reportOf((yield* select(comparison, options)).map(entryOf))
})
