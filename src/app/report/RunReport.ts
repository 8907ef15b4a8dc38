/** Runs and workflows as tables for a person. Pure. */
import type * as Effect from "effect/Effect"
import * as Visible from "../../base/Visible.ts"
import type * as tools from "../../tools/index.ts"
import * as Layout from "./Layout.ts"

type Summary = Effect.Success<ReturnType<typeof tools.getExecution.call>>
type Executions = Effect.Success<ReturnType<typeof tools.listExecutions.call>>
type Run = NonNullable<Executions["executions"]>[number]
type Group = NonNullable<Executions["groups"]>[number]
type Workflow = Effect.Success<ReturnType<typeof tools.listWorkflows.call>>["workflows"][number]

const label = (text: string) => Visible.label(text, 200)

/** Column that a narrow terminal cuts. */
const flexible = <A>(title: string, of: (row: A) => string, min = 12): Layout.Column<A> => ({ title, of, min })

const number = <A>(title: string, of: (row: A) => number | string | undefined): Layout.Column<A> => ({
  title,
  of: (row) => String(of(row) ?? ""),
  isRight: true
})

const status: Layout.Column<{ readonly status: string }> = {
  title: "STATUS",
  of: ({ status }) => status,
  colour: ({ status }) => Layout.statusColour(status)
}

/** Column of times to the second. */
const timed = <A>(
  title: string,
  rows: ReadonlyArray<A>,
  of: (row: A) => string | null | undefined
): Layout.Column<A> => ({ title: Layout.timeTitle(title, rows.map(of)), of: (row) => Layout.exactTime(of(row)) })

const runs = (rows: ReadonlyArray<Run>): ReadonlyArray<Layout.Column<Run>> => [
  { title: "ID", of: ({ id }) => id },
  status,
  flexible("WORKFLOW", ({ workflowName }) => label(workflowName)),
  timed("STARTED", rows, ({ startedAt }) => startedAt),
  number("TIME", ({ executionTime }) => Layout.duration(executionTime))
]

/** Columns of groups by their fields: one kind of group fills some of them. */
const groups = (rows: ReadonlyArray<Group>): ReadonlyArray<Layout.Column<Group>> => [
  number("RUNS", (row) => "count" in row ? row.count : "total" in row ? row.total : "runs" in row ? row.runs : ""),
  number("FAILED", (row) => "failed" in row ? row.failed : ""),
  flexible("WORKFLOW", (row) => label("workflowName" in row ? row.workflowName : row.workflow)),
  flexible("NODE", (row) => "node" in row ? label(row.node ?? "") : ""),
  { title: "VERSION", of: (row) => "firstFailure" in row || "failed" in row ? (row.version ?? "").slice(0, 8) : "" },
  flexible("ERROR", (row) => "message" in row ? Visible.label(row.message, 300) : "", 20),
  flexible(
    "STATUS",
    (row) => "byStatus" in row ? Object.entries(row.byStatus).map(([key, count]) => `${count} ${key}`).join(", ") : ""
  ),
  number("TOTAL", (row) => "time" in row ? Layout.duration(row.time.total) : ""),
  number("P50", (row) => "time" in row ? Layout.duration(row.time.p50) : ""),
  number("P95", (row) => "time" in row ? Layout.duration(row.time.p95) : ""),
  number("ITEMS", (row) => "items" in row ? row.items.p50 : ""),
  timed(
    "LAST",
    rows,
    (row) => "executions" in row && "last" in row ? row.last : "lastFailed" in row ? row.lastFailed?.at : ""
  ),
  {
    title: "RUN",
    of: (row) =>
      "message" in row
        ? row.executions[0] ?? ""
        : "lastFailed" in row
        ? row.lastFailed?.id ?? ""
        : "firstFailure" in row
        ? row.firstFailure?.id ?? ""
        : ""
  }
]

/** Such as `schedule` for `n8n-nodes-base.scheduleTrigger`. */
const shortType = (type: string) => label(type.replace(/^.*\.|(?<=.)Trigger$/g, ""))

/** Order of interest to a person: published ones first, then by the last run. */
const byInterest = (a: Workflow, b: Workflow) =>
  Number(b.active) - Number(a.active) || (b.lastRun?.["at"] ?? "").localeCompare(a.lastRun?.["at"] ?? "") ||
  a.name.localeCompare(b.name)

const workflowColumns = (rows: ReadonlyArray<Workflow>): ReadonlyArray<Layout.Column<Workflow>> => [
  { title: "ID", of: ({ id }) => id },
  flexible("NAME", ({ name }) => label(name)),
  {
    title: "STATE",
    of: ({ active, draft, isArchived }) =>
      isArchived === true ? "archived" : `${active ? "published" : "off"}${draft === true ? " + draft" : ""}`,
    colour: ({ active }) => active ? 32 : undefined
  },
  flexible("TRIGGER", ({ triggers = [] }) => triggers.map(shortType).join(", "), 8),
  {
    title: "LAST RUN",
    of: ({ lastRun }) => lastRun?.["status"] ?? "",
    colour: ({ lastRun }) => Layout.statusColour(lastRun?.["status"] ?? "")
  },
  timed("AT", rows, ({ lastRun }) => lastRun?.["at"]),
  flexible(
    "USES",
    ({ uses = [] }) => uses.map(({ node = "", value = "" }) => label(`${node}: ${value}`)).join(", "),
    16
  )
]

const hintLines = (hint: string | undefined) => hint === undefined ? [] : ["", Visible.line(hint)]

export const executions = ({ executions = [], groups: grouped, hint }: Executions, screen: Layout.Screen) => {
  if (grouped === undefined && executions.length === 0) return ["No runs match.", ...hintLines(hint)]
  if (grouped?.length === 0) return ["Nothing to group.", ...hintLines(hint)]
  return [
    ...(grouped === undefined
      ? Layout.table(runs(executions), executions, screen)
      : Layout.table(groups(grouped), grouped, screen)),
    ...hintLines(hint)
  ]
}

export const workflows = (rows: ReadonlyArray<Workflow>, screen: Layout.Screen) =>
  rows.length === 0 ? ["No workflows match."] : Layout.table(workflowColumns(rows), rows.toSorted(byInterest), screen)

type Node = Summary["availableNodes"][number]

const nodeColumns: ReadonlyArray<Layout.Column<Node>> = [
  flexible("NODE", ({ nodeName }) => label(nodeName)),
  status,
  number("RUNS", ({ runs }) => runs),
  number("ITEMS", ({ items }) => items),
  number("ERRORS", ({ errorItems }) => errorItems),
  number("TIME", ({ time }) => Layout.duration(time)),
  { title: "CALLED", of: ({ calls }) => calls === undefined ? "" : calls.ids.join(", ") }
]

const maxJson = 12

const item = (json: unknown, width: number): ReadonlyArray<string> => {
  const lines = JSON.stringify(json, null, 2).split("\n").map((line) =>
    `    ${Layout.fit(Visible.text(line), width - 4)}`
  )
  return lines.length > maxJson ? [...lines.slice(0, maxJson), "    …"] : lines
}

/** Place of an item, whose index counts from 0, as a person counts. */
const place = (index: number, count: number | undefined) =>
  index === 0 ? "the first item" : `item ${index + 1}${count === undefined ? "" : ` of ${count}`}`

const maxMessages = 3

const failureLines = (failure: NonNullable<Summary["failure"]>, { isColoured, width }: Layout.Screen) => {
  const { error, inputCount, inputItem, node, nodeType, runIndex, suspects } = failure
  const wrapped = (text: string | null | undefined) =>
    text === undefined || text === null || text === ""
      ? []
      : Layout.wrap(Visible.label(text, 600), width - 2).map((line) => `  ${Layout.fit(line, width - 2)}`)
  const where = node === undefined ? "Failed before a node ran" : `${label(node)} failed`
  const round = runIndex === undefined ? "" : ` in round ${runIndex + 1}`
  return [
    `${Layout.paint("✗", 31, isColoured)} ${where}${round}${
      nodeType === undefined ? "" : ` (${label(nodeType.replace(/^.*\./, ""))})`
    }`,
    ...wrapped(
      `${error.message}${
        error.httpCode === undefined ? "" : ` (${/^\d+$/.test(error.httpCode) ? "HTTP " : ""}${label(error.httpCode)})`
      }`
    ),
    ...(error.description === error.message ? [] : wrapped(error.description)),
    ...(error.messages ?? []).slice(0, maxMessages).flatMap((message) => wrapped(message)),
    ...(inputItem === undefined ? [] : [
      "",
      `  Its input${error.itemIndex === undefined ? "" : `, ${place(error.itemIndex, inputCount)}`}:`,
      ...item(inputItem, width)
    ]),
    ...(suspects === undefined
      ? inputCount === undefined ? [] : ["", `  n8n does not say which of its ${inputCount} input items failed.`]
      : [
        "",
        `  Probably because of ${
          Visible.label(suspects.where, 200)
        }: ${suspects.matched} of ${inputCount} input items.`,
        ...suspects.items.slice(0, 1).flatMap(({ index, json }) => [
          `  Such as ${place(index, inputCount)}:`,
          ...item(json, width)
        ])
      ])
  ]
}

/** Explains a run: what failed and why, then its nodes, in the order in which they ran. */
export const why = (summary: Summary, screen: Layout.Screen): ReadonlyArray<string> => {
  const {
    availableNodes,
    calledBy,
    duration,
    failure,
    id,
    mode,
    note,
    startedAt,
    stoppedAt,
    url,
    version,
    workflowName
  } = summary
  const about = [
    startedAt && `${Layout.exactTime(startedAt)} ${Layout.zoneName(startedAt)}`,
    Layout.duration(duration),
    ...(mode === undefined ? [] : [label(mode)]),
    ...(version?.published === false ? ["not the published version"] : []),
    ...(calledBy === undefined ? [] : [`called by run ${label(calledBy.executionId)}`])
  ].filter((part) => part !== "")
  return [
    `Run ${id} of ${label(workflowName)}: ${
      Layout.paint(summary.status, Layout.statusColour(summary.status), screen.isColoured)
    }`,
    about.join(" · "),
    ...(url === undefined ? [] : [url]),
    "",
    ...(failure === undefined ? [] : [...failureLines(failure, screen), ""]),
    ...(availableNodes.length === 0
      ? [
        note !== undefined
          ? note
          : failure !== undefined
          ? "No node ran: the error above is the only information about this run."
          : stoppedAt === undefined
          ? "The run has not ended, and n8n shows no data yet."
          : "n8n has no data of its nodes: the workflow's settings, pruning or an early cancellation may be the reason."
      ]
      : Layout.table(nodeColumns, availableNodes.toReversed(), screen))
  ]
}
