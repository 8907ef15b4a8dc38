/** Calls and routes, which all endpoints share. */
import type * as Effect from "effect/Effect"
import type { Check } from "./body.ts"
import type { Options } from "./N8nApi.ts"
import type { Parameters } from "./query.ts"
import type { Major, Refusal } from "./refusal.ts"
import type { State } from "./state.ts"

/** Request after n8n's validation, as passed to a handler. */
export interface Call {
  readonly version: Major
  readonly state: State
  readonly method: string
  readonly id: string
  readonly versionId: string
  readonly params: Readonly<Record<string, string>>
  readonly query: URLSearchParams
  readonly headers: Readonly<Record<string, string>>
  /** `undefined` if nothing was sent. */
  readonly body: unknown
  readonly now: string
  readonly webhookLag: number
  readonly deletionLag: number
  readonly blocksDeprecated: boolean
  readonly runs: Options["runs"] | undefined
}

export type Handler = (call: Call) => Effect.Effect<Response, Refusal>

export interface RouteOptions {
  readonly query?: Parameters
  /** Without it, the body is ignored. */
  readonly body?: Check
  readonly bodyIsOptional?: true
  /** Whether 1.x has no such path. */
  readonly only2?: true
}

export interface Route extends RouteOptions {
  readonly method: string
  readonly path: RegExp
  readonly handle: Handler
}

/** Makes a route. `:id` and `:version` in a path are also passed as `id` and `versionId`, and a `*` at its end as `id`. */
export const route = (method: string, path: string, options: RouteOptions, handle: Handler): Route => {
  const pattern = path.replaceAll(/:(\w+)/g, "(?<$1>[^/]+)").replace("*", "(?<id>.+)")
  return { ...options, method, path: new RegExp(`^${pattern}/?$`), handle }
}

export const api = (method: string, path: string, options: RouteOptions, handle: Handler): Route =>
  route(method, `/api/v1${path}`, options, handle)
