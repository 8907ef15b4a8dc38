/** A server whose callers come with tokens of an identity provider. */
import { assert, layer } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as HttpClient from "effect/http/HttpClient"
import * as Logger from "effect/Logger"
import * as Redacted from "effect/Redacted"
import { arr, type Obj, obj } from "../../../src/base/Json.ts"
import * as Access from "../../../src/mcp/http/Access.ts"
import * as Issuer from "../../../src/mcp/http/Issuer.ts"
import * as OAuth from "../../../src/mcp/http/OAuth.ts"
import { headersOf, request } from "../eras/modern.ts"
import { issuer, make, makeKey, sign } from "./issuing.ts"
import { served } from "./served.ts"

const resource = OAuth.resource({ issuer, publicUrl: new URL("https://n8n.example.com"), readOnly: false })

/** Seconds: no test runs so late. */
const future = 9_999_999_999

/** The demo behind an identity provider; `as` is a token of these claims. */
const team = Effect.gen(function*() {
  const key = yield* makeKey("one")
  const keys = yield* Effect.provideService(Issuer.make(issuer), HttpClient.HttpClient, make([key]).client)
  const access = OAuth.access({
    issuer,
    resource,
    profileClaim: "n8n_profile",
    targetOf: () => ({ client: undefined, readOnly: false })
  }, keys)
  const grants = [{ token: Redacted.make("a-static-token"), client: undefined }]
  const { url } = yield* served({ access: Access.make(grants, undefined, access), resource })
  const send = (path: string, body: object, headers: Readonly<Record<string, string>>) =>
    Effect.promise(async () => {
      const response = await fetch(`${url}${path}`, {
        method: "POST",
        headers: { "content-type": "application/json", ...headers },
        body: JSON.stringify(body)
      })
      return { status: response.status, headers: response.headers, json: obj(await response.json()) ?? {} }
    })
  const execute = (token: string, name: string, parameters: object = {}) =>
    send("/mcp/execute", { name, parameters }, { authorization: `Bearer ${token}` })
  const call = (token: string, params: object) => {
    const message = request("tools/call", params, { elicitation: {} })
    return send("/mcp", message, { ...headersOf(message), authorization: `Bearer ${token}` })
  }
  const firstId = Effect.map(
    execute("a-static-token", "list_workflows"),
    ({ json }) => String(obj(arr(obj(json["data"])?.["workflows"])[0])?.["id"])
  )
  return { url, as: (own: Obj = {}) => sign(key, { exp: future, ...own }), send, execute, call, firstId }
})

layer(Logger.layer([]), { excludeTestServices: true })("behind an identity provider", (it) => {
  it.effect("a client learns where to get a token, and with which scopes", () =>
    Effect.gen(function*() {
      const { send, url } = yield* team
      for (const path of ["", "/mcp"]) {
        const metadata = yield* Effect.promise(() =>
          fetch(`${url}/.well-known/oauth-protected-resource${path}`).then((response) => response.json())
        )
        assert.deepInclude(metadata, {
          resource: "https://n8n.example.com/mcp",
          authorization_servers: [issuer],
          scopes_supported: ["n8n:read", "n8n:write"],
          bearer_methods_supported: ["header"]
        })
      }
      const { headers, status } = yield* send("/mcp", {}, {})
      assert.strictEqual(status, 401)
      assert.strictEqual(
        headers.get("www-authenticate"),
        "Bearer realm=\"effect-n8n-mcp\", scope=\"n8n:read n8n:write\", " +
          "resource_metadata=\"https://n8n.example.com/.well-known/oauth-protected-resource/mcp\""
      )
    }))

  it.effect("a read-only token is offered reading tools, and learns which scope it lacks", () =>
    Effect.gen(function*() {
      const { as, call, execute, firstId, send } = yield* team
      const [reader, writer] = [yield* as({ scope: "n8n:read" }), yield* as()]
      const names = (token: string) =>
        Effect.map(
          send("/mcp/tools", {}, { authorization: `Bearer ${token}` }),
          ({ json }) => arr(json["tools"]).map((tool) => obj(tool)?.["name"])
        )
      const [readable, all] = [yield* names(reader), yield* names(writer)]
      assert.include(readable, "list_workflows")
      assert.notInclude(readable, "delete_workflow")
      assert.deepStrictEqual(yield* names("a-static-token"), all)
      assert.strictEqual((yield* execute(reader, "list_workflows")).status, 200)

      const id = yield* firstId
      for (
        const refused of [
          yield* execute(reader, "delete_workflow", { id }),
          yield* call(reader, { name: "delete_workflow", arguments: { id } })
        ]
      ) {
        assert.strictEqual(refused.status, 403)
        assert.include(
          refused.headers.get("www-authenticate"),
          "error=\"insufficient_scope\", scope=\"n8n:read n8n:write\""
        )
      }
      // A tool that there is not stays unknown.
      assert.strictEqual((yield* execute(reader, "delete_everything")).status, 404)
      assert.strictEqual((yield* execute(writer, "delete_workflow", { id })).status, 200)
    }))

  it.effect("a question belongs to a person: a refreshed token may answer it, another person's may not", () =>
    Effect.gen(function*() {
      const { as, call, firstId } = yield* team
      const params = { name: "delete_workflow", arguments: { id: yield* firstId } }
      const ask = obj((yield* call(yield* as(), params)).json["result"]) ?? {}
      const [name = ""] = Object.keys(obj(ask["inputRequests"]) ?? {})
      const yes = {
        ...params,
        requestState: ask["requestState"],
        inputResponses: { [name]: { action: "accept", content: { confirm: true } } }
      }
      const mallory = yield* call(yield* as({ sub: "mallory" }), yes)
      assert.include(JSON.stringify(mallory.json), "requestState belongs to another caller")
      const refreshed = yield* call(yield* as({ exp: future - 1, jti: "another" }), yes)
      assert.include(JSON.stringify(refreshed.json), "\\\"success\\\":true")
    }))

  it.effect("the workflow's history names the author of a change, and the log the caller", () => {
    const lines: Array<string> = []
    const logger = Logger.map(Logger.formatLogFmt, (line) => void lines.push(line))
    return Effect.gen(function*() {
      const { as, execute, firstId } = yield* team
      const id = yield* firstId
      const alice = yield* as()
      const changed = yield* execute(alice, "update_workflow", { id, name: "By Alice" })
      assert.strictEqual(changed.status, 200, JSON.stringify(changed.json))
      const history = yield* execute(alice, "workflow_history", { id })
      assert.match(JSON.stringify(history.json), /"source":"snapshot"[^}]*"authors":"alice"/)
      assert.match(lines.join("\n"), /status=200.* subject=alice call=update_workflow/)
      assert.notInclude(lines.join("\n"), alice)
    }).pipe(Effect.provide(Logger.layer([logger])))
  })
})
