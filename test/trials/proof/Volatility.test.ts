import { assert, describe, it } from "@effect/vitest"
import * as Shape from "../../../src/base/Shape.ts"
import type { Difference } from "../../../src/trials/proof/RunComparison.ts"
import * as Volatility from "../../../src/trials/proof/Volatility.ts"

const difference = (node: string, path: string, more: Partial<Difference> = {}): Difference => ({
  node,
  run: 0,
  path,
  kind: "altered",
  count: 1,
  digest: 1,
  ...more
})

const paths = (all: ReadonlyArray<{ readonly node: string; readonly path: string }>) =>
  all.map(({ node, path }) => `${node}.${path}`)

const judged = (changed: ReadonlyArray<Difference>, base?: Volatility.Base, learned = Volatility.empty) => {
  const { ignored, isWorthSampling, real } = Volatility.judge(learned, changed, base)
  return { real: paths(real), ignored: paths(ignored), isWorthSampling }
}

describe("Volatility", () => {
  it("ignores only the path at which two replays of one version differ", () => {
    const at = (digest: number) => difference("Map", "at", { digest })
    const changed = [at(3), difference("Map", "total"), difference("Mail", "at")]
    assert.deepStrictEqual(judged(changed, { first: [at(1)], second: [at(2)] }), {
      real: ["Map.total", "Mail.at"],
      ignored: ["Map.at"],
      isWorthSampling: false
    })
  })

  it("takes a volatile value for the same only if it has the shape of the values before", () => {
    const at = (before: string, after: string, digest: number) =>
      difference("Map", "at", { digest, shapes: { before: Shape.of(before), after: Shape.of(after) } })
    const base = { first: [at("1:00", "2:00", 1)], second: [at("2:00", "2:01", 2)] }
    assert.deepStrictEqual(judged([at("1:00", "2:02", 3)], base).ignored, ["Map.at"])
    assert.deepStrictEqual(judged([at("1:00", "none", 3)], base).real, ["Map.at"])
    const learned = Volatility.learn(Volatility.empty, [], base)
    assert.deepStrictEqual(judged([at("1:30", "2:03", 3)], undefined, learned).real, [])
    assert.deepStrictEqual(judged([at("1:30", "", 3)], undefined, learned), {
      real: ["Map.at"],
      ignored: [],
      isWorthSampling: true
    })
  })

  it("does not take another kind of difference for volatile", () => {
    const base = { first: [difference("Map", "at")], second: [difference("Map", "at", { digest: 2 })] }
    assert.deepStrictEqual(judged([difference("Map", "at", { kind: "removed" })], base).real, ["Map.at"])
    assert.deepStrictEqual(judged([difference("Map", "at", { digest: 3, isRetyped: true })], base).real, ["Map.at"])
    const optional = { first: [], second: [difference("Map", "note", { kind: "added" })] }
    assert.deepStrictEqual(judged([difference("Map", "note", { kind: "removed" })], optional).real, [])
    assert.deepStrictEqual(judged([difference("Map", "note", { digest: 9 })], optional).real, ["Map.note"])
  })

  it("ignores what differs from the record in every replay in the same way, and says why", () => {
    const today = difference("Map", "today", { digest: 7 })
    assert.deepStrictEqual(Volatility.judge(Volatility.empty, [today], { first: [today], second: [] }).ignored, [
      { node: "Map", path: "today", why: Volatility.staleReason }
    ])
    const other = [{ ...today, digest: 8 }, { ...today, count: 2 }, { ...today, kind: "removed" as const }]
    for (const changed of other) {
      assert.deepStrictEqual(judged([changed], { first: [today], second: [] }).real, ["Map.today"])
    }
  })

  it("applies to other runs what is learned of values, unless the change made it in a sampled run", () => {
    const [at, today] = [difference("Map", "at", { digest: 2 }), difference("Map", "today", { digest: 7 })]
    const learned = Volatility.learn(Volatility.empty, [at, today], { first: [today], second: [at] })
    const elsewhere = [{ ...at, digest: 11 }, { ...today, digest: 12 }, difference("Map", "total")]
    assert.deepStrictEqual(judged(elsewhere, undefined, learned), {
      real: ["Map.total"],
      ignored: ["Map.at", "Map.today"],
      isWorthSampling: false
    })
    // The change altered 'today' in the second sample.
    const more = Volatility.learn(learned, [{ ...today, digest: 8 }], { first: [today], second: [] })
    assert.deepStrictEqual(judged(elsewhere, undefined, more), {
      real: ["Map.today", "Map.total"],
      ignored: ["Map.at"],
      isWorthSampling: true
    })
    // Values that are volatile elsewhere may be equal twice.
    assert.deepStrictEqual(judged([{ ...at, digest: 5 }], { first: [], second: [] }, learned).real, [])
  })

  it.each(["count", "order", "output", "ran", "notRun", "failed", "succeeded"] as const)(
    "ignores '%s' only in a run whose own base differs in exactly that",
    (kind) => {
      const [one, two] = [difference("If", "", { kind, digest: 1 }), difference("If", "", { kind, digest: 2 })]
      const varying = { first: [], second: [two] }
      assert.deepStrictEqual(judged([one], varying).real, [])
      const learned = Volatility.learn(Volatility.empty, [one], varying)
      assert.deepStrictEqual(judged([one], undefined, learned), { real: ["If."], ignored: [], isWorthSampling: true })
      assert.deepStrictEqual(judged([one], { first: [], second: [] }, learned).real, ["If."])
      // The record is old: the base differs from it as the changed version does.
      assert.deepStrictEqual(judged([one], { first: [one], second: [] }).ignored, [`If.${kind}`])
      assert.deepStrictEqual(judged([one], { first: [two], second: [] }).real, ["If."])
    }
  )
})
