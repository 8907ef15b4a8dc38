/** Health of an n8n for a person: workflows by days, then each incident. Pure. */
import { counted } from "../../base/Plural.ts"
import * as Rows from "../../base/Rows.ts"
import * as Visible from "../../base/Visible.ts"
import type * as Finding from "../../fleet/inspection/Finding.ts"
import type * as Health from "../../watch/Health.ts"
import { byUrgency, type Incident, type Kind } from "../../watch/Incident.ts"
import * as Layout from "./Layout.ts"
import * as WatchReport from "./WatchReport.ts"
import * as Writer from "./Writer.ts"

export interface Context extends WatchReport.Context {
  /** Host of n8n. */
  readonly host: string
}

const aDay = 86_400_000

/** Zone of the report, in which its days are: the one that the caller names, else n8n's own, else the reader's. */
const zoneOf = ({ clock }: Health.Health, { readerZone = "UTC", zone }: WatchReport.Context) =>
  zone ?? clock.zone ?? readerZone

const dateOf = (iso: string, zone: string) => Layout.time(iso, zone).slice(0, 10)

/** All dates from one to another, both included. */
const datesFrom = (first: string, last: string): ReadonlyArray<string> => {
  const from = Date.parse(first)
  const days = Math.max(0, Math.round((Date.parse(last) - from) / aDay))
  return Array.from({ length: days + 1 }, (_, at) => new Date(from + at * aDay).toISOString().slice(0, 10))
}

/** Days of a column of the grid. */
export interface Column {
  readonly dates: ReadonlyArray<string>
  /** Lines of its heading: weekday and day of the month, or month and days. */
  readonly title: readonly [string, string]
}

/** Runs and incidents of a row in one column. */
export interface Cell {
  readonly runs: number
  readonly failed: number
  /** Kinds with their numbers of occurrences, the most urgent first. */
  readonly kinds: ReadonlyArray<readonly [kind: Kind, count: number]>
}

export interface GridRow {
  /** Absent for incidents of n8n itself and of several workflows. */
  readonly workflowId?: string
  readonly name: string
  readonly runs: number
  readonly failed: number
  readonly cells: ReadonlyArray<Cell>
  readonly incidents: ReadonlyArray<Incident>
  readonly changes: ReadonlyArray<Health.Change>
}

const format = (date: string, options: Intl.DateTimeFormatOptions) =>
  new Intl.DateTimeFormat("en-GB", { timeZone: "UTC", ...options }).format(new Date(date))

const dayOfMonth = (date: string) => String(Number(date.slice(8)))

/** Columns for these dates: a day each, or weeks from Monday on if there are more days than `most`. */
const columnsOf = (dates: ReadonlyArray<string>, most: number): ReadonlyArray<Column> =>
  dates.length <= most
    ? dates.map((date) => ({
      dates: [date],
      title: [format(date, { weekday: "short" }).slice(0, 2), dayOfMonth(date)]
    }))
    // The first day of the epoch was a Thursday.
    : Rows.grouped(dates, (date) => Math.floor((Date.parse(date) / aDay + 3) / 7)).map(({ first, rows }) => ({
      dates: rows,
      title: [
        format(first, { month: "short" }),
        rows.length === 1 ? dayOfMonth(first) : `${dayOfMonth(first)}–${dayOfMonth(rows.at(-1) ?? first)}`
      ]
    }))

const cellOf = ({ dates }: Column, days: ReadonlyArray<Health.Day>): Cell => {
  const own = days.filter(({ date }) => dates.includes(date))
  const counts: { [K in Kind]?: number } = {}
  for (const { incidents } of own) {
    for (const [kind, count] of Object.entries(incidents)) counts[kind as Kind] = (counts[kind as Kind] ?? 0) + count
  }
  const kinds = Object.entries(counts).map(([kind, count]) => ({ kind: kind as Kind, count }))
  return {
    runs: own.reduce((sum, { runs }) => sum + runs, 0),
    failed: own.reduce((sum, { failed }) => sum + failed, 0),
    kinds: kinds.toSorted(byUrgency).map(({ count, kind }) => [kind, count])
  }
}

/** Dates of an incident; one that goes on ends with the report. */
const datesOf = ({ at, isOver, until = at }: Incident, end: string, zone: string) =>
  datesFrom(dateOf(at, zone), dateOf(isOver === false ? end : until, zone))

/** Days of incidents that belong to no workflow alone. */
const daysOf = (incidents: ReadonlyArray<Incident>, end: string, zone: string) =>
  incidents.flatMap((incident) =>
    datesOf(incident, end, zone).map((date): Health.Day => ({
      date,
      runs: 0,
      failed: 0,
      incidents: { [incident.kind]: 1 }
    }))
  )

/** Workflows by days, or by weeks where there are more days than `most`. */
export const grid = (health: Health.Health, context: WatchReport.Context, most: number) => {
  const { healthy, rows, shared, since, until } = health
  const zone = zoneOf(health, context)
  const own = [...rows, ...healthy].flatMap(({ days }) => days)
  const dates = new Set([...datesFrom(dateOf(since, zone), dateOf(until, zone)), ...own.map(({ date }) => date)])
  const columns = columnsOf([...dates].toSorted(), most)
  const cells = (days: ReadonlyArray<Health.Day>) => columns.map((column) => cellOf(column, days))
  const together: GridRow = {
    name: "n8n, or several workflows",
    runs: 0,
    failed: 0,
    cells: cells(daysOf(shared, until, zone)),
    incidents: shared,
    changes: []
  }
  return {
    zone,
    columns,
    /** Rows with incidents, the worst first. */
    rows: [
      ...(shared.length === 0 ? [] : [together]),
      ...rows.map(({ changes, days, failed, incidents, runs, workflowId, workflowName }): GridRow => ({
        workflowId,
        name: Visible.label(workflowName ?? `deleted (${workflowId})`),
        runs,
        failed,
        cells: cells(days),
        incidents,
        changes
      }))
    ],
    /** Healthy workflows together. */
    healthy: cells(healthy.flatMap(({ days }) => days))
  }
}

/** Incident that a cell shows first: of its most urgent kind, in its days, of the workflow or of several. */
export const incidentIn = (
  { incidents, workflowId }: GridRow,
  { dates }: Column,
  { kinds: [first] }: Cell,
  { shared, until }: Health.Health,
  zone: string
): Incident | undefined =>
  [...incidents, ...shared.filter(({ workflows = [] }) => workflows.some(({ id }) => id === workflowId))].find((each) =>
    each.kind === first?.[0] && datesOf(each, until, zone).some((date) => dates.includes(date))
  )

/** Sign of a day without incidents, and of one with several kinds. */
export const signs = { usual: "·", several: "+" } as const

/** Two characters for a cell: the mark of its most urgent kind, and whether there are others. */
export const markOf = ({ kinds: [first, second], runs }: Cell): string =>
  first === undefined
    ? runs > 0 ? `${signs.usual} ` : "  "
    : `${WatchReport.kinds[first[0]].mark}${second === undefined ? " " : signs.several}`

const colourOf = (cell: Cell | undefined) => {
  const [first] = cell?.kinds ?? []
  return first !== undefined ? WatchReport.kinds[first[0]].colour : (cell?.runs ?? 0) > 0 ? 32 : undefined
}

type Grid = ReturnType<typeof grid>

/** Meanings of the marks that a grid uses. */
export const legend = ({ rows }: Grid): ReadonlyArray<readonly [mark: string, meaning: string, kind?: Kind]> => {
  const cells = rows.flatMap((row) => row.cells)
  const kinds = [...new Set(cells.flatMap((cell) => cell.kinds.map(([kind]) => kind)))]
  return [
    ...kinds.map((kind) => ({ kind })).toSorted(byUrgency).map(({ kind }) =>
      [WatchReport.kinds[kind].mark, kind, kind] as const
    ),
    ...(cells.some(({ kinds }) => kinds.length > 1) ? [[signs.several, "and other kinds"] as const] : []),
    ...(cells.some(({ kinds, runs }) => kinds.length === 0 && runs > 0) ? [[signs.usual, "as usual"] as const] : [])
  ]
}

const number = new Intl.NumberFormat("en")

/** Number in at most four characters. */
export const short = (count: number) =>
  count === 0
    ? " "
    : count < 1_000
    ? String(count)
    : count < 1_000_000
    ? `${Math.floor(count / 1_000)}k`
    : `${Math.floor(count / 1_000_000)}M`

export const incidentsOf = ({ rows, shared }: Health.Health): ReadonlyArray<Incident> => [
  ...shared,
  ...rows.flatMap(({ incidents }) => incidents)
]

/** Numbers of incidents and workflows in a sentence. */
export const summary = (health: Health.Health): string => {
  const { healthy, idle, rows } = health
  const incidents = incidentsOf(health).length
  return [
    incidents === 0
      ? "no incidents"
      : `${counted(incidents, "incident")}${rows.length === 0 ? "" : ` in ${counted(rows.length, "workflow")}`}`,
    healthy.length === 0 && incidents === 0 ? "no workflow ran" : `${healthy.length} healthy`,
    ...(idle === 0 ? [] : [`${idle} published without a run`])
  ].join(", ")
}

const clockOf = ({ clock: { ahead, zone, zoneFrom } }: Health.Health) => {
  const difference = Layout.duration(Math.abs(ahead ?? 0))
  const time = ahead === undefined
    ? "n8n's clock is not known"
    : Math.abs(ahead) < 1_000
    ? "n8n's clock agrees with this computer's"
    : `n8n's clock is ${difference} ${ahead > 0 ? "ahead of" : "behind"} this computer's`
  return zone === undefined
    ? `${time}; its time zone is not known: name it with --timezone (GENERIC_TIMEZONE)`
    : `${time}; its time zone is ${Visible.label(zone)}${
      zoneFrom === undefined || zoneFrom === "option" ? "" : `, as run ${Visible.label(zoneFrom)} shows`
    }`
}

/** Facts above the grid: span, runs, clock, and the part of the span that was not read. */
export const facts = (health: Health.Health, context: WatchReport.Context): ReadonlyArray<string> => {
  const { failed, readFrom, runs, since, until } = health
  const zone = zoneOf(health, context)
  const time = (iso: string) => Layout.time(iso, zone)
  const short = Layout.zoneName(until, zone)
  const name = zone === short ? short : `${short}, ${Visible.label(zone)}`
  return [
    `${time(since)} – ${time(until)} (${name}): ${number.format(runs)} runs, ${number.format(failed)} failed`,
    ...(readFrom === undefined ? [] : [`Runs are known from ${time(readFrom)} on`]),
    clockOf(health)
  ]
}

const eventOf = ({ at, event, version }: Health.Change, zone: string) =>
  `${Layout.time(at, zone)}  ${event}${version === undefined ? "" : ` version ${Visible.label(version.slice(0, 8))}`}`

/** Incidents, at most the most urgent ones, and changes of a row, in the order of their times. */
export const history = ({ changes, incidents }: GridRow, zone: string, most = Infinity) =>
  [
    ...incidents.toSorted(byUrgency).slice(0, most)
      .map((incident) => ({ at: incident.at, incident, change: "" })),
    ...changes.slice(-most).map((change) => ({ at: change.at, incident: undefined, change: eventOf(change, zone) }))
  ].toSorted((a, b) => Date.parse(a.at) - Date.parse(b.at))

/** Whether a row has incidents and changes of its own, besides those of several workflows. */
export const hasHistory = ({ changes, incidents }: GridRow): boolean => incidents.length + changes.length > 0

/** Maximum rows of the grid, workflows with their incidents below it, and incidents of each. */
const most = { rows: 40, workflows: 20, incidents: 6 }

const leastName = 20
/** Columns that a day takes with a number of runs, and with a mark alone. */
const dayWidth = { number: 4, mark: 3 }

const fitting = ({ width }: Layout.Screen, each: number) => Math.floor((width - leastName - 1) / each)

type Line = Pick<GridRow, "name" | "cells"> & Partial<GridRow>

const table = (health: Health.Health, { columns, healthy, rows }: Grid, screen: Layout.Screen) => {
  const isNumber = (row: Line) => row.incidents === undefined && columns.length <= fitting(screen, dayWidth.number)
  const count = (title: string, of: (row: Line) => number | undefined): Layout.Column<Line> => ({
    title: `\n${title}`,
    of: (row) => of(row) === undefined ? "" : number.format(of(row) ?? 0),
    isRight: true
  })
  const all: ReadonlyArray<Layout.Column<Line>> = [
    { title: "\nWORKFLOW", of: ({ name }) => name, min: leastName },
    ...columns.map(({ title }, at): Layout.Column<Line> => {
      const of = (row: Line) => row.cells[at] ?? { runs: 0, failed: 0, kinds: [] }
      return {
        title: title.join("\n"),
        of: (row) => isNumber(row) ? short(of(row).runs) : markOf(of(row)),
        colour: (row) => isNumber(row) ? 90 : colourOf(of(row)),
        isRight: true,
        gap: at === columns.length - 1 ? 2 : 1
      }
    }),
    count("FAILED", (row) => row.workflowId === undefined ? undefined : row.failed),
    count("RUNS", (row) => row.workflowId === undefined ? undefined : row.runs)
  ]
  const total: ReadonlyArray<Line> = health.healthy.length === 0
    ? []
    : [{ name: `Runs of ${health.healthy.length} healthy`, cells: healthy }]
  return Layout.table(all, [...rows.slice(0, most.rows), ...total], screen)
}

const restLine = (count: number, noun: string) =>
  count > 0 ? [`… and ${counted(count, noun)} more: --json lists all`] : []

/** Report in a terminal. */
export const text = (health: Health.Health, context: Context, screen: Layout.Screen): ReadonlyArray<string> => {
  const { isColoured, width } = screen
  const shown = grid(health, context, fitting(screen, dayWidth.mark))
  const sections = shown.rows.filter(hasHistory)
  const isFine = incidentsOf(health).length === 0
  const mark = Layout.paint(isFine ? "✓" : "✗", isFine ? 32 : 31, isColoured)
  const inWidth = (line: string) => Layout.wrap(line, width)
  const blocks = [
    [
      ...inWidth(`${mark} n8n at ${Visible.label(context.host)}: ${summary(health)}`),
      ...facts(health, context).flatMap(inWidth)
    ],
    shown.rows.length + health.healthy.length === 0
      ? []
      : [...table(health, shown, screen), ...restLine(shown.rows.length - most.rows, "workflow")],
    isFine ? [] : inWidth(
      legend(shown).map(([mark, meaning, kind]) =>
        `${Layout.paint(mark, kind === undefined ? 32 : WatchReport.kinds[kind].colour, isColoured)} ${meaning}`
          .replaceAll(" ", "\u00a0")
      ).join("\u00a0\u00a0 ")
    ).map((line) => line.replaceAll("\u00a0", " ").trimEnd()),
    ...sections.slice(0, most.workflows).map((row) => [
      row.name + Layout.paint(row.workflowId === undefined ? "" : `  ${Visible.label(row.workflowId)}`, 90, isColoured),
      ...history(row, shown.zone, most.incidents).flatMap(({ change, incident }) =>
        incident === undefined
          ? [Layout.paint(change, 90, isColoured)]
          : WatchReport.lines(incident, { ...context, zone: shown.zone }, { isColoured, width: width - 2 })
      ).map((line) => `  ${line}`),
      ...restLine(row.incidents.length - most.incidents, "incident").map((line) => `  ${line}`)
    ]),
    restLine(sections.length - most.workflows, "workflow"),
    health.unknown.flatMap((sentence) => inWidth(`Not known: ${Visible.label(sentence, 400)}`))
  ]
  return blocks.filter(({ length }) => length > 0).flatMap((lines, at) => at === 0 ? lines : ["", ...lines])
}

/** Incidents as findings: errors where something failed or stands still, warnings where it is doubtful. */
export const judgment = (health: Health.Health, context: Context): Writer.Judgment => {
  const zone = zoneOf(health, context)
  const findings = incidentsOf(health).map((incident): Finding.Finding => {
    const { command, text, time } = WatchReport.parts(incident, { ...context, zone })
    const { kind, workflowId: workflow, workflowName: name = `deleted (${workflow})` } = incident
    return {
      rule: kind,
      severity: WatchReport.kinds[kind].colour === 31 ? "error" : "warning",
      ...(workflow === undefined ? {} : { workflow, name }),
      message: `${time}: ${text}`,
      ...(command === undefined ? {} : { fix: command })
    }
  })
  return {
    json: health,
    verdict: `n8n at ${context.host}: ${summary(health)}`,
    text: (screen) => text(health, context, screen),
    isFailing: () => true,
    findings,
    subjects: Writer.subjectsOf(
      findings,
      health.healthy.map(({ workflowName }) => ({ name: Visible.label(workflowName) }))
    )
  }
}
