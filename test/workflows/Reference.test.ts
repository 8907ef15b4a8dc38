import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Reference from "../../src/workflows/Reference.ts"

const n8n = (id: string) => ({ kind: "n8n", id }) as const
const file = (path: string) => ({ kind: "file", path }) as const

describe("Reference", () => {
  it.each<[string, ReturnType<typeof Reference.parse>]>([
    ["5", { place: n8n("5") }],
    ["5@published", { place: n8n("5"), version: "published" }],
    ["5@b0ada6d1-2003", { place: n8n("5"), version: "b0ada6d1-2003" }],
    ["5@snapshot-1@x", { place: n8n("5"), version: "snapshot-1@x" }],
    ["5@", { place: n8n("5"), version: "" }],
    ["@5", { place: n8n(""), version: "5" }],
    ["a.json", { place: file("a.json") }],
    ["a@b.json", { place: file("a@b.json") }],
    ["@scope/a.JSON", { place: file("@scope/a.JSON") }],
    ["flows@home/a", { place: file("flows@home/a") }],
    ["flows@home/a.json@snapshot-1", { place: file("flows@home/a.json"), version: "snapshot-1" }],
    ["a.json@b/c.json", { place: file("a.json@b/c.json") }],
    ["draft-a", { place: { kind: "draft", id: "draft-a", path: "draft-a" } }],
    ["draft-a@snapshot-1", { place: { kind: "draft", id: "draft-a", path: "draft-a" }, version: "snapshot-1" }]
  ])("%s", (text, reference) => {
    assert.deepStrictEqual(Reference.parse(text), reference)
    assert.strictEqual(Reference.versionIn(text), reference.version)
  })

  it.effect("picks by id, link, file, or a name that only one has", () =>
    Effect.gen(function*() {
      const all = [
        { id: "1", name: "Orders", file: "orders.json" },
        { id: "2", name: "orders", file: "old/orders.json" },
        { id: "3", name: "Send daily", file: "daily.json" },
        { id: "4", name: "SEND DAILY" },
        { name: "New", file: "new.json" }
      ]
      const pick = (text: string) => Reference.pick(all, text, "This folder")
      for (const text of ["1", "orders.json", "Orders", "http://n8n.test/workflow/1"]) {
        assert.deepStrictEqual(yield* pick(text), [all[0]], text)
      }
      assert.deepStrictEqual(yield* pick("new"), [all[4]])
      const several = yield* Effect.flip(pick("send Daily"))
      assert.include(several.message, "2 workflows are named 'send Daily': 'daily.json', '4'")
      const none = yield* Effect.flip(pick("Ordres"))
      assert.include(none.message, "This folder has no workflow 'Ordres'")
      assert.include(String(none.hint), "Did you mean 'Orders'")
    }))
})
