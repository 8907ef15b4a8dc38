/** Requests of 2026-07-28. */
import { obj } from "../../../src/base/Json.ts"
import { meta, modern } from "../../../src/mcp/eras/Versions.ts"
import type * as Rpc from "../../../src/mcp/Rpc.ts"

/** A request, with what every one needs in `_meta`. */
export const request = (
  method: string,
  params: object = {},
  capabilities: object = {},
  id: Rpc.Id = 7
): Rpc.Request => ({
  jsonrpc: "2.0",
  id,
  method,
  params: {
    ...params,
    _meta: { [meta.version]: modern, [meta.capabilities]: capabilities, ...obj(obj(params)?.["_meta"]) }
  }
})

/** The headers that HTTP wants with a request. */
export const headersOf = ({ method, params }: Rpc.Request): Record<string, string> => {
  const name = params?.["name"] ?? params?.["uri"]
  return {
    "content-type": "application/json",
    accept: "application/json, text/event-stream",
    "mcp-protocol-version": modern,
    "mcp-method": method,
    ...(typeof name === "string" ? { "mcp-name": name } : {})
  }
}
