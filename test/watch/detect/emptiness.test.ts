import { assert, describe, it } from "@effect/vitest"
import type { Empty, Sample } from "../../../src/watch/detect/Detector.ts"
import { detect, isDoubtful, type Memory, wantsSample } from "../../../src/watch/detect/emptiness.ts"
import { begin, day, hour } from "./arrivals.ts"
import { run, spanOf } from "./spans.ts"

const runsOf = (count: number, step: number, first = 0) =>
  Array.from({ length: count }, (_, index) => ({
    ...run(begin + (first + index) * step, 1000),
    id: String(first + index)
  }))

/** Judges runs with these item counts, and versions. */
const sampled = (items: ReadonlyArray<number>, versions: ReadonlyArray<string> = [], step = hour, memory?: Memory) => {
  const ended = runsOf(items.length, step, memory?.samples.length)
  const samples = new Map(ended.map(({ id }, index): [string, Sample] => {
    const version = versions[index]
    return [id, { items: items[index] ?? 0, ...version === undefined ? {} : { version } }]
  }))
  const judgment = detect(memory, spanOf({ ended, samples }))
  return { ...judgment, episodes: judgment.episodes as ReadonlyArray<Empty> }
}

describe("empty", () => {
  const versions = ["a", "a", "a", "a", "a", "b", "b", "b"]

  it("are two runs in a row after a new version, if none was before", () => {
    assert.deepStrictEqual(sampled([9, 7, 8, 9, 30, 0, 0], versions).episodes, [{
      kind: "empty",
      from: begin + 5 * hour,
      to: begin + 6 * hour,
      count: 2,
      usual: 9,
      version: "b",
      run: "6",
      isOver: false
    }])
    assert.deepStrictEqual(sampled([9, 7, 8, 9, 30, 0], versions).episodes, [])
    assert.deepStrictEqual(sampled([9, 7, 0, 9, 30, 0, 0], versions).episodes, [])
    assert.deepStrictEqual(sampled([9, 7, 8, 9, 0, 0], versions.slice(1)).episodes, [])
  })

  it("without a new version are judged after a week without any", () => {
    const items = [9, 7, 8, 9, 30, 11, 9, 9, 0, 0]
    assert.deepStrictEqual(sampled(items).episodes, [])
    const [episode] = sampled(items, [], day).episodes
    assert.deepInclude(episode, { from: begin + 8 * day, usual: 9 })
    assert.notProperty(episode, "version")
    // Weekends without items, for ten weeks, at each hour.
    const hours = Array.from({ length: 70 * 24 }, (_, index) => Math.floor(index / 24) % 7 > 4 ? 0 : 5)
    const { episodes, memory } = sampled(hours)
    assert.deepStrictEqual(episodes, [])
    // It names the runs of its samples.
    assert.isBelow(JSON.stringify(memory).length, 1500)
  })

  it("are over with the first run that has items", () => {
    const first = sampled([9, 7, 8, 9, 30, 0, 0], versions)
    const second = sampled([0], ["b"], hour, first.memory)
    assert.deepInclude(second.episodes[0], { from: begin + 5 * hour, count: 3, isOver: false })
    const all = sampled([9, 7, 8, 9, 30, 0, 0, 5], versions)
    assert.deepStrictEqual(all.episodes.map(({ count, isOver }) => [count, isOver]), [[2, true]])
    assert.notProperty(all.memory, "empty")
  })

  it("is not a run whose data was not read", () => {
    const { memory } = sampled([9, 7, 8, 9, 30, 0], versions)
    assert.deepStrictEqual(detect(memory, spanOf({ ended: runsOf(1, hour, 6) })).memory, memory)
  })
})

describe("a sample", () => {
  it("costs a request for the first runs, after a publication and hourly", () => {
    const wants = (memory: Memory | undefined, after: number, version?: string) =>
      wantsSample(memory, run(begin, 1000), begin + after, version)
    const full = sampled([3, 3, 3, 3, 3], ["a", "a", "a", "a", "a"], 0).memory
    assert.isTrue(wants(undefined, 0))
    assert.isTrue(wants(sampled([3, 3]).memory, 2 * hour))
    assert.deepStrictEqual([wants(full, 60_000, "a"), wants(full, 61 * 60_000, "a")], [false, true])
    assert.isTrue(wants(full, 60_000, "b"))
    // Runs of n8n 1 name no version.
    assert.isFalse(wants(sampled([3, 3, 3, 3, 3], [], 0).memory, 60_000, "b"))
    const doubtful = sampled([3, 3, 3, 3, 3, 0], ["a", "a", "a", "a", "a", "a"], 0).memory
    assert.deepStrictEqual([isDoubtful(full), isDoubtful(doubtful)], [false, true])
    assert.isTrue(wants(doubtful, 60_000, "a"))
    assert.isFalse(wantsSample(undefined, run(begin, 1000, "error"), begin))
    assert.isFalse(wantsSample(undefined, { ...run(begin, 1000), mode: "manual" }, begin))
  })
})
