import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import { sumAll } from "effect/Number"
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
import * as Links from "../../n8n/Links.ts"
import { isV1, N8nClient } from "../../n8n/N8nClient.ts"
import * as Health from "../../watch/Health.ts"
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
  /** Workflows with incidents since `since`: runs, sentences by kind of incident, changes near their beginnings, `look`. */
  incidents: Schema.optionalKey(Schema.Array(Row)),
  /** Sentences about events since then that cannot be known. */
  unknown: Schema.optionalKey(Schema.Array(Schema.String)),
  notes: Schema.optionalKey(Schema.Array(Schema.String)),
  url: Schema.String
})

const healthSince = Effect.fnUntraced(function*(time: string, workflows: ReadonlyArray<string> | undefined) {
  const { instance } = yield* N8nClient
  const now = yield* DateTime.now
  const since = Date.parse(time)
  const refuse = (reason: string, hint: Hints.Hint) =>
    Effect.fail(new Errors.ValidationError({ reason, field: "since", hint }))
  if (since > now.epochMilliseconds) {
    return yield* refuse(
      `since is in the future: the time is ${DateTime.formatIso(now).slice(0, 16)}Z`,
      "Set since to an earlier time, in UTC or with an offset."
    )
  }
  if (now.epochMilliseconds - since > (Health.maxDays + 1) * 86_400_000) {
    return yield* refuse(
      `since is more than ${Health.maxDays} days ago`,
      parameters.callTools(
        ["list_executions"],
        `Set since to at most ${Health.maxDays}d; list_executions(groupBy: 'workflow', startedAfter) counts older runs.`
      )
    )
  }
  return { health: yield* Health.read({ since, workflows }), url: Links.workflows(instance) }
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
  return { version, key, ...parts, groups, newest, nameOf, notes, url: Links.workflows(instance) }
})

type Result = Effect.Success<ReturnType<typeof overview>> | Effect.Success<ReturnType<typeof healthSince>>

type Incident = Health.Health["shared"][number]

const minuteOf = (iso: string) => `${iso.slice(0, 16)}Z`

/** Incident in a line; of failures also when, how often and whether they go on, which other sentences say themselves. */
const lineOf = ({ at, cause, count, isOver, kind, until = at, what }: Incident) => {
  const times = until === at ? minuteOf(at) : `${minuteOf(at)} to ${minuteOf(until)}`
  const before = kind === "failed" ? `${count}×, ${times}, ${isOver === true ? "over" : "goes on"}: ` : ""
  return Visible.line(`${before}${what}${cause === undefined ? "" : `; ${cause}`}`)
}

const callOf = (incidents: ReadonlyArray<Incident>) => {
  const look = incidents.find((each) => each.look !== undefined)?.look
  return look && Hints.call(look.tool, look.arguments as Hints.Values)
}

const rowOf = ({ changes, failed, incidents, runs, workflowId }: Health.Row, since: string) => {
  const near = changes.filter(({ at }) => at >= since)
  return {
    workflowId,
    runs: failed === 0 ? String(runs) : `${runs}, ${failed} failed`,
    ...Object.fromEntries(
      Rows.grouped(incidents, ({ kind }) => kind).map(({ first, rows }) => [first.kind, rows.map(lineOf).join(" | ")])
    ),
    ...near.length === 0 ? {} : {
      changes: near.map(({ at, event, version = "" }) => `${minuteOf(at)} ${event} ${version.slice(0, 8)}`.trimEnd())
        .join(", ")
    },
    ...defined({ look: callOf(incidents) })
  }
}

const clockOf = ({ ahead, zone, zoneFrom }: Health.Health["clock"]) =>
  `n8n's time zone: ${
    zone === undefined
      ? "unknown, no stored run tells it"
      : `${zone}, by ${zoneFrom === "option" ? "option" : `run ${zoneFrom}`}`
  }. Its clock ${
    ahead === undefined
      ? "is not known"
      : ahead === 0
      ? "is right"
      : `is ${Math.abs(ahead / 1000).toFixed(0)} s ${ahead > 0 ? "ahead" : "behind"}`
  }. Times are UTC.`

const summaryOf = ({ health, url }: Effect.Success<ReturnType<typeof healthSince>>) => {
  const { clock, failed, healthy, idle, off, rows, runs, shared, since, unknown } = health
  const quiet = counted(sumAll(healthy.map((row) => row.runs)), "run")
  return defined({
    incidents: [
      ...shared.map((incident) => ({ [incident.kind]: lineOf(incident), ...defined({ look: callOf([incident]) }) })),
      ...rows.filter(({ incidents }) => incidents.length > 0).map((row) => rowOf(row, since))
    ],
    unknown: unknown.length === 0 ? undefined : unknown.map((each) => Visible.line(each)),
    notes: [
      `${counted(shared.length + sumAll(rows.map((row) => row.incidents.length)), "incident")}. ${
        counted(runs, "run")
      }, ${failed} failed. Healthy: ${
        healthy.length === 0 ? "none" : `${counted(healthy.length, "workflow")} with ${quiet}`
      }${idle === 0 ? "" : `; ${idle} published without a run`}${off === 0 ? "" : `; ${off} not judged (watch: off)`}.`,
      clockOf(clock)
    ],
    url
  })
}

/** `GET /workflows`, `/executions`, `/community-packages` and `/discover`, counted. */
export const instanceOverview = Tool.make({
  name: "instance_overview",
  title: "Instance overview",
  searchHint:
    "n8n version, health of the last week: failed, missed, slow, empty runs; what is running now, failure rates, community nodes, scopes of the key",
  description: "Is this n8n healthy? Version, failures; with since, all that went wrong.",
  annotations: Tool.readOnly,
  scopes: ["workflow:list", "execution:list"],
  partialScopes: {
    "communityPackage:list": "packages",
    "execution:read": "reasons of failures, empty runs and n8n's time zone",
    "workflow:read": "changes near incidents"
  },
  input: Schema.Struct({
    days: parameters.int("days", { minimum: 1, maximum: 90 }, 7, "Days."),
    since: Selection.time("since", "7d or ISO time."),
    workflows: Schema.optionalKey(Schema.Array(Schema.String.pipe(Links.workflowId)).annotate({ description: "Ids." }))
  }),
  output: Output,
  handler: ({ days, since, workflows }): Effect.Effect<Result, Errors.N8nError, N8nClient | Executions> =>
    since === undefined ? overview(days) : healthSince(since, workflows),
  summarize: (result, { days }) => {
    if ("health" in result) return summaryOf(result)
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
  budget: ({ incidents }) => ({
    tokens: incidents === undefined ? 1_500 : 3_050,
    lists: { failing: 5, "running.newest": 3, packages: 5, incidents: 12, unknown: 3 },
    rooms: {
      tags: 240,
      "failing[].workflowName": [80, 50],
      "running.newest[].workflowName": [80, 50],
      "packages[]": 80,
      ...Object.fromEntries(
        ["failed", "missed", "silent", "slow", "stuck", "empty", "unpublished", "changes"].map((kind) =>
          [`incidents[].${kind}`, [420, 340, 280, 220, 160, 110]] as const
        )
      ),
      "unknown[]": 190
    }
  }),
  message: (data, { since = "" }) => ({
    en: data.incidents !== undefined ?
      `${
        data.incidents.length === 0
          ? "No incidents"
          : counted(
            marksIn(data).find(({ path }) => path === "incidents")?.total ?? data.incidents.length,
            "workflow"
          ) +
            " with incidents"
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
