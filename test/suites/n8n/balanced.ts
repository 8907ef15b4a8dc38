/** Two processes with one n8n, and one folder and state or one database, which behave like one. */
import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, type Vitest } from "@effect/vitest"
import { Client } from "@modelcontextprotocol/sdk/client/index.js"
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js"
import type { Transport } from "@modelcontextprotocol/sdk/shared/transport.js"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as FileSystem from "effect/FileSystem"
import * as Redacted from "effect/Redacted"
import * as Schedule from "effect/Schedule"
import { type ChildProcess, spawn } from "node:child_process"
import { fileURLToPath } from "node:url"
import { examples } from "../../../src/app/commands/tools.ts"
import { type Obj, obj } from "../../../src/base/Json.ts"
import * as tools from "../../../src/tools/index.ts"
import * as modern from "../../mcp/eras/modern.ts"
import { balance } from "./balancer.ts"
import { everyTool } from "./everyTool.ts"
import { RealN8n } from "./RealN8n.ts"
import { RealN8nError } from "./RealN8nError.ts"
import * as scenarios from "./scenarios.ts"

type It = Vitest.MethodsNonLive<RealN8n>

const token = "a-token-of-the-suite"

const ended = (child: ChildProcess) =>
  Effect.callback<void>((resume) => {
    if (child.exitCode !== null || child.signalCode !== null) return resume(Effect.void)
    child.once("exit", () => resume(Effect.void))
    child.kill("SIGTERM")
  })

/** Starts one of the processes; its log has the calls that it answered. */
const server = Effect.fnUntraced(function*(folder: string, port = 0) {
  const { apiKey, url } = yield* RealN8n
  const main = fileURLToPath(new URL("../../../src/main.ts", import.meta.url))
  const options = `--transport http --port ${port} --toolsets all --credential-env SUITE_SECRET`.split(" ")
  const env = {
    PATH: process.env["PATH"],
    XDG_STATE_HOME: `${folder}/.state`,
    N8N_URL: url.href,
    N8N_API_KEY: Redacted.value(apiKey),
    N8N_MCP_AUTH_TOKEN: token,
    SUITE_SECRET: "a-secret-of-the-suite"
  }
  let log = ""
  const child = yield* Effect.acquireRelease(
    Effect.sync(() => {
      const args = [main, ...options, "--files-root", folder]
      const started = spawn(process.execPath, args, { stdio: ["ignore", "ignore", "pipe"], env })
      started.stderr.setEncoding("utf8").on("data", (chunk: string) => (log += chunk))
      return started
    }),
    ended
  )
  const heard = yield* Effect.sync(() => /address=http:\/\/127\.0\.0\.1:(\d+)/.exec(log)?.[1]).pipe(
    Effect.filterOrFail(
      (port) => port !== undefined,
      () => new RealN8nError({ step: "starting the server", detail: log })
    ),
    Effect.retry({ schedule: Schedule.spaced("100 millis"), times: 200 }),
    scenarios.live
  )
  return {
    port: Number(heard),
    stop: ended(child),
    /** The number of tool calls that it answered. */
    answered: () => log.match(/status=200 .*call=[a-z]+_/g)?.length ?? 0
  }
})

/** Adds the test of two processes to a suite. */
export const balanced = (it: It) => {
  it.effect("two processes behind a balancer behave like one, even when one restarts", () =>
    Effect.gen(function*() {
      const fs = yield* FileSystem.FileSystem
      const folder = yield* fs.realPath(yield* fs.makeTempDirectoryScoped())
      const { url } = yield* RealN8n
      const [one, two] = [yield* server(folder), yield* server(folder)]
      const address = yield* balance([one.port, two.port])
      const client = new Client({ name: "agent", version: "0" })
      const headers = { authorization: `Bearer ${token}` }
      const transport = new StreamableHTTPClientTransport(new URL(`${address}/mcp`), { requestInit: { headers } })
      yield* Effect.acquireRelease(
        Effect.promise(() => client.connect(transport as Transport)),
        () => Effect.promise(() => client.close())
      )
      const called = new Set<string>()
      const call = async (name: string, args: Obj) => {
        called.add(name)
        const answer = await client.callTool({ name, arguments: args })
        if (answer.isError === true) throw new Error(`${name}: ${JSON.stringify(answer.content)}`)
        return obj(obj(answer.structuredContent)?.["data"]) ?? {}
      }
      yield* Effect.promise(() => everyTool(call, url))
      for (const { name } of tools.all) {
        if (!called.has(name)) yield* Effect.promise(() => call(name, { ...examples[name] }))
      }
      assert.isAtLeast(Math.min(one.answered(), two.answered()), 10)

      const until = { restarted: false }
      const calls = yield* Effect.forkChild(Effect.promise(async () => {
        let count = 0
        for (; !until.restarted; count++) await call("list_workflows", {})
        return count
      }))
      yield* one.stop
      yield* server(folder, one.port)
      until.restarted = true
      assert.isAbove(yield* Fiber.join(calls), 0)
    }).pipe(Effect.scoped, Effect.provide(NodeServices.layer)))

  it.effect("a modern client is asked by one process before a deletion, and answers another", () =>
    Effect.gen(function*() {
      const fs = yield* FileSystem.FileSystem
      const folder = yield* fs.realPath(yield* fs.makeTempDirectoryScoped())
      const [one, two] = [yield* server(folder), yield* server(folder)]
      const { workflowId } = yield* scenarios.make("manual", "Asked before it goes")
      const send = ({ port }: { readonly port: number }, params: object = {}) =>
        Effect.promise(async () => {
          const message = modern.request(
            "tools/call",
            { name: "delete_workflow", arguments: { id: workflowId }, ...params },
            { elicitation: { form: {} } }
          )
          const response = await fetch(`http://127.0.0.1:${port}/mcp`, {
            method: "POST",
            headers: { ...modern.headersOf(message), authorization: `Bearer ${token}` },
            body: JSON.stringify(message)
          })
          return obj(obj(await response.json())?.["result"]) ?? {}
        })
      const answer = ({ inputRequests, requestState }: Obj, action: object) => ({
        requestState,
        inputResponses: Object.fromEntries(Object.keys(obj(inputRequests) ?? {}).map((name) => [name, action]))
      })
      const agreed = { action: "accept", content: { confirm: true } }

      const refused = yield* send(two, answer(yield* send(one), { action: "decline" }))
      assert.isTrue(refused["isError"])
      assert.isObject(yield* scenarios.fetchJson(`workflows/${workflowId}`))

      const asked = yield* send(one)
      assert.strictEqual(asked["resultType"], "input_required")
      const deleted = yield* send(two, answer(asked, agreed))
      assert.strictEqual(deleted["resultType"], "complete")
      assert.strictEqual(obj(deleted["structuredContent"])?.["success"], true)
      assert.strictEqual((yield* scenarios.request("GET", `workflows/${workflowId}`)).status, 404)
      // What was answered once is not taken again, by nobody.
      assert.notStrictEqual(obj((yield* send(one, answer(asked, agreed)))["structuredContent"])?.["success"], true)
    }).pipe(Effect.scoped, Effect.provide(NodeServices.layer)))
}
