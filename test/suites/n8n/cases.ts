/** A folder of cases in CI form, run by the command `test` against a real n8n. */
import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, type Vitest } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Redacted from "effect/Redacted"
import * as Schedule from "effect/Schedule"
import { XMLParser, XMLValidator } from "fast-xml-parser"
import { spawn } from "node:child_process"
import { fileURLToPath } from "node:url"
import type * as Services from "../../../src/app/Services.ts"
import { type Obj, obj, without } from "../../../src/base/Json.ts"
import type * as N8nClient from "../../../src/n8n/N8nClient.ts"
import { folderWith } from "../../support/folders.ts"
import { node } from "../../support/workflows.ts"
import { chain, code, connected, copiesLeft, made, manual, set, wait } from "./builders.ts"
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

const parser = new XMLParser({ ignoreAttributes: false, attributeNamePrefix: "", trimValues: false })

/** Adds the tests to a suite. */
export const cases = (it: It) => {
  it.effect(
    "test: twelve cases of a folder, reported for people and for CI, and rewritten",
    () =>
      Effect.gen(function*() {
        const fs = yield* FileSystem.FileSystem
        const replayed = yield* made(
          "replayed by a case",
          [
            node("Hook", "webhook", 2, { path: "suite-cases-replayed", httpMethod: "POST" }, {
              webhookId: "suite-cases"
            }),
            node("Fetch", "httpRequest", 4.2, { url: "http://127.0.0.1:9/fetch" }, {
              onError: "continueRegularOutput"
            }),
            set("Out", "{ failed: 'error' in $json }")
          ],
          chain("Hook", "Fetch", "Out")
        )
        const newest = yield* scenarios.newestExecution()
        yield* scenarios.publish(replayed)
        yield* scenarios.callWebhook("suite-cases-replayed", { body: { name: "Ada" } })
        const { executionId } = yield* scenarios.awaitExecution(replayed, newest)
        const before = yield* original(replayed)

        const inOrders = (testData: unknown, expect: unknown, more: object = {}) =>
          JSON.stringify(
            { workflow: "../workflows/orders.json", testData, pins: { Ship: [{ shipped: true }] }, ...more, expect },
            null,
            2
          )
        const small = (total: unknown) => ({
          nodes: { "Add VAT": { count: 1, items: [{ total }] }, Ship: { count: 0 } }
        })
        const folder = yield* folderWith({
          "workflows/orders.json": JSON.stringify(orders),
          "tests/01 small.test.json": inOrders(lines(10), small(12.5)),
          "tests/02 large.test.json": inOrders(lines(100), {
            nodes: { Ship: { items: [{ json: { shipped: true } }] }, Small: { count: 0 } }
          }),
          "tests/03 both.test.json": inOrders(lines(100, 10), {
            nodes: {
              "Add VAT": { count: 2, items: ["*", { sku: "S1", at: "/^\\d{4}-/", run: "*" }] },
              Small: { count: 1 }
            }
          }),
          "tests/04 part.test.json": inOrders(lines(1, 2), { nodes: { "Add VAT": { count: 2 } } }, {
            endNode: "Add VAT",
            pins: {}
          }),
          "tests/05 one node.test.json": inOrders([{ sku: "X" }, { json: { sku: "Y" } }], {
            nodes: { Small: { items: [{ sku: "X" }, { sku: "Y" }] } }
          }, { startNode: "Small", endNode: "Small", pins: {} }),
          "tests/06 no price.test.json": inOrders(lines(undefined), {
            status: "error",
            nodes: { Small: { count: 0 } }
          }),
          "tests/07 replay.test.json": JSON.stringify({
            workflow: replayed,
            replay: executionId,
            expect: { nodes: { Out: { items: [{ failed: true }] } } }
          }),
          "tests/deep/08 wrong.test.json": inOrders(lines(10), {
            nodes: {
              "Add VAT": { count: 2, items: [{ total: 13, apiKey: "other" }] },
              Small: { items: [{ mail: "Dear customer,\nS1 is on its way.\nBye" }] }
            }
          }, { workflow: "../../workflows/orders.json" }),
          "tests/deep/09 fails.test.json": inOrders(lines(undefined), small("*"), {
            workflow: "../../workflows/orders.json"
          }),
          "tests/10 key.test.json": "{ \"workflow\": \"../workflows/orders.json\", \"expects\": {} }",
          "tests/11 node.test.json": inOrders(lines(1), { nodes: { "Add Vat": { count: 1 } } }),
          "tests/12 file.test.json": "{ \"workflow\": \"../workflows/order.json\" }",
          "tests/node_modules/x.test.json": "{}"
        })

        const first = yield* run(folder, "tests", "--junit", "out/junit.xml")
        assert.strictEqual(first.code, 1, first.stderr)
        const marks = first.stdout.split("\n").flatMap((line) =>
          /^([✓✗]) tests\/(?:deep\/)?(\d\d)/.exec(line)?.slice(1).join("") ?? []
        )
        assert.deepStrictEqual(
          marks,
          ["✓01", "✓02", "✓03", "✓04", "✓05", "✓06", "✓07", "✗10", "✗11", "✗12", "✗08", "✗09"],
          first.stdout
        )
        assert.match(first.stdout, /\n12 cases: 7 passed, 2 failed, 3 could not run \(\d+\.\d s\)\n$/)
        assert.include(
          first.stdout,
          "expect.nodes[\"Add VAT\"].items[0].total\n  │   expected  13\n  │   actual    12.5"
        )
        assert.include(first.stdout, "  │   -S1 is on its way.\n  │   +S0 is on its way.")
        // Some releases take what stands before a colon for the kind of error.
        assert.match(first.stdout, /'Add VAT' failed: (?:no price: S0|S0 \[line 1\]\n.*no price)/)
        assert.include(first.stdout, "Did you mean 'expect'?")
        assert.include(first.stdout, "Did you mean 'Add VAT'?")
        assert.include(first.stdout, "Did you mean 'orders.json'?")
        assert.notInclude(first.stdout, "canary")

        const xml = yield* fs.readFileString(`${folder}/out/junit.xml`)
        assert.isTrue(XMLValidator.validate(xml))
        assert.notInclude(xml, "canary")
        const { testcase, ...suite } = parser.parse(xml).testsuites.testsuite
        assert.deepInclude(suite, { tests: "12", failures: "2", errors: "3" })
        assert.lengthOf(testcase, 12)
        for (const { time } of testcase) assert.isAtLeast(Number(time), 0)
        assert.deepStrictEqual(yield* copiesLeft, [])
        assert.deepStrictEqual(yield* original(replayed), before)

        const wrong = `${folder}/tests/deep/08 wrong.test.json`
        const text = yield* fs.readFileString(wrong)
        const written = yield* run(folder, "tests/deep", "tests/01 small.test.json", "--update")
        assert.strictEqual(written.code, 0, written.stdout)
        assert.match(written.stdout, /3 cases: 1 passed, 2 updated/)
        assert.strictEqual(
          yield* fs.readFileString(wrong),
          text.replace("\"count\": 2", "\"count\": 1").replace("13", "12.5").replace("\"other\"", "\"*\"").replace(
            "S1 is",
            "S0 is"
          )
        )
        const again = yield* run(folder, "tests/deep", "--json")
        assert.strictEqual(again.code, 0, again.stdout)
        assert.deepInclude(JSON.parse(again.stdout), { passed: 2, failed: 0 })
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
