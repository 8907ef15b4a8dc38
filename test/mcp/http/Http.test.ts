import { assert, layer } from "@effect/vitest"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Logger from "effect/Logger"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import { request as httpRequest } from "node:http"
import * as Tool from "../../../src/answer/Tool.ts"
import { CallContext } from "../../../src/base/CallContext.ts"
import * as Errors from "../../../src/base/Errors.ts"
import { obj } from "../../../src/base/Json.ts"
import * as Access from "../../../src/mcp/http/Access.ts"
import type * as Rpc from "../../../src/mcp/Rpc.ts"
import * as tools from "../../../src/tools/index.ts"
import { headersOf, request as modernRequest } from "../eras/modern.ts"
import { served } from "./served.ts"

interface Answer {
  readonly status: number
  readonly headers: Headers
  readonly text: string
  readonly json: unknown
}

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

const send = (url: string, init: RequestInit = {}): Effect.Effect<Answer> =>
  Effect.promise(async (signal) => {
    const response = await fetch(url, { signal, ...init })
    const text = await response.text()
    return { status: response.status, headers: response.headers, text, json: parsed(text) }
  })

const accept = "application/json, text/event-stream"

const post = (url: string, body: unknown, headers: Record<string, string> = {}) =>
  send(url, {
    method: "POST",
    headers: { "content-type": "application/json", accept, ...headers },
    body: typeof body === "string" ? body : JSON.stringify(body)
  })

const rpc = (method: string, params: object = {}) => ({ jsonrpc: "2.0", id: 7, method, params })

const toolCall = (name: string, args: object = {}, _meta?: object) =>
  rpc("tools/call", { name, arguments: args, ...(_meta === undefined ? {} : { _meta }) })

const bearer = (token: string) => ({ authorization: `Bearer ${token}` })

const access = Access.make([{ token: Redacted.make("secret-token"), client: "prod" }], undefined)

/** A tool that starts, and goes on until it is told. */
const slow = Effect.fnUntraced(function*() {
  const started = yield* Deferred.make<void>()
  const release = yield* Deferred.make<void>()
  const interrupted = yield* Deferred.make<void>()
  const tool = Tool.make({
    name: "slow",
    title: "slow",
    description: "slow",
    annotations: Tool.readOnly,
    scopes: [],
    input: Schema.Struct({}),
    output: Schema.Struct({}),
    handler: () =>
      CallContext.pipe(
        Effect.flatMap(({ progress }) => progress(1, 2, "half")),
        Effect.andThen(Deferred.succeed(started, undefined)),
        Effect.andThen(Deferred.await(release)),
        Effect.as({}),
        Effect.onInterrupt(() => Deferred.succeed(interrupted, undefined))
      ),
    message: () => ({ en: "done", ja: "done" })
  })
  return { tool, started: Deferred.await(started), release: Deferred.succeed(release, undefined), interrupted }
})

layer(Logger.layer([]), { excludeTestServices: true })("Http", (it) => {
  it.effect("answers JSON, an event stream with a progressToken, and 202 to notifications", () =>
    Effect.gen(function*() {
      const { url } = yield* served()
      const call = toolCall("list_workflows", { limit: 1 })
      const plain = yield* post(`${url}/mcp`, call)
      assert.strictEqual(plain.headers.get("content-type"), "application/json")
      assert.deepInclude(plain.json, { id: 7, jsonrpc: "2.0" })
      assert.match(plain.headers.get("x-request-id") ?? "", /^[\da-f-]{36}$/)
      const streamed = yield* post(`${url}/mcp`, toolCall("list_workflows", { limit: 1 }, { progressToken: 0 }))
      assert.strictEqual(streamed.headers.get("content-type"), "text/event-stream")
      assert.deepStrictEqual(parsed(/^data: (.*)$/m.exec(streamed.text)?.[1] ?? ""), plain.json)
      const notified = yield* post(`${url}/mcp`, { jsonrpc: "2.0", method: "notifications/initialized" })
      assert.deepStrictEqual([notified.status, notified.text], [202, ""])
      const again = yield* post(`${url}/mcp`, call, { "x-request-id": "balancer-1" })
      assert.strictEqual(again.headers.get("x-request-id"), "balancer-1")
      const odd = yield* post(`${url}/mcp`, call, { "x-request-id": "a b" })
      assert.notStrictEqual(odd.headers.get("x-request-id"), "a b")
    }))

  it.effect("2026-07-28 on the same endpoint: JSON, or progress and answer in a stream", () =>
    Effect.gen(function*() {
      const { release, tool } = yield* slow()
      const { url } = yield* served({}, [tool])
      yield* release
      const modern = (message: Rpc.Request, headers = {}) =>
        post(`${url}/mcp`, message, { ...headersOf(message), ...headers })
      const resultOf = ({ json }: Answer) => obj(obj(json)?.["result"]) ?? {}
      const discovered = resultOf(yield* modern(modernRequest("server/discover")))
      assert.deepStrictEqual([discovered["resultType"], discovered["cacheScope"]], ["complete", "public"])
      const listed = yield* modern(modernRequest("tools/list"))
      assert.lengthOf(resultOf(listed)["tools"] as ReadonlyArray<unknown>, tools.all.length + 1)
      const call = modernRequest("tools/call", { name: "slow", _meta: { progressToken: 0 } })
      const streamed = yield* modern(call)
      assert.strictEqual(streamed.headers.get("content-type"), "text/event-stream")
      assert.strictEqual(streamed.headers.get("x-accel-buffering"), "no")
      const events = [...streamed.text.matchAll(/^data: (.*)$/gm)].map(([, data = ""]) => obj(parsed(data)) ?? {})
      assert.deepStrictEqual(events.map(({ id, method }) => id ?? method), ["notifications/progress", 7])
      assert.strictEqual(obj(events[1]?.["result"])?.["resultType"], "complete")
      // What is refused is refused before there is a stream.
      const mismatched = yield* modern(call, { "mcp-name": "other" })
      assert.deepStrictEqual([mismatched.status, obj(obj(mismatched.json)?.["error"])?.["code"]], [400, -32020])
      const unknown = yield* modern(modernRequest("nothing"))
      assert.deepStrictEqual([unknown.status, obj(obj(unknown.json)?.["error"])?.["code"]], [404, -32601])
      const older = yield* post(`${url}/mcp`, rpc("tools/list"), { "mcp-protocol-version": "2025-11-25" })
      assert.isUndefined(resultOf(older)["resultType"])
      const odd = [
        { ...rpc("tools/list"), more: 1 },
        rpc("tools/list", { _meta: { progressToken: {} } }),
        rpc("tools/list", { _meta: 5 })
      ]
      for (const message of odd) assert.include([200, 400], (yield* post(`${url}/mcp`, message)).status)
      const never = yield* post(`${url}/mcp`, rpc("tools/list"), { "mcp-protocol-version": "1999-01-01" })
      assert.deepStrictEqual([never.status, obj(obj(never.json)?.["error"])?.["code"]], [400, -32022])
    }))

  it.effect("the older server's way: /mcp/tools and /mcp/execute", () =>
    Effect.gen(function*() {
      const { url } = yield* served()
      const { json: listed } = yield* send(`${url}/mcp/tools`, { method: "POST" })
      const [first] = (obj(listed)?.["tools"] ?? []) as ReadonlyArray<object>
      assert.deepStrictEqual(Object.keys(first ?? {}), ["name", "description", "inputSchema", "outputSchema"])
      const execute = (body: unknown) => post(`${url}/mcp/execute`, body)
      const fine = yield* execute({ name: "list_workflows", parameters: { limit: 1 } })
      assert.deepInclude(fine.json, { success: true, message: "Found 1 workflow" })
      const cases: ReadonlyArray<readonly [unknown, number, string, RegExp]> = [
        [{ name: "list_workflow" }, 404, "TOOL_NOT_FOUND", /Did you mean 'list_workflows'/],
        [{ name: "get_workflow", parameters: {} }, 400, "INVALID_TOOL_PARAMETERS", /Workflow ID is required|id/],
        [{ name: "get_workflow", parameters: { id: "nope" } }, 404, "TOOL_EXECUTION_ERROR", /'nope' not found/],
        [{ name: 7 }, 400, "INVALID_REQUEST_FORMAT", /"name": "list_workflows"/],
        [{ name: "list_workflows", params: {} }, 400, "INVALID_REQUEST_FORMAT", /"parameters"/],
        [{ name: "list_workflows", parameters: [] }, 400, "INVALID_REQUEST_FORMAT", /"parameters"/],
        [[], 400, "INVALID_REQUEST_FORMAT", /The body is/],
        ["{", 400, "INVALID_REQUEST_FORMAT", /not JSON/]
      ]
      for (const [body, status, code, message] of cases) {
        const answer = yield* execute(body)
        const error = obj(obj(answer.json)?.["error"]) ?? {}
        assert.deepStrictEqual([answer.status, error["code"]], [status, code], JSON.stringify(body))
        assert.match(String(error["message"]), message)
      }
    }))

  it.effect("a fault of this server's machine is a 500 that says what is wrong, a bug one that does not", () =>
    Effect.gen(function*() {
      const { tool } = yield* slow()
      const failing = (name: string, isServerFault: boolean) => ({
        ...tool,
        name,
        run: () =>
          Effect.fail(new Errors.ValidationError({ reason: "The disk is full", hint: "Make room.", isServerFault }))
      })
      const broken = { ...tool, name: "broken", run: () => Effect.die("secret of the machine") }
      const { url } = yield* served({}, [failing("full", true), failing("refused", false), broken])
      const bug = yield* post(`${url}/mcp/execute`, { name: "broken" })
      assert.deepStrictEqual([bug.status, obj(obj(bug.json)?.["error"])?.["code"]], [500, "INTERNAL_SERVER_ERROR"])
      assert.notInclude(bug.text, "secret")
      const cases = [["full", 500, "INTERNAL_SERVER_ERROR"], ["refused", 400, "INVALID_TOOL_PARAMETERS"]] as const
      for (const [name, status, code] of cases) {
        const answer = yield* post(`${url}/mcp/execute`, { name })
        assert.strictEqual(answer.status, status)
        const details = { name: "ValidationError", message: "The disk is full", context: {}, hint: "Make room." }
        assert.deepStrictEqual(answer.json, { error: { message: "The disk is full", code, details } })
      }
    }))

  it.effect("a client gets what it accepts: JSON, and a stream only where it names one", () =>
    Effect.gen(function*() {
      const { url } = yield* served()
      const call = (meta: object) => ({ name: "list_workflows", arguments: { limit: 1 }, ...meta })
      const eras = [
        (meta: object) => [rpc("tools/call", call(meta)), {}] as const,
        (meta: object) => {
          const message = modernRequest("tools/call", call(meta))
          return [message, headersOf(message)] as const
        }
      ]
      const [json, stream] = ["application/json", "text/event-stream"]
      const cases = [
        ["*/*", json, json],
        ["", json, json],
        ["application/json", json, json],
        ["application/*;q=0.8", json, json],
        ["text/html, APPLICATION/JSON; charset=utf-8", json, json],
        [accept, json, stream],
        [`*/*, ${stream}`, json, stream],
        [stream, stream, stream]
      ] as const
      for (const era of eras) {
        for (const [accept, plain, withProgress] of cases) {
          for (const [meta, type] of [[{}, plain], [{ _meta: { progressToken: 1 } }, withProgress]] as const) {
            const [message, headers] = era(meta)
            const answer = yield* post(`${url}/mcp`, message, { ...headers, accept })
            assert.strictEqual(answer.status, 200, answer.text)
            assert.strictEqual(answer.headers.get("content-type"), type, `${accept} ${JSON.stringify(meta)}`)
            assert.include(answer.text, "structuredContent")
          }
        }
      }
    }))
  it.effect("a request that is not a call gets a JSON error that says what to do", () =>
    Effect.gen(function*() {
      const { url } = yield* served()
      const call = rpc("ping")
      const json = { "content-type": "application/json", accept }
      const cases: ReadonlyArray<readonly [string, RequestInit, number]> = [
        ["/", {}, 404],
        ["/mcp/", {}, 405],
        ["/mcp/nothing?x=1", { method: "POST" }, 404],
        ["/%E0%A4%A", {}, 404],
        ["/health", { method: "POST" }, 405],
        ["/mcp", {}, 405],
        ["/mcp", { method: "DELETE" }, 405],
        ["/mcp", { method: "PROPFIND" }, 405],
        ["/mcp", { method: "OPTIONS" }, 405],
        ["/mcp/tools", {}, 405],
        ["/mcp", { method: "POST", body: "{}" }, 415],
        ["/mcp", { method: "POST", headers: { "content-type": "application/jsonx", accept }, body: "{}" }, 415],
        ["/mcp", { method: "POST", headers: { ...json, accept: "text/html" }, body: JSON.stringify(call) }, 406],
        ["/mcp", { method: "POST", headers: json, body: "" }, 400],
        ["/mcp", { method: "POST", headers: json, body: "{\"jsonrpc\":" }, 400],
        ["/mcp", { method: "POST", headers: json, body: "{}" }, 400],
        ["/mcp", { method: "POST", headers: json, body: "null" }, 400],
        ["/mcp", { method: "POST", headers: json, body: JSON.stringify([call, call]) }, 400],
        ["/mcp", { method: "POST", headers: json, body: new Uint8Array([0x22, 0xff, 0x22]) }, 400],
        [
          "/mcp",
          { method: "POST", headers: { ...json, "mcp-protocol-version": "1999-01-01" }, body: JSON.stringify(call) },
          400
        ],
        ["/mcp", { method: "POST", headers: json, body: new Uint8Array(10 * 1024 * 1024 + 1).fill(0x20) }, 413],
        ["/mcp", { method: "POST", headers: json, body: `[${"0,".repeat(300_000)}0]` }, 413]
      ]
      for (const [path, init, status] of cases) {
        const answer = yield* send(url + path, init)
        const what = `${init.method ?? "GET"} ${path}: ${answer.text}`
        assert.strictEqual(answer.status, status, what)
        assert.match(String(obj(obj(answer.json)?.["error"])?.["message"]), /\w{4}/, what)
        assert.notInclude(answer.text, "    at ", what)
        if (status === 405) assert.strictEqual(answer.headers.get("allow"), path === "/health" ? "GET" : "POST")
      }
      assert.strictEqual((yield* send(`${url}/health`, { method: "HEAD" })).status, 200)
      for (const [id, shown] of [["1.5", 1.5], ["1e300", 1e300], ["1e400", null], ["null", null], ["{}", null]]) {
        const body = `{"jsonrpc":"2.0","id":${id},"method":"ping"}`
        const { json: answer, status } = yield* send(`${url}/mcp`, { method: "POST", headers: json, body })
        const error = { code: -32600, message: "the id of a request is a string or an integer" }
        assert.deepStrictEqual([status, answer], [400, { jsonrpc: "2.0", id: shown, error }])
      }
    }))

  it.effect("a token is needed where there are some, but for the health", () =>
    Effect.gen(function*() {
      const { url } = yield* served({ access })
      const ping = (headers: Record<string, string>) => post(`${url}/mcp`, rpc("ping"), headers)
      const none = yield* ping({})
      assert.deepStrictEqual([none.status, none.headers.get("www-authenticate")], [
        401,
        "Bearer realm=\"effect-n8n-mcp\""
      ])
      const wrong = yield* ping(bearer("secret-tokem"))
      assert.strictEqual(wrong.status, 401)
      assert.match(wrong.headers.get("www-authenticate") ?? "", /error="invalid_token"/)
      assert.strictEqual((yield* ping(bearer("secret-token"))).status, 200)
      for (const path of ["/mcp/tools", "/mcp/execute"]) {
        assert.strictEqual((yield* post(url + path, { name: "list_workflows" })).status, 401, path)
      }
      // A client that is refused looks for a way to sign in, and must be told that there is none.
      assert.strictEqual((yield* send(`${url}/.well-known/oauth-protected-resource/mcp`)).status, 404)
      assert.deepStrictEqual((yield* send(`${url}/health`)).json, {
        status: "ok",
        name: "test",
        version: "0",
        n8n: "ok"
      })
    }))

  it.effect("other hosts and other pages are refused; listed pages get CORS", () =>
    Effect.gen(function*() {
      const { url } = yield* served({ allowedOrigins: ["https://app.example.com"], access })
      /** `fetch` does not let the host be set. */
      const withHost = (host: string) =>
        Effect.callback<number | undefined>((resume) => {
          httpRequest(`${url}/health`, { headers: { host } }, (response) => {
            response.resume()
            resume(Effect.succeed(response.statusCode))
          }).end()
        })
      assert.deepStrictEqual(yield* Effect.forEach(["evil.example", "localhost:1"], withHost), [403, 200])
      const from = (origin: string, method = "GET") =>
        send(`${url}/health`, { method, headers: { origin, "access-control-request-method": "POST" } })
      for (const origin of ["https://evil.example", "http://localhost:1", "null"]) {
        const refused = yield* from(origin)
        assert.strictEqual(refused.status, 403, origin)
        assert.isNull(refused.headers.get("access-control-allow-origin"))
      }
      assert.strictEqual((yield* from(url)).status, 200)
      const preflight = yield* from("https://app.example.com", "OPTIONS")
      assert.strictEqual(preflight.status, 204)
      assert.strictEqual(preflight.headers.get("access-control-allow-origin"), "https://app.example.com")
      assert.match(preflight.headers.get("access-control-allow-headers") ?? "", /authorization/)
      const unsigned = yield* send(`${url}/mcp`, { method: "POST", headers: { origin: "https://app.example.com" } })
      assert.strictEqual(unsigned.status, 401)
      assert.strictEqual(unsigned.headers.get("access-control-allow-origin"), "https://app.example.com")
    }))

  it.effect("too many calls of one token, or concurrent ones, get the time to retry", () =>
    Effect.gen(function*() {
      const grants = ["a", "b"].map((token) => ({ token: Redacted.make(token), client: token }))
      const { release, started, tool } = yield* slow()
      const { url } = yield* served({ access: Access.make(grants, undefined), callsPerMinute: 3, maxInFlight: 1 }, [
        tool
      ])
      const ping = (token: string) => post(`${url}/mcp`, rpc("ping"), bearer(token))
      for (const status of [200, 200, 200, 429]) assert.strictEqual((yield* ping("a")).status, status)
      const limited = yield* ping("a")
      assert.strictEqual(limited.headers.get("retry-after"), "20")
      for (const status of [401, 401, 401, 429]) assert.strictEqual((yield* ping("guess")).status, status)
      assert.strictEqual((yield* ping("b")).status, 200)
      const held = yield* Effect.forkChild(post(`${url}/mcp`, toolCall("slow"), bearer("b")))
      yield* started
      const busy = yield* ping("b")
      assert.deepStrictEqual([busy.status, busy.headers.get("retry-after")], [503, "1"])
      yield* release
      assert.strictEqual((yield* Fiber.join(held)).status, 200)
    }))

  it.effect("one token leaves places to the others", () =>
    Effect.gen(function*() {
      const grants = ["a", "b"].map((token) => ({ token: Redacted.make(token), client: token }))
      const { release, started, tool } = yield* slow()
      const { url } = yield* served(
        { access: Access.make(grants, undefined), maxInFlight: 2, maxInFlightPerToken: 1 },
        [tool]
      )
      const call = yield* Effect.forkChild(post(`${url}/mcp/execute`, { name: "slow" }, bearer("a")))
      yield* started
      const ping = (token: string) => Effect.map(post(`${url}/mcp`, rpc("ping"), bearer(token)), ({ status }) => status)
      assert.deepStrictEqual([yield* ping("a"), yield* ping("b")], [503, 200])
      yield* release
      assert.strictEqual((yield* Fiber.join(call)).status, 200)
      assert.strictEqual(yield* ping("a"), 200)
    }))

  it.effect("a caller who goes away ends the call, JSON or stream, and makes room", () =>
    Effect.gen(function*() {
      const modern = (_meta: object) => modernRequest("tools/call", { name: "slow", _meta })
      const older = (_meta: object) => toolCall("slow", {}, _meta)
      const calls = [older({}), older({ progressToken: 1 }), modern({}), modern({ progressToken: 1 })]
      for (const [index, message] of calls.entries()) {
        const { interrupted, started, tool } = yield* slow()
        const { url } = yield* served({ maxInFlight: 1 }, [tool])
        const headers = index < 2 ? {} : headersOf(message as Rpc.Request)
        const call = yield* Effect.forkChild(post(`${url}/mcp`, message, headers))
        yield* started
        yield* Fiber.interrupt(call)
        yield* Deferred.await(interrupted)
        assert.strictEqual((yield* post(`${url}/mcp`, rpc("ping"))).status, 200)
      }
    }))

  it.effect("when it ends, calls in flight are answered and new ones are refused", () =>
    Effect.gen(function*() {
      const { release, started, tool } = yield* slow()
      const { stop, url } = yield* served({}, [tool])
      const call = yield* Effect.forkChild(post(`${url}/mcp`, toolCall("slow")))
      yield* started
      const stopped = yield* Effect.forkChild(stop)
      yield* Effect.sleep("20 millis")
      const refused = yield* Effect.promise(() =>
        fetch(`${url}/health`).then((response) => response.status, () => "none")
      )
      assert.include([503, "none"], refused)
      yield* release
      const answer = yield* Fiber.join(call)
      assert.deepStrictEqual([answer.status, answer.headers.get("connection")], [200, "close"])
      yield* Fiber.join(stopped)
    }))

  it.effect("writes one line a request, with its id, and never a token", () => {
    const lines: Array<string> = []
    const logger = Logger.make((options) => void lines.push(Logger.formatLogFmt.log(options)))
    return Effect.gen(function*() {
      const { url } = yield* served({ access })
      yield* post(`${url}/mcp?key=secret-query`, toolCall("list_workflows"), {
        ...bearer("secret-token"),
        "x-request-id": "first"
      })
      yield* post(`${url}/mcp`, rpc("ping"), bearer("wrong-token"))
      const requests = lines.filter((line) => line.includes("message=request"))
      assert.lengthOf(requests, 2)
      assert.match(
        requests[0] ?? "",
        /id=first method=POST path=\/mcp status=200 ms=\d+ client=prod call=list_workflows/
      )
      assert.match(requests[1] ?? "", /status=401/)
      assert.notMatch(lines.join("\n"), /secret|wrong-token/)
    }).pipe(Effect.provide(Logger.layer([logger])))
  })
})
