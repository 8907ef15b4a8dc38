import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Envelope from "../../src/answer/Envelope.ts"
import type * as Tool from "../../src/answer/Tool.ts"
import * as Errors from "../../src/base/Errors.ts"
import * as tools from "../../src/tools/index.ts"
import * as TestTime from "../support/TestTime.ts"
import { inWorld, type Needs } from "../support/world.ts"
import { calls, seed, writeFiles } from "./calls.ts"

/** What the n8n does with every request. */
type Fault = () => Effect.Effect<Response>

const drip: Fault = () =>
  Effect.sync(() => new Response(new ReadableStream({ pull: () => new Promise<void>(() => {}) })))

const faults: Readonly<Record<string, Fault>> = {
  "is silent": () => Effect.never,
  "begins an answer and never ends it": drip,
  "is limiting requests": () =>
    Effect.sync(() => Response.json({ message: "slow down" }, { status: 429, headers: { "retry-after": "20" } })),
  "fails again and again": () => Effect.sync(() => Response.json({ message: "broken" }, { status: 500 }))
}

describe("every call is answered within 50 seconds", () => {
  for (const [what, fault] of Object.entries(faults)) {
    it.effect.each(tools.all.map((tool: Tool.Any<Needs>) => ({ tool, name: tool.name })))(
      `$name of an n8n that ${what}`,
      ({ name, tool }) =>
        inWorld(function*({ folder }) {
          yield* writeFiles(folder)
          const { exit, seconds } = yield* TestTime.measure(Effect.result(tool.run(calls[name])))
          assert.isBelow(seconds, 50)
          const result = yield* exit
          if (result._tag === "Success") return
          const error = result.failure
          assert.instanceOf(error, Errors.ApiError)
          const { context, hint } = Envelope.fromError(error)
          assert.isNotEmpty(context["operation"])
          assert.isNotEmpty(context["errorDetails"])
          assert.isNotEmpty(hint)
        }, { seed, before: fault })
    )
  }
})
