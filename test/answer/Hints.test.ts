import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { wording } from "../../src/answer/advice.ts"
import * as Envelope from "../../src/answer/Envelope.ts"
import * as Hints from "../../src/answer/Hints.ts"
import * as Advice from "../../src/base/Advice.ts"
import * as Errors from "../../src/base/Errors.ts"
import * as tools from "../../src/tools/index.ts"

const names: ReadonlyArray<string> = tools.all.map(({ name }) => name)

const namesIn = (text: string) => names.filter((name) => new RegExp(`\\b${name}\\b`).test(text))

/** Advice whose texts from outside have no underscore and no hyphen, so that what looks like a name is ours. */
const plain = (advice: Advice.Advice): Advice.Advice =>
  JSON.parse(
    JSON.stringify(advice),
    (key, value: unknown) =>
      typeof value === "string" && key !== "_tag" ? value.replace(/[^A-Za-z]/g, "x") || "x" : value
  )

const ofTool = Advice.Advice.guards.CallTools

describe("hints", () => {
  it.effect.prop(
    "name the tools that the advice lists, and no others",
    { advice: Advice.Advice },
    ({ advice }) =>
      Effect.sync(() => {
        const safe = plain(advice)
        if (ofTool(safe)) return
        const text = Hints.text(safe)
        assert.match(text, /^\S.*\S$/s)
        const { tools = [] } = wording(safe)
        assert.sameMembers(namesIn(text), [...tools])
      })
  )

  it.effect.prop(
    "for a program name no tool, no option and no variable",
    { advice: Advice.Advice },
    ({ advice }) =>
      Effect.sync(() => {
        const text = Hints.explain({ message: "It failed", hint: plain(advice) })
        assert.deepStrictEqual(namesIn(text), [])
        assert.notMatch(text, /--[a-z]|N8N_[A-Z]|effect-n8n-mcp|`/)
        assert.notMatch(text, /\.\.|\. \.| $/)
        assert.notMatch(text, /call again|errorDetails/i)
      })
  )

  it.effect.prop(
    "for a person name no tool, and for a model only what it has",
    { advice: Advice.Advice },
    ({ advice }) =>
      Effect.sync(() => {
        const safe = plain(advice)
        const person = Hints.text(safe, { as: "person" })
        assert.deepStrictEqual(namesIn(person), [])
        assert.notInclude(person, "errorDetails")
        assert.deepStrictEqual(namesIn(Hints.text(safe, { offered: new Set() })), [])
        assert.strictEqual(
          Hints.text(safe, { offered: new Set(names) }),
          ofTool(safe) && safe.tools.length > 0
            ? Hints.text(safe, { as: "program" })
            : Hints.text(safe)
        )
      })
  )

  it("have a program's own words in place of the package's", () => {
    const hint: Advice.Hint = ["Nothing ran.", { _tag: "ListWorkflows" }, { _tag: "PublishFirst", id: "w1" }]
    const words: Hints.Words = {
      ListWorkflows: "See the page of workflows.",
      PublishFirst: ({ id }) => `Publish ${id}.`
    }
    assert.strictEqual(
      Hints.explain({ message: "Refused", hint }, { words }),
      "Refused. Nothing ran. See the page of workflows. Publish w1."
    )
    assert.strictEqual(
      Hints.explain({ message: "Refused", hint }, { words: { ListWorkflows: "", PublishFirst: "" } }),
      "Refused. Nothing ran."
    )
    assert.strictEqual(
      Hints.explain({ message: "Refused", hint }, { as: "model" }),
      "Refused. Nothing ran. list_workflows lists the workflows with their ids. activate_workflow(id: 'w1') publishes it."
    )
  })

  it("follow a message whatever it ends with", () => {
    for (const message of ["It failed", "It failed."]) {
      assert.strictEqual(Hints.explain({ message }), "It failed.")
      assert.strictEqual(Hints.explain({ message, hint: "Try again." }), "It failed. Try again.")
    }
    assert.strictEqual(Hints.explain({ message: "Really?", hint: "Yes." }), "Really? Yes.")
  })

  it("join sentences and advice", () => {
    assert.strictEqual(Hints.text("Nothing ran."), "Nothing ran.")
    assert.deepStrictEqual([Hints.text(""), Hints.text()], ["", ""])
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

  it("are absent in the envelope of an error without one", () => {
    const error = new Errors.NotFoundError({ resourceType: "Workflow", resourceId: "w1" })
    assert.deepStrictEqual(Envelope.fromError(error), {
      name: "NotFoundError",
      message: "Workflow 'w1' not found",
      context: { resourceType: "Workflow", resourceId: "w1" }
    })
  })
})
