/** Versions of the protocol, and the version of a request. */
import { type Obj, obj } from "../../base/Json.ts"
import * as Rpc from "../Rpc.ts"

/** Version with self-contained requests. */
export const modern = "2026-07-28"

/** Versions that start with `initialize`: the SDK's, listed here without loading it. */
export const legacy: ReadonlyArray<string> = ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05", "2024-10-07"]

export const supported: ReadonlyArray<string> = [modern, ...legacy]

export const meta = {
  version: "io.modelcontextprotocol/protocolVersion",
  capabilities: "io.modelcontextprotocol/clientCapabilities",
  server: "io.modelcontextprotocol/serverInfo"
} as const

export const metaOf = (message: Rpc.Message): Obj =>
  obj("method" in message ? message.params?.["_meta"] : undefined) ?? {}

export const unsupported = (requested: string): Rpc.RpcError =>
  new Rpc.RpcError({
    code: Rpc.codes.unsupportedVersion,
    message: `Unsupported protocol version: ${requested}`,
    data: { supported, requested }
  })
