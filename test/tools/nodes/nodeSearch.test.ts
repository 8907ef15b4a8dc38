import { assert, layer } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Services from "../../../src/app/Services.ts"
import * as FakeN8n from "../../../src/testing/FakeN8n.ts"
import * as tools from "../../../src/tools/index.ts"
import * as fixtures from "../../support/scenarios/recorded.ts"

layer(Layer.merge(Services.layerMemory, FakeN8n.layer(fixtures.seed)))("node_search", (it) => {
  it.effect("finds a node by words, and says what node_get needs", () =>
    Effect.gen(function*() {
      const { nodes } = yield* tools.nodeSearch.call({ keyword: "send a slack message", limit: 3 })
      assert.strictEqual(nodes[0]?.id, "n8n-nodes-base.slack")
      assert.isAtMost(nodes.length, 3)
      const details = yield* tools.nodeGet.call({ type: nodes[0]?.id ?? "" })
      assert.strictEqual(details.version, nodes[0]?.version)
    }))

  it.effect("has as many rows as it says, also where n8n lacks types of the catalogue", () =>
    Effect.gen(function*() {
      const { data, message } = yield* tools.nodeSearch.answer({ keyword: "ai agent" })
      assert.lengthOf(data.nodes, 10)
      assert.strictEqual(message, `The first 10 of ${data.count} nodes`)
      const all = yield* tools.nodeSearch.answer({ keyword: "ai agent", limit: 50 })
      assert.strictEqual(all.message, `Found ${all.data.nodes.length} nodes`)
    }).pipe(Effect.provide(Layer.merge(Services.layerMemory, FakeN8n.layer(fixtures.seed, { version: "1" })))))

  it.effect("proposes nodes that call any API if none is specific", () =>
    Effect.gen(function*() {
      const { data, message } = yield* tools.nodeSearch.run({ keyword: "qqqqzzzzxxxx" })
      assert.deepInclude(data, { count: 0 })
      assert.include(message, "n8n-nodes-base.httpRequest")
    }))
})
