import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import type * as N8nApi from "../../../src/testing/n8nApi/N8nApi.ts"
import { start as startEmpty, versions } from "./requests.ts"

const webhook = {
  id: "w",
  name: "Webhook",
  type: "n8n-nodes-base.webhook",
  position: [0, 0],
  parameters: { path: "a/b", httpMethod: "POST" }
}

const body = { name: "Orders", nodes: [webhook], connections: {}, settings: {} }
const seeded: N8nApi.Workflow = { ...body, id: "a", versionId: "v1", updatedAt: "2026-11-20T00:00:00.000Z" }

const execution = (id: string, status: string, more: object = {}): N8nApi.Execution => ({
  id,
  workflowId: "a",
  status,
  finished: status === "success",
  mode: "webhook",
  startedAt: "2026-11-20T00:00:00.000Z",
  workflowData: { id: "a", active: true },
  data: { resultData: { runData: {}, error: { message: "boom" } }, executionData: {} },
  ...more
})

const seed = {
  workflows: [seeded],
  executions: [
    execution("1", "error"),
    execution("2", "success"),
    execution("3", "running"),
    execution("4", "waiting"),
    execution("5", "new"),
    execution("6", "canceled", { data: {} })
  ]
}

const start = (options?: N8nApi.Options) => startEmpty(options, seed)

describe("edit", () => {
  it.effect.each(versions)("creates a version by another user (%s)", (version) =>
    Effect.gen(function*() {
      const { call, edit, requests } = yield* start({ version })
      yield* call("POST", "/workflows/a/activate")
      yield* edit("a", (workflow) => ({ ...workflow, nodes: [{ ...webhook, notes: "theirs" }] }), "Ann")
      const { body: now } = yield* call("GET", "/workflows/a")
      assert.notStrictEqual(now["versionId"], "v1")
      assert.strictEqual(now["activeVersionId"], version === "2" ? "v1" : now["versionId"])
      assert.isTrue(String(now["updatedAt"]) > String(seeded["updatedAt"]))
      const { body: edited } = yield* call("GET", `/workflows/a/${String(now["versionId"])}`)
      assert.strictEqual(edited["authors"], "Ann")
      assert.strictEqual((yield* requests).length, 3)
    }))
})

describe("webhooks", () => {
  it.effect("are registered after some requests on 2.x, immediately on 1.x", () =>
    Effect.gen(function*() {
      for (const version of versions) {
        const { call, send } = yield* start({ version, webhookLag: 2 })
        const look = Effect.map(
          send("OPTIONS", "/webhook/a/b", undefined, { origin: "null" }),
          ({ headers }) => headers["access-control-allow-methods"]
        )
        const looks = Effect.all([look, look, look])
        const late = version === "2"
        const up = "OPTIONS, POST"
        yield* call("POST", "/workflows/a/activate")
        assert.deepStrictEqual(yield* looks, late ? ["OPTIONS", "OPTIONS", up] : [up, up, up])
        yield* call("POST", "/workflows/a/deactivate")
        assert.deepStrictEqual(yield* looks, late ? [up, up, "OPTIONS"] : ["OPTIONS", "OPTIONS", "OPTIONS"])
      }
    }))
})

describe("POST /executions/{id}/retry", () => {
  it.effect.each([
    { id: "2", two: "409 The execution succeeded, so it cannot be retried.", one: 400 },
    { id: "5", two: "409 Execution is queued to run (not yet started) so it cannot be retried", one: 409 },
    { id: "6", two: "409 The execution was aborted before starting, so it cannot be retried", one: 409 },
    { id: "99", two: "404 The execution with the ID \"99\" does not exist.", one: 404 }
  ])("is refused for $id", ({ id, one, two }) =>
    Effect.gen(function*() {
      assert.strictEqual(yield* (yield* start()).statusLine("POST", `/executions/${id}/retry`), two)
      const first = yield* (yield* start({ version: "1" })).statusLine("POST", `/executions/${id}/retry`)
      assert.strictEqual(first, `${one}${two.slice(3)}`)
    }))

  it.effect("ends as before, or succeeds with the current workflow", () =>
    Effect.gen(function*() {
      const { call } = yield* start()
      const { body: again } = yield* call("POST", "/executions/1/retry")
      assert.deepInclude(again, { id: "7", mode: "retry", retryOf: "1", status: "error", finished: false })
      const { body: well } = yield* call("POST", "/executions/1/retry", { loadWorkflow: true })
      assert.deepInclude(well, { id: "8", status: "success", finished: true })
      assert.deepStrictEqual(well["workflowData"], { id: "a", active: false, activeVersionId: null })
      assert.strictEqual((yield* call("GET", "/executions/1")).body["retrySuccessId"], "8")
      const { body: first } = yield* (yield* start({ version: "1" })).call("POST", "/executions/1/retry")
      assert.strictEqual(first["retryOf"], 1)
    }))
})

describe("POST /executions/{id}/stop", () => {
  it.effect.each(["3", "4"])("cancels %s, once, and on 2.x only", (id) =>
    Effect.gen(function*() {
      const { call, statusLine } = yield* start()
      const { body: stopped } = yield* call("POST", `/executions/${id}/stop`)
      assert.deepStrictEqual(Object.keys(stopped), ["status", "finished", "mode", "startedAt", "stoppedAt"])
      assert.deepInclude((yield* call("GET", `/executions/${id}`)).body, { status: "canceled", waitTill: null })
      assert.strictEqual(
        yield* statusLine("POST", `/executions/${id}/stop`),
        `409 Only running or waiting executions can be stopped and ${id} is currently canceled`
      )
      assert.strictEqual(yield* statusLine("POST", "/executions/99/stop"), "404 Failed to find execution to stop")
      const first = yield* start({ version: "1" })
      assert.strictEqual(yield* first.statusLine("POST", `/executions/${id}/stop`), "404 not found")
    }))
})
