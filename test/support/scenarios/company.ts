/** Workflows of a company that are linked in every way, with builders of callers. */
import type { Obj } from "../../../src/base/Json.ts"
import { node, workflow } from "../workflows.ts"

export const locator = (value: string, mode = "id") => ({ __rl: true, mode, value })

/** An Execute Workflow Trigger with declared inputs, or one that takes anything. */
export const start = (inputs?: ReadonlyArray<Obj>) =>
  node(
    "Start",
    "executeWorkflowTrigger",
    1.1,
    inputs === undefined ? { inputSource: "passthrough" } : { workflowInputs: { values: inputs } }
  )

/** An Execute Workflow node; with `value` it maps inputs. */
export const call = (name: string, id: string, value?: Obj, more: Obj = {}) =>
  value === undefined
    ? node(name, "executeWorkflow", 1.1, { workflowId: locator(id, "list") }, more)
    : node(name, "executeWorkflow", 1.2, { workflowId: locator(id), workflowInputs: { value, schema: [] } }, more)

export const request = (name: string, url: string, method = "POST", type = "httpRequest") =>
  node(name, type, 4.2, { url, method })

const schedule = node("Daily", "scheduleTrigger", 1.2)
const manual = node("By hand", "manualTrigger")
const langchain = "@n8n/n8n-nodes-langchain."
const live = { active: true }
const credentials = { httpHeaderAuth: { id: "cred", name: "社内API" } }
const table = (name: string, dataTableId: unknown, more: Obj = {}) =>
  node(name, "dataTable", 1, { operation: "get", dataTableId, ...more })

export const host = "https://n8n.example.test"

export const workflows = [
  workflow("errors", [node("On error", "errorTrigger")], { ...live, name: "エラー通知" }),
  workflow("stock", [start([{ name: "sku" }, { name: "qty", type: "number" }])], { ...live, name: "在庫確認" }),
  workflow("price", [start(), call("Stock", "stock", { sku: "={{ $json.sku }}", qty: "many", old: 1 })], live),
  workflow("orders", [
    node("Orders", "webhook", 2, { path: "orders", httpMethod: "POST" }, { webhookId: "w1" }),
    call("Price", "price", undefined, { credentials })
  ], { ...live, settings: { errorWorkflow: "errors" } }),
  workflow("order", [node("Order", "webhook", 2, { path: "order/:id" }, { webhookId: "w2" })], live),
  workflow("agent", [
    node("Chat", `${langchain}chatTrigger`, 1.1, {}, { webhookId: "w3" }),
    node("Weather", `${langchain}toolWorkflow`, 2, { workflowId: locator("weather", "list"), workflowInputs: {} }),
    node("Stock tool", `${langchain}toolWorkflow`, 1.1, { workflowId: "stock" }),
    request("HTTP tool", `${host}/webhook/orders`, "POST", "httpRequestTool")
  ], { ...live, settings: { errorWorkflow: "errors" } }),
  workflow("weather", [start([{ name: "query" }])], live),
  workflow("daily", [
    schedule,
    request("Send", "={{ $env.BASE }}/webhook/orders"),
    request("Joined", "={{ $env.BASE + \"/webhook/orders\" }}"),
    request("One order", `=${host}/webhook/w2/order/{{ $json.id }}`, "GET"),
    request("Any", `=${host}/webhook/{{ $json.path }}`),
    request("Gone", `${host}/webhook/gone`),
    request("Wrong method", `${host}/webhook/orders`, "GET"),
    request("Test", `${host}/webhook-test/orders`),
    request("Elsewhere", "https://example.com/webhook/orders"),
    request("Foreign", "https://example.com/webhook/nothing"),
    call("Invoice", "invoice"),
    call("Off", "unused", undefined, { disabled: true }),
    call("By region", "={{ $json.far ? 'regional' : $json.id }}")
  ], { ...live, settings: { errorWorkflow: "stock" } }),
  workflow("invoice", [start()], { name: "請求書" }),
  workflow("unused", [start()]),
  workflow("regional", [start(), node("Form", "formTrigger", 2)]),
  workflow("old", [
    manual,
    node("JSON", "executeWorkflow", 1, { source: "parameter", workflowJson: "{}" }),
    node("File", "executeWorkflow", 1, { source: "localFile", workflowPath: "/a.json" }),
    node("URL", "executeWorkflow", 1.1, { source: "url", workflowUrl: "https://a.b/c" }),
    node("Plain", "executeWorkflow", 1, { workflowId: "stock" }),
    call("Gone", "gone"),
    call("Archived", "archived"),
    call("Nothing to call", "orders"),
    call("Private", "private"),
    node("Nothing", "executeWorkflow", 1.2, { workflowId: locator("") })
  ]),
  workflow("archived", [start(), call("Stock", "stock")], { isArchived: true }),
  workflow("private", [start()], { ...live, settings: { callerPolicy: "workflowsFromAList", callerIds: "price, x" } }),
  workflow("ping", [start(), call("Pong", "pong")]),
  workflow("pong", [start(), call("Ping", "ping")]),
  workflow("itself", [start(), call("Again", "itself")]),
  workflow("table 1", [manual, table("Read", locator("t1", "list")), { ...request("API", "x"), credentials }]),
  workflow("table 2", [manual, table("Read", locator("顧客", "name")), table("Any", locator("={{ $json.t }}"))]),
  workflow("table 3", [
    manual,
    table("Read", locator("t9")),
    table("New", locator("t1"), { resource: "table", operation: "create" })
  ])
]
