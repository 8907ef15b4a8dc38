import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import type * as Tool from "../../src/answer/Tool.ts"
import * as Errors from "../../src/base/Errors.ts"
import { arr, type Obj, obj } from "../../src/base/Json.ts"
import * as tools from "../../src/tools/index.ts"
import { calls } from "./calls.ts"

const long = "a".repeat(1_000_000)

/** Arguments with one million characters in the place of each text that the schema has. */
const longer = (schema: unknown): ReadonlyArray<unknown> => {
  const { anyOf, items, properties, type } = obj(schema) ?? {}
  return [
    ...type === "string" ? [long] : [],
    ...(arr(anyOf) ?? []).flatMap(longer),
    ...(items === undefined ? [] : longer(items).map((item) => [item])),
    ...Object.entries(obj(properties) ?? {}).flatMap(([key, inner]) => longer(inner).map((value) => ({ [key]: value })))
  ]
}

const all: ReadonlyArray<Tool.Any<never>> = tools.all as never

describe("a text of 1 MB", () => {
  it.effect.each(all.map((tool) => ({ name: tool.name, tool })))(
    "is refused in each parameter of $name before anything is looked up",
    ({ name, tool }) =>
      Effect.gen(function*() {
        for (const args of longer(tool.inputSchema) as ReadonlyArray<Obj>) {
          const [parameter = ""] = Object.keys(args)
          const error = yield* Effect.flip(tool.run({ ...calls[name], ...args }) as Effect.Effect<unknown, unknown>)
          assert.instanceOf(error, Errors.ValidationError)
          const { field, reason } = error as Errors.ValidationError
          assert.strictEqual(field?.split(/[.[]/)[0], parameter)
          assert.match(reason, / has more than 2000 characters/)
          assert.isBelow(reason.length, 1_000)
        }
      })
  )
})
