import { assert, describe, it } from "@effect/vitest"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Logger from "effect/Logger"
import * as TestClock from "effect/testing/TestClock"
import { type Obj, obj } from "../../../src/base/Json.ts"
import * as Modern from "../../../src/mcp/eras/Modern.ts"
import * as Sealing from "../../../src/mcp/eras/Sealing.ts"
import { meta, supported } from "../../../src/mcp/eras/Versions.ts"
import type { Caller, Protocol } from "../../../src/mcp/McpTransport.ts"
import type * as Methods from "../../../src/mcp/Methods.ts"
import type * as Rpc from "../../../src/mcp/Rpc.ts"
import { headersOf, request } from "./modern.ts"

const question = (message: string): Methods.Question => ({ method: "elicitation/create", params: { message } })

const nobody: Caller = { client: undefined }
const canBeAsked = { elicitation: {} }
const accepted = { action: "accept", content: {} }

/** A server that counts how often it has done what it asks about. */
const make = Effect.fnUntraced(function*(questions: () => ReadonlyArray<string> = () => ["Really?"]) {
  let done = 0
  const methods: Methods.Methods = {
    "tools/call": ({ ask }) =>
      Effect.gen(function*() {
        const answers: Array<unknown> = []
        for (const text of questions()) answers.push((yield* ask({ [text]: question(text) }))[text])
        done += 1
        return { answers }
      }),
    "tools/list": () => Effect.succeed({ tools: [] }),
    "resources/read": () => Effect.die(new Error("secret of the machine"))
  }
  const protocol: Protocol = {
    about: { name: "test", version: "1", capabilities: { tools: {} }, instructions: "how to" },
    methods,
    sealing: yield* Sealing.memory
  }
  const send = (message: Rpc.Request, caller = nobody) => Modern.answer(protocol, caller, message, () => undefined)
  return { protocol, send, done: () => done }
})

const resultOf = ({ body }: Modern.Answer): Obj => obj(obj(body)?.["result"]) ?? {}
const errorOf = ({ body }: Modern.Answer): Obj => obj(obj(body)?.["error"]) ?? {}

const call = (params: object = {}, capabilities: object = canBeAsked) =>
  request("tools/call", { name: "delete", arguments: { id: "1", force: true }, ...params }, capabilities)

/** The next round: the same request with the answers. */
const retry = (answer: Modern.Answer, params: object = {}) => {
  const { inputRequests, requestState } = resultOf(answer)
  const inputResponses = Object.fromEntries(Object.keys(obj(inputRequests) ?? {}).map((name) => [name, accepted]))
  return call({ inputResponses, requestState, ...params })
}

describe("Modern", () => {
  it.effect("discovers, and says how long each result holds and for whom", () =>
    Effect.gen(function*() {
      const { send } = yield* make()
      assert.deepStrictEqual(resultOf(yield* send(request("server/discover"))), {
        resultType: "complete",
        supportedVersions: [...supported],
        capabilities: { tools: {} },
        instructions: "how to",
        ttlMs: 600_000,
        cacheScope: "public",
        _meta: { [meta.server]: { name: "test", version: "1" } }
      })
      assert.deepInclude(resultOf(yield* send(request("tools/list"))), { ttlMs: 600_000, cacheScope: "private" })
    }))

  it("refuses what the specification refuses, with its codes", () => {
    const fine = call()
    const headers = headersOf(fine)
    const without = (name: string) => Object.fromEntries(Object.entries(headers).filter(([each]) => each !== name))
    const withMeta = (_meta: object): Rpc.Request => ({ ...fine, params: { ...fine.params, _meta } })
    const version = { [meta.version]: "2026-07-28" }
    const capabilities = { [meta.capabilities]: {} }
    const older = withMeta({ ...capabilities, [meta.version]: "2025-11-25" })
    const cases: ReadonlyArray<readonly [string, Rpc.Request, Record<string, string> | undefined, number | undefined]> =
      [
        ["stdio", fine, undefined, undefined],
        ["HTTP", fine, headers, undefined],
        ["a name in base64", fine, { ...headers, "mcp-name": "=?base64?ZGVsZXRl?=" }, undefined],
        ["no _meta", { jsonrpc: "2.0", id: 1, method: "tools/list" }, headers, -32602],
        ["an empty _meta", withMeta({}), undefined, -32602],
        ["no capabilities", withMeta(version), headers, -32602],
        ["capabilities in a list", withMeta({ ...version, [meta.capabilities]: [] }), undefined, -32602],
        ["a version that is no text", withMeta({ ...capabilities, [meta.version]: 2 }), undefined, -32602],
        ["an unknown version", withMeta({ ...capabilities, [meta.version]: "1900-01-01" }), undefined, -32022],
        ["a version of the other era", older, { ...headers, "mcp-protocol-version": "2025-11-25" }, -32022],
        ["another version in the header", older, headers, -32020],
        ["no version in the headers", fine, without("mcp-protocol-version"), -32020],
        ["another method in the header", fine, { ...headers, "mcp-method": "tools/list" }, -32020],
        ["no method in the headers", fine, without("mcp-method"), -32020],
        ["another tool in the header", fine, { ...headers, "mcp-name": "list" }, -32020],
        ["no tool in the headers", fine, without("mcp-name"), -32020]
      ]
    for (const [what, message, headers, code] of cases) {
      const answer = Modern.refusal(message, headers)
      assert.strictEqual(answer === undefined ? undefined : errorOf(answer)["code"], code, what)
      if (answer !== undefined) assert.deepInclude(answer, { status: 400 }, what)
    }
    assert.deepStrictEqual(errorOf(Modern.refusal(older, undefined) ?? assert.fail())["data"], {
      supported: [...supported],
      requested: "2025-11-25"
    })
  })

  it.effect("knows no method of the other era, and hides bugs", () =>
    Effect.gen(function*() {
      const { send } = yield* make()
      for (const method of ["initialize", "ping", "logging/setLevel", "constructor", "subscriptions/listen"]) {
        const answer = yield* send(request(method))
        assert.deepStrictEqual([answer.status, errorOf(answer)["code"]], [404, -32601], method)
      }
      const answer = yield* send(request("resources/read", { uri: "x" }))
      assert.strictEqual(errorOf(answer)["code"], -32603)
      assert.notInclude(JSON.stringify(answer), "secret")
    }).pipe(Effect.provide(Logger.layer([]))))

  it.effect("asks first, and does it once it has the answer", () =>
    Effect.gen(function*() {
      const { done, send } = yield* make()
      const asked = yield* send(call())
      const { _meta, requestState: _, ...result } = resultOf(asked)
      assert.deepStrictEqual(result, {
        resultType: "input_required",
        inputRequests: { "Really?": { method: "elicitation/create", params: { message: "Really?" } } }
      })
      assert.strictEqual(done(), 0)
      // The client may send the same arguments in another order.
      const answer = yield* send(retry(asked, { arguments: { force: true, id: "1" } }))
      assert.deepInclude(resultOf(answer), { resultType: "complete", answers: [accepted] })
      assert.strictEqual(done(), 1)
    }))

  it.effect("takes a state once, in time, and only of this caller and request", () =>
    Effect.gen(function*() {
      const { done, send } = yield* make()
      const alice = { client: "prod", principal: "alice" }
      const ask = Effect.map(send(call(), alice), (answer) => answer)
      const isRefused = (message: Rpc.Request, caller: Caller = alice) =>
        Effect.map(send(message, caller), (answer) => {
          assert.deepStrictEqual([answer.status, errorOf(answer)["code"]], [200, -32602])
          assert.match(String(errorOf(answer)["message"]), /requestState/)
        })
      const state = String(resultOf(yield* ask)["requestState"])
      const flipped = state.slice(0, 9) + (state[9] === "A" ? "B" : "A") + state.slice(10)
      for (const forged of [`${state}-`, `${state}.x`, flipped, state.split(".")[0], "", 7, null, "."]) {
        yield* isRefused(retry(yield* ask, { requestState: forged }))
      }
      yield* isRefused(retry(yield* ask), { client: "prod", principal: "mallory" })
      yield* isRefused(retry(yield* ask), nobody)
      yield* isRefused(retry(yield* ask, { arguments: { id: "2", force: true } }))
      yield* isRefused(retry(yield* ask, { name: "replace" }))
      const late = yield* ask
      yield* TestClock.adjust("15 minutes")
      yield* isRefused(retry(late))
      assert.strictEqual(done(), 0)
      const asked = yield* ask
      assert.deepInclude(resultOf(yield* send(retry(asked), alice)), { resultType: "complete" })
      yield* isRefused(retry(asked))
      assert.strictEqual(done(), 1)
    }))

  it.effect("asks again for an answer to what it did not ask, or asks otherwise now", () =>
    Effect.gen(function*() {
      let text = "Delete 'a'?"
      const { done, send } = yield* make(() => [text])
      const unasked = yield* send(call({ inputResponses: { [text]: accepted } }))
      assert.deepInclude(resultOf(unasked), { resultType: "input_required" })
      text = "Delete 'b'?"
      const renamed = yield* send(retry(unasked, { inputResponses: { "Delete 'a'?": accepted, [text]: accepted } }))
      assert.deepStrictEqual(Object.keys(obj(resultOf(renamed)["inputRequests"]) ?? {}), [text])
      const empty = yield* send(retry(renamed, { inputResponses: {} }))
      assert.deepInclude(resultOf(empty), { resultType: "input_required" })
      for (const inputResponses of [7, [], null, { [text]: 7 }]) {
        assert.strictEqual(errorOf(yield* send(retry(empty, { inputResponses })))["code"], -32602)
      }
      assert.strictEqual(done(), 0)
    }))

  it.effect("asks in rounds, and keeps the answers of earlier ones", () =>
    Effect.gen(function*() {
      const { done, send } = yield* make(() => ["one", "two", "three"])
      let last = yield* send(call())
      for (const [round] of ["one", "two", "three"].entries()) {
        assert.deepInclude(resultOf(last), { resultType: "input_required" }, `${round}`)
        assert.strictEqual(done(), 0)
        last = yield* send(retry(last))
      }
      assert.deepInclude(resultOf(last), { answers: [accepted, accepted, accepted] })
      assert.strictEqual(done(), 1)
    }))

  it.effect("asks no one through a client that cannot ask", () =>
    Effect.gen(function*() {
      const { done, send } = yield* make()
      for (const capabilities of [{}, { elicitation: true }, { elicitation: { url: {} } }, { sampling: {} }]) {
        const answer = yield* send(call({}, capabilities))
        assert.deepStrictEqual([answer.status, errorOf(answer)["code"]], [400, -32021])
        assert.deepStrictEqual(errorOf(answer)["data"], { requiredCapabilities: { elicitation: {} } })
      }
      assert.deepInclude(resultOf(yield* send(call({}, { elicitation: { form: {} } }))), {
        resultType: "input_required"
      })
      assert.strictEqual(done(), 0)
    }))

  it.effect("ends what was begun when it asks, and when it is interrupted", () =>
    Effect.gen(function*() {
      const { protocol } = yield* make()
      const ended: Array<string> = []
      const started = yield* Deferred.make<void>()
      const scoped = (name: string, body: Effect.Effect<Obj, Rpc.RpcError>) =>
        Effect.onInterrupt(body, () => Effect.sync(() => ended.push(name)))
      const send = (method: Methods.Method) =>
        Modern.answer({ ...protocol, methods: { "tools/call": method } }, nobody, call(), () => undefined)
      yield* send(({ ask }) => scoped("asked", ask({ a: question("a") })))
      assert.deepStrictEqual(ended, ["asked"])
      const fiber = yield* Effect.forkChild(
        send(() => scoped("cancelled", Effect.andThen(Deferred.succeed(started, undefined), Effect.never)))
      )
      yield* Deferred.await(started)
      yield* Fiber.interrupt(fiber)
      assert.deepStrictEqual(ended, ["asked", "cancelled"])
    }))
})
