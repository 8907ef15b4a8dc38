/** Reports of a sync. */
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Struct from "effect/Struct"
import type * as Errors from "../base/Errors.ts"
import { defined } from "../base/Json.ts"
import * as Rows from "../base/Rows.ts"
import * as Reference from "../workflows/Reference.ts"
import * as FolderComparison from "./folderComparison.ts"

/** One workflow of the folder or of n8n. */
export interface Entry {
  readonly status: FolderComparison.Status
  /** n8n's id; absent for a new file. */
  readonly id?: string
  readonly name: string
  /** Relative to the folder, with slashes. */
  readonly file?: string
  readonly detail?: string
  /** Its published version runs, and n8n has a newer one that is not published. */
  readonly draft?: true
}

/** Outcome of a pull or push for one workflow. */
export interface Outcome extends Entry {
  /** In a dry run, the planned action. `"kept"`: a conflict was resolved in favour of the file. Absent if nothing is done. */
  readonly action?: "created" | "updated" | "removed" | "kept"
  readonly changed?: string
  /** Whether the pushed version is the running one; absent if the workflow is not published. */
  readonly published?: boolean
  /** Changes that a push without publication did not write, since they would take effect immediately. */
  readonly held?: ReadonlyArray<string>
  /** It was to be published, and n8n refused; a warning has the reason. */
  readonly notPublished?: true
  readonly warnings?: ReadonlyArray<string>
  /** Its file was not written because of literal secrets. */
  readonly refused?: true
  readonly error?: Errors.N8nError
}

/** Outcome of a write with warnings that were known only after all writes. */
export const withWarnings = <A extends object>(
  outcome: A & { readonly warnings?: ReadonlyArray<string> },
  warnings: ReadonlyArray<string> = []
): A => warnings.length === 0 ? outcome : { ...outcome, warnings: [...outcome.warnings ?? [], ...warnings] }

/** Entries of a sync, and their totals. */
export interface Report<A extends Entry = Entry> {
  readonly entries: ReadonlyArray<A>
  /** Number of workflows left for the next call, since this one had to end; they have no entries. */
  readonly remaining?: number
  readonly counts: { readonly [status in FolderComparison.Status]?: number }
  readonly isSame: boolean
  /** Whether a workflow changed on both sides and the conflict is not resolved. */
  readonly hasConflicts: boolean
  /** Whether literal secrets were refused. */
  readonly hasSecrets: boolean
  /** Whether a file is not a workflow, or an action or a publication failed. */
  readonly hasErrors: boolean
}

/** Options of every sync. */
export const Options = FolderComparison.Options.mapFields(Struct.assign({
  /** Ids of workflows, or files relative to the folder, to which the sync is limited. */
  only: Schema.optional(Schema.Array(Schema.String)),
  /** Files to which the sync is limited; those that are not workflows are ignored. */
  among: Schema.optional(Schema.Array(Schema.String))
}))
/** Options of every sync. */
export interface Options extends Schema.Schema.Type<typeof Options> {}

export const nonEmpty = <A>(all: ReadonlyArray<A>): ReadonlyArray<A> | undefined => all.length === 0 ? undefined : all

export const entryOf = (
  { detail, file, id, name, remote, status }: Entry & Pick<FolderComparison.Item, "remote">
): Entry =>
  defined({
    status,
    id,
    name,
    file,
    detail,
    draft: remote?.active === true && remote.awaitsPublishing ? true as const : undefined
  })

const plain = (file: string) => file.replaceAll("\\", "/").replace(/^\.\//, "")

/** Selects pairs by `only` and `among`; fails if one of `only` does not exist. */
export const select = Effect.fnUntraced(function*({ pairs }: FolderComparison.Comparison, { among, only }: Options) {
  const files = among === undefined ? undefined : new Set(among.map(plain))
  const candidates = files === undefined ?
    pairs :
    pairs.filter(({ file, local }) =>
      file !== undefined && [file, ...local?.beside ?? []].some((each) => files.has(each))
    )
  if (only === undefined) return candidates
  const selection = new Set(
    (yield* Effect.forEach(only, (each) => Reference.pick(pairs, plain(each), "This folder"))).flat()
  )
  return candidates.filter((pair) => selection.has(pair))
})

export const reportOf = <A extends Entry & Pick<Outcome, "error" | "action" | "notPublished" | "refused">>(
  entries: ReadonlyArray<A>,
  remaining = 0
): Report<A> => ({
  entries,
  ...(remaining === 0 ? {} : { remaining }),
  counts: Rows.counts(entries, ({ status }) => status),
  isSame: remaining === 0 && entries.every(({ status }) => status === "same"),
  hasConflicts: entries.some(({ action, error, status }) =>
    status === "both" && action === undefined && error === undefined
  ),
  hasSecrets: entries.some(({ refused }) => refused === true),
  hasErrors: entries.some(({ error, notPublished, status }) =>
    status === "invalid" || error !== undefined || notPublished === true
  )
})
