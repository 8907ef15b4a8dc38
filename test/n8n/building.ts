/** Building workflows as an agent does, over stdio, up to the answer of a real n8n. */
import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, type Vitest } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Schedule from "effect/Schedule"
import { arr, type Obj, obj } from "../../src/domain/Json.ts"
import { RealN8n } from "./RealN8n.ts"
import { live } from "./scenarios.ts"
import * as session from "./session.ts"

type It = Vitest.MethodsNonLive<RealN8n>

/** What the webhook answers, as soon as it is there. */
const ask = Effect.fnUntraced(function*(path: string, body: Obj) {
  const { url } = yield* RealN8n
  const init = { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body) }
  return yield* Effect.tryPromise(async () => {
    const response = await fetch(new URL(`webhook/${path}`, url), init)
    if (response.status === 404) throw new Error("not yet")
    return await response.text()
  }).pipe(Effect.retry({ schedule: Schedule.spaced("200 millis"), times: 50 }), live)
})

/** Adds the tests of building to a suite. */
export const building = (it: It, v2: boolean) => {
  it.effect("from an empty folder to the answer of a webhook, over stdio", () =>
    Effect.gen(function*() {
      const fs = yield* FileSystem.FileSystem
      const folder = yield* fs.realPath(yield* fs.makeTempDirectoryScoped())
      const { call } = yield* session.open(folder)
      const path = `built-${crypto.randomUUID()}`

      const found = yield* call("node_search", { keyword: "receive a webhook" })
      const hook = String(obj(arr(found["nodes"])[0])?.["id"])
      assert.strictEqual(hook, "n8n-nodes-base.webhook")

      const { filePath, workflowId } = yield* call("workflow_create", { name: "Sort orders 注文" })
      assert.strictEqual(workflowId, "draft-sort-orders-注文")
      yield* call("node_add", {
        workflowId,
        nodeType: hook,
        name: "Hook",
        parameters: { path, httpMethod: "POST", responseMode: "responseNode" }
      })
      const { nodeId } = yield* call("node_add", {
        workflowId,
        nodeType: "n8n-nodes-base.if",
        name: "Is it big?",
        after: "Hook",
        parameters: {
          conditions: {
            conditions: [{
              leftValue: "={{ $json.body.total }}",
              rightValue: 100,
              operator: { type: "number", operation: "gt" }
            }]
          }
        }
      })
      const answer = (name: string, says: string) => ({
        op: "add",
        type: "n8n-nodes-base.respondToWebhook",
        name,
        parameters: { respondWith: "text", responseBody: `=${says} {{ $('Hook').item.json.body.total }}` }
      })
      const { problems } = yield* call("workflow_edit", {
        workflowId,
        operations: [
          answer("Big", "big"),
          answer("Small", "small"),
          { op: "connect", from: "Is it big?", to: "Big", sourceOutput: "true" },
          { op: "rename", node: "Hook", to: "受付" }
        ]
      })
      // It is not connected yet.
      assert.deepStrictEqual(arr(problems).map((each) => obj(each)?.["node"]), ["Small"])
      yield* call("connection_create", {
        workflowId,
        sourceNodeId: nodeId,
        targetNodeId: "Small",
        sourceOutput: "false"
      })
      const { counts, valid } = yield* call("validate_workflow", { workflowId })
      assert.deepStrictEqual([valid, counts], [true, { errors: 0, warnings: 0 }])

      const made = yield* call("create_workflow_from_file", { filePath })
      assert.isUndefined(made["warnings"])
      const id = String(made["id"])
      yield* call("activate_workflow", { id })
      assert.strictEqual(yield* ask(path, { total: 250 }), "big 250")
      assert.strictEqual(yield* ask(path, { total: 3 }), "small 3")

      // The same tools, on n8n.
      const edited = yield* call("workflow_edit", {
        workflowId: id,
        operations: [{ op: "update", node: "Big", parameters: { responseBody: "=huge" } }]
      })
      assert.deepInclude(edited, { source: "n8n", applied: true, published: !v2 })
      assert.strictEqual(yield* ask(path, { total: 250 }), v2 ? "big 250" : "huge")
      yield* call("activate_workflow", { id })
      assert.strictEqual(yield* ask(path, { total: 250 }), "huge")

      const { versions } = yield* call("workflow_history", { id: workflowId })
      assert.isAtLeast(arr(versions).length, 4)
    }).pipe(Effect.scoped, Effect.provide(NodeServices.layer)))
}
