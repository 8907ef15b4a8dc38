import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, describe, layer } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as NodeCatalogue from "../../src/catalogue/NodeCatalogue.ts"
import * as NodeLookups from "../../src/workflows/NodeLookups.ts"

const http = "n8n-nodes-base.httpRequest"

/** The catalogue, and how often each type was looked up in it. */
const counted = Effect.gen(function*() {
  const catalogue = yield* NodeCatalogue.NodeCatalogue
  const asked: Array<string> = []
  const find = (type: string) => Effect.suspend(() => (asked.push(type), catalogue.find(type)))
  return { asked, provide: Effect.provideService(NodeCatalogue.NodeCatalogue, { ...catalogue, find }) }
})

layer(NodeCatalogue.layer({}).pipe(Layer.provide(NodeServices.layer)))("looking up node types", (it) => {
  describe("for a workflow", () => {
    it.effect("asks the catalogue once for each type, however many nodes are of it", () =>
      Effect.gen(function*() {
        const { asked, provide } = yield* counted
        const lookups = yield* provide(
          NodeLookups.make([http, http, "n8n-nodes-base.set", "n8n-nodes-acme.none", http])
        )
        assert.deepStrictEqual(asked, [http, "n8n-nodes-base.set", "n8n-nodes-acme.none"])
        assert.strictEqual(lookups.find(http)?.type, http)
        assert.isUndefined(lookups.find("n8n-nodes-acme.none"))
        assert.isUndefined(lookups.find("n8n-nodes-base.if"))
        assert.include(lookups.types, "n8n-nodes-base.if")
        assert.deepStrictEqual(asked.length, 3)
      }))

    it.effect("gives new nodes the newest version that the connected n8n has", () =>
      Effect.gen(function*() {
        const newestFor = (connected?: string) =>
          Effect.map(NodeLookups.make([http], connected), ({ newest }) => newest(http))
        assert.deepStrictEqual(
          [yield* newestFor(), yield* newestFor("2.41.1"), yield* newestFor("1.123.81")],
          [4.5, 4.5, 4.3]
        )
        const { newest } = yield* NodeLookups.make([])
        assert.isUndefined(newest(http))
      }))

    it.effect("names the successors that the connected n8n has", () =>
      Effect.gen(function*() {
        const { successors } = yield* NodeLookups.make([])
        assert.deepStrictEqual(successors("n8n-nodes-base.function"), ["n8n-nodes-base.code"])
        assert.deepStrictEqual(successors("n8n-nodes-base.line"), [])
        assert.isUndefined(successors(http))
        assert.isUndefined(successors("constructor"))
      }))

    it.effect("reports nothing missing while no n8n is known", () =>
      Effect.gen(function*() {
        const offline = yield* NodeLookups.make([http])
        const old = yield* NodeLookups.make([http], "1.123.81")
        assert.deepStrictEqual([offline.connected, offline.isV1, offline.isLacked(http, 4.5)], [
          undefined,
          false,
          false
        ])
        assert.deepStrictEqual([old.connected, old.isV1, old.isLacked(http, 4.5)], ["1.123.81", true, true])
        assert.isFalse(old.isLacked(http, 4.3))
        const confluence = "n8n-nodes-base.confluence"
        const earlier = yield* NodeLookups.make([], "2.30.8")
        assert.deepStrictEqual([confluence, `${confluence}Tool`].map((type) => earlier.isLacked(type, 1)), [true, true])
        assert.isFalse(earlier.isLacked("n8n-nodes-base.slackTool", 2.3))
        // A type of its own, not a variant of the agent.
        assert.isFalse(earlier.isLacked("@n8n/n8n-nodes-langchain.agentTool", 2))
        assert.isUndefined(old.removed("constructor"))
      }))
  })
})
