/** The workflows of the demo: those of a small shop. */
import { chain, node, workflow } from "./build.ts"

const google = "Acme Google"

const list = (value: string, name = value) => ({ __rl: true, mode: "list", value, cachedResultName: name })

const daily = (name: string, hour: number) =>
  node(name, "n8n-nodes-base.scheduleTrigger", 1.2, { rule: { interval: [{ triggerAtHour: hour }] } })

const webhook = (name: string, path: string) =>
  node(name, "n8n-nodes-base.webhook", 2, { httpMethod: "POST", path, options: {} })

const http = (name: string, url: string, more = {}) => {
  const authentication = { authentication: "genericCredentialType", genericAuthType: "httpHeaderAuth" }
  const parameters = { url, ...authentication, ...more, options: {} }
  return node(name, "n8n-nodes-base.httpRequest", 4.2, parameters, ["httpHeaderAuth", "Acme API"])
}

const slack = (name: string, channel: string, text: string) => {
  const channelId = { __rl: true, mode: "name", value: channel }
  const parameters = { select: "channel", channelId, text, otherOptions: {} }
  return node(name, "n8n-nodes-base.slack", 2.3, parameters, ["slackApi", "Acme Slack"])
}

const isTrue = (name: string, leftValue: string) => {
  const options = { caseSensitive: true, leftValue: "", typeValidation: "strict", version: 2 }
  const operator = { type: "boolean", operation: "true", singleValue: true }
  const conditions = [{ id: "is-true", leftValue, rightValue: "", operator }]
  return node(name, "n8n-nodes-base.if", 2.2, { conditions: { options, conditions, combinator: "and" }, options: {} })
}

/** Totals are appended to a sheet two at a time, in a loop; then Slack is told. */
export const sales = workflow("dS8rQ2vLk0pXw3Ta", "Daily sales report", "2026-10-12", ["reporting"], [
  daily("Every morning at 6", 6),
  http("Get orders", "https://shop.acme.example/api/orders?created=yesterday"),
  node("Totals by region", "n8n-nodes-base.code", 2, {
    jsCode: `const regions = Object.groupBy($input.all(), ({ json }) => json.region)
return Object.entries(regions).map(([region, orders]) => ({
  json: { region, orders: orders.length, total: orders.reduce((sum, { json }) => sum + json.amount, 0) }
}))`
  }),
  node("Loop over regions", "n8n-nodes-base.splitInBatches", 3, { batchSize: 2, options: {} }),
  node("Append to sheet", "n8n-nodes-base.googleSheets", 4.5, {
    operation: "append",
    documentId: list("1mZc0DemoSheet7Qx", "Sales 2026"),
    sheetName: list("gid=0", "Daily"),
    columns: { mappingMode: "autoMapInputData", value: {}, matchingColumns: [], schema: [] },
    options: {}
  }, ["googleSheetsOAuth2Api", google]),
  slack("Post summary", "#sales", "={{ $json.region }}: {{ $json.total }} EUR from {{ $json.orders }} orders")
], [
  ...chain("Every morning at 6", "Get orders", "Totals by region", "Loop over regions", "Post summary"),
  ["Loop over regions", "Append to sheet", 1],
  ["Append to sheet", "Loop over regions", 0]
])

/** The one that fails: the CRM wants an e-mail address, and the shop does not have everybody's. */
export const crm = workflow("cR5mSyNc9bVh4KqE", "Sync orders to CRM", "2026-11-19", ["crm", "production"], [
  webhook("New orders", "shop-orders"),
  http("Fetch customers", "=https://shop.acme.example/api/customers?orders={{ $json.body.orderIds.join() }}"),
  isTrue("Agreed to marketing?", "={{ $json.consent }}"),
  http("Upsert CRM contact", "https://api.crm.example/v2/contacts/upsert", {
    method: "POST",
    sendBody: true,
    specifyBody: "json",
    jsonBody: "={{ JSON.stringify({ externalId: $json.id, name: $json.name, email: $json.email }) }}"
  }),
  slack("Tell sales", "#crm", "={{ $json.name }} is in the CRM"),
  node("Leave out", "n8n-nodes-base.noOp", 1, {})
], [
  ...chain("New orders", "Fetch customers", "Agreed to marketing?", "Upsert CRM contact", "Tell sales"),
  ["Agreed to marketing?", "Leave out", 1]
])

/** An agent with a model, a memory and a tool. */
export const triage = workflow("tR1aGeAi7nWz2LpD", "Support triage agent", "2026-11-03", ["ai", "production"], [
  webhook("New ticket", "support-ticket"),
  node("Triage agent", "@n8n/n8n-nodes-langchain.agent", 2.2, {
    promptType: "define",
    text: "={{ $json.body.text }}",
    options: { systemMessage: "Sort the ticket into billing, delivery or other, and draft a short answer." }
  }),
  node(
    "Chat model",
    "@n8n/n8n-nodes-langchain.lmChatOpenAi",
    1.2,
    { model: list("gpt-4.1-mini"), options: {} },
    ["openAiApi", "OpenAI"]
  ),
  node("Ticket memory", "@n8n/n8n-nodes-langchain.memoryBufferWindow", 1.3, {
    sessionIdType: "customKey",
    sessionKey: "={{ $json.body.ticketId }}"
  }),
  node("Look up order", "@n8n/n8n-nodes-langchain.toolCode", 1.1, {
    name: "look_up_order",
    description: "Finds an order by its number and tells where it is",
    jsCode: "return `Order ${query}: handed to the carrier`"
  }),
  slack("Hand to support", "#support", "={{ $json.output }}")
], [
  ...chain("New ticket", "Triage agent", "Hand to support"),
  ["Chat model", "Triage agent", "ai_languageModel"],
  ["Ticket memory", "Triage agent", "ai_memory"],
  ["Look up order", "Triage agent", "ai_tool"]
])

/** Files travel in the items. */
export const invoices = workflow("iNv0iCeS3hGt8RbU", "File invoices in Drive", "2026-07-30", ["finance"], [
  node("Invoice mail", "n8n-nodes-base.gmailTrigger", 1.2, {
    pollTimes: { item: [{ mode: "everyHour" }] },
    simple: false,
    filters: { q: "subject:invoice has:attachment" },
    options: { downloadAttachments: true }
  }, ["gmailOAuth2", google]),
  node("Save to Drive", "n8n-nodes-base.googleDrive", 3, {
    inputDataFieldName: "attachment_0",
    name: "={{ $binary.attachment_0.fileName }}",
    driveId: list("My Drive"),
    folderId: list("1fDemoFolder2Kb", "Invoices"),
    options: {}
  }, ["googleDriveOAuth2Api", google])
], chain("Invoice mail", "Save to Drive"))

/** Names in Japanese, and a wait that takes days. */
export const reminders = workflow("kR9jPnSeikyu5MxQ", "請求書リマインダー", "2026-09-28", ["finance", "日本"], [
  daily("毎日0時", 0),
  http("未払いの請求書を取得", "https://billing.acme.example/api/invoices?status=unpaid"),
  node("3日待つ", "n8n-nodes-base.wait", 1.1, { amount: 3, unit: "days" }),
  node("お客様にメール", "n8n-nodes-base.gmail", 2.1, {
    sendTo: "={{ $json.email }}",
    subject: "=請求書 {{ $json.number }} のお支払いについて",
    message: "={{ $json.company }} 御中",
    options: {}
  }, ["gmailOAuth2", google])
], chain("毎日0時", "未払いの請求書を取得", "3日待つ", "お客様にメール"))

/** Put away after it had to be stopped by hand. */
export const newsletter = workflow(
  "nL2oLdExP6fYc1Zs",
  "Export newsletter subscribers (old)",
  "2026-11-20",
  [],
  [
    daily("Every night at 3", 3),
    http("Get subscribers", "https://news.acme.example/api/subscribers"),
    node("To CSV", "n8n-nodes-base.convertToFile", 1.1, { options: {} })
  ],
  chain("Every night at 3", "Get subscribers", "To CSV"),
  true
)
