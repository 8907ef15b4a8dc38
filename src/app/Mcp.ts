/** Description of this server for MCP clients. */
import type * as Tool from "../answer/Tool.ts"
import { version } from "../base/Version.ts"
import { instructions } from "../tools/Instructions.ts"
import * as prompts from "../tools/Prompts.ts"
import * as resources from "../tools/Resources.ts"
import * as skills from "../tools/Skills.ts"

export const name = "effect-n8n-mcp"

export const options = <T extends Tool.Any>(tools: ReadonlyArray<T>) => ({
  name,
  version,
  instructions,
  tools,
  resources: resources.all,
  prompts: prompts.all,
  skills: skills.all
})
