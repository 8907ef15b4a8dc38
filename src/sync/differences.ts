/** What differs between the folder and n8n. */
import * as Effect from "effect/Effect"
import { arr, equals } from "../base/Json.ts"
import * as Comparison from "../workflows/diff/Comparison.ts"
import type * as WorkflowDiff from "../workflows/diff/WorkflowDiff.ts"
import * as Compare from "./comparison.ts"
import * as content from "./content.ts"
import { type Entry, entryOf, type Options, select } from "./report.ts"

/** A workflow that both sides have, and differs. */
export interface Difference extends Entry {
  /** Where `before` is: the side that did not change, or n8n where both did. */
  readonly from: "here" | "there"
  readonly view: WorkflowDiff.View
  /** Where the tags differ. */
  readonly tags?: { readonly before: ReadonlyArray<string>; readonly after: ReadonlyArray<string> }
}

/** How it is shown. */
export interface DiffOptions extends Options {
  /** Shows secrets as they are; else they are replaced, and only told to differ. */
  readonly showsSecrets?: boolean | undefined
}

/** All workflows that are not the same, and of those that both sides have, what differs. Writes nothing. */
export const diff = Effect.fn("Sync.diff")(function*(folder: string, options: DiffOptions = {}) {
  const comparison = yield* Compare.make(folder, options)
  const items = (yield* select(comparison, options)).filter(({ status }) => status !== "same")
  const differences = yield* Effect.forEach(items, (item) =>
    Effect.gen(function*() {
      const { local, remote, status } = item
      if (local === undefined || remote === undefined || status === "invalid") return undefined
      const there = content.of(yield* Compare.whole(remote), comparison.scope)
      const isFromHere = status === "changed there"
      const [before, after] = isFromHere ? [local.content, there] : [there, local.content]
      const tags = { before: arr(before["tags"]).map(String), after: arr(after["tags"]).map(String) }
      const difference: Difference = {
        ...entryOf(item),
        from: isFromHere ? "here" : "there",
        view: Comparison.make(before, after, { showsSecrets: options.showsSecrets === true }),
        ...(equals(tags.before, tags.after) ? {} : { tags })
      }
      return difference
    }), { concurrency: 8 })
  const shown: ReadonlyArray<Entry | Difference> = items.map((item, index) => differences[index] ?? entryOf(item))
  return shown
})
