/** The version before a change, replayed to learn which values differ without it. */
import * as Effect from "effect/Effect"
import * as Batch from "../../base/Batch.ts"
import * as Errors from "../../base/Errors.ts"
import { equals, obj } from "../../base/Json.ts"
import * as Execution from "../../executions/Execution.ts"
import { N8nClient } from "../../n8n/N8nClient.ts"
import * as Replays from "../Replays.ts"
import * as TestBench from "../TestBench.ts"
import type * as TestCopy from "../TestCopy.ts"
import * as webhookCalls from "../webhookCalls.ts"
import * as Comparison from "./Comparison.ts"
import * as Groups from "./Groups.ts"
import * as RunComparison from "./RunComparison.ts"
import type { Side } from "./sentDifferences.ts"
import * as unexercised from "./unexercised.ts"
import * as Volatility from "./Volatility.ts"

/** Number of sampled runs with the same differences. */
const samplesOfAlike = 2

/** Recorded run and its replay, compared. */
export interface Compared extends Groups.Run {
  readonly record: Execution.Execution
  readonly replayed: Replays.Replayed
  readonly names: ReadonlyMap<string, string>
  /** Nodes that send and are new, gone or replaced. */
  readonly senders: ReadonlySet<string>
  /** Changed versions of the trigger, of which the replay shows nothing. */
  readonly newTriggers: ReadonlyArray<RunComparison.Difference>
  readonly base?: Base
}

/** Differences that the version before the change shows, and its replay. */
export interface Base extends Volatility.Base {
  readonly side: Side
}

/** Whether a run is of a version older than the one before the change, so that its record says little of that. */
export const isOutdated = (
  { record }: Pick<Compared, "record">,
  { publishedVersion }: Pick<Comparison.Options, "publishedVersion">
): boolean => publishedVersion !== undefined && record.version !== undefined && record.version !== publishedVersion

/** Reason in words. */
export const reasonOf = (failure: string | Replays.Fault | Errors.N8nError) =>
  typeof failure === "string" ? failure : "why" in failure ? failure.why : failure.message

/** Version that ran, with the settings that it had, if n8n recorded them. */
export const subjectThen = (
  { workflow }: Execution.Execution,
  { staticData, ...now }: TestCopy.Subject,
  known?: unknown
) =>
  workflow === undefined
    ? undefined
    : {
      name: workflow.name,
      nodes: workflow.nodes,
      connections: workflow.connections,
      settings: known ?? workflow.settings ?? now.settings,
      staticData
    }

/** Differences of a run that the version before the change shows when it is replayed, in today's names of nodes. */
const baseOf = Effect.fnUntraced(function*(
  { execution: id, record }: Compared,
  { inside = () => Effect.succeed(new Map()), published, settings: known, subject, ...comparison }: Comparison.Options,
  { replay }: Replays.Replays,
  isTwice: boolean
) {
  const then = published ?? subjectThen(record, subject, known)
  if (then === undefined) return yield* Effect.fail("n8n did not store the workflow that ran")
  const replays = yield* Effect.all(
    Array.from(
      { length: isTwice ? 2 : 1 },
      () => Effect.flatMap(inside(record, "former"), (rows) => replay(then, id, rows))
    ),
    { concurrency: "unbounded" }
  )
  const now = new Map(then.nodes.map(({ id, name }) => {
    const same = subject.nodes.find((node) => id !== undefined && node.id === id) ??
      subject.nodes.find((node) => node.name === name)
    return [name, same?.name]
  }))
  const inNamesOfToday = ({ differences }: { readonly differences: Groups.Run["differences"] }) =>
    differences.flatMap((each) => {
      // A node that only the version of the run had is missing before the change too.
      const node = now.has(each.node) ? now.get(each.node) : each.node
      return node === undefined ? [] : [{ ...each, node }]
    })
  const [one, other] = replays
  const compared = (side: Side, replayed: Replays.Replayed | undefined) =>
    replayed === undefined
      ? Effect.succeed([])
      : Effect.map(Comparison.compare(side, replayed, comparison), inNamesOfToday)
  if (one === undefined) return yield* Effect.fail("it was not replayed")
  const side: Side = { execution: one.result.execution, nodes: then.nodes, connections: then.connections }
  return {
    side,
    first: yield* compared(Comparison.sideOf(record), one),
    second: yield* compared(side, other)
  } satisfies Base
})

/** Runs to replay on the version that ran then: examples of each kind of difference, and where the time may matter. */
const toSample = (runs: ReadonlyArray<Compared>, learned: Volatility.Learned, comparison: Comparison.Options) => {
  const known = new Map<string, number>()
  for (const { base, differences } of runs) {
    if (base === undefined) continue
    const key = signature(differences)
    known.set(key, (known.get(key) ?? 0) + 1)
  }
  return runs.flatMap((run): ReadonlyArray<{ readonly run: Compared; readonly isTwice: boolean }> => {
    const isOld = isOutdated(run, comparison)
    if (run.base !== undefined || run.differences.length === 0 && !isOld) return []
    const key = signature(run.differences)
    const count = known.get(key) ?? 0
    const { ignored, isWorthSampling, real } = Volatility.judge(learned, run.differences)
    const isNew = count < samplesOfAlike && (isOld || real.length > 0)
    if (isNew) known.set(key, count + 1)
    // Only this run's own replay shows that a value that depends on the time is otherwise as before.
    return isOld || isNew || isWorthSampling || ignored.some(({ why }) => why !== undefined)
      ? [{ run, isTwice: isNew }]
      : []
  })
}

const signature = (differences: Groups.Run["differences"]) =>
  JSON.stringify([...new Set(differences.map(({ kind, node, path }) => `${node} ${path} ${kind}`))].toSorted())

/** Maximum number of rounds in which runs are sampled; each adds runs that earlier ones made worth it. */
const maxRounds = 3

/** Replays the version before the change for some of the runs, and learns what differs without it. */
export const learnFrom = Effect.fnUntraced(function*(
  all: ReadonlyArray<Compared>,
  comparison: Comparison.Options,
  replays: Replays.Replays
) {
  let learned = Volatility.empty
  let runs = all
  let isLate = false
  const faults = new Map<string, string>()
  // A busy n8n says nothing of the version: another call may learn from it.
  const busy = new Map<string, string>()
  for (let round = 0; round < maxRounds && !isLate; round++) {
    const samples = toSample(runs, learned, comparison).filter(({ run }) => !faults.has(run.execution))
    const { done, failed, left } = yield* Batch.run(
      samples,
      { ...Replays.pace, isContinued: true },
      ({ isTwice, run }) =>
        Effect.tap(baseOf(run, comparison, replays, isTwice), (base) =>
          Effect.sync(() => {
            learned = Volatility.learn(learned, run.differences, base)
          }))
    )
    if (samples.length === 0) break
    isLate = left.length > 0
    for (const [{ run }, failure] of failed) {
      const isPassing = typeof failure === "object" && "isPassing" in failure && failure.isPassing
      if (isPassing) busy.set(run.execution, reasonOf(failure))
      else faults.set(run.execution, reasonOf(failure))
    }
    isLate ||= busy.size > 0
    const bases = new Map([...done].map(([{ run }, base]) => [run.execution, base]))
    runs = runs.map((run) => {
      const base = bases.get(run.execution)
      return base === undefined ? run : { ...run, base }
    })
  }
  // A run is not judged if there was no time to learn from one with the same differences.
  const known = new Set(runs.flatMap(({ base, differences }) => base === undefined ? [] : [signature(differences)]))
  const isUnknown = (run: Compared) =>
    run.base === undefined && !faults.has(run.execution) && (
      isOutdated(run, comparison) || run.differences.length > 0 && !known.has(signature(run.differences))
    )
  const late = isLate ? runs.filter(isUnknown).map(({ execution }) => execution) : []
  return {
    learned,
    runs: runs.filter(({ execution }) => !late.includes(execution)),
    late,
    busy: new Map([...busy].filter(([execution]) => late.includes(execution))),
    faults: [...new Set(faults.values())]
  }
})

/**
 * Version before the change: the published one if it differs, otherwise the one that ran (`published` is absent then), and
 * the settings that n8n has. Those of a file are merged with these when it is written.
 */
export const formerOf = Effect.fnUntraced(function*(
  { recordedId, sourceId, subject }: TestBench.Workbench
): Effect.fn.Return<
  Pick<Comparison.Options, "published" | "publishedVersion" | "settings" | "subject">,
  Errors.N8nError,
  N8nClient
> {
  const id = sourceId ?? recordedId
  const workflow = id === undefined ? undefined : yield* N8nClient.use((n8n) => n8n.getWorkflow(id)).pipe(
    Effect.catchTag("NotFoundError", () => Effect.undefined)
  )
  if (workflow === undefined) return { subject }
  const merged = sourceId === undefined
    ? { ...subject, settings: { ...obj(workflow.settings), ...obj(subject.settings) } }
    : subject
  const hasOtherSettings = unexercised.changed(workflow.settings, merged.settings).length > 0
  if (!workflow.active) return { subject: merged, ...(hasOtherSettings ? { settings: workflow.settings } : {}) }
  const { connections } = obj(workflow["activeVersion"]) ?? {}
  const published = {
    ...merged,
    nodes: webhookCalls.publishedNodes(workflow),
    connections: (connections ?? workflow.connections) as TestCopy.Subject["connections"],
    settings: workflow.settings
  }
  const isEqual = equals([published.nodes, published.connections], [merged.nodes, merged.connections])
  return isEqual && !hasOtherSettings
    ? { subject: merged }
    : { subject: merged, published, publishedVersion: workflow.activeVersionId ?? undefined }
})
