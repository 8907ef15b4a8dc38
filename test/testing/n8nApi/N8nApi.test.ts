import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as HttpClient from "effect/http/HttpClient"
import * as N8nApi from "../../../src/testing/n8nApi/N8nApi.ts"
import { start } from "./requests.ts"

const tag = (name: string) => ({ id: `tag-${name}`, name })

const workflow = (id: string, name: string, more: object = {}): N8nApi.Workflow => ({
  id,
  name,
  description: "only in GET /workflows/{id}",
  active: false,
  nodes: [{ name: "Webhook" }],
  connections: {},
  nodeGroups: [],
  pinData: { Webhook: [] },
  tags: [],
  shared: [{ projectId: "p1", project: { name: "Owner" } }],
  activeVersion: null,
  ...more
})

const execution = (id: number, status: string, workflowId = "b"): N8nApi.Execution => ({
  id: String(id),
  status,
  workflowId,
  mode: "webhook",
  startedAt: `2026-11-20T00:00:${String(id).padStart(2, "0")}.000Z`,
  deletedAt: null,
  storedAt: "db",
  data: { resultData: { runData: {} } },
  workflowData: { name: "as it ran" },
  customData: {}
})

const seed = {
  workflows: [
    workflow("c", "Gamma", { tags: [tag("red")] }),
    workflow("a", "Alpha sync", {
      active: true,
      tags: [tag("red"), tag("blue")],
      activeVersion: { nodes: [{ name: "Webhook" }], workflowPublishHistory: [] }
    }),
    workflow("b", "Beta SYNC", { shared: [{ projectId: "p2" }] })
  ],
  executions: [execution(9, "success"), execution(10, "error", "a"), execution(11, "success"), execution(12, "running")]
}

/** The status and the JSON of one answer. */
const ask = Effect.fnUntraced(function*(
  path: string,
  options: N8nApi.Options & { readonly method?: "PATCH" | "PUT" | "POST" | "DELETE"; readonly key?: string } = {}
) {
  const { call } = yield* start(options, seed)
  return yield* call(
    options.method ?? "GET",
    path,
    undefined,
    options.key === undefined ? {} : { "x-n8n-api-key": options.key }
  )
})

const data = (body: Record<string, unknown>) => body["data"] as ReadonlyArray<Record<string, unknown>>

const ids = (path: string, options?: N8nApi.Options) =>
  Effect.map(ask(path, options), ({ body }) => data(body).map(({ id }) => id).join(" "))

const message = (path: string, options?: Parameters<typeof ask>[1]) =>
  Effect.map(ask(path, options), ({ body, status }) => `${status} ${String(body["message"])}`)

const one: N8nApi.Options = { version: "1" }

describe("GET /workflows", () => {
  it.effect.each([
    { query: "", ids: "a b c" },
    { query: "?active=true", ids: "a" },
    { query: "?active=false", ids: "b c" },
    { query: "?name=sync", ids: "a b" },
    { query: "?tags=red", ids: "a c" },
    { query: "?tags=red,blue", ids: "a" },
    { query: "?tags=red,%20blue", ids: "a" },
    { query: "?tags=Red", ids: "" },
    { query: "?projectId=p2", ids: "b" },
    { query: "?active=false&tags=red&name=GAM", ids: "c" }
  ])("finds '$ids' for '$query' on both versions", ({ ids: expected, query }) =>
    Effect.gen(function*() {
      assert.strictEqual(yield* ids(`/workflows${query}`), expected)
      assert.strictEqual(yield* ids(`/workflows${query}`, one), expected)
    }))

  it.effect("handles an unknown tag differently on each version", () =>
    Effect.gen(function*() {
      assert.strictEqual(yield* ids("/workflows?tags=red,nope"), "")
      assert.strictEqual(yield* ids("/workflows?tags=red,nope", one), "a c")
    }))

  it.effect("has the nodes and the active version, but no description and no project", () =>
    Effect.gen(function*() {
      const { body } = yield* ask("/workflows?active=true")
      const [item = {}] = data(body)
      assert.deepStrictEqual(item["nodes"], [{ name: "Webhook" }])
      assert.deepStrictEqual(item["activeVersion"], { nodes: [{ name: "Webhook" }] })
      assert.deepStrictEqual(item["shared"], [{ projectId: "p1" }])
      assert.isFalse("description" in item)
      assert.isTrue("nodeGroups" in item)
      assert.isFalse("nodeGroups" in (data((yield* ask("/workflows", one)).body)[0] ?? {}))
    }))

  it.effect("omits pinData on request", () =>
    Effect.gen(function*() {
      assert.isTrue("pinData" in (yield* ask("/workflows/a")).body)
      assert.isFalse("pinData" in (yield* ask("/workflows/a?excludePinnedData=true")).body)
      const { body } = yield* ask("/workflows?excludePinnedData=true")
      assert.isTrue(data(body).every((item) => !("pinData" in item)))
    }))

  it.effect("pages by cursor, whose limit wins, and on 2.x by offset", () =>
    Effect.gen(function*() {
      const first = (yield* ask("/workflows?limit=2")).body
      assert.deepStrictEqual(data(first).map(({ id }) => id), ["a", "b"])
      const cursor = encodeURIComponent(String(first["nextCursor"]))
      const second = (yield* ask(`/workflows?limit=1&cursor=${cursor}`)).body
      assert.deepStrictEqual(data(second).map(({ id }) => id), ["c"])
      assert.isNull(second["nextCursor"])
      assert.strictEqual(yield* ids("/workflows?offset=1&limit=1"), "b")
    }))

  it.effect("caps the limit at 250 on 2.x, refuses more on 1.x, and defaults to 100", () =>
    Effect.gen(function*() {
      const many = { workflows: Array.from({ length: 300 }, (_, i) => workflow(`w${i}`, "Many")), executions: [] }
      const { client } = yield* N8nApi.make(many)
      const count = (query: string) =>
        client.get(`http://n8n.test/api/v1/workflows${query}`).pipe(
          Effect.flatMap((response) => response.json),
          Effect.map((body) => data(body as Record<string, unknown>).length)
        )
      assert.strictEqual(yield* count("?limit=300"), 250)
      assert.strictEqual(yield* count(""), 100)
      assert.strictEqual(yield* message("/workflows?limit=251", one), "400 request/query/limit must be <= 250")
    }))
})

describe("GET /executions", () => {
  it.effect("lists the newest first, and running ones only on request", () =>
    Effect.gen(function*() {
      assert.strictEqual(yield* ids("/executions"), "11 10 9")
      assert.strictEqual(yield* ids("/executions?status=running"), "12")
      assert.strictEqual(yield* ids("/executions?status=success"), "11 9")
      assert.strictEqual(yield* ids("/executions?workflowId=a"), "10")
      assert.strictEqual(yield* ids("/executions?projectId=p1"), "10")
      assert.strictEqual(yield* ids("/executions?workflowId=a&status=success"), "")
    }))

  it.effect("has data only on request, and never a workflow name", () =>
    Effect.gen(function*() {
      const [bare = {}] = data((yield* ask("/executions")).body)
      assert.deepStrictEqual(Object.keys(bare), ["id", "status", "workflowId", "mode", "startedAt"])
      const [whole = {}] = data((yield* ask("/executions?includeData=true")).body)
      assert.deepStrictEqual(whole["workflowData"], { name: "as it ran" })
      assert.deepStrictEqual(whole["data"], { resultData: { runData: {} } })
    }))

  it.effect("pages", () =>
    Effect.gen(function*() {
      const { body } = yield* ask("/executions?limit=2")
      const cursor = encodeURIComponent(String(body["nextCursor"]))
      assert.strictEqual(yield* ids(`/executions?cursor=${cursor}`), "9")
      assert.isNull((yield* ask(`/executions?cursor=${cursor}`)).body["nextCursor"])
      assert.strictEqual(yield* ids(`/executions?limit=3`), "11 10 9")
    }))

  it.effect("includes both ends of a time span on 2.x", () =>
    Effect.gen(function*() {
      assert.strictEqual(yield* ids("/executions?startedAfter=2026-11-20T00:00:10Z"), "11 10")
      assert.strictEqual(yield* ids("/executions?startedBefore=2026-11-20T00:00:10Z"), "10 9")
      assert.strictEqual(
        yield* message("/executions?startedAfter=2026-11-20", {}),
        "400 request/query/startedAfter Invalid datetime"
      )
      assert.strictEqual(
        yield* message("/executions?startedAfter=2026-11-20T00:00:10Z", one),
        "400 Unknown query parameter 'startedAfter'"
      )
    }))

  it.effect("lists the known statuses in its error", () =>
    Effect.gen(function*() {
      assert.strictEqual(
        yield* message("/executions?status=foo"),
        "400 request/query/status Invalid enum value. Expected 'canceled' | 'crashed' | 'error' | 'new' | 'running' | " +
          "'success' | 'unknown' | 'waiting', received 'foo'"
      )
      assert.strictEqual(
        yield* message("/executions?status=crashed", one),
        "400 request/query/status must be equal to one of the allowed values: canceled, error, running, success, waiting"
      )
    }))
})

describe("one workflow, one execution", () => {
  it.effect("are complete, with an execution's data only on request", () =>
    Effect.gen(function*() {
      assert.deepInclude((yield* ask("/workflows/b")).body, { ...seed.workflows[2] })
      assert.deepStrictEqual((yield* ask("/executions/10?includeData=true")).body, { ...seed.executions[1] })
      const { body } = yield* ask("/executions/10")
      assert.isFalse("data" in body || "workflowData" in body)
      assert.isFalse("storedAt" in (yield* ask("/executions/10", one)).body)
      assert.strictEqual((yield* ask("/executions/12")).body["status"], "running")
    }))

  it.effect.each([
    { path: "/workflows/nope", two: "404 Not Found", one: "404 Not Found" },
    { path: "/executions/999", two: "404 Not Found", one: "404 Not Found" },
    {
      path: "/executions/abc",
      two: "400 request/params/executionId must be a positive integer",
      one: "400 request/params/id must be number"
    },
    { path: "/nope", two: "404 not found", one: "404 not found" }
  ])("refuses $path", ({ one: first, path, two }) =>
    Effect.gen(function*() {
      assert.strictEqual(yield* message(path), two)
      assert.strictEqual(yield* message(path, one), first)
    }))
})

describe("refusals of n8n", () => {
  it.effect.each([
    {
      query: "active=yes",
      two: "active Invalid enum value. Expected 'true' | 'false', received 'yes'",
      one: "active must be boolean"
    },
    { query: "limit=abc", two: "limit Param `limit` must be a valid integer", one: "limit must be number" },
    { query: "tags=a&tags=b", two: "tags Expected string, received array", one: "tags must be string" }
  ])(
    "reports the error in '$query' in the wording of each version",
    ({ one: first, query, two }) =>
      Effect.gen(function*() {
        assert.strictEqual(yield* message(`/workflows?${query}`), `400 request/query/${two}`)
        assert.strictEqual(yield* message(`/workflows?${query}`, one), `400 request/query/${first}`)
      })
  )

  it.effect("refuses unknown query parameters on 1.x and ignores them on 2.x", () =>
    Effect.gen(function*() {
      assert.strictEqual(yield* message("/workflows?limit=abc&foo=1", one), "400 Unknown query parameter 'foo'")
      assert.strictEqual(yield* message("/workflows?offset=1", one), "400 Unknown query parameter 'offset'")
      assert.strictEqual(yield* message("/workflows?constructor=1", one), "400 Unknown query parameter 'constructor'")
      assert.strictEqual(yield* message("/workflows?name=", one), "400 Empty value found for query parameter 'name'")
      assert.strictEqual(yield* ids("/workflows?foo=1"), "a b c")
      assert.strictEqual(yield* ids("/workflows?name="), "a b c")
    }))

  it.effect("refuses an invalid cursor", () =>
    Effect.gen(function*() {
      assert.strictEqual(yield* message("/workflows?cursor=abc"), "400 An invalid cursor was provided")
      assert.strictEqual(yield* message("/executions?cursor=abc", one), "400 An invalid cursor was provided")
    }))

  it.effect("refuses other methods before it checks the key", () =>
    Effect.gen(function*() {
      const options = { method: "PATCH", apiKey: "k" } as const
      assert.strictEqual(yield* message("/workflows", options), "405 PATCH method not allowed")
      assert.strictEqual(yield* message("/executions/9", options), "405 PATCH method not allowed")
    }))

  it.effect("refuses a wrong key in the wording of each version", () =>
    Effect.gen(function*() {
      assert.strictEqual(yield* message("/workflows", { apiKey: "k" }), "401 Unauthorized")
      assert.strictEqual(yield* message("/workflows", { apiKey: "k", key: "wrong" }), "401 Unauthorized")
      assert.strictEqual(
        yield* message("/workflows?foo=1", { ...one, apiKey: "k" }),
        "401 'X-N8N-API-KEY' header required"
      )
      assert.strictEqual(yield* message("/workflows", { ...one, apiKey: "k", key: "wrong" }), "401 unauthorized")
      assert.strictEqual((yield* ask("/workflows", { apiKey: "k", key: "k" })).status, 200)
    }))
})

describe("N8nApi", () => {
  it.effect("records the requests", () =>
    Effect.gen(function*() {
      const { client, requests } = yield* N8nApi.make(seed)
      yield* client.get("http://n8n.test/api/v1/workflows", {
        urlParams: { limit: 1 },
        headers: { "x-n8n-api-key": "k" }
      })
      yield* client.del("http://n8n.test/api/v1/workflows/a")
      const seen = yield* requests
      assert.deepStrictEqual(seen.map(({ method, url }) => `${method} ${url}`), [
        "GET http://n8n.test/api/v1/workflows?limit=1",
        "DELETE http://n8n.test/api/v1/workflows/a"
      ])
      assert.strictEqual(seen[0]?.headers["x-n8n-api-key"], "k")
    }))

  it.effect.each(
    [
      { version: "2", release: "n8n@2.41.1" },
      { version: "1", release: "n8n@1.123.81" }
    ] as const
  )("tells $release on the start page, without a key", ({ release, version }) =>
    Effect.gen(function*() {
      const { client } = yield* N8nApi.make(seed, { version, apiKey: "k" })
      const page = yield* Effect.flatMap(client.get("http://n8n.test/"), (response) => response.text)
      const content = /name="n8n:config:sentry" content="([^"]+)"/.exec(page)?.[1] ?? ""
      assert.strictEqual(JSON.parse(atob(content)).release, release)
    }))

  it.effect("is an HttpClient as a layer", () =>
    HttpClient.get("http://n8n.test/api/v1/workflows/a").pipe(
      Effect.map(({ status }) => assert.strictEqual(status, 200)),
      Effect.provide(N8nApi.layer(seed))
    ))
})
