/**
 * The least a server can be: the SDK's low-level `Server` on its stdio transport, with one tool. The tool downloads a
 * path of n8n's API, reads the body to its end and throws it away: what nobody who reads an execution gets under.
 *
 * JavaScript, because stripping types would be part of its start.
 */
import { Server } from "@modelcontextprotocol/sdk/server/index.js"
import { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js"
import { CallToolRequestSchema, ListToolsRequestSchema } from "@modelcontextprotocol/sdk/types.js"
import process from "node:process"

const download = {
  name: "download",
  description: "Downloads a path of n8n's API and throws the body away.",
  inputSchema: {
    type: "object",
    properties: { path: { type: "string", description: "What follows /api/v1/." } },
    required: ["path"]
  }
}

const server = new Server({ name: "floor", version: "0.0.0" }, { capabilities: { tools: {} } })
server.setRequestHandler(ListToolsRequestSchema, () => ({ tools: [download] }))
server.setRequestHandler(CallToolRequestSchema, async ({ params }) => {
  const response = await fetch(new URL(`api/v1/${params.arguments.path}`, process.env.N8N_URL), {
    headers: { "x-n8n-api-key": process.env.N8N_API_KEY }
  })
  let bytes = 0
  for await (const chunk of response.body) bytes += chunk.length
  return { content: [{ type: "text", text: JSON.stringify({ status: response.status, bytes }) }] }
})
await server.connect(new StdioServerTransport())
