/**
 * `pnpm demo`: starts the built server as an MCP client would and finds out why last night's run failed. It prints what
 * a model sees; n8n is simulated in the server's memory.
 */
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import { Client } from "@modelcontextprotocol/sdk/client/index.js"
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"

const server = new URL("../../dist/main.js", import.meta.url).pathname

const connect = Effect.acquireRelease(
  Effect.promise(async () => {
    const client = new Client({ name: "walkthrough", version: "0" })
    await client.connect(new StdioClientTransport({ command: process.execPath, args: [server, "--demo"] }))
    return client
  }),
  (client) => Effect.promise(() => client.close())
)

const Answer = Schema.Struct({ message: Schema.String, data: Schema.Unknown })

const walk = Effect.gen(function*() {
  const client = yield* connect

  const call = <S extends Schema.ConstraintDecoder<unknown>>(
    purpose: string,
    name: string,
    args: Record<string, unknown>,
    schema: S
  ) =>
    Effect.gen(function*() {
      yield* Console.log(
        `\n${purpose}\n> ${name}(${
          Object.entries(args).map(([key, value]) => `${key}: ${JSON.stringify(value)}`).join(", ")
        })`
      )
      const { structuredContent } = yield* Effect.promise(() => client.callTool({ name, arguments: args }))
      const { data, message } = yield* Schema.decodeUnknownEffect(Answer)(structuredContent)
      yield* Console.log(
        `${message}\n${
          JSON.stringify(data, null, 1).replace(/\n\s*/g, " ").replace(/(.{1,116})( |$)/g, "  $1\n").trimEnd()
        }`
      )
      return yield* Schema.decodeUnknownEffect(schema)(data)
    })

  yield* Console.log("Question: why did last night's run fail? Three calls, each with the answer that a model reads:")
  const failed = yield* call(
    "1. Find the failed execution.",
    "list_executions",
    { status: "error", limit: 1 },
    Schema.Struct({ executions: Schema.NonEmptyArray(Schema.Struct({ id: Schema.String })) })
  )
  const { id } = failed.executions[0]
  const summary = yield* call(
    "2. Read its summary: which node failed, why, and on which item.",
    "get_execution",
    { id },
    Schema.Struct({
      failure: Schema.Struct({
        node: Schema.String,
        error: Schema.Struct({ message: Schema.String, description: Schema.String, httpCode: Schema.String }),
        inputItem: Schema.Struct({
          id: Schema.String,
          name: Schema.String,
          email: Schema.Null,
          createdBy: Schema.String
        })
      })
    })
  )
  const { error, inputItem, node } = summary.failure
  yield* call(
    "3. Look at that item and the node's parameters.",
    "get_execution_by_node",
    { id, nodeName: node, itemOffset: 1, itemLimit: 1 },
    Schema.Unknown
  )
  yield* Console.log(
    `\nAnswer: '${node}' received customer ${inputItem.id} (${inputItem.name}), created by a ${inputItem.createdBy} ` +
      `without an email. The CRM refused it with HTTP ${error.httpCode} (${error.description}).`
  )
})

NodeRuntime.runMain(Effect.scoped(walk))
