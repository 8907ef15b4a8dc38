import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import type * as N8nApi from "../../../src/testing/n8nApi/N8nApi.ts"
import { type Json, noOp, start, versions, webhook, workflow } from "./requests.ts"

const triggerless: Json = { ...workflow, nodes: [noOp], connections: {} }

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
