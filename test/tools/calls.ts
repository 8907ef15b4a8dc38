/**
 * A call of every tool that succeeds: what a hostile n8n, a fault or a fuzzer is tried on. Without arguments of its own, a
 * tool is called with its example for people, or with none.
 */
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import { join } from "node:path"
import { examples } from "../../src/app/commands/tools.ts"
import { arr, type Obj, obj, str } from "../../src/base/Json.ts"
import * as tools from "../../src/tools/index.ts"
import * as fixtures from "../support/scenarios/recorded.ts"
import { main, node } from "../support/workflows.ts"

/** What the n8n of these calls holds. */
export const seed = {
  ...fixtures.seed,
  credentials: [{ id: "c1", name: "Shop", type: "httpHeaderAuth" }],
  projects: [{ id: "p1", name: "Mine", type: "personal" as const, folders: [{ id: "f1", name: "Orders" }] }]
}

/** A workflow that n8n takes, published too. */
export const workflow = {
  name: "Orders",
  nodes: [node("Hook", "webhook", 2, { path: "orders", httpMethod: "POST" }), node("End", "noOp")],
  connections: { Hook: main("End") }
}

const file = "orders.json"

/** Puts the files there that the calls are about. */
export const writeFiles = (folder: string) =>
  FileSystem.FileSystem.use((fs) => fs.writeFileString(join(folder, file), JSON.stringify(workflow)))

const id = fixtures.workflowId("branch")
const firstNode = nameOf(0)
const lastNode = nameOf(-1)
const failed = fixtures.executionId("fail")
const merged = fixtures.execution("merge")

/** Arguments about what the n8n of these calls holds. */
const own: Readonly<Record<string, Obj>> = {
  audit: {},
  workflow_map: {},
  list_workflows: { limit: 5, name: "a" },
  get_workflow: { id, raw: true },
  get_workflow_connections: { id },
  create_workflow: { ...workflow, active: true, tags: ["new"] },
  update_workflow: { id, name: "Renamed", tags: ["new"] },
  delete_workflow: { id },
  activate_workflow: { id },
  deactivate_workflow: { id },
  create_workflow_from_file: { filePath: file },
  replace_workflow_from_file: { id, filePath: file },
  list_executions: { limit: 5, groupBy: "failure" },
  get_execution: { id: failed, wait: 10 },
  get_execution_by_node: { id: merged.id, nodeName: Object.keys(runData(merged))[0] },
  search_execution: { id: merged.id, where: "true" },
  compare_items: { id: merged.id, from: Object.keys(runData(merged))[0], to: Object.keys(runData(merged))[0] },
  retry_execution: { id: failed },
  stop_execution: { id: failed },
  credential_test: { id: "c1" },
  credential_create: { type: "httpHeaderAuth", name: "Shop", values: { name: "X-Key" } },
  table_write: { table: "new", op: "create", columns: { sku: "string" } },
  workflow_history: { id },
  workflow_restore: { id, version: "0b6f2bc1-0000-4000-8000-000000000000" },
  node_search: { keyword: "webhook" },
  node_get: { type: "n8n-nodes-base.webhook" },
  node_add: { workflowId: id, nodeType: "n8n-nodes-base.noOp" },
  node_replace: { workflowId: id, targetNodeId: lastNode, newNodeType: "n8n-nodes-base.set" },
  connection_create: { workflowId: id, sourceNodeId: firstNode, targetNodeId: lastNode },
  validate_workflow: { workflowId: id },
  workflow_edit: { workflowId: id, operations: [{ op: "name", name: "Edited" }] },
  bulk_edit: { select: { ids: [id] }, operations: [{ op: "settings", settings: { executionTimeout: 60 } }] },
  workflow_create: { name: "Draft" },
  workflow_save: { workflowId: file, workflowData: workflow, filePath: "saved.json" },
  workflow_load: { workflowIdOrPath: file },
  workflow_diff: { a: id, b: file },
  test_workflow: { workflowId: id },
  workflow_prove: { workflowId: id, last: 1 },
  sync_push: { only: [file] }
}

/** Arguments by tool. */
export const calls: Readonly<Record<string, Obj>> = Object.fromEntries(
  tools.all.map(({ name }) => [name, own[name] ?? { ...examples[name] }])
)

function nameOf(position: number): string | undefined {
  return str(obj(arr(fixtures.workflow("branch").nodes).at(position))?.["name"])
}

function runData(execution: unknown): Obj {
  const { data } = execution as { readonly data: { readonly resultData: { readonly runData: Obj } } }
  return data.resultData.runData
}

/** {@link writeFiles}, for those who run in a world. */
export const prepared = <A, E, R>(folder: string, effect: Effect.Effect<A, E, R>) =>
  Effect.andThen(Effect.orDie(writeFiles(folder)), effect)
