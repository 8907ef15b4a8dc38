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
import type { Report } from "./Writer.ts"

/** Error in one line: message, n8n's details, hint. */
export const explain = (error: Errors.N8nError): string =>
  Visible.label(
    Hints.explain({ ...error, message: Errors.inOneLine(error).replace(/^Execution (?=')/, "Run ") }, { as: "person" }),
    1_000
  )

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

type Result = Partial<Omit<Sync.Outcome, "status">> & { readonly status: string; readonly blocked?: boolean }

/** Word for what became of a workflow. */
const wordOf = ({ action, blocked, error, held = [], refused, status }: Result) =>
  error !== undefined
    ? "failed"
    : refused === true
    ? "refused"
    : blocked === true
    ? "blocked"
    : action ?? (held.length > 0 ? "held" : status)

/** Numbers of workflows by their words. */
const tally = (entries: ReadonlyArray<Result>, none: string) =>
  Rows.tally(
    entries,
    (entry) =>
      `${
        entry.notPublished === true ? entry.action ?? "updated" : wordOf(entry).replace("both", "changed on both sides")
      }${entry.notPublished === true ? " but not published" : ""}`
  ) || none

/** Red for what a person has to see to, yellow for what differs, green for what is done. */
const colourOf = (word: string) =>
  /^(failed|invalid|both|conflict|blocked)/.test(word)
    ? 31
    : /^(gone|changed|refused|held)/.test(word)
    ? 33
    : /^(created|updated|new)/.test(word)
    ? 32
    : undefined

const width = 15

const below = (text: string) => `${" ".repeat(width)}${Visible.label(text, 400)}`

/** Form of the lines: `isDryRun` says that nothing was written. */
interface Lines {
  readonly isDryRun?: boolean
  readonly isColoured: boolean
}

const line = (label: string, result: Result, { isColoured, isDryRun = false }: Lines): string => {
  const { action, changed, detail, error, held = [], published, warnings = [] } = result
  const word = wordOf(result)
  const shown = isDryRun && word === action ? `${word} (dry)` : word
  const notes = error !== undefined ? [explain(error)] : [
    ...(detail === undefined ? [] : [detail]),
    ...(published === true
      ? ["published"]
      : published === false
      ? ["a draft: the published version is unchanged"]
      : []),
    ...(changed === undefined || changed === "nothing" ? [] : [Redact.redactText(changed)])
  ]
  const more = error === undefined ? [...held.map((each) => `waits for --publish: ${each}`), ...warnings] : []
  return [
    `${Layout.paint(shown, colourOf(word), isColoured)}${" ".repeat(Math.max(1, width - shown.length))}${label}${
      notes.length === 0 ? "" : `: ${Visible.label(notes.join("; "), error === undefined ? 400 : 1_000)}`
    }`,
    ...more.map(below)
  ].join("\n")
}

const forPrograms = <A extends Pick<Result, "changed" | "error">>({ changed, error, ...entry }: A) =>
  defined({
    ...entry,
    changed: changed === undefined ? undefined : Redact.redactText(changed),
    error: error === undefined ? undefined : { ...Errors.report(error), hint: Hints.text(error.hint) }
  })

export const outcomeLine = (outcome: Sync.Outcome, lines: Lines): string => line(label(outcome), outcome, lines)

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

const dry = (isDryRun: boolean) => isDryRun ? "Nothing was written; without --dry-run: " : ""

const rest = (remaining: number | undefined) => remaining === undefined ? "" : `; ${remaining} left: run it again`

const json = ({ entries, ...rest }: Sync.Report<Sync.Outcome> | Sync.PromotionReport) => ({
  ...rest,
  entries: entries.map(forPrograms)
})

export const promotionLine = (promotion: Sync.Promotion, lines: Lines): string => {
  const { id, name, status, target } = promotion
  const route = `${Visible.label(name, 80)}  (${Visible.label(id)}${
    target === undefined ? "" : ` → ${Visible.label(target)}`
  })`
  const detail = status === "conflict" ? { detail: "changed there since the last promotion" } : {}
  return line(route, { ...promotion, ...detail }, lines)
}

const obstacleLine = ({ node, reason, workflow }: Sync.Obstacle, lines: Lines): string =>
  line(
    `${Visible.label(workflow, 80)}${node === undefined ? "" : `, '${Visible.label(node, 80)}'`}`,
    { status: "blocked", detail: reason },
    lines
  )

/** Report of lines, whose exit status says whether a person has something to decide. */
const reportOf = (
  result: Sync.Report<Sync.Outcome> | Sync.PromotionReport,
  text: Report["text"],
  advice: ReadonlyArray<string>,
  isOpen: boolean
): Report => ({
  json: json(result),
  text,
  advice,
  exit: result.hasErrors ? 1 : isOpen ? 2 : 0
})

/** Report of a promotion whose steps are printed; those of a dry run are not. */
export const promotion = (result: Sync.PromotionReport, isDryRun: boolean, advice: ReadonlyArray<string>): Report => {
  const { entries, obstacles, remaining } = result
  const others = entries.filter(({ action, status }) => isDryRun && action !== undefined || status === "conflict")
  const summary = `${dry(isDryRun)}${tally(entries, "No workflows to promote")}${rest(remaining)}`
  return reportOf(
    result,
    ({ isColoured }) => [
      ...others.map((entry) => promotionLine(entry, { isDryRun, isColoured })),
      ...obstacles.map((each) => obstacleLine(each, { isColoured })),
      [summary, ...(obstacles.length === 0 ? [] : [counted(obstacles.length, "obstacle")])].join("; ")
    ],
    advice,
    result.hasConflicts
  )
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
const difference = (entry: Sync.Entry | Sync.Difference, lines: Lines): string => {
  if (!("view" in entry)) return outcomeLine(entry, lines)
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
  return `${outcomeLine(entry, lines)}\n  from ${from === "here" ? "the file to n8n" : "n8n to the file"}\n${
    Visible.text(text)
  }`
}

type Differences = ReadonlyArray<Sync.Entry | Sync.Difference>

/** Report of differences. */
export const differences = (all: Differences): Report => ({
  json: all,
  text: (screen) => all.map((each) => difference(each, screen)),
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
  const summary = dry(isDryRun) + tally(
    result.entries.toSorted((a, b) => order.indexOf(a.status) - order.indexOf(b.status)),
    "No workflows on either side"
  ) + rest(result.remaining)
  return reportOf(
    result,
    (screen) => [
      // Their warnings are advice.
      ...others.map(({ warnings: _, ...entry }) => outcomeLine(entry, screen)),
      summary,
      ...open.map((each) => difference(each, screen))
    ],
    advice,
    isOpen
  )
}
