/** `pnpm demo`: starts the built server on a simulated n8n, finds out why last night's run failed, and replays a fix. */
import { Client } from "@modelcontextprotocol/sdk/client/index.js"
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js"
import * as Schema from "effect/Schema"
import { execFileSync } from "node:child_process"
import { mkdtempSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { nodeCommand } from "../base/NodeCommand.ts"

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

print(
  "Why did last night's run fail? Five calls, as an AI agent makes them. n8n is simulated, its replays are recorded.\n"
)
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
const { input: { sources: [{ count: before }] }, parameters: { jsonBody, method, url } } = await call(
  "get_execution_by_node",
  { id, nodeName: node, itemOffset: 1, itemLimit: 1 },
  Schema.Struct({
    input: Schema.Struct({ sources: Schema.NonEmptyArray(Schema.Struct({ count: Schema.Int })) }),
    parameters: Schema.Struct({ jsonBody: text, method: text, url: text })
  })
)
print(`  What it sent: ${method} ${url} ${jsonBody}`)
const expression = "={{ $json.consent && Boolean($json.email) }}"
await call("workflow_edit", {
  workflowId,
  operations: [{
    op: "set",
    node: "Agreed to marketing?",
    path: "conditions.conditions[0].leftValue",
    value: expression
  }]
}, Schema.Struct({ published: Schema.Literal(false) }))
print("  Changed in a draft: customers without an email take the other way. The published version still runs.")
const { data: { items: leftOut }, sent } = await call(
  "test_workflow",
  { workflowId, replay: id },
  Schema.Struct({
    status: Schema.Literal("success"),
    data: Schema.Struct({ items: Schema.Array(Schema.Struct({ json: Schema.Struct({ name: text }) })) }),
    sent: Schema.Array(Schema.Struct({ node: text, items: Schema.Int }))
  })
)
await client.close()
const contacts = sent.find((each) => each.node === node)?.items ?? 0
print(
  `  Success: '${node}' would get ${contacts} contacts; left out: ${leftOut.map(({ json }) => json.name).join(", ")}`
)

const picture = join(mkdtempSync(join(tmpdir(), "n8n-demo-")), `run-${id}.svg`)
execFileSync(process.execPath, [server, "--demo", "picture", workflowId, "--execution", id, "--out", picture])
print(`
The run failed because ${inputItem.name}, created by a ${inputItem.createdBy}, has no email: the CRM refused him (HTTP ${error.httpCode}).
The draft leaves him out. Replayed on last night's data it succeeds, with ${contacts} contacts instead of ${before}, and nothing was sent.
Nothing is live yet: activate_workflow publishes the draft, and workflow_restore takes it back.

The failed run as a picture: ${picture}
Now try:  claude mcp add n8n-demo -- ${nodeCommand().join(" ")} ${server} --demo
and ask:  Why did last night's run fail? Fix it in a draft.`)
