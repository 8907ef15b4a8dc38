import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as tools from "../../../src/tools/index.ts"
import { main, node } from "../../support/workflows.ts"
import { inWorld } from "../../support/world.ts"
import { draft } from "../workflows.ts"

describe("replace_workflow_from_file", () => {
  it.live.each<readonly [field: string, names: ReadonlyArray<string>, to: string, type?: string]>([
    ["nodes[2].name", ["Hook", "End", "End"], "End"],
    ["connections.Hook.main[0][0].node", ["Hook", "End"], "Fin"],
    ["nodes[1].type", ["Hook", "End"], "End", ""]
  ])(
    "never repairs a workflow into something else: %s",
    ([field, names, to, type = "noOp"]) =>
      inWorld(function*({ api, folder }) {
        const { filePath } = yield* draft()
        const { id } = yield* tools.createWorkflowFromFile.call({ filePath })
        const before = yield* api.workflows
        const nodes = names.map((name, index) => ({
          ...node(name, "noOp"),
          ...index === 1 && type === "" && { type },
          id: `n${index}`
        }))
        const odd = JSON.stringify({ name: "Odd", nodes, connections: { Hook: main(to) } })
        yield* FileSystem.FileSystem.use((fs) => fs.writeFileString(`${folder}/odd.json`, odd))
        const error = yield* Effect.flip(tools.replaceWorkflowFromFile.run({ id, filePath: "odd.json", confirm: true }))
        assert.strictEqual(error._tag === "ValidationError" && error.field, field)
        assert.deepStrictEqual(yield* api.workflows, before)
      })
  )
})
