/**
 * The least an HTTP server for n8n can be: the SDK's low-level `Server` on its stateless transport and node:http, with
 * one tool that asks n8n and answers a text of the size it is asked for, with the same as structured content.
 *
 * JavaScript, as the bench's other floor is.
 */
import { Server } from "@modelcontextprotocol/sdk/server/index.js"
import { StreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/streamableHttp.js"
import { CallToolRequestSchema } from "@modelcontextprotocol/sdk/types.js"
import { createServer } from "node:http"
import process from "node:process"

const texts = new Map()

const structuredOf = (size) => {
  const made = texts.get(size) ?? { success: true, data: "x".repeat(Math.max(0, size - 26)) }
  texts.set(size, made)
  return made
}

const askN8n = async (path) => {
  const response = await fetch(new URL(path, process.env.N8N_URL), {
    headers: { "x-n8n-api-key": process.env.N8N_API_KEY, accept: "application/json" }
  })
  if (!response.ok) throw new Error(`n8n: ${response.status}`)
  return response.json()
}

const http = createServer(async (request, response) => {
  const server = new Server({ name: "floor", version: "0.0.0" }, { capabilities: { tools: {} } })
  server.setRequestHandler(
    CallToolRequestSchema,
    async ({ params }) => {
      await Promise.all(params.arguments.paths.map(askN8n))
      const structuredContent = structuredOf(params.arguments.size)
      return { content: [{ type: "text", text: JSON.stringify(structuredContent) }], structuredContent }
    }
  )
  const transport = new StreamableHTTPServerTransport({ sessionIdGenerator: undefined, enableJsonResponse: true })
  response.on("close", () => void server.close())
  await server.connect(transport)
  await transport.handleRequest(request, response)
})
// a turn of the other server may take longer than the five seconds it would be kept
http.keepAliveTimeout = 75_000
http.listen(0, "127.0.0.1", () => process.stderr.write(`address=http://127.0.0.1:${http.address().port}\n`))
