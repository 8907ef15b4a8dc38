/** Programs of the folder `examples`, which import the package by its name. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { readdirSync } from "node:fs"

const folder = new URL("../examples/", import.meta.url)

interface Example {
  readonly test: Effect.Effect<unknown, unknown>
  readonly expected: unknown
}

describe("examples", () => {
  it.live.each(readdirSync(folder).filter((name) => name.endsWith(".ts")))(
    "%s does what it says",
    (name) =>
      Effect.gen(function*() {
        const { expected, test }: Example = yield* Effect.promise(() => import(new URL(name, folder).href))
        assert.deepStrictEqual(yield* test, expected)
      })
  )
})
