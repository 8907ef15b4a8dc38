/** Checks of the identity provider. */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as HttpClient from "effect/http/HttpClient"
import * as HttpClientResponse from "effect/http/HttpClientResponse"
import * as Schema from "effect/Schema"
import { counted } from "../../base/Plural.ts"
import * as Issuer from "../../mcp/http/Issuer.ts"
import * as OAuth from "../../mcp/http/OAuth.ts"
import type { Check } from "./Doctor.ts"

/** Checks the provider's metadata and clock. */
const issuerCheck = Effect.fnUntraced(function*(issuer: string, date: string | undefined) {
  const difference = Math.round((Date.parse(date ?? "") - (yield* Clock.currentTimeMillis)) / 1000)
  return Math.abs(difference) > OAuth.clockTolerance
    ? {
      name: "OAuth issuer",
      status: "failed",
      detail: `${issuer}, whose clock is ${Math.abs(difference)} s ${difference > 0 ? "ahead" : "behind"}`,
      cure: `Set both clocks (NTP): tokens allow a difference of ${OAuth.clockTolerance} s.`
    } satisfies Check
    : { name: "OAuth issuer", status: "ok", detail: issuer } satisfies Check
})

const failed = (name: string, { message }: Issuer.IssuerError, cure: string): Check => ({
  name,
  status: "failed",
  detail: message,
  cure
})

const keysCheck = (url: string) =>
  Issuer.keysAt(url).pipe(
    Effect.map(({ keys }): Check => {
      const usable = keys.filter(({ alg, kty, use }) =>
        ["RSA", "EC", "OKP"].includes(kty) && (use ?? "sig") === "sig" &&
        (alg === undefined || OAuth.algorithms.includes(String(alg)))
      )
      return usable.length > 0
        ? { name: "OAuth keys", status: "ok", detail: `${counted(usable.length, "key")} at ${url}` }
        : {
          name: "OAuth keys",
          status: "failed",
          detail: `none of the ${counted(keys.length, "key")} at ${url} signs access tokens`,
          cure: `Have the provider sign with one of ${OAuth.algorithms.join(", ")}.`
        }
    }),
    Effect.catch((error) => Effect.succeed(failed("OAuth keys", error, "Have the provider serve its keys there.")))
  )

/** Checks the metadata under the public address, if the server already runs there. */
const audienceCheck = ({ id, metadataUrl }: OAuth.Resource) =>
  HttpClient.get(metadataUrl).pipe(
    Effect.flatMap(HttpClientResponse.filterStatusOk),
    Effect.flatMap(HttpClientResponse.schemaBodyJson(Schema.Struct({ resource: Schema.String }))),
    Effect.timeout("5 seconds"),
    Effect.map(({ resource }): Check =>
      resource === id ? { name: "OAuth audience", status: "ok", detail: id } : {
        name: "OAuth audience",
        status: "failed",
        detail: `${metadataUrl} names '${resource.slice(0, 200)}' as the audience of tokens, not ${id}`,
        cure: "Give every server behind that address the same --public-url."
      }
    ),
    Effect.orElseSucceed((): Check => ({
      name: "OAuth audience",
      status: "warning",
      detail: `${id}; ${metadataUrl} does not answer`,
      cure: "If clients cannot log in: start the server, and have the proxy in front of it forward /.well-known/."
    }))
  )

/** Checks an issuer's metadata and keys, and the metadata for clients. */
export const examine = (
  { issuer, resource }: { readonly issuer: string; readonly resource: OAuth.Resource }
): Effect.Effect<ReadonlyArray<Check>, never, HttpClient.HttpClient> =>
  Issuer.metadata(issuer).pipe(
    Effect.flatMap(({ date, keysUrl }) => Effect.all([issuerCheck(issuer, date), keysCheck(keysUrl)])),
    Effect.catch((error) =>
      Effect.succeed<ReadonlyArray<Check>>([
        failed(
          "OAuth issuer",
          error,
          "Check --oauth-issuer (N8N_MCP_OAUTH_ISSUER), and that this machine can reach it."
        ),
        { name: "OAuth keys", status: "skipped", detail: "needs the issuer" }
      ])
    ),
    Effect.flatMap((checks) => Effect.map(audienceCheck(resource), (audience) => [...checks, audience]))
  )
