import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Errors from "../../../src/base/Errors.ts"
import * as tools from "../../../src/tools/index.ts"
import { node } from "../../support/workflows.ts"
import { inWorld } from "../../support/world.ts"

const hook = node("Hook", "webhook", 2, { path: "in" }, { id: "hook" })

const create = tools.createWorkflow.call({ name: "Orders", nodes: [hook], connections: {}, tags: ["shop"] })

const end = { ...hook, id: "end", name: "End", type: "n8n-nodes-base.noOp", typeVersion: 1, parameters: {} }
const linksTo = (node: string) => ({ Hook: { main: [[{ node, type: "main", index: 0 }]] } })

/** What could be meant in more than one way. */
const ambiguous = [
  {
    what: "two nodes of one name",
    change: { nodes: [hook, end, { ...end, id: "other" }], connections: linksTo("End") },
    field: "nodes[2].name",
    says: "nodes[1] and nodes[2] are both named 'End'."
  },
  {
    what: "two nodes of one name, where the links stay",
    change: { nodes: [hook, { ...hook, id: "other" }] },
    field: "nodes[1].name",
    says: "nodes[0] and nodes[1] are both named 'Hook'."
  },
  {
    what: "a link to a node that does not exist",
    change: { nodes: [hook, end], connections: linksTo("Fin") },
    field: "connections.Hook.main[0][0].node",
    says: "There is no node 'Fin'."
  },
  {
    what: "a link from a node that does not exist",
    change: { connections: { Start: linksTo("Hook").Hook } },
    field: "connections.Start",
    says: "There is no node 'Start'."
  },
  {
    what: "a node without a type",
    change: { nodes: [hook, { ...end, type: "" }] },
    field: "nodes[1].type",
    says: "Node 'End' has no type."
  }
]

for (const version of ["2", "1"] as const) {
  describe(`update_workflow on n8n ${version}`, () => {
    it.effect.each(ambiguous)(
      "never repairs a workflow into something else: $what",
      ({ change, field, says }) =>
        inWorld(function*({ api }) {
          const { id } = yield* create
          const before = yield* api.workflows
          const error = yield* Effect.flip(tools.updateWorkflow.run({ id, ...change }))
          assert.deepInclude(Errors.report(error), { name: "ValidationError", message: says, context: { field } })
          assert.deepStrictEqual(yield* api.workflows, before)
        }, version)
    )

    it.effect("fails when someone else has changed the workflow meanwhile", () =>
      inWorld(function*({ api }) {
        const { id, versionId } = yield* create
        yield* api.edit(id, (workflow) => ({ ...workflow, nodes: [{ ...hook, name: "Moved" }] }))
        const error = yield* Effect.flip(tools.updateWorkflow.run({ id, name: "X", expectedVersionId: versionId }))
        assert.notStrictEqual(error._tag, "NotFoundError")
        assert.strictEqual((yield* tools.getWorkflow.call({ id })).name, "Orders")
      }, version))
  })
}
