/** An MCP server in somebody's app: own and our tools, a policy that resources respect, an audit, a health route. */
import { N8nClient, Services, Tool, tools } from "effect-n8n-mcp"
import { McpServer } from "effect-n8n-mcp/mcp"
import { FakeN8n } from "effect-n8n-mcp/testing"
import * as resources from "effect-n8n-mcp/tools/Resources"
import * as Effect from "effect/Effect"
import * as HttpRouter from "effect/http/HttpRouter"
import * as HttpServer from "effect/http/HttpServer"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"

const audit: Array<string> = []

class Denied extends Schema.TaggedError<Denied>()("Denied", { hint: Schema.String }) {
  override readonly message = "Secret workflows stay secret"
}

const getWorkflow = Tool.wrap(tools.getWorkflow, (run, input) =>
  Effect.gen(function*() {
    audit.push(`get ${input.id}`)
    return input.id === "secret" ? yield* new Denied({ hint: "Ask for another one." }) : yield* run(input)
  }))

const countWorkflows = Tool.make({
  name: "count_workflows",
  title: "Count workflows",
  description: "How many workflows are there?",
  annotations: Tool.readOnly,
  input: Schema.Struct({}),
  output: Schema.Struct({ count: Schema.Int }),
  handler: () => N8nClient.N8nClient.use((n8n) => n8n.listWorkflows({ limit: 100, archived: false })),
  summarize: ({ workflows }) => ({ count: workflows.length }),
  message: ({ count }) => `${count} workflows`
})

const app = Layer.merge(
  HttpRouter.add("GET", "/", HttpServerResponse.text("our app")),
  McpServer.layerHttp({
    path: "/mcp",
    name: "our-app",
    version: "1.2.0",
    tools: [getWorkflow, countWorkflows],
    resources: resources.all
  })
)

const workflows = ["open", "secret"].map((id) => ({ id, name: id, nodes: [] }))
const n8n = Layer.merge(FakeN8n.layer({ workflows, executions: [] }), Services.layerMemory)

export const test = Effect.promise(async () => {
  const { dispose, handler } = HttpRouter.toWebHandler(
    app.pipe(Layer.provide(n8n), Layer.provide(HttpServer.layerServices)),
    { disableLogger: true }
  )
  const rpc = async (method: string, params: object) => {
    const request = new Request("http://localhost/mcp", {
      method: "POST",
      headers: { "content-type": "application/json", accept: "application/json, text/event-stream" },
      body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params })
    })
    return JSON.stringify(await (await handler(request)).json())
  }
  const call = (name: string, args: object) => rpc("tools/call", { name, arguments: args })
  const answers = {
    health: await (await handler(new Request("http://localhost/health"))).json(),
    count: (await call("count_workflows", {})).includes("2 workflows"),
    open: (await call("get_workflow", { id: "open" })).includes("\"success\":true"),
    isDenied: (await call("get_workflow", { id: "secret" })).includes("Secret workflows stay secret"),
    isDeniedAsResource: !(await rpc("resources/read", { uri: "n8n://workflow/secret" })).includes("\"contents\""),
    audit
  }
  await dispose()
  return answers
})

export const expected = {
  health: { status: "ok", name: "our-app", version: "1.2.0" },
  count: true,
  open: true,
  isDenied: true,
  isDeniedAsResource: true,
  audit: ["get open", "get secret", "get secret"]
}
