import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Hints from "../../../src/answer/Hints.ts"
import { obj } from "../../../src/base/Json.ts"
import * as tools from "../../../src/tools/index.ts"
import { inWorld } from "../../support/world.ts"
import { draft } from "../workflows.ts"

describe("connection_create", () => {
  it.effect("connects two nodes through the ports that a person sees", () =>
    inWorld(function*() {
      const { workflowId } = yield* draft()
      yield* tools.nodeAdd.call({ workflowId, nodeType: "n8n-nodes-base.if", name: "Check" })
      const connect = (sourceNodeId: string, targetNodeId: string, sourceOutput?: string) =>
        tools.connectionCreate.run({ workflowId, sourceNodeId, targetNodeId, ...(sourceOutput && { sourceOutput }) })
      yield* connect("Hook", "Check")
      yield* connect("Check", "End", "false")
      const loaded = yield* tools.workflowLoad.call({ workflowIdOrPath: workflowId })
      assert.deepStrictEqual(obj(loaded.workflowData)?.["connections"], {
        Hook: { main: [[{ node: "End", type: "main", index: 0 }, { node: "Check", type: "main", index: 0 }]] },
        Check: { main: [[], [{ node: "End", type: "main", index: 0 }]] }
      })
    }))

  it.effect("names the ports that there are", () =>
    inWorld(function*() {
      const { workflowId } = yield* draft()
      const port = yield* Effect.flip(
        tools.connectionCreate.run({ workflowId, sourceNodeId: "Hook", targetNodeId: "End", sourceOutput: "maybe" })
      )
      assert.include(Hints.text(port.hint), "main")
    }))
})
