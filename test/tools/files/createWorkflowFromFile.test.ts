import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as tools from "../../../src/tools/index.ts"
import { draft, inWorld } from "../world.ts"

describe("create_workflow_from_file", () => {
  for (const version of ["2", "1"] as const) {
    it.effect(`creates on n8n ${version}, unpublished, what an active file holds`, () =>
      inWorld(({ api, folder }) =>
        Effect.gen(function*() {
          const { filePath } = yield* draft()
          const fs = yield* FileSystem.FileSystem
          const text = yield* fs.readFileString(filePath)
          yield* fs.writeFileString(
            `${folder}/copy.json`,
            `// exported\n${text.replace("{", "{ \"active\": true, \"id\": \"x\",")}`
          )
          const created = yield* tools.createWorkflowFromFile.call({ filePath: "copy.json", raw: false })
          assert.isFalse(created.active)
          assert.notStrictEqual(created.id, "x")
          assert.isTrue(created.warnings?.some((warning) => warning.includes("comment")))
          assert.deepStrictEqual((yield* api.workflows).map(({ name }) => name), ["Orders"])
        }), version))
  }

  it.effect("takes a draft by its id", () =>
    inWorld(({ api }) =>
      Effect.gen(function*() {
        const { workflowId } = yield* draft()
        const { message } = yield* tools.createWorkflowFromFile.answer({ filePath: workflowId })
        assert.match(message, /^Created workflow '.+' from a draft$/)
        assert.deepStrictEqual((yield* api.workflows).map(({ name }) => name), ["Orders"])
      })
    ))

  it.effect("creates nothing from a file that is not there or is no workflow", () =>
    inWorld(({ api, folder }) =>
      Effect.gen(function*() {
        yield* FileSystem.FileSystem.use((fs) => fs.writeFileString(`${folder}/other.json`, "{\"name\":\"x\"}"))
        for (const filePath of ["missing.json", "other.json", "../out.json", "draft-missing", "draft-"]) {
          yield* Effect.flip(tools.createWorkflowFromFile.run({ filePath }))
        }
        assert.isEmpty(yield* api.workflows)
      })
    ))
})
