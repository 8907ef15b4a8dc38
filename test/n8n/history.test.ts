import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import type * as N8nApi from "../../src/testing/n8nApi/N8nApi.ts"
import { connected } from "./clients.ts"

const workflow: N8nApi.Workflow = {
  id: "w",
  name: "Orders",
  active: false,
  nodes: [{
    id: "hook",
    name: "Hook",
    type: "n8n-nodes-base.webhook",
    typeVersion: 2,
    position: [0, 0],
    parameters: { path: "in", httpMethod: "POST" }
  }],
  connections: {},
  settings: {}
}

describe("workflowHistory", () => {
  it.effect("lists the versions of 2.x, newest first, each to be read", () =>
    Effect.gen(function*() {
      const { n8n } = yield* connected({ workflows: [workflow] })
      yield* n8n.putWorkflow("w", { name: "Orders", nodes: [], connections: {}, settings: {} })
      const [newest, oldest] = (yield* n8n.workflowHistory("w")) ?? []
      assert.isDefined(oldest)
      assert.deepStrictEqual((yield* n8n.workflowVersion("w", newest?.versionId ?? "")).nodes, [])
      assert.strictEqual((yield* n8n.workflowVersion("w", oldest?.versionId ?? "")).nodes[0]?.name, "Hook")
      const error = yield* Effect.flip(n8n.workflowVersion("w", "none"))
      assert.deepInclude(error, { _tag: "NotFoundError", resourceType: "Version", resourceId: "none" })
    }))

  it.effect("is undefined on 1.x, which keeps none", () =>
    Effect.gen(function*() {
      const { n8n } = yield* connected({ workflows: [workflow] }, "1")
      assert.isUndefined(yield* n8n.workflowHistory("w"))
    }))
})
