import { afterAll, assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { writeFileSync } from "node:fs"
import type { IncomingMessage } from "node:http"
import { vi } from "vitest"
import { platform } from "../../support/folders.ts"
import { runIn } from "../../support/inProcess.ts"
import { failed, orders, sink, status, world } from "../../support/scenarios/watched.ts"

const { now } = Date
let ahead = 0

/** Each look has a time slot of a second of its own. */
const nextSecond = Effect.sync(() => {
  ahead += 1_050
  vi.spyOn(Date, "now").mockImplementation(() => now() + ahead)
})

afterAll(() => void vi.restoreAllMocks())

describe("watch", () => {
  it.live(
    "--once: 0 if nothing is new, 2 if something was reported, 1 if it could not look",
    () =>
      Effect.gen(function*() {
        const { api, env, folder } = yield* world
        const look = (...args: ReadonlyArray<string>) => runIn(folder, env, "watch", "--once", ...args)
        yield* api.addExecution(failed("before the first look"))
        const first = yield* look()
        assert.deepInclude(first, { code: 0, stdout: "" })
        assert.match(first.stderr, /^The first look only learns.*\n$/)
        yield* api.addExecution(failed("card 17 declined"))
        yield* nextSecond
        const second = yield* look()
        assert.deepInclude(second, { code: 2, stderr: "" })
        assert.match(
          second.stdout,
          /^\d{4}-\d\d-\d\d \d\d:\d\d {2}failed {8}'Orders <!channel>' failed at 'Pay': card 17 /
        )
        assert.match(second.stdout, /effect-n8n-mcp (why \d+|executions --workflow orders.*)\n$/)
        assert.notInclude(second.stdout, "sk-live")
        yield* nextSecond
        assert.deepInclude(yield* look(), { code: 0, stdout: "" })
        yield* api.addExecution(failed("the ledger is closed"))
        yield* nextSecond
        const json = yield* look("--json")
        assert.strictEqual(json.code, 2)
        const [line = "", ...rest] = json.stdout.split("\n")
        assert.deepStrictEqual(rest, [""])
        assert.deepInclude(JSON.parse(line), { kind: "failed", workflowId: "orders", count: 1 })
        writeFileSync(`${folder}/rules.json`, JSON.stringify({ [orders.name]: "off" }))
        yield* api.addExecution(failed("it is known"))
        yield* nextSecond
        assert.deepInclude(yield* look("--thresholds", "rules.json"), { code: 0, stdout: "", stderr: "" })
        const down = yield* runIn(folder, { ...env, N8N_URL: "http://127.0.0.1:9/" }, "watch", "--once")
        assert.deepInclude(down, { code: 1, stdout: "" })
        assert.include(down.stderr, "could not be checked")
      }).pipe(Effect.scoped, Effect.provide(platform))
  )

  it.live(
    "--to: text for chats and JSON without secrets; tried again until accepted, never redirected",
    () =>
      Effect.gen(function*() {
        const { api, env, folder } = yield* world
        const elsewhere = yield* sink(status(200))
        const answers = [
          status(500),
          status(307, { location: `${elsewhere.url}/caught` }),
          (request: IncomingMessage) => request.socket.destroy(),
          status(204)
        ]
        const receiver = yield* sink((request, response) => answers.shift()?.(request, response))
        const to = new URL("/T0/B0/secret", receiver.url)
        Object.assign(to, { username: "bot", password: "p%40ss" })
        const look = runIn(folder, { ...env, N8N_MCP_WATCH_TO: to.href }, "watch", "--once").pipe(
          Effect.tap(nextSecond)
        )
        assert.strictEqual((yield* look).code, 0)
        assert.deepStrictEqual(receiver.posts, [])
        yield* api.addExecution(failed("card 17 declined"))
        const reasons = ["HTTP 500: ok", `redirects to ${elsewhere.url}`, "cannot be reached"]
        for (const reason of reasons) {
          const { code, stderr, stdout } = yield* look
          assert.strictEqual(code, 1)
          assert.include(stdout, "card 17 declined")
          assert.include(stderr, `not delivered: ${to.host}: ${reason}`)
          assert.notMatch(stderr, /secret|p%40ss|p@ss/)
        }
        assert.strictEqual((yield* look).code, 2)
        assert.strictEqual((yield* look).code, 0)
        assert.deepStrictEqual(elsewhere.posts, [])
        assert.strictEqual(receiver.posts.length, 4)
        for (const { auth, body, url } of receiver.posts) {
          assert.deepStrictEqual([url, auth], ["/T0/B0/secret", `Basic ${btoa("bot:p@ss")}`])
          const { incidents, text } = JSON.parse(body)
          assert.strictEqual(incidents.length, 1)
          assert.include(text, "card 17 declined")
          assert.include(text, "'Orders ‹!channel›'")
          assert.notMatch(body, /sk-live|"data"|resumeToken/)
        }
      }).pipe(Effect.scoped, Effect.provide(platform))
  )
})
