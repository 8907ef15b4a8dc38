/** Description of this server for MCP clients. */
import * as Effect from "effect/Effect"
import type * as Tool from "../answer/Tool.ts"
import { version } from "../base/Version.ts"
import { instructions } from "../tools/Instructions.ts"
import * as prompts from "../tools/Prompts.ts"
import * as resources from "../tools/Resources.ts"
import * as skills from "../tools/Skills.ts"
import * as Toolsets from "../tools/Toolsets.ts"
import * as Options from "./config/Options.ts"
import * as Upstreams from "./config/Upstreams.ts"
import { name } from "./Environment.ts"

export const options = <T extends Tool.Any>(
  tools: ReadonlyArray<T>,
  selection: Pick<Options.Options, "excludeTools"> = { excludeTools: [] }
) => ({
  name,
  version,
  instructions,
  tools,
  absence: (tool: string) => Toolsets.absence(tool, selection),
  resources: resources.all,
  prompts: prompts.all,
  skills: skills.all
})

/** Served tools: over stdio those for files too if there is no folder for them, to say what to set. */
export const servedTools = Effect.fnUntraced(function*(options: Options.Options) {
  const upstreams = options.transport === "stdio" ? [] : (yield* Upstreams.load(options)).upstreams
  const selected = Toolsets.select({
    toolsets: options.toolsets,
    tools: options.tools,
    excludeTools: options.excludeTools,
    hasFiles: options.transport === "stdio" ||
      upstreams.some(({ filesRoots = options.filesRoot }) => filesRoots.length > 0),
    credentialEnv: options.credentialEnv.length > 0
  })
  return yield* Effect.mapError(Effect.fromResult(selected), Options.refuse)
})
