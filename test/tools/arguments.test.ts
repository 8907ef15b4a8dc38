import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import type * as Tool from "../../src/answer/Tool.ts"
import { obj } from "../../src/base/Json.ts"
import * as tools from "../../src/tools/index.ts"
import { connected, serve } from "../support/connected.ts"
import { random as seeded } from "../support/random.ts"
import { seed as firstSeed } from "../support/seed.ts"
import { inWorld, type Needs } from "../support/world.ts"
import { hostile, nearlyValid, valid } from "./arguments.ts"
import { calls, seed, writeFiles } from "./calls.ts"

const rounds = 6 * Number(process.env["N8N_MCP_ROUNDS"] ?? 1)

const kinds = { valid, nearlyValid, hostile }

const all: ReadonlyArray<Tool.Any<Needs>> = tools.all

describe("arguments made from the inputSchema", () => {
  it.live.each(all.map((tool) => ({ tool, name: tool.name })))(
    "of $name come to an answer or a typed error over the protocol, never to a bug",
    ({ name, tool }) =>
      inWorld(function*({ folder, run }) {
        yield* writeFiles(folder)
        const client = yield* connected(Effect.orDie(run(serve())))
        // The SDK checks answers by the schemas that it was told.
        yield* Effect.promise(() => client.listTools())
        const random = seeded(name.length * 104_729 + firstSeed(rounds))
        for (const [kind, make] of Object.entries(kinds)) {
          for (let round = 0; round < rounds; round++) {
            const args = make(tool.inputSchema, random, calls[name] ?? {})
            const shown = () => `${name}, ${kind}: ${JSON.stringify(args).slice(0, 500)}`
            // A protocol error would be thrown.
            const answer = yield* Effect.promise(() =>
              client.callTool({ name, arguments: args as Record<string, unknown> }).catch((error: unknown) => {
                throw new Error(shown(), { cause: error })
              })
            )
            const text = JSON.stringify(answer)
            assert.notInclude(text, "InternalError", shown())
            assert.isTrue(text.isWellFormed(), shown())
            if (answer.isError !== true) {
              assert.isTrue(obj(answer.structuredContent)?.["success"], shown())
            }
          }
        }
        assert.notProperty({}, "polluted")
      }, {
        seed,
        // Nothing runs there: what would be waited for never comes.
        before: () => Effect.sync(() => name === "test_workflow" ? new Response("{}", { status: 400 }) : undefined)
      }),
    // Proofs wait for runs of their copies in real time.
    60_000
  )
})
