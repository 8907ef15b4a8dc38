/** Who may call: bearer tokens, each bound to a client's name. */
import * as Redacted from "effect/Redacted"
import { createHash, timingSafeEqual } from "node:crypto"
import type { Caller } from "../../McpTransport.ts"

/** One token that is taken, and whose it is. Several may be the same client's, so that one can be replaced. */
export interface Grant {
  readonly token: Redacted.Redacted<string>
  /** Told to `McpServer` as the caller's name. */
  readonly client: string | undefined
}

/** Somebody who may call. */
export interface Known extends Caller {
  /** Different for each token: what limits count by. */
  readonly key: string
}

/** Tells who calls, given the `Authorization` header; `undefined` is nobody. */
export type Access = (authorization: string | undefined) => Known | undefined

const digest = (text: string) => createHash("sha256").update(text).digest()

const bearer = /^Bearer +(\S+) *$/i

/**
 * The access that these grants give; everybody where there is none, as `openTo`.
 *
 * **Details**
 *
 * Digests are compared, all of them, in constant time: how long it takes tells nothing of a token.
 */
export const make = (grants: ReadonlyArray<Grant>, openTo: string | undefined): Access => {
  const known = grants.map(({ client, token }, index) => ({
    digest: digest(Redacted.value(token)),
    caller: { client, key: `token ${index}` }
  }))
  if (known.length === 0) return () => ({ client: openTo, key: "everybody" })
  return (authorization) => {
    const given = digest(bearer.exec(authorization ?? "")?.[1] ?? "")
    let found: Known | undefined
    for (const each of known) {
      if (timingSafeEqual(each.digest, given)) found = each.caller
    }
    return found
  }
}
