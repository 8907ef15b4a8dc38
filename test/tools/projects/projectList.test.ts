import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Services from "../../../src/app/Services.ts"
import * as FakeN8n from "../../../src/testing/FakeN8n.ts"
import * as tools from "../../../src/tools/index.ts"
import * as Selection from "../../../src/tools/Toolsets.ts"
import { reasonOf } from "../../support/reason.ts"

const none = { workflows: [], executions: [] }

const licensed = FakeN8n.layer({
  ...none,
  projects: [
    { id: "p1", name: "Mine", type: "personal" },
    {
      id: "p2",
      name: "Sales",
      type: "team",
      folders: Array.from({ length: 3 }, (_, index) => ({ id: `f${index}`, name: `F${index}`, workflowCount: 2 }))
    }
  ]
})

const served = (toolsets: ReadonlyArray<string>) =>
  Result.getOrThrow(Selection.select({ toolsets, tools: [], excludeTools: [], hasFiles: true, credentialEnv: false }))

const parametersOf = (toolsets: ReadonlyArray<string>, name: string) =>
  Object.keys(served(toolsets).find((tool) => tool.name === name)?.inputSchema.properties ?? {})

describe("project_list", () => {
  it.effect("lists projects, and the folders of one", () =>
    Effect.gen(function*() {
      const { rows } = yield* tools.projectList.call({})
      assert.deepStrictEqual(rows, [{ id: "p1", name: "Mine", type: "personal" }, {
        id: "p2",
        name: "Sales",
        type: "team"
      }])
      const folders = yield* tools.projectList.call({ project: "p2", limit: 2 })
      assert.deepStrictEqual(folders.rows.map(({ id, workflows }) => [id, workflows]), [["f0", 2], ["f1", 2]])
      assert.strictEqual(folders.total, 3)
    }).pipe(Effect.provide(licensed)))

  it.effect("says that the licence is what is missing", () =>
    Effect.gen(function*() {
      const error = yield* Effect.flip(tools.projectList.run({}))
      assert.strictEqual(reasonOf(error), "Status 403")
      assert.include("hint" in error ? JSON.stringify(error.hint) : "", "licence")
    }).pipe(Effect.provide(FakeN8n.layer(none))))

  it("brings the parameters that name projects, which others never see", () => {
    assert.notInclude(parametersOf([], "create_workflow"), "project")
    assert.notInclude(parametersOf([], "list_workflows"), "project")
    const toolsets = ["workflows", "projects"]
    assert.includeMembers(parametersOf(toolsets, "create_workflow"), ["project", "folder"])
    assert.include(parametersOf(toolsets, "list_workflows"), "project")
    assert.notInclude(parametersOf(toolsets, "list_workflows"), "offset")
  })

  it.effect("names where a workflow is put, and which are listed", () =>
    Effect.gen(function*() {
      const fake = yield* FakeN8n.FakeN8n
      yield* Effect.ignore(
        tools.createWorkflow.run({ name: "Placed", nodes: [], connections: {}, project: "p2", folder: "f1" })
      )
      yield* tools.listWorkflows.run({ project: "p2" })
      const created = (yield* fake.requests).find(({ method }) => method === "POST")
      assert.deepInclude(created?.body, { projectId: "p2", parentFolderId: "f1" })
      const listed = (yield* fake.requests).findLast(({ method }) => method === "GET")
      assert.strictEqual(new URL(listed?.url ?? "").searchParams.get("projectId"), "p2")
    }).pipe(Effect.provide([FakeN8n.layer(none), Services.layerMemory])))
})
