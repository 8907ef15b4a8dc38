/** Sentences about what an answer lacks, and why. Pure. */
import { counted } from "../base/Plural.ts"
import * as ExecutionHead from "../n8n/model/ExecutionHead.ts"
import type { Execution } from "./Execution.ts"

/** Sentence, or nothing if it does not apply. */
export type Note = string | false | undefined

export const join = (notes: ReadonlyArray<Note>): string | undefined =>
  notes.filter((note) => typeof note === "string").join(" ") || undefined

/** Sentence about a number of things; none without any. */
export const about = (count: number, noun: string, sentence: (counted: string) => string): Note =>
  count > 0 && sentence(counted(count, noun))

/** Statements that n8n itself hid items. */
export const hidden = {
  items: "n8n hides these items (redaction).",
  execution: ({ id }: Pick<Execution, "id">) => `n8n hides the items of execution '${id}' (redaction)`,
  runs: (count: number) => about(count, "run", (runs) => `n8n itself hides the items of ${runs}.`),
  sizes: (count: number) =>
    about(count, "execution", (some) => `n8n hides the items of ${some}: their bytes and tokens are not counted.`)
}

/** Advice for an execution with hidden items. */
export const reveal =
  "Counts, times and the kind of an error are in get_execution. n8n shows the items to a user with the scope execution:reveal."

/** Explains why an execution's data are incomplete; `undefined` if they are not. */
export const incomplete = ({ runs, status }: Execution): string | undefined => {
  const isEmpty = runs.size === 0
  if (ExecutionHead.isOver(status)) return isEmpty ? "n8n has no data for this execution, or no node ran." : undefined
  return isEmpty
    ? `The execution is ${status}, and n8n shows no data for it yet: use get_execution with wait.`
    : `The execution is ${status}: this is its data so far.`
}
