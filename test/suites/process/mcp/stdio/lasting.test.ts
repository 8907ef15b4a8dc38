import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs"
import { createServer, type IncomingMessage, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"
import { obj } from "../../../../../src/base/Json.ts"
import { bundle, installed, remove, start } from "../../../../support/Process.ts"
import { main, node } from "../../../../support/workflows.ts"

beforeAll(bundle, 60_000)
afterAll(remove)

const line = (id: number, method: string, params: object) =>
  `${JSON.stringify({ jsonrpc: "2.0", id, method, params })}\n`

const initialize = line(0, "initialize", {
  protocolVersion: "2025-11-25",
  capabilities: {},
  clientInfo: { name: "test", version: "0" }
})

/** Asks and waits for the answer to that. */
const asking = (server: ReturnType<typeof start>) => {
  let id = 0
  const answered = (id: number) =>
    server.output().split("\n").slice(0, -1).map((each) => JSON.parse(each) as { id?: unknown; result?: unknown })
      .find((each) => each.id === id)
  return (name: string, args: object) =>
    Effect.gen(function*() {
      id++
      server.child.stdin.write(line(id, "tools/call", { name, arguments: args }))
      while (answered(id) === undefined) yield* Effect.sleep("10 millis")
      return obj(answered(id)?.result) ?? {}
    })
}

describe("a server whose package is taken from under it", () => {
  it.live.each([
    { what: "removed", replace: (folder: string) => rmSync(folder, { recursive: true }) },
    {
      what: "replaced by another release",
      replace: (folder: string) => {
        const names = readdirSync(folder)
        rmSync(folder, { recursive: true })
        mkdirSync(folder)
        for (const name of names) writeFileSync(`${folder}/${name}`, "throw new Error('another release')")
      }
    }
  ])("continues with what it started with: $what", ({ replace }) =>
    Effect.gen(function*() {
      const { folder, main } = yield* installed
      const server = start(["--demo"], {}, main)
      server.child.stdin.write(initialize)
      const ask = asking(server)
      yield* ask("list_workflows", {})
      // What is loaded in the background is there after a moment.
      yield* Effect.sleep("2 seconds")
      replace(folder)
      const calls: ReadonlyArray<readonly [string, object]> = [
        ["node_search", { keyword: "send an email" }],
        ["node_get", { type: "n8n-nodes-base.slack", resource: "message", operation: "post" }],
        ["validate_workflow", {
          workflow: {
            name: "W",
            nodes: [{
              name: "Code",
              type: "n8n-nodes-base.code",
              typeVersion: 2,
              position: [0, 0],
              parameters: { jsCode: "return [{ json: { a: 1 } }]" }
            }],
            connections: {}
          }
        }],
        ["get_execution", { id: "239" }],
        ["search_execution", { id: "239", where: "json != null" }],
        ["workflow_create", { name: "Draft" }],
        ["list_executions", { groupBy: "failure" }]
      ]
      for (const [name, args] of calls) {
        const { content, isError } = yield* ask(name, args)
        assert.notStrictEqual(isError, true, `${name}: ${JSON.stringify(content)}`)
      }
      server.child.stdin.end()
      assert.strictEqual((yield* server.ended).code, 0)
    }).pipe(Effect.scoped))
})

/** An n8n that has one published workflow, takes copies, and runs them for ever; `left` are the copies it holds. */
const endless = (isSilent = false) =>
  Effect.acquireRelease(
    Effect.callback<{ readonly url: string; readonly left: Map<string, unknown>; readonly close: () => void }>(
      (resume) => {
        const left = new Map<string, unknown>()
        const workflow = {
          id: "w",
          name: "Orders",
          active: false,
          nodes: [
            node("T", "manualTrigger", 1, {}, { id: "t" }),
            { id: "e", name: "End", type: "n8n-nodes-base.noOp", typeVersion: 1, position: [0, 0], parameters: {} }
          ],
          connections: { T: main("End") },
          settings: {}
        }
        const answer = (request: IncomingMessage, response: ServerResponse, body: string) => {
          const say = (value: unknown) =>
            response.setHeader("content-type", "application/json").end(JSON.stringify(value))
          const path = new URL(request.url ?? "", "http://n8n").pathname
          const id = /^\/api\/v1\/workflows\/([^/]+)/.exec(path)?.[1] ?? ""
          const known = id === "w" ? workflow : left.get(id)
          if (path.startsWith("/webhook/") || isSilent && left.size > 0) return
          if (path === "/api/v1/workflows" && request.method === "POST") {
            left.set("copy", { ...JSON.parse(body), id: "copy", active: false })
            return say(left.get("copy"))
          }
          if (request.method === "DELETE") left.delete(id)
          if (known !== undefined) return say({ ...known, active: path.endsWith("/publish") })
          return say({ data: [], nextCursor: null })
        }
        const server = createServer((request, response) => {
          const chunks: Array<Buffer> = []
          request.on("data", (chunk: Buffer) => chunks.push(chunk))
          request.on("end", () => void answer(request, response, Buffer.concat(chunks).toString()))
        }).listen(0, "127.0.0.1", () =>
          resume(Effect.succeed({
            url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
            left,
            close: () => {
              server.closeAllConnections()
              server.close()
            }
          })))
      }
    ),
    ({ close }) => Effect.sync(close)
  )

describe("a server that ends with a call in flight", () => {
  it.live.each([{ how: "stdin" }, { how: "SIGTERM" }, { how: "SIGINT" }])(
    "by $how interrupts it, removes its copy and ends the process",
    ({ how }) =>
      Effect.gen(function*() {
        const { left, url } = yield* endless()
        const { main } = yield* installed
        const server = start([], { N8N_URL: url, N8N_API_KEY: "key-0123456789" }, main)
        server.child.stdin.write(initialize)
        server.child.stdin.write(line(1, "tools/call", { name: "test_workflow", arguments: { workflowId: "w" } }))
        while (left.size === 0) {
          yield* Effect.sleep("10 millis")
          assert.notInclude(server.output(), `"id":1`)
        }
        const start_ = performance.now()
        if (how === "stdin") server.child.stdin.end()
        else server.child.kill(how as NodeJS.Signals)
        const { code } = yield* server.ended
        assert.strictEqual(code, 0)
        assert.strictEqual(left.size, 0)
        // Generous: it waits for nothing that a busy machine would make longer.
        assert.isBelow(performance.now() - start_, 20_000)
      }).pipe(Effect.scoped)
  )

  it.live("does not wait for a copy that n8n does not let go", () =>
    Effect.gen(function*() {
      const { left, url } = yield* endless(true)
      const { main } = yield* installed
      const server = start([], { N8N_URL: url, N8N_API_KEY: "key-0123456789" }, main)
      server.child.stdin.write(initialize)
      server.child.stdin.write(line(1, "tools/call", { name: "test_workflow", arguments: { workflowId: "w" } }))
      while (left.size === 0) yield* Effect.sleep("10 millis")
      const begun = performance.now()
      server.child.stdin.end()
      assert.strictEqual((yield* server.ended).code, 0)
      // Its n8n would be waited for half a minute.
      assert.isBelow(performance.now() - begun, 20_000)
    }).pipe(Effect.scoped))

  it.live("does not wait for an n8n that no longer answers", () =>
    Effect.gen(function*() {
      const server = createServer(() => {})
      yield* Effect.callback<void>((resume) => void server.listen(0, "127.0.0.1", () => resume(Effect.void)))
      const child = start([], {
        N8N_URL: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
        N8N_API_KEY: "key-0123456789"
      })
      child.child.stdin.write(initialize)
      child.child.stdin.write(line(1, "tools/call", { name: "list_workflows", arguments: {} }))
      while (child.output() === "") yield* Effect.sleep("10 millis")
      child.child.stdin.end()
      assert.strictEqual((yield* child.ended).code, 0)
      server.closeAllConnections()
      server.close()
    }))
})
