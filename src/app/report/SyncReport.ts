/** Reports of pulls, pushes and promotions as text and JSON. */
import * as Hints from "../../answer/Hints.ts"
import * as Errors from "../../base/Errors.ts"
import { defined } from "../../base/Json.ts"
import { counted } from "../../base/Plural.ts"
import * as Redact from "../../base/Redact.ts"
import * as Rows from "../../base/Rows.ts"
import * as Visible from "../../base/Visible.ts"
import type * as Sync from "../../sync/Sync.ts"
import type * as WorkflowDiff from "../../workflow/diff/WorkflowDiff.ts"
import * as Layout from "./Layout.ts"
import type { Report } from "./Report.ts"

/** Error in one line: message, n8n's details, hint. */
export const explain = (error: Errors.N8nError): string =>
  Visible.label(`${Errors.inOneLine(error)}. ${Hints.textForPerson(error.hint)}`.trim().replace("..", "."), 1_000)

/** Letters and digits of a name, which the name of its file has too. */
const core = (name: string) => name.toLowerCase().replace(/[^\p{L}\p{N}]+/gu, "")

/** A workflow by its file, with its name if that says more, or by its name and id. */
const label = ({ file, id, name }: Sync.Entry) => {
  const shown = Visible.label(name, 80)
  if (file === undefined) return id === undefined ? shown : `${shown}  (${Visible.label(id)})`
  const named = core(file.replace(/^.*[\\/]|\.json$/g, ""))
  const isNamed = named !== "" && core(name).startsWith(named) || name === file
  return `${Visible.label(file, 200)}${isNamed ? "" : `  ${shown}`}`
}

const width = 15

export const entryLine = (entry: Sync.Outcome): string =>
  `${entry.status.padEnd(width)}${label(entry)}${
    entry.detail === undefined ? "" : `: ${Visible.label(entry.detail, 300)}`
  }`

interface Result
  extends Pick<Sync.Outcome, "action" | "changed" | "error" | "held" | "published" | "refused" | "warnings">
{
  readonly status: string
}

const resultLine = (label: string, result: Result, isDryRun: boolean, remarks: ReadonlyArray<string> = []): string => {
  const { action, changed, error, held = [], published, refused, status, warnings } = result
  if (error !== undefined) return `${"failed".padEnd(width)}${label}: ${explain(error)}`
  const what = refused === true
    ? "refused"
    : action === undefined
    ? held.length > 0 ? "held" : status
    : isDryRun
    ? `${action} (dry)`
    : action
  const notes = [
    ...(published === true
      ? ["published"]
      : published === false
      ? ["a draft: the published version is unchanged"]
      : []),
    ...remarks,
    ...(changed === undefined || changed === "nothing" ? [] : [Redact.redactText(changed)])
  ]
  return [
    `${what.padEnd(width)}${label}${notes.length === 0 ? "" : `: ${Visible.label(notes.join("; "), 400)}`}`,
    ...held.map((line) => `${" ".repeat(width)}${Visible.label(`waits for --publish: ${line}`, 400)}`),
    ...(warnings ?? []).map((warning) => `${" ".repeat(width)}${Visible.label(warning, 400)}`)
  ].join("\n")
}

const forPrograms = <A extends Pick<Result, "changed" | "error">>({ changed, error, ...entry }: A) =>
  defined({
    ...entry,
    changed: changed === undefined ? undefined : Redact.redactText(changed),
    error: error === undefined ? undefined : { ...Errors.report(error), hint: Hints.text(error.hint) }
  })

export const outcomeLine = (outcome: Sync.Outcome, isDryRun = false): string =>
  resultLine(label(outcome), outcome, isDryRun)

const order: ReadonlyArray<Sync.Status> = [
  "same",
  "changed here",
  "changed there",
  "both",
  "new here",
  "new there",
  "gone here",
  "gone there",
  "invalid"
]

const words = (entry: Sync.Outcome) =>
  entry.error === undefined
    ? entry.refused === true
      ? "refused"
      : entry.notPublished === true
      ? `${entry.action ?? "updated"} but not published`
      : entry.action === undefined && entry.held !== undefined
      ? "held"
      : entry.action ?? (entry.status === "both" ? "changed on both sides" : entry.status)
    : "failed"

const dry = (isDryRun: boolean) => isDryRun ? "Nothing was written; without --dry-run: " : ""

const rest = (remaining: number | undefined) => remaining === undefined ? "" : `; ${remaining} left: run it again`

const summary = ({ entries, remaining }: Sync.Report<Sync.Outcome>, isDryRun = false): string =>
  dry(isDryRun) +
  (Rows.tally(entries.toSorted((a, b) => order.indexOf(a.status) - order.indexOf(b.status)), words) ||
    "No workflows on either side") +
  rest(remaining)

const json = ({ entries, ...rest }: Sync.Report<Sync.Outcome> | Sync.PromotionReport) => ({
  ...rest,
  entries: entries.map(forPrograms)
})

export const promotionLine = (promotion: Sync.Promotion, isDryRun = false): string => {
  const { id, name, status, target } = promotion
  const route = `${Visible.label(name, 80)}  (${Visible.label(id)}${
    target === undefined ? "" : ` → ${Visible.label(target)}`
  })`
  return resultLine(route, promotion, isDryRun, status === "conflict" ? ["changed there since the last promotion"] : [])
}

const obstacleLine = ({ node, reason, workflow }: Sync.Obstacle): string =>
  `${"blocked".padEnd(width)}${Visible.label(workflow, 80)}${
    node === undefined ? "" : `, '${Visible.label(node, 80)}'`
  }: ${Visible.label(reason, 400)}`

const promotionSummary = ({ entries, obstacles, remaining }: Sync.PromotionReport, isDryRun: boolean): string =>
  [
    dry(isDryRun) + (Rows.tally(
      entries,
      ({ action, blocked, error, notPublished, status }) =>
        error !== undefined
          ? "failed"
          : blocked === true
          ? "blocked"
          : `${action ?? status}${notPublished === true ? " but not published" : ""}`
    ) || "No workflows to promote") + rest(remaining),
    ...(obstacles.length === 0 ? [] : [counted(obstacles.length, "obstacle")])
  ].join("; ")

/** Report of lines, whose exit status says whether a person has something to decide. */
const reportOf = (
  result: Sync.Report<Sync.Outcome> | Sync.PromotionReport,
  lines: ReadonlyArray<string>,
  advice: ReadonlyArray<string>,
  isOpen: boolean
): Report => ({
  json: json(result),
  text: ({ isColoured }) => lines.map((line) => Layout.marked(line, isColoured)),
  advice,
  exit: result.hasErrors ? 1 : isOpen ? 2 : 0
})

/** Report of a promotion whose steps are printed; those of a dry run are not. */
export const promotion = (result: Sync.PromotionReport, isDryRun: boolean, advice: ReadonlyArray<string>): Report => {
  const others = result.entries.filter(({ action, status }) =>
    isDryRun && action !== undefined || status === "conflict"
  )
  const lines = [
    ...others.map((entry) => promotionLine(entry, isDryRun)),
    ...result.obstacles.map(obstacleLine),
    promotionSummary(result, isDryRun)
  ]
  return reportOf(result, lines, advice, result.hasConflicts)
}

const shown = (value: unknown) => value === undefined ? "none" : JSON.stringify(value)

const fieldText = ({ after, before, diff, path }: WorkflowDiff.FieldView) =>
  diff === undefined
    ? `    ${Visible.label(path, 200)}: ${shown(before)} → ${shown(after)}`
    : `    ${Visible.label(path, 200)}:\n${diff.replace(/^/gm, " ".repeat(6))}`

const nodeText = ({ change, fields = [], formerName, node }: WorkflowDiff.NodeView) =>
  [
    `  ${change} '${Visible.label(node)}'${
      formerName === undefined ? "" : `, formerly '${Visible.label(formerName)}'`
    }`,
    ...fields.map(fieldText)
  ].join("\n")

const list = (values: ReadonlyArray<string>) =>
  values.length === 0 ? "none" : values.map((value) => Visible.label(value)).join(", ")

/** Difference of one workflow, or its status if only one side has it. */
export const difference = (entry: Sync.Entry | Sync.Difference): string => {
  if (!("view" in entry)) return entryLine(entry)
  const { from, tags, view } = entry
  const whole = (title: string, fields: ReadonlyArray<WorkflowDiff.FieldView> | undefined) =>
    fields === undefined || fields.length === 0 ? [] : [`  ${title}`, ...fields.map(fieldText)]
  const text = [
    ...(view.name === undefined ? [] : [`  name: ${shown(view.name.before)} → ${shown(view.name.after)}`]),
    ...view.nodes.map(nodeText),
    ...view.connections.removed.map((link) => `  - ${Visible.label(link, 200)}`),
    ...view.connections.added.map((link) => `  + ${Visible.label(link, 200)}`),
    ...whole("settings", view.settings),
    ...whole("other fields", view.other),
    ...(tags === undefined ? [] : [`  tags: ${list(tags.before)} → ${list(tags.after)}`]),
    ...(view.moved === 0 ? [] : [`  ${counted(view.moved, "node")} moved`])
  ].join("\n")
  return `${entryLine(entry)}\n  from ${from === "here" ? "the file to n8n" : "n8n to the file"}\n${Visible.text(text)}`
}

type Differences = ReadonlyArray<Sync.Entry | Sync.Difference>

/** Report of differences. */
export const differences = (all: Differences): Report => ({
  json: all,
  text: ({ isColoured }) => all.map((each) => Layout.marked(difference(each), isColoured)),
  exit: all.some(({ status }) => status === "invalid") ? 1 : all.length > 0 ? 2 : 0
})

interface Form {
  readonly isDryRun?: boolean
  /** Whether what is only on n8n is listed, not only counted. */
  readonly listsNew?: boolean
  /** Whether something is there that a person has to decide. */
  readonly isOpen: boolean
  /** Differences of what was left out. */
  readonly open?: Differences
  readonly advice?: ReadonlyArray<string>
}

/** Report of a sync whose steps are printed: the other workflows that differ, and how many there are of each kind. */
export const sync = (
  result: Sync.Report<Sync.Outcome>,
  { advice = [], isDryRun = false, isOpen, listsNew = true, open = [] }: Form
): Report => {
  const others = result.entries.filter(({ action, error, held, refused, status }) =>
    (action ?? error ?? held ?? refused) === undefined && status !== "same" &&
    (listsNew || status !== "new there")
  )
  return reportOf(
    result,
    [...others.map(entryLine), summary(result, isDryRun), ...open.map(difference)],
    advice,
    isOpen
  )
}
