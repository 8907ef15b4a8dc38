/** Past of an n8n, read from its stored executions as far as judgments need it. */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import { defined } from "../base/Json.ts"
import type * as Publications from "../n8n/model/Publications.ts"
import { isV1, N8nClient } from "../n8n/N8nClient.ts"
import { failures, type Origin, type Sample } from "./detect/Detectors.ts"
import type { Change, Options } from "./Health.ts"
import * as Judgment from "./Judgment.ts"
import { day, isAttended, type Run } from "./Observation.ts"
import * as observe from "./observe.ts"
import * as reading from "./reading.ts"
import * as tell from "./tell.ts"
import * as Thresholds from "./Thresholds.ts"
import type { State } from "./watchState.ts"

/** Span before the judged one that shows what is usual. */
const usualSpan = 10 * day

/** Maximum numbers of requests, pages of executions, failed and successful runs to read, workflows with changes, and slow episodes. */
export const most = { requests: 1_500, pages: 60, origins: 300, samples: 700, changes: 20, paces: 10, concurrency: 4 }

/** Milliseconds for the list of executions, and for the runs whose data are read. */
const time = { list: 12_000, read: 12_000 }

/** Maximum number of failed runs of a workflow that are read, and of its runs whose items are counted, and the least. */
const perWorkflow = { origins: 8, samples: 40, spread: 12, least: 8 }

/** Elements of a list in equal distances, with the first and the last. */
const spread = <A>(list: ReadonlyArray<A>, count: number): ReadonlyArray<A> =>
  list.length <= count
    ? list
    : [...new Set(Array.from({ length: count }, (_, index) => Math.round(index * (list.length - 1) / (count - 1))))]
      .flatMap((index) => list[index] ?? [])

const groupsOf = (runs: ReadonlyArray<Run>) => [...Map.groupBy(runs, ({ workflowId }) => workflowId).values()]

/** Failed runs whose reasons are read: some of each workflow, and the last one before the judged span. */
const suspects = (ended: ReadonlyArray<Run>, since: number) => {
  const groups = groupsOf(ended.filter(failures.hasFailed)).map((all) => {
    const first = all.findIndex(({ startedAt }) => startedAt >= since)
    return first < 0
      ? { earlier: [], own: [] }
      : { earlier: all.slice(Math.max(0, first - 1), first), own: all.slice(first) }
  })
  const each = Math.max(1, Math.min(perWorkflow.origins, Math.floor(most.origins / Math.max(1, groups.length))))
  return groups.flatMap(({ earlier, own }) => [...spread(own, each), ...earlier]).slice(0, most.origins)
}

/** Counts the items of a workflow's runs: of all, or of some and of those between a full and an empty one. */
const samplesOf = Effect.fnUntraced(function*(runs: ReadonlyArray<Run>, count: number, until: number) {
  const samples = new Map<string, Sample>()
  let isLarge = false
  const read = (own: ReadonlyArray<Run>) =>
    Effect.forEach(own.filter(({ id }) => !samples.has(id)), (run) =>
      Effect.gen(function*() {
        if (isLarge || (yield* Clock.currentTimeMillis) > until) return
        const { after, sample } = yield* reading.sample(run)
        isLarge = after !== undefined
        if (sample !== undefined) samples.set(run.id, sample)
      }), { concurrency: 2 })
  yield* read(spread(runs, runs.length <= count ? runs.length : Math.min(count, perWorkflow.spread)))
  const isFull = (run: Run | undefined) => (samples.get(run?.id ?? "")?.items ?? 0) > 0
  for (let step = 0; step < perWorkflow.spread; step++) {
    const known = runs.flatMap(({ id }, index) => samples.has(id) ? [index] : [])
    const gap = known.findIndex((index, place) =>
      place > 0 && index - (known[place - 1] ?? 0) > 1 && isFull(runs[known[place - 1] ?? 0]) && !isFull(runs[index])
    )
    const [from = 0, to = 0] = gap < 0 ? [] : [known[gap - 1], known[gap]]
    const middle = runs[Math.floor((from + to) / 2)]
    if (gap < 0 || middle === undefined) break
    yield* read([middle])
    if (!samples.has(middle.id)) break
  }
  return samples
})

/** History in parts: whether a workflow was published changes between them. */
const judged = (
  entries: State["workflows"],
  publications: ReadonlyMap<string, ReadonlyArray<Publications.Publication>>,
  observed: Judgment.Observed,
  circumstances: Judgment.Circumstances
) => {
  const { now, seenFrom } = circumstances
  const cuts = [...new Set([...publications.values()].flatMap((all) => all.map(({ at }) => at)))]
    .filter((at) => at > seenFrom && at < now).toSorted((a, b) => a - b)
  let workflows = entries
  const episodes = new Map<string, Judgment.WorkflowEpisode>()
  let unknown: ReadonlyMap<string, ReadonlyArray<string>> = new Map()
  let from = -Infinity
  for (const to of [...cuts, now]) {
    const isWithin = (at: number) => at > from && at <= to
    const isOpen = ({ startedAt, stoppedAt }: Run) => startedAt <= to && (stoppedAt === undefined || stoppedAt > to)
    workflows = Object.fromEntries(
      Object.entries(workflows).map(([id, entry]) => {
        const events = publications.get(id)
        if (events === undefined) return [id, entry]
        const last = events.findLast(({ at }) => at <= Math.max(from, seenFrom))
        return [id, { ...entry, isPublished: last?.event === "published", liveSince: last?.at ?? now }]
      })
    )
    const judgment = Judgment.judge(workflows, {
      ...observed,
      started: observed.started.filter(({ startedAt }) => isWithin(startedAt)),
      ended: observed.ended.filter(({ startedAt, stoppedAt }) => isWithin(stoppedAt ?? startedAt)),
      running: to === now ? observed.running : [...observed.ended, ...observed.running].filter(isOpen)
    }, { ...circumstances, now: to })
    for (const each of judgment.episodes) episodes.set(`${tell.keyOf(each)} ${each.episode.from}`, each)
    ;({ unknown, workflows } = judgment)
    from = to
  }
  return { episodes: [...episodes.values()], unknown, workflows }
}

/** Lists of the runs and workflows of a span and of the time before it, and n8n's time zone. */
const lists = Effect.fnUntraced(function*({ since, workflows: only, zone: named }: Options) {
  const now = yield* Clock.currentTimeMillis
  const [runs, { workflows: listed }, release] = yield* Effect.all([
    observe.executions(undefined, {
      until: now + time.list,
      most: most.pages,
      span: now - since + usualSpan,
      workflowIds: only
    }),
    observe.workflows(undefined, { every: 1, isNeeded: true, left: most.requests }),
    N8nClient.use((n8n) => n8n.release)
  ], { concurrency: 2 })
  const asked = Object.entries(listed).map(([id, entry]) => [id, { ...entry, liveSince: entry.savedAt ?? 0 }] as const)
    .filter(([id]) => only?.includes(id) ?? true)
  const off = new Set(asked.flatMap(([id, entry]) => Thresholds.of({ id, ...entry }).isOff ? [id] : []))
  const entries: State["workflows"] = Object.fromEntries(asked.filter(([id]) => !off.has(id)))
  const source = named !== undefined
    ? undefined
    : yield* reading.instanceZone(Object.entries(listed).map(([id, entry]) => ({ id, ...entry })), runs.ended)
  const circumstances: Judgment.Circumstances = {
    now,
    seenFrom: runs.next.seenFrom,
    zone: named ?? source?.zone,
    isV1: isV1(release),
    silentOf: (workflow) => Thresholds.of(workflow).silent
  }
  return { now, since, runs, off, entries, source, circumstances }
})

const unreadOrigin = (status: string): Origin => ({
  ...reading.unrecorded(status),
  failure: { message: "its error was not read" },
  isAssumed: true
})

/** Reasons of failed runs, and item counts of others. */
const details = Effect.fnUntraced(function*({ entries, runs, since }: Effect.Success<ReturnType<typeof lists>>) {
  const until = (yield* Clock.currentTimeMillis) + time.read
  const isKnown = ({ workflowId }: Run) => Object.hasOwn(entries, workflowId)
  const ended = runs.ended.filter(isKnown)
  const chosen = suspects(ended, since)
  const origins = yield* reading.origins(chosen, most.concurrency)
  const usable = groupsOf(
    ended.filter((run) => run.status === "success" && !isAttended(run) && !runs.waited.has(run.id))
  )
    .filter((all) => all.some(({ startedAt }) => startedAt >= since)).toSorted((a, b) => b.length - a.length)
  const each = Math.max(perWorkflow.least, Math.min(perWorkflow.samples, Math.floor(most.samples / usable.length)))
  const sampled = usable.slice(0, Math.ceil(most.samples / each))
  const samples = new Map(
    (yield* Effect.forEach(sampled, (all) => samplesOf(all, each, until), { concurrency: most.concurrency }))
      .flatMap((all) => [...all])
  )
  // Failures before the span were not read, but for the last one of each workflow.
  const judgedRuns = ended.filter((run) => run.startedAt >= since || !failures.hasFailed(run))
  const known = failures.assumed(judgedRuns, origins)
  const unread = judgedRuns.filter((run) => failures.hasFailed(run) && !known.has(run.id))
  const observed: Judgment.Observed = {
    ...runs,
    started: runs.started.filter(isKnown),
    ended: judgedRuns,
    samples,
    origins: new Map([...known, ...unread.map(({ id, status }) => [id, unreadOrigin(status)] as const)])
  }
  const earlier = new Map(
    chosen.flatMap((run) => {
      const origin = run.startedAt < since ? origins.get(run.id) : undefined
      return origin === undefined ? [] : [[failures.causeOf(run.workflowId, origin), run.startedAt] as const]
    })
  )
  const isLate = (yield* Clock.currentTimeMillis) > until
  return { observed, earlier, isLate, unread: unread.length, unsampled: usable.length - sampled.length }
})

/** Reads a span of the past and judges it: episodes with the changes and the paces around them. */
export const read = Effect.fn("past.read")(function*(options: Options) {
  const listed = yield* lists(options)
  const { circumstances, entries, since } = listed
  const { earlier, observed, ...gaps } = yield* details(listed)
  const isOwn = ({ episode: { isOver, kind, to } }: Judgment.WorkflowEpisode) =>
    to >= since || !isOver && kind !== "failed"
  // The list says when a version was saved, not when it was published.
  const first = judged(entries, new Map(), observed, circumstances)
  const doubtful = [...new Set(first.episodes.flatMap((each) => isOwn(each) ? [each.workflowId] : []))]
  const changes: ReadonlyMap<string, ReadonlyArray<Change>> = new Map(
    yield* Effect.forEach(
      doubtful.slice(0, most.changes),
      (id) => Effect.map(reading.changesOf(id), (all) => [id, all] as const),
      { concurrency: most.concurrency }
    )
  )
  const publications = new Map(
    Array.from(changes, ([id, all]) =>
      [
        id,
        all.flatMap(({ at, event, version }) =>
          event === "saved" ? [] : [{ at: Date.parse(at), event, ...defined({ version }) }]
        )
      ] as const).filter(([, all]) => all.length > 0)
  )
  const { episodes, unknown, workflows } = publications.size === 0
    ? first
    : judged(entries, publications, observed, circumstances)
  const own = Judgment.withoutCallers(episodes.filter(isOwn), workflows).map((each): Judgment.WorkflowEpisode => {
    const { episode } = each
    const before = episode.kind === "failed" ? earlier.get(episode.cause) : undefined
    return before === undefined ? each : { ...each, episode: { before, ...episode } as typeof episode }
  })
  const paces = new Map(
    yield* Effect.forEach(
      own.flatMap(({ episode }) => episode.kind === "slow" ? [episode] : []).slice(0, most.paces),
      (episode) => Effect.map(reading.paceOf([episode.former], [episode.run]), (pace) => [episode, pace] as const)
    )
  )
  return { ...listed, observed, ...gaps, episodes: own, unknown, changes, publications, paces }
})

export type Past = Effect.Success<ReturnType<typeof read>>
