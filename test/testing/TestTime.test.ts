/** Programs under effect's test clock with the fake: nothing under it takes real time. */
import { assert, describe, it } from "@effect/vitest"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Stream from "effect/Stream"
import * as TestClock from "effect/testing/TestClock"
import { readFile } from "node:fs/promises"
import { fileURLToPath } from "node:url"
import * as Services from "../../src/app/Services.ts"
import * as Executions from "../../src/executions/Executions.ts"
import * as N8nClient from "../../src/n8n/N8nClient.ts"
import * as FakeN8n from "../../src/testing/FakeN8n.ts"
import * as TestTime from "../../src/testing/TestTime.ts"
import * as tools from "../../src/tools/index.ts"
import { rounds } from "../support/seed.ts"

const workflow = { id: "w1", name: "Orders", nodes: [{ name: "Pay", type: "n8n-nodes-base.code" }], connections: {} }
const items = { Pay: Array.from({ length: 20_000 }, (_, at) => ({ at, text: "x".repeat(80) })) }
const seed = { workflows: [workflow], executions: [FakeN8n.succeededExecution({ workflow, items })] }

const countItems = Stream.runCount(Executions.streamItems("1", { node: "Pay" }))

const readExecution = Effect.map(
  tools.getExecution.call({ id: "1" }),
  ({ statistics }) => statistics.totalItemsProcessed
)

const busy = (options: FakeN8n.Options = {}) => Layer.merge(FakeN8n.layer(seed, options), Services.layerMemory)

const times = ["1 minute", "10 minutes", "1 day"] as const

describe("the fake under effect's test clock", () => {
  // N8N_MCP_ROUNDS=200 repeats it: what takes real time fails in some rounds only.
  it.effect.each(Array.from({ length: rounds(2) }, (_, round) => round))(
    "answers however far the clock is adjusted (%i)",
    () =>
      Effect.forEach(
        times.flatMap((time) => [[time, countItems], [time, readExecution]] as const),
        Effect.fnUntraced(function*([time, program]) {
          yield* (yield* FakeN8n.FakeN8n).failTimes(1, 503)
          const fiber = yield* Effect.forkChild(program)
          yield* TestClock.adjust(time)
          assert.strictEqual(yield* Fiber.join(fiber), 20_000)
        }, (effect) => Effect.provide(effect, busy(), { local: true })),
        { discard: true }
      )
  )

  it.effect("answers at the moment to which the clock is adjusted, and not before", () =>
    Effect.gen(function*() {
      yield* (yield* FakeN8n.FakeN8n).failTimes(2, 429, { retryAfter: 7 })
      const fiber = yield* Effect.forkChild(countItems)
      yield* TestClock.adjust("13999 millis")
      assert.isUndefined(fiber.pollUnsafe())
      yield* TestClock.adjust(1)
      assert.deepStrictEqual(fiber.pollUnsafe(), Exit.succeed(20_000))
    }).pipe(Effect.provide(busy())))

  it.effect("also answers with a response of a hook", () =>
    Effect.gen(function*() {
      const n8n = yield* N8nClient.N8nClient
      const fiber = yield* Effect.forkChild(n8n.getWorkflow("w1"))
      yield* TestClock.adjust("1 day")
      assert.deepInclude(yield* Fiber.join(fiber), { name: "Hooked" })
    }).pipe(Effect.provide(busy({
      before: ({ url }) => {
        if (!url.endsWith("/w1")) return Effect.void
        return Effect.as(Effect.sleep("3 seconds"), Response.json({ ...workflow, active: false, name: "Hooked" }))
      }
    }))))

  it.effect("times out where the body of a hook never ends", () =>
    Effect.gen(function*() {
      const n8n = yield* N8nClient.N8nClient
      const fiber = yield* Effect.forkChild(Effect.flip(n8n.getWorkflow("w1")))
      yield* TestClock.adjust("44 seconds")
      assert.isUndefined(fiber.pollUnsafe())
      yield* TestClock.adjust("1 second")
      assert.include((yield* Fiber.join(fiber)).message, "no answer")
    }).pipe(Effect.provide(busy({ before: () => Effect.sync(() => new Response(new ReadableStream())) }))))
})

describe("TestTime", () => {
  it.effect("measures the time of the clock, and takes the outcome as it is", () =>
    Effect.gen(function*() {
      const late = Effect.andThen(Effect.sleep("90 minutes"), Effect.fail("late"))
      assert.deepStrictEqual(yield* TestTime.measure(late, { step: "1 minute", within: "2 hours" }), {
        exit: Exit.fail("late"),
        seconds: 5_400
      })
      assert.strictEqual(yield* TestTime.run(Effect.as(Effect.sleep("3 seconds"), "value")), "value")
    }))

  it.effect("stands still while files are read", () =>
    Effect.gen(function*() {
      const file = fileURLToPath(import.meta.url)
      const reads = Effect.forEach(Array.from({ length: 50 }), () => Effect.promise(() => readFile(file)))
      const program = Effect.timeout(reads, "1 second")
      assert.lengthOf(yield* TestTime.run(program, { step: "1 hour" }), 50)
    }))

  it.effect("advances until a condition is met, and no further than allowed", () =>
    Effect.gen(function*() {
      let isMet = false
      yield* Effect.forkChild(Effect.andThen(Effect.sleep("5 seconds"), Effect.sync(() => void (isMet = true))))
      assert.isFalse(yield* TestTime.until(() => isMet, { within: "4 seconds" }))
      assert.strictEqual(yield* Clock.currentTimeMillis, 4_000)
      assert.isTrue(yield* TestTime.until(() => isMet))
      assert.strictEqual(yield* Clock.currentTimeMillis, 5_000)
    }))
})
