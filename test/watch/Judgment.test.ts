import { assert, describe, it } from "@effect/vitest"
import type { Origin, Sample } from "../../src/watch/detect/Detectors.ts"
import * as Judgment from "../../src/watch/Judgment.ts"
import type { Run } from "../../src/watch/Observation.ts"
import * as tell from "../../src/watch/tell.ts"
import type { Entry } from "../../src/watch/watchState.ts"
import { random } from "../support/random.ts"
import { rounds, seed } from "../support/seed.ts"
import { cutsOf } from "./detect/arrivals.ts"
import { cron, day, hour, minute, webhook } from "./simulation.ts"

const begin = Date.parse("2027-08-30T00:00:00Z")

const entry = (name: string, trigger: Entry["nodes"][number], more: Partial<Entry> = {}): Entry => ({
  name,
  isPublished: true,
  version: "v1",
  liveSince: begin - 90 * day,
  nodes: [trigger],
  tags: [],
  credentials: [],
  round: 1,
  saves: true,
  ...more
})

const workflows = {
  cron: entry("Cron", cron("*/20 * * * *")),
  webhook: entry("Webhook", webhook),
  allowed: entry("Allowed", webhook)
}

interface World {
  readonly runs: ReadonlyArray<Run>
  readonly waited: ReadonlySet<string>
  readonly samples: ReadonlyMap<string, Sample>
  readonly origins: ReadonlyMap<string, Origin>
  /** Runs that n8n lists when they end. */
  readonly late: ReadonlySet<string>
  readonly to: number
}

/** Random history with phases of failures, slowness and emptiness, gaps, and runs that are stuck, wait or crash. */
const world = (seed: number, days: number): World => {
  const pick = random(seed)
  const to = begin + days * day
  const runs: Array<Run> = []
  const [waited, late] = [new Set<string>(), new Set<string>()]
  const [samples, origins] = [new Map<string, Sample>(), new Map<string, Origin>()]
  let id = 0
  for (const workflowId of Object.keys(workflows)) {
    let phase = "usual"
    const step = workflowId === "cron" ? 20 * minute : (5 + pick(50)) * minute
    for (let slot = begin; slot < to; slot += step) {
      if (pick(25) === 0) phase = ["usual", "usual", "failing", "other", "slow", "empty", "quiet"][pick(7)] ?? "usual"
      if (phase === "quiet") continue
      const at = slot + pick(workflowId === "cron" ? 2_000 : step)
      const isStuck = pick(150) === 0
      const ms = isStuck ? (15 + pick(600)) * minute : (1_000 + pick(1_500)) * (phase === "slow" ? 15 : 1)
      const isFailed = phase === "failing" || phase === "other" && pick(2) === 0 || pick(60) === 0
      const isCrash = pick(120) === 0
      const own = {
        id: String(++id),
        workflowId,
        status: isCrash ? "crashed" : isFailed ? "error" : "success",
        mode: pick(40) === 0 ? "manual" : workflowId === "cron" ? "trigger" : "webhook",
        startedAt: at
      }
      runs.push(at + ms < to ? { ...own, stoppedAt: at + ms } : { ...own, status: "running" })
      if (isStuck && pick(3) === 0) waited.add(own.id)
      if (workflowId === "cron" && !isStuck && pick(4) === 0) late.add(own.id)
      if (own.status === "success" && pick(3) === 0) {
        samples.set(own.id, { items: phase === "empty" ? 0 : 1 + pick(9), version: phase === "empty" ? "v2" : "v1" })
      } else if (own.status !== "success" && pick(10) > 0) {
        const message = isCrash ? "lost" : phase === "other" ? "closed" : `card ${pick(99)} declined`
        origins.set(own.id, {
          failure: { node: "Pay", message },
          isCrash,
          version: "v1",
          ...pick(5) === 0 ? { isAssumed: true } : {}
        })
      }
    }
  }
  return { runs, waited, samples, origins, late, to }
}

/** Last state of each episode, judged in parts that end at these times. */
const judged = ({ late, runs, to: end, waited, ...facts }: World, cuts: ReadonlyArray<number>) => {
  const episodes: Record<string, Judgment.WorkflowEpisode> = {}
  let entries: Readonly<Record<string, Entry>> = workflows
  const ends = [...new Set([...cuts, end])].toSorted((a, b) => a - b)
  const part = (time: number | undefined) => time === undefined ? -1 : ends.findIndex((to) => time < to)
  const started = Map.groupBy(runs, (run) => part(late.has(run.id) ? run.stoppedAt : run.startedAt))
  const ended = Map.groupBy(runs, ({ stoppedAt }) => part(stoppedAt))
  let running: ReadonlyArray<Run> = []
  for (const [index, to] of ends.entries()) {
    const over = ended.get(index) ?? []
    running = [...running, ...started.get(index) ?? []].filter(({ stoppedAt = Infinity }) => stoppedAt >= to)
    const judgment = Judgment.judge(entries, {
      ...facts,
      waited,
      started: started.get(index) ?? [],
      ended: over,
      running: running.filter(({ id }) => !waited.has(id))
    }, {
      now: to,
      seenFrom: begin,
      zone: "UTC",
      isV1: false,
      silentOf: ({ id }) => id === "allowed" ? 2 * hour : undefined
    })
    // It is saved as JSON.
    entries = JSON.parse(JSON.stringify(judgment.workflows))
    for (const each of judgment.episodes) episodes[`${tell.keyOf(each)} ${each.episode.from}`] = each
  }
  return episodes
}

describe("a history", () => {
  it("has the same episodes in the end however it is cut into parts", () => {
    const kinds = new Set<string>()
    for (let round = 0; round < rounds(12); round++) {
      const each = world(seed(1) + round, 8)
      const whole = judged(each, [])
      for (const { episode: { kind } } of Object.values(whole)) kinds.add(kind)
      const pick = random(round)
      assert.deepStrictEqual(judged(each, cutsOf(pick, { from: begin, to: each.to })), whole, `round ${round}`)
    }
    assert.deepStrictEqual([...kinds].toSorted(), ["empty", "failed", "missed", "silent", "slow", "stuck"])
  })
})
