/** A watched n8n: one published workflow, whose runs a test adds, and a receiver of what is reported. */
import * as Effect from "effect/Effect"
import { once } from "node:events"
import { createServer, type IncomingMessage, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"
import { text } from "node:stream/consumers"
import * as FakeN8n from "../../../src/testing/FakeN8n.ts"
import { folderWith } from "../folders.ts"
import { serve } from "../HttpN8n.ts"
import { main, node, workflow } from "../workflows.ts"

/** Workflow whose name would mention a channel. */
export const orders = workflow("Orders <!channel>", [node("Call", "webhook", 2), node("Pay", "code", 2)], {
  id: "orders",
  active: true,
  connections: { Call: main("Pay") }
})

let runs = 0
/** Failed run of it, whose message holds a key. */
export const failed = (message: string) =>
  FakeN8n.failedExecution({
    workflow: orders,
    node: "Pay",
    message: `${message} (key sk-live-4242424242424242424242)`,
    startedAt: new Date(Date.now() - 1_000 + ++runs).toISOString()
  })

/** An n8n with one workflow, a folder, and the environment of a command. */
export const world = Effect.gen(function*() {
  const { api, url } = yield* serve({ workflows: [orders], executions: [] })
  const folder = yield* folderWith()
  return { api, folder, env: { N8N_URL: url.href, N8N_API_KEY: "k" } }
})

/** Receives posts until the scope ends; `answer` decides about each. */
export const sink = Effect.fnUntraced(function*(answer: (request: IncomingMessage, response: ServerResponse) => void) {
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

/** Answer with a status. */
export const status = (code: number, headers: Record<string, string> = {}) => (_: unknown, response: ServerResponse) =>
  void response.writeHead(code, headers).end("ok")
