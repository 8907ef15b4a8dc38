/** `why`, `executions` and `workflows`: what the tools answer, as tables in a terminal and as JSON elsewhere. */
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Tool from "../../answer/Tool.ts"
import { defined } from "../../base/Json.ts"
import * as Visible from "../../base/Visible.ts"
import { Executions } from "../../executions/Executions.ts"
import * as Selection from "../../executions/Selection.ts"
import * as Triage from "../../executions/Triage.ts"
import * as Links from "../../n8n/Links.ts"
import * as ExecutionHead from "../../n8n/model/ExecutionHead.ts"
import * as tools from "../../tools/index.ts"
import * as Reference from "../../workflows/Reference.ts"
import * as Options from "../config/Options.ts"
import * as RunReport from "../report/RunReport.ts"
import * as drawings from "./drawings.ts"
import * as flags from "./flags.ts"
import { name as program, onN8n, programFor, row } from "./row.ts"

export const timezone = flags.text(
  "timezone",
  "ZONE",
  "Time zone of n8n (GENERIC_TIMEZONE), such as Europe/Berlin, and of reports"
)

/** IANA name of the zone that a person names. */
export const zoneOf = (zone: string | undefined) =>
  zone === undefined ? Effect.succeed(undefined) : Effect.try({
    try: () => new Intl.DateTimeFormat(undefined, { timeZone: zone }).resolvedOptions().timeZone,
    catch: () => Options.refuse(`--timezone '${Visible.label(zone)}' is not a time zone such as Europe/Berlin or UTC`)
  })

const maxRows = 500

const limit = (usual: string) =>
  flags.integer("limit", [1, maxRows], `Maximum number, 1 to ${maxRows} (default ${usual})`)

const maxPage = 100

type Page = Tool.Output<typeof tools.listWorkflows>

/** Condition for the runs of a workflow. */
const ofWorkflow = (workflow: string | undefined) =>
  workflow === undefined
    ? Effect.succeed({})
    : Effect.map(Reference.idOf(workflow), (workflowId) => ({ workflowId }))

/** Time that a person names, who means that of this computer. */
export const sinceOf = (since: string) =>
  Effect.map(
    Effect.mapError(Selection.timeOf("--since", since), ({ message }) => Options.refuse(message)),
    (time) => new Date(time)
  )

/** Newest failed run, else the newest. */
const newest = Effect.fnUntraced(function*(workflow: string | undefined) {
  const query = { ...(yield* ofWorkflow(workflow)), limit: 1 }
  for (const status of ["error", "crashed", undefined] as const) {
    const { executions: [run] = [] } = yield* tools.listExecutions.call({ ...query, ...(status && { status }) })
    if (run !== undefined) return run.id
  }
  return yield* Options.refuse(
    workflow === undefined
      ? "This n8n has no saved runs"
      : `Workflow '${Visible.label(workflow)}' has no saved runs: n8n's settings or the workflow's decide what is saved`
  )
})

export const why = row({
  name: "why",
  description: "Explain why a run failed: the node, its error and its input",
  flags: {
    id: flags.optionalArgument("id", "Id of a run, or its link; by default the newest one that failed"),
    last: flags.text(
      "last",
      "WORKFLOW",
      "Newest failed run of this workflow: its id, link or name; else its newest run"
    )
  },
  form: "page",
  services: (_, options, { page }) => Layer.unwrap(drawings.withFolders(options, page?.out)),
  run: Effect.fnUntraced(function*({ id, last }, options, { page }) {
    if (id !== undefined && last !== undefined) return yield* Options.refuse("Choose one: ID or --last WORKFLOW")
    const link = id === undefined
      ? undefined
      : yield* Effect.mapError(Links.read(id), ({ message }) => Options.refuse(message))
    const run = link === undefined ? id : link.executionId
    if (run !== undefined && !/^\d+$/.test(run)) {
      const shown = `'${Visible.label(run)}'`
      return yield* Options.refuse(
        `${shown} is not the id of a run, which is a number (${program} executions lists them). Of a workflow: ${program} why --last ${shown}`
      )
    }
    const json = yield* tools.getExecution.call({ id: run ?? (yield* newest(link?.workflowId ?? last)) })
    const see = page === undefined ? [`See it: ${programFor(options)} why ${json.id} --open`] : yield* Effect.gen(
      function*() {
        const execution = yield* (yield* Executions).get(json.id)
        const overlay = { _tag: "Execution" as const, execution }
        const drawing = { name: `run-${json.id}`, workflow: yield* drawings.asItRan(execution), overlay }
        return yield* drawings.draw(page, drawing, options)
      }
    )
    return { json, text: (screen) => [...RunReport.why(json, screen), "", ...see] }
  })
})

export const executions = row({
  name: "executions",
  description: "List runs, newest first, or group them by what failed or where the time goes",
  flags: {
    workflow: flags.text("workflow", "WORKFLOW", "Only runs of this workflow: its id, link or name"),
    status: flags.choice("status", ExecutionHead.statuses, "Only this status"),
    since: flags.text("since", "TIME", "Only runs since then: 30m, 24h, 7d or 2026-01-31T08:00"),
    by: flags.choice("by", Triage.groupings, "Group them: by workflow, cause of failure, node (time) or version"),
    limit: limit("20; of groups 200, by node 50")
  },
  form: "data",
  services: onN8n,
  run: Effect.fnUntraced(function*({ by: groupBy, limit, since, status, workflow }) {
    const startedAfter = since === undefined ? undefined : (yield* sinceOf(since)).toISOString()
    const json = yield* tools.listExecutions.call({
      ...(yield* ofWorkflow(workflow)),
      ...defined({ groupBy, limit, startedAfter, status })
    })
    return { json, text: (screen) => RunReport.executions(json, screen) }
  })
})

export const workflows = row({
  name: "workflows",
  description: "List workflows with their state, triggers and last run",
  flags: {
    name: flags.optionalArgument("name", "Only workflows whose name contains this"),
    tags: flags.texts("tag", "TAG", "Only workflows with this tag; may be repeated"),
    uses: flags.text("uses", "TEXT", "Only workflows whose nodes contain this: a type, credential, webhook path …"),
    published: flags.toggle("published", "Only published workflows"),
    limit: limit(String(maxPage))
  },
  form: "data",
  services: onN8n,
  run: Effect.fnUntraced(function*({ limit = maxPage, name, published, tags, uses }) {
    const query = {
      show: ["draft", "triggers", "lastRun"] as const,
      ...defined({ name, uses, tags: tags.length === 0 ? undefined : tags, active: published ? true : undefined })
    }
    const rows: Array<Page["workflows"][number]> = []
    let page: Page | undefined
    do {
      const cursor: string | undefined = page?.nextCursor
      page = yield* tools.listWorkflows.call({
        ...query,
        limit: Math.min(limit - rows.length, maxPage),
        ...defined({ cursor })
      })
      rows.push(...page.workflows)
    } while (page.nextCursor !== undefined && rows.length < limit)
    const { nextCursor } = page
    return {
      json: { ...page, count: rows.length, workflows: rows },
      text: (screen) => [
        ...RunReport.workflows(rows, screen),
        ...(nextCursor === undefined ? [] : ["", `There are more: --limit ${maxRows}`])
      ]
    }
  })
})
