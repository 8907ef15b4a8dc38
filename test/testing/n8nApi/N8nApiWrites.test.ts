import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import type * as N8nApi from "../../../src/testing/n8nApi/N8nApi.ts"
import { type Json, link, noOp, start, versions, webhook, workflow } from "./requests.ts"

const changed: Json = { ...workflow, nodes: [webhook, { ...noOp, notes: "changed" }] }
const triggerless: Json = { ...workflow, nodes: [noOp], connections: {} }

const history = (body: Json) => (body["data"] as ReadonlyArray<Json>).map(({ versionId }) => versionId)

/** The answer of an empty n8n to `POST /workflows`, and its workflows afterwards. */
const post = Effect.fnUntraced(function*(version: "1" | "2", body: unknown, seed?: Partial<N8nApi.Seed>) {
  const { call, workflows } = yield* start({ version }, seed)
  const answer = yield* call("POST", "/workflows", body)
  const statusLine = `${answer.status} ${String(answer.body["message"])}`
  return { ...answer, statusLine, stored: yield* workflows }
})

const ids = (body: Json) => (body["nodes"] as ReadonlyArray<Json>).map(({ id, webhookId }) => [id, webhookId])

describe("POST /workflows", () => {
  it.effect.each([
    ["a group of a node that is not there", "gone", "Group \"G\" references node ID \"gone\" that does not exist"],
    ["a group with a trigger", "w", "Node group \"G\" cannot contain trigger nodes: Webhook."]
  ])("refuses %s on 2.x", ([, id, message]) =>
    Effect.gen(function*() {
      const { statusLine, stored } = yield* post("2", {
        ...workflow,
        nodeGroups: [{ id: "g", name: "G", nodeIds: [id] }]
      })
      assert.include(statusLine, `400 ${message}`)
      assert.deepStrictEqual(stored, [])
    }))

  it.effect("adds node ids, and on 2.x webhook ids", () =>
    Effect.gen(function*() {
      const body = { ...workflow, nodes: [{ ...webhook, id: "", webhookId: "" }, { ...noOp, id: undefined }] }
      const [[id, hook] = [], [other, none] = []] = ids((yield* post("2", body)).body)
      assert.match(String(id), /^[0-9a-f-]{36}$/)
      assert.match(String(hook), /^[0-9a-f-]{36}$/)
      assert.match(String(other), /^[0-9a-f-]{36}$/)
      assert.isUndefined(none)
      assert.strictEqual(ids((yield* post("1", body)).body)[0]?.[1], "")
    }))

  it.effect.each(versions)("resolves credentials by id, or else by name (%s)", (version) =>
    Effect.gen(function*() {
      const credentials = [{ id: "c1", name: "Mine", type: "httpBasicAuth" }]
      const references = [
        { id: "c1", name: "Old" },
        { id: "no", name: "Mine" },
        { id: null, name: "Mine" },
        { id: "no", name: "No" }
      ]
      const nodes = references.map((httpBasicAuth, i) => ({
        ...noOp,
        id: `${i}`,
        name: `${i}`,
        credentials: { httpBasicAuth }
      }))
      const { body } = yield* post(version, { ...triggerless, nodes }, { credentials })
      const mine = { httpBasicAuth: { id: "c1", name: "Mine" } }
      assert.deepStrictEqual(
        (body["nodes"] as ReadonlyArray<Json>).map(({ credentials }) => credentials),
        [mine, mine, mine, { httpBasicAuth: { id: "no", name: "No" } }]
      )
    }))
})

describe("PUT /workflows/{id}", () => {
  it.effect("creates a version if nodes or connections change, on 1.x for any change", () =>
    Effect.gen(function*() {
      for (const version of versions) {
        const { call, create } = yield* start({ version })
        const id = yield* create()
        const put = (body: Json) => Effect.map(call("PUT", `/workflows/${id}`, body), (answer) => answer.body)
        const same = yield* put(workflow)
        const named = yield* put({ ...workflow, name: "Other" })
        const other = yield* put(changed)
        assert.strictEqual(named["versionId"] === same["versionId"], version === "2")
        assert.notStrictEqual(other["versionId"], named["versionId"])
        assert.isTrue(String(same["updatedAt"]) < String(named["updatedAt"]), "updatedAt grows, always")
        assert.isFalse("shared" in other)
      }
    }))

  it.effect("keeps omitted fields and merges settings", () =>
    Effect.gen(function*() {
      const { call, create } = yield* start()
      const fields = {
        pinData: { Webhook: [] },
        staticData: { at: 1 },
        nodeGroups: [{ id: "g", name: "G", nodeIds: ["n"] }]
      }
      const id = yield* create({ ...workflow, ...fields, settings: { timezone: "UTC" } })
      const { body } = yield* call("PUT", `/workflows/${id}`, { ...changed, settings: { executionOrder: "v1" } })
      assert.deepInclude(body, { ...fields, settings: { timezone: "UTC", executionOrder: "v1" } })
      const { body: cleared } = yield* call("PUT", `/workflows/${id}`, { ...changed, pinData: null, staticData: null })
      assert.deepInclude(cleared, { pinData: null, staticData: null })
    }))

  it.effect("keeps the saved draft if publishing is refused; on 1.x the workflow is deactivated", () =>
    Effect.gen(function*() {
      for (const version of versions) {
        const { call, create, statusLine } = yield* start({ version })
        const id = yield* create()
        const { body: live } = yield* call("POST", `/workflows/${id}/activate`)
        const message = version === "2"
          ? "400 Workflow cannot be activated because it has no trigger node. At least one trigger, webhook, or polling " +
            "node is required."
          : `400 Workflow "Orders" (ID: ${id}) has no node to start the workflow - at least one trigger, poller or ` +
            "webhook node is required"
        assert.strictEqual(yield* statusLine("PUT", `/workflows/${id}`, triggerless), message)
        const { body } = yield* call("GET", `/workflows/${id}`)
        assert.deepStrictEqual(body["nodes"], triggerless["nodes"])
        assert.strictEqual(body["active"], version === "2")
        assert.strictEqual(body["activeVersionId"], version === "2" ? live["versionId"] : null)
        assert.strictEqual(body["versionId"] === live["versionId"], version === "1")
      }
    }))
})

describe("publishing", () => {
  it.effect("publishes any version and records when", () =>
    Effect.gen(function*() {
      const { call, create, statusLine } = yield* start()
      const id = yield* create()
      const { body: first } = yield* call("GET", `/workflows/${id}`)
      const { body: second } = yield* call("PUT", `/workflows/${id}`, changed)
      yield* call("POST", `/workflows/${id}/publish`)
      const { body } = yield* call("POST", `/workflows/${id}/publish`, { versionId: first["versionId"], name: "Good" })
      assert.deepInclude(body, { active: true, activeVersionId: first["versionId"], versionId: second["versionId"] })
      assert.isFalse("tags" in body || "shared" in body)
      const live = body["activeVersion"] as Json
      assert.deepInclude(live, { name: "Good", nodes: workflow["nodes"], authors: "Test Owner", autosaved: false })
      const events = live["workflowPublishHistory"] as ReadonlyArray<Json>
      assert.deepStrictEqual(events.map(({ event }) => event), ["activated"])
      assert.strictEqual(
        yield* statusLine("POST", `/workflows/${id}/publish`, { versionId: "no" }),
        "404 Version not found"
      )
    }))

  it.effect.each(versions)("is refused for unknown node types (%s)", (version) =>
    Effect.gen(function*() {
      const { create, statusLine } = yield* start({ version })
      const id = yield* create({ ...workflow, nodes: [webhook, { ...noOp, type: "n8n-nodes-other.thing" }] })
      assert.strictEqual(
        yield* statusLine("POST", `/workflows/${id}/activate`),
        "400 Unrecognized node type: n8n-nodes-other.thing"
      )
    }))
})

describe("versions", () => {
  it.effect("are listed newest first and read completely on 2.x", () =>
    Effect.gen(function*() {
      const { call, create, statusLine } = yield* start()
      const id = yield* create()
      const { body } = yield* call("PUT", `/workflows/${id}`, changed)
      const [newest, oldest] = history((yield* call("GET", `/workflows/${id}/history`)).body)
      assert.strictEqual(newest, body["versionId"])
      const { body: version } = yield* call("GET", `/workflows/${id}/versions/${String(oldest)}`)
      assert.deepInclude(version, {
        workflowId: id,
        nodes: workflow["nodes"],
        connections: link,
        authors: "Test Owner"
      })
      assert.isFalse("autosaved" in version)
      const { body: page } = yield* call("GET", `/workflows/${id}/history?limit=1`)
      assert.deepStrictEqual(history(page), [newest])
      const cursor = encodeURIComponent(String(page["nextCursor"]))
      assert.deepStrictEqual(history((yield* call("GET", `/workflows/${id}/history?cursor=${cursor}`)).body), [oldest])
      assert.strictEqual(yield* statusLine("GET", `/workflows/${id}/versions/no`), "404 Version not found")
      assert.strictEqual(yield* statusLine("GET", "/workflows/no/versions/no"), "404 Workflow not found")
    }))

  it.effect("exist for the seed's draft and published version", () =>
    Effect.gen(function*() {
      const live = { versionId: "v1", nodes: [webhook], connections: {}, nodeGroups: [] }
      const seeded = { ...workflow, id: "a", name: "A", active: true, versionId: "v2", activeVersionId: "v1" }
      const { call } = yield* start({}, { workflows: [{ ...seeded, activeVersion: live }] })
      assert.deepStrictEqual(history((yield* call("GET", "/workflows/a/history")).body), ["v2", "v1"])
      assert.deepStrictEqual((yield* call("GET", "/workflows/a/versions/v1")).body["nodes"], [webhook])
    }))
})

describe("DELETE /workflows/{id}", () => {
  it.effect("deletes executions too, and a published workflow only on 1.x", () =>
    Effect.gen(function*() {
      for (const version of versions) {
        const execution = { id: "7", workflowId: "a", status: "success", startedAt: "2026-11-20T00:00:00.000Z" }
        const seed = { workflows: [{ ...workflow, id: "a", name: "A", active: true }], executions: [execution] }
        const { call, statusLine } = yield* start({ version }, seed)
        if (version === "2") {
          const message = "409 Cannot delete a published workflow. Unpublish it before deleting."
          assert.strictEqual(yield* statusLine("DELETE", "/workflows/a"), message)
          yield* call("POST", "/workflows/a/unpublish")
        }
        const { body, status } = yield* call("DELETE", "/workflows/a")
        assert.deepStrictEqual([status, body["id"], "activeVersion" in body], [200, "a", false])
        assert.strictEqual(yield* statusLine("GET", "/executions/7"), "404 Not Found")
        assert.strictEqual(yield* statusLine("DELETE", "/workflows/a"), "404 Not Found")
      }
    }))
})
