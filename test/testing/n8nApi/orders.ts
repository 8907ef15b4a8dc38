/** A small workflow for requests to the simulated n8n. */

export type Json = Record<string, unknown>

export const webhook = {
  id: "w",
  name: "Webhook",
  webhookId: "hook",
  type: "n8n-nodes-base.webhook",
  typeVersion: 2,
  position: [0, 0],
  parameters: { path: "orders", httpMethod: "POST" }
}

export const noOp = {
  id: "n",
  name: "Done",
  type: "n8n-nodes-base.noOp",
  typeVersion: 1,
  position: [200, 0],
  parameters: {}
}
export const link = { Webhook: { main: [[{ node: "Done", type: "main", index: 0 }]] } }
export const workflow: Json = { name: "Orders", nodes: [webhook, noOp], connections: link, settings: {} }
