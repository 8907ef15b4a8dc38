/** JSON-RPC 2.0 as MCP uses it: messages, and errors with MCP's codes. */
import * as Data from "effect/Data"
import { type Obj, obj } from "../base/Json.ts"

/** Error codes of JSON-RPC and MCP. */
export const codes = {
  parseError: -32700,
  invalidRequest: -32600,
  methodNotFound: -32601,
  invalidParams: -32602,
  internalError: -32603,
  /** Refusal by rules of the server. */
  refused: -32000,
  headerMismatch: -32020,
  missingCapability: -32021,
  unsupportedVersion: -32022
} as const

/** Id of a request. */
export type Id = string | number

/** Message that expects no answer. */
export interface Notification {
  readonly jsonrpc: "2.0"
  readonly method: string
  readonly params?: Obj
}

/** Message that expects an answer. */
export interface Request extends Notification {
  readonly id: Id
}

/** Answer to a request. */
export interface Response {
  readonly jsonrpc: "2.0"
  readonly id: Id
  readonly result?: Obj
  readonly error?: { readonly code: number; readonly message: string; readonly data?: unknown }
}

/** JSON-RPC 2.0 message. */
export type Message = Request | Notification | Response

/** Refusal of a request; `code` and `data` reach the client. */
export class RpcError extends Data.TaggedError("RpcError")<{
  readonly code: number
  readonly message: string
  readonly data?: unknown
}> {}

/** Refusal of invalid parameters. */
export const invalidParams = (message: string, data?: unknown): RpcError =>
  new RpcError({ code: codes.invalidParams, message, data })

/** Answer that refuses a request. */
export const failure = <I extends Id | null>(
  id: I,
  { code, data, message }: Pick<RpcError, "code" | "data" | "message">
) => ({ jsonrpc: "2.0" as const, id, error: { code, message, ...(data === undefined ? {} : { data }) } })

const isId = (value: unknown): value is Id => typeof value === "string" || Number.isSafeInteger(value)

/** Id of a value, for the answer to it; also a number that is not a valid id. */
export const idOf = (value: unknown): Id | undefined => {
  const id = obj(value)?.["id"]
  return isId(id) || Number.isFinite(id) ? id as Id : undefined
}

/** Reason why a value is not a message. */
export const problem = (value: unknown): string => {
  const { id } = obj(value) ?? {}
  return id === undefined || isId(id) ? "not a JSON-RPC 2.0 message" : "the id of a request is a string or an integer"
}

/** Parses a message and drops unknown keys; `undefined` if the value is not a message. */
export const parse = (value: unknown): Message | undefined => {
  const { error, id, jsonrpc, method, params, result } = obj(value) ?? {}
  if (jsonrpc !== "2.0" || id !== undefined && !isId(id)) return undefined
  if (typeof method === "string") {
    const own = obj(params)
    if (params !== undefined && own === undefined) return undefined
    return { jsonrpc, ...(id === undefined ? {} : { id }), method, ...(own === undefined ? {} : { params: own }) }
  }
  if (method !== undefined || id === undefined) return undefined
  const success = obj(result)
  if (success !== undefined) return { jsonrpc, id, result: success }
  const { code, data, message } = obj(error) ?? {}
  return Number.isSafeInteger(code) ? failure(id, { code: Number(code), data, message: String(message) }) : undefined
}

/** Whether a message expects an answer. */
export const isRequest = (message: Message): message is Request => "method" in message && "id" in message
