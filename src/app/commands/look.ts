/** `why`, `executions` and `workflows`: what the tools answer, as tables in a terminal and as JSON elsewhere. */
import * as Argument from "effect/cli/Argument"
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { counted } from "../../base/Plural.ts"
import * as Visible from "../../base/Visible.ts"
import * as Triage from "../../executions/Triage.ts"
import * as ExecutionHead from "../../n8n/model/ExecutionHead.ts"
import { N8nClient } from "../../n8n/N8nClient.ts"
import * as tools from "../../tools/index.ts"
import * as Options from "../config/Options.ts"
import type * as Layout from "../report/Layout.ts"
import * as RunReport from "../report/RunReport.ts"
import * as ToolContext from "../ToolContext.ts"
import { explained, isColoured, name as program, optional, print, root, toggle } from "./root.ts"

const json = toggle("json", "Print JSON, as in a pipe")

const maxRows = 500

const limit = (usual: string) =>
  Flag.Int("limit").pipe(
    Flag.withDescription(`Maximum number, 1 to ${maxRows} (default ${usual})`),
    Flag.withMetavar("N"),
    Flag.filter((value) => value >= 1 && value <= maxRows, () => `between 1 and ${maxRows}`),
    Flag.optional
  )

const show = (json: boolean, data: object, lines: (screen: Layout.Screen) => ReadonlyArray<string>) =>
  json || !process.stdout.isTTY
    ? print(JSON.stringify(data))
    : Effect.forEach(lines({ width: process.stdout.columns || 100, isColoured }), print, { discard: true })

/** Largest page of the tools. */
const maxPage = 100

interface Page<A> {
  readonly rows: ReadonlyArray<A>
  readonly nextCursor?: string | undefined
}

/** Reads pages until there are enough rows; the result is the last page with all rows. */
const pages = Effect.fnUntraced(function*<A, P extends Page<A>, E, R>(
  total: number,
  read: (query: { readonly limit: number; readonly cursor?: string }) => Effect.Effect<P, E, R>
) {
  const rows: Array<A> = []
  let page = yield* read({ limit: Math.min(total, maxPage) })
  rows.push(...page.rows)
  while (page.nextCursor !== undefined && rows.length < total) {
    page = yield* read({ limit: Math.min(total - rows.length, maxPage), cursor: page.nextCursor })
    rows.push(...page.rows)
  }
  return { ...page, rows }
})

/** Id of the workflow that a person names by its id or by its name. */
const findWorkflow = Effect.fnUntraced(function*(reference: string) {
  const { workflows } = yield* tools.listWorkflows.call({ name: reference, limit: maxPage })
  const exact = workflows.filter(({ name }) => name.toLowerCase() === reference.toLowerCase())
  const [first, ...others] = exact.length > 0 ? exact : workflows
  // Also of an archived one.
  if (first === undefined) return (yield* N8nClient.use((n8n) => n8n.getWorkflow(reference))).id
  if (others.length === 0) return first.id
  const named = [first, ...others].slice(0, 5).map(({ id, name }) => `'${Visible.label(name)}' (${id})`).join(", ")
  return yield* Options.refuse(
    `${counted(others.length + 1, "workflow")} have '${Visible.label(reference)}' in their name: ${named}${
      others.length > 4 ? ", …" : ""
    }. Use the id of one`
  )
})

const ofWorkflow = (workflow: Option.Option<string>) =>
  Option.isNone(workflow)
    ? Effect.succeed({})
    : Effect.map(findWorkflow(workflow.value), (workflowId) => ({ workflowId }))

/** Newest failed run, else the newest. */
const newest = Effect.fnUntraced(function*(workflow: Option.Option<string>) {
  const query = { ...(yield* ofWorkflow(workflow)), limit: 1 }
  for (const status of ["error", "crashed", undefined] as const) {
    const { executions: [run] = [] } = yield* tools.listExecutions.call({ ...query, ...(status && { status }) })
    if (run !== undefined) return run.id
  }
  return yield* Options.refuse(
    Option.isNone(workflow)
      ? "This n8n has no saved runs"
      : `Workflow '${
        Visible.label(workflow.value)
      }' has no saved runs: n8n's settings or the workflow's decide what is saved`
  )
})

export const why = Command.make(
  "why",
  {
    id: Argument.String("id").pipe(
      Argument.withDescription("Id of a run; by default the newest one that failed"),
      Argument.optional
    ),
    last: optional("last", "WORKFLOW", "Newest failed run of this workflow, an id or a name; else its newest run"),
    json
  },
  Effect.fnUntraced(function*({ id, json, last }) {
    const options = yield* root
    if (Option.isSome(id) && Option.isSome(last)) return yield* Options.refuse("Choose one: ID or --last WORKFLOW")
    if (Option.isSome(id) && !/^\d+$/.test(id.value)) {
      return yield* Options.refuse(
        `'${
          Visible.label(id.value)
        }' is not the id of a run, which is a number (${program} executions lists them). Of a workflow: ${program} why --last '${
          Visible.label(id.value)
        }'`
      )
    }
    yield* Effect.gen(function*() {
      const run = Option.isSome(id) ? id.value : yield* newest(last)
      const summary = yield* tools.getExecution.call({ id: run })
      yield* show(json, summary, (screen) => RunReport.why(summary, screen))
    }).pipe(explained, Effect.provide(ToolContext.layer(options)))
  })
).pipe(Command.withDescription("Explain why a run failed: the node, its error and its input"))

const units = { m: 60_000, h: 3_600_000, d: 86_400_000 }

/** Time of an ISO 8601 text, or of a duration before now, such as `24h`. */
const sinceTime = Effect.fnUntraced(function*(text: string) {
  const [, amount = "", unit] = /^(\d{1,5})([mhd])$/.exec(text) ?? []
  const at = unit === undefined
    ? Date.parse(text)
    : (yield* Clock.currentTimeMillis) - Number(amount) * units[unit as keyof typeof units]
  return Number.isNaN(at)
    ? yield* Options.refuse(
      `--since '${Visible.label(text)}': a duration such as 30m, 24h or 7d, or a time such as 2026-01-31T08:00`
    )
    : new Date(at).toISOString()
})

export const executions = Command.make(
  "executions",
  {
    workflow: optional("workflow", "WORKFLOW", "Only runs of this workflow, an id or a name"),
    status: Flag.Literals("status", ExecutionHead.statuses).pipe(
      Flag.withDescription("Only this status"),
      Flag.optional
    ),
    since: optional("since", "TIME", "Only runs since then: 30m, 24h, 7d or 2026-01-31T08:00"),
    by: Flag.Literals("by", Triage.groupings).pipe(
      Flag.withDescription("Group them: by workflow, cause of failure, node (time) or version"),
      Flag.optional
    ),
    limit: limit("20; of groups 200, by node 50"),
    json
  },
  Effect.fnUntraced(function*({ by, json, limit, since, status, workflow }) {
    const options = yield* root
    const startedAfter = Option.isNone(since) ? {} : { startedAfter: yield* sinceTime(since.value) }
    yield* Effect.gen(function*() {
      const query = {
        ...(yield* ofWorkflow(workflow)),
        ...startedAfter,
        ...(Option.isNone(status) ? {} : { status: status.value })
      }
      const groupBy = Option.getOrUndefined(by)
      const data = groupBy === undefined
        ? yield* pages(Option.getOrElse(limit, () => 20), (page) =>
          Effect.map(
            tools.listExecutions.call({ ...query, ...page }),
            ({ executions: rows = [], ...rest }) => ({ ...rest, rows })
          )).pipe(Effect.map(({ rows, ...rest }) => ({ ...rest, count: rows.length, executions: rows })))
        : yield* tools.listExecutions.call({
          ...query,
          groupBy,
          ...(Option.isNone(limit) ? {} : { limit: limit.value })
        })
      yield* show(json, data, (screen) => RunReport.executions(data, screen))
    }).pipe(explained, Effect.provide(ToolContext.layer(options)))
  })
).pipe(Command.withDescription("List runs, newest first, or group them by what failed or where the time goes"))

export const workflows = Command.make(
  "workflows",
  {
    name: Argument.String("name").pipe(
      Argument.withDescription("Only workflows whose name contains this"),
      Argument.optional
    ),
    tag: Flag.String("tag").pipe(
      Flag.withDescription("Only workflows with this tag; may be repeated"),
      Flag.withMetavar("TAG"),
      Flag.atLeast(0)
    ),
    uses: optional("uses", "TEXT", "Only workflows whose nodes contain this: a type, credential, webhook path …"),
    published: toggle("published", "Only published workflows"),
    limit: limit(String(maxPage)),
    json
  },
  Effect.fnUntraced(function*({ json, limit, name, published, tag, uses }) {
    const options = yield* root
    yield* Effect.gen(function*() {
      const query = {
        show: ["draft", "triggers", "lastRun"] as const,
        ...(Option.isNone(name) ? {} : { name: name.value }),
        ...(Option.isNone(uses) ? {} : { uses: uses.value }),
        ...(tag.length === 0 ? {} : { tags: tag }),
        ...(published ? { active: true } : {})
      }
      const { rows, ...rest } = yield* pages(Option.getOrElse(limit, () => maxPage), (page) =>
        Effect.map(
          tools.listWorkflows.call({ ...query, ...page }),
          ({ workflows: rows, ...rest }) => ({ ...rest, rows })
        ))
      yield* show(json, { ...rest, count: rows.length, workflows: rows }, (screen) => [
        ...RunReport.workflows(rows, screen),
        ...(rest.nextCursor === undefined ? [] : ["", `There are more: --limit ${maxRows}`])
      ])
    }).pipe(explained, Effect.provide(ToolContext.layer(options)))
  })
).pipe(Command.withDescription("List workflows with their state, triggers and last run"))
