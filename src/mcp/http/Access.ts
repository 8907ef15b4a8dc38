/** Identification of callers over HTTP: by bearer tokens, or by rules of one's own. */
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import { createHash, timingSafeEqual } from "node:crypto"
import type { Caller } from "../McpTransport.ts"
import * as Refusal from "./Refusal.ts"

/** Valid token and its client. A client may have several, so that one can be replaced. */
export interface Grant {
  readonly token: Redacted.Redacted<string>
  /** The caller's name for `McpServer`. */
  readonly client: string | undefined
}

/** Caller with what limits need to know. */
export interface Identity extends Caller {
  /** Key of the token, or of the person behind several; limits count by it. */
  readonly key: string
  /** Answer to a call that changes something without permission. */
  readonly writeRefusal?: Refusal.Refusal
}

/**
 * Returns the caller of an `Authorization` header, or the refusal; `contextFor` of `McpServer.layerHttpWith` receives
 * the caller with its type, so `data` may be anything.
 */
export type Access<out C extends Identity = Identity> = (
  authorization: string | undefined
) => Effect.Effect<C, Refusal.Refusal>

const digest = (text: string) => createHash("sha256").update(text).digest()

const pattern = /^Bearer +(\S+) *$/i

/** Token of an `Authorization` header. @internal */
export const bearer = (authorization: string | undefined): string | undefined => pattern.exec(authorization ?? "")?.[1]

/** Accepts the tokens of `grants`, in constant time, then asks `others`; without both, all are the client `openTo`. */
export const make = (grants: ReadonlyArray<Grant>, openTo?: string, others?: Access): Access => {
  const callers = grants.map(({ client, token }) => {
    const own = digest(Redacted.value(token))
    const principal = own.toString("base64url")
    return { digest: own, caller: { client, key: `token ${principal}`, principal } }
  })
  if (callers.length === 0) return others ?? (() => Effect.succeed({ client: openTo, key: "everybody" }))
  return (authorization) => {
    const requested = digest(bearer(authorization) ?? "")
    // No early exit: the time would reveal which token matched.
    const caller = callers.reduce<Identity | undefined>(
      (match, { caller, digest }) => timingSafeEqual(digest, requested) ? caller : match,
      undefined
    )
    if (caller !== undefined) return Effect.succeed(caller)
    return others?.(authorization) ?? Effect.fail(Refusal.unauthorized(authorization !== undefined))
  }
}
