import { assert, describe, it } from "@effect/vitest"
import type { Failed, Origin } from "../../../src/watch/detect/Detector.ts"
import { assumed, detect, hasFailed, type Memory } from "../../../src/watch/detect/failures.ts"
import type { Run } from "../../../src/watch/Observation.ts"
import { begin, day, hour } from "./arrivals.ts"
import { run, spanOf } from "./spans.ts"

const minute = 60_000

const origin = (message: string, more: Partial<Origin> = {}): Origin => ({
  failure: { node: "Pay", message },
  isCrash: false,
  ...more
})

type Planned = readonly [at: number, message?: string | undefined, more?: Partial<Run>]

/** Runs in order: those with a message failed, and their reasons were read. */
const history = (all: ReadonlyArray<Planned>) => ({
  ended: all.map(([at, message, more]) => ({
    ...run(begin + at, 1000, message === undefined ? "success" : "error"),
    ...more
  })),
  origins: new Map(
    all.flatMap(([at, message]) => message === undefined ? [] : [[`${begin + at}`, origin(message)] as const])
  )
})

const judged = (all: ReadonlyArray<Planned>, memory?: Memory) => detect(memory, spanOf(history(all)))

const states = (all: ReadonlyArray<Planned>) =>
  (judged(all).episodes as ReadonlyArray<Failed>).map(({ count, from, isOver, origin }) => [
    origin.failure.message,
    (from - begin) / hour,
    count,
    isOver
  ])

describe("failures", () => {
  it("are one episode for each cause, whatever numbers a message contains", () => {
    const { episodes } = judged([[0, "card 17 declined"], [hour, "no such table"], [2 * hour, "card 23 declined"]])
    const [cards, table, ...more] = episodes as ReadonlyArray<Failed>
    assert.deepStrictEqual(more, [])
    assert.deepInclude(cards, {
      from: begin,
      to: begin + 2 * hour,
      count: 2,
      read: 2,
      run: `${begin + 2 * hour}`,
      since: 0,
      isOver: false
    })
    assert.notStrictEqual(cards?.cause, table?.cause)
    assert.strictEqual(table?.count, 1)
  })

  it("are not those that a person watches, that were not read, or that ended in another way", () => {
    assert.deepStrictEqual(states([[0, "closed", { mode: "manual" }], [1, "closed", { mode: "retry" }]]), [])
    assert.deepStrictEqual(states([[0, "closed", { status: "canceled" }]]), [])
    assert.deepStrictEqual(detect(undefined, spanOf({ ended: [run(begin, 1, "error")] })).episodes, [])
    assert.isTrue(hasFailed(run(begin, 1, "crashed")))
  })

  it("go on until the workflow worked more often than ever between them", () => {
    assert.deepStrictEqual(states([[0, "closed"], [hour]]), [["closed", 0, 1, true]])
    assert.deepStrictEqual(states([[0, "closed"], [hour], [2 * hour, "closed"], [3 * hour]]), [["closed", 0, 2, false]])
    const often: ReadonlyArray<Planned> = [[0, "closed"], [hour], [2 * hour, "closed"], [3 * hour], [4 * hour]]
    assert.deepStrictEqual(states(often), [["closed", 0, 2, false]])
    assert.deepStrictEqual(states([...often, [5 * hour]]), [["closed", 0, 2, true]])
    // A run that a person started is not evidence.
    assert.deepStrictEqual(states([[0, "closed"], [hour, undefined, { mode: "manual" }]]), [["closed", 0, 1, false]])
  })

  it("are another episode after a day in which the workflow worked, or after a week, and name the one before", () => {
    assert.deepStrictEqual(states([[0, "closed"], [hour], [23 * hour, "closed"]]), [["closed", 0, 2, false]])
    const again = [[0, "closed"], [hour], [2 * hour], [25 * hour, "closed"]] as const
    assert.deepStrictEqual(states(again), [["closed", 0, 1, true], ["closed", 25, 1, false]])
    assert.deepStrictEqual(
      (judged(again).episodes as ReadonlyArray<Failed>).map(({ before, since, worked }) => [before, since, worked]),
      [[undefined, 2, undefined], [begin, 0, begin + 2 * hour]]
    )
    // A monthly run that always fails is one story for a week only.
    assert.lengthOf(states([[0, "closed"], [6 * day, "closed"]]), 1)
    assert.lengthOf(states([[0, "closed"], [8 * day, "closed"]]), 2)
  })

  it("are known by the first of them that ended, although a longer one started before", () => {
    const [early, late] = [run(begin, 10 * minute, "error"), run(begin + minute, 1000, "error")]
    const origins = new Map([early, late].map(({ id }) => [id, origin("closed")]))
    const { episodes } = detect(undefined, spanOf({ ended: [late, early], origins }))
    assert.deepStrictEqual(episodes.map(({ count, from, to }) => [from, to, count]), [[
      late.startedAt,
      late.startedAt,
      2
    ]])
  })

  it("name the last success before them", () => {
    const [first] = judged([[0], [hour], [2 * hour, "closed"], [3 * hour], [4 * hour, "closed"]])
      .episodes as ReadonlyArray<Failed>
    assert.strictEqual(first?.worked, begin + hour)
  })

  it("are reported again only while something about them changes", () => {
    const { memory } = judged([[0, "closed"]])
    assert.deepStrictEqual(judged([], memory).episodes, [])
    const { episodes, memory: next } = judged([[hour]], memory)
    assert.deepStrictEqual(episodes.map(({ isOver }) => isOver), [true])
    assert.isBelow(JSON.stringify(next).length, 400)
  })
})

describe("the reason of a failed run that was not read", () => {
  it("is that of the next one of its workflow that was, or else of the last, and counts as not read", () => {
    const runs = [0, 1, 2, 3, 4].map((index) => run(begin + index, 1, "error"))
    const origins = new Map([[runs[1]?.id ?? "", origin("a")], [runs[3]?.id ?? "", origin("b")]])
    const other = { ...run(begin + 9, 1, "error"), workflowId: "other" }
    const all = assumed([...runs, other], origins)
    assert.deepStrictEqual(
      [...runs, other].map(({ id }) => [all.get(id)?.failure.message, all.get(id)?.isAssumed]),
      [["a", true], ["a", undefined], ["b", true], ["b", undefined], ["b", true], [undefined, undefined]]
    )
    const [a, b] = detect(undefined, spanOf({ ended: runs, origins: all })).episodes as ReadonlyArray<Failed>
    assert.deepStrictEqual([a?.count, a?.read, a?.run], [2, 1, runs[1]?.id])
    assert.deepStrictEqual([b?.count, b?.read, b?.run], [3, 1, runs[3]?.id])
  })
})
