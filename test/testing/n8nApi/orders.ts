/** A small workflow for requests to the simulated n8n. */
import { main, node } from "../../support/workflows.ts"

export type Json = Record<string, unknown>

export const webhook = node("Webhook", "webhook", 2, { path: "orders", httpMethod: "POST" }, {
  id: "w",
  webhookId: "hook"
})

export const noOp = node("Done", "noOp", 1, {}, { id: "n", position: [200, 0] })
export const link = { Webhook: main("Done") }
export const workflow: Json = { name: "Orders", nodes: [webhook, noOp], connections: link, settings: {} }
