/**
 * The least an HTTP server can be: the SDK's low-level `Server` on its stateless transport and node:http, with one tool
 * that answers a text of the size it is asked for. What nobody who serves MCP with this SDK gets under.
 *
 * JavaScript, as the bench's other floor is.
 */
import { Server } from "@modelcontextprotocol/sdk/server/index.js"
import { StreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/streamableHttp.js"
import { CallToolRequestSchema } from "@modelcontextprotocol/sdk/types.js"
import { createServer } from "node:http"
import process from "node:process"

const texts = new Map()

const textOf = (size) => {
  const made = texts.get(size) ?? "x".repeat(size)
  texts.set(size, made)
  return made
}

const http = createServer(async (request, response) => {
  const server = new Server({ name: "floor", version: "0.0.0" }, { capabilities: { tools: {} } })
  server.setRequestHandler(
    CallToolRequestSchema,
    ({ params }) => ({ content: [{ type: "text", text: textOf(params.arguments.size) }] })
  )
  const transport = new StreamableHTTPServerTransport({ sessionIdGenerator: undefined, enableJsonResponse: true })
  response.on("close", () => void server.close())
  await server.connect(transport)
  await transport.handleRequest(request, response)
})
// a turn of the other server may take longer than the five seconds it would be kept
http.keepAliveTimeout = 75_000
http.listen(0, "127.0.0.1", () => process.stderr.write(`address=http://127.0.0.1:${http.address().port}\n`))
