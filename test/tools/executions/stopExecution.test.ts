import { assert, layer } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Services from "../../../src/app/Services.ts"
import * as Demo from "../../../src/demo/Demo.ts"
import * as FakeN8n from "../../../src/testing/FakeN8n.ts"
import * as tools from "../../../src/tools/index.ts"

const demo = Layer.merge(FakeN8n.layer(Demo.seed), Services.layerMemory)

layer(demo)("stop_execution", (it) => {
  it.effect("stops what runs, once", () =>
    Effect.gen(function*() {
      const id = Demo.seed.executions.find(({ status }) => status === "running")?.id ?? ""
      assert.deepStrictEqual(yield* tools.stopExecution.call({ id }), { id, status: "canceled" })
      assert.strictEqual((yield* tools.getExecution.call({ id, nodeOffset: 0 })).status, "canceled")
      const again = yield* Effect.flip(tools.stopExecution.run({ id }))
      assert.include(JSON.stringify(again), "currently canceled")
    }))
})
