/** What all endpoints share: a call as a handler sees it, and routes. */
import type * as Effect from "effect/Effect"
import type { Check } from "./body.ts"
import type { Parameters } from "./query.ts"
import type { Major, Refusal } from "./refusal.ts"
import type { State } from "./state.ts"

/** One request, by the time it has passed every check that n8n makes before it looks at what it holds. */
export interface Call {
  readonly version: Major
  readonly state: State
  readonly method: string
  readonly id: string
  readonly versionId: string
  readonly query: URLSearchParams
  readonly headers: Readonly<Record<string, string>>
  /** Empty where nothing was sent. */
  readonly body: unknown
  readonly now: string
  readonly settling: number
  readonly unpublishing: number
}

/** Answers a call. */
export type Handler = (call: Call) => Effect.Effect<Response, Refusal>

/** What a route takes besides its path. */
export interface Takes {
  readonly query?: Parameters
  /** Without it, whatever is sent is ignored. */
  readonly body?: Check
  readonly bodyIsOptional?: true
  /** 1.x has no such path. */
  readonly only2?: true
}

/** One endpoint. */
export interface Route extends Takes {
  readonly method: string
  readonly path: RegExp
  readonly handle: Handler
}

/** `:id` and `:version` in a path are what the handler finds as `id` and `versionId`; a `*` at its end is an `id`, too. */
export const route = (method: string, path: string, takes: Takes, handle: Handler): Route => {
  const pattern = path.replace(":id", "(?<id>[^/]+)").replace(":version", "(?<version>[^/]+)").replace("*", "(?<id>.+)")
  return { ...takes, method, path: new RegExp(`^${pattern}/?$`), handle }
}

/** A route of the public API. */
export const api = (method: string, path: string, takes: Takes, handle: Handler): Route =>
  route(method, `/api/v1${path}`, takes, handle)
