import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import type * as N8nApi from "../../../src/testing/n8nApi/N8nApi.ts"
import { main } from "../../support/workflows.ts"
import { type Json, noOp, webhook, workflow } from "./orders.ts"
import { start, versions } from "./requests.ts"

const triggerless: Json = { ...workflow, nodes: [noOp], connections: {} }

/** The answer of an empty n8n to `POST /workflows`, and its workflows afterwards. */
const post = Effect.fnUntraced(function*(version: "1" | "2", body: unknown, seed?: Partial<N8nApi.Seed>) {
  const { call, workflows } = yield* start({ version }, seed)
  const answer = yield* call("POST", "/workflows", body)
  const statusLine = `${answer.status} ${String(answer.body["message"])}`
  return { ...answer, statusLine, stored: yield* workflows }
})

const without = (key: string) => Object.fromEntries(Object.entries(workflow).filter(([each]) => each !== key))
const ids = (body: Json) => (body["nodes"] as ReadonlyArray<Json>).map(({ id, webhookId }) => [id, webhookId])

const additional = "must NOT have additional properties"
const structure = "Workflow structure is invalid."

describe("POST /workflows", () => {
  it.effect.each([
    { fault: "nothing sent", body: undefined, two: "415 unsupported media type undefined", one: undefined },
    {
      fault: "no name",
      body: without("name"),
      two: "400 request/body must have required property 'name'",
      one: undefined
    },
    {
      fault: "no connections",
      body: without("connections"),
      two: "400 request/body/connections must be object",
      one: "400 request/body must have required property 'connections'"
    },
    {
      fault: "an id",
      body: { ...workflow, id: "x", tags: [] },
      two: "400 request/body/id is read-only",
      one: undefined
    },
    {
      fault: "an id that is a number",
      body: { ...workflow, id: 7 },
      two: "400 request/body/id is read-only",
      one: "400 request/body/id must be string"
    },
    {
      fault: "tags that are null",
      body: { ...workflow, tags: null },
      two: "400 request/body/tags is read-only",
      one: "400 request/body/tags must pass \"readOnly\" keyword validation"
    },
    {
      fault: "what it said itself about sharing",
      body: { ...workflow, shared: [{ role: "workflow:owner", createdAt: "2026-11-20T00:00:00.000Z" }] },
      two: "400 request/body/shared/0/createdAt is read-only",
      one: undefined
    },
    {
      fault: "versionId",
      body: { ...workflow, versionId: "x" },
      two: "400 request/body/versionId is read-only",
      one: `400 request/body ${additional}`
    },
    {
      fault: "strange keys",
      body: { ...workflow, hash: "x", foo: 1 },
      two: "400 request/body Unrecognized key(s) in object: 'hash', 'foo'",
      one: `400 request/body ${additional}`
    },
    {
      fault: "a description",
      body: { ...workflow, description: "x" },
      two: "400 request/body Unrecognized key(s) in object: 'description'",
      one: `400 request/body ${additional}`
    },
    {
      fault: "a strange setting",
      body: { ...workflow, settings: { foo: 1 } },
      two: "400 request/body/settings Unrecognized key(s) in object: 'foo'",
      one: `400 request/body/settings ${additional}`
    },
    {
      fault: "a setting that is null",
      body: { ...workflow, settings: { errorWorkflow: null } },
      two: "400 request/body/settings/errorWorkflow Expected string, received null",
      one: "400 request/body/settings/errorWorkflow must be string"
    },
    {
      fault: "a strange value",
      body: { ...workflow, settings: { callerPolicy: "x", foo: 1 } },
      two:
        "400 request/body/settings/callerPolicy Invalid enum value. Expected 'any' | 'none' | 'workflowsFromAList' | " +
        "'workflowsFromSameOwner', received 'x'",
      one: `400 request/body/settings ${additional}`
    },
    {
      fault: "a strange key in a node",
      body: { ...workflow, nodes: [webhook, { ...noOp, color: "red" }] },
      two: "400 request/body/nodes/1 Unrecognized key(s) in object: 'color'",
      one: `400 request/body/nodes/1 ${additional}`
    },
    {
      fault: "static data that is no JSON",
      body: { ...workflow, staticData: "nope" },
      two: "400 request/body/staticData must be a JSON string",
      one: "400 request/body/staticData must match format \"jsonString\", request/body/staticData must be object, " +
        "request/body/staticData must match a schema in anyOf"
    }
  ])("refuses $fault", ({ body, one, two }) =>
    Effect.gen(function*() {
      const second = yield* post("2", body)
      const first = yield* post("1", body)
      assert.deepStrictEqual([second.statusLine, first.statusLine], [two, one ?? two])
      assert.deepStrictEqual([...second.stored, ...first.stored], [])
    }))

  it.effect.each([
    { fault: "a long name", body: { ...workflow, name: "x".repeat(129) }, message: "Workflow name must be 1 to 128" },
    {
      fault: "unknown sources and targets",
      body: { ...workflow, connections: { w: main("n") } },
      message: `${structure} connections.w (unknown_connection_source): Connection source "w" does not reference an ` +
        "existing node; connections.w.main[0][0].node (unknown_connection_target)"
    },
    {
      fault: "two nodes of one name and id",
      body: { ...triggerless, nodes: [noOp, noOp] },
      message: `${structure} nodes[1].id (duplicate_node_id): Nodes "Done" and "Done" share the node ID "n"; ` +
        "nodes[1].name (duplicate_node_name): Duplicate node name \"Done\""
    },
    {
      fault: "a node without a position",
      body: { ...triggerless, nodes: [{ name: "Done", type: "n8n-nodes-base.noOp" }] },
      message: `${structure} nodes[0].position (invalid_type): Required`
    },
    {
      fault: "a connection that is none",
      body: { ...workflow, connections: { Webhook: { main: [{ node: "Done" }] } } },
      message: `${structure} connections.Webhook.main[0] (invalid_type): Expected array, received object`
    },
    {
      fault: "a group of a node that is not there",
      body: { ...workflow, nodeGroups: [{ id: "g", name: "G", nodeIds: ["gone"] }] },
      message: "Group \"G\" references node ID \"gone\" that does not exist in the workflow.",
      only2: true
    },
    {
      fault: "a group with a trigger",
      body: { ...workflow, nodeGroups: [{ id: "g", name: "G", nodeIds: ["w"] }] },
      message: "Node group \"G\" cannot contain trigger nodes: Webhook.",
      only2: true
    }
  ])("refuses $fault on 2.x, where 1.x stores it", ({ body, message, only2 }) =>
    Effect.gen(function*() {
      const { stored, statusLine } = yield* post("2", body)
      assert.strictEqual(statusLine.slice(0, `400 ${message}`.length), `400 ${message}`)
      assert.deepStrictEqual(stored, [])
      assert.strictEqual((yield* post("1", body)).status, only2 === true ? 400 : 200)
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

  it.effect("answers with the whole workflow on 2.x, with less on 1.x", () =>
    Effect.gen(function*() {
      const { body } = yield* post("2", workflow)
      assert.deepStrictEqual([body["tags"], body["activeVersion"], body["parentFolder"]], [[], null, null])
      const { body: less } = yield* post("1", workflow)
      for (const key of ["tags", "shared", "activeVersion", "nodeGroups", "parentFolder"]) assert.isFalse(key in less)
      assert.deepStrictEqual(less["settings"], { callerPolicy: "workflowsFromSameOwner", availableInMCP: false })
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
