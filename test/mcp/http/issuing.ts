/** An identity provider without a network, which can go down and change its keys. */
import * as Effect from "effect/Effect"
import * as HttpClient from "effect/http/HttpClient"
import { HttpClientError, TransportError } from "effect/http/HttpClientError"
import * as HttpClientResponse from "effect/http/HttpClientResponse"
import { exportJWK, generateKeyPair, type JWTPayload, SignJWT } from "jose"

export const issuer = "https://id.example.com/team"
export const resourceId = "https://n8n.example.com/mcp"

/** A key of an issuer; only its public part is told. */
export const makeKey = Effect.fnUntraced(function*(kid: string | undefined, alg = "ES256") {
  const { privateKey, publicKey } = yield* Effect.promise(() => generateKeyPair(alg, { extractable: true }))
  const jwk = {
    ...yield* Effect.promise(() => exportJWK(publicKey)),
    alg,
    use: "sig",
    ...(kid === undefined ? {} : { kid })
  }
  return { kid, alg, privateKey, publicKey, jwk }
})
export type Key = Effect.Success<ReturnType<typeof makeKey>>

export const claims: JWTPayload = {
  iss: issuer,
  aud: resourceId,
  sub: "alice",
  exp: 600,
  iat: 0,
  scope: "n8n:read n8n:write"
}

/** A token; claims that are `undefined` are not there. */
export const sign = (
  { alg, kid, privateKey }: Key,
  own: Record<string, unknown> = {},
  header: Record<string, unknown> = {}
) => {
  const all = Object.fromEntries(Object.entries({ ...claims, ...own }).filter(([, value]) => value !== undefined))
  return Effect.promise(() =>
    new SignJWT(all).setProtectedHeader({ alg, typ: "at+jwt", ...(kid === undefined ? {} : { kid }), ...header })
      .sign(privateKey)
  )
}

/** An issuer with keys. */
export const make = (first: ReadonlyArray<Key>) => {
  const state = {
    isUp: true,
    keys: first,
    metadata: { issuer, jwks_uri: "https://id.example.com/keys" } as object,
    /** The addresses that were asked. */
    asked: [] as Array<string>
  }
  const answer = (url: string) => {
    if (url === "https://id.example.com/keys") return { keys: state.keys.map(({ jwk }) => jwk) }
    // Where OpenID Connect has it: the last place.
    return url === `${issuer}/.well-known/openid-configuration` ? state.metadata : undefined
  }
  const client = HttpClient.make((request, { href }) => {
    state.asked.push(href)
    const body = answer(href)
    return state.isUp
      ? Effect.succeed(
        HttpClientResponse.fromWeb(request, new Response(JSON.stringify(body ?? {}), { status: body ? 200 : 404 }))
      )
      : Effect.fail(new HttpClientError({ reason: new TransportError({ request, description: "refused" }) }))
  })
  return { state, client }
}
