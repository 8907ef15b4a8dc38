/** Detectors: pure functions that judge the history of one workflow, the whole of it or span by span. */
import type { Failure } from "../../executions/FailureGroups.ts"
import type { Run } from "../Observation.ts"

/** Published workflow whose history is judged. */
export interface Subject {
  readonly id: string
  readonly name: string
  readonly isPublished: boolean
  /** Time since which it is published without interruption, as far as known. */
  readonly liveSince: number
  readonly version?: string
  /** Triggers with the parameters that determine their times. */
  readonly nodes: ReadonlyArray<{ readonly [key: string]: unknown }>
  readonly settings?: unknown
  readonly staticData?: unknown
  /** Whether n8n saves successful runs of the workflow. */
  readonly saves: "yes" | "no" | "unknown"
  /** Milliseconds without a run that its owner allows. */
  readonly silent?: number
}

/** Number of items at the end of a run whose data was read. */
export interface Sample {
  readonly items: number
  readonly version?: string
}

/** Reason of a failed run whose error was read, with the version that ran. */
export interface Origin {
  readonly failure: Failure
  readonly version?: string
  /** Whether n8n itself ended while it ran. */
  readonly isCrash: boolean
  /** Whether it is that of another run, which stands for this one. */
  readonly isAssumed?: boolean
}

/** Part of the history of one workflow; the next part begins where this one ends. Times are epoch milliseconds. */
export interface Span {
  readonly workflow: Subject
  /** End of the part before, or the time from which all saved runs are known. */
  readonly from: number
  readonly to: number
  /** Time up to which runs are missing from the history although n8n had them; absent if none are. */
  readonly lostBefore?: number
  /** Runs that started in this part, in order of their starts. */
  readonly started: ReadonlyArray<Run>
  /** Runs that ended in this part, in order of their ends. */
  readonly ended: ReadonlyArray<Run>
  /** Runs that have not ended at `to`. */
  readonly running: ReadonlyArray<Run>
  /** Ids of runs that have waited; their durations say nothing. */
  readonly waited: ReadonlySet<string>
  /** Item counts, by the id of an ended run. */
  readonly samples: ReadonlyMap<string, Sample>
  /** Reasons, by the id of a failed run; a failed run without one is left out. */
  readonly origins: ReadonlyMap<string, Origin>
  /** IANA name of n8n's own time zone, if it is known. */
  readonly zone: string | undefined
  readonly isV1: boolean
}

interface Common {
  /** First occurrence. */
  readonly from: number
  /** Last occurrence. */
  readonly to: number
  readonly count: number
  /** Whether the workflow has done as usual since then. */
  readonly isOver: boolean
}

/** Schedule that did not start its workflow: `from` and `to` are the first and the last start that did not happen. */
export interface Missed extends Common {
  readonly kind: "missed"
  /** Last scheduled start before that. */
  readonly lastStart?: number
  /** Number of starts between them at which n8n's releases differ, near a change of clocks: counted neither way. */
  readonly unsure?: number
}

/** Webhook or polling trigger without a run since `from`. */
export interface Silent extends Common {
  readonly kind: "silent"
  /** Least number of runs in the same hours of past weeks, or the limit that its owner set, in milliseconds. */
  readonly expected?: number
  readonly limit?: number
}

/** Runs that took far longer than those before. */
export interface Slow extends Common {
  readonly kind: "slow"
  /** Milliseconds of a usual run: median, and the limit of 95 of 100. */
  readonly usual: number
  readonly p95: number
  /** Median milliseconds of the slow runs. */
  readonly now: number
  /** Ids of the newest usual run, and of a slow one. */
  readonly former: string
  readonly run: string
}

/** Run that did not end for far longer than usual. */
export interface Stuck extends Common {
  readonly kind: "stuck"
  readonly run: string
  readonly p95: number
}

/** Runs without the items that they usually end with. */
export interface Empty extends Common {
  readonly kind: "empty"
  /** Median number of items. */
  readonly usual: number
  /** Version that began with an empty run. */
  readonly version?: string
  readonly run: string
}

/** Failed runs of one cause. */
export interface Failed extends Common {
  readonly kind: "failed"
  /** Identity of the cause. */
  readonly cause: string
  readonly origin: Origin
  /** Newest of them. */
  readonly run: string
  /** Number of them that were read. */
  readonly read: number
  /** Start of the last successful run before the first of them. */
  readonly worked?: number
  /** Number of successful runs since the last of them. */
  readonly since: number
  /** Last failure of this cause in an earlier episode. */
  readonly before?: number
}

export type Episode = Missed | Silent | Slow | Stuck | Empty | Failed

export interface Judgment<Memory> {
  /** State for the next part: small, and JSON. */
  readonly memory: Memory
  /** Episodes that began, went on or ended in this part, each as it is known now. */
  readonly episodes: ReadonlyArray<Episode>
  /** Reason why the workflow, or a part of its starts, cannot be judged. */
  readonly unknown?: string
}

/**
 * Judge of one kind of incident.
 *
 * Law: however a history is cut into parts, the last state of each episode, known by its kind and its `from`, is the
 * same as that of the whole history judged in one part.
 */
export type Detector<Memory> = (memory: Memory | undefined, span: Span) => Judgment<Memory>
