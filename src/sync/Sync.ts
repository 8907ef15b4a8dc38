/**
 * Syncs a folder of workflow files with n8n. Each file is plain n8n JSON and belongs to the workflow of the `id` in it.
 * The file `.n8n-sync.json` records the last common state, which shows the side that changed since. Whether a workflow
 * is active is not synced: pulling changes nothing on n8n, and pushing publishes only when asked. Pinned data and
 * static data are synced only after they were requested once for a folder.
 */
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Struct from "effect/Struct"
import * as Input from "../base/Input.ts"
import { arr, equals } from "../base/Json.ts"
import * as ReadableDiff from "../workflow/diff/ReadableDiff.ts"
import type * as WorkflowDiff from "../workflow/diff/WorkflowDiff.ts"
import * as content from "./content.ts"
import * as FolderComparison from "./folderComparison.ts"
import * as Locals from "./locals.ts"
import { type Entry, entryOf, Options, reportOf, select } from "./outcomes.ts"

export type { Extra } from "./content.ts"
export { Secrets, type Status } from "./folderComparison.ts"
export type { Entry, Options, Outcome, Report } from "./outcomes.ts"
export * from "./promotion/Promote.ts"
export { pull, type PullOptions, Resolve } from "./pull.ts"
export { push, type PushOptions } from "./push.ts"

const check = Input.decoder(Options)

/** Status of each workflow; calls `GET /workflows`, and `GET /workflows/{id}` for changed ones. Writes nothing. Before a
 * call's deadline it leaves the rest to the next call. */
export const status = Effect.fn("Sync.status")(function*(folder: string, options: Options = {}) {
  yield* check(options)
  const comparison = yield* FolderComparison.make(folder, options)
  const pairs = yield* select(comparison, options)
  const { items, remaining } = yield* FolderComparison.compareAll(comparison, pairs)
  return reportOf(items.map(entryOf), remaining)
})

/** A workflow that exists on both sides and differs. */
export interface Difference extends Entry {
  readonly from: "here" | "there"
  readonly view: WorkflowDiff.View
  /** Present if the tags differ. */
  readonly tags?: { readonly before: ReadonlyArray<string>; readonly after: ReadonlyArray<string> }
}

const DiffOptions = Options.mapFields(Struct.assign({
  /** Shows secrets. By default they are redacted, and the diff only says that they differ. */
  showsSecrets: Schema.optional(Schema.Boolean)
}))
/** Options of a diff. */
export interface DiffOptions extends Schema.Schema.Type<typeof DiffOptions> {}

const checkDiff = Input.decoder(DiffOptions)

/** Workflows that are not the same, with the differences of those that exist on both sides. Writes nothing. */
export const diff = Effect.fn("Sync.diff")(function*(folder: string, options: DiffOptions = {}) {
  yield* checkDiff(options)
  const comparison = yield* FolderComparison.make(folder, options)
  const { scope } = comparison
  const differences = yield* Effect.forEach(yield* select(comparison, options), (pair) =>
    Effect.gen(function*() {
      const item = yield* FolderComparison.compare(pair, scope, false)
      if (item === undefined || item.status === "same") return []
      const { local, remote, status } = item
      if (local === undefined || remote === undefined || status === "invalid") return [entryOf(item)]
      const here = yield* Locals.read(local, scope)
      const there = content.of(yield* FolderComparison.whole(remote), scope)
      const isFromHere = status === "changed there"
      const [before, after] = isFromHere ? [here, there] : [there, here]
      const tags = { before: arr(before["tags"]).map(String), after: arr(after["tags"]).map(String) }
      const difference: Difference = {
        ...entryOf(item),
        from: isFromHere ? "here" : "there",
        view: ReadableDiff.make(before, after, { showsSecrets: options.showsSecrets === true }),
        ...(equals(tags.before, tags.after) ? {} : { tags })
      }
      return [difference]
    }), { concurrency: Locals.concurrency })
  const shown: ReadonlyArray<Entry | Difference> = differences.flat()
  return shown
})
