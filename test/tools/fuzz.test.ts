import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import type * as Tool from "../../src/answer/Tool.ts"
import * as tools from "../../src/tools/index.ts"
import { random as seeded } from "../support/random.ts"
import { seed as firstSeed } from "../support/seed.ts"
import { inWorld, type Needs } from "../support/world.ts"
import { calls, seed, writeFiles } from "./calls.ts"
import { spoilt } from "./hostile.ts"

const rounds = 40 * Number(process.env["N8N_MCP_ROUNDS"] ?? 1)
const all: ReadonlyArray<Tool.Any<Needs>> = tools.all

describe("arguments of whatever kind", () => {
  it.live.each(all.map((tool) => ({ tool, name: tool.name })))(
    "are answered or refused by $name, never a bug",
    ({ name, tool }) =>
      inWorld(function*({ folder }) {
        yield* writeFiles(folder)
        const random = seeded(name.length * 7919 + firstSeed(rounds))
        for (let round = 0; round < rounds; round++) {
          const args = spoilt(calls[name] ?? {}, Object.keys(tool.inputSchema.properties ?? {}), random)
          const shown = JSON.stringify(args)?.slice(0, 300)
          const exit = yield* Effect.exit(tool.run(args))
          assert.isFalse(Exit.hasDies(exit), `${name} ${shown}: ${JSON.stringify(exit).slice(0, 500)}`)
          assert.isTrue(JSON.stringify(exit).isWellFormed())
        }
        assert.notProperty({}, "polluted")
      }, {
        seed,
        // Nothing runs there: what would be waited for never comes.
        before: ({ url }) =>
          Effect.sync(() => name === "test_workflow" ? new Response("{}", { status: 400 }) : void url)
      })
  )

  it.live.each(all.map((tool) => ({ tool, name: tool.name })))(
    "that hold half a character in any place are refused by $name",
    ({ name, tool }) =>
      inWorld(function*({ api, folder }) {
        yield* writeFiles(folder)
        for (const key of Object.keys(tool.inputSchema.properties ?? {})) {
          for (const half of ["\ud800", ["a\udc00"], { a: { "\ud800": 1 } }]) {
            const error = yield* Effect.flip(tool.run({ ...calls[name], [key]: half }))
            assert.strictEqual(error._tag, "ValidationError", `${name} ${key}`)
          }
        }
        assert.deepStrictEqual(yield* api.requests, [])
      }, { seed })
  )
})
