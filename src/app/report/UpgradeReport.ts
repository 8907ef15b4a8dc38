/** Upgrades of many workflows, as text for people and as JSON. Pure. */
import { counted } from "../../base/Plural.ts"
import * as Rows from "../../base/Rows.ts"
import * as Visible from "../../base/Visible.ts"
import * as Upgrades from "../../trials/Upgrades.ts"
import { markOf } from "./ProofReport.ts"
import { explain } from "./SyncReport.ts"

const text = (value: string) => Visible.label(value, 200)

const shortType = (typed: string) => typed.slice(typed.lastIndexOf(".", typed.indexOf(" ")) + 1)

const quoted = (names: ReadonlyArray<string>) => Rows.names(names, 5, 200)

/** Entries with the same text as one, the most frequent first. */
const groups = <A>(entries: ReadonlyArray<A>, textOf: (entry: A) => string) =>
  Rows.grouped(entries, textOf).toSorted((a, b) => b.count - a.count).map(({ first, rows }) =>
    [textOf(first), rows] as const
  )

const label = ({ name, workflow }: Upgrades.Subject) => workflow.endsWith(".json") ? workflow : name

const why = (error: Upgrades.Report["notProven"][number]["error"]) => typeof error === "string" ? error : explain(error)

const section = (title: string, lines: ReadonlyArray<string>) => lines.length === 0 ? [] : ["", title, ...lines]

export const lines = (report: Upgrades.Report, isDryRun: boolean, isColoured: boolean): ReadonlyArray<string> => {
  const { different, drafts, failed, left, notProven, proven, upgraded, waiting, workflows } = report
  // Nodes that are left were outdated before.
  const code = Upgrades.exitCode({ ...report, left: [] })
  const count = new Set(upgraded.map(({ workflow }) => workflow)).size
  return [
    `${markOf(code, isColoured)} ${isDryRun ? "Would upgrade" : "Upgraded"} ${counted(upgraded.length, "node")} in ${
      count === workflows ? counted(count, "workflow") : `${count} of ${counted(workflows, "workflow")}`
    }` + (left.length === 0 ? "" : `; ${counted(left.length, "node")} left`) +
    (proven.runs === 0 ? "" : `; ${proven.same} of ${counted(proven.runs, "replayed run")} the same`),
    ...groups(upgraded, ({ from, to }) => `${shortType(from)} → ${shortType(to)}`).map(([change, entries]) =>
      `  ${change}: ${counted(entries.length, "node")} in ${quoted(entries.map(label))}`
    ),
    ...section(
      "left",
      groups(left, ({ decision, type, why }) => `${shortType(type)}: ${why} ${decision}`).flatMap((
        [reason, entries]
      ) => [
        `  ${Visible.label(reason, 500)}`,
        `    ${quoted(entries.map((each) => `${label(each)}: ${each.node}`))}`
      ])
    ),
    ...section("differ", different.map((each) => `  '${text(label(each))}': ${Visible.label(each.verdict, 400)}`)),
    ...section(
      "had unpublished changes before, which publishing the upgrade publishes too",
      waiting.map((each) => `  '${text(label(each))}'`)
    ),
    ...section("upgraded before and not published yet", drafts.map((each) => `  '${text(label(each))}'`)),
    ...section(
      "not proven",
      groups(notProven, ({ error }) => why(error)).map(([reason, entries]) =>
        `  ${quoted(entries.map(label))}: ${Visible.label(reason, 300)}`
      )
    ),
    ...section("failed", failed.map(({ error, ...each }) => `  '${text(label(each))}': ${explain(error)}`))
  ]
}

export const json = ({ failed, notProven, ...report }: Upgrades.Report) => ({
  ...report,
  failed: failed.map(({ error, ...subject }) => ({ ...subject, why: explain(error) })),
  notProven: notProven.map(({ error, ...subject }) => ({ ...subject, why: why(error) }))
})
