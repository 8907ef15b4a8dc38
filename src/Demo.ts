/** What `--demo` serves: six workflows of a small shop, and last night's executions, one of which failed. */
import type { Item, Json, Step } from "./demo/build.ts"
import { execution, hex, items, spread, webhookItem } from "./demo/build.ts"
import { crm, invoices, newsletter, reminders, sales, triage } from "./demo/workflows.ts"
import type * as N8nApi from "./testing/N8nApi.ts"

const scheduled = (at: string) => items([{ timestamp: at.replace("Z", "+00:00"), Timezone: "UTC (UTC+00:00)" }])

const salesRun = (id: string, at: string, orderCount: number) => {
  const regions = ["EMEA", "Americas", "APAC"] as const
  const orders = Array.from({ length: orderCount }, (_, i) => ({
    id: Number(id) * 100 + i,
    region: regions[i % regions.length] ?? regions[0],
    amount: 25 + i * 37 % 160,
    currency: "EUR"
  }))
  const totals = items(regions.map((region) => {
    const amounts = orders.filter((order) => order.region === region).map(({ amount }) => amount)
    return { region, orders: amounts.length, total: amounts.reduce((sum, amount) => sum + amount, 0) }
  }))
  const rounds = Array.from({ length: Math.ceil(totals.length / 2) }, (_, i) => totals.slice(i * 2, i * 2 + 2))
  return execution(sales, id, at, [
    { node: "Every morning at 6", ms: 1, out: [scheduled(at)] },
    { node: "Get orders", ms: 412, from: "Every morning at 6", out: [spread(orders)] },
    { node: "Totals by region", ms: 19, from: "Get orders", out: [totals] },
    ...rounds.flatMap((round, i): ReadonlyArray<Step> => [
      { node: "Loop over regions", ms: 1, from: i ? "Append to sheet" : "Totals by region", out: [[], round] },
      { node: "Append to sheet", ms: 633, from: ["Loop over regions", 1], out: [round] }
    ]),
    { node: "Loop over regions", ms: 1, from: "Append to sheet", out: [totals, []] },
    { node: "Post summary", ms: 287, from: "Loop over regions", out: [items(totals.map(() => ({ ok: true })))] }
  ])
}

const customer = (id: number, name: string, email: string | null, consent = true) => ({
  id: `cus_${id}`,
  name,
  email,
  consent,
  createdBy: email === null ? "phone order" : "web checkout"
})

type Customer = ReturnType<typeof customer>

/** What the HTTP Request node makes of the CRM's 422. */
const crmError = ({ email, id, name }: Customer, itemIndex: number) => {
  const message = "Your request is invalid or could not be processed by the service"
  const answer = { message: "Validation failed", errors: [{ field: "email", code: "blank", detail: "can't be blank" }] }
  const headers = { accept: "application/json", authorization: "**hidden**" }
  const sent = { method: "POST", uri: "https://api.crm.example/v2/contacts/upsert", headers }
  return {
    level: "warning",
    shouldReport: true,
    description: answer.message,
    tags: {},
    context: { itemIndex, request: { ...sent, body: { externalId: id, name, email } } },
    functionality: "regular",
    name: "NodeApiError",
    node: crm.nodes.find((node) => node.name === "Upsert CRM contact"),
    messages: [`422 - ${JSON.stringify(JSON.stringify(answer))}`],
    httpCode: "422",
    message,
    stack: `NodeApiError: ${message}\n    at ExecuteContext.execute (HttpRequestV3.node.ts:892:16)`
  }
}

/** Fails at the first customer who has no e-mail address, as the CRM does. */
const crmRun = (id: string, at: string, customers: ReadonlyArray<Customer>) => {
  const orderIds = customers.map((_, i) => Number(id) * 10 + i)
  const agreed = customers.filter(({ consent }) => consent)
  const others = items(customers.filter(({ consent }) => !consent))
  const contacts = items(agreed.map((contact) => ({ id: `con_${contact.id}`, name: contact.name })))
  const missing = agreed.findIndex(({ email }) => email === null)
  const refused = agreed[missing]
  const upsert = { node: "Upsert CRM contact", ms: 318, from: "Agreed to marketing?" }
  const leftOut: Step = { node: "Leave out", ms: 1, from: ["Agreed to marketing?", 1], out: [others] }
  return execution(crm, id, at, [
    { node: "New orders", ms: 1, out: [webhookItem("shop-orders", { event: "orders.created", orderIds })] },
    { node: "Fetch customers", ms: 176, from: "New orders", out: [spread(customers)] },
    { node: "Agreed to marketing?", ms: 3, from: "Fetch customers", out: [items(agreed), others] },
    ...(refused ? [{ ...upsert, error: crmError(refused, missing) }] : [
      { ...upsert, out: [contacts] },
      { node: "Tell sales", ms: 204, from: "Upsert CRM contact", out: [items(agreed.map(() => ({ ok: true })))] },
      ...(others.length > 0 ? [leftOut] : [])
    ])
  ])
}

const modelSays = (text: string, finish_reason: string, promptTokens: number, completionTokens: number): Json => ({
  response: { generations: [[{ text, generationInfo: { finish_reason } }]] },
  tokenUsage: { completionTokens, promptTokens, totalTokens: promptTokens + completionTokens }
})

const triageRun = (id: string, at: string, order: string, text: string, output: string) => {
  const response = `Order ${order}: handed to the carrier`
  const asked = { messages: [`Human: ${text}`], estimatedTokens: 41, options: { model: "gpt-4.1-mini" } }
  const told = { ...asked, messages: [`Human: ${text}\nTool: ${response}`], estimatedTokens: 63 }
  const load = { action: "loadMemoryVariables" }
  return execution(triage, id, at, [
    { node: "New ticket", ms: 1, out: [webhookItem("support-ticket", { ticketId: `T-${id}`, text })] },
    {
      node: "Triage agent",
      ms: 3120,
      from: "New ticket",
      out: [items([{ output }])],
      inside: [
        ["Ticket memory", "ai_memory", 2, { ...load, values: { input: text } }, { ...load, chatHistory: [] }],
        ["Chat model", "ai_languageModel", 1240, asked, modelSays("", "tool_calls", 214, 19)],
        ["Look up order", "ai_tool", 35, { query: order }, { response }],
        ["Chat model", "ai_languageModel", 1710, told, modelSays(output, "stop", 251, 48)]
      ]
    },
    { node: "Hand to support", ms: 221, from: "Triage agent", out: [items([{ ok: true }])] }
  ])
}

const invoiceRun = (id: string, at: string, files: ReadonlyArray<string>) => {
  const folder = `filesystem-v2:workflows/${invoices.id}/executions/${id}/binary_data`
  const pdf = { mimeType: "application/pdf", fileExtension: "pdf", data: "filesystem-v2", fileSize: "84 kB" }
  const mails = files.map((fileName, item): Item => ({
    json: { id: hex(fileName, 2), subject: `Invoice ${fileName}`, from: "billing@supplier.example" },
    binary: { attachment_0: { ...pdf, id: `${folder}/${hex(fileName, 4)}`, fileName } },
    pairedItem: { item }
  }))
  const saved = items(files.map((name) => ({ id: hex(name, 4), name, mimeType: pdf.mimeType })))
  return execution(invoices, id, at, [
    { node: "Invoice mail", ms: 902, out: [mails] },
    { node: "Save to Drive", ms: 1377, from: "Invoice mail", out: [saved] }
  ])
}

const reminderRun = (id: string, at: string, waitTill: string) => {
  const unpaid = [
    { number: "INV-2026-0871", company: "株式会社みどり商事", email: "keiri@midori.example", amount: 128_000 },
    { number: "INV-2026-0894", company: "有限会社青空", email: "info@aozora.example", amount: 46_200 }
  ]
  return execution(reminders, id, at, [
    { node: "毎日0時", ms: 1, out: [scheduled(at)] },
    { node: "未払いの請求書を取得", ms: 240, from: "毎日0時", out: [spread(unpaid)] },
    { node: "3日待つ", ms: 2, from: "未払いの請求書を取得", out: [items(unpaid)], waits: true }
  ], { waitTill })
}

const stopped = {
  at: "2026-11-20T09:02:11.480Z",
  error: { name: "ManualExecutionCancelledError", reason: "manual", message: "The execution was cancelled manually" }
}

/**
 * Six workflows and twelve executions of 20 and 21 November 2026, the same at every start. Execution 239 of
 * "Sync orders to CRM" failed: the second customer has no e-mail address, because a phone order came without one.
 */
export const seed: N8nApi.Seed = {
  workflows: [sales, crm, triage, invoices, reminders, newsletter],
  executions: [
    execution(newsletter, "230", "2026-11-20T03:00:00.021Z", [], { canceled: stopped }),
    salesRun("231", "2026-11-20T06:00:00.034Z", 14),
    crmRun("232", "2026-11-20T08:12:40.518Z", [
      customer(1036, "Amélie Laurent", "amelie@laurent.example"),
      customer(1037, "Tomás Ruiz", "tomas.ruiz@mail.example", false)
    ]),
    triageRun("233", "2026-11-20T09:47:03.902Z", "51877", "Where is order 51877?", "delivery: It is on its way."),
    invoiceRun("234", "2026-11-20T11:00:00.255Z", ["A-4471.pdf"]),
    crmRun("235", "2026-11-20T15:30:22.117Z", [customer(1038, "Priya Nair", "priya@nair.example")]),
    triageRun("236", "2026-11-20T18:21:55.640Z", "51902", "I paid 51902 twice.", "billing: We are looking into it."),
    invoiceRun("237", "2026-11-20T23:00:00.231Z", ["B-1020.pdf", "B-1021.pdf"]),
    reminderRun("238", "2026-11-21T00:00:00.051Z", "2026-11-24T00:00:00.402Z"),
    crmRun("239", "2026-11-21T02:14:07.366Z", [
      customer(1041, "Lena Fischer", "lena.fischer@mail.example"),
      customer(1042, "Jonas Weber", null),
      customer(1043, "Chloé Martin", "chloe@martin.example", false),
      customer(1044, "Oskar Lindqvist", "oskar@lindqvist.example")
    ]),
    salesRun("240", "2026-11-21T06:00:00.029Z", 23),
    execution(triage, "241", "2026-11-21T06:31:18.204Z", [], { running: true })
  ]
}
