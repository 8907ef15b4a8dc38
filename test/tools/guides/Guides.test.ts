import { assert, describe, it, layer } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { countTokens } from "gpt-tokenizer/encoding/o200k_base"
import * as Services from "../../../src/app/Services.ts"
import * as Guides from "../../../src/tools/guides/Guides.ts"
import * as resources from "../../../src/tools/Resources.ts"
import * as WorkflowValidation from "../../../src/workflows/WorkflowValidation.ts"

describe.each(Guides.all)("the guide to $topic", ({ text, workflows }) => {
  it("takes at most 1,000 tokens", () => assert.isAtMost(countTokens(text), 1_000))

  it("shows its workflows as JSON", () => {
    const shown = [...text.matchAll(/```json\n(.*)\n```/g)].map(([, json = ""]) =>
      JSON.parse(json) as { nodes: Array<unknown> }
    )
    assert.strictEqual(shown.length, workflows.length)
    shown.forEach(({ nodes }, index) => {
      const [whole, part] = [JSON.stringify(workflows[index]?.nodes), JSON.stringify(nodes).slice(1, -1)]
      assert.include(whole, part)
    })
  })
})

layer(Services.layerMemory)("the guides", (it) => {
  it.effect("show workflows that are valid", () =>
    Effect.gen(function*() {
      for (const { topic, workflows } of Guides.all) {
        for (const { connections, nodes } of workflows) {
          const placed = nodes.map((each, index) => ({
            ...each,
            id: String(index),
            position: [200 * index, 0]
          }))
          const { problems, valid } = yield* WorkflowValidation.validate({
            name: topic,
            nodes: placed,
            connections,
            settings: {}
          })
          // Those that begin with a manual trigger are put behind another.
          const others = problems.filter(({ message }) => !message.includes("only be started manually"))
          assert.deepStrictEqual([valid, others], [true, []], topic)
        }
      }
    }))

  it.effect("are read by topic; an unknown topic names the nearest one", () =>
    Effect.gen(function*() {
      assert.match(yield* resources.guide.read("errors"), /^# Errors and retries/)
      const error = yield* Effect.flip(resources.guide.read("erors"))
      assert.strictEqual(error._tag, "NotFoundError")
      assert.include(JSON.stringify(error.hint), "errors")
      assert.deepStrictEqual(yield* resources.guide.complete("e"), ["errors", "expressions"])
    }))
})
