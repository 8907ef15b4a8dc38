/** Incidents since a time, without a state: what n8n's own records show. */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import { counted } from "../base/Plural.ts"
import { isV1, N8nClient } from "../n8n/N8nClient.ts"
import * as Traffic from "../n8n/Traffic.ts"
import { failures } from "./detect/index.ts"
import type { Incident } from "./Incident.ts"
import * as judge from "./judge.ts"
import * as observe from "./observe.ts"
import type { State } from "./state.ts"

const day = 86_400_000

/** Maximum number of requests of an answer: for pages of executions, and in total. Concurrency is that of the watch. */
const most = { pages: 10, requests: 60, failures: 8 }

/** Time for pages of executions. */
const readTime = 20_000

/** Time before `since` whose runs show the usual behaviour. */
const usualSpan = 7 * day

/** Order of kinds in a short answer. */
const urgency = ["failed", "missed", "stuck", "slow"]

const published = (workflows: State["workflows"], times: ReadonlyMap<string, number>): State["workflows"] =>
  Object.fromEntries(
    Object.entries(workflows).map(([id, entry]) => [id, { ...entry, liveSince: times.get(id) ?? entry.savedAt ?? 0 }])
  )

const look = Effect.fnUntraced(function*(since: number, traffic: Traffic.Traffic) {
  const now = yield* Clock.currentTimeMillis
  const until = now + readTime
  const [runs, { workflows: listed }, release] = yield* Effect.all([
    observe.executions(undefined, { until, most: most.pages, span: now - since + usualSpan }),
    observe.workflows(undefined, { every: 1, isNeeded: true, left: most.requests }),
    N8nClient.use((n8n) => n8n.release)
  ], { concurrency: 2 })
  const { seenFrom } = runs.next
  const before = runs.ended.filter(({ startedAt }) => startedAt < since)
  const ended = runs.ended.filter(({ startedAt, stoppedAt }) => (stoppedAt ?? startedAt) >= since)
  const entries = published(listed, new Map())
  const usual = judge.learn(entries, { ...runs, started: runs.started, ended: before }, { from: seenFrom, now })
  const circumstances = {
    now,
    seenFrom: Math.max(since, seenFrom),
    zone: undefined,
    isV1: isV1(release),
    outage: undefined,
    limit: undefined
  }
  // Runs since then also show that n8n saves them.
  const all = judge.learn(entries, runs, { from: seenFrom, now })
  let starts = judge.starts(all, circumstances)
  if (starts.incidents.length > 0) {
    // The list says when a version was saved, not when it was published.
    const times = yield* Effect.forEach(
      starts.incidents.slice(0, most.failures),
      ({ workflowId = "" }) => Effect.map(failures.publishedAt(workflowId), (at) => [workflowId, at] as const),
      { concurrency: 2 }
    )
    const known = new Map(times.flatMap(([id, at]) => at === undefined ? [] : [[id, Date.parse(at)] as const]))
    starts = judge.starts(published(all, known), circumstances)
  }
  const failed = yield* failures.detect(failures.among(ended), {
    before: usual,
    ended,
    entries: usual,
    isKnown: () => false,
    isLast: true,
    left: Traffic.left(traffic),
    most: most.failures
  })
  const incidents: ReadonlyArray<Incident> = [
    ...failed.incidents,
    ...judge.gathered(starts.incidents),
    ...judge.slowness(usual, { ...runs, ended }, { now, isKnown: () => false })
  ]
  const unread = new Set(failed.unread.map(({ workflowId }) => workflowId)).size
  const unknown = [
    ...seenFrom > since ? [`Runs before ${new Date(seenFrom).toISOString()}: n8n has none, or too many followed.`] : [],
    ...unread > 0 ? [`Why ${counted(unread, "other workflow")} failed.`] : [],
    ...Array.from(
      starts.unknown,
      ([reason, names]) => `Whether ${counted(names.length, "scheduled workflow")} started: ${reason}.`
    )
  ]
  return {
    incidents: incidents.toSorted((a, b) => urgency.indexOf(a.kind) - urgency.indexOf(b.kind) || b.count - a.count),
    unknown
  }
})

/** Reads the incidents since a time, with sentences about what n8n does not reveal. */
export const incidents = Effect.fn("Since.incidents")((since: number) => {
  const traffic = Traffic.make(most.requests, 2)
  return look(since, traffic).pipe(Effect.provideService(Traffic.Current, traffic))
})
