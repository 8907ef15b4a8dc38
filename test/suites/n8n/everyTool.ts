/** Uses every tool as a client: builds a workflow from a file, runs it and inspects its executions. */
import { assert } from "@effect/vitest"
import { arr, type Obj, obj } from "../../../src/base/Json.ts"

/** Calls a tool and returns its `data`. */
export type Call = (name: string, args: Obj) => Promise<Obj>

const first = (list: unknown) => obj(arr(list)[0]) ?? {}

const until = async <A>(what: string, look: () => Promise<A | undefined>): Promise<A> => {
  for (let tries = 0; tries < 100; tries++) {
    const found = await look()
    if (found !== undefined) return found
    await new Promise((resolve) => setTimeout(resolve, 200))
  }
  throw new Error(`${what} did not happen`)
}

/** Builds a workflow file step by step and returns its path. */
const build = async (call: Call, path: string) => {
  const { filePath, workflowId } = await call("workflow_create", { name: `Balanced ${path}` })
  await call("node_search", { keyword: "receive a webhook" })
  await call("node_get", { type: "n8n-nodes-base.webhook" })
  await call("node_add", {
    workflowId,
    nodeType: "n8n-nodes-base.webhook",
    name: "Hook",
    parameters: { path, httpMethod: "POST", responseMode: "lastNode" }
  })
  const { nodeId } = await call("node_add", {
    workflowId,
    nodeType: "n8n-nodes-base.code",
    name: "Fail",
    parameters: { jsCode: "throw new Error('on purpose')" }
  })
  await call("connection_create", { workflowId, sourceNodeId: "Hook", targetNodeId: nodeId })
  await call("workflow_edit", { workflowId, operations: [{ op: "rename", node: "Fail", to: "Failing" }] })
  await call("node_add", { workflowId, nodeType: "n8n-nodes-base.noOp", name: "Nothing", after: "Failing" })
  await call("node_replace", { workflowId, targetNodeId: "Nothing", newNodeType: "n8n-nodes-base.set" })
  await call("validate_workflow", { workflowId })
  const loaded = await call("workflow_load", { workflowIdOrPath: workflowId })
  await call("workflow_save", { workflowId, workflowData: loaded["workflowData"], filePath })
  const { workflows } = await call("workflow_list", {})
  assert.isAbove(arr(workflows).length, 0)
  return { filePath, workflowId }
}

/** Calls every tool; `n8n` is the base address of webhooks. */
export const everyTool = async (call: Call, n8n: URL): Promise<void> => {
  const path = `balanced-${crypto.randomUUID()}`
  const { filePath, workflowId: file } = await build(call, path)
  const id = String((await call("create_workflow_from_file", { filePath }))["id"])
  await call("replace_workflow_from_file", { id, filePath })
  await call("bulk_edit", {
    select: { ids: [id] },
    operations: [{ op: "settings", settings: { executionTimeout: 600 } }]
  })
  await call("workflow_map", { id })
  await call("activate_workflow", { id })
  await until("the webhook", async () => {
    const { status } = await fetch(new URL(`webhook/${path}`, n8n), { method: "POST" })
    return status === 404 ? undefined : status
  })
  const failed = await until("the execution", async () => {
    const { executions } = await call("list_executions", { workflowId: id, status: "error" })
    const found = first(executions)["id"]
    return found === undefined ? undefined : String(found)
  })
  await call("get_execution", { id: failed })
  await call("get_execution_by_node", { id: failed, nodeName: "Failing" })
  const { nodes } = await call("search_execution", { id: failed, where: "true" })
  const trigger = String(first(nodes)["node"])
  await call("compare_items", { id: failed, from: trigger, to: trigger })
  await call("retry_execution", { id: failed })
  await call("stop_execution", { id: failed }).catch(() => undefined)
  await call("test_workflow", { workflowId: file })
  await call("workflow_prove", { workflowId: id, last: 1 })
  await call("list_workflows", { name: `Balanced ${path}` })
  await call("get_workflow", { id })
  await call("get_workflow_connections", { id })
  await call("list_credentials", {})
  await call("instance_overview", {})
  // Projects need a licence, which this n8n has not.
  await call("project_list", {}).catch(() => undefined)
  await call("audit", { workflowId: id })
  const { id: credential } = await call("credential_create", {
    type: "httpHeaderAuth",
    name: `Key ${path}`,
    values: { name: "X-Key", value: { env: "SUITE_SECRET" } }
  })
  await call("credential_test", { id: credential })
  const table = `t${path.replaceAll("-", "").slice(-20)}`
  await call("table_write", { table, op: "create", columns: { sku: "string" } })
  await call("table_write", { table, op: "insert", rows: [{ sku: "A 1" }] })
  const { rows } = await call("table_read", { table, where: "sku === 'A 1'" })
  assert.lengthOf(arr(rows), 1)
  await call("table_write", { table, op: "drop" })
  await call("update_workflow", { id, name: `Renamed ${path}` })
  const { versions } = await call("workflow_history", { id })
  await call("workflow_diff", { a: `${id}@${String(first(versions)["version"])}` })
  await call("workflow_restore", { id, version: first(versions)["id"] ?? first(versions)["version"] })
  await call("sync_pull", { folder: `synced-${path}`, only: [id] })
  await call("sync_status", { folder: `synced-${path}` })
  await call("sync_push", { folder: `synced-${path}` })
  await call("deactivate_workflow", { id })
  await call("delete_workflow", { id })
  const { id: other } = await call("create_workflow", { name: `Other ${path}`, nodes: [], connections: {} })
  await call("delete_workflow", { id: other })
}
