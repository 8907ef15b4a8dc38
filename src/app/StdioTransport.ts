/** How a server without `--transport` reaches its client: over stdio, unless the connection is open already. */
import * as Context from "effect/Context"
import type * as Layer from "effect/Layer"
import type { McpTransport } from "../mcp/McpTransport.ts"
import * as Stdio from "../mcp/stdio/Stdio.ts"

export const StdioTransport = Context.Reference<Layer.Layer<McpTransport>>("effect-n8n-mcp/StdioTransport", {
  defaultValue: () => Stdio.layer
})
