import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as HttpClient from "effect/http/HttpClient"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as Stream from "effect/Stream"
import * as TestClock from "effect/testing/TestClock"
import { readFileSync } from "node:fs"
import * as Services from "../../src/app/Services.ts"
import { arr, obj } from "../../src/base/Json.ts"
import * as N8nClient from "../../src/n8n/N8nClient.ts"
import * as FakeN8n from "../../src/testing/FakeN8n.ts"
import * as N8nApi from "../../src/testing/n8nApi/N8nApi.ts"
import * as tools from "../../src/tools/index.ts"
import { settle } from "../n8n/clients.ts"
import { reasonOf } from "../support/reason.ts"
import { node } from "../support/workflows.ts"
import * as contract from "./n8nApi/contract.ts"

const to = (name: string) => [{ node: name, type: "main", index: 0 }]

const orders: FakeN8n.Workflow = {
  id: "w1",
  name: "Orders",
  nodes: [node("Start", "manualTrigger"), node("If", "if"), node("Pay", "noOp"), node("Skip", "noOp")],
  connections: { Start: { main: [to("If")] }, If: { main: [to("Skip"), to("Pay")] } }
}

const fake = (more: Partial<FakeN8n.Seed> = {}, options: FakeN8n.Options = {}) =>
  Layer.provideMerge(Services.layerMemory, FakeN8n.layer({ workflows: [orders], executions: [], ...more }, options))

describe("executions of the fake", () => {
  it.effect("are added later, with run data that explains itself", () =>
    Effect.gen(function*() {
      yield* TestClock.setTime(Date.UTC(2026, 5, 1))
      const api = yield* FakeN8n.FakeN8n
      const n8n = yield* N8nClient.N8nClient
      assert.deepStrictEqual((yield* n8n.listExecutions({ limit: 5 })).executions, [])
      const first = yield* api.addExecution(FakeN8n.succeededExecution({ workflow: orders }))
      const { id, startedAt } = yield* api.addExecution(FakeN8n.failedExecution({
        workflow: orders,
        node: "Pay",
        message: "card declined",
        items: { If: [{ orderId: 7 }] }
      }))
      assert.deepStrictEqual([first.id, id, startedAt.slice(0, 10)], ["1", "2", "2026-06-01"])
      const listed = yield* Stream.runCollect(n8n.streamExecutions({ startedAfter: "2026-06-01T00:00:00.000Z" }))
      assert.deepStrictEqual(listed.map(({ id, status }) => [id, status]), [["2", "error"], ["1", "success"]])
      const { availableNodes, failure, statistics } = yield* tools.getExecution.call({ id })
      assert.deepStrictEqual([failure?.node, failure?.error.message, failure?.inputItem], [
        "Pay",
        "card declined",
        { orderId: 7 }
      ])
      assert.deepInclude(statistics, { totalNodes: 4, executedNodes: 3, failedNodes: 1, successfulNodes: 2 })
      assert.deepStrictEqual(availableNodes.map(({ nodeName }) => nodeName), ["Pay", "If", "Start"])
      const { input } = yield* tools.getExecutionByNode.call({ id, nodeName: "Pay" })
      assert.include(JSON.stringify(input), "\"orderId\":7")
      const retried = yield* n8n.retryExecution(id, true)
      assert.deepStrictEqual((yield* api.executions).map(({ id }) => id), ["1", "2", String(retried.id)])
    }).pipe(Effect.provide(fake())))

  it("refuse an unreachable node", () => {
    assert.throws(
      () => FakeN8n.failedExecution({ workflow: orders, node: "Nobody", message: "" }),
      "No path leads to a node 'Nobody' of workflow 'Orders'"
    )
  })
})

describe("failures of the fake", () => {
  it.effect("are as many as requested, without effect, and then stop", () =>
    Effect.gen(function*() {
      const api = yield* FakeN8n.FakeN8n
      const n8n = yield* N8nClient.N8nClient
      yield* api.failTimes(2, 429, { retryAfter: 3 })
      yield* settle(n8n.createWorkflow({ name: "Once", nodes: [], connections: {}, settings: {} }))
      assert.deepStrictEqual((yield* api.workflows).map(({ name }) => name), ["Orders", "Once"])
      yield* api.failTimes(9, 0)
      assert.strictEqual(reasonOf(yield* settle(Effect.flip(n8n.getWorkflow("w1")))), "Unreachable")
    }).pipe(Effect.provide(fake())))

  it.effect("replace those before, and end with none", () =>
    Effect.gen(function*() {
      const api = yield* FakeN8n.FakeN8n
      const n8n = yield* N8nClient.N8nClient
      const reason = Effect.map(settle(Effect.flip(n8n.getWorkflow("w1"))), reasonOf)
      yield* api.failTimes(Infinity)
      assert.strictEqual(yield* reason, "Status 503")
      yield* api.failTimes(1, 401)
      assert.strictEqual(yield* reason, "Status 401")
      assert.strictEqual((yield* n8n.getWorkflow("w1")).name, "Orders")
      yield* api.failTimes(Infinity, 401)
      yield* api.failTimes(0)
      assert.strictEqual((yield* n8n.getWorkflow("w1")).name, "Orders")
    }).pipe(Effect.provide(fake())))
})

describe("credentials of the fake", () => {
  it.effect("are refused as n8n refuses them, with the fields of its types", () =>
    Effect.gen(function*() {
      const n8n = yield* N8nClient.N8nClient
      const create = (type: string, values: object) =>
        n8n.createCredential({ name: "Key", type, values: Redacted.make({ ...values }) })
      assert.strictEqual((yield* create("httpBasicAuth", { user: "ada", password: "p" })).type, "httpBasicAuth")
      const fault = (type: string, values: object) =>
        Effect.map(Effect.flip(create(type, values)), ({ message }) => message)
      assert.include(
        yield* fault("httpBasicAuth", { bad: 1 }),
        "is not allowed to have the additional property \"bad\""
      )
      assert.include(yield* fault("nobodysApi", {}), "req.body.type is not a known type")
      assert.include(yield* fault("slackApi", {}), "requires property \"accessToken\"")
      const { properties } = yield* n8n.credentialSchema("httpBasicAuth")
      assert.hasAllKeys(properties, ["user", "password", "allowedHttpRequestDomains", "allowedDomains"])
      assert.strictEqual((yield* Effect.flip(n8n.credentialSchema("nobodysApi")))._tag, "NotFoundError")
    }).pipe(Effect.provide(fake())))

  it.effect("do not stand for what the fake does not have", () =>
    Effect.gen(function*() {
      const n8n = yield* N8nClient.N8nClient
      const error = yield* Effect.flip(n8n.request("GET /users"))
      assert.include(error.message, "this fake has no GET /users")
    }).pipe(Effect.provide(fake())))
})

describe.each(["1", "2"] as const)("a seed of n8n %s", (version) => {
  it.effect("reads like a real workflow that was created with the same content", () =>
    Effect.gen(function*() {
      const recorded: ReadonlyArray<contract.Exchange> = JSON.parse(readFileSync(contract.recording(version), "utf8"))
      const reads = (exchanges: ReadonlyArray<contract.Exchange>) =>
        exchanges.filter(({ request }) => ["GET /workflows/<id>", "GET /workflows?name=FIR"].includes(request)).slice(
          0,
          2
        )
          .toSorted((a, b) => a.request < b.request ? -1 : 1)
      const created = recorded.find(({ request, status }) => request === "POST /workflows" && status === 200)
      assert.deepInclude(created?.body, { name: "first" })
      const { settings: _, ...workflow } = { ...created?.body as { readonly name: string; readonly settings: object } }
      const id = "fakeworkflow0001"
      const { answer } = recorded.find(({ request }) => request === "GET /workflows/<id>") ?? assert.fail("recorded")
      const nodes = obj(answer)?.["nodes"]
      const { client } = yield* N8nApi.make({ workflows: [{ ...workflow, id, nodes }], executions: [] }, { version })
      const exchanges = yield* contract.reads({ version, apiKey: "k", url: new URL("http://n8n.test/") }, id).pipe(
        Effect.provideService(HttpClient.HttpClient, client)
      )
      assert.deepStrictEqual(JSON.parse(contract.print(reads(exchanges))), reads(recorded))
    }))

  it.effect("is protected by its version, and a published one has a draft on 2.x only", () =>
    Effect.gen(function*() {
      const api = yield* FakeN8n.FakeN8n
      const n8n = yield* N8nClient.N8nClient
      const { active, versionId } = yield* n8n.getWorkflow("w1")
      assert.isTrue(active)
      assert.isString(versionId)
      yield* api.edit("w1", (workflow) => ({ ...workflow, nodes: [] }))
      const error = yield* Effect.flip(
        tools.updateWorkflow.call({ id: "w1", name: "Mine", ...(versionId ? { expectedVersionId: versionId } : {}) })
      )
      assert.strictEqual(reasonOf(error), "VersionConflict")
      const now = yield* n8n.getWorkflow("w1")
      const live = obj(now.activeVersion)?.["nodes"]
      assert.lengthOf(arr(live), version === "2" ? 4 : 0)
    }).pipe(Effect.provide(fake({ workflows: [{ ...orders, active: true }] }, { version }))))
})

describe("a seed", () => {
  it.effect("may be absent, or have executions that builders return", () =>
    Effect.gen(function*() {
      const workflow = { id: "w1", name: "Orders", nodes: [{ name: "Pay", type: "n8n-nodes-base.code" }] }
      const failed = FakeN8n.failedExecution({ workflow, node: "Pay", message: "card declined" })
      const listed = N8nClient.N8nClient.use((n8n) => n8n.listExecutions({ limit: 10 }))
      const { executions } = yield* Effect.provide(
        listed,
        FakeN8n.layer({ workflows: [workflow], executions: [failed, { ...failed, id: "7" }, failed] })
      )
      assert.deepStrictEqual(executions.map(({ id, status }) => [String(id), status]), [
        ["8", "error"],
        ["7", "error"],
        ["1", "error"]
      ])
      assert.deepStrictEqual((yield* Effect.provide(listed, FakeN8n.layer())).executions, [])
    }))
})

describe("two fakes", () => {
  it.effect("are two n8ns for the services that they share", () =>
    Effect.gen(function*() {
      const messageIn = (name: string) =>
        tools.getExecution.call({ id: "1" }).pipe(
          Effect.map(({ failure }) => failure?.error.message),
          Effect.provide(FakeN8n.layer({
            workflows: [orders],
            executions: [FakeN8n.failedExecution({ workflow: orders, node: "Pay", message: `${name} declined` })]
          }))
        )
      assert.deepStrictEqual(
        [yield* messageIn("a"), yield* messageIn("b"), yield* messageIn("a")],
        ["a declined", "b declined", "a declined"]
      )
    }).pipe(Effect.provide(Services.layerMemory)))
})
