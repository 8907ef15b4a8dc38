import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as tools from "../../../src/tools/index.ts"
import { main, node } from "../../support/workflows.ts"
import { inWorld } from "../../support/world.ts"
import { draft } from "../workflows.ts"

describe("replace_workflow_from_file", () => {
  it.live.each([
    { field: "nodes[2].name", spoil: { nodes: ["Hook", "End", "End"] } },
    { field: "connections.Hook.main[0][0].node", spoil: { to: "Fin" } },
    { field: "nodes[1].type", spoil: { type: undefined } }
  ])(
    "never repairs a workflow into something else: $field",
    ({ field, spoil }) =>
      inWorld(function*({ api, folder }) {
        const fs = yield* FileSystem.FileSystem
        const { filePath } = yield* draft()
        const { id } = yield* tools.createWorkflowFromFile.call({ filePath })
        const before = yield* api.workflows
        const { nodes: names = ["Hook", "End"], to = "End", ...rest } = spoil
        const nodes = names.map((name, index) =>
          node(name, "noOp", 1, {}, { id: `n${index}`, ...(index === 1 ? rest : {}) })
        )
        const connections = { Hook: main(to) }
        yield* fs.writeFileString(`${folder}/odd.json`, JSON.stringify({ name: "Odd", nodes, connections }))
        const error = yield* Effect.flip(
          tools.replaceWorkflowFromFile.run({ id, filePath: "odd.json", confirm: true })
        )
        assert.strictEqual(error._tag === "ValidationError" && error.field, field)
        assert.deepStrictEqual(yield* api.workflows, before)
      })
  )
})
