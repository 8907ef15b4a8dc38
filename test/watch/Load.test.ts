import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as TestClock from "effect/testing/TestClock"
import * as FakeN8n from "../../src/testing/FakeN8n.ts"
import * as TestTime from "../support/TestTime.ts"
import { iso, layer, minute, poll, published, webhook } from "./simulation.ts"

const start = Date.parse("2026-03-02T08:00:00Z")
const names = Array.from({ length: 30 }, (_, index) => `w${index}`)
const workflows = names.map((name) => published(name, webhook))

/** Answers that n8n is too busy, or gives no answer, while `isBusy`. */
const world = () => ({ isBusy: "" as "" | "429" | "slow" | "hangs", atOnce: 0, most: 0 })

const before = (state: ReturnType<typeof world>): NonNullable<FakeN8n.Options["before"]> => () =>
  Effect.gen(function*() {
    state.most = Math.max(state.most, ++state.atOnce)
    yield* Effect.sleep(state.isBusy === "slow" ? 6_000 : state.isBusy === "hangs" ? 10 * minute : 20)
    return state.isBusy === "429" ? Response.json({ message: "Too many requests" }, { status: 429 }) : undefined
  }).pipe(Effect.ensuring(Effect.sync(() => void state.atOnce--)))

describe("a watch of a busy n8n", () => {
  for (const kind of ["429", "slow", "hangs"] as const) {
    it.effect(`looks less and less often (${kind}), and as before when n8n does better`, () => {
      const state = world()
      return Effect.gen(function*() {
        yield* TestClock.setTime(start)
        yield* TestTime.run(poll())
        state.isBusy = kind
        const looks: Array<number> = []
        const said: Array<string> = []
        for (let minutes = 1; minutes <= 51; minutes++) {
          if (minutes === 36) state.isBusy = ""
          if (minutes === 48) state.isBusy = kind
          yield* TestClock.setTime(start + minutes * minute)
          const { isSkipped, unknown } = yield* TestTime.run(poll())
          if (!isSkipped) looks.push(minutes)
          said.push(...unknown)
        }
        assert.deepStrictEqual(looks, [1, 3, 7, 15, 25, 35, 45, 46, 47, 48, 50])
        const sentence = "n8n answers slowly: it is looked at less often until it does better."
        assert.deepStrictEqual(said, [sentence, sentence])
      }).pipe(Effect.provide(layer({ workflows, executions: [] }, { before: before(state) })))
    })
  }
})

describe("a storm of failures", () => {
  it.effect("costs 8 requests a look, 2 at a time, and each cause is reported in the end", () => {
    const state = world()
    return Effect.gen(function*() {
      const fake = yield* FakeN8n.FakeN8n
      yield* TestClock.setTime(start)
      yield* TestTime.run(poll())
      let id = 0
      const add = (index: number, message: string) =>
        fake.addExecution({
          ...FakeN8n.failedExecution({
            workflow: workflows[index % workflows.length] as FakeN8n.Workflow,
            node: "Work",
            message
          }),
          id: String(++id),
          mode: "webhook",
          startedAt: iso(start + 1_000 + id),
          stoppedAt: iso(start + 1_001 + id)
        })
      for (let each = 0; each < 200; each++) yield* add(each, "the ledger is closed")
      const [reported, requests]: [Array<string>, Array<number>] = [[], []]
      for (let minutes = 1; minutes <= 16; minutes++) {
        yield* TestClock.setTime(start + minutes * minute)
        const report = yield* TestTime.run(poll())
        reported.push(...report.incidents.flatMap(({ workflowId }) => workflowId ?? []))
        requests.push(report.requests)
      }
      assert.isAtMost(Math.max(...requests), 8)
      assert.strictEqual(state.most, 2)
      assert.deepStrictEqual(reported.toSorted(), names.toSorted())
    }).pipe(Effect.provide(layer({ workflows, executions: [] }, { before: before(state) })))
  })

  it.effect("of more runs than can be read says from when on they are unknown", () =>
    Effect.gen(function*() {
      const fake = yield* FakeN8n.FakeN8n
      yield* TestClock.setTime(start)
      const run = (index: number) => ({
        ...FakeN8n.succeededExecution({ workflow: workflows[0] as FakeN8n.Workflow }),
        id: String(index + 1),
        mode: "webhook",
        startedAt: iso(start + index * 40),
        stoppedAt: iso(start + index * 40 + 1)
      })
      yield* fake.addExecution(run(0))
      yield* poll()
      for (let index = 1; index < 1_400; index++) yield* fake.addExecution(run(index))
      yield* TestClock.setTime(start + minute)
      const { incidents, unknown } = yield* poll()
      assert.deepStrictEqual(incidents, [])
      assert.lengthOf(unknown, 1)
      assert.match(unknown[0] ?? "", /^What ran before 2026-03-02T08:00:\d\d\.\d+Z since the last poll: .*too many/)
      yield* TestClock.setTime(start + 2 * minute)
      assert.deepStrictEqual((yield* poll()).unknown, [])
    }).pipe(Effect.provide(layer({ workflows, executions: [] }))))
})
