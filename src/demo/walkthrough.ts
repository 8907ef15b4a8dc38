/**
 * `pnpm demo`: starts the built server as an MCP client would, and finds out why last night's run failed. What is
 * printed is what a model sees; the n8n behind it is in the server's memory.
 */
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import { Client } from "@modelcontextprotocol/sdk/client/index.js"
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"

const server = new URL("../../dist/main.js", import.meta.url).pathname

const connected = Effect.acquireRelease(
  Effect.promise(async () => {
    const client = new Client({ name: "walkthrough", version: "0" })
    await client.connect(new StdioClientTransport({ command: process.execPath, args: [server, "--demo"] }))
    return client
  }),
  (client) => Effect.promise(() => client.close())
)

const Answer = Schema.Struct({ message: Schema.String, data: Schema.Unknown })

const walk = Effect.gen(function*() {
  const client = yield* connected

  const call = <S extends Schema.ConstraintDecoder<unknown>>(name: string, args: Record<string, unknown>, schema: S) =>
    Effect.gen(function*() {
      yield* Console.log(
        `\n> ${name}(${Object.entries(args).map(([key, value]) => `${key}: ${JSON.stringify(value)}`).join(", ")})`
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

  yield* Console.log("Why did last night's run fail?")
  const failed = yield* call(
    "list_executions",
    { status: "error", limit: 1 },
    Schema.Struct({ executions: Schema.NonEmptyArray(Schema.Struct({ id: Schema.String })) })
  )
  const { id } = failed.executions[0]
  const summary = yield* call(
    "get_execution",
    { id },
    Schema.Struct({
      failure: Schema.Struct({
        node: Schema.String,
        error: Schema.Struct({ message: Schema.String, description: Schema.String, httpCode: Schema.String }),
        inputItem: Schema.Struct({ id: Schema.String, name: Schema.String, email: Schema.Null })
      })
    })
  )
  const { error, inputItem, node } = summary.failure
  yield* call("get_execution_by_node", { id, nodeName: node, itemOffset: 1, itemLimit: 1 }, Schema.Unknown)
  yield* Console.log(
    `\nBecause '${node}' got customer ${inputItem.id} (${inputItem.name}) without an email, and the CRM answered ${error.httpCode} (${error.description}).`
  )
})

NodeRuntime.runMain(Effect.scoped(walk))
