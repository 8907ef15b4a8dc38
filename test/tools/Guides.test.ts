import { assert, describe, it, layer } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { countTokens } from "gpt-tokenizer/encoding/o200k_base"
import { globSync } from "node:fs"
import * as Services from "../../src/app/Services.ts"
import * as Guides from "../../src/tools/Guides.ts"
import * as resources from "../../src/tools/Resources.ts"
import * as WorkflowValidation from "../../src/workflows/WorkflowValidation.ts"
import { examplesIn } from "./guideExamples.ts"

describe.each(Guides.all)("the guide to $topic", ({ title, topic }) => {
  it.effect("takes at most 1,000 tokens, with its title and an example that runs", () =>
    Effect.gen(function*() {
      const text = yield* Guides.read(topic)
      assert.isAtMost(countTokens(text), 1_000)
      assert.isTrue(text.startsWith(`# ${title}\n`))
      assert.isAbove(examplesIn(text).length, 0)
    }))
})

layer(Services.layerMemory)("the guides", (it) => {
  it.effect("show workflows that are valid", () =>
    Effect.gen(function*() {
      for (const { topic } of Guides.all) {
        for (const { connections, nodes } of examplesIn(yield* Guides.read(topic))) {
          const placed = nodes.map((each, index) => ({ ...each, id: String(index), position: [200 * index, 0] }))
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

  it.effect("are the files of their folder", () =>
    Effect.sync(() => {
      const files = globSync("*.md", { cwd: new URL("../../src/tools/guides/", import.meta.url) })
      assert.sameMembers(files, Guides.all.map(({ topic }) => `${topic}.md`))
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
