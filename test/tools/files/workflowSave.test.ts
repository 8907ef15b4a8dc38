import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import { type Obj, obj } from "../../../src/base/Json.ts"
import * as tools from "../../../src/tools/index.ts"
import { text } from "../../support/folders.ts"
import { node } from "../../support/workflows.ts"
import { inWorld } from "../../support/world.ts"
import { versioned } from "../workflows.ts"

describe("workflow_save", () => {
  it.effect("writes, snapshots the previous content, and never overwrites a file that is not a workflow", () =>
    inWorld(function*({ folder }) {
      const fs = yield* FileSystem.FileSystem
      const workflowData = { name: "W", nodes: [], connections: {} }
      const save = (filePath: string, more: Obj = {}) =>
        tools.workflowSave.call({ workflowId: "abc123", workflowData: { ...workflowData, ...more }, filePath })
      yield* save("w.json")
      assert.strictEqual(obj(JSON.parse(yield* text(`${folder}/w.json`)))?.["id"], "abc123")
      yield* save("w.json", { name: "Other" })
      const { versions } = yield* tools.workflowHistory.call({ id: "w.json", limit: 20 })
      assert.strictEqual(versions.length, 1)
      yield* fs.writeFileString(`${folder}/package.json`, "{\"name\":\"x\"}")
      assert.strictEqual((yield* Effect.flip(save("package.json")))._tag, "ValidationError")
      assert.strictEqual(yield* text(`${folder}/package.json`), "{\"name\":\"x\"}")
      const none = yield* Effect.flip(
        tools.workflowSave.call({ workflowId: "x", workflowData: { name: "x" }, filePath: "x.json" })
      )
      assert.include(none.message, "is not a workflow")
      assert.include((yield* Effect.flip(save("../out.json"))).message, "files root")
    }))

  it.effect("writes a draft: a new one, or over one", () =>
    inWorld(function*({ folder }) {
      for (const name of ["Orders", "Orders 2"]) {
        const workflowData = { name, nodes: [], connections: {} }
        yield* tools.workflowSave.call({ workflowId: "x", workflowData, filePath: "draft-orders" })
      }
      assert.include(yield* text(`${folder}/orders.json`), "Orders 2")
      const { versions } = yield* tools.workflowHistory.call({ id: "draft-orders", limit: 20 })
      assert.lengthOf(versions, 1)
    }))

  it.effect("writes the workflow of a reference, of any size, as it is on n8n, and names literal secrets", () =>
    inWorld(function*({ folder }) {
      const { id, versions: [first = ""] } = yield* versioned
      const secret = "Bearer sesame-0123456789abcdef"
      const { id: large } = yield* tools.createWorkflow.call({
        name: "Large",
        nodes: Array.from({ length: 400 }, (_, index) => {
          const headerParameters = { parameters: [{ name: "Authorization", value: secret }] }
          const parameters = {
            url: "https://example.com",
            note: "x".repeat(500),
            ...index === 3 && { headerParameters }
          }
          return node(`Step ${index}`, "httpRequest", 4.2, parameters, { id: `${index}`, position: [index, 0] })
        }),
        connections: {}
      })
      const answer = yield* tools.workflowSave.call({ workflowId: large, filePath: "large.json" })
      assert.deepStrictEqual(answer.warnings, [
        "'Step 3': parameters.headerParameters.parameters[0].value contains a literal secret: store it in a credential instead"
      ])
      const written = yield* text(`${folder}/large.json`)
      assert.include(written, secret)
      assert.isAbove(written.length, 200_000)
      assert.isTrue((yield* tools.workflowDiff.call({ a: large, b: "large.json" })).same)
      for (const key of ["shared", "activeVersion"]) assert.notProperty(JSON.parse(written), key)

      for (const reference of [`${id}@${first}`, `${id}@published`, id, "large.json"]) {
        yield* tools.workflowSave.call({ workflowId: reference, filePath: "copy.json" })
        assert.isTrue((yield* tools.workflowDiff.call({ a: reference, b: "copy.json" })).same, reference)
      }
      assert.lengthOf((yield* tools.workflowHistory.call({ id: "copy.json", limit: 20 })).versions, 3)
      for (const reference of ["", "@published", "nobody", "missing.json", `${id}@nope`]) {
        yield* Effect.flip(tools.workflowSave.run({ workflowId: reference, filePath: "none.json" }))
      }
      assert.isFalse(yield* FileSystem.FileSystem.use((fs) => fs.exists(`${folder}/none.json`)))
    }))

  it.effect("makes no file that another program would obey", () =>
    inWorld(function*({ folder }) {
      const fs = yield* FileSystem.FileSystem
      const workflowData = { name: "W", nodes: [], connections: {} }
      const save = (filePath: string, more: Obj = {}) =>
        Effect.flip(
          tools.workflowSave.call({ workflowId: "abc123", workflowData: { ...workflowData, ...more }, filePath })
        )
      const names =
        "package.json PACKAGE.JSON sub/package.json tsconfig.build.json deno.json composer.json turbo.json " +
        "vercel.json project.json .mcp.json mcp.json"
      for (const path of names.split(" ")) assert.strictEqual((yield* save(path))._tag, "ValidationError", path)
      const foreign = yield* save("flow.json", { scripts: { postinstall: "touch /tmp/owned" } })
      assert.strictEqual(foreign.message, "workflowData has keys that are not part of a workflow: scripts")
      assert.deepStrictEqual(yield* fs.readDirectory(folder), [])
      const made = yield* tools.workflowCreate.call({ name: "package" })
      assert.notMatch(made.filePath, /package\.json$/)
    }))
})
