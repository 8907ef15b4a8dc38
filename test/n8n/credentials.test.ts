import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { reasonOf } from "../support/reason.ts"
import { memoryClient } from "./clients.ts"

const credentials = ["a", "b", "c"].map((id) => ({ id, name: `Account ${id}`, type: "slackApi" }))

describe("listCredentials", () => {
  it.effect("lists page by page on 2.x", () =>
    Effect.gen(function*() {
      const { n8n } = yield* memoryClient({ credentials })
      const first = yield* n8n.listCredentials({ limit: 2 })
      assert.deepStrictEqual(first.data.map(({ id }) => id), ["a", "b"])
      const second = yield* n8n.listCredentials({ limit: 2, cursor: first.nextCursor ?? undefined })
      assert.deepStrictEqual(second, { data: credentials.slice(2), nextCursor: null })
    }))

  it.effect("fails on 1.x, which has no such endpoint", () =>
    Effect.gen(function*() {
      const { n8n } = yield* memoryClient({ credentials }, "1")
      assert.strictEqual(reasonOf(yield* Effect.flip(n8n.listCredentials({ limit: 2 }))), "Status 405")
    }))
})
