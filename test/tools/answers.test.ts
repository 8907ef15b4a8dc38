import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, beforeAll, describe, it } from "@effect/vitest"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { countTokens } from "gpt-tokenizer/encoding/o200k_base"
import { join } from "node:path"
import { examples } from "../../src/app/commands/tools.ts"
import * as Services from "../../src/app/Services.ts"
import { type Obj, obj, str } from "../../src/base/Json.ts"
import * as Demo from "../../src/demo/Demo.ts"
import * as Protocol from "../../src/mcp/Protocol.ts"
import { N8nClient } from "../../src/n8n/N8nClient.ts"
import * as FakeN8n from "../../src/testing/FakeN8n.ts"
import * as tools from "../../src/tools/index.ts"
import { folderWith } from "../support/folders.ts"
import { assertSnapshot } from "./snapshot.ts"

/** What is another each time, in words of the same length or so. */
const settled = (text: string, folder: string): string =>
  text
    .replaceAll(folder, "/home/you/project")
    .replace(/\b[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}\b/g, "8a1c0f5e-0000-4000-8000-000000000000")
    .replace(/\bdraft-[\w-]+/g, "draft-0000")
    .replace(/\bplan-\d{14}-[\da-f]{6}/g, "plan-20261122100000-0a1b2c")
    .replace(/\b\d{8}T\d{9}Z[\w-]*/g, "20261122T100000000Z")
    .replace(/\b2\d{3}-\d\d-\d\dT[\d:.]+Z/g, "2026-11-22T10:00:00.000Z")

const node = (name: string, type: string, typeVersion: number, parameters: Obj = {}) => ({
  name,
  type: `n8n-nodes-base.${type}`,
  typeVersion,
  position: [0, 0],
  parameters
})
const webhook = node("Orders", "webhook", 2, { path: "orders", httpMethod: "POST" })
const set = node("Shape", "set", 3.4, { mode: "raw", jsonOutput: "={{ $json.body }}" })
const connections = { Orders: { main: [[{ node: "Shape", type: "main", index: 0 }]] } }

const text = (value: unknown) => str(value) ?? ""

/** What a client is shown by each tool. */
const shown = new Map<string, string>()

/** A person's afternoon: each tool once, with what the ones before have made. */
const session = Effect.gen(function*() {
  const folder = yield* folderWith({
    "orders.json": JSON.stringify({ name: "Orders", nodes: [webhook], connections: {} })
  })
  const services = yield* Layer.build(Services.layer({ filesRoots: [folder], stateFolder: join(folder, ".state") }))
  /** Calls the tool, notes what a client is shown, and returns its data; after a failure the session continues. */
  const ask = (name: string, args: Obj = {}) =>
    Effect.gen(function*() {
      const tool = Protocol.find(tools.all, name)
      if (tool === undefined) return assert.fail(`there is no ${name}`)
      assert.isFalse(shown.has(name), name)
      const answer: { readonly data?: unknown } = yield* tool.run(args).pipe(
        Effect.provideContext(services),
        Effect.catchCause((cause) => Effect.succeed({ data: { failure: Cause.pretty(cause) } }))
      )
      const json = settled(JSON.stringify(answer), folder)
      shown.set(name, JSON.stringify({ tokens: countTokens(json), ...JSON.parse(json) }, null, 2))
      return obj(answer.data) ?? {}
    })

  const id = Demo.seed.workflows.find(({ name }) => name === "Sync orders to CRM")?.id
  yield* ask("list_workflows")
  yield* ask("get_workflow", { id })
  yield* ask("get_workflow_connections", { id })
  yield* ask("list_executions", { limit: 3 })
  yield* ask("get_execution", { id: "239" })
  yield* ask("get_execution_by_node", { id: "239", nodeName: "Upsert CRM contact" })
  yield* ask("search_execution", { id: "239", where: "email === null", fields: ["id", "email"] })
  yield* ask("compare_items", { id: "239", from: "Fetch customers", to: "Agreed to marketing?" })
  yield* ask("retry_execution", { id: "239" })
  yield* ask("stop_execution", { id: Demo.seed.executions.find(({ status }) => status === "running")?.id })
  yield* ask("list_credentials")
  yield* ask("instance_overview")
  yield* ask("node_search", { keyword: "send a slack message" })
  yield* ask("node_get", { type: "n8n-nodes-base.slack", resource: "message", operation: "post" })

  const draft = text((yield* ask("workflow_create", { name: "Orders to Slack" }))["workflowId"])
  yield* ask("node_add", {
    workflowId: draft,
    nodeType: "n8n-nodes-base.webhook",
    name: "Orders",
    parameters: { path: "orders" }
  })
  yield* ask("workflow_edit", {
    workflowId: draft,
    operations: [
      { op: "add", type: "n8n-nodes-base.noOp", name: "Shape" },
      { op: "update", node: "Orders", parameters: { httpMethod: "POST" } }
    ]
  })
  yield* ask("connection_create", { workflowId: draft, sourceNodeId: "Orders", targetNodeId: "Shape" })
  yield* ask("node_replace", { workflowId: draft, targetNodeId: "Shape", newNodeType: "n8n-nodes-base.slack" })
  yield* ask("validate_workflow", { workflowId: draft })
  yield* ask("workflow_load", { workflowIdOrPath: "orders.json" })
  yield* ask("workflow_save", {
    workflowId: draft,
    filePath: "slack.json",
    workflowData: { name: "Orders to Slack", nodes: [webhook, set], connections }
  })
  yield* ask("workflow_list")

  const made = text((yield* ask("create_workflow", { name: "Orders", nodes: [webhook, set], connections }))["id"])
  yield* ask("update_workflow", { id: made, name: "Orders, shaped" })
  yield* ask("activate_workflow", { id: made })
  yield* ask("deactivate_workflow", { id: made })
  yield* ask("create_workflow_from_file", { filePath: "slack.json" })
  yield* ask("replace_workflow_from_file", { id: made, filePath: "slack.json", confirm: true })
  const { versions } = yield* ask("workflow_history", { id: made })
  const oldest = obj((versions as ReadonlyArray<unknown>).at(-1))?.["version"]
  yield* ask("workflow_diff", { a: `${made}@${text(oldest)}` })
  yield* ask("workflow_restore", { id: made, version: oldest, confirm: true })
  yield* ask("delete_workflow", { id: made, confirm: true })
  yield* ask("sync_pull", { folder: "synced" })
  yield* ask("sync_status", { folder: "synced" })
  yield* ask("sync_push", { folder: "synced", dryRun: true })

  yield* ask("workflow_map")
  yield* ask("bulk_edit", {
    select: { uses: "acme.example" },
    operations: [{ op: "replace", find: "acme.example", with: "acme.test" }],
    dryRun: true
  })
  yield* ask("audit")
  const { id: key } = yield* ask("credential_create", {
    type: "httpHeaderAuth",
    name: "Shop",
    values: { name: "X-Key" }
  })
  yield* ask("credential_test", { id: key })
  const n8n = yield* N8nClient
  const stock = yield* n8n.createDataTable({
    name: "stock",
    columns: [{ name: "sku", type: "string" }, { name: "qty", type: "number" }]
  })
  yield* n8n.insertRows(stock.id, [{ sku: "A-1", qty: 3 }, { sku: "B-2", qty: 9 }])
  yield* ask("table_write", { table: "stock", op: "delete", where: "qty > 5", confirm: true })
  yield* ask("table_read", { table: "stock", where: "qty < 5" })
  for (const { name } of tools.all) {
    if (!shown.has(name) && !elsewhere.has(name)) yield* ask(name, { ...examples[name] })
  }
}).pipe(Effect.provide(FakeN8n.layer(Demo.asOf(Date.now()))), Effect.scoped, Effect.provide(NodeServices.layer))

/** They need an n8n that runs, or a licence: their own tests have them. */
const elsewhere: ReadonlySet<string> = new Set(["test_workflow", "workflow_prove", "project_list"])

describe("a typical answer is unchanged, token by token", () => {
  beforeAll(() => Effect.runPromise(session), 60_000)

  it.each(tools.all.map(({ name }) => name).filter((name) => !elsewhere.has(name)))("%s", async (name) => {
    const answer = shown.get(name)
    if (answer === undefined) return assert.fail("the session has no call of it")
    await assertSnapshot(answer, `answers/${name}`)
  })
})
