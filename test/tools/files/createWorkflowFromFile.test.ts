import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import { N8nClient } from "../../../src/n8n/N8nClient.ts"
import * as tools from "../../../src/tools/index.ts"
import { inWorld } from "../../support/world.ts"
import { draft } from "../workflows.ts"

describe("create_workflow_from_file", () => {
  for (const version of ["2", "1"] as const) {
    it.effect(`creates an active file's workflow unpublished on n8n ${version}`, () =>
      inWorld(function*({ api, folder }) {
        const { filePath } = yield* draft()
        const fs = yield* FileSystem.FileSystem
        const text = yield* fs.readFileString(filePath)
        yield* fs.writeFileString(
          `${folder}/copy.json`,
          `// exported\n${text.replace("{", "{ \"active\": true, \"id\": \"x\",")}`
        )
        const created = yield* tools.createWorkflowFromFile.call({ filePath: "copy.json" })
        assert.isFalse(created.active)
        assert.notStrictEqual(created.id, "x")
        assert.isTrue(created.warnings?.some((warning) => warning.includes("comment")))
        assert.deepStrictEqual((yield* api.workflows).map(({ name }) => name), ["Orders"])
      }, version))
  }

  it.effect("takes a draft by its id", () =>
    inWorld(function*({ api }) {
      const { workflowId } = yield* draft()
      const { message } = yield* tools.createWorkflowFromFile.answer({ filePath: workflowId })
      assert.match(message, /^Created workflow '.+' from a draft$/)
      assert.deepStrictEqual((yield* api.workflows).map(({ name }) => name), ["Orders"])
    }))

  it.effect("creates nothing from a file that does not exist or is not a workflow", () =>
    inWorld(function*({ api, folder }) {
      yield* FileSystem.FileSystem.use((fs) => fs.writeFileString(`${folder}/other.json`, "{\"name\":\"x\"}"))
      for (const filePath of ["missing.json", "other.json", "../out.json", "draft-missing", "draft-"]) {
        yield* Effect.flip(tools.createWorkflowFromFile.run({ filePath }))
      }
      assert.isEmpty(yield* api.workflows)
    }))

  it.effect("warns of the workflows that have its name, with the call that overwrites the first", () =>
    inWorld(function*({ api }) {
      const { filePath } = yield* draft()
      const create = tools.createWorkflowFromFile.call({ filePath })
      const { id, warnings } = yield* create
      assert.isUndefined(warnings)
      const again = yield* create
      const [warning = "", ...rest] = again.warnings ?? []
      assert.isEmpty(rest)
      assert.include(warning, `'${id}' already existed.`)
      assert.include(warning, `replace_workflow_from_file(id: '${id}', filePath: '${filePath}')`)
      assert.notInclude(warning, again.id)
      assert.include((yield* create).warnings?.[0], "already existed (with ")
      assert.lengthOf(yield* api.workflows, 3)
    }))

  it.effect("does not warn of archived workflows, nor of those whose name only contains its name", () =>
    inWorld(function*() {
      const { filePath } = yield* draft()
      const { id } = yield* tools.createWorkflowFromFile.call({ filePath })
      yield* N8nClient.use((n8n) => n8n.archiveWorkflow(id))
      const more = yield* draft("Orders of today")
      const lower = yield* draft("orders")
      for (const { filePath } of [more, lower]) {
        assert.isUndefined((yield* tools.createWorkflowFromFile.call({ filePath })).warnings)
      }
      assert.isUndefined((yield* tools.createWorkflowFromFile.call({ filePath })).warnings)
    }))

  it.effect("asks once for workflows of its name, and creates also where n8n does not list them", () => {
    let lists = 0
    return inWorld(function*({ api }) {
      const { filePath } = yield* draft()
      for (let count = 0; count < 2; count++) {
        assert.isUndefined((yield* tools.createWorkflowFromFile.call({ filePath })).warnings)
      }
      assert.strictEqual(lists, 2)
      assert.lengthOf(yield* api.workflows, 2)
    }, {
      before: ({ method, url }) => {
        if (method !== "GET" || !new URL(url).pathname.endsWith("/workflows")) return Effect.void
        lists++
        return Effect.succeed(Response.json({ message: "Forbidden" }, { status: 403 }))
      }
    })
  })

  it.effect("says what is missing in a file without nodes, or an empty one", () =>
    inWorld(function*({ api, folder }) {
      const refusal = (text: string) =>
        FileSystem.FileSystem.use((fs) => fs.writeFileString(`${folder}/x.json`, text)).pipe(
          Effect.andThen(Effect.flip(tools.createWorkflowFromFile.run({ filePath: "x.json" }))),
          Effect.map((error) => JSON.stringify(error))
        )
      assert.include(yield* refusal(" "), "is empty")
      for (const text of ["{}", "[]"]) assert.include(yield* refusal(text), "write {name, nodes, connections}")
      assert.include(yield* refusal("{\"name\":\"x\"}"), "no 'nodes'")
      assert.isEmpty(yield* api.workflows)

      yield* FileSystem.FileSystem.use((fs) =>
        fs.writeFileString(`${folder}/x.json`, "{\"name\":\"x\",\"nodes\":[],\"connections\":{}}")
      )
      const { warnings } = yield* tools.createWorkflowFromFile.call({ filePath: "x.json" })
      assert.deepStrictEqual(warnings, [
        "The file has no nodes: the workflow in n8n is empty",
        "Set executionOrder to 'v1', as n8n's editor does for new workflows."
      ])
    }))
})
