import { assert, describe, it } from "@effect/vitest"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as contexts from "../../src/mcp/contexts.ts"

const Count = Context.Reference<number>("test/Count", { defaultValue: () => 0 })

const of = (values: Readonly<Record<string, string>>) => Context.makeUnsafe<never>(new Map(Object.entries(values)))

describe("contexts", () => {
  it("has the services of both, and of the larger one where both have one", () => {
    const large = contexts.layered(of({ a: "large", b: "large" }))
    const current = of({ b: "current", c: "current" })
    const both = contexts.above(large, current)
    assert.deepStrictEqual([...both.mapUnsafe].toSorted(), [...Context.merge(current, large).mapUnsafe].toSorted())
    assert.deepStrictEqual([...large.mapUnsafe.keys()], ["a", "b"])
  })

  it.effect("has what calls add, however many, and none of another call", () => {
    const nested = (depth: number): Effect.Effect<ReadonlyArray<number>> =>
      Effect.gen(function*() {
        const count = yield* Count
        return depth === 0 ? [count] : [count, ...yield* Effect.provideService(nested(depth - 1), Count, count + 1)]
      })
    return Effect.gen(function*() {
      const both = yield* Effect.all([nested(100), nested(2)], { concurrency: 2 })
      assert.deepStrictEqual(both, [Array.from({ length: 101 }, (_, index) => index), [0, 1, 2]])
      assert.strictEqual(yield* Count, 0)
    }).pipe(Effect.updateContext(contexts.layered<never>))
  })
})
