import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Errors from "../../../src/base/Errors.ts"
import * as tools from "../../../src/tools/index.ts"
import { main, node } from "../../support/workflows.ts"
import { inWorld } from "../../support/world.ts"

const hook = node("Hook", "webhook", 2, { path: "in" }, { id: "hook" })
const end = node("End", "noOp", 1, {}, { id: "end" })

const links = "connections.Hook.main[0][0].node"

/** What could be meant in more than one way. */
const ambiguous: ReadonlyArray<readonly [what: string, change: object, field: string, says: string]> = [
  [
    "two nodes of one name",
    { nodes: [hook, end, { ...end, id: "other" }], connections: { Hook: main("End") } },
    "nodes[2].name",
    "nodes[1] and nodes[2] are both named 'End'."
  ],
  [
    "two nodes of one name, where the links stay",
    { nodes: [hook, { ...hook, id: "other" }] },
    "nodes[1].name",
    "nodes[0] and nodes[1] are both named 'Hook'."
  ],
  ["a link to nothing", { nodes: [hook, end], connections: { Hook: main("Fin") } }, links, "There is no node 'Fin'."],
  ["a link from nothing", { connections: { Start: main("Hook") } }, "connections.Start", "There is no node 'Start'."],
  ["a node without a type", { nodes: [hook, { ...end, type: "" }] }, "nodes[1].type", "Node 'End' has no type."]
]

describe.each(["2", "1"] as const)("update_workflow on n8n %s", (version) => {
  it.effect.each(ambiguous)(
    "never repairs a workflow into something else: %s",
    ([, change, field, message]) =>
      inWorld(function*({ api }) {
        const { id } = yield* tools.createWorkflow.call({ name: "Orders", nodes: [hook], connections: {} })
        const before = yield* api.workflows
        const error = yield* Effect.flip(tools.updateWorkflow.run({ id, ...change }))
        assert.deepInclude(Errors.report(error), { name: "ValidationError", message, context: { field } })
        assert.deepStrictEqual(yield* api.workflows, before)
      }, version)
  )
})
