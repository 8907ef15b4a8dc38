/** `tools` and `call`: lists the tools, and runs one. */
import * as Argument from "effect/cli/Argument"
import * as Command from "effect/cli/Command"
import * as Effect from "effect/Effect"
import * as McpServer from "../../mcp/McpServer.ts"
import * as Options from "../config/Options.ts"
import * as ToolContext from "../ToolContext.ts"
import { offeredTools, print, root, servedTools } from "./root.ts"

export const tools = Command.make(
  "tools",
  {},
  Effect.fnUntraced(function*() {
    for (const tool of yield* offeredTools(yield* root)) {
      yield* print(`${tool.name.padEnd(28)}${tool.description}`)
    }
  })
).pipe(Command.withDescription("List the tools"))

export const call = Command.make(
  "call",
  {
    tool: Argument.String("tool").pipe(Argument.withDescription("Name of a tool")),
    json: Argument.String("arguments").pipe(Argument.withDescription("Arguments as JSON"), Argument.withDefault("{}"))
  },
  Effect.fnUntraced(function*({ json, tool: name }) {
    const options = yield* root
    const served = yield* servedTools(options)
    const tool = McpServer.find(served, name)
    if (tool === undefined) {
      return yield* Options.refuse(McpServer.unknownTool(served, name))
    }
    const result = yield* McpServer.respond(tool, json).pipe(Effect.provide(ToolContext.layer(options)))
    yield* print(result.content.map((block) => block.type === "text" ? block.text : "").join("\n"))
    if (result.isError === true) process.exitCode = 1
  })
).pipe(Command.withDescription("Call one tool and print its answer"))
