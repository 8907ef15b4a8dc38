import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Struct from "effect/Struct"
import * as Hints from "../../answer/Hints.ts"
import * as Tool from "../../answer/Tool.ts"
import { marksIn } from "../../answer/Truncated.ts"
import * as Errors from "../../base/Errors.ts"
import { defined } from "../../base/Json.ts"
import { counted } from "../../base/Plural.ts"
import * as Rows from "../../base/Rows.ts"
import * as Visible from "../../base/Visible.ts"
import type { Executions } from "../../executions/Executions.ts"
import * as Selection from "../../executions/Selection.ts"
import * as Triage from "../../executions/Triage.ts"
import * as facts from "../../n8n/InstanceFacts.ts"
import * as links from "../../n8n/Links.ts"
import { isV1, N8nClient } from "../../n8n/N8nClient.ts"
import * as Since from "../../watch/Since.ts"
import * as parameters from "../shared/Parameters.ts"

/** Maximum number of lookups of names of deleted workflows. */
const maxLookups = 10

/** Row for a model; programs get typed rows from list_workflows and list_executions. */
const Row = Schema.Record(Schema.String, Schema.Union([Schema.String, Schema.Int, Schema.Null]))

/** Executions that have not ended, newest first; `count` is a minimum if `more` is true. */
const Unfinished = Schema.Struct({
  count: Schema.Int,
  more: Schema.optionalKey(Schema.Boolean),
  /** `{id, workflowName, startedAt}`. */
  newest: Schema.optionalKey(Schema.Array(Row))
})

const Output = Schema.Struct({
  version: Schema.optionalKey(Schema.String),
  /** Number of the key's scopes, and scopes of the served tools that it lacks. */
  key: Schema.optionalKey(Schema.Struct({
    scopes: Schema.Int,
    lacks: Schema.optionalKey(Schema.Array(Schema.String))
  })),
  workflows: Schema.optionalKey(Schema.Struct({
    published: Schema.Int,
    unpublished: Schema.Int,
    archived: Schema.Int
  })),
  /** Numbers of workflows, the most used tags first. */
  tags: Schema.optionalKey(Schema.Record(Schema.String, Schema.Json)),
  /** Installed community packages, such as `n8n-nodes-x@1.2.0`. */
  packages: Schema.optionalKey(Schema.Array(Schema.String)),
  running: Schema.optionalKey(Unfinished),
  waiting: Schema.optionalKey(Schema.Int),
  runs: Schema.optionalKey(Schema.Struct({
    days: Schema.Int,
    total: Schema.Int,
    failed: Schema.Int,
    /** Time of the oldest counted execution, if there were too many to count. */
    since: Schema.optionalKey(Schema.String)
  })),
  /** Workflows that failed, most failures first: `{workflowId, workflowName, failed, runs, lastFailed (an id)}`. */
  failing: Schema.optionalKey(Schema.Array(Row)),
  /** Incidents since `since`: `{at, what, count, cause, look}`, where `look` is the call that shows more. */
  incidents: Schema.optionalKey(Schema.Array(Row)),
  /** Sentences about events since then that cannot be known. */
  unknown: Schema.optionalKey(Schema.Array(Schema.String)),
  notes: Schema.optionalKey(Schema.Array(Schema.String)),
  url: Schema.String
})

const incidentsSince = Effect.fnUntraced(function*(since: string) {
  const { instance } = yield* N8nClient
  const now = yield* DateTime.now
  if (Date.parse(since) > now.epochMilliseconds) {
    return yield* new Errors.ValidationError({
      reason: `since is in the future: the time is ${DateTime.formatIso(now).slice(0, 16)}Z`,
      field: "since",
      hint: "Set since to an earlier time, in UTC or with an offset."
    })
  }
  return { ...yield* Since.incidents(Date.parse(since)), url: links.workflows(instance) }
})

const lacking = (scopes: ReadonlyArray<string>) =>
  Effect.map(Tool.CurrentTools, (tools) => {
    const needed = new Set(tools.flatMap((tool) => [...tool.scopes, ...Object.keys(tool.partialScopes)]))
    return [...needed].filter((scope) => !scopes.includes(scope)).toSorted()
  })

const overview = Effect.fnUntraced(function*(days: number) {
  const { about: describe, instance } = yield* N8nClient
  const notes: Array<string> = []
  const startedAfter = DateTime.subtract(yield* DateTime.now, { days })
  const { scopes, version } = yield* describe
  const key = scopes && { scopes: scopes.length, lacks: yield* lacking(scopes) }
  const parts = yield* Effect.all({
    workflows: facts.orNote("workflows", notes, facts.workflows),
    recent: facts.orNote("executions", notes, facts.executions(startedAfter)),
    running: facts.orNote("running executions", notes, facts.inState("running")),
    waiting: facts.orNote("waiting executions", notes, facts.inState("waiting")),
    packages: facts.orNote("packages", notes, facts.packages)
  }, { concurrency: 3 })
  if (isV1(version)) notes.push("n8n 1 does not report the key's scopes and the installed packages.")
  if (parts.workflows?.isAll === false) {
    notes.push(`Only the first ${counted(parts.workflows.names.size, "workflow")} are counted.`)
  }
  const groups = Triage.countByWorkflow(parts.recent?.executions ?? []).filter(({ failed }) => failed > 0)
  const newest = parts.running?.executions ?? []
  const names = parts.workflows?.names ?? new Map<string, string>()
  const isUnknown = (id: string | null | undefined) => typeof id === "string" && !names.has(id)
  // Names of deleted workflows, and of workflows beyond the first page.
  const others = yield* Selection.namesOf(
    [...newest, ...groups.map(({ workflowId }) => ({ id: "", workflowId }))].filter(({ workflowId }) =>
      isUnknown(workflowId)
    ).slice(0, maxLookups)
  )
  const nameOf = (id: string | null | undefined) =>
    Visible.line(names.get(id ?? "") ?? others.get(id ?? "") ?? Selection.unknownWorkflow)
  return { version, key, ...parts, groups, newest, nameOf, notes, url: links.workflows(instance) }
})

type Result = Effect.Success<ReturnType<typeof overview>> | Effect.Success<ReturnType<typeof incidentsSince>>

const summaryOf = ({ incidents, unknown, url }: Effect.Success<ReturnType<typeof incidentsSince>>) =>
  defined({
    incidents: incidents.map(({ at, cause, count, look, what }) =>
      defined({
        at: `${at.slice(0, 16)}Z`,
        what: Visible.line(what),
        count: count > 1 ? count : undefined,
        cause: cause && Visible.line(cause),
        look: look && Hints.call(look.tool, look.arguments as Hints.Values)
      })
    ),
    unknown: unknown.length === 0 ? undefined : unknown.map((each) => Visible.line(each)),
    notes: [
      ...incidents.length > 1
        ? [`${Rows.tally(incidents, ({ kind }) => kind)}; a later time has fewer.`]
        : [],
      "Only a watch that runs all the time notices silence, empty runs, lost logins and unpublishing."
    ],
    url
  })

/** `GET /workflows`, `/executions`, `/community-packages` and `/discover`, counted. */
export const instanceOverview = Tool.make({
  name: "instance_overview",
  title: "Instance overview",
  searchHint: "n8n version, health, what is running now, failure rates, community nodes, scopes of the key",
  description: "Is this n8n healthy? Version, workflows, packages, runs, failures.",
  annotations: Tool.readOnly,
  scopes: ["workflow:list", "execution:list"],
  partialScopes: { "communityPackage:list": "packages" },
  input: Schema.Struct({
    days: parameters.int("days", { minimum: 1, maximum: 90 }, 7, "Days of failures."),
    since: Selection.time("since", "Incidents since (ISO time).")
  }),
  output: Output,
  handler: ({ days, since }): Effect.Effect<Result, Errors.N8nError, N8nClient | Executions> =>
    since === undefined ? overview(days) : incidentsSince(since),
  summarize: (result, { days }) => {
    if ("incidents" in result) return summaryOf(result)
    const { groups, key, nameOf, newest, notes, packages, recent, running, url, version, waiting, workflows } = result
    const oldest = recent?.executions.at(-1)?.startedAt
    return defined({
      version,
      key: key && defined({ scopes: key.scopes, lacks: key.lacks.length === 0 ? undefined : key.lacks }),
      workflows: workflows && Struct.pick(workflows, ["published", "unpublished", "archived"]),
      tags: workflows && workflows.tags.size > 0
        ? Object.fromEntries([...workflows.tags].toSorted(([, a], [, b]) => b - a))
        : undefined,
      packages: packages?.map(({ failedLoading, installedVersion, packageName, updateAvailable }) =>
        `${Visible.line(packageName)}@${installedVersion}${failedLoading === true ? " (failed to load)" : ""}${
          typeof updateAvailable === "string" ? ` (${updateAvailable} available)` : ""
        }`
      ),
      running: running && defined({
        count: running.executions.length,
        more: running.isAll ? undefined : true,
        newest: newest.length === 0
          ? undefined
          : newest.map(({ id, startedAt, workflowId }) => ({
            id: String(id),
            workflowName: nameOf(workflowId),
            startedAt: startedAt ?? null
          }))
      }),
      waiting: waiting?.executions.length,
      runs: recent && defined({
        days,
        total: recent.executions.length,
        failed: Triage.countByWorkflow(recent.executions).reduce((sum, { failed }) => sum + failed, 0),
        since: recent.isAll ? undefined : oldest ?? undefined
      }),
      failing: groups.length === 0
        ? undefined
        : groups.map((group) => ({
          workflowId: group.workflowId,
          workflowName: nameOf(group.workflowId),
          failed: group.failed,
          runs: group.total,
          lastFailed: group.lastFailed?.id ?? ""
        })),
      notes: notes.length === 0 ? undefined : notes,
      url
    })
  },
  budget: () => ({
    tokens: 1_500,
    lists: { failing: 5, "running.newest": 3, packages: 5, incidents: 7, unknown: 3 },
    rooms: {
      tags: 240,
      "failing[].workflowName": [80, 50],
      "running.newest[].workflowName": [80, 50],
      "packages[]": 80,
      "incidents[].what": [190, 120, 90, 60],
      "incidents[].cause": [190, 120, 90, 60],
      "unknown[]": 190
    }
  }),
  message: (data, { since = "" }) => ({
    en: data.incidents !== undefined ?
      `${
        counted(marksIn(data).find(({ path }) => path === "incidents")?.total ?? data.incidents.length, "incident")
      } since ${since.slice(0, 16)}` :
      `n8n ${data.version ?? "of an unknown version"}: ${
        counted(data.workflows?.published ?? 0, "published workflow")
      }, ${
        data.runs === undefined
          ? "executions unknown"
          : `${data.runs.failed} of ${counted(data.runs.total, "run")} failed`
      }`,
    ja: "n8n の概要を取得しました"
  }),
  next: () => (path) =>
    path === "failing"
      ? "list_executions(groupBy: 'workflow')"
      : path === "running.newest"
      ? "list_executions(status: 'running')"
      : undefined
})
