/** The protocol's versions, and how a request says which it is of. */
import { type Obj, obj } from "../../base/Json.ts"
import * as Rpc from "../Rpc.ts"

/** The version whose requests each bring all that they need. */
export const modern = "2026-07-28"

/** Those that begin with `initialize`: the SDK's, which is not loaded for the list. */
export const legacy: ReadonlyArray<string> = ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05", "2024-10-07"]

/** All, the newest first. */
export const supported: ReadonlyArray<string> = [modern, ...legacy]

/** What a request says of itself in `_meta`. */
export const meta = {
  version: "io.modelcontextprotocol/protocolVersion",
  capabilities: "io.modelcontextprotocol/clientCapabilities",
  server: "io.modelcontextprotocol/serverInfo"
} as const

/** The `_meta` of a message. */
export const metaOf = (message: Rpc.Message): Obj =>
  obj("method" in message ? message.params?.["_meta"] : undefined) ?? {}

/** Refuses a version that is not spoken. */
export const unsupported = (requested: string): Rpc.RpcError =>
  new Rpc.RpcError({
    code: Rpc.codes.unsupportedVersion,
    message: `Unsupported protocol version: ${requested}`,
    data: { supported, requested }
  })
