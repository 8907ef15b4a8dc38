/** What every tool says of something that is not there, and of what an old n8n lacks. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import type * as Tool from "../../src/answer/Tool.ts"
import type { Obj } from "../../src/base/Json.ts"
import * as tools from "../../src/tools/index.ts"
import { inWorld, type Needs } from "../support/world.ts"

const toolOf = (name: string): Tool.Any<Needs> =>
  tools.all.find((tool) => tool.name === name) ?? assert.fail(`there is no ${name}`)

const absent: ReadonlyArray<readonly [tool: string, args: Obj]> = [
  ...["get_workflow", "get_workflow_connections", "workflow_history", "workflow_map"].map((name) =>
    [name, { id: "nobody" }] as const
  ),
  ...["update_workflow", "delete_workflow", "activate_workflow", "deactivate_workflow"].map((name) =>
    [name, { id: "nobody", ...name === "update_workflow" ? { name: "X" } : {} }] as const
  ),
  ["validate_workflow", { workflowId: "nobody" }],
  ["workflow_load", { workflowIdOrPath: "nobody" }],
  ["workflow_edit", { workflowId: "nobody", operations: [{ op: "tidy" }] }],
  ["test_workflow", { workflowId: "nobody" }],
  ["get_execution", { id: "99999" }],
  ["get_execution_by_node", { id: "99999", nodeName: "A" }],
  ["retry_execution", { id: "99999" }],
  ["stop_execution", { id: "99999" }],
  ["credential_test", { id: "nobody" }],
  ["table_read", { table: "nobody" }]
]

const lacking: ReadonlyArray<readonly [tool: string, args: Obj, message: string]> = [
  ["table_read", {}, "This n8n has no data tables"],
  ["table_read", { table: "stock" }, "This n8n has no data tables"],
  ["table_write", { table: "stock", op: "clear" }, "This n8n has no data tables"],
  ["credential_test", { id: "c1" }, "This n8n's API cannot test credentials"]
]

describe("a tool", () => {
  it.effect.each(absent)(
    "%s finds nothing, which is an error of its own, and writes nothing",
    ([name, args]) =>
      inWorld(function*({ api }) {
        assert.strictEqual((yield* Effect.flip(toolOf(name).run(args)))._tag, "NotFoundError")
        assert.deepStrictEqual(
          (yield* api.requests).filter(({ method }) => method === "PUT" || method === "DELETE"),
          []
        )
      })
  )

  it.effect.each(lacking)(
    "%s says in a sentence what n8n 1 lacks (%j)",
    ([name, args, message]) =>
      inWorld(function*() {
        assert.include((yield* Effect.flip(toolOf(name).run(args))).message, message)
      }, "1")
  )
})
