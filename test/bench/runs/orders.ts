/** Workflow whose runs hold orders: its nodes, its items, and an execution of it as n8n's API returns it. */
import type { Obj } from "../../../src/base/Json.ts"
import type * as N8nApi from "../../../src/testing/n8nApi/N8nApi.ts"
import { joined, node } from "../../support/workflows.ts"

/** Number of its nodes with items, and of the items of each. */
export interface Size {
  readonly nodes: number
  readonly items: number
}

/** An order with texts that slow redaction down (words such as "key" in prose, long words, times), some not in ASCII. */
const order = (index: number, run: number) => ({
  id: `8a1c0f5e-0000-4000-8000-${String(index).padStart(12, "0")}`,
  orderNo: `A-${run}-${index}`,
  createdAt: new Date(1_700_000_000_000 + index * 1_000).toISOString(),
  customer: {
    id: `cus_${index}`,
    name: ["Ada Byron", "Jürgen Groß", "Zoë Ōtani", "山田 太郎"][index % 16] ?? "Sam Field",
    email: `user${index}@example.com`,
    page: `https://shop.example.com/${index}`
  },
  amount: index * 1.5,
  note: "The author of the design assessed key passengers. ".repeat(17),
  lines: Array.from({ length: 5 }, (_, line) => ({ sku: `S-${line}`, qty: line, price: line * 2.5 }))
})

export const nameOf = (at: number) => `Step ${at}`

/** Message of every tenth run. */
const fault = (run: number) => `Order A-${run} has no address`

/** Webhook, the orders, nodes that each raise the amounts, and a check that fails in every tenth run. */
export const workflow = (path: string, { items, nodes }: Size) => {
  const steps = Array.from({ length: nodes }, (_, at) =>
    node(nameOf(at), "code", 2, {
      jsCode: at === 0
        ? `const order = ${order}\nconst run = Number($('Hook').first().json.query.run)
return Array.from({ length: ${items} }, (_, index) => ({ json: order(index, run) }))`
        : `return $input.all().map(({ json }, item) =>
  ({ json: { ...json, amount: json.amount + 1 }, pairedItem: { item } }))`
    }))
  const hook = node("Hook", "webhook", 2, { path, responseMode: "lastNode" }, { webhookId: crypto.randomUUID() })
  const check = node("Check", "code", 2, {
    jsCode: `const run = Number($('Hook').first().json.query.run)
if (run % 10 === 0) throw new Error(\`Order A-\${run} has no address\`)
return [{ json: { run } }]`
  })
  const all = [hook, ...steps, check]
  return {
    name: `Bench ${path}`,
    settings: {},
    nodes: all,
    connections: joined(...all.slice(1).map(({ name }, at) => [all[at]?.name ?? "", name] as const))
  }
}

const request = (run: number): Obj => ({
  headers: { host: "n8n.example.com", authorization: "Bearer 3f1c9a77d0e2b1946ac92d1e" },
  params: {},
  query: { run: String(run) },
  body: {}
})

/** A run of the workflow; the runs are a minute apart. */
export const execution = (stored: N8nApi.Workflow, { items, nodes }: Size, run: number): N8nApi.NewExecution => {
  const start = 1_767_225_600_000 + run * 60_000
  const isFailed = run % 10 === 0
  const error = { level: "error", name: "Error", message: fault(run), description: null, stack: `Error: ${fault(run)}` }
  const outputs: ReadonlyArray<readonly [string, ReadonlyArray<Obj>]> = [
    ["Hook", [{ json: request(run), pairedItem: { item: 0 } }]],
    ...Array.from({ length: nodes }, (_, at) =>
      [
        nameOf(at),
        Array.from({ length: items }, (_, item) => {
          const json = order(item, run)
          return { json: { ...json, amount: json.amount + at }, pairedItem: { item: at === 0 ? 0 : item } }
        })
      ] as const),
    ["Check", [{ json: { run }, pairedItem: { item: 0 } }]]
  ]
  const runData = Object.fromEntries(outputs.map(([name, items], at) => [name, [{
    startTime: start + at * 20,
    executionIndex: at,
    source: at === 0 ? [] : [{ previousNode: outputs[at - 1]?.[0] }],
    hints: [],
    executionTime: 10 + (run + at) % 9,
    ...(isFailed && name === "Check"
      ? { executionStatus: "error", error }
      : { executionStatus: "success", data: { main: [items] } })
  }]]))
  const [startedAt, stoppedAt] = [start, start + outputs.length * 20].map((time) => new Date(time).toISOString())
  return {
    id: String(run),
    finished: !isFailed,
    mode: "webhook",
    status: isFailed ? "error" : "success",
    createdAt: startedAt,
    startedAt: startedAt ?? "",
    stoppedAt,
    workflowId: stored.id,
    waitTill: null,
    workflowVersionId: "6f0c2f54-1f0b-4f67-9a53-0d6d7a1f6a52",
    data: {
      version: 1,
      startData: {},
      resultData: { ...(isFailed ? { error } : {}), runData, lastNodeExecuted: "Check" },
      executionData: { contextData: {}, nodeExecutionStack: [], metadata: {}, waitingExecution: {} }
    },
    workflowData: stored,
    customData: {}
  }
}
