/** Judgments of an n8n's history: the detectors of its workflows as a table, and those of a watch's own observations. */
import * as Schema from "effect/Schema"
import type { Detector, Episode, Judgment, Span } from "./Detector.ts"
import * as durations from "./durations.ts"
import * as emptiness from "./emptiness.ts"
import * as failures from "./failures.ts"
import * as missed from "./missed.ts"
import * as rhythm from "./rhythm.ts"

export * as credentials from "./credentialTests.ts"
export * as publications from "./unpublished.ts"
export { durations, emptiness, failures, missed, rhythm }
export type { Episode, Origin, Sample, Span, Subject } from "./Detector.ts"

const memories = {
  failed: failures.Memory,
  missed: missed.Memory,
  silent: rhythm.Memory,
  empty: emptiness.Memory,
  slow: durations.Memory
}

/** State of all detectors of a workflow: small, and JSON. */
export const Memory = Schema.Struct({
  failed: Schema.optionalKey(memories.failed),
  missed: Schema.optionalKey(memories.missed),
  silent: Schema.optionalKey(memories.silent),
  empty: Schema.optionalKey(memories.empty),
  slow: Schema.optionalKey(memories.slow)
})
export type Memory = typeof Memory.Type

type States = { readonly [K in keyof typeof memories]: (typeof memories)[K]["Type"] }

const detectors: { readonly [K in keyof States]: Detector<States[K]> } = {
  failed: failures.detect,
  missed: missed.detect,
  silent: rhythm.detect,
  empty: emptiness.detect,
  slow: durations.detect
}

const kinds = Object.keys(detectors) as ReadonlyArray<keyof States>

/** Judges a part of a workflow's history by all detectors. */
export const judge = (memory: Memory, span: Span): Judgment<Memory> => {
  const one = <K extends keyof States>(kind: K) => detectors[kind](memory[kind] as States[K] | undefined, span)
  const all = kinds.map((kind) => ({ kind, judgment: one(kind) as Judgment<unknown> }))
  const reasons = all.flatMap(({ judgment }) => judgment.unknown ?? [])
  return {
    memory: Object.fromEntries(all.map(({ judgment, kind }) => [kind, judgment.memory])) as Memory,
    episodes: all.flatMap(({ judgment }): ReadonlyArray<Episode> => judgment.episodes),
    ...reasons.length === 0 ? {} : { unknown: reasons.join("; ") }
  }
}
