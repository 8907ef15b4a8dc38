import { assert, describe, it } from "@effect/vitest"
import { outdated } from "../../src/workflow/Outdated.ts"

const lookups = {
  newest: (type: string) => ({ http: 4.5, set: 3.5, function: 1 })[type],
  successors: (type: string) => type === "function" ? ["code"] : type === "gone" ? [] : undefined
}

const node = (type: string, typeVersion?: number) => ({ name: `A ${type}`, type, typeVersion })

const of = (...nodes: ReadonlyArray<unknown>) => outdated({ nodes }, lookups)

describe("outdated nodes", () => {
  it("are of a deprecated type, these first, or have a newer version", () => {
    assert.deepStrictEqual(of(node("http", 4.2), node("function", 1), node("gone", 2)), [
      { node: "A function", type: "function", has: 1, newest: 1, deprecated: true, use: ["code"] },
      { node: "A gone", type: "gone", has: 2, newest: 2, deprecated: true },
      { node: "A http", type: "http", has: 4.2, newest: 4.5 }
    ])
  })

  it("are not those of the newest version, of a later one, or of types that are not known", () => {
    assert.deepStrictEqual(of(node("set", 3.5), node("http", 5), node("community", 1), node("http"), null, 3), [])
    assert.deepStrictEqual(outdated({}, lookups), [])
  })
})
