import { assert, layer } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Hints from "../../../src/answer/Hints.ts"
import * as Services from "../../../src/app/Services.ts"
import * as tools from "../../../src/tools/index.ts"

layer(Services.layerMemory)("node_get", (it) => {
  const type = "n8n-nodes-base.slack"

  it.effect("tells the parameters that apply, with an example", () =>
    Effect.gen(function*() {
      const { data } = yield* tools.nodeGet.run({ type, resource: "message", operation: "post" })
      assert.deepInclude(data, { type, name: "Slack" })
      assert.property(data, "example")
    }))

  it.effect("names the nearest where there is no such type, version or resource", () =>
    Effect.gen(function*() {
      const hint = (args: object) =>
        Effect.map(Effect.flip(tools.nodeGet.run({ type, ...args })), (error) => Hints.text(error.hint))
      assert.include(yield* hint({ type: "n8n-nodes-base.slak" }), type)
      assert.include(yield* hint({ resource: "mesage" }), "'message'")
      assert.include(yield* hint({ version: 99 }), "2")
      assert.strictEqual((yield* Effect.flip(tools.nodeGet.run({ type: "" }))).message, "Node type is required")
    }))
})
