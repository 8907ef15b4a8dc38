/** Transport of a server without `--transport`: stdio, unless a connection is already open. */
import * as Context from "effect/Context"
import type * as Layer from "effect/Layer"
import type { McpTransport } from "../mcp/McpTransport.ts"
import * as Stdio from "../mcp/stdio/Stdio.ts"

export const StdioTransport = Context.Reference<Layer.Layer<McpTransport>>("effect-n8n-mcp/StdioTransport", {
  defaultValue: () => Stdio.layer
})
