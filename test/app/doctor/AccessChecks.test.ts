import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as FetchHttpClient from "effect/http/FetchHttpClient"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import * as Redacted from "effect/Redacted"
import { type IncomingHttpHeaders, request } from "node:http"
import * as AccessChecks from "../../../src/app/doctor/AccessChecks.ts"
import * as Access from "../../../src/mcp/http/Access.ts"
import { served } from "../../mcp/http/served.ts"
import { listening } from "../../support/listening.ts"

const token = "a-token-of-the-test-0123456789"

/** Passes requests on to a port, with other headers. */
const proxy = (port: number, headers: (original: IncomingHttpHeaders) => IncomingHttpHeaders) =>
  listening((from, to) => {
    const onward = request({
      host: "127.0.0.1",
      port,
      path: from.url,
      method: from.method,
      headers: headers(from.headers)
    })
    onward.on("response", (answer) => {
      to.writeHead(answer.statusCode ?? 502, answer.headers)
      answer.pipe(to)
    })
    from.pipe(onward)
  })

describe("AccessChecks", () => {
  it.live("reports which header does not arrive", () =>
    Effect.gen(function*() {
      const { url } = yield* served({
        access: Access.make([{ token: Redacted.make(token), client: undefined }], undefined)
      })
      const port = Number(new URL(url).port)
      const examine = (
        headers: (original: IncomingHttpHeaders) => IncomingHttpHeaders,
        known: string | undefined = token
      ) =>
        Effect.flatMap(
          proxy(port, headers),
          (url) => AccessChecks.balancer(new URL(url), known === undefined ? undefined : Redacted.make(known))
        )
      const host = `127.0.0.1:${port}`
      assert.deepInclude(yield* examine((all) => ({ ...all, host })), { status: "ok" })
      const cases: ReadonlyArray<readonly [IncomingHttpHeaders, RegExp]> = [
        [{ "mcp-method": undefined }, /Mcp-Method/],
        [{ "mcp-protocol-version": undefined }, /MCP-Protocol-Version/],
        [{ authorization: undefined }, /Authorization/],
        [{ host: "n8n_mcp" }, /Host/]
      ]
      for (const [changed, problem] of cases) {
        const check = yield* examine((all) =>
          Object.fromEntries(Object.entries({ ...all, host, ...changed }).filter(([, value]) => value !== undefined))
        )
        assert.strictEqual(check.status, "failed")
        assert.match(check.detail, problem)
      }
      const without = yield* AccessChecks.balancer(new URL(`http://${host}`), undefined)
      assert.deepInclude(without, { status: "ok" })
      assert.include(without.detail, "N8N_MCP_AUTH_TOKEN")
      assert.deepInclude(yield* AccessChecks.balancer(new URL("http://127.0.0.1:9"), undefined), { status: "warning" })
      const other = yield* listening((_, response) => response.end("<html>"))
      assert.deepInclude(yield* AccessChecks.balancer(new URL(other), undefined), { status: "warning" })
    }).pipe(Effect.provide(Layer.merge(FetchHttpClient.layer, Logger.layer([])))))
})
