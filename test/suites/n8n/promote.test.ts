/** Workflows of one real n8n on another. */
import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, layer } from "@effect/vitest"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as FetchHttpClient from "effect/http/FetchHttpClient"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as Services from "../../../src/app/Services.ts"
import { obj } from "../../../src/base/Json.ts"
import * as N8nClient from "../../../src/n8n/N8nClient.ts"
import * as Sync from "../../../src/sync/Sync.ts"
import * as WorkflowFiles from "../../../src/workflows/files/WorkflowFiles.ts"
import { folderWith } from "../../support/folders.ts"
import { node } from "../../support/workflows.ts"
import { edit } from "../../sync/workflows.ts"
import { chain, code, connected } from "./builders.ts"
import { startsOwn } from "./elsewhere.ts"
import { RealN8n } from "./RealN8n.ts"
import { inCi } from "./releases.ts"
import * as scenarios from "./scenarios.ts"

const client = Effect.fnUntraced(function*(version: string) {
  const real = Context.get(yield* Layer.build(Layer.fresh(RealN8n.layer(version))), RealN8n)
  const http = N8nClient.layer({ url: real.url, apiKey: real.apiKey }).pipe(Layer.provide(FetchHttpClient.layer))
  return Context.get(yield* Layer.build(http), N8nClient.N8nClient)
})

/** The n8n that all are promoted from. */
class Origin extends Context.Service<Origin, N8nClient.Service>()("test/n8n/Origin") {}

const credential = (n8n: N8nClient.Service, name: string) =>
  n8n.createCredential({ name, type: "httpHeaderAuth", values: Redacted.make({ name: "x", value: "y" }) })

const request = (name: string, { id, name: credentialName }: { readonly id: string; readonly name: string }) =>
  node(name, "httpRequest", 4.2, {
    url: "https://example.com",
    authentication: "genericCredentialType",
    genericAuthType: "httpHeaderAuth"
  }, { credentials: { httpHeaderAuth: { id, name: credentialName } } })

const locator = (value: string, cachedResultName: string) => ({ __rl: true, mode: "list", value, cachedResultName })

/** Makes two workflows that refer to whatever workflows can refer to. */
const seed = Effect.fnUntraced(function*(n8n: N8nClient.Service, withTable: boolean) {
  const same = yield* credential(n8n, "Stripe")
  const other = yield* credential(n8n, "Header")
  const table = withTable
    ? yield* n8n.createDataTable({ name: "Orders", columns: [{ name: "n", type: "number" }] })
    : undefined
  const trigger = node("Called", "executeWorkflowTrigger", 1.1, { inputSource: "passthrough" })
  const sub = yield* n8n.createWorkflow({
    name: "Sub",
    nodes: [trigger, code("Code", "return $input.all()"), request("Ask", other)],
    connections: connected(chain("Called", "Code", "Ask")),
    settings: {}
  })
  const main = yield* n8n.createWorkflow({
    name: "Main",
    nodes: [
      node("Tick", "scheduleTrigger", 1.2, { rule: { interval: [{ field: "days" }] } }),
      node("Call", "executeWorkflow", 1.2, {
        source: "database",
        workflowId: locator(sub.id, "Sub"),
        workflowInputs: { mappingMode: "defineBelow", value: {} }
      }),
      request("Charge", same),
      ...(table === undefined ? [] : [
        node("Store", "dataTable", 1, { operation: "get", dataTableId: locator(table.id, "Orders"), returnAll: true })
      ])
    ],
    connections: connected(chain("Tick", "Call", "Charge", ...(table === undefined ? [] : ["Store"]))),
    settings: { executionOrder: "v1", errorWorkflow: sub.id }
  })
  return { sub, main, table }
})

const outcomes = ({ entries }: Sync.PromotionReport) =>
  entries.map(({ action, error, name, status }) => `${name} ${action ?? error?.message ?? status}`).toSorted()

const parameters = (workflow: { readonly nodes: ReadonlyArray<{ readonly name: string }> }, name: string) =>
  obj(obj(workflow.nodes.find((each) => each.name === name))?.["parameters"]) ?? {}

const withCode = (n8n: N8nClient.Service, id: string, jsCode: string) =>
  Effect.flatMap(n8n.getWorkflow(id), ({ connections, name, nodes }) =>
    n8n.putWorkflow(id, {
      name,
      nodes: nodes.map((each) => each.name === "Code" ? code("Code", jsCode) : each),
      connections,
      settings: {}
    }))

/** A header that is a secret. */
const secret = node("Ask", "httpRequest", 4.2, {
  url: "https://example.com",
  sendHeaders: true,
  headerParameters: { parameters: [{ name: "X-Api-Key", value: "s3cr3t-値-$&" }] }
})

const origin = Layer.merge(Services.layerMemory, Layer.effect(Origin, client(inCi["2"])))

layer(origin, { timeout: "15 minutes", excludeTestServices: true })("promote", (it) => {
  for (const target of startsOwn("promotion", Object.values(inCi))) {
    it.effect(
      `from n8n ${inCi["2"]} to ${target}: created, the same, updated, published, in conflict`,
      () =>
        Effect.gen(function*() {
          const v2 = target === inCi["2"]
          const from = yield* Origin
          const to = yield* client(target)
          const fs = yield* FileSystem.FileSystem
          const folder = yield* folderWith()
          const { main, sub, table: origins } = yield* seed(from, v2)
          yield* Effect.addFinalizer(() =>
            Effect.ignore(Effect.all([
              ...[main, sub].map(({ id }) => from.deleteWorkflow(id)),
              ...origins === undefined ? [] : [from.deleteDataTable(origins.id)]
            ], { discard: true }))
          )
          const here = { same: yield* credential(to, "Stripe"), other: yield* credential(to, "Header of production") }
          const columns = [{ name: "n", type: "number" }] as const
          const table = v2 ? yield* to.createDataTable({ name: "Orders", columns }) : undefined
          yield* Effect.gen(function*() {
            const blocked = yield* Sync.promote(".", { from, to })
            assert.deepStrictEqual(blocked.entries.map((entry) => entry.blocked), [true, true])
            assert.deepStrictEqual(
              blocked.obstacles.map(({ node }) => node).toSorted(),
              // On n8n 2, nothing but the workflow that it calls blocks the other.
              v2 ? ["Ask", undefined] : ["Ask", "Charge"]
            )
            const listed = Effect.map(to.listWorkflows({ archived: true, limit: 10 }), ({ workflows }) => workflows)
            assert.deepStrictEqual(yield* listed, [])
            const bindings = { credentials: { Header: here.other.id, Stripe: here.same.id } }
            const promote = (more: Partial<Sync.PromoteOptions> = {}) =>
              Sync.promote(".", { from, to, bindings, ...more })
            const becomes = (more: Partial<Sync.PromoteOptions>, ...expected: ReadonlyArray<string>) =>
              Effect.map(promote(more), (report) => {
                assert.deepStrictEqual(outcomes(report), expected)
                return report
              })
            yield* becomes({}, "Main created", "Sub created")
            const workflows = yield* listed
            const idOf = (name: string) => workflows.find((each) => each.name === name)?.id ?? ""
            const there = (name: string) => to.getWorkflow(idOf(name))
            const made = yield* there("Main")
            assert.isFalse(made.active)
            assert.strictEqual(obj(made.settings)?.["errorWorkflow"], idOf("Sub"))
            assert.deepStrictEqual(parameters(made, "Call")["workflowId"], locator(idOf("Sub"), "Sub"))
            if (table !== undefined) {
              assert.deepStrictEqual(parameters(made, "Store")["dataTableId"], locator(table.id, "Orders"))
            }
            assert.deepInclude(made.nodes.find(({ name }) => name === "Charge"), {
              credentials: { httpHeaderAuth: { id: here.same.id, name: "Stripe" } }
            })
            yield* becomes({}, "Main same", "Sub same")

            yield* withCode(from, sub.id, "return []")
            const live = yield* promote({ publishes: true })
            assert.deepStrictEqual(
              live.entries.map(({ error, name, published }) => [name, error, published]).toSorted(),
              // On 1.x a workflow that is only called has nothing to activate, and is called all the same.
              [["Main", undefined, true], ["Sub", undefined, v2 ? true : undefined]],
              JSON.stringify(live.entries)
            )
            assert.include(JSON.stringify((yield* there("Sub")).nodes), "return []")

            yield* withCode(from, sub.id, "return [{ json: {} }]")
            yield* becomes({}, "Main same", "Sub updated")
            const waiting = yield* there("Sub")
            const published = yield* promote({ publishes: true, only: [sub.id] })
            if (v2) {
              // What waited as a draft runs, by n8n's own word.
              assert.notStrictEqual(waiting.activeVersionId, waiting.versionId)
              assert.deepStrictEqual(outcomes(published), ["Sub updated"])
              const running = yield* there("Sub")
              assert.strictEqual(running.activeVersionId, waiting.versionId)
              assert.include(JSON.stringify(running["activeVersion"]), "return [{ json: {} }]")
            }

            const { connections, id, nodes } = yield* there("Main")
            yield* to.putWorkflow(id, { name: "Main (hotfix)", nodes, connections, settings: {} })
            yield* becomes({}, "Main conflict", "Sub same")
            // Without its publication, the name of what is published is held back.
            const [held] = (yield* promote({ overwrites: true, only: [main.id] })).entries
            assert.strictEqual(held?.held !== undefined, v2)
            assert.strictEqual((yield* there("Main")).name, v2 ? "Main (hotfix)" : "Main")
            yield* promote({ overwrites: true, only: [main.id], publishes: true })
            assert.strictEqual((yield* there("Main")).name, "Main")

            // The same from files, with the ids of the n8n that they were pulled from; a secret comes along.
            const withSecret = {
              name: "Main",
              nodes: [...main.nodes, secret],
              connections: main.connections,
              settings: {}
            }
            yield* from.putWorkflow(main.id, withSecret)
            const pull = Sync.pull(".", { secrets: "extract" }).pipe(Effect.provideService(N8nClient.N8nClient, from))
            assert.isFalse((yield* pull).hasErrors)
            assert.notInclude(yield* fs.readFileString(`${folder}/main.json`), "s3cr3t")
            yield* edit(`${folder}/sub.json`, "return [{ json: {} }]", "return [{ json: { reviewed: 1 } }]")
            yield* becomes({ from: "folder", publishes: true }, "Main updated", "Sub updated")
            const [deployed, called] = [yield* there("Main"), yield* there("Sub")]
            assert.deepStrictEqual(parameters(deployed, "Ask"), secret.parameters)
            assert.deepStrictEqual(parameters(deployed, "Call")["workflowId"], locator(idOf("Sub"), "Sub"))
            assert.include(JSON.stringify(v2 ? called["activeVersion"] : called.nodes), "reviewed: 1")
            yield* becomes({ from: "folder" }, "Main same", "Sub same")
            // Without the record of earlier promotions, nothing of the same name is overwritten.
            yield* fs.remove(`${folder}/.n8n-promotion.json`)
            yield* edit(`${folder}/sub.json`, "reviewed: 1", "reviewed: 2")
            const lost = yield* promote({ from: "folder", except: [main.id] })
            assert.deepStrictEqual(lost.entries.map(({ blocked, name }) => [name, blocked]), [["Sub", true]])
            assert.include(JSON.stringify((yield* there("Sub")).nodes), "reviewed: 1")
          }).pipe(Effect.provide(WorkflowFiles.layer({ roots: [folder] })))
        }).pipe(Effect.scoped, Effect.provide(NodeServices.layer), scenarios.live),
      300_000
    )
  }
})
