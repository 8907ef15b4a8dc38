/** Promotion of workflows from one n8n, or from a folder, to another n8n. */
import * as Effect from "effect/Effect"
import { WorkflowFiles } from "../../workflows/files/WorkflowFiles.ts"
import { hostOf } from "../state.ts"
import * as Apply from "./apply.ts"
import * as Facts from "./facts.ts"
import type { PromoteOptions, Promotion, PromotionReport } from "./options.ts"
import * as Plan from "./plan.ts"
import * as Record from "./record.ts"
import * as Source from "./source.ts"

export * from "./options.ts"

const foreseen = ({ entry }: Plan.Task): Promotion => ({
  ...entry,
  action: entry.status === "new" ? "created" : "updated"
})

/**
 * Promotes workflows from one n8n, or from the files of the folder, to another n8n: creates missing ones, and updates
 * those that it created or that are bound. Credentials, called workflows, error workflows and data tables are replaced
 * by those of the second n8n: by the bindings, by earlier promotions, else by type and name. A workflow with something
 * that cannot be resolved is not written, nor one that changed on the second n8n since the last promotion, nor those
 * that depend on them; the report lists all obstacles. The folder's `.n8n-promotion.json` maps the ids; it is written
 * after each workflow. Nothing is published unless asked. An unbound workflow of the second n8n that only has the same
 * name is never overwritten.
 */
export const promote = Effect.fn("Sync.promote")(function*<R = never>(
  userPath: string,
  options: PromoteOptions<R>
) {
  const { dryRun = false, from, publishes = false, to } = options
  const folder = yield* WorkflowFiles.use((files) => files.folder(userPath))
  return yield* folder.exclusively(Effect.gen(function*() {
    const address = yield* Source.addressOf(from, folder)
    if (address === hostOf(to.instance.url)) {
      return yield* from === "folder"
        ? Facts.refuse(`'${folder.path}' is synced with ${address}`, "Use push for this n8n, or choose another one.")
        : Facts.refuse("Both profiles are the same n8n", "Give two profiles with different addresses.")
    }
    const facts = yield* Facts.read(options, folder, userPath)
    const recorded = Record.withIds(yield* Record.read(folder, address, to.instance.url), facts.source.refs)
    const plan = yield* Plan.make(options, facts, recorded.route)
    const { obstacles } = plan
    const outcomes: ReadonlyMap<string, Promotion> = dryRun
      ? new Map(Apply.due(plan, publishes).map((task) => [task.entry.id, foreseen(task)]))
      : yield* Apply.run(options, facts, plan, folder, recorded)
    const planned = new Map(plan.tasks.map(({ entry }) => [entry.id, entry]))
    const entries = [...facts.chosen].flatMap((id) => outcomes.get(id) ?? planned.get(id) ?? [])
    const report: PromotionReport = {
      entries,
      obstacles,
      hasConflicts: entries.some(({ status }) => status === "conflict"),
      hasErrors: obstacles.length > 0 || entries.some(({ error }) => error !== undefined)
    }
    return report
  }))
})
