import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { readFileSync } from "node:fs"
import * as operations from "./operations.ts"

const recorded = (version: "1" | "2") =>
  JSON.parse(readFileSync(operations.recording(version), "utf8")) as ReadonlyArray<operations.Operation>

describe("the client", () => {
  it.effect.each(["1", "2"] as const)(
    "has every operation of n8n %s but those that it refuses",
    (version) =>
      Effect.gen(function*() {
        const { missing, missingParameters, refused, supported } = yield* operations.drift(recorded(version))
        assert.deepStrictEqual(missing, [])
        assert.deepStrictEqual(missingParameters, [])
        assert.strictEqual(supported.length + refused.length, recorded(version).length)
      })
  )

  it.effect("sends nothing that no n8n has", () =>
    Effect.gen(function*() {
      const { unknown } = yield* operations.drift(recorded("2"))
      assert.deepStrictEqual(unknown, [])
    }))

  it.effect("names an operation and a parameter that only a newer n8n has", () =>
    Effect.gen(function*() {
      const newer = [
        ...recorded("2").map((each) =>
          each.path === "/tags" && each.method === "GET" ? { ...each, query: [...each.query, "color"] } : each
        ),
        { method: "POST", path: "/workflows/{id}/polish", query: [] }
      ]
      const { missing, missingParameters } = yield* operations.drift(newer)
      assert.deepStrictEqual(missing, ["POST /workflows/{id}/polish"])
      assert.deepStrictEqual(missingParameters, ["GET /tags ?color"])
    }))

  it("refuses nothing that no n8n has", () => {
    const all = recorded("2")
    for (const refusal of operations.refusals) {
      assert.isTrue(all.some((operation) => operations.refusalOf(operation) === refusal), refusal.path)
    }
    for (const parameter of Object.keys(operations.refusedParameters)) {
      const [name, query] = parameter.split(" ?")
      assert.isTrue(
        all.some((each) => `${each.method} ${each.path}` === name && each.query.includes(query ?? "")),
        parameter
      )
    }
  })
})
