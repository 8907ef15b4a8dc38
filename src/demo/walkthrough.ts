/** `pnpm demo`: starts the built server on a simulated n8n and finds out why last night's run failed. */
import { Client } from "@modelcontextprotocol/sdk/client/index.js"
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js"
import * as Schema from "effect/Schema"

const server = new URL("../../dist/main.js", import.meta.url).pathname

const client = new Client({ name: "walkthrough", version: "0" })
await client.connect(new StdioClientTransport({ command: process.execPath, args: [server, "--demo"] }))

const print = (text: string) => process.stdout.write(`${text}\n`)

const call = async <A>(purpose: string, name: string, args: Record<string, unknown>, data: Schema.Decoder<A>) => {
  const listed = Object.entries(args).map(([key, value]) => `${key}: ${JSON.stringify(value)}`).join(", ")
  print(`\n${purpose}\n> ${name}(${listed})`)
  const { structuredContent } = await client.callTool({ name, arguments: args })
  const answer = Schema.decodeUnknownSync(Schema.Struct({ message: Schema.String, data: Schema.Unknown }))(
    structuredContent
  )
  const json = JSON.stringify(answer.data, null, 1).replace(/\n\s*/g, " ")
  print(`${answer.message}\n${json.replace(/(.{1,116})( |$)/g, "  $1\n").trimEnd()}`)
  return Schema.decodeUnknownSync(data)(answer.data)
}

print("Question: why did last night's run fail? Three calls, each with the answer that a model reads:")
const { executions: [{ id }] } = await call(
  "1. Find the failed execution.",
  "list_executions",
  { status: "error", limit: 1 },
  Schema.Struct({ executions: Schema.NonEmptyArray(Schema.Struct({ id: Schema.String })) })
)
const { failure: { error, inputItem, node } } = await call(
  "2. Read its summary: which node failed, why, and on which item.",
  "get_execution",
  { id },
  Schema.Struct({
    failure: Schema.Struct({
      node: Schema.String,
      error: Schema.Struct({ description: Schema.String, httpCode: Schema.String }),
      inputItem: Schema.Struct({ id: Schema.String, name: Schema.String, createdBy: Schema.String })
    })
  })
)
await call(
  "3. Look at that item and the node's parameters.",
  "get_execution_by_node",
  { id, nodeName: node, itemOffset: 1, itemLimit: 1 },
  Schema.Unknown
)
print(
  `\nAnswer: '${node}' received customer ${inputItem.id} (${inputItem.name}), created by a ${inputItem.createdBy} ` +
    `without an email. The CRM refused it with HTTP ${error.httpCode} (${error.description}).`
)
await client.close()
