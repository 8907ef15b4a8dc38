/** Who may call: bearer tokens, each bound to a client's name. */
import * as Redacted from "effect/Redacted"
import { createHash, timingSafeEqual } from "node:crypto"
import type { Caller } from "../McpTransport.ts"

/** One valid token and its client. A client may have several, so that one can be replaced. */
export interface Grant {
  readonly token: Redacted.Redacted<string>
  /** The caller's name for `McpServer`. */
  readonly client: string | undefined
}

/** A caller with access. */
export interface Known extends Caller {
  /** Identifies the token; limits count by it. */
  readonly key: string
}

/** The caller of an `Authorization` header; `undefined` for one without access. */
export type Access = (authorization: string | undefined) => Known | undefined

const digest = (text: string) => createHash("sha256").update(text).digest()

const bearer = /^Bearer +(\S+) *$/i

/**
 * The access that these grants give; without any, everybody has access, as the client `openTo`.
 *
 * **Details**
 *
 * All digests are compared, in constant time: the duration tells nothing about a token.
 */
export const make = (grants: ReadonlyArray<Grant>, openTo: string | undefined): Access => {
  const known = grants.map(({ client, token }, index) => {
    const own = digest(Redacted.value(token))
    return { digest: own, caller: { client, key: `token ${index}`, principal: own.toString("base64url") } }
  })
  if (known.length === 0) return () => ({ client: openTo, key: "everybody" })
  return (authorization) => {
    const requested = digest(bearer.exec(authorization ?? "")?.[1] ?? "")
    // No early exit: it would take less time for the first tokens.
    return known.reduce<Known | undefined>(
      (match, { caller, digest }) => timingSafeEqual(digest, requested) ? caller : match,
      undefined
    )
  }
}
