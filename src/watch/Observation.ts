/** Workflows and runs as a watch judges them. Times are epoch milliseconds. */

/** Run without its data. */
export interface Run {
  readonly id: string
  readonly workflowId: string
  readonly status: string
  /** Kind of start: `trigger`, `webhook`, `manual`, `retry`, `error`, `integrated` … */
  readonly mode: string
  readonly startedAt: number
  /** Absent while it runs. */
  readonly stoppedAt?: number
}

/** Workflow as listed. */
export interface Watched {
  readonly id: string
  readonly name: string
  readonly isPublished: boolean
  /** Version that is live; absent on n8n 1. */
  readonly version?: string
  /** Since when this version is known to be live: its publication, or the first poll that saw it. */
  readonly liveSince: number
  readonly nodes: ReadonlyArray<Readonly<Record<string, unknown>>>
  readonly settings?: unknown
  readonly staticData?: unknown
  readonly tags: ReadonlyArray<string>
}

/** Span of time of which a watch has seen all saved runs: from `from`, inclusive, to `to`, exclusive. */
export interface Seen {
  readonly from: number
  readonly to: number
}
