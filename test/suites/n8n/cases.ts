/** A folder of cases in CI form, run by the command `test` against a real n8n. */
import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, type Vitest } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Redacted from "effect/Redacted"
import * as Schedule from "effect/Schedule"
import { spawn } from "node:child_process"
import { fileURLToPath } from "node:url"
import type * as Services from "../../../src/app/Services.ts"
import { type Obj, obj, without } from "../../../src/base/Json.ts"
import type * as N8nClient from "../../../src/n8n/N8nClient.ts"
import { folderWith } from "../../support/folders.ts"
import { node } from "../../support/workflows.ts"
import { chain, code, connected, copiesLeft, happened, made, manual, set, wait } from "./builders.ts"
import { RealN8n } from "./RealN8n.ts"
import * as scenarios from "./scenarios.ts"

type It = Vitest.MethodsNonLive<RealN8n | N8nClient.N8nClient | Services.Services>

const workflow = (name: string, nodes: ReadonlyArray<Obj>, links: Parameters<typeof connected>[0]) => ({
  name,
  nodes,
  connections: connected(links),
  settings: {}
})

/** Adds VAT; what is large goes to a shop's server, which there is none of. */
const orders = workflow("Orders", [
  node("Order", "webhook", 2, { path: "suite-cases-orders", httpMethod: "POST" }),
  code(
    "Add VAT",
    `return $input.first().json.body.lines.map(({ price, sku }) => {
  if (price === undefined) throw new Error('no price: ' + sku)
  return { json: { sku, total: price * 1.25, at: new Date().toISOString(), run: $execution.id, apiKey: 'canary-' + sku } }
})`
  ),
  node("Large?", "if", 2, {
    conditions: {
      options: { version: 1 },
      combinator: "and",
      conditions: [{ leftValue: "={{ $json.total }}", operator: { type: "number", operation: "gt" }, rightValue: 100 }]
    }
  }),
  node("Ship", "httpRequest", 4.2, { url: "http://127.0.0.1:9/ship", method: "POST" }),
  set("Small", "{ sku: $json.sku, mail: 'Dear customer,\\n' + $json.sku + ' is on its way.\\nBye' }")
], [["Order", "Add VAT"], ["Add VAT", "Large?"], ["Large?", "Ship"], ["Large?", "Small", 1]])

const slow = workflow("Slow", [manual, wait(40), set("Out", "{}")], chain("T", "Wait", "Out"))

const lines = (...prices: ReadonlyArray<number | undefined>) => ({
  lines: prices.map((price, index) => ({ sku: `S${index}`, ...(price === undefined ? {} : { price }) }))
})

/** A run of the command: what it printed, and how it ended. */
const command = Effect.fnUntraced(function*(cwd: string, args: ReadonlyArray<string>) {
  const { apiKey, url } = yield* RealN8n
  const child = spawn(
    process.execPath,
    [fileURLToPath(new URL("../../../src/main.ts", import.meta.url)), "test", ...args],
    {
      cwd,
      env: {
        PATH: process.env["PATH"],
        N8N_URL: url.href,
        N8N_API_KEY: Redacted.value(apiKey),
        XDG_STATE_HOME: `${cwd}/.state`
      }
    }
  )
  let [stdout, stderr] = ["", ""]
  child.stdout.setEncoding("utf8").on("data", (chunk: string) => (stdout += chunk))
  child.stderr.setEncoding("utf8").on("data", (chunk: string) => (stderr += chunk))
  const closed = new Promise<number | null>((resolve) => child.once("close", resolve))
  return {
    kill: (signal: NodeJS.Signals) => child.kill(signal),
    ended: Effect.map(Effect.promise(() => closed), (code) => ({ code, stdout, stderr }))
  }
})

const run = (cwd: string, ...args: ReadonlyArray<string>) => Effect.flatMap(command(cwd, args), ({ ended }) => ended)

/** The workflow without its owner, of whom n8n notes what they last did. */
const original = (id: string) =>
  Effect.map(scenarios.fetchJson(`workflows/${id}`), (body) => without(obj(body) ?? {}, (_, key) => key === "shared"))

/** Adds the tests to a suite. */
export const cases = (it: It) => {
  it.effect(
    "test: the cases of a folder pass or fail as n8n ran them, and leave nothing; what is expected is rewritten",
    () =>
      Effect.gen(function*() {
        const fs = yield* FileSystem.FileSystem
        const hook = node("Hook", "webhook", 2, { path: "suite-cases-replayed", httpMethod: "POST" }, {
          webhookId: "suite-cases"
        })
        const fetching = node("Fetch", "httpRequest", 4.2, { url: "http://127.0.0.1:9/fetch" }, {
          onError: "continueRegularOutput"
        })
        const replayed = yield* made(
          "replayed by a case",
          [hook, fetching, set("Out", "{ failed: 'error' in $json }")],
          chain("Hook", "Fetch", "Out")
        )
        yield* scenarios.publish(replayed)
        const { executionId } = yield* happened(replayed, "suite-cases-replayed", { name: "Ada" })
        const before = yield* original(replayed)

        const inOrders = (testData: unknown, nodes: Obj, more: Obj = {}, expect: Obj = {}) => {
          const pins = { Ship: [{ shipped: true }] }
          const one = { workflow: "../orders.json", testData, pins, ...more, expect: { ...expect, nodes } }
          return JSON.stringify(one, null, 2)
        }
        const small = (total: unknown) => ({ "Add VAT": { count: 1, items: [{ total }] }, Ship: { count: 0 } })
        const none = { count: 0 }
        const wrong = inOrders(lines(10), {
          "Add VAT": { count: 2, items: [{ total: 13, apiKey: "other" }] },
          Small: { items: [{ mail: "Dear customer,\nS1 is on its way.\nBye" }] }
        })
        const folder = yield* folderWith({
          "orders.json": JSON.stringify(orders),
          "tests/01 small.test.json": inOrders(lines(10), small(12.5)),
          "tests/02 large.test.json": inOrders(lines(100), { Ship: { items: [{ shipped: true }] }, Small: none }),
          "tests/03 both.test.json": inOrders(lines(100, 10), {
            "Add VAT": { count: 2, items: ["*", { sku: "S1", at: "/^\\d{4}-/", run: "*" }] },
            Small: { count: 1 }
          }),
          "tests/04 part.test.json": inOrders(lines(1, 2), { "Add VAT": { count: 2 } }, {
            endNode: "Add VAT",
            pins: {}
          }),
          "tests/05 one node.test.json": inOrders([{ sku: "X" }, { json: { sku: "Y" } }], {
            Small: { items: [{ sku: "X" }, { sku: "Y" }] }
          }, { startNode: "Small", endNode: "Small", pins: {} }),
          "tests/06 no price.test.json": inOrders(lines(undefined), { Small: none }, {}, { status: "error" }),
          "tests/07 replay.test.json": JSON.stringify({
            workflow: replayed,
            replay: executionId,
            expect: { nodes: { Out: { items: [{ failed: true }] } } }
          }),
          "tests/08 wrong.test.json": wrong,
          "tests/09 fails.test.json": inOrders(lines(undefined), small("*"))
        })
        const first = yield* run(folder, "tests")
        assert.strictEqual(first.code, 1, first.stderr)
        const marks = first.stdout.split("\n").flatMap((line) =>
          /^([✓✗]) tests\/(\d\d)/.exec(line)?.slice(1).join("") ?? []
        )
        assert.strictEqual(marks.join(" "), "✓01 ✓02 ✓03 ✓04 ✓05 ✓06 ✓07 ✗08 ✗09", first.stdout)
        assert.notInclude(first.stdout, "canary")
        assert.deepStrictEqual(yield* copiesLeft, [])
        assert.deepStrictEqual(yield* original(replayed), before)

        const written = yield* run(folder, "tests/08 wrong.test.json", "--update")
        assert.strictEqual(written.code, 0, written.stdout)
        const right = [["\"count\": 2", "\"count\": 1"], ["13", "12.5"], ["\"other\"", "\"*\""], ["S1 is", "S0 is"]]
        assert.strictEqual(
          yield* fs.readFileString(`${folder}/tests/08 wrong.test.json`),
          right.reduce((text, [from = "", to = ""]) => text.replace(from, to), wrong)
        )
        assert.strictEqual((yield* run(folder, "tests/08 wrong.test.json")).code, 0)
      }).pipe(Effect.scoped, Effect.provide(NodeServices.layer)),
    300_000
  )

  it.effect("test: a case that takes too long is stopped and says what ran", () =>
    Effect.gen(function*() {
      const folder = yield* folderWith({
        "slow.json": JSON.stringify(slow),
        "slow.test.json": JSON.stringify({ workflow: "slow.json", timeout: 1_500 })
      })
      const { code, stdout } = yield* run(folder, "--update")
      assert.strictEqual(code, 1)
      assert.include(stdout, "It was stopped after 1500 ms; until then ran: T")
      assert.deepStrictEqual(yield* copiesLeft, [])
    }).pipe(Effect.scoped, Effect.provide(NodeServices.layer)), 60_000)

  it.effect("test: interrupted, it leaves nothing on n8n and is not a success", () =>
    Effect.gen(function*() {
      const folder = yield* folderWith({
        "slow.json": JSON.stringify(slow),
        ...Object.fromEntries(
          [1, 2, 3, 4, 5].map((each) => [`${each}.test.json`, JSON.stringify({ workflow: "slow.json" })])
        )
      })
      for (const signal of ["SIGINT", "SIGTERM"] as const) {
        const { ended, kill } = yield* command(folder, ["--concurrency", "3"])
        yield* copiesLeft.pipe(
          Effect.repeat({ until: (left) => left.length === 3, schedule: Schedule.spaced("100 millis") }),
          Effect.timeout("60 seconds")
        )
        kill(signal)
        const { code, stderr, stdout } = yield* ended
        assert.strictEqual(code, 1, stderr)
        assert.include(stdout, "Interrupted: 0 of 5 cases ran")
        assert.deepStrictEqual(yield* copiesLeft, [], stderr)
      }
    }).pipe(Effect.scoped, Effect.provide(NodeServices.layer)), 180_000)
}
