/** Workflows that send orders to an address. */
import type { Obj } from "../../../src/base/Json.ts"
import type * as N8nApi from "../../../src/testing/n8nApi/N8nApi.ts"
import { joined, node, workflow } from "../workflows.ts"

export const post = (name: string, url: string) => node(name, "httpRequest", 4.2, { method: "POST", url, options: {} })

/** Webhook whose items are posted to `https://old.example.com/ID`. */
export const orders = (id: string, more: Obj = {}, url = `https://old.example.com/${id}`) =>
  workflow(id, [
    node("Hook", "webhook", 2, { path: id, httpMethod: "POST" }, { webhookId: `hook-${id}` }),
    post("送信", url)
  ], { name: `注文 ${id}`, connections: joined(["Hook", "送信"]), ...more })

export const seed = (workflows: ReadonlyArray<Obj>) => ({ workflows, executions: [] }) as unknown as N8nApi.Seed
