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

it.effect.each([
  ["an unknown key, with the nearest", `{"banedNodes": ["ssh"]}`, "bannedNodes"],
  ["a value of another type", `{"minScheduleMinutes": "soon"}`, "minScheduleMinutes"],
  ["an interval that is none", `{"minScheduleMinutes": 0}`, "minScheduleMinutes"],
  ["an empty name", `{"protectedTags": [""]}`, "protectedTags"],
  ["text that is not JSON", `{"protectedTags": [`, "not JSON"],
  ["a file that is not there", undefined, "/nowhere/policy.json"]
])("refuses %s", ([, text, message]) =>
  Effect.gen(function*() {
    const policy = text === undefined ? ToolContext.policyIn("/nowhere/policy.json") : load(text)
    const error = yield* Effect.flip(Effect.provide(policy, NodeServices.layer))
    assert.strictEqual(error._tag, "InvalidOption")
    assert.include(error.message, message ?? "")
    if (text !== undefined) assert.match(error.message, /^--policy: /)
  }))
