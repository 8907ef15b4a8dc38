import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as tools from "../../../src/tools/index.ts"
import { draft, inWorld } from "../world.ts"

describe("workflow_history", () => {
  for (const version of ["2", "1"] as const) {
    it.effect(`lists snapshots, newest first, with n8n's own versions where n8n ${version} has them`, () =>
      inWorld(() =>
        Effect.gen(function*() {
          const { filePath } = yield* draft()
          const { id } = yield* tools.createWorkflowFromFile.call({ filePath, raw: false })
          yield* tools.nodeAdd.call({ workflowId: id, nodeType: "n8n-nodes-base.noOp", raw: false })
          const { url, versions } = yield* tools.workflowHistory.call({ id, limit: 20 })
          const sources = new Set(versions.map(({ source }) => source))
          assert.deepStrictEqual([...sources].toSorted(), version === "2" ? ["n8n", "snapshot"] : ["snapshot"])
          assert.strictEqual(url, version === "2" ? `http://n8n.test/workflow/${id}/history` : undefined)
          const dates = versions.map(({ createdAt }) => createdAt)
          assert.deepStrictEqual(dates, dates.toSorted().toReversed())
          assert.isTrue(versions.some(({ operation }) => operation === "before node_add"))
          assert.lengthOf((yield* tools.workflowHistory.call({ id, limit: 1 })).versions, 1)
        }), version))
  }

  it.effect("knows no workflow that never was", () =>
    inWorld(() =>
      Effect.gen(function*() {
        assert.strictEqual((yield* Effect.flip(tools.workflowHistory.run({ id: "nobody" })))._tag, "NotFoundError")
      })
    ))
})
