/** test_workflow leaves nothing behind on a real n8n, for any number of tests and however they end. */
import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, type Vitest } from "@effect/vitest"
import type { Progress } from "@modelcontextprotocol/sdk/types.js"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Redacted from "effect/Redacted"
import * as Schedule from "effect/Schedule"
import { spawn } from "node:child_process"
import { fileURLToPath } from "node:url"
import type * as Services from "../../../src/app/Services.ts"
import { arr, obj } from "../../../src/base/Json.ts"
import { N8nClient } from "../../../src/n8n/N8nClient.ts"
import { node } from "../../support/workflows.ts"
import { chain, connected, copiesLeft, jsons, made, manual, set, test, wait } from "./builders.ts"
import { RealN8n } from "./RealN8n.ts"
import * as scenarios from "./scenarios.ts"
import * as session from "./session.ts"

type It = Vitest.MethodsNonLive<RealN8n | N8nClient | Services.Services>

/** Runs an effect and records the workflows it creates and the webhooks it calls. */
const traced = Effect.fnUntraced(function*<A, E, R>(effect: Effect.Effect<A, E, R>) {
  const copies = new Set<string>()
  const paths = new Set<string>()
  const n8n = yield* N8nClient
  yield* Effect.provideService(effect, N8nClient, {
    ...n8n,
    createWorkflow: (body) => Effect.tap(n8n.createWorkflow(body), ({ id }) => Effect.sync(() => copies.add(id))),
    callWebhook: (path, call) => Effect.andThen(Effect.sync(() => paths.add(path)), n8n.callWebhook(path, call))
  })
  return { copies, paths }
})

/** Adds the tests of leftovers to a suite; the releases do not differ in them. */
export const testingLeftovers = (it: It) => {
  it.effect(
    "test_workflow: twelve in a row and 8 in parallel leave nothing behind, and a waiting one is found",
    () =>
      Effect.gen(function*() {
        const id = yield* made("many", [manual, set("Out", "{ n: $json.n }")], chain("T", "Out"))
        const waits = yield* made("many wait", [manual, wait(2, "hours"), set("Out", "{}")], chain("T", "Wait", "Out"))
        const respondsLate = yield* made("many respond", [
          node("T", "webhook", 2, { path: crypto.randomUUID(), httpMethod: "POST", responseMode: "responseNode" }),
          wait(2, "hours"),
          node("Respond", "respondToWebhook", 1.1, { respondWith: "json", responseBody: "={{ $json }}" })
        ], chain("T", "Wait", "Respond"))
        const ids = new Set<string>()
        const one = (n: number) =>
          Effect.map(test(id, { testData: { n } }), ({ data, executionId }) => {
            assert.deepStrictEqual(jsons(data), [{ n }])
            ids.add(executionId)
          })
        const numbers = Array.from({ length: 12 }, (_, index) => index)
        const { copies, paths } = yield* traced(Effect.gen(function*() {
          yield* Effect.forEach(numbers, one)
          yield* Effect.forEach(numbers.slice(0, 8), one, { concurrency: 8 })
          for (const workflowId of [waits, respondsLate]) {
            const { executionId, status } = yield* test(workflowId)
            assert.strictEqual(status, "waiting")
            ids.add(executionId)
          }
        }))
        assert.deepStrictEqual([copies.size, paths.size, ids.size], [22, 22, 22])

        assert.deepStrictEqual(yield* copiesLeft, [])
        for (const executionId of ids) {
          assert.strictEqual((yield* scenarios.request("GET", `executions/${executionId}`)).status, 404)
        }
        for (const filter of ["", "&status=running", "&status=waiting"]) {
          const listed = arr(obj(yield* scenarios.fetchJson(`executions?limit=250${filter}`))?.["data"])
          assert.isFalse(listed.some((each) => copies.has(String(obj(each)?.["workflowId"]))))
        }
        for (const path of paths) {
          const { status, text } = yield* scenarios.postWebhook(path)
          assert.strictEqual(status, 404)
          assert.match(text, /not registered/)
        }
      }),
    240_000
  )

  it.effect(
    "test_workflow: if killed, its copy is removed by the next test; if interrupted or ended by SIGTERM, immediately",
    () =>
      Effect.gen(function*() {
        const { apiKey, url } = yield* RealN8n
        const id = yield* made(
          "killed",
          [manual, wait(30), set("Out", "{}")],
          chain("T", "Wait", "Out")
        )
        const present = copiesLeft.pipe(
          Effect.repeat({ until: (left) => left.length > 0, schedule: Schedule.spaced("100 millis"), times: 200 })
        )
        const ended = (signal: NodeJS.Signals) =>
          Effect.gen(function*() {
            const child = spawn(process.execPath, [
              fileURLToPath(new URL("../../../src/main.ts", import.meta.url)),
              "call",
              "test_workflow",
              JSON.stringify({ workflowId: id })
            ], {
              stdio: "ignore",
              env: { PATH: process.env["PATH"], HOME: "/tmp", N8N_URL: url.href, N8N_API_KEY: Redacted.value(apiKey) }
            })
            const gone = new Promise((resolve) => child.once("exit", resolve))
            assert.lengthOf(yield* present, 1)
            child.kill(signal)
            yield* Effect.promise(() => gone)
            return yield* copiesLeft
          })
        assert.deepStrictEqual(yield* ended("SIGTERM"), [])
        assert.lengthOf(yield* ended("SIGKILL"), 1)
        const fine = yield* made("after", [manual, set("Out", "{}")], chain("T", "Out"))
        yield* test(fine)
        assert.deepStrictEqual(yield* copiesLeft, [])

        yield* Effect.raceFirst(test(id), present)
        assert.deepStrictEqual(yield* copiesLeft, [])
      }),
    60_000
  )

  it.effect("test_workflow over stdio: of a file, with its progress", () =>
    Effect.gen(function*() {
      const fs = yield* FileSystem.FileSystem
      const folder = yield* fs.realPath(yield* fs.makeTempDirectoryScoped())
      const { call, end } = yield* session.open(folder)
      const nodes = [manual, set("First", "{ n: $json.n }"), wait(4), set("Last", "{ m: $json.n }")]
      const connections = connected(chain("T", "First", "Wait", "Last"))
      yield* fs.writeFileString(`${folder}/file.json`, JSON.stringify({ name: "from a file", nodes, connections }))
      const told: Array<Progress> = []
      const input = { workflowId: "file.json", testData: [{ n: 1 }, { n: 2 }] }
      const { data } = yield* call("test_workflow", input, (progress) => told.push(progress))
      assert.deepStrictEqual(obj(data)?.["items"], [{ json: { m: 1 } }, { json: { m: 2 } }])
      assert.isTrue(told.some(({ message }) => message === "running: node 2 of 3"))
      assert.isTrue(told.every(({ progress }, index) => progress > (told[index - 1]?.progress ?? 0)))
      // A slow n8n is told of in steps of their own.
      const last = told.at(-1)
      assert.deepStrictEqual([last?.message, last?.progress], ["success", last?.total])
      yield* end("SIGTERM")
      assert.deepStrictEqual(yield* copiesLeft, [])
    }).pipe(Effect.scoped, Effect.provide(NodeServices.layer)), 60_000)
}
