import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { spawn } from "node:child_process"
import { once } from "node:events"
import { chmodSync, readFileSync, writeFileSync } from "node:fs"
import { createServer, type IncomingMessage, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"
import { text } from "node:stream/consumers"
import { fileURLToPath } from "node:url"
import * as FakeN8n from "../../../../../src/testing/FakeN8n.ts"
import { runIn } from "../../../../support/cli.ts"
import { folderWith, platform } from "../../../../support/folders.ts"
import { serve } from "../../../../support/HttpN8n.ts"
import { main as link, node, workflow } from "../../../../support/workflows.ts"

const main = fileURLToPath(new URL("../../../../../src/main.ts", import.meta.url))

const orders = workflow("Orders <!channel>", [node("Call", "webhook", 2), node("Pay", "code", 2)], {
  id: "orders",
  active: true,
  connections: { Call: link("Pay") }
})

let runs = 0
const failed = (message: string) =>
  FakeN8n.failedExecution({
    workflow: orders,
    node: "Pay",
    message: `${message} (key sk-live-4242424242424242424242)`,
    startedAt: new Date(Date.now() - 1_000 + ++runs).toISOString()
  })

/** An n8n with one workflow, a folder, and the environment of a command. */
const world = Effect.gen(function*() {
  const { api, url } = yield* serve({ workflows: [orders], executions: [] })
  const folder = yield* folderWith()
  return { api, folder, env: { N8N_URL: url.href, N8N_API_KEY: "k" } }
})

/** Receives posts until the scope ends; `answer` decides about each. */
const sink = Effect.fnUntraced(function*(answer: (request: IncomingMessage, response: ServerResponse) => void) {
  const posts: Array<{ readonly url: string | undefined; readonly auth: string | undefined; readonly body: string }> =
    []
  const server = createServer(async (request, response) => {
    posts.push({ url: request.url, auth: request.headers.authorization, body: await text(request) })
    answer(request, response)
  })
  yield* Effect.acquireRelease(
    Effect.promise(() => once(server.listen(0, "127.0.0.1"), "listening")),
    () => Effect.sync(() => (server.close(), server.closeAllConnections()))
  )
  return { posts, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` }
})

const status = (code: number, headers: Record<string, string> = {}) => (_: unknown, response: ServerResponse) =>
  void response.writeHead(code, headers).end("ok")

/** Each look has a time slot of a second of its own. */
const nextSecond = Effect.promise(() => new Promise((resolve) => setTimeout(resolve, 1_050)))

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
        const wrong = yield* runIn(folder, { N8N_URL: env.N8N_URL }, "watch")
        assert.deepInclude(wrong, { code: 1, stdout: "" })
        assert.include(wrong.stderr, "N8N_API_KEY")
      }).pipe(Effect.scoped, Effect.provide(platform)),
    120_000
  )

  it.live("refuses options that cannot work, and never repeats a webhook's address", () =>
    Effect.gen(function*() {
      const { env, folder } = yield* world
      writeFileSync(`${folder}/wrong.json`, "{ \"Orders\": \"silent soon\", }")
      writeFileSync(`${folder}/list.json`, "[\"Orders\"]")
      const refused = [
        [["--every", "5"], "between 10 and 86400"],
        [["--to", "https://hooks.test/T0/B0/secret", "--exec", "true"], "Choose one"],
        [["--to", "hooks.test/T0/B0/secret"], "not an http address"],
        [["--timezone", "Europe/Atlantis"], "is not a time zone"],
        [["--thresholds", `${folder}/wrong.json`], "'Orders': 'silent soon' is not a threshold"],
        [["--thresholds", `${folder}/list.json`], "write it as"],
        [["--thresholds", `${folder}/missing.json`], "does not exist"]
      ] as const
      for (const [args, message] of refused) {
        const { code, stderr, stdout } = yield* runIn(folder, env, "watch", ...args)
        assert.deepStrictEqual([code, stdout], [1, ""], stderr)
        assert.include(stderr, message)
        assert.notInclude(stderr, "T0/B0")
      }
    }).pipe(Effect.scoped, Effect.provide(platform)), 120_000)

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
      }).pipe(Effect.scoped, Effect.provide(platform)),
    120_000
  )

  it.live(
    "--exec: the report is on stdin; another exit status means that it was not delivered",
    () =>
      Effect.gen(function*() {
        const { api, env, folder } = yield* world
        // Fails once, and has a name that a shell would expand.
        const script = `${folder}/tell me`
        writeFileSync(
          script,
          "#!/bin/sh\necho noise\nif [ -e fails ]; then rm fails; exit 3; fi\necho \"$# $0\" >> calls\ncat >> calls\n"
        )
        chmodSync(script, 0o755)
        writeFileSync(`${folder}/fails`, "")
        const look = Effect.andThen(
          runIn(folder, env, "watch", "--once", "--exec", `'${script}'`),
          (exit) => Effect.as(nextSecond, exit)
        )
        assert.strictEqual((yield* look).code, 0)
        yield* api.addExecution(failed("$(touch pwned) `touch pwned`"))
        const first = yield* look
        assert.strictEqual(first.code, 1)
        assert.include(first.stderr, "noise")
        assert.include(first.stderr, "--exec: exit status 3")
        const second = yield* look
        assert.strictEqual(second.code, 2)
        assert.notInclude(second.stdout, "noise")
        const [called = "", document = ""] = readFileSync(`${folder}/calls`, "utf8").split("\n")
        assert.strictEqual(called, `0 ${script}`)
        assert.include(JSON.parse(document).incidents[0].what, "$(touch pwned)")
        assert.throws(() => readFileSync(`${folder}/pwned`))
      }).pipe(Effect.scoped, Effect.provide(platform)),
    120_000
  )

  it.live(
    "goes on until a signal or the end of its reader, and another start continues where it ended",
    () =>
      Effect.gen(function*() {
        const { api, env, folder } = yield* world
        const start = (state: string, ...args: ReadonlyArray<string>) => {
          const child = spawn(process.execPath, [
            main,
            "watch",
            "--every",
            "10",
            "--state",
            `${folder}/${state}`,
            ...args
          ], {
            cwd: folder,
            env: { PATH: process.env["PATH"], ...env }
          })
          let stdout = ""
          let stderr = ""
          child.stdout.setEncoding("utf8").on("data", (chunk: string) => (stdout += chunk))
          child.stderr.setEncoding("utf8").on("data", (chunk: string) => (stderr += chunk))
          return {
            child,
            output: () => stdout,
            errors: () => stderr,
            ended: once(child, "close") as Promise<[number | null]>
          }
        }
        const until = (holds: Effect.Effect<boolean>) =>
          Effect.repeat(Effect.andThen(Effect.promise(() => new Promise((next) => setTimeout(next, 50))), holds), {
            until: (value) => value
          })
        const looks = (count: number) =>
          Effect.map(api.requests, (all) => all.filter(({ url }) => url.includes("/executions")).length >= count)
        /** Answers too late for a signal in between. */
        let isSlow = false
        const receiver = yield* sink((_, response) =>
          void setTimeout(() => response.writeHead(200).end(), isSlow ? 300 : 0)
        )
        const printing = start("a")
        const piped = start("b")
        const posting = start("c", "--to", receiver.url)
        yield* until(looks(6))
        yield* api.addExecution(failed("card 17 declined"))
        piped.child.stdout.destroy()
        isSlow = true
        yield* until(Effect.sync(() => receiver.posts.length > 0))
        const at = Date.now()
        posting.child.kill("SIGTERM")
        assert.deepStrictEqual(yield* Effect.promise(() => posting.ended), [0, null] as never)
        assert.isBelow(Date.now() - at, 1_500)
        yield* until(Effect.sync(() => printing.output() !== ""))
        printing.child.kill("SIGINT")
        assert.deepStrictEqual(yield* Effect.promise(() => printing.ended), [0, null] as never)
        assert.deepStrictEqual([printing.output().split("\n").length, printing.errors()], [
          2,
          "The first look only learns what is usual; the next ones report new incidents.\n"
        ])
        assert.deepStrictEqual(yield* Effect.promise(() => piped.ended), [0, null] as never)
        yield* nextSecond
        const states = [["a", 0], ["b", 2], ["c", 0]] as const
        for (const [state, code] of states) {
          const again = yield* runIn(folder, env, "watch", "--once", "--state", `${folder}/${state}`)
          assert.strictEqual(again.code, code, `${state}: ${again.output}`)
        }
        assert.strictEqual(receiver.posts.length, 1)
      }).pipe(Effect.scoped, Effect.provide(platform)),
    120_000
  )
})
