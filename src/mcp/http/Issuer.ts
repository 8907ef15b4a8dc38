/** Metadata and keys of the identity provider. */
import * as Clock from "effect/Clock"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as HttpClient from "effect/http/HttpClient"
import * as HttpClientResponse from "effect/http/HttpClientResponse"
import * as Schema from "effect/Schema"
import { createLocalJWKSet, type JSONWebKeySet } from "jose"
import * as Hosts from "./Hosts.ts"

export class IssuerError extends Data.TaggedError("IssuerError")<{ readonly message: string }> {}

/** Relevant part of an issuer's metadata (RFC 8414 or OpenID Connect Discovery). */
const Metadata = Schema.Struct({ issuer: Schema.String, jwks_uri: Schema.String })

const KeySet = Schema.Struct({
  keys: Schema.Array(Schema.StructWithRest(Schema.Struct({ kty: Schema.String }), [
    Schema.Record(Schema.String, Schema.Unknown)
  ]))
})

export type Keys = ReturnType<typeof createLocalJWKSet>

/** Both spellings of the issuer: providers differ in the trailing slash. */
export const spellings = (issuer: string): [string, string] => {
  const bare = issuer.replace(/\/+$/, "")
  return [bare, `${bare}/`]
}

/** Whether a URL is safe for tokens and keys: TLS, or this machine. */
export const isSafe = ({ hostname, protocol }: URL): boolean =>
  protocol === "https:" || protocol === "http:" && Hosts.isLoopback(hostname.replace(/^\[|\]$/g, ""))

/** Possible locations of the metadata, in the order that MCP clients try them. */
const places = (issuer: string): ReadonlyArray<string> => {
  const { origin, pathname } = new URL(issuer)
  const path = pathname.replace(/\/+$/, "")
  return [
    `${origin}/.well-known/oauth-authorization-server${path}`,
    `${origin}/.well-known/openid-configuration${path}`,
    ...path === "" ? [] : [`${origin}${path}/.well-known/openid-configuration`]
  ]
}

const patience = "5 seconds"

const get = <A, I extends Record<string, unknown>>(url: string, schema: Schema.Codec<A, I>) =>
  HttpClient.get(url).pipe(
    Effect.flatMap(HttpClientResponse.filterStatusOk),
    Effect.flatMap((response) =>
      Effect.map(HttpClientResponse.schemaBodyJson(schema)(response), (body) => ({
        body,
        date: response.headers["date"]
      }))
    ),
    Effect.timeout(patience),
    Effect.mapError((error) =>
      new IssuerError({
        message: error._tag === "SchemaError" ? `${url} returns something else` : `${url}: ${error.message}`
      })
    )
  )

/** Reads an issuer's metadata and the time of its clock; fails if the metadata names another issuer. */
export const metadata = Effect.fn("Issuer.metadata")(function*(issuer: string) {
  const [first = "", ...others] = places(issuer)
  const { body, date } = yield* others.reduce(
    (earlier, place) => Effect.catch(earlier, (error) => Effect.mapError(get(place, Metadata), () => error)),
    get(first, Metadata)
  )
  if (!spellings(issuer).includes(body.issuer)) {
    return yield* new IssuerError({ message: `it calls itself '${body.issuer.slice(0, 200)}'` })
  }
  if (!URL.canParse(body.jwks_uri) || !isSafe(new URL(body.jwks_uri))) {
    return yield* new IssuerError({ message: `its keys are not at an https address: '${body.jwks_uri.slice(0, 200)}'` })
  }
  return { keysUrl: body.jwks_uri, date }
})

export const keysAt = (url: string) => Effect.map(get(url, KeySet), ({ body }) => body)

/** Minimum time between two reads, and maximum age of keys. */
const pause = "5 seconds"
const maxAge = 10 * 60_000

/** Caches the keys of an issuer, which may be unavailable at times. */
export const make = Effect.fnUntraced(function*(issuer: string) {
  const http = yield* HttpClient.HttpClient
  const scope = yield* Effect.scope
  let cached: { readonly keys: Keys; readonly readAt: number } | undefined
  let isDown = false

  const read = metadata(issuer).pipe(
    Effect.flatMap(({ keysUrl }) => keysAt(keysUrl)),
    Effect.map((set) => createLocalJWKSet(set as unknown as JSONWebKeySet)),
    Effect.provideService(HttpClient.HttpClient, http),
    // A third party must not receive our trace headers.
    Effect.provideService(HttpClient.TracerPropagationEnabled, false),
    Effect.tap(Effect.fnUntraced(function*(keys) {
      cached = { keys, readAt: yield* Clock.currentTimeMillis }
      if (isDown) yield* Effect.logInfo("the OAuth issuer answers again")
      isDown = false
    })),
    Effect.tapError(({ message }) => {
      isDown = true
      return Effect.annotateLogs(Effect.logWarning("the OAuth issuer's keys cannot be read"), "reason", message)
    })
  )
  // A fiber of the scope: a caller who leaves does not interrupt the others.
  const reading = yield* Effect.cachedWithTTL(Effect.forkIn(read, scope), pause)
  const renewed = Effect.flatMap(reading, Fiber.join)

  return {
    /** Cached keys, read if there are none; old keys are refreshed in the background. */
    current: Effect.gen(function*() {
      if (cached === undefined) return yield* renewed
      if ((yield* Clock.currentTimeMillis) - cached.readAt > maxAge) yield* reading
      return cached.keys
    }),
    renewed
  }
})

export type KeyStore = Effect.Success<ReturnType<typeof make>>
