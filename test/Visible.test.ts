import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Result from "effect/Result"
import * as Demo from "../src/Demo.ts"
import * as McpServer from "../src/McpServer.ts"
import * as Placeholders from "../src/Placeholders.ts"
import * as Services from "../src/Services.ts"
import * as FakeN8n from "../src/testing/FakeN8n.ts"
import * as tools from "../src/tools/index.ts"
import * as Visible from "../src/Visible.ts"

describe("Visible", () => {
  it.each([
    ["a\u202Eb", "a\\u202eb"],
    ["\u0000\u001B[31m", "\\u0000\\u001b[31m"],
    ["\u{E0049}\u{E0067}", "\\u{e0049}\\u{e0067}"],
    ["\uFEFFx\u2066y\u2069\u200F", "\\ufeffx\\u2066y\\u2069\\u200f"]
  ])("spells out what hides: %j", (hidden, shown) => assert.strictEqual(Visible.text(hidden), shown))

  it.each(["日本語 のワークフロー", "a\tb\r\nc", "👩‍👩‍👧‍👦", "می‌خواهم", "\\u202e", "🏳️‍🌈"])("leaves alone: %j", (text) => {
    assert.strictEqual(Visible.text(text), text)
  })

  it("walks keys and values, and keeps what holds nothing hidden", () => {
    const fine = { a: [{ b: "c" }], d: null, e: 1 }
    assert.strictEqual(Visible.json(fine), fine)
    assert.deepStrictEqual<unknown>(Visible.json({ "k\u202E": [["\u0007"], fine] }), {
      "k\\u202e": [["\\u0007"], fine]
    })
  })

  it("comes back in a write as what is stored", () => {
    const stored = { text: "a\u202Eb", other: "x" }
    const given = { text: "a\\u202eb", other: "a\\u202eb" }
    assert.deepStrictEqual(
      Placeholders.resolve(given, stored),
      Result.succeed({ text: "a\u202Eb", other: "a\\u202eb" })
    )
  })

  it.effect("no answer and no error hides anything", () =>
    Effect.gen(function*() {
      const name = "Invoice\u202Etxt.exe\u{E0049}\u0007"
      const [workflow] = Demo.seed.workflows
      const n8n = FakeN8n.layer({ workflows: [{ ...workflow, id: "1", name }], executions: [] })
      const answers = yield* Effect.all([
        McpServer.respond(tools.listWorkflows, {}),
        McpServer.respond(tools.getWorkflow, { id: "1", raw: true }),
        McpServer.respond(tools.getWorkflow, { id: "1", nodes: [name] }),
        McpServer.respond(tools.getWorkflow, { [name]: "1" })
      ]).pipe(Effect.provide(Layer.merge(n8n, Services.layerMemory)))
      assert.deepStrictEqual(answers.map(({ isError }) => isError === true), [false, false, true, true])
      for (const answer of answers) {
        const shown = JSON.stringify(answer)
        assert.include(shown, "u202etxt.exe")
        assert.notMatch(shown, /[\u202E\u{E0049}]|[^\\]\\u0007/u)
      }
    }))
})
