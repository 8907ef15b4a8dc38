/** Parameters and answers of the sync tools. */
import * as Schema from "effect/Schema"
import * as Hints from "../../answer/Hints.ts"
import type * as Tool from "../../answer/Tool.ts"
import * as Errors from "../../base/Errors.ts"
import { defined } from "../../base/Json.ts"
import * as Rows from "../../base/Rows.ts"
import * as ItemView from "../../executions/ItemView.ts"
import type * as Sync from "../../sync/Sync.ts"
import * as parameters from "../shared/Parameters.ts"
import * as writing from "../shared/Writing.ts"

const Names = Schema.optionalKey(Schema.Array(Schema.String))

const Workflows = Schema.optionalKey(Schema.Array(Schema.Struct({
  name: Schema.String,
  id: Schema.optionalKey(Schema.String),
  file: Schema.optionalKey(Schema.String),
  detail: Schema.optionalKey(Schema.String),
  held: writing.held
})))

/** Workflows by group. Most are only names; `conflict`, `broken` and `failed` have a reason, and `updated` the change. */
export const Output = Schema.Struct({
  counts: Schema.Record(Schema.String, Schema.Int),
  updated: Workflows,
  /** Whose whole change waits for a publication. */
  held: Workflows,
  conflict: Workflows,
  broken: Workflows,
  failed: Workflows,
  created: Names,
  removed: Names,
  kept: Names,
  changedHere: Names,
  changedThere: Names,
  newHere: Names,
  newThere: Names,
  goneHere: Names,
  goneThere: Names,
  refused: Names,
  same: Names,
  /** Whose pushed version runs, those whose pushed version waits as a draft, and those that n8n refused to publish. */
  published: Names,
  drafts: Names,
  notPublished: Names,
  warnings: Names,
  /** Number of workflows that the next call continues with. */
  remaining: Schema.optionalKey(Schema.Int),
  hint: Schema.optionalKey(Schema.String)
})

/** Lists of names, longest last, that an `offset` continues. */
export const paged = ["updated", "conflict", "broken", "changedHere", "changedThere", "newHere", "newThere", "same"]

export const budget = (): Tool.Budget => ({ lists: { same: 60 } })

export const folder = parameters.withDefault(Schema.String.annotate({ description: "Default: the files root." }), ".")

export const only = parameters.optional(Schema.Array(Schema.String), "Only these: ids, or paths in the folder.")

const explain = (error: Errors.N8nError) =>
  Hints.explain({ ...error, message: Errors.inOneLine(error) }, { as: "model" })

const groupOf = ({ action, error, held, refused, status }: Sync.Outcome): string => {
  if (error !== undefined) return "failed"
  if (refused === true) return "refused"
  if (held !== undefined && action === undefined) return "held"
  return action ?? (status === "both" ? "conflict" : status === "invalid" ? "broken" : status)
}

const keyOf = (group: string) => group.replace(/ (.)/, (_, letter: string) => letter.toUpperCase())

const order = Object.keys(Output.fields)

const orderOf = (entry: Sync.Outcome) => order.indexOf(keyOf(groupOf(entry)))

const detailed = new Set(["updated", "held", "conflict", "broken", "failed"])

export const summarize = (
  { entries, remaining }: Sync.Report<Sync.Outcome>,
  hints: (data: typeof Output.Type) => ReadonlyArray<string | false | undefined>,
  showsThere = false
): typeof Output.Type => {
  const namesakes = Rows.counts(entries, ({ name }) => name)
  const label = ({ file, id, name }: Sync.Entry) => namesakes[name] === 1 ? name : `${name} (${file ?? id})`
  const names = (all: ReadonlyArray<Sync.Entry>) => all.length === 0 ? undefined : all.map(label)
  const row = ({ action, changed, detail, error, file, held, id, name, status }: Sync.Outcome) =>
    defined({
      name,
      ...(status === "both" ? { id } : {}),
      ...(name === file || action === "updated" && namesakes[name] === 1 ? {} : { file }),
      detail: error !== undefined ? explain(error) : changed === "nothing" ? detail : changed ?? detail,
      held
    })
  const groups = Object.fromEntries(
    [...Map.groupBy(entries, groupOf)].flatMap(([group, all]) =>
      group === "new there" && !showsThere ? [] : [[keyOf(group), detailed.has(group) ? all.map(row) : names(all)]]
    )
  )
  const warnings = Rows.grouped(
    entries.flatMap((entry) => (entry.warnings ?? []).map((warning) => ({ name: label(entry), warning }))),
    ({ warning }) => warning
  ).map(({ first, rows }) => `${Rows.listed(rows.map(({ name }) => name), 5)}: ${first.warning}`)
  const data: typeof Output.Type = defined({
    counts: Rows.counts(entries.toSorted((a, b) => orderOf(a) - orderOf(b)), groupOf),
    ...groups,
    published: names(entries.filter(({ published }) => published === true)),
    drafts: names(entries.filter(({ published }) => published === false)),
    notPublished: names(entries.filter(({ notPublished }) => notPublished === true)),
    warnings: warnings.length === 0 ? undefined : warnings,
    remaining
  })
  const rest = "Time ran out or n8n did not answer: call again with the same input to continue."
  return defined({ ...data, hint: ItemView.joinNotes([remaining !== undefined && rest, ...hints(data)]) })
}

export const message = ({ counts, notPublished = [], remaining }: typeof Output.Type, ja: string, isDryRun = false) => {
  const all = Object.entries(counts).map(([group, count]) => `${count} ${group}`)
  const parts = [...all, ...notPublished.length === 0 ? [] : [`${notPublished.length} refused by n8n when published`]]
  const en = `${isDryRun ? "Dry run: " : ""}${parts.join(", ") || "No workflows on either side"}`
  return remaining === undefined
    ? { en, ja }
    : { en: `${en}; ${remaining} remain`, ja: `${ja}（残り ${remaining} 件）` }
}
