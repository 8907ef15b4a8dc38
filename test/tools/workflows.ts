/** Workflows that the tools create. */
import * as Effect from "effect/Effect"
import { arr, obj, str } from "../../src/base/Json.ts"
import * as tools from "../../src/tools/index.ts"
import { main, node } from "../support/workflows.ts"

/** A draft of a webhook and a node after it. */
export const draft = (name = "Orders") =>
  Effect.gen(function*() {
    const { filePath, workflowId } = yield* tools.workflowCreate.call({ name })
    yield* tools.nodeAdd.call({
      workflowId,
      nodeType: "n8n-nodes-base.webhook",
      name: "Hook",
      parameters: { path: "in", httpMethod: "POST" }
    })
    yield* tools.nodeAdd.call({ workflowId, nodeType: "n8n-nodes-base.noOp", name: "End", after: "Hook" })
    return { filePath, workflowId }
  })

const code = (price: string) => `const order = $input.first().json\nreturn [{ json: { price: ${price} } }]\n`

/** Sets the code of the workflow that {@link versioned} makes. */
export const setCode = (id: string, price: string) =>
  tools.workflowEdit.call({
    workflowId: id,
    operations: [{ op: "set", node: "Price", path: "jsCode", value: code(price) }]
  })

/** A workflow whose code was changed twice: the second of its three states is published, the third is a draft on 2.x. */
export const versioned = Effect.gen(function*() {
  const { id } = yield* tools.createWorkflow.call({
    name: "Prices",
    nodes: [
      node("Hook", "webhook", 2, { path: "prices", httpMethod: "POST" }, { id: "a" }),
      node("Price", "code", 2, { jsCode: code("order.net") }, { id: "b", position: [200, 0] })
    ],
    connections: { Hook: main("Price") }
  })
  const states = yield* Effect.forEach(["order.net * 1.19", "order.net * 119"], (price, at) =>
    Effect.gen(function*() {
      const { versionId: before } = yield* tools.getWorkflow.call({ id })
      yield* setCode(id, price)
      if (at === 0) yield* tools.activateWorkflow.call({ id })
      return before ?? ""
    }))
  const { versionId } = yield* tools.getWorkflow.call({ id })
  const snapshots = (yield* tools.workflowHistory.call({ id, limit: 20 })).versions
    .filter(({ source }) => source === "snapshot").map(({ version }) => version)
  return {
    id,
    /** n8n's versions, oldest first. */
    versions: [...states, versionId ?? ""],
    /** Newest first: before the last change, before the first. */
    snapshots
  }
})

/** The names of a workflow's nodes. */
export const nodeNames = (workflow: unknown) => arr(obj(workflow)?.["nodes"]).map((node) => str(obj(node)?.["name"]))
