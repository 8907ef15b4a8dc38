/** `pnpm demo`: starts the built server on a simulated n8n, and finds out why last night's run failed. */
import { Client } from "@modelcontextprotocol/sdk/client/index.js"
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js"
import * as Schema from "effect/Schema"
import { execFileSync } from "node:child_process"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"

const server = fileURLToPath(new URL("../../dist/main.js", import.meta.url))

const client = new Client({ name: "walkthrough", version: "0" })
await client.connect(new StdioClientTransport({ command: process.execPath, args: [server, "--demo"] }))

const print = (text: string) => process.stdout.write(`${text}\n`)

const call = async <A>(name: string, args: Record<string, unknown>, data: Schema.Decoder<A>) => {
  print(`> ${name}(${Object.entries(args).map(([key, value]) => `${key}: ${JSON.stringify(value)}`).join(", ")})`)
  const { structuredContent } = await client.callTool({ name, arguments: args })
  return Schema.decodeUnknownSync(Schema.Struct({ data }))(structuredContent).data
}

const text = Schema.String

print("Why did last night's run fail? Three calls to the server, as an AI agent makes them; n8n is simulated.\n")
const { executions: [{ id, workflowId, workflowName }] } = await call(
  "list_executions",
  { status: "error", limit: 1 },
  Schema.Struct({
    executions: Schema.NonEmptyArray(Schema.Struct({ id: text, workflowId: text, workflowName: text }))
  })
)
print(`  Run ${id} of '${workflowName}' failed.`)
const { availableNodes, failure: { error, inputItem, node } } = await call(
  "get_execution",
  { id },
  Schema.Struct({
    availableNodes: Schema.Array(Schema.Struct({ nodeName: text, status: text, items: Schema.Int })),
    failure: Schema.Struct({
      node: text,
      error: Schema.Struct({ description: text, httpCode: text }),
      inputItem: Schema.Struct({ id: text, name: text, email: Schema.Null, createdBy: text })
    })
  })
)
const path = availableNodes.toReversed().map(({ items, nodeName, status }) =>
  `${nodeName} ${status === "success" ? items : "✗"}`
)
print(`  ${path.join(" → ")}`)
print(`  The item it failed at: ${JSON.stringify(inputItem)}`)
const { parameters: { jsonBody, method, url } } = await call(
  "get_execution_by_node",
  { id, nodeName: node, itemOffset: 1, itemLimit: 1 },
  Schema.Struct({ parameters: Schema.Struct({ jsonBody: text, method: text, url: text }) })
)
print(`  What it sent: ${method} ${url} ${jsonBody}`)
await client.close()

print(`
'${node}' was refused with HTTP ${error.httpCode} (${error.description}):
${inputItem.name} was created by a ${inputItem.createdBy} and has no email,
and the node sends the empty field to the CRM.
`)
const picture = join(tmpdir(), `run-${id}.svg`)
execFileSync(process.execPath, [server, "--demo", "picture", workflowId, "--execution", id, "--out", picture])
print(`The run as a picture: ${picture}
Now try:  claude mcp add n8n-demo -- node ${server} --demo
and ask:  Why did last night's run fail? Fix it in a draft.`)
