/** Compares the simulated n8n's answers with a real one's; `-u` records the real ones again. */
import { assert, layer } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as FetchHttpClient from "effect/http/FetchHttpClient"
import * as HttpClient from "effect/http/HttpClient"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as Schedule from "effect/Schedule"
import * as Services from "../../../src/app/Services.ts"
import { obj } from "../../../src/base/Json.ts"
import * as N8nClient from "../../../src/n8n/N8nClient.ts"
import * as FakeN8n from "../../../src/testing/FakeN8n.ts"
import * as N8nApi from "../../../src/testing/n8nApi/N8nApi.ts"
import * as tools from "../../../src/tools/index.ts"
import { main, node } from "../../support/workflows.ts"
import * as contract from "../../testing/n8nApi/contract.ts"
import * as corners from "../../testing/n8nApi/corners.ts"
import * as resources from "../../testing/n8nApi/resources.ts"
import { startsOwn } from "./elsewhere.ts"
import { RealN8n } from "./RealN8n.ts"
import { inCi } from "./releases.ts"
import * as scenarios from "./scenarios.ts"

const failing = (path: string) => ({
  name: "Fails",
  nodes: [
    node("Hook", "webhook", 2, { path, httpMethod: "POST" }, {
      id: "hook",
      webhookId: "8a1c0f5e-0000-4000-8000-000000000001"
    }),
    node("Stop", "stopAndError", 1, { errorMessage: "on purpose" }, { id: "stop", position: [200, 0] })
  ],
  connections: { Hook: main("Stop") },
  settings: {}
})

const patient = Schedule.spaced("250 millis").pipe(Schedule.upTo({ times: 120 }))

/** A workflow that failed once, and its execution. */
const failed = Effect.fnUntraced(function*(path: string) {
  const n8n = yield* N8nClient.N8nClient
  const { id: workflowId } = yield* n8n.createWorkflow(failing(path))
  yield* n8n.publishWorkflow(workflowId)
  yield* n8n.callWebhook(path, { method: "POST", body: {}, seconds: 10 }).pipe(
    Effect.filterOrFail((answer) => !N8nClient.isUnregistered(answer), () => "not published yet"),
    Effect.retry(patient)
  )
  const { id } = yield* n8n.listExecutions({ workflowId, limit: 1, status: "error" }).pipe(
    Effect.flatMap(({ executions: [execution] }) =>
      execution === undefined ? Effect.fail("not over yet") : Effect.succeed(execution)
    ),
    Effect.retry(patient)
  )
  return { id: String(id), workflowId }
})

for (const version of startsOwn("the contract", ["2", "1"] as const)) {
  const release = inCi[version]
  const client = Layer.unwrap(
    Effect.map(
      RealN8n,
      ({ apiKey, url }) => N8nClient.layer({ url, apiKey }).pipe(Layer.provide(FetchHttpClient.layer))
    )
  )
  // It withholds execution data over 100 kB; the default limit is 100 MB.
  const env = { EXECUTIONS_DATA_MAX_DISPLAY_SIZE: "100000" }
  const real = Layer.merge(client, FetchHttpClient.layer).pipe(Layer.provideMerge(RealN8n.layer(release, { env })))

  layer(real, { timeout: "15 minutes", excludeTestServices: true })(`n8n ${release}`, (it) => {
    const instance = Effect.map(RealN8n, ({ apiKey, url }) => ({ version, url, apiKey: Redacted.value(apiKey) }))

    // First, since its audit finds what the others leave.
    it.effect.each(
      [["resources", resources.exchanges], ["corners", corners.exchanges]] as const
    )("answers about its %s as recorded", ([subject, send]) =>
      Effect.gen(function*() {
        const exchanges = yield* send(yield* instance)
        const { expect } = yield* Effect.promise(() => import("vitest"))
        yield* Effect.promise(() =>
          expect(contract.print(exchanges)).toMatchFileSnapshot(contract.recording(version, subject))
        )
      }))

    it.effect("answers the contract as recorded", () =>
      Effect.gen(function*() {
        const exchanges = yield* contract.exchanges(yield* instance)
        const { expect } = yield* Effect.promise(() => import("vitest"))
        yield* Effect.promise(() => expect(contract.print(exchanges)).toMatchFileSnapshot(contract.recording(version)))
      }))

    it.effect("answers about an execution like the fake that contains it", () =>
      Effect.gen(function*() {
        const { id, workflowId } = yield* failed("fails")
        const seed = {
          workflows: [obj(yield* scenarios.fetchJson(`workflows/${workflowId}`)) as never],
          executions: [obj(yield* scenarios.fetchJson(`executions/${id}?includeData=true`)) as never]
        }
        const answers = yield* contract.executionExchanges(yield* instance, { id, workflowId })
        const fake = yield* N8nApi.make(seed, { version })
        const same = contract.executionExchanges({ version, url: new URL("http://n8n.test/"), apiKey: "k" }, {
          id,
          workflowId
        })
        assert.deepStrictEqual(yield* Effect.provideService(same, HttpClient.HttpClient, fake.client), answers)
      }))

    it.effect("fails like an execution that the fake builds, as readers see it", () =>
      Effect.gen(function*() {
        const { id, workflowId } = yield* failed("fails-too")
        const told = Effect.fnUntraced(function*(id: string) {
          const { availableNodes, failure, statistics } = yield* tools.getExecution.call({ id })
          const { input } = yield* tools.getExecutionByNode.call({ id, nodeName: "Stop" })
          const { message } = failure?.error ?? {}
          // Times differ from run to run.
          const { time: _, ...counts } = statistics
          const rows = availableNodes.map(({ time: _, ...row }) => row)
          return { rows, counts, node: failure?.node, item: failure?.inputItem, message, input }
        }, Effect.provide(Services.layerMemory))
        const real = yield* told(id)
        const workflow: FakeN8n.Workflow = obj(yield* scenarios.fetchJson(`workflows/${workflowId}`)) as never
        const built = FakeN8n.failedExecution({
          workflow,
          node: "Stop",
          message: real.message ?? "none",
          items: { Hook: [obj(real.item) ?? {}] }
        })
        const again = Effect.gen(function*() {
          const { id } = yield* (yield* FakeN8n.FakeN8n).addExecution(built)
          return yield* told(id)
        })
        const layer = FakeN8n.layer({ workflows: [workflow], executions: [] }, { version })
        assert.deepStrictEqual(yield* Effect.provide(again, layer), real)
      }))

    it.effect("reads as a seed of the fake with the same content", () =>
      Effect.gen(function*() {
        const n8n = yield* N8nClient.N8nClient
        const { id } = yield* n8n.createWorkflow({ ...failing("first-seed"), name: "First" })
        const { connections, name, nodes } = yield* n8n.getWorkflow(id)
        const real = yield* contract.reads(yield* instance, id)
        const seeded = { id: "fakeworkflow0001", name, nodes, connections }
        const { client } = yield* N8nApi.make({ workflows: [seeded], executions: [] }, { version })
        const fake = contract.reads({ version, url: new URL("http://n8n.test/"), apiKey: "k" }, seeded.id)
        assert.deepStrictEqual(yield* Effect.provideService(fake, HttpClient.HttpClient, client), real)
        yield* n8n.deleteWorkflow(id)
      }))

    it.effect("returns execution data that it withholds at first", () =>
      Effect.gen(function*() {
        const { executionId: id } = yield* scenarios.run("big12")
        const { dataTooLargeToDisplay } = obj(yield* scenarios.fetchJson(`executions/${id}?includeData=true`)) ?? {}
        // n8n 1 has no such limit.
        assert.strictEqual(dataTooLargeToDisplay, version === "2" ? true : undefined)
        const { statistics } = yield* tools.getExecution.call({ id }).pipe(Effect.provide(Services.layerMemory))
        assert.deepInclude(statistics, { executedNodes: 12, totalItemsProcessed: 1_101 })
      }))
  })
}
