/** Parts of a workflow's history, for detectors. */
import type { Span, Subject } from "../../../src/watch/detect/Detector.ts"
import type { Run } from "../../../src/watch/Observation.ts"
import { begin, day } from "./arrivals.ts"

const workflow: Subject = {
  id: "w",
  name: "W",
  isPublished: true,
  liveSince: begin - 90 * day,
  nodes: [],
  saves: "yes"
}

/** Run that ended, by its start; its id is its start, so that it is later than those before. */
export const run = (startedAt: number, ms: number, status = "success"): Run => ({
  id: `${startedAt}`,
  workflowId: "w",
  status,
  mode: "trigger",
  startedAt,
  stoppedAt: startedAt + Math.round(ms)
})

/** Part that ends with the last of its runs, if nothing else is asked for. */
export const spanOf = ({ ended = [], ...more }: Partial<Span>): Span => ({
  workflow,
  from: begin,
  to: Math.max(begin, ...ended.slice(-1).map(({ startedAt, stoppedAt }) => stoppedAt ?? startedAt)),
  started: [],
  ended,
  running: [],
  waited: new Set(),
  samples: new Map(),
  origins: new Map(),
  zone: "UTC",
  isV1: false,
  ...more
})
