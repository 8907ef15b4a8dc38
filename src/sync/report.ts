/** What is told of a sync. */
import * as Effect from "effect/Effect"
import * as Errors from "../base/Errors.ts"
import { defined, type Obj } from "../base/Json.ts"
import { suggestion } from "../base/Nearest.ts"
import { redact } from "../base/Redact.ts"
import * as WorkflowDiff from "../workflows/diff/WorkflowDiff.ts"
import type * as Compare from "./comparison.ts"

/** One workflow of the folder or of n8n. */
export interface Entry {
  readonly status: Compare.Status
  /** n8n's; a new file has none. */
  readonly id?: string
  readonly name: string
  /** Relative to the folder, with slashes. */
  readonly file?: string
  /** What more there is to say of its status. */
  readonly detail?: string
}

/** What a pull or push did about one workflow. */
export interface Outcome extends Entry {
  /** In a dry run: what would be done; `kept` is a conflict settled for the file. Absent where nothing was done. */
  readonly action?: "created" | "updated" | "removed" | "kept"
  /** What changed, in one line. */
  readonly changed?: string
  /** Of a pushed workflow: whether it runs as it was pushed; absent where nothing of it runs. */
  readonly published?: boolean
  readonly warnings?: ReadonlyArray<string>
  readonly error?: Errors.N8nError
}

/** All of them. */
export interface Report<A extends Entry = Entry> {
  readonly entries: ReadonlyArray<A>
  readonly counts: { readonly [status in Compare.Status]?: number }
  /** Whether both sides are the same. */
  readonly isSame: boolean
  /** Whether something changed on both sides, and was left. */
  readonly hasConflicts: boolean
  /** Whether a file is no workflow, or something could not be done. */
  readonly hasErrors: boolean
}

/** What happens along the way. */
export type Step =
  /** Literal secrets that are about to be written into a file. */
  | { readonly _tag: "Secrets"; readonly file: string; readonly warnings: ReadonlyArray<string> }
  | { readonly _tag: "Done"; readonly outcome: Outcome; readonly count: number; readonly total: number }

/** What every sync takes. */
export interface Options extends Compare.Options {
  /** Only these: ids, or files as they are called in the folder. */
  readonly only?: ReadonlyArray<string> | undefined
  /** Only files among these, which need not be workflows. */
  readonly among?: ReadonlyArray<string> | undefined
}

/** What is told of an item. */
export const entryOf = ({ detail, file, id, name, status }: Entry): Entry => defined({ status, id, name, file, detail })

const plain = (file: string) => file.replaceAll("\\", "/").replace(/^\.\//, "")

/** The chosen items; one that there is not is refused. */
export const select = Effect.fnUntraced(function*({ items }: Compare.Comparison, { among, only }: Options) {
  const files = among === undefined ? undefined : new Set(among.map(plain))
  const candidates = files === undefined ?
    items :
    items.filter(({ file, local }) =>
      file !== undefined && [file, ...local?.beside ?? []].some((each) => files.has(each))
    )
  if (only === undefined) return candidates
  const wanted = new Set(only.map(plain))
  const isWanted = (name: string | undefined) => name !== undefined && wanted.has(name)
  const names = items.flatMap(({ file, id }) => [file, id].flatMap((each) => each ?? []))
  const missing = [...wanted].find((each) => !names.includes(each))
  return missing === undefined
    ? candidates.filter(({ file, id }) => isWanted(id) || isWanted(file))
    : yield* new Errors.ValidationError({
      reason: `There is no workflow '${missing}' here`,
      field: "only",
      hint: `Give ids, or paths in the folder. ${suggestion(missing, names)}`
    })
})

/** Counts the entries. */
export const reportOf = <A extends Entry & Pick<Outcome, "error" | "action">>(
  entries: ReadonlyArray<A>
): Report<A> => ({
  entries,
  counts: Object.fromEntries(
    [...Map.groupBy(entries, ({ status }) => status)].map(([status, all]) => [status, all.length])
  ),
  isSame: entries.every(({ status }) => status === "same"),
  hasConflicts: entries.some(({ action, error, status }) =>
    status === "both" && action === undefined && error === undefined
  ),
  hasErrors: entries.some(({ error, status }) => status === "invalid" || error !== undefined)
})

/** What changed, in one line without secrets. */
export const changedLine = (before: Obj, after: Obj): string => {
  const clean = WorkflowDiff.summary(redact(before), redact(after))
  return clean === "nothing" ? WorkflowDiff.line(WorkflowDiff.make(before, after)) : clean
}
