/** Serves MCP. */
import * as Command from "effect/cli/Command"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { join } from "node:path"
import { version } from "../../base/Version.ts"
import * as Sealing from "../../mcp/eras/Sealing.ts"
import * as McpServer from "../../mcp/McpServer.ts"
import * as Stdio from "../../mcp/stdio/Stdio.ts"
import { instructions } from "../../tools/Instructions.ts"
import * as prompts from "../../tools/Prompts.ts"
import * as resources from "../../tools/Resources.ts"
import * as Snapshots from "../../workflows/store/Snapshots.ts"
import * as Options from "../Options.ts"
import * as ToolContext from "../ToolContext.ts"
import { name, root } from "./root.ts"

export const serve = root.pipe(
  Command.withHandler(Effect.fnUntraced(function*(options) {
    const tools = yield* Options.servedTools(options)
    const sealing = yield* options.demo
      ? Sealing.memory
      : Sealing.folder(join(Snapshots.defaultFolder(process.env), "sealing"))
    const mcp = { name, version, instructions, tools, resources: resources.all, prompts: prompts.all, sealing }
    if (options.transport === "http") {
      const ServeHttp = yield* Effect.promise(() => import("../ServeHttp.ts"))
      return yield* ServeHttp.serve(mcp, options)
    }
    yield* McpServer.serve(mcp).pipe(Effect.provide(Layer.mergeAll(Stdio.layer, ToolContext.layer(options))))
  }))
)
