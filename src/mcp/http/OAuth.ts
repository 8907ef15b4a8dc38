/**
 * An OAuth 2.1 resource server: takes access tokens (JWT, RFC 9068) of one issuer, and tells clients where they get
 * them (RFC 9728). Never an issuer.
 */
import * as Clock from "effect/Clock"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import { decodeJwt, errors, type JWTPayload, jwtVerify, type JWTVerifyOptions } from "jose"
import { createHash } from "node:crypto"
import { str } from "../../base/Json.ts"
import { type Access, bearer, type Known } from "./Access.ts"
import * as Issuer from "./Issuer.ts"
import * as Refusal from "./refusal.ts"

/** What a token may do; whoever may write may read too. */
export const scopes = { read: "n8n:read", write: "n8n:write" } as const

/** Signatures that only the holder of a private key makes. */
export const algorithms: ReadonlyArray<string> = [
  "RS256",
  "RS384",
  "RS512",
  "PS256",
  "PS384",
  "PS512",
  "ES256",
  "ES384",
  "ES512",
  "EdDSA",
  "Ed25519"
]

/** Seconds that the clocks of issuer and server may differ. */
export const clockTolerance = 30

/** The server, as an authorization server and clients know it. */
export interface Resource {
  /** Its canonical address, which tokens must have as their audience. */
  readonly id: string
  /** The address of its metadata. */
  readonly metadataUrl: string
  /** The paths of its metadata. */
  readonly paths: ReadonlyArray<string>
  readonly metadata: object
  /** The scopes that a client asks for. */
  readonly scope: string
}

const wellKnown = "/.well-known/oauth-protected-resource"

/** The path of MCP at a public address, which is with or without `/mcp`. */
export const pathAt = ({ pathname }: URL): string => {
  const base = pathname.replace(/\/+$/, "")
  return base.endsWith("/mcp") ? base : `${base}/mcp`
}

/** The resource at a public address; a read-only one offers no scope to write. */
export const resource = (
  { issuer, publicUrl, readOnly }: { readonly issuer: string; readonly publicUrl: URL; readonly readOnly: boolean }
): Resource => {
  const path = pathAt(publicUrl)
  const id = `${publicUrl.origin}${path}`
  const offered = readOnly ? [scopes.read] : [scopes.read, scopes.write]
  return {
    id,
    metadataUrl: `${publicUrl.origin}${wellKnown}${path}`,
    paths: [...new Set([wellKnown, `${wellKnown}/mcp`, `${wellKnown}${path}`])],
    metadata: {
      resource: id,
      authorization_servers: [issuer],
      scopes_supported: offered,
      bearer_methods_supported: ["header"],
      resource_name: "n8n"
    },
    scope: offered.join(" ")
  }
}

/** The profile that a token leads to. */
export interface Target {
  /** The caller's name for `McpServer`. */
  readonly client: string | undefined
  /** Whether nothing is changed there, whatever a token allows. */
  readonly readOnly: boolean
}

/** What decides about tokens. */
export interface Options {
  /** Its identifier, an address. */
  readonly issuer: string
  readonly resource: Resource
  /** The claim that names the profile. */
  readonly profileClaim: string
  /** The target of the claim's value, which may be absent; `undefined` refuses the token. */
  readonly targetOf: (profile: string | undefined) => Target | undefined
}

/** jose does not accept a token. */
class Unverified extends Data.TaggedError("Unverified")<{ readonly cause: unknown }> {}

/** A token that is not taken. */
class InvalidToken extends Data.TaggedError("InvalidToken")<{ readonly message: string }> {}

const reasonOf = (error: unknown, resource: Resource): string => {
  if (error instanceof errors.JWTExpired) return "It has expired"
  if (error instanceof errors.JWTClaimValidationFailed) {
    const { claim } = error
    if (claim === "aud") return `Its audience is not ${resource.id}`
    if (claim === "iss") return "It is of another issuer"
    if (claim === "typ") return "Its type is not at+jwt"
    if (claim === "nbf") return "It is not valid yet"
    return `Its claim ${["sub", "exp", "iat"].includes(claim) ? claim : "set"} is missing or wrong`
  }
  if (error instanceof errors.JOSEAlgNotAllowed) return "Its algorithm is not taken"
  if (error instanceof errors.JWSSignatureVerificationFailed || error instanceof errors.JWKSNoMatchingKey) {
    return "No key of the issuer has signed it"
  }
  return "It is no signed JWT"
}

/** Several keys of an issuer may match a token that names none. */
const verified = async (token: string, keys: Issuer.Keys, options: JWTVerifyOptions): Promise<JWTPayload> => {
  try {
    return (await jwtVerify(token, keys, options)).payload
  } catch (error) {
    if (!(error instanceof errors.JWKSMultipleMatchingKeys)) throw error
    for await (const key of error) {
      try {
        return (await jwtVerify(token, key, options)).payload
      } catch (other) {
        if (!(other instanceof errors.JWSSignatureVerificationFailed)) throw other
      }
    }
    throw new errors.JWSSignatureVerificationFailed()
  }
}

/** What a token's scopes are; providers write them as one text or as a list, under either name. */
const scopesOf = ({ scope, scp }: JWTPayload): ReadonlyArray<string> =>
  [scope, scp].flatMap((value) =>
    typeof value === "string"
      ? value.split(" ")
      : Array.isArray(value)
      ? value.filter((each) => typeof each === "string")
      : []
  )

const maxSubjectChars = 255

/** A text within quotes in a header. */
const quoted = (text: string) => text.replace(/[^\x20-\x7e]|["\\]/g, "")

const unavailable: Refusal.Refusal = {
  status: 503,
  code: "UNAVAILABLE",
  message:
    "The identity provider cannot be reached, so this token cannot be examined: call again in a moment. Whoever runs the server finds the reason in its log, and with doctor.",
  headers: { "retry-after": "5" }
}

/** The access that tokens of the issuer give; `renewed` keys are read when a token's is unknown. */
export const access = ({ issuer, profileClaim, resource, targetOf }: Options, keys: Issuer.KeyStore): Access => {
  const spellings = Issuer.spellings(issuer)
  const challenge = (details: string) => ({
    "www-authenticate": `Bearer realm="effect-n8n-mcp"${details}, resource_metadata="${quoted(resource.metadataUrl)}"`
  })
  const unauthorized = (problem: string | undefined): Refusal.Refusal => ({
    ...Refusal.unauthorized(problem !== undefined),
    message: problem === undefined
      ? "A token is needed: log in, for which the header WWW-Authenticate names the identity provider's metadata."
      : `This token is not taken: ${problem}.`,
    headers: challenge(
      `${
        problem === undefined ? "" : `, error="invalid_token", error_description="${quoted(problem)}"`
      }, scope="${resource.scope}"`
    )
  })
  const insufficient = (scope: string, message: string): Refusal.Refusal => ({
    status: 403,
    code: "FORBIDDEN",
    message,
    headers: challenge(`, error="insufficient_scope", scope="${scope}"`)
  })
  const writeRefusal = insufficient(
    `${scopes.read} ${scopes.write}`,
    `This token may only read: a call that changes something needs one with the scope ${scopes.write}.`
  )

  /** Another issuer's token is refused before it makes anybody read keys. */
  const checkIssuer = (token: string) =>
    Effect.try({
      try: () => decodeJwt(token).iss,
      catch: () => new InvalidToken({ message: "It is no signed JWT" })
    }).pipe(
      Effect.filterOrFail(
        (iss) => spellings.includes(iss ?? ""),
        () => new InvalidToken({ message: "It is of another issuer" })
      )
    )

  const claimsOf = Effect.fnUntraced(function*(token: string) {
    yield* checkIssuer(token)
    const options: JWTVerifyOptions = {
      issuer: spellings,
      audience: resource.id,
      algorithms: [...algorithms],
      typ: "at+jwt",
      requiredClaims: ["sub", "exp"],
      clockTolerance,
      currentDate: new Date(yield* Clock.currentTimeMillis)
    }
    const verify = (keys: Issuer.Keys) =>
      Effect.tryPromise({ try: () => verified(token, keys, options), catch: (cause) => new Unverified({ cause }) })
    return yield* verify(yield* keys.current).pipe(
      Effect.catchIf(
        ({ cause }) => cause instanceof errors.JWKSNoMatchingKey,
        () => Effect.flatMap(keys.renewed, verify)
      ),
      Effect.catchTag("Unverified", ({ cause }) => new InvalidToken({ message: reasonOf(cause, resource) }))
    )
  })

  const known = Effect.fnUntraced(function*(claims: JWTPayload) {
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
      return yield* Effect.fail<Refusal.Refusal>({
        status: 403,
        code: "FORBIDDEN",
        message: `This token leads to no n8n: its claim '${profileClaim}' names no profile of this server.`
      })
    }
    const principal = createHash("sha256").update(JSON.stringify([spellings[0], subject])).digest("base64url")
    return {
      client: target.client,
      key: `subject ${principal}`,
      principal,
      subject,
      ...(mayWrite ? {} : { readOnly: true, ...(target.readOnly ? {} : { writeRefusal }) })
    } satisfies Known
  })

  return (authorization) => {
    const token = bearer(authorization)
    if (token === undefined) {
      return Effect.fail(unauthorized(authorization === undefined ? undefined : "It is no bearer token"))
    }
    return claimsOf(token).pipe(
      Effect.mapError((error) => error._tag === "IssuerError" ? unavailable : unauthorized(error.message)),
      Effect.flatMap(known)
    )
  }
}
