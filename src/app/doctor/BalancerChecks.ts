/** Check that a proxy in front of the server forwards everything the server needs. */
import * as Effect from "effect/Effect"
import * as HttpClient from "effect/http/HttpClient"
import * as HttpClientRequest from "effect/http/HttpClientRequest"
import type * as HttpClientResponse from "effect/http/HttpClientResponse"
import * as Redacted from "effect/Redacted"
import { obj } from "../../base/Json.ts"
import * as Versions from "../../mcp/eras/Versions.ts"
import * as OAuth from "../../mcp/http/OAuth.ts"
import * as Rpc from "../../mcp/Rpc.ts"
import type { Check } from "./Doctor.ts"

const name = "Balancer"

const ok = (detail: string): Check => ({ name, status: "ok", detail })

const failed = (detail: string, cure: string): Check => ({ name, status: "failed", detail, cure })

/** First request of a 2026-07-28 client. */
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

const answerOf = (response: HttpClientResponse.HttpClientResponse) =>
  Effect.map(response.json, (json) => {
    const { error, result } = obj(json) ?? {}
    return { status: response.status, code: obj(error)?.["code"], result: obj(result) }
  })

/** Calls the server under its public address, like a client; `token` is a static token, if any. */
export const examine = (
  url: URL,
  token: Redacted.Redacted<string> | undefined
): Effect.Effect<Check, never, HttpClient.HttpClient> =>
  HttpClient.execute(discovery(url, token)).pipe(
    Effect.flatMap(answerOf),
    Effect.timeout("5 seconds"),
    Effect.map(({ code, result, status }): Check => {
      if (status === 200 && result?.["supportedVersions"] !== undefined) {
        return ok(`${url.origin} forwards what clients send`)
      }
      if (code === Rpc.codes.headerMismatch) {
        return failed(
          `${url.origin} does not forward MCP-Protocol-Version, Mcp-Method or Mcp-Name`,
          "Have it forward all headers, including those that begin with Mcp-."
        )
      }
      if (status === 401 && token === undefined) {
        return ok(`${url.origin} leads to a server; set N8N_MCP_AUTH_TOKEN to check the headers`)
      }
      if (status === 401) {
        return failed(
          `${url.origin} does not forward Authorization, or the servers have a different token`,
          "Have it forward Authorization, and give all servers the same tokens."
        )
      }
      if (status === 403) {
        return failed(
          `${url.origin} does not forward the Host that clients send`,
          "Set it (nginx: proxy_set_header Host $http_host), and start the servers with --public-url or --allowed-hosts."
        )
      }
      return {
        name,
        status: "warning",
        detail: `${url.origin} answers with HTTP ${status}`,
        cure: "Have it forward POST /mcp."
      }
    }),
    Effect.orElseSucceed((): Check => ({
      name,
      status: "warning",
      detail: `${url.origin} does not answer like this server`,
      cure: "If clients cannot reach the servers, start them and the proxy in front of them."
    }))
  )
