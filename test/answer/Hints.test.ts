import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Envelope from "../../src/answer/Envelope.ts"
import * as Hints from "../../src/answer/Hints.ts"
import * as Advice from "../../src/base/Advice.ts"
import * as Errors from "../../src/base/Errors.ts"
import * as tools from "../../src/tools/index.ts"

describe("hints", () => {
  it.effect.prop(
    "are sentences that name only existing tools",
    { advice: Advice.Advice },
    ({ advice }) =>
      Effect.sync(() => {
        const text = Hints.text(advice)
        assert.match(text, /^\S.*[.?]$/s)
        const names: ReadonlyArray<string> = tools.all.map(({ name }) => name)
        for (const [name] of text.matchAll(/\b[a-z]+(?:_[a-z]+)+\b(?=\(|\s)/g)) assert.include(names, name)
      })
  )

  it("join sentences and advice", () => {
    assert.strictEqual(Hints.text("Nothing ran."), "Nothing ran.")
    assert.strictEqual(Hints.text(""), "")
    const hint: Advice.Hint = ["Did you mean 'a'?", "", { _tag: "SearchNodeTypes" }]
    assert.strictEqual(Hints.text(hint), "Did you mean 'a'? node_search finds types by what they do.")
  })

  it("quote names in calls so that the call is valid", () => {
    assert.strictEqual(Hints.executionByNode("7", "It's \\"), "get_execution_by_node(id: '7', nodeName: 'It\\'s \\\\')")
  })

  it("are text in the envelope, which omits isServerFault", () => {
    const error = new Errors.ValidationError({ reason: "full", hint: { _tag: "CheckApiKey" }, isServerFault: true })
    assert.deepStrictEqual(Envelope.fromError(error), {
      name: "ValidationError",
      message: "full",
      context: {},
      hint: Hints.text({ _tag: "CheckApiKey" })
    })
    assert.isTrue(Schema.is(Advice.Hint)(error.hint))
  })
})
