import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Services from "../../src/app/Services.ts"
import * as FakeN8n from "../../src/testing/FakeN8n.ts"
import { WorkflowStore } from "../../src/workflows/store/WorkflowStore.ts"
import * as WorkflowEdit from "../../src/workflows/WorkflowEdit.ts"

const node = (name: string, type: string, parameters: object = {}) => ({
  id: name,
  name,
  type: `n8n-nodes-base.${type}`,
  typeVersion: 1,
  position: [0, 0],
  parameters
})

const workflow = (id: string) => ({
  id,
  name: `注文 ${id}`,
  nodes: [
    node("Start", "manualTrigger"),
    node("Old", "noOp"),
    node("呼出", "httpRequest", { url: "https://a.example" })
  ],
  connections: {
    Start: { main: [[{ node: "Old", type: "main", index: 0 }]] },
    Old: { main: [[{ node: "呼出", type: "main", index: 0 }]] }
  }
})

const place = { kind: "n8n", id: "1" } as const

const world = Layer.merge(FakeN8n.layer({ workflows: ["1", "2"].map(workflow) }), Services.layerMemory)

const requests = Effect.flatMap(
  FakeN8n.FakeN8n,
  (fake) => Effect.map(fake.requests, (all) => all.map(({ method }) => method))
)

describe("an edit", () => {
  it.effect("is planned without a write, and applied as planned", () =>
    Effect.gen(function*() {
      const store = yield* WorkflowStore
      const plan = yield* store.write(
        place,
        WorkflowEdit.all(
          WorkflowEdit.replaceNode({ node: "Old", type: "n8n-nodes-base.code" }),
          WorkflowEdit.renameNode({ node: "呼出", to: "Call" }),
          WorkflowEdit.setParameter({ node: "Call", path: "url", value: "https://b.example" }),
          WorkflowEdit.operations({ op: "name", name: "Orders" }, { op: "disable", node: "Call" })
        ),
        { dryRun: true }
      )
      assert.deepStrictEqual(Object.keys(plan.patch).toSorted(), ["connections", "name", "nodes"])
      assert.notInclude(yield* requests, "PUT")
      const written = yield* store.write(place, plan.patch, { expected: plan.before })
      assert.deepStrictEqual(
        written.workflow.nodes.map((each) => {
          const { disabled, name, parameters, type } = each as Record<string, unknown>
          return [name, type, disabled === true, (parameters as Record<string, unknown>)["url"]]
        }),
        [
          ["Start", "n8n-nodes-base.manualTrigger", false, undefined],
          ["Old", "n8n-nodes-base.code", false, undefined],
          ["Call", "n8n-nodes-base.httpRequest", true, "https://b.example"]
        ]
      )
      assert.deepStrictEqual<unknown>(written.workflow.connections, {
        Start: { main: [[{ node: "Old", type: "main", index: 0 }]] },
        Old: { main: [[{ node: "Call", type: "main", index: 0 }]] }
      })
      assert.deepStrictEqual(written.warnings, [])
    }).pipe(Effect.provide(world)))

  it.effect("may be a function of the workflow as it is", () =>
    Effect.gen(function*() {
      const store = yield* WorkflowStore
      const pure = yield* store.write(place, ({ name }) => ({ name: `${name}!` }))
      assert.strictEqual(pure.workflow.name, "注文 1!")
      const effectful = yield* store.write(place, ({ name }) => Effect.succeed({ name: `${name}?` }))
      assert.strictEqual(effectful.workflow.name, "注文 1!?")
      const nothing = yield* store.write(place, WorkflowEdit.name({ name: "注文 1!?" }))
      assert.deepStrictEqual([nothing.patch, nothing.changed], [{}, "nothing"])
    }).pipe(Effect.provide(world)))

  it.effect.each([
    { edit: WorkflowEdit.removeNode({ node: "Pay" }), message: /There is no node 'Pay'/ },
    { edit: WorkflowEdit.replaceNode({ node: "Old", type: "n8n-nodes-base.cod" }), message: /n8n-nodes-base\.cod/ },
    { edit: WorkflowEdit.extract({ nodes: ["呼出"], name: "Part" }), message: /cannot create the workflow/ }
  ])("that is refused ($message) changes nothing", ({ edit, message }) =>
    Effect.gen(function*() {
      const store = yield* WorkflowStore
      const both = WorkflowEdit.all(WorkflowEdit.name({ name: "Other" }), edit)
      const error = yield* Effect.flip(store.write(place, both))
      assert.strictEqual(error._tag, "ValidationError")
      assert.match(error.message, message)
      assert.notInclude(yield* requests, "PUT")
    }).pipe(Effect.provide(world)))
})
