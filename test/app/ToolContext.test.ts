import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as ToolContext from "../../src/app/ToolContext.ts"

const load = Effect.fnUntraced(
  function*(text: string) {
    const fs = yield* FileSystem.FileSystem
    const file = yield* fs.makeTempFileScoped({ suffix: ".json" })
    yield* fs.writeFileString(file, text)
    return yield* ToolContext.policyIn(file)
  },
  Effect.scoped,
  Effect.provide(NodeServices.layer)
)

it.effect("reads every rule, comments and trailing commas included", () =>
  Effect.gen(function*() {
    const rules = yield* load(`{
      // Nobody needs a shell.
      "bannedNodes": ["ssh"],
      "minScheduleMinutes": 5,
      "protectedTags": ["prod"],
      "requireErrorWorkflow": true,
    }`)
    assert.deepStrictEqual(rules, {
      bannedNodes: ["ssh"],
      minScheduleMinutes: 5,
      protectedTags: ["prod"],
      requireErrorWorkflow: true
    })
  }))

for (
  const [what, text, message] of [
    ["an unknown key, with the nearest", `{"banedNodes": ["ssh"]}`, "bannedNodes"],
    ["a value of another type", `{"minScheduleMinutes": "soon"}`, "minScheduleMinutes"],
    ["an interval that is none", `{"minScheduleMinutes": 0}`, "minScheduleMinutes"],
    ["an empty name", `{"protectedTags": [""]}`, "protectedTags"],
    ["text that is not JSON", `{"protectedTags": [`, "not JSON"]
  ] as const
) {
  it.effect(`refuses ${what}`, () =>
    Effect.gen(function*() {
      const error = yield* Effect.flip(load(text))
      assert.strictEqual(error._tag, "InvalidOption")
      assert.match(error.message, /^--policy: /)
      assert.include(error.message, message)
    }))
}

it.effect("refuses a file that is not there", () =>
  Effect.gen(function*() {
    const error = yield* Effect.flip(
      ToolContext.policyIn("/nowhere/policy.json").pipe(Effect.provide(NodeServices.layer))
    )
    assert.strictEqual(error._tag, "InvalidOption")
  }))
