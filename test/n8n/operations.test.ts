import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { readFileSync } from "node:fs"
import type { Operation } from "./description.ts"
import * as operations from "./operations.ts"

const older: ReadonlyArray<Operation> = JSON.parse(readFileSync(operations.recording, "utf8"))

describe("the client", () => {
  it.effect("types every operation and parameter of both n8ns", () =>
    Effect.gen(function*() {
      assert.lengthOf(operations.typed, 154)
      const { missing, missingParameters } = yield* operations.drift(older)
      assert.deepStrictEqual({ missing, missingParameters }, { missing: [], missingParameters: [] })
    }))

  it.effect("sends nothing that no n8n has", () =>
    Effect.gen(function*() {
      const { unknown } = yield* operations.drift([...operations.typed, ...older])
      assert.deepStrictEqual(unknown, [])
    }))

  it.effect("is behind a newer n8n by an operation and a parameter", () =>
    Effect.gen(function*() {
      const newer = [
        ...operations.typed.map((each) =>
          each.path === "/tags" && each.method === "GET" ? { ...each, query: [...each.query, "color"] } : each
        ),
        { method: "POST", path: "/workflows/{id}/polish", query: [] }
      ]
      const { missing, missingParameters } = yield* operations.drift(newer)
      assert.deepStrictEqual(missing, ["POST /workflows/{id}/polish"])
      assert.deepStrictEqual(missingParameters, ["GET /tags ?color"])
    }))
})
