/** The identity provider whose tokens are taken: what it says of itself, and its keys. */
import * as Clock from "effect/Clock"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as HttpClient from "effect/http/HttpClient"
import * as HttpClientResponse from "effect/http/HttpClientResponse"
import * as Schema from "effect/Schema"
import * as Semaphore from "effect/Semaphore"
import { createLocalJWKSet, type JSONWebKeySet } from "jose"
import * as Hosts from "./Hosts.ts"

/** The issuer gives no keys. */
export class IssuerError extends Data.TaggedError("IssuerError")<{ readonly message: string }> {}

/** What is read of an issuer's metadata (RFC 8414, or OpenID Connect Discovery). */
export const Metadata = Schema.Struct({ issuer: Schema.String, jwks_uri: Schema.String })

const KeySet = Schema.Struct({
  keys: Schema.Array(Schema.StructWithRest(Schema.Struct({ kty: Schema.String }), [
    Schema.Record(Schema.String, Schema.Unknown)
  ]))
})

/** Public keys, as jose selects among them. */
export type Keys = ReturnType<typeof createLocalJWKSet>

/** The issuer's two spellings: providers differ in the slash at the end. */
export const spellings = (issuer: string): [string, string] => {
  const bare = issuer.replace(/\/+$/, "")
  return [bare, `${bare}/`]
}

/** Whether tokens and keys are safe on their way: over TLS, or within this machine. */
export const isSafe = ({ hostname, protocol }: URL): boolean =>
  protocol === "https:" || protocol === "http:" && Hosts.isLoopback(hostname.replace(/^\[|\]$/g, ""))

/** Where the metadata may be, in the order in which MCP's clients look. */
const places = (issuer: string): ReadonlyArray<string> => {
  const { origin, pathname } = new URL(issuer)
  const path = pathname.replace(/\/+$/, "")
  return [
    `${origin}/.well-known/oauth-authorization-server${path}`,
    `${origin}/.well-known/openid-configuration${path}`,
    ...path === "" ? [] : [`${origin}${path}/.well-known/openid-configuration`]
  ]
}

/** How long the issuer may take for one answer. */
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
        message: error._tag === "SchemaError" ? `${url} gives something else` : `${url}: ${error.message}`
      })
    )
  )

/** The metadata of an issuer, and when it was sent by the issuer's clock; fails where it is another's. */
export const metadata = Effect.fn("Issuer.metadata")(function*(issuer: string) {
  const [first = "", ...others] = places(issuer)
  const { body, date } = yield* others.reduce(
    (found, place) => Effect.catch(found, (error) => Effect.mapError(get(place, Metadata), () => error)),
    get(first, Metadata)
  )
  if (!spellings(issuer).includes(body.issuer)) {
    return yield* new IssuerError({ message: `it calls itself '${body.issuer.slice(0, 200)}'` })
  }
  if (!URL.canParse(body.jwks_uri) || !isSafe(new URL(body.jwks_uri))) {
    return yield* new IssuerError({ message: `its keys are at no https address: '${body.jwks_uri.slice(0, 200)}'` })
  }
  return { keysUrl: body.jwks_uri, date }
})

/** The keys at an address of an issuer's metadata. */
export const keysAt = (url: string) => Effect.map(get(url, KeySet), ({ body }) => body)

/** Milliseconds between two readings, whatever callers send; how long keys are used before they are read anew. */
const pause = 5_000
const maxAge = 10 * 60_000

/** The keys of an issuer, read when they are needed. */
export interface KeyStore {
  /** Those in hand, however old; without any they are read. Old ones are read anew behind the call. */
  readonly current: Effect.Effect<Keys, IssuerError>
  /** Read anew, unless they just were; fails where they cannot be. */
  readonly renewed: Effect.Effect<Keys, IssuerError>
}

/** Keeps the keys of an issuer; it may be down now or later. */
export const make = Effect.fnUntraced(function*(issuer: string) {
  const http = yield* HttpClient.HttpClient
  const scope = yield* Effect.scope
  const turn = yield* Semaphore.make(1)
  let inHand: { readonly keys: Keys; readonly readAt: number } | undefined
  let last: { readonly at: number; readonly error?: IssuerError } | undefined

  const read = metadata(issuer).pipe(
    Effect.flatMap(({ keysUrl }) => keysAt(keysUrl)),
    Effect.map((set) => createLocalJWKSet(set as unknown as JSONWebKeySet)),
    Effect.provideService(HttpClient.HttpClient, http),
    // It belongs to others, and it learns no trace of ours.
    Effect.provideService(HttpClient.TracerPropagationEnabled, false)
  )

  const refresh = turn.withPermit(Effect.gen(function*() {
    const at = yield* Clock.currentTimeMillis
    if (last !== undefined && at - last.at < pause) return
    yield* Effect.matchEffect(read, {
      onSuccess: (keys) =>
        Effect.suspend(() => {
          const isBack = last?.error !== undefined
          inHand = { keys, readAt: at }
          last = { at }
          return isBack ? Effect.logInfo("the OAuth issuer answers again") : Effect.void
        }),
      onFailure: (error) =>
        Effect.suspend(() => {
          last = { at, error }
          return Effect.annotateLogs(Effect.logWarning("the OAuth issuer gives no keys"), "reason", error.message)
        })
    })
  }))

  const keys = Effect.suspend(() =>
    inHand === undefined
      ? Effect.fail(last?.error ?? new IssuerError({ message: "its keys are not read yet" }))
      : Effect.succeed(inHand.keys)
  )

  return {
    current: Effect.gen(function*() {
      if (inHand === undefined) yield* refresh
      else if ((yield* Clock.currentTimeMillis) - inHand.readAt > maxAge) yield* Effect.forkIn(refresh, scope)
      return yield* keys
    }),
    renewed: Effect.andThen(refresh, Effect.suspend(() => last?.error === undefined ? keys : Effect.fail(last.error)))
  } satisfies KeyStore
})
