/** Runs that end without the items that they usually have. Pure. */
import * as Schema from "effect/Schema"
import { defined } from "../../base/Json.ts"
import { percentile } from "../../executions/Profile.ts"
import { hour, isAttended, type Run, week } from "../Observation.ts"
import type { Detector, Empty } from "./Detector.ts"

const Sample = Schema.Struct({
  run: Schema.String,
  at: Schema.Finite,
  items: Schema.Finite,
  version: Schema.optionalKey(Schema.String)
})
type Sample = typeof Sample.Type

const Episode = Schema.Struct({
  from: Schema.Finite,
  to: Schema.Finite,
  count: Schema.Finite,
  usual: Schema.Finite,
  version: Schema.optionalKey(Schema.String),
  run: Schema.String
})

/** Item counts of a workflow's runs that were read: small, and JSON. */
export const Memory = Schema.Struct({
  /** Latest last. */
  samples: Schema.Array(Sample),
  /** Time since which no sample was empty, apart from the empty ones at the end. */
  fullSince: Schema.optionalKey(Schema.Finite),
  empty: Schema.optionalKey(Episode)
})
export type Memory = typeof Memory.Type

/** Maximum number of samples, and the least number of full ones, and of empty ones after them, for a judgment. */
const stored = 12
const enough = { full: 5, empty: 2 }

const emptyOf = (episode: typeof Episode.Type, isOver: boolean): Empty => ({ kind: "empty", ...episode, isOver })

/** Empty samples at the end, if none before them was empty. */
const begun = ({ fullSince, samples }: Memory): typeof Episode.Type | undefined => {
  const last = samples.findLastIndex(({ items }) => items > 0)
  const [before, after] = [samples.slice(0, last + 1), samples.slice(last + 1)]
  const [first] = after
  const latest = after.at(-1)
  if (fullSince === undefined || first === undefined || latest === undefined || after.length < enough.empty) return
  if (before.length < enough.full || before.some(({ items }) => items === 0)) return
  const isNew = first.version !== undefined && first.version !== before.at(-1)?.version
  // Without a new version, a night or a weekend without items looks the same.
  if (!isNew && first.at - fullSince < week) return
  return {
    from: first.at,
    to: latest.at,
    count: after.length,
    usual: percentile(before.map(({ items }) => items), 0.5),
    ...defined({ version: isNew ? first.version : undefined }),
    run: latest.run
  }
}

const judge = (memory: Memory, sample: Sample): { readonly memory: Memory; readonly episode?: Empty } => {
  const { empty, ...before } = memory
  if (empty !== undefined && sample.items === 0) {
    const next = { ...empty, to: sample.at, count: empty.count + 1, run: sample.run }
    return { memory: { ...memory, empty: next }, episode: emptyOf(next, false) }
  }
  const wasEmpty = before.samples.at(-1)?.items === 0
  const isFirst = sample.items > 0 && (wasEmpty || before.fullSince === undefined)
  const next: Memory = {
    ...before,
    samples: [...before.samples, sample].slice(-stored),
    ...isFirst ? { fullSince: sample.at } : {}
  }
  if (empty !== undefined) return { memory: next, episode: emptyOf(empty, true) }
  const begins = begun(next)
  return begins === undefined
    ? { memory: next }
    : { memory: { ...next, empty: begins }, episode: emptyOf(begins, false) }
}

/** Detects runs without items. */
export const detect: Detector<Memory> = (before = { samples: [] }, { ended, samples }) => {
  let memory = before
  const episodes = new Map<number, Empty>()
  for (const { id, startedAt } of ended) {
    const sample = samples.get(id)
    if (sample === undefined) continue
    const { episode, memory: next } = judge(memory, { run: id, at: startedAt, ...sample })
    memory = next
    if (episode !== undefined) episodes.set(episode.from, episode)
  }
  return { memory, episodes: [...episodes.values()] }
}

/** Whether the last run that was read was the first empty one, so that another one decides. */
export const isDoubtful = ({ samples }: Memory = { samples: [] }): boolean =>
  samples.at(-1)?.items === 0 && samples.at(-2)?.items !== 0

/** Whether the data of a run are worth a request; `version` is the one that is live. */
export const wantsSample = (memory: Memory | undefined, run: Run, now: number, version?: string): boolean => {
  if (run.status !== "success" || run.stoppedAt === undefined || isAttended(run)) return false
  const samples = memory?.samples ?? []
  const last = samples.at(-1)
  if (last === undefined || samples.length < enough.full) return true
  // Runs of n8n 1 name no version.
  const isNamed = version !== undefined && last.version !== undefined
  if (isNamed && samples.filter((sample) => sample.version === version).length < enough.empty) return true
  return isDoubtful(memory) || now - last.at >= hour
}
