import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import type { IncomingHttpHeaders } from "node:http"
import * as Rpc from "../../../../src/mcp/Rpc.ts"
import { headersOf, request } from "../../../mcp/eras/modern.ts"
import { folderWith, platform } from "../../../support/folders.ts"
import { listening } from "../../../support/listening.ts"
import * as Otlp from "../../../support/Otlp.ts"
import { bundle, remove, start } from "../../../support/Process.ts"

beforeAll(bundle, 60_000)
afterAll(remove)

const trace = "0af7651916cd43dd8448eb211c80319c"
const parent = "b7ad6b7169203331"
const traceparent = `00-${trace}-${parent}-01`

/** An n8n without workflows, and the headers that it was sent. */
const n8n = Effect.gen(function*() {
  const headers: Array<IncomingHttpHeaders> = []
  const url = yield* listening((request, response) => {
    headers.push(request.headers)
    response.setHeader("content-type", "application/json")
    response.statusCode = request.url?.includes("/workflows/") === true ? 404 : 200
    response.end(JSON.stringify({ data: [], nextCursor: null, message: "canary-of-n8n" }))
  })
  return { url, headers }
})

/** A server over HTTP before it; `end` returns when it has sent all that it has to tell. */
const serving = Effect.fnUntraced(function*(url: string, env: Record<string, string>) {
  const { child, ended, errors } = start(["--transport", "http", "--port", "0"], {
    N8N_URL: url,
    N8N_API_KEY: "canary-key",
    XDG_STATE_HOME: yield* folderWith(),
    ...env
  })
  yield* Effect.addFinalizer(() => Effect.sync(() => child.kill("SIGKILL")))
  const address = yield* Effect.callback<string, string>((resume) => {
    child.stderr.on("data", () => {
      const found = /address=(\S+)/.exec(errors())?.[1]
      if (found !== undefined) resume(Effect.succeed(found))
    })
    child.once("exit", () => resume(Effect.fail(errors())))
  })
  const post = (message: Rpc.Request, headers: Record<string, string>) =>
    Effect.promise(() =>
      fetch(`${address}/mcp`, { method: "POST", headers, body: JSON.stringify(message) }).then((answer) =>
        answer.text()
      )
    )
  const legacyHeaders = { "content-type": "application/json", accept: "application/json, text/event-stream" }
  return {
    modern: (params: object, headers: Record<string, string> = {}) => {
      const message = request("tools/call", params)
      return post(message, { ...headersOf(message), ...headers })
    },
    legacy: (params: object, headers: Record<string, string> = {}) =>
      post({ jsonrpc: "2.0", id: 7, method: "tools/call", params: { ...params } }, { ...legacyHeaders, ...headers }),
    end: Effect.andThen(Effect.sync(() => child.kill("SIGTERM")), ended)
  }
})

const list = { name: "list_workflows", arguments: { name: "canary-argument" } }

const named = (spans: ReadonlyArray<Otlp.Span>, name: string) => {
  const span = spans.find((each) => each.name === name)
  assert.isDefined(span, `${name} of ${spans.map((each) => each.name).join(", ")}`)
  return span
}

/** The ids of the spans above one. */
const ancestors = (spans: ReadonlyArray<Otlp.Span>, { parentSpanId }: Otlp.Span): ReadonlyArray<string> => {
  const next = spans.find(({ spanId }) => spanId === parentSpanId)
  return next === undefined ? [] : [next.spanId, ...ancestors(spans, next)]
}

describe("Telemetry", () => {
  it.live("a call's spans go on from the caller's, and n8n's from them, in both eras", () =>
    Effect.gen(function*() {
      for (const era of ["modern", "legacy"] as const) {
        const collector = yield* Otlp.receive
        const { headers, url } = yield* n8n
        const server = yield* serving(url, collector.env)
        const answer = yield* server[era](list, { traceparent })
        assert.include(answer, "Found 0 workflows")
        // A call that the caller does not sample is not sent, and n8n learns it.
        const unsampled = `${trace.slice(0, -1)}d`
        yield* server[era](list, { traceparent: `00-${unsampled}-${parent}-00` })
        yield* server.end
        assert.isEmpty(collector.spans().filter(({ traceId }) => traceId === unsampled))
        assert.isTrue(headers.some((each) => new RegExp(`^00-${unsampled}-.*-00$`).test(String(each["traceparent"]))))
        const spans = collector.spans().filter(({ traceId }) => traceId === trace)
        const http = named(spans, "POST /mcp")
        assert.deepInclude(http, { parentSpanId: parent, kind: 2 })
        assert.deepInclude(http.attributes, { "http.request.method": "POST", "http.route": "/mcp" })
        const tool = named(spans, "tools/call list_workflows")
        assert.deepInclude(tool, { parentSpanId: http.spanId, kind: 2, status: 1, links: [] })
        assert.deepStrictEqual(tool.attributes, {
          "mcp.method.name": "tools/call",
          "gen_ai.tool.name": "list_workflows",
          "gen_ai.operation.name": "execute_tool",
          ...era === "modern" ? { "mcp.protocol.version": "2026-07-28" } : {}
        })
        const client = named(spans, "N8nClient.listWorkflows")
        assert.include(ancestors(spans, client), tool.spanId)
        const sent = spans.find(({ kind, parentSpanId }) => kind === 3 && parentSpanId === client.spanId)
        assert.include(headers.map((each) => each["traceparent"]), `00-${trace}-${sent?.spanId}-01`)
        assert.match(collector.everything(), /mcp\.server\.operation\.duration.*list_workflows/)
        assert.match(collector.everything(), /"call".*list_workflows/)
        assert.notInclude(collector.everything(), "canary")
      }
    }).pipe(Effect.provide(platform)))

  it.live("the client's span in _meta is the parent, over HTTP with a link to its request, and over stdio", () =>
    Effect.gen(function*() {
      const params = { ...list, _meta: { traceparent, baggage: "canary=1", tracestate: "canary=2" } }
      const other = "00-11111111111111111111111111111111-2222222222222222-01"
      for (const era of ["modern", "legacy"] as const) {
        const collector = yield* Otlp.receive
        const { headers, url } = yield* n8n
        const server = yield* serving(url, collector.env)
        yield* server[era](params, { traceparent: other, baggage: "canary=3" })
        yield* server.end
        const http = named(collector.spans(), "POST /mcp")
        assert.strictEqual(http.parentSpanId, "2222222222222222")
        const tool = named(collector.spans(), "tools/call list_workflows")
        assert.deepInclude(tool, { traceId: trace, parentSpanId: parent, links: [http.spanId] })
        assert.isTrue(headers.some((each) => each["traceparent"]?.includes(trace)))
        assert.notInclude(JSON.stringify(headers), "canary=")
        assert.notInclude(collector.everything(), "canary")
      }
      const collector = yield* Otlp.receive
      const { url } = yield* n8n
      const { child, ended, output } = start([], {
        N8N_URL: url,
        N8N_API_KEY: "canary-key",
        XDG_STATE_HOME: yield* folderWith(),
        ...collector.env
      })
      yield* Effect.addFinalizer(() => Effect.sync(() => child.kill("SIGKILL")))
      child.stdin.end(`${JSON.stringify(request("tools/call", params))}\n`)
      yield* ended
      assert.include(output(), "Found 0 workflows")
      const tool = named(collector.spans(), "tools/call list_workflows")
      assert.deepInclude(tool, { traceId: trace, parentSpanId: parent, links: [] })
    }).pipe(Effect.provide(platform)))

  it.live("failures are recorded by their kind: a trace contains neither arguments nor a caller's inventions", () =>
    Effect.gen(function*() {
      const collector = yield* Otlp.receive
      const { url } = yield* n8n
      const server = yield* serving(url, collector.env)
      yield* server.modern({ name: "get_workflow", arguments: { id: "canary-id" } })
      yield* server.modern({ name: "get_workflow", arguments: { canary: "canary" } })
      yield* server.modern({ name: "canary-tool", arguments: {} })
      yield* server.end
      const tools = collector.spans().filter(({ name }) => name === "tools/call get_workflow")
      assert.lengthOf(tools, 2)
      for (const { attributes, status } of tools) {
        assert.strictEqual(status, 2)
        assert.strictEqual(attributes["error.type"], "tool_error")
      }
      const unknown = named(collector.spans(), "tools/call")
      assert.deepInclude(unknown.attributes, { "error.type": String(Rpc.codes.invalidParams) })
      assert.deepInclude(named(collector.spans(), "N8nClient.getWorkflow").attributes, { "error.type": "404" })
      const traces = JSON.stringify(collector.spans())
      assert.notInclude(traces.replaceAll("/api/v1/workflows/canary-id", ""), "canary")
    }).pipe(Effect.provide(platform)))

  it.live("without a collector n8n receives no span", () =>
    Effect.gen(function*() {
      const { headers, url } = yield* n8n
      const server = yield* serving(url, {})
      assert.include(yield* server.modern(list, { traceparent }), "Found 0 workflows")
      yield* server.end
      assert.isAbove(headers.length, 0)
      for (const each of headers) assert.notProperty(each, "traceparent")
      for (const each of headers) assert.notProperty(each, "b3")
    }).pipe(Effect.provide(platform)))

  it.live("a collector that is down, or takes and never answers, fails no call and keeps no server from its end", () =>
    Effect.gen(function*() {
      const requests = { open: 0, most: 0 }
      const silent = yield* listening((_, response) => {
        requests.open++
        requests.most = Math.max(requests.most, requests.open)
        response.once("close", () => requests.open--)
      })
      for (const OTEL_EXPORTER_OTLP_ENDPOINT of [silent, "http://127.0.0.1:9"]) {
        const { url } = yield* n8n
        // Each span is a batch: more of them than are ever on their way at once.
        const server = yield* serving(url, {
          OTEL_EXPORTER_OTLP_ENDPOINT,
          OTEL_EXPORTER_OTLP_TIMEOUT: "500",
          OTEL_BSP_MAX_EXPORT_BATCH_SIZE: "1"
        })
        const answers = yield* Effect.forEach(Array.from({ length: 50 }), () => server.modern(list), {
          concurrency: 10
        })
        assert.lengthOf(answers.filter((answer) => answer.includes("Found 0 workflows")), 50)
        assert.deepInclude(yield* server.end, { signal: null })
      }
      // The rest is dropped, not kept.
      assert.isAtLeast(requests.most, 1)
      assert.isAtMost(requests.most, 8)
    }).pipe(Effect.provide(platform)))
})
