/** An MCP server of one's own: the standard tools without deletion, one more, an audit, over stdio and HTTP. */
import { N8nClient, prompts, resources, Services, Tool, tools } from "effect-n8n-mcp"
import { Access, Http, McpServer, NodeServer, Stdio } from "effect-n8n-mcp/mcp"
import { FakeN8n } from "effect-n8n-mcp/testing"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as HttpServer from "effect/http/HttpServer"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"

const countWorkflows = Tool.make({
  name: "count_workflows",
  title: "Count workflows",
  description: "How many workflows have a name with this word?",
  annotations: Tool.readOnly,
  input: Schema.Struct({ word: Schema.String }),
  output: Schema.Struct({ count: Schema.Int }),
  handler: ({ word }) =>
    N8nClient.N8nClient.use((n8n) => n8n.listWorkflows({ name: word, limit: 100, archived: false })),
  summarize: ({ workflows }) => ({ count: workflows.length }),
  message: ({ count }, { word }) => `${count} workflows with '${word}'`
})

export const log: Array<string> = []
const audit = Tool.middleware((run, { tool }) => Effect.tap(run, () => Effect.sync(() => log.push(tool.name))))

const server = McpServer.serve({
  name: "our-n8n",
  version: "3.1.0",
  tools: [...tools.standard.filter(({ name }) => name !== "delete_workflow"), countWorkflows],
  resources: resources.all,
  prompts: prompts.all,
  middleware: [audit]
})

const token = Redacted.make("our-token")
const listening = NodeServer.layer({ port: 0 })
const http = Http.layer({ access: Access.make([{ token, client: "us" }]) })

// In production: N8nClient.layerConfig() with FetchHttpClient.layer, and Services.layer().
const n8n = Layer.merge(FakeN8n.layer({ workflows: [{ id: "1", name: "New order", nodes: [] }] }), Services.layerMemory)

export const overStdio = Effect.provide(server, [Stdio.layer, n8n])

const call = (url: string, name: string, args: object) =>
  Effect.promise(async () => {
    const response = await fetch(`${url}/mcp`, {
      method: "POST",
      headers: {
        "content-type": "application/json",
        accept: "application/json, text/event-stream",
        authorization: "Bearer our-token"
      },
      body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params: { name, arguments: args } })
    })
    return response.text()
  })

export const test = Effect.gen(function*() {
  const { address } = yield* HttpServer.HttpServer
  const url = HttpServer.formatAddress(address)
  const serving = yield* Effect.forkChild(Effect.provide(server, http))
  const counted = yield* call(url, "count_workflows", { word: "order" })
  const deleted = yield* call(url, "delete_workflow", { id: "1", confirm: true })
  yield* Fiber.interrupt(serving)
  return [counted.includes("1 workflows with 'order'"), deleted.includes("Unknown tool 'delete_workflow'"), log]
}).pipe(Effect.provide([n8n, listening]))

export const expected = [true, true, ["count_workflows"]]
