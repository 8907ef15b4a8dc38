/** OAuth 2.1 resource server: accepts access tokens (JWT) of one issuer, announced by RFC 9728. */
import * as Clock from "effect/Clock"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import { decodeJwt, errors, type JWTPayload, jwtVerify, type JWTVerifyOptions, type JWTVerifyResult } from "jose"
import { sha256 } from "../../base/Hash.ts"
import { str } from "../../base/Json.ts"
import { type Access, bearer, type Identity } from "./Access.ts"
import * as Issuer from "./Issuer.ts"
import * as Refusal from "./Refusal.ts"

/** Scopes of tokens; write includes read. */
export const scopes = { read: "n8n:read", write: "n8n:write" } as const

/** Accepted signature algorithms, all asymmetric. */
export const algorithms: ReadonlyArray<string> = "RS256 RS384 RS512 PS256 PS384 PS512 ES256 ES384 ES512 EdDSA Ed25519"
  .split(" ")

/** Tolerated difference between the clocks of issuer and server, in seconds. */
export const clockTolerance = 30

export interface Resource {
  /** Canonical address, the required audience of tokens. */
  readonly id: string
  readonly metadataUrl: string
  readonly paths: ReadonlyArray<string>
  readonly metadata: object
  /** Scopes for clients to request. */
  readonly scope: string
  /** Scopes to request for a call that changes something. */
  readonly writeScope: string
}

const wellKnown = "/.well-known/oauth-protected-resource"

/** Path of MCP at a public address, which may end in `/mcp` or not. */
export const pathAt = ({ pathname }: URL): string => {
  const base = pathname.replace(/\/+$/, "")
  return base.endsWith("/mcp") ? base : `${base}/mcp`
}

/** Resource at a public address; a read-only one has no write scope. */
export const resource = (
  { issuer, publicUrl, readOnly, scopePrefix = "" }: {
    readonly issuer: string
    readonly publicUrl: URL
    readonly readOnly: boolean
    /** Prefix of the scopes that clients request, which the scopes of tokens do not have. */
    readonly scopePrefix?: string | undefined
  }
): Resource => {
  const path = pathAt(publicUrl)
  const id = `${publicUrl.origin}${path}`
  const all = [scopes.read, scopes.write].map((scope) => `${scopePrefix}${scope}`)
  const supported = readOnly ? all.slice(0, 1) : all
  return {
    id,
    metadataUrl: `${publicUrl.origin}${wellKnown}${path}`,
    paths: [...new Set([wellKnown, `${wellKnown}/mcp`, `${wellKnown}${path}`])],
    metadata: {
      resource: id,
      authorization_servers: [issuer],
      scopes_supported: supported,
      bearer_methods_supported: ["header"],
      resource_name: "n8n"
    },
    scope: supported.join(" "),
    writeScope: all.join(" ")
  }
}

export interface Target {
  readonly client: string | undefined
  /** Whether the profile is read-only, even if the token allows writing. */
  readonly readOnly: boolean
}

export interface Options {
  readonly issuer: string
  readonly resource: Resource
  /** Audience that the provider uses instead of the server's address, such as an application id. */
  readonly audience?: string | undefined
  readonly profileClaim: string
  /** Target for the claim's value, which may be absent; `undefined` refuses the token. */
  readonly targetOf: (profile: string | undefined) => Target | undefined
}

class Unverified extends Data.TaggedError("Unverified")<{ readonly cause: unknown }> {}

class InvalidToken extends Data.TaggedError("InvalidToken")<{ readonly message: string }> {}

const notSigned = "It is not a signed JWT"

const reasonOf = (error: unknown, audiences: ReadonlyArray<string>): string => {
  if (error instanceof errors.JWTExpired) return "It has expired"
  if (error instanceof errors.JWTClaimValidationFailed) {
    const { claim } = error
    if (claim === "aud") return `Its audience is not ${audiences.join(" or ")}`
    if (claim === "iss") return "It is from another issuer"
    if (claim === "nbf") return "It is not valid yet"
    return `Its claim ${["sub", "exp", "iat"].includes(claim) ? claim : "set"} is missing or wrong`
  }
  if (error instanceof errors.JOSEAlgNotAllowed) return "Its algorithm is not accepted"
  if (error instanceof errors.JWSSignatureVerificationFailed || error instanceof errors.JWKSNoMatchingKey) {
    return "It was not signed by a key of the issuer"
  }
  return notSigned
}

/** Tries all matching keys for a token that names none. */
const verified = async (token: string, keys: Issuer.Keys, options: JWTVerifyOptions): Promise<JWTVerifyResult> => {
  try {
    return await jwtVerify(token, keys, options)
  } catch (error) {
    if (!(error instanceof errors.JWKSMultipleMatchingKeys)) throw error
    for await (const key of error) {
      try {
        return await jwtVerify(token, key, options)
      } catch (other) {
        if (!(other instanceof errors.JWSSignatureVerificationFailed)) throw other
      }
    }
    throw new errors.JWSSignatureVerificationFailed()
  }
}

const ofIdTokens = ["nonce", "at_hash", "c_hash"]

/**
 * Reason why a token is not an access token. Its header says `at+jwt` (RFC 9068) or, as by default with most providers,
 * only `JWT`; then Keycloak's claim `typ` decides, and without it no claim may be one of ID tokens.
 */
const otherKind = ({ payload, protectedHeader }: JWTVerifyResult): string | undefined => {
  const kind = (protectedHeader.typ ?? "").toLowerCase().replace(/^application\//, "")
  if (kind === "at+jwt") return undefined
  if (kind !== "jwt") return "Its type is neither at+jwt nor JWT"
  const { typ } = payload
  const isAccess = typ === undefined
    ? !ofIdTokens.some((claim) => Object.hasOwn(payload, claim))
    : typeof typ === "string" && typ.toLowerCase() === "bearer"
  return isAccess ? undefined : "It is not an access token, but an ID token or another kind"
}

const words = (value: unknown): ReadonlyArray<string> =>
  typeof value === "string"
    ? value.split(" ")
    : Array.isArray(value)
    ? value.filter((each) => typeof each === "string")
    : []

/** Whether the token belongs to a program that logged in with its own secret, as Entra marks it. */
const isOfProgram = ({ appid, azp, idtyp, oid, sub }: JWTPayload) =>
  idtyp === undefined ? (azp ?? appid) !== undefined && oid !== undefined && oid === sub : idtyp === "app"

/** Scopes of a token, as text or list under either claim name; a program of Entra has roles instead. */
const scopesOf = (claims: JWTPayload): ReadonlyArray<string> => {
  const own = [claims["scope"], claims["scp"]].flatMap(words)
  return own.length === 0 && isOfProgram(claims) ? words(claims["roles"]) : own
}

const maxSubjectChars = 255

const quoted = (text: string) => text.replace(/[^\x20-\x7e]|["\\]/g, "")

const unavailable = Refusal.make(
  503,
  "The identity provider cannot be reached, so this token cannot be verified: call again in a moment. The operator finds the reason in the log and with doctor.",
  { headers: { "retry-after": "5" } }
)

/** Access by tokens of the issuer; unknown keys cause a refresh. */
export const access = (
  { audience, issuer, profileClaim, resource, targetOf }: Options,
  keys: Issuer.KeyStore
): Access => {
  const audiences = audience === undefined ? [resource.id] : [resource.id, audience]
  const spellings = Issuer.spellings(issuer)
  const challenge = (details: string) => ({
    "www-authenticate": `Bearer realm="effect-n8n-mcp"${details}, resource_metadata="${quoted(resource.metadataUrl)}"`
  })
  const unauthorized = (problem: string) =>
    Refusal.make(401, `This token is not accepted: ${problem}.`, {
      headers: challenge(
        `, error="invalid_token", error_description="${quoted(problem)}", scope="${resource.scope}"`
      )
    })
  const insufficient = (scope: string, message: string) =>
    Refusal.make(403, message, { headers: challenge(`, error="insufficient_scope", scope="${scope}"`) })
  const noToken = Refusal.make(
    401,
    "A token is required: log in; the header WWW-Authenticate names the identity provider's metadata.",
    { headers: challenge(`, scope="${resource.scope}"`) }
  )
  const writeRefusal = insufficient(
    resource.writeScope,
    `This token may only read: calls that change something need the scope ${scopes.write}.`
  )

  /** Tokens of other issuers are refused before any keys are read. */
  const checkIssuer = (token: string) =>
    Effect.try({
      try: () => decodeJwt(token).iss,
      catch: () => new InvalidToken({ message: notSigned })
    }).pipe(
      Effect.filterOrFail(
        (iss) => spellings.includes(iss ?? ""),
        () => new InvalidToken({ message: "It is from another issuer" })
      )
    )

  const claimsOf = Effect.fnUntraced(function*(token: string) {
    yield* checkIssuer(token)
    const options: JWTVerifyOptions = {
      issuer: spellings,
      audience: audiences,
      algorithms: [...algorithms],
      requiredClaims: ["sub", "exp"],
      clockTolerance,
      currentDate: new Date(yield* Clock.currentTimeMillis)
    }
    const verify = (keys: Issuer.Keys) =>
      Effect.tryPromise({ try: () => verified(token, keys, options), catch: (cause) => new Unverified({ cause }) })
    const result = yield* verify(yield* keys.current).pipe(
      Effect.catchIf(
        ({ cause }) => cause instanceof errors.JWKSNoMatchingKey,
        () => Effect.flatMap(keys.renewed, verify)
      ),
      Effect.catchTag("Unverified", ({ cause }) => new InvalidToken({ message: reasonOf(cause, audiences) }))
    )
    const message = otherKind(result)
    return message === undefined ? result.payload : yield* new InvalidToken({ message })
  })

  const callerOf = Effect.fnUntraced(function*(claims: JWTPayload) {
    const subject = str(claims.sub) ?? ""
    if (subject === "" || subject.length > maxSubjectChars) {
      return yield* Effect.fail(unauthorized("Its claim sub is missing or wrong"))
    }
    const own = scopesOf(claims)
    const mayWrite = own.includes(scopes.write)
    if (!mayWrite && !own.includes(scopes.read)) {
      return yield* Effect.fail(
        insufficient(resource.scope, `This token has neither of the scopes ${scopes.read} and ${scopes.write}.`)
      )
    }
    const profile = claims[profileClaim]
    const target = profile === undefined || typeof profile === "string" ? targetOf(profile) : undefined
    if (target === undefined) {
      const message = `This token selects no n8n: its claim '${profileClaim}' does not name a profile of this server.`
      return yield* Effect.fail(Refusal.make(403, message))
    }
    const principal = sha256(JSON.stringify([spellings[0], subject]), "base64url")
    return {
      client: target.client,
      key: `subject ${principal}`,
      principal,
      subject,
      ...(mayWrite ? {} : { readOnly: true, ...(target.readOnly ? {} : { writeRefusal }) })
    } satisfies Identity
  })

  return (authorization) => {
    const token = bearer(authorization)
    if (token === undefined) {
      return Effect.fail(authorization === undefined ? noToken : unauthorized("It is no bearer token"))
    }
    return claimsOf(token).pipe(
      Effect.mapError((error) => error._tag === "IssuerError" ? unavailable : unauthorized(error.message)),
      Effect.flatMap(callerOf)
    )
  }
}
