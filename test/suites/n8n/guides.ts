/** The workflows of the guides, run on a real n8n against an API on loopback. */
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import { assert, type Vitest } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as HttpServer from "effect/http/HttpServer"
import * as HttpServerRequest from "effect/http/HttpServerRequest"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import type * as Schema from "effect/Schema"
import { createServer } from "node:http"
import type * as Services from "../../../src/app/Services.ts"
import { arr, obj } from "../../../src/base/Json.ts"
import type * as N8nClient from "../../../src/n8n/N8nClient.ts"
import * as Guides from "../../../src/tools/Guides.ts"
import * as tools from "../../../src/tools/index.ts"
import { examplesIn } from "../../tools/guideExamples.ts"
import { RealN8n } from "./RealN8n.ts"
import * as scenarios from "./scenarios.ts"

type It = Vitest.MethodsNonLive<RealN8n | N8nClient.N8nClient | Services.Services>

/** `/orders` in pages of two, `/orders/7`, and no other order. */
const answer = (url: URL) => {
  const page = Number(url.searchParams.get("page") ?? 1)
  if (url.pathname === "/orders/7") return HttpServerResponse.jsonUnsafe({ id: 7, status: "paid" })
  if (url.pathname !== "/orders") return HttpServerResponse.jsonUnsafe({ message: "no such order" }, { status: 404 })
  const data = page <= 3 ? [{ id: page * 2 - 1 }, { id: page * 2 }] : []
  return HttpServerResponse.jsonUnsafe({ data, next: page < 3 ? `${url.origin}/orders?page=${page + 1}` : null })
}

/** Serves until the scope ends; the value is its origin. */
const serveOrders = Effect.gen(function*() {
  const server = yield* NodeHttpServer.make(createServer, { port: 0, host: "127.0.0.1" })
  const { origin } = new URL(HttpServer.formatAddress(server.address))
  yield* server.serve(
    Effect.map(HttpServerRequest.HttpServerRequest, ({ url }) => answer(new URL(url, origin)))
  )
  return origin
})

/** Creates a workflow of a guide, with the API on loopback, and its model's credential if it has one. */
const make = Effect.fnUntraced(function*(topic: string, index = 0) {
  const { openAiUrl } = yield* RealN8n
  const origin = yield* serveOrders
  const text = (yield* Guides.read(topic)).replaceAll("https://api.example.com", origin)
  const { connections, nodes } = examplesIn(text)[index] ?? { connections: {}, nodes: [] }
  const withCredentials = yield* Effect.forEach(nodes, (node) =>
    node.type.endsWith("lmChatOpenAi")
      ? Effect.map(scenarios.openAiCredential("Guide", openAiUrl.href), (openAiApi) => ({
        ...node,
        credentials: { openAiApi }
      }))
      : Effect.succeed(node))
  const { id } = yield* tools.createWorkflow.call({
    name: `guide ${topic}`,
    nodes: withCredentials,
    connections,
    active: false
  })
  return id
})

const run = Effect.fnUntraced(function*(topic: string, testData: Schema.Json = [{}], index = 0) {
  const workflowId = yield* make(topic, index)
  const result = yield* tools.testWorkflow.call({ workflowId, testData, timeout: 45_000, mode: "auto" })
  assert.strictEqual(result.status, "success", JSON.stringify(result))
  const node = (nodeName: string) =>
    Effect.map(
      tools.getExecutionByNode.call({ id: result.executionId, nodeName, itemOffset: 0, itemLimit: 50 }),
      ({ output, runCount }) => ({ items: output.items.map(({ json }) => json), runCount })
    )
  return { ...result, node, items: (result.data?.items ?? []).map(({ json }) => json) }
})

/** Adds the tests of the guides to a suite. */
export const guides = (it: It, v2: boolean) => {
  it.effect("guide to errors: what fails leaves by the error output, as the input with the error", () =>
    Effect.gen(function*() {
      const { node } = yield* run("errors", [{ orderId: 7 }, { orderId: 8 }])
      assert.deepStrictEqual((yield* node("Found")).items, [{ status: "paid" }])
      const [{ reason } = { reason: "" }] = (yield* node("Not found")).items as Array<{ reason: string }>
      assert.match(reason, /^8: .*404/)
    }))

  it.effect("guide to loops: done fires once, with what all batches brought back", () =>
    Effect.gen(function*() {
      const { node } = yield* run("loops")
      assert.strictEqual((yield* node("Each batch")).runCount, 3)
      const { items, runCount } = yield* node("After the loop")
      assert.strictEqual(runCount, 1)
      assert.deepStrictEqual(items, [{ all: [2, 4, 6, 8, 10].map((double) => ({ double })) }])
    }))

  it.effect("guide to webhooks: each path gives its own answer", () =>
    Effect.gen(function*() {
      const accepted = yield* run("webhooks", { email: "ann@example.com" })
      assert.strictEqual(accepted.response?.status, 201)
      assert.deepStrictEqual(JSON.parse(String(accepted.response?.["body"])), { accepted: "ann@example.com" })
      const rejected = yield* run("webhooks", { email: "" })
      assert.strictEqual(rejected.response?.status, 400)
    }))

  it.effect("guide to agents: the agent calls the tool with what the model fills in, and answers in shape", () =>
    Effect.gen(function*() {
      const { node } = yield* run("agents", [{ chatInput: "What about order 7?", sessionId: "s" }])
      assert.deepStrictEqual(obj((yield* node("Agent")).items[0])?.["output"], { answer: "forty-two" })
      assert.include(JSON.stringify((yield* node("get_order")).items), "paid")
    }))

  it.effect("guide to expressions: items keep their link to where they came from", () =>
    Effect.gen(function*() {
      const { items, node } = yield* run("expressions")
      // 1.123.81 as it installs here evaluates $('…') and $input in expressions to nothing.
      assert.deepStrictEqual(items, [{ text: `Order ${v2 ? 7 : ""} of Ann: 10` }])
      assert.deepInclude((yield* node("Add total")).items[0], { id: 7, total: 10 })
    }))

  it.effect("guide to pagination: all pages, by number and by link", () =>
    Effect.gen(function*() {
      const { items } = yield* run("pagination")
      assert.deepStrictEqual(items, [1, 2, 3, 4, 5, 6].map((id) => ({ id })))
      const { node } = yield* run("pagination", [{}], 1)
      const pages = (yield* node("All orders")).items
      assert.deepStrictEqual(pages.map((page) => arr(obj(page)?.["data"]).length), [2, 2, 2])
    }))
}
