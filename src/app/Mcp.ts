/** What this server is to MCP clients. */
import type * as Tool from "../answer/Tool.ts"
import { version } from "../base/Version.ts"
import { instructions } from "../tools/Instructions.ts"
import * as prompts from "../tools/Prompts.ts"
import * as resources from "../tools/Resources.ts"

/** The name of the server, and of its command. */
export const name = "effect-n8n-mcp"

/** Everything but who keeps what clients hold. */
export const options = <T extends Tool.Any>(tools: ReadonlyArray<T>) => ({
  name,
  version,
  instructions,
  tools,
  resources: resources.all,
  prompts: prompts.all
})
