/** Checks of what is between callers and this server: the identity provider, and the proxy in front of the server. */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as HttpClient from "effect/http/HttpClient"
import * as HttpClientRequest from "effect/http/HttpClientRequest"
import * as HttpClientResponse from "effect/http/HttpClientResponse"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import { obj } from "../../base/Json.ts"
import { counted } from "../../base/Plural.ts"
import * as Versions from "../../mcp/eras/Versions.ts"
import * as Issuer from "../../mcp/http/Issuer.ts"
import * as OAuth from "../../mcp/http/OAuth.ts"
import * as Rpc from "../../mcp/Rpc.ts"
import * as OAuthOptions from "../config/OAuthOptions.ts"
import type * as Options from "../config/Options.ts"
import { type Check, failed, ok, warning } from "./N8nChecks.ts"

const clockCheck = Effect.fnUntraced(function*(issuer: string, date: string | undefined) {
  const difference = Math.round((Date.parse(date ?? "") - (yield* Clock.currentTimeMillis)) / 1000)
  return Math.abs(difference) > OAuth.clockTolerance
    ? failed(
      "OAuth issuer",
      `${issuer}, whose clock is ${Math.abs(difference)} s ${difference > 0 ? "ahead" : "behind"}`,
      `Set both clocks (NTP): tokens allow a difference of ${OAuth.clockTolerance} s.`
    )
    : ok("OAuth issuer", issuer)
})

const keysCheck = (url: string) =>
  Issuer.keysAt(url).pipe(
    Effect.map(({ keys }) => {
      const usable = keys.filter(({ alg, kty, use }) =>
        ["RSA", "EC", "OKP"].includes(kty) && (use ?? "sig") === "sig" &&
        (alg === undefined || OAuth.algorithms.includes(String(alg)))
      )
      return usable.length > 0 ? ok("OAuth keys", `${counted(usable.length, "key")} at ${url}`) : failed(
        "OAuth keys",
        `none of the ${counted(keys.length, "key")} at ${url} signs access tokens`,
        `Have the provider sign with one of ${OAuth.algorithms.join(", ")}.`
      )
    }),
    Effect.catch(({ message }) =>
      Effect.succeed(failed("OAuth keys", message, "Have the provider serve its keys there."))
    )
  )

const issuerChecks = (issuer: string) =>
  Issuer.metadata(issuer).pipe(
    Effect.flatMap(({ date, keysUrl }) => Effect.all([clockCheck(issuer, date), keysCheck(keysUrl)])),
    Effect.catch(({ message }) =>
      Effect.succeed<ReadonlyArray<Check>>([
        failed(
          "OAuth issuer",
          message,
          "Check --oauth-issuer (N8N_MCP_OAUTH_ISSUER), and that this machine can reach it."
        ),
        { name: "OAuth keys", status: "skipped", detail: "needs the issuer" }
      ])
    )
  )

/** Check of the metadata under the public address, if the server already runs there. */
const audienceCheck = ({ id, metadataUrl }: OAuth.Resource) =>
  HttpClient.get(metadataUrl).pipe(
    Effect.flatMap(HttpClientResponse.filterStatusOk),
    Effect.flatMap(HttpClientResponse.schemaBodyJson(Schema.Struct({ resource: Schema.String }))),
    Effect.timeout("5 seconds"),
    Effect.map(({ resource }) =>
      resource === id ? ok("OAuth audience", id) : failed(
        "OAuth audience",
        `${metadataUrl} names '${resource.slice(0, 200)}' as the audience of tokens, not ${id}`,
        "Give every server behind that address the same --public-url."
      )
    ),
    Effect.orElseSucceed(() =>
      warning(
        "OAuth audience",
        `${id}; ${metadataUrl} does not answer`,
        "If clients cannot log in: start the server, and have the proxy in front of it forward /.well-known/."
      )
    )
  )

const discovery = (url: URL, token: Redacted.Redacted<string> | undefined) => {
  const method = "server/discover"
  const params = { _meta: { [Versions.meta.version]: Versions.modern, [Versions.meta.capabilities]: {} } }
  return HttpClientRequest.post(new URL(OAuth.pathAt(url), url)).pipe(
    HttpClientRequest.setHeaders({
      accept: "application/json, text/event-stream",
      "mcp-protocol-version": Versions.modern,
      "mcp-method": method,
      ...(token === undefined ? {} : { authorization: `Bearer ${Redacted.value(token)}` })
    }),
    HttpClientRequest.bodyJsonUnsafe({ jsonrpc: "2.0", id: 1, method, params })
  )
}

const balancerVerdict = (origin: string, hasToken: boolean, status: number, json: unknown): Check => {
  const { error, result } = obj(json) ?? {}
  const lacks = (what: string, cure: string) => failed("Balancer", `${origin} does not forward ${what}`, cure)
  if (status === 200 && obj(result)?.["supportedVersions"] !== undefined) {
    return ok("Balancer", `${origin} forwards what clients send`)
  }
  if (obj(error)?.["code"] === Rpc.codes.headerMismatch) {
    return lacks(
      "MCP-Protocol-Version, Mcp-Method or Mcp-Name",
      "Have it forward all headers, including those that begin with Mcp-."
    )
  }
  switch (status) {
    case 401:
      return hasToken
        ? lacks(
          "Authorization, or the servers have a different token",
          "Have it forward Authorization, and give all servers the same tokens."
        )
        : ok("Balancer", `${origin} leads to a server; set N8N_MCP_AUTH_TOKEN to check the headers`)
    case 403:
      return lacks(
        "the Host that clients send",
        "Set it (nginx: proxy_set_header Host $http_host), and start the servers with --public-url or --allowed-hosts."
      )
  }
  return warning("Balancer", `${origin} answers with HTTP ${status}`, "Have it forward POST /mcp.")
}

/** Calls the server under its public address, like a client; `token` is a static token, if any. */
export const balancer = (url: URL, token: Redacted.Redacted<string> | undefined) =>
  HttpClient.execute(discovery(url, token)).pipe(
    Effect.flatMap((response) =>
      Effect.map(response.json, (json) => balancerVerdict(url.origin, token !== undefined, response.status, json))
    ),
    Effect.timeout("5 seconds"),
    Effect.orElseSucceed(() =>
      warning(
        "Balancer",
        `${url.origin} does not answer like this server`,
        "If clients cannot reach the servers, start them and the proxy in front of them."
      )
    )
  )

export const examine = Effect.fnUntraced(function*(options: Options.Options) {
  const { address, issued } = yield* OAuthOptions.load(options)
  return [
    ...(issued === undefined ? [] : [...yield* issuerChecks(issued.issuer), yield* audienceCheck(issued.resource)]),
    ...(address === undefined ? [] : [yield* balancer(address, options.authToken[0])])
  ]
})
