import { assert, layer } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Services from "../../../src/app/Services.ts"
import { arr, type Obj, obj } from "../../../src/base/Json.ts"
import * as Demo from "../../../src/demo/Demo.ts"
import * as FakeN8n from "../../../src/testing/FakeN8n.ts"
import * as tools from "../../../src/tools/index.ts"

const demo = Layer.merge(FakeN8n.layer(Demo.seed), Services.layerMemory)

layer(demo)("get_workflow", (it) => {
  const id = Demo.seed.workflows[0]?.id ?? ""

  it.effect("returns the requested nodes completely", () =>
    Effect.gen(function*() {
      const names = (yield* tools.getWorkflowConnections.call({ id, format: "graph" })).graph ?? []
      const wanted = names[1]?.node ?? ""
      const { nodes } = yield* tools.getWorkflow.call({ id, nodes: [wanted] })
      assert.deepStrictEqual(nodes?.map((node) => node.name), [wanted])
      assert.property(nodes?.[0], "parameters")
      const all = yield* tools.getWorkflow.call({ id, nodes: ["*"] })
      assert.strictEqual(all.nodes?.length, all.nodeCount)
    }))

  it.effect("returns all connections of the requested nodes, in both directions, with their ports", () =>
    Effect.gen(function*() {
      const { connections: all } = yield* tools.getWorkflow.call({ id, raw: true })
      const { graph = [] } = yield* tools.getWorkflowConnections.call({ id })
      const node = graph.find(({ inputs, outputs }) => inputs.length > 0 && outputs.length > 0)?.node ?? ""
      const { connections } = yield* tools.getWorkflow.call({ id, nodes: [node] })
      const links = (some: unknown) =>
        Object.entries(obj(some) ?? {}).flatMap(([from, out]) => arr(out).map((link): Obj => ({ from, ...obj(link) })))
      assert.isAbove(links(connections).length, 1)
      assert.sameDeepMembers(links(connections), links(all).filter(({ from, to }) => from === node || to === node))
    }))

  it.effect("has the version of each node's type with raw, and nothing of n8n's copies or owners", () =>
    Effect.gen(function*() {
      const data = yield* tools.getWorkflow.call({ id, raw: true })
      assert.isTrue(arr(data.nodes).every((node) => typeof obj(node)?.["typeVersion"] === "number"))
      for (const key of ["shared", "activeVersion", "pinData", "staticData"]) assert.notProperty(data, key)
    }))

  it.effect("names the nearest node when one does not exist", () =>
    Effect.gen(function*() {
      const error = yield* Effect.flip(tools.getWorkflow.run({ id, nodes: ["Get order"] }))
      assert.strictEqual(error._tag, "ValidationError")
      assert.include(error.hint, "'Get orders'")
    }))
})
