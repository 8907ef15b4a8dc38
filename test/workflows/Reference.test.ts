import { assert, describe, it } from "@effect/vitest"
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
})
