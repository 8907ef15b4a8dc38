/** Incidents in words, from the episodes that detectors find. Pure. */
import { defined } from "../base/Json.ts"
import { counted } from "../base/Plural.ts"
import * as Rows from "../base/Rows.ts"
import * as Visible from "../base/Visible.ts"
import type { Empty, Episode, Failed, Missed, Silent, Slow, Stuck } from "./detect/Detector.ts"
import type { Incident } from "./Incident.ts"
import type { WorkflowEpisode } from "./Judgment.ts"
import { day, hour, minute, second } from "./Observation.ts"
import type * as reading from "./reading.ts"

/** Length of an error message in an incident. */
const maxMessage = 160

/** Time after a publication in which n8n may still run the version before. */
export const takeover = 10 * second

const iso = (time: number) => new Date(time).toISOString()

/** Time in a sentence. */
export const clock = (time: number) => `${iso(time).slice(0, 16).replace("T", " ")} UTC`

const duration = (ms: number) => {
  const [value, unit] = ms < second
    ? [ms, "ms"]
    : ms < 2 * minute
    ? [ms / second, "s"]
    : ms < 2 * hour
    ? [ms / minute, "min"]
    : ms < 2 * day
    ? [ms / hour, "h"]
    : [ms / day, "days"]
  const digits = unit === "s" && value < 10 ? 10 : 1
  return `${Math.max(1, Math.round(value * digits) / digits)} ${unit}`
}

/** Time without n8n. */
export interface Outage {
  readonly from: number
  /** Absent while it lasts. */
  readonly to?: number | undefined
  /** Last time at which n8n is known to have worked before. */
  readonly worked?: number | undefined
}

/** Time from which a version may run: n8n does not tell the publications of one that no longer runs. */
export interface Begin {
  readonly at: number
  readonly event: "published" | "saved"
}

/** Facts around an episode, as far as they are known. */
export interface Facts {
  readonly now: number
  readonly name: string
  readonly beginOf?: ((version: string) => Begin | undefined) | undefined
  /** Version that is live since then, if no run is known to have been as usual with it. */
  readonly version?: { readonly id: string; readonly since: number } | undefined
  /** Last save; absent where runs tell their versions. */
  readonly savedAt?: number | undefined
  readonly outages?: ReadonlyArray<Outage> | undefined
  readonly pace?: reading.Pace | undefined
  /** Whether runs of other workflows started in a span. */
  readonly ranOthers?: ((from: number, to: number) => boolean) | undefined
}

const short = (version: string) => version.slice(0, 8)

/** Sentence about the version that a failure came with, without a claim about runs that were not read. */
const versionOf = ({ before, from, origin: { isCrash, version }, worked }: Failed, { beginOf }: Facts) => {
  const begin = version === undefined || isCrash ? undefined : beginOf?.(version)
  if (before !== undefined) return `it failed in the same way before, at ${clock(before)}`
  if (version === undefined || begin === undefined || begin.at > from) return undefined
  const since = `${begin.event} at ${clock(begin.at)}`
  if (worked !== undefined && worked >= begin.at + takeover) {
    // Until it was published, the version before ran.
    if (begin.event === "saved") return undefined
    return `its version, ${since}, still worked at ${clock(worked)}`
  }
  if (from - begin.at >= 7 * day) return undefined
  return `its first failure since version ${short(version)}, ${since}${
    worked === undefined ? "" : `; the run before, at ${clock(worked)}, succeeded`
  }`
}

const failed = (episode: Failed, facts: Facts) => {
  const { count, origin: { failure, isCrash }, read } = episode
  const { called, description, message, node } = failure
  const causes = [
    isCrash ? "n8n was restarted or ran out of memory while it ran" : undefined,
    description && Visible.label(description, maxMessage),
    versionOf(episode, facts),
    called && `the workflow ${called} that it calls failed`,
    read < count && count > 3 ? `the reasons of ${read} of ${count} were read` : undefined
  ].filter((each) => each !== undefined && each !== "")
  return {
    what: `'${Visible.label(facts.name)}' failed${node === undefined ? "" : ` at '${Visible.label(node, 40)}'`}: ${
      Visible.label(message, maxMessage)
    }`,
    cause: causes.length === 0 ? undefined : causes.join("; "),
    look: { tool: "get_execution", arguments: { id: episode.run } }
  }
}

/** Outage in which starts were missed. */
const during = (from: number, outages: ReadonlyArray<Outage> = []) =>
  outages.find((outage) => from <= (outage.to ?? Infinity) && from >= (outage.worked ?? outage.from) - 3 * minute)

const missed = (
  { count, from, isOver, lastStart, to, unsure = 0 }: Missed,
  { name, outages, ranOthers }: Facts,
  id: string
) => {
  const outage = during(from, outages)
  const isAlone = count > 1 && ranOthers?.(from, to) === true
  return {
    what: `'${Visible.label(name)}' did not start at ${clock(from)}${
      count > 1 ? ` and ${counted(count - 1, "later time")}, until ${clock(to)},` : ""
    } as its schedule says${
      unsure === 0
        ? ""
        : `; ${counted(unsure, "start")} near the change of clocks ${unsure === 1 ? "is" : "are"} not counted`
    }`,
    cause: outage !== undefined
      ? `n8n did not answer from ${clock(outage.from)}${outage.to === undefined ? "" : ` to ${clock(outage.to)}`}`
      : isOver
      ? `n8n starts it again: ${
        isAlone ? "it ran others meanwhile, and this one may have been unpublished" : "it may have been down then"
      }`
      : lastStart === undefined
      ? "no start of its published version was seen"
      : `n8n started it last at ${
        clock(lastStart)
      }, and it is still published: n8n may have been down or lost the schedule`,
    look: { tool: "list_executions", arguments: { workflowId: id } }
  }
}

const silent = ({ expected = 0, from, isOver, limit = 0, to }: Silent, { name }: Facts, id: string) => ({
  what: isOver
    ? `Nothing started '${Visible.label(name)}' from ${clock(from)} to ${clock(to)}, for ${duration(to - from)}`
    : `Nothing has started '${Visible.label(name)}' since ${clock(from)}, for ${duration(to - from)}`,
  cause: expected > 0
    ? `in these hours of past weeks it ran at least ${
      counted(expected, "time")
    }: whatever calls it may have stopped, or its registration is lost`
    : `its limit is ${duration(limit)}`,
  look: { tool: "list_executions", arguments: { workflowId: id } }
})

const slow = (episode: Slow, { name, now: time, pace, version }: Facts) => {
  const { count, from, now, p95, run, to, usual } = episode
  const place = pace?.outside === true
    ? "outside of its nodes (loading, waiting, saving)"
    : pace?.node !== undefined
    ? `in '${Visible.label(pace.node, 40)}'`
    : undefined
  const [before, after] = pace !== undefined && "before" in pace ? [pace.before, pace.after] : [0, 0]
  const where = place && `the time is ${place}: ${duration(before)} before, ${duration(after)} now`
  const change =
    version !== undefined && version.since <= from && (time - version.since < day || from - version.since < hour)
      ? `version ${short(version.id)} runs since ${clock(version.since)}`
      : undefined
  const causes = [where, change].filter((each) => each !== undefined)
  return {
    what: count === 1
      ? `Run ${run} of '${Visible.label(name)}' took ${duration(now)}, usually at most ${duration(p95)}`
      : `Runs of '${Visible.label(name)}' ${
        episode.isOver
          ? `took ${duration(now)} from ${clock(from)} to ${clock(to)}`
          : `take ${duration(now)} since ${clock(from)}`
      }, usually ${duration(usual)}`,
    cause: causes.length === 0 ? undefined : causes.join("; "),
    look: { tool: "get_execution", arguments: { id: run, sortBy: "time" } }
  }
}

const stuck = ({ from, isOver, p95, run, to }: Stuck, { name }: Facts) => ({
  what: `Run ${run} of '${Visible.label(name)}' ${isOver ? "did not end" : "has not ended"} for ${duration(to - from)}${
    p95 > 0 ? `, usually at most ${duration(p95)}` : ""
  }`,
  cause: undefined,
  look: { tool: "get_execution", arguments: { id: run } }
})

const empty = ({ from, isOver, run, to, usual, version }: Empty, { beginOf, name, savedAt = 0 }: Facts) => {
  const begin = version === undefined ? undefined : beginOf?.(version)
  const isChanged = savedAt > from - 7 * day
  return {
    what: `Runs of '${Visible.label(name)}' ${
      isOver ? `ended without items from ${clock(from)} to ${clock(to)}` : `end without items since ${clock(from)}`
    }; usually with ${usual}`,
    cause: version === undefined
      ? isChanged
        ? `the workflow was last saved at ${clock(savedAt)}`
        : "the workflow has not changed: its source may be empty"
      : `since version ${short(version)}${begin === undefined ? "" : `, ${begin.event} at ${clock(begin.at)}`}`,
    look: { tool: "get_execution", arguments: { id: run } }
  }
}

const words = (episode: Episode, facts: Facts, id: string) => {
  switch (episode.kind) {
    case "failed":
      return failed(episode, facts)
    case "missed":
      return missed(episode, facts, id)
    case "silent":
      return silent(episode, facts, id)
    case "slow":
      return slow(episode, facts)
    case "stuck":
      return stuck(episode, facts)
    case "empty":
      return empty(episode, facts)
  }
}

/** Key of an episode's cause: the same for a later episode of it, but for silence, emptiness and a run that is stuck. */
export const keyOf = ({ episode, workflowId }: WorkflowEpisode): string => {
  switch (episode.kind) {
    case "failed":
      return `failed:${episode.cause}`
    case "stuck":
      return `stuck:${episode.run}`
    case "missed":
    case "slow":
      return `${episode.kind}:${workflowId}`
    case "silent":
    case "empty":
      return `${episode.kind}:${workflowId}:${episode.from}`
  }
}

/** Incident of an episode. */
export const incident = (own: WorkflowEpisode, facts: Facts): Incident => {
  const { episode, workflowId } = own
  const { cause, look, what } = words(episode, facts, workflowId)
  return {
    kind: episode.kind,
    key: keyOf(own),
    workflowId,
    workflowName: facts.name,
    at: iso(episode.from),
    ...episode.to === episode.from ? {} : { until: iso(episode.to) },
    count: episode.count,
    isOver: episode.isOver,
    what,
    ...defined({ cause }),
    look
  }
}

/** Keys of the episodes of runs that ended with n8n itself. */
export const crashesOf = (episodes: ReadonlyArray<WorkflowEpisode>): ReadonlySet<string> =>
  new Set(
    episodes.flatMap((each) => each.episode.kind === "failed" && each.episode.origin.isCrash ? [keyOf(each)] : [])
  )

/** Number of workflows with missed schedules, and of crashed runs, from which they share one incident. */
const many = { missed: 3, crashed: 2 }

/** Incidents that overlap in time, in groups. */
const overlapping = (incidents: ReadonlyArray<Incident>) => {
  const groups: Array<{ end: string; incidents: Array<Incident> }> = []
  for (const each of incidents.toSorted((a, b) => a.at < b.at ? -1 : 1)) {
    const group = groups.at(-1)
    const end = each.until ?? each.at
    if (group === undefined || Date.parse(each.at) > Date.parse(group.end) + 10 * minute) {
      groups.push({ end, incidents: [each] })
    } else {
      group.incidents.push(each)
      if (end > group.end) group.end = end
    }
  }
  return groups.map(({ incidents }) => incidents)
}

const workflowsOf = (incidents: ReadonlyArray<Incident>) =>
  Rows.grouped(incidents, ({ workflowId }) => workflowId).map((
    { first: { workflowId = "", workflowName = workflowId } }
  ) => ({
    id: workflowId,
    name: workflowName
  }))

/** One incident for those of several workflows at the same time. */
const together = (
  incidents: ReadonlyArray<Incident>,
  words: Pick<Incident, "key" | "what" | "cause" | "look">
): Incident => {
  const ends = incidents.map(({ at, until = at }) => until).toSorted()
  const [at = ""] = incidents.map(({ at }) => at).toSorted()
  const until = ends.at(-1) ?? at
  return {
    kind: incidents[0]?.kind ?? "missed",
    workflows: workflowsOf(incidents),
    at,
    ...until === at ? {} : { until },
    count: incidents.reduce((sum, { count }) => sum + count, 0),
    isOver: incidents.every(({ isOver }) => isOver === true),
    ...words
  }
}

const missedTogether = (incidents: ReadonlyArray<Incident>): Incident => {
  const [first] = incidents
  const at = Math.min(...incidents.map(({ at }) => Date.parse(at)))
  const all = incidents.every((each) => each.cause === first?.cause)
  return together(incidents, {
    key: `missed:${iso(at)}`,
    what: `${workflowsOf(incidents).length} workflows did not start as scheduled from ${clock(at)} on: ${
      Rows.names(workflowsOf(incidents).map(({ name }) => name), 10, 24)
    }`,
    ...defined({ cause: all ? first?.cause : "n8n may have been down or lost the schedules" }),
    look: { tool: "list_executions", arguments: { startedAfter: iso(at) } }
  })
}

const crashedTogether = (incidents: ReadonlyArray<Incident>): Incident =>
  together(incidents, {
    key: `crashed:${String(incidents[0]?.look?.arguments["id"])}`,
    what: `${counted(incidents.reduce((sum, { count }) => sum + count, 0), "run")} ended with n8n itself: ${
      Rows.names(workflowsOf(incidents).map(({ name }) => name), 10, 30)
    }`,
    cause: "n8n was restarted or ran out of memory while they ran",
    look: { tool: "list_executions", arguments: { status: "crashed" } }
  })

/**
 * Incidents with one for the schedules that stopped together, and one for the runs that crashed together. `crashed` are
 * keys; `isQuiet` tells whether n8n may have been down for a time.
 */
export const gathered = (
  incidents: ReadonlyArray<Incident>,
  crashed: ReadonlySet<string>,
  isQuiet: (from: number, to: number) => boolean = () => true
): ReadonlyArray<Incident> => {
  const group = (isOne: (incident: Incident) => boolean, least: (group: ReadonlyArray<Incident>) => boolean) =>
    overlapping(incidents.filter(isOne)).filter(least)
  const shared = [
    ...group(({ kind }) => kind === "missed", (all) =>
      all.length >= many.missed &&
      isQuiet(
        Math.min(...all.map(({ at }) => Date.parse(at))),
        Math.min(...all.map(({ at, until = at }) => Date.parse(until)))
      )).map((all) => ({ all, one: missedTogether(all) })),
    ...group(
      ({ key }) => crashed.has(key),
      (all) => all.reduce((sum, { count }) => sum + count, 0) >= many.crashed
    ).map((all) => ({ all, one: crashedTogether(all) }))
  ]
  return incidents.flatMap((each) => {
    const group = shared.find(({ all }) => all.includes(each))
    return group === undefined ? [each] : group.all[0] === each ? [group.one] : []
  })
}
