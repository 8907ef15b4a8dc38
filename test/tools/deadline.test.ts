import { assert, describe, it } from "@effect/vitest"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as TestClock from "effect/testing/TestClock"
import * as Envelope from "../../src/answer/Envelope.ts"
import type * as Tool from "../../src/answer/Tool.ts"
import * as Errors from "../../src/base/Errors.ts"
import { succeededExecution } from "../../src/testing/runs.ts"
import * as tools from "../../src/tools/index.ts"
import { eventLoopTurn } from "../n8n/clients.ts"
import { calls, prepared, seed } from "./calls.ts"
import { inWorld, type Needs } from "./world.ts"

/** What the n8n does with every request. */
type Fault = () => Effect.Effect<Response>

const drip: Fault = () =>
  Effect.sync(() => new Response(new ReadableStream({ pull: () => new Promise<void>(() => {}) })))

/** What the n8n in memory cannot do, or has nothing to do it with. */
const needsMore = new Set(["workflow_restore", "retry_execution", "stop_execution"])

const faults: Readonly<Record<string, Fault>> = {
  "is silent": () => Effect.never,
  "begins an answer and never ends it": drip,
  "is limiting requests": () =>
    Effect.sync(() => Response.json({ message: "slow down" }, { status: 429, headers: { "retry-after": "20" } })),
  "fails again and again": () => Effect.sync(() => Response.json({ message: "broken" }, { status: 500 }))
}

/** Runs the clock only while n8n is waited for: what is read from disk takes no time. */
const raced = Effect.fnUntraced(function*<A, E, R>(call: Effect.Effect<A, E, R>, isWaiting: () => boolean) {
  const start = yield* Clock.currentTimeMillis
  const fiber = yield* Effect.forkChild(Effect.result(call))
  while (fiber.pollUnsafe() === undefined) {
    yield* eventLoopTurn
    if (isWaiting()) yield* TestClock.adjust("500 millis")
  }
  const result = yield* Fiber.join(fiber)
  return { result, seconds: ((yield* Clock.currentTimeMillis) - start) / 1000 }
})

describe("a call of every tool", () => {
  // Else the faults below would be met by calls that never come to n8n.
  it.live.each(
    tools.all.filter(({ name }) => !needsMore.has(name)).map((tool: Tool.Any<Needs>) => ({
      tool,
      name: tool.name
    }))
  )(
    "$name succeeds where nothing is wrong",
    ({ name, tool }) =>
      inWorld(({ folder }) => prepared(folder, Effect.result(tool.run(calls[name]))), {
        seed,
        runs: (workflow) => succeededExecution({ workflow })
      }).pipe(
        Effect.map((result) => assert.strictEqual(result._tag, "Success", JSON.stringify(result)))
      )
  )
})

describe("every call is answered within 50 seconds", () => {
  for (const [what, fault] of Object.entries(faults)) {
    it.effect.each(tools.all.map((tool: Tool.Any<Needs>) => ({ tool, name: tool.name })))(
      `$name of an n8n that ${what}`,
      ({ name, tool }) => {
        let asked = 0
        return inWorld(
          ({ folder }) =>
            prepared(
              folder,
              Effect.gen(function*() {
                const { result, seconds } = yield* raced(tool.run(calls[name]), () => asked > 0)
                assert.isBelow(seconds, 50)
                if (result._tag === "Success") return
                const error = result.failure
                assert.instanceOf(error, Errors.ApiError)
                const { context, hint } = Envelope.fromError(error)
                assert.isNotEmpty(context["operation"])
                assert.isNotEmpty(context["errorDetails"])
                assert.isNotEmpty(hint)
              })
            ),
          {
            seed,
            before: () =>
              Effect.suspend(() => {
                asked++
                return fault()
              })
          }
        )
      }
    )
  }
})
