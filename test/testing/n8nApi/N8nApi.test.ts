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
const ask = Effect.fnUntraced(function*(path: string, options: N8nApi.Options = {}) {
  const { call } = yield* start(options, seed)
  return yield* call("GET", path)
})

const data = (body: Record<string, unknown>) => body["data"] as ReadonlyArray<Record<string, unknown>>

const ids = (path: string, version: "1" | "2" = "2") =>
  Effect.map(ask(path, { version }), ({ body }) => data(body).map(({ id }) => id).join(" "))

const one: N8nApi.Options = { version: "1" }

describe("GET /workflows", () => {
  it.effect.each<[query: string, two: string, one?: string]>([
    ["", "a b c"],
    ["?active=true", "a"],
    ["?active=false", "b c"],
    ["?name=sync", "a b"],
    ["?tags=red", "a c"],
    ["?tags=red,blue", "a"],
    ["?tags=red,%20blue", "a"],
    ["?tags=Red", ""],
    ["?tags=red,nope", "", "a c"],
    ["?projectId=p2", "b"],
    ["?active=false&tags=red&name=GAM", "c"]
  ])("finds for '%s' on 2.x '%s'", ([query, two, first = two]) =>
    Effect.gen(function*() {
      assert.deepStrictEqual([yield* ids(`/workflows${query}`), yield* ids(`/workflows${query}`, "1")], [two, first])
    }))

  it.effect("takes an empty project for none on 2.x", () =>
    Effect.map(ids("/workflows?projectId="), (all) => assert.strictEqual(all, "a b c")))

  it.effect("has the nodes and the active version, but no description, no project and on request no pinned data", () =>
    Effect.gen(function*() {
      const [item = {}] = data((yield* ask("/workflows?active=true&excludePinnedData=true")).body)
      const activeVersion = { nodes: [{ name: "Webhook" }] }
      assert.deepInclude(item, { nodes: activeVersion.nodes, activeVersion, shared: [{ projectId: "p1" }] })
      for (const key of ["description", "pinData"]) assert.isFalse(key in item, key)
      assert.isFalse("nodeGroups" in (data((yield* ask("/workflows", one)).body)[0] ?? {}))
      assert.isTrue("pinData" in (yield* ask("/workflows/a")).body)
      assert.isFalse("pinData" in (yield* ask("/workflows/a?excludePinnedData=true")).body)
    }))

  it.effect("pages by cursor, whose limit wins, and on 2.x by offset", () =>
    Effect.gen(function*() {
      const first = (yield* ask("/workflows?limit=2")).body
      assert.deepStrictEqual(data(first).map(({ id }) => id), ["a", "b"])
      const cursor = encodeURIComponent(String(first["nextCursor"]))
      const second = (yield* ask(`/workflows?limit=1&cursor=${cursor}`)).body
      assert.deepStrictEqual([data(second).map(({ id }) => id), second["nextCursor"]], [["c"], null])
      assert.strictEqual(yield* ids("/workflows?offset=1&limit=1"), "b")
    }))
})

describe("GET /executions", () => {
  it.effect.each([
    ["", "11 10 9"],
    ["?status=running", "12"],
    ["?status=success", "11 9"],
    ["?workflowId=a", "10"],
    ["?workflowId=&projectId=", "11 10 9"],
    ["?projectId=p1", "10"],
    ["?workflowId=a&status=success", ""],
    ["?limit=3", "11 10 9"],
    ["?startedAfter=2026-11-20T00:00:10Z", "11 10"],
    ["?startedBefore=2026-11-20T00:00:10Z", "10 9"]
  ])("lists for '%s' the newest first: '%s'", ([query, expected]) =>
    Effect.gen(function*() {
      assert.strictEqual(yield* ids(`/executions${query}`), expected)
    }))

  it.effect("pages", () =>
    Effect.gen(function*() {
      const { body } = yield* ask("/executions?limit=2")
      const next = (yield* ask(`/executions?cursor=${encodeURIComponent(String(body["nextCursor"]))}`)).body
      assert.deepStrictEqual([data(next).map(({ id }) => id), next["nextCursor"]], [["9"], null])
    }))

  it.effect("has data only on request, in a list without where they are stored", () =>
    Effect.gen(function*() {
      const [bare = {}] = data((yield* ask("/executions")).body)
      assert.deepStrictEqual(Object.keys(bare), ["id", "status", "workflowId", "mode", "startedAt"])
      const [whole = {}] = data((yield* ask("/executions?includeData=true")).body)
      assert.deepInclude(whole, { workflowData: { name: "as it ran" }, data: { resultData: { runData: {} } } })
      assert.deepStrictEqual((yield* ask("/executions/10?includeData=true")).body, { ...seed.executions[1] })
      const { body } = yield* ask("/executions/10")
      assert.isFalse("data" in body || "workflowData" in body)
      assert.isFalse("storedAt" in (yield* ask("/executions/10", one)).body)
    }))
})

describe("N8nApi", () => {
  it.effect.each(
    [
      { version: "2", release: "n8n@2.41.1", refusal: "Unauthorized" },
      { version: "1", release: "n8n@1.123.81", refusal: "'X-N8N-API-KEY' header required" }
    ] as const
  )(
    "tells $release on the start page, and nothing else without a key",
    ({ refusal, release, version }) =>
      Effect.gen(function*() {
        const { send, statusLine } = yield* start({ version, apiKey: "k" })
        const page = yield* Effect.flatMap(send("GET", "/"), (response) => response.text)
        const content = /name="n8n:config:sentry" content="([^"]+)"/.exec(page)?.[1] ?? ""
        assert.strictEqual(JSON.parse(atob(content)).release, release)
        assert.strictEqual(yield* statusLine("GET", "/workflows?foo=1"), `401 ${refusal}`)
        assert.strictEqual(yield* statusLine("PATCH", "/workflows"), "405 PATCH method not allowed")
      })
  )

  it.effect("is an HttpClient as a layer", () =>
    HttpClient.get("http://n8n.test/api/v1/workflows/a").pipe(
      Effect.map(({ status }) => assert.strictEqual(status, 200)),
      Effect.provide(N8nApi.layer(seed))
    ))
})
