import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Services from "../../src/app/Services.ts"
import { ruleOf } from "../../src/fleet/inspection/Finding.ts"
import * as Inspection from "../../src/fleet/inspection/Inspection.ts"
import * as Workflow from "../../src/n8n/model/Workflow.ts"
import { N8nClient } from "../../src/n8n/N8nClient.ts"
import * as FakeN8n from "../../src/testing/FakeN8n.ts"
import * as tools from "../../src/tools/index.ts"
import * as Policy from "../../src/workflows/policy/Policy.ts"
import { WorkflowStore } from "../../src/workflows/store/WorkflowStore.ts"
import * as WorkflowValidation from "../../src/workflows/WorkflowValidation.ts"

const named: WorkflowValidation.Rule = {
  id: "acme/owner",
  check: (workflow) =>
    Workflow.nameOf(workflow).includes("@")
      ? []
      : [{ severity: "error", path: "name", message: "The name has no owner.", fix: "Add @TEAM." }]
}

const orders = { id: "1", name: "Orders", nodes: [], connections: {} }

const world = (...layers: ReadonlyArray<Layer.Layer<never, never, Layer.Success<typeof Services.layerMemory>>>) =>
  layers.reduce<Layer.Layer<N8nClient | FakeN8n.FakeN8n | Services.Services>>(
    (services, each) => Layer.provideMerge(each, services),
    Layer.merge(FakeN8n.layer({ workflows: [orders] }), Services.layerMemory)
  )

describe("a rule of the application", () => {
  it.effect("is in every validation, and its errors prevent publishing", () =>
    Effect.gen(function*() {
      const { problems, valid } = yield* WorkflowValidation.validate(orders)
      assert.isFalse(valid)
      assert.deepInclude(problems, {
        severity: "error",
        path: "name",
        message: "The name has no owner.",
        fix: "Add @TEAM."
      })
      const reported = yield* tools.validateWorkflow.call({ workflowId: "1" })
      assert.deepInclude(reported.problems, problems[0] ?? assert.fail("none"))
      const edit = { workflowId: "1", operations: [{ op: "name", name: "Other" }] }
      const refused = yield* Effect.flip(tools.workflowEdit.call({ ...edit, publish: true }))
      assert.include(refused.message, "The name has no owner")
      assert.isTrue((yield* tools.workflowEdit.call(edit)).applied)
      const { findings } = yield* Inspection.onN8n()
      assert.deepInclude(findings.map(({ rule, severity }) => ({ rule, severity })), {
        rule: "acme/owner",
        severity: "error"
      })
      assert.strictEqual(ruleOf("acme/owner").name, "acme/owner")
    }).pipe(Effect.provide(world(WorkflowValidation.layerRules([named])))))

  it.effect("stops every write with an error, if the policy has it", () =>
    Effect.gen(function*() {
      const n8n = yield* N8nClient
      const store = yield* WorkflowStore
      const update = store.write({ kind: "n8n", id: "1" }, { name: "Other" })
      const errors = yield* Effect.all([
        Effect.flip(update),
        Effect.flip(n8n.createWorkflow({ name: orders.name, nodes: [], connections: {} })),
        Effect.flip(tools.activateWorkflow.call({ id: "1" }))
      ])
      for (const error of errors) assert.include(error.message, "acme/owner: The name has no owner")
      const fake = yield* FakeN8n.FakeN8n
      assert.isTrue((yield* fake.requests).every(({ method }) => method === "GET"))
      yield* store.write({ kind: "n8n", id: "1" }, { name: "Other @us" })
    }).pipe(Effect.provide(world(Policy.layer({}, [named])))))
})
