import { assert, describe, it } from "@effect/vitest"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as Minimize from "../src/Minimize.ts"
import * as Placeholders from "../src/Placeholders.ts"
import * as Redact from "../src/Redact.ts"

const stored = {
  nodes: [
    {
      id: "1",
      name: "Call",
      parameters: {
        url: "https://api.test/?api_key=abcdef123456",
        password: "hunter2",
        headerParameters: {
          parameters: [
            { name: "Accept", value: "application/json" },
            { name: "Authorization", value: "Bearer abcdef123456ABC" },
            { name: "X-Api-Key", value: "abcdef123456ABCDEF" }
          ]
        },
        jsCode: "x".repeat(30_000)
      }
    }
  ]
}

const back = (given: unknown) =>
  Result.getOrThrowWith(Placeholders.resolve(given, stored), ({ path }) => new Error(path))
const refused = (given: unknown, at: unknown = stored) => {
  const result = Placeholders.resolve(given, at)
  return Result.isFailure(result) ? result.failure : assert.fail("accepted")
}

describe("what comes back of an answer", () => {
  it("is what is stored, where it was redacted", () => {
    const shown = Redact.redact(stored)
    assert.notDeepEqual(shown, stored)
    assert.deepStrictEqual(back(shown), stored)
  })

  it("is what is stored, where a string was cut", () => {
    const shown = Minimize.fit(stored, 4_000)
    assert.match(JSON.stringify(shown), /… \[\+\d+ chars\]/)
    assert.deepStrictEqual(back(shown), stored)
  })

  it("finds pairs by their names when they moved", () => {
    const shown = structuredClone(Redact.redact(stored))
    const [accept, authorization, key] = shown.nodes[0]?.parameters.headerParameters.parameters ?? []
    const moved = { headerParameters: { parameters: [key, accept, authorization, { name: "New", value: "1" }] } }
    const { parameters } = stored.nodes[0] ?? { parameters: undefined }
    const found = Result.getOrThrow(Placeholders.resolve(moved, parameters)) as typeof moved
    assert.deepStrictEqual(found.headerParameters.parameters.map((pair) => pair?.value), [
      "abcdef123456ABCDEF",
      "application/json",
      "Bearer abcdef123456ABC",
      "1"
    ])
  })

  it("is refused where nothing is stored, with its path", () => {
    assert.deepInclude(refused({ nodes: [{ name: "New", parameters: { password: "[redacted]" } }] }), {
      path: "nodes[0].parameters.password"
    })
    assert.strictEqual(refused({ a: "abc… [+12 chars]" }, { a: "abd123456789012" }).path, "a")
    assert.strictEqual(refused({ a: "Bearer [redacted] and more" }, { a: "something else" }).path, "a")
    assert.strictEqual(refused("[redacted]", 7).path, "")
  })

  it("is refused where a list or an object was cut, stored or not", () => {
    const cut = { nodes: [...stored.nodes, { _truncated: { path: "nodes", kept: 1, total: 9 } }] }
    assert.strictEqual(refused(cut).path, "nodes[1]")
    const [node] = stored.nodes
    const marked = { nodes: [{ ...node, parameters: { _truncated: { path: "p", kept: 1, total: 9 } } }] }
    assert.strictEqual(refused(marked).path, "nodes[0].parameters")
  })

  it.prop(
    "anything without placeholders comes back as it is",
    { value: Schema.Json, other: Schema.Json },
    ({ other, value }) => {
      const text = JSON.stringify(value)
      if (/\[redacted\]|_truncated|chars\]/.test(text)) return
      assert.deepStrictEqual(Result.getOrThrow(Placeholders.resolve(value, other)), value)
    }
  )
})
