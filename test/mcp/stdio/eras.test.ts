import { assert, describe, it } from "@effect/vitest"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Schema from "effect/Schema"
import { PassThrough } from "node:stream"
import type * as Tool from "../../../src/answer/Tool.ts"
import { CallContext } from "../../../src/base/CallContext.ts"
import { type Obj, obj } from "../../../src/base/Json.ts"
import * as McpServer from "../../../src/mcp/McpServer.ts"
import * as Stdio from "../../../src/mcp/stdio/Stdio.ts"
import { tool } from "../../support/tool.ts"
import { request } from "../eras/modern.ts"

/** A server on two streams in this process. */
const serve = Effect.fnUntraced(function*(...tools: ReadonlyArray<Tool.Any<never>>) {
  const input = new PassThrough()
  const output = new PassThrough().setEncoding("utf8")
  const received: Array<Obj> = []
  const waiting: Array<{ readonly is: (message: Obj) => boolean; readonly resume: (message: Obj) => void }> = []
  let rest = ""
  output.on("data", (chunk: string) => {
    const lines = (rest + chunk).split("\n")
    rest = lines.pop() ?? ""
    for (const line of lines) {
      const message = obj(JSON.parse(line)) ?? {}
      received.push(message)
      for (const { is, resume } of waiting) if (is(message)) resume(message)
    }
  })
  const fiber = yield* McpServer.serve({ name: "test", version: "0", tools }).pipe(
    Effect.provide(Stdio.layerStreams(input, output)),
    Effect.forkScoped({ startImmediately: true })
  )
  const next = (is: (message: Obj) => boolean) =>
    Effect.callback<Obj>((resume) => void waiting.push({ is, resume: (message) => resume(Effect.succeed(message)) }))
  const send = (message: object) => Effect.sync(() => void input.write(`${JSON.stringify(message)}\n`))
  const ask = (message: object) => {
    const { id } = obj(message) ?? {}
    return Effect.gen(function*() {
      const answer = yield* Effect.forkChild(next((each) => each["id"] === id && each["method"] === undefined), {
        startImmediately: true
      })
      yield* send(message)
      return yield* Fiber.join(answer)
    })
  }
  const end = Effect.andThen(Effect.sync(() => input.end()), Fiber.join(fiber))
  return { ask, send, next, received, end }
})

const initialize = {
  jsonrpc: "2.0",
  id: "i",
  method: "initialize",
  params: { protocolVersion: "2025-11-25", capabilities: { elicitation: {} }, clientInfo: { name: "t", version: "0" } }
}

const codeOf = (answer: Obj) => obj(answer["error"])?.["code"]
const call = (name: string, id: number, params: object = {}, capabilities: object = {}) =>
  request("tools/call", { name, ...params }, capabilities, id)

const asking = tool("asking", Effect.flatMap(CallContext, ({ confirm }) => confirm("Delete it?")), Schema.Struct({}))

describe("both eras on one connection", () => {
  it.live("each request is of the era that it says, or of the one that initialize began", () =>
    Effect.gen(function*() {
      const { ask, received, end } = yield* serve(tool("fine", Effect.succeed("fine")))
      const bare = (method: string, id: number) => ({ jsonrpc: "2.0", id, method, params: { name: "fine" } })
      assert.strictEqual(codeOf(yield* ask(bare("tools/list", 1))), -32602)
      assert.strictEqual(codeOf(yield* ask(bare("server/discover", 2))), -32602)
      assert.strictEqual(obj((yield* ask(call("fine", 3)))["result"])?.["resultType"], "complete")
      assert.strictEqual(obj((yield* ask(initialize))["result"])?.["protocolVersion"], "2025-11-25")
      assert.isUndefined(obj((yield* ask(bare("tools/call", 4)))["result"])?.["resultType"])
      assert.strictEqual(obj((yield* ask(call("fine", 5)))["result"])?.["resultType"], "complete")
      assert.strictEqual(codeOf(yield* ask(bare("nothing", 6))), -32601)
      assert.strictEqual(codeOf(yield* ask(request("nothing", {}, {}, 7))), -32601)
      yield* end
      assert.lengthOf(received, 8)
    }).pipe(Effect.scoped))

  it.live("a call is cancelled by notifications/cancelled, and answered no more", () =>
    Effect.gen(function*() {
      const started = yield* Deferred.make<void>()
      const ended = yield* Deferred.make<void>()
      const slow = Deferred.succeed(started, undefined).pipe(
        Effect.andThen(Effect.never),
        Effect.onInterrupt(() => Deferred.succeed(ended, undefined))
      )
      const { ask, send, received, end } = yield* serve(tool("slow", slow), tool("fine", Effect.succeed("fine")))
      yield* send(call("slow", 1))
      yield* Deferred.await(started)
      assert.strictEqual(codeOf(yield* ask(call("fine", 1))), -32600)
      const cancel = (requestId: unknown) =>
        send({ jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId } })
      for (const unknown of [2, "1", null, undefined, {}]) yield* cancel(unknown)
      assert.isFalse(yield* Deferred.isDone(ended))
      yield* cancel(1)
      yield* Deferred.await(ended)
      assert.isUndefined(codeOf(yield* ask(call("fine", 2))))
      yield* end
      assert.deepStrictEqual(received.map(({ id }) => id), [1, 2])
    }).pipe(Effect.scoped))

  it.live("sends progress before the answer", () =>
    Effect.gen(function*() {
      const working = Effect.gen(function*() {
        yield* (yield* CallContext).progress(1, 2, "half")
        return "done"
      })
      const { ask, received } = yield* serve(tool("working", working))
      yield* ask(call("working", 1, { _meta: { progressToken: "p" } }))
      assert.deepStrictEqual(received[0], {
        jsonrpc: "2.0",
        method: "notifications/progress",
        params: { progressToken: "p", progress: 1, total: 2, message: "half" }
      })
      assert.lengthOf(received, 2)
    }).pipe(Effect.scoped))

  for (const [action, said] of [["accept", "yes"], ["decline", "no"], ["cancel", "no"]] as const) {
    it.live(`asks a person in either era: ${action} is ${said}`, () =>
      Effect.gen(function*() {
        const { ask, next, send } = yield* serve(asking)
        const response = { action, ...(action === "accept" ? { content: { confirm: true } } : {}) }
        const textOf = (answer: Obj) => obj(obj(obj(answer["result"])?.["structuredContent"])?.["data"])?.["text"]
        const { result } = yield* ask(call("asking", 1, {}, { elicitation: {} }))
        const { inputRequests, requestState, resultType } = obj(result) ?? {}
        assert.strictEqual(resultType, "input_required")
        const [name = ""] = Object.keys(obj(inputRequests) ?? {})
        const retry = { requestState, inputResponses: { [name]: response } }
        assert.strictEqual(textOf(yield* ask(call("asking", 2, retry, { elicitation: {} }))), said)
        assert.strictEqual(textOf(yield* ask(call("asking", 3))), "unasked")

        yield* ask(initialize)
        const answer = yield* Effect.forkChild(
          ask({ jsonrpc: "2.0", id: 4, method: "tools/call", params: { name: "asking" } }),
          { startImmediately: true }
        )
        const question = yield* next(({ method }) => method === "elicitation/create")
        yield* send({ jsonrpc: "2.0", id: question["id"], result: response })
        assert.strictEqual(textOf(yield* Fiber.join(answer)), said)
      }).pipe(Effect.scoped))
  }
})
