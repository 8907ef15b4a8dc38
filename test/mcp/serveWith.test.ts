/** Services of a call: by its caller, for as long as it lasts. */
import { assert, describe, it } from "@effect/vitest"
import { Client } from "@modelcontextprotocol/sdk/client/index.js"
import * as Context from "effect/Context"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import * as Metric from "effect/Metric"
import * as Schema from "effect/Schema"
import * as Tool from "../../src/answer/Tool.ts"
import * as Toolkit from "../../src/answer/Toolkit.ts"
import * as Modern from "../../src/mcp/eras/Modern.ts"
import * as Execute from "../../src/mcp/http/execute.ts"
import * as Gate from "../../src/mcp/http/gate.ts"
import * as Refusal from "../../src/mcp/http/Refusal.ts"
import * as McpServer from "../../src/mcp/McpServer.ts"
import type { Caller, McpTransport } from "../../src/mcp/McpTransport.ts"
import * as MemoryTransport from "../../src/mcp/MemoryTransport.ts"
import * as Protocol from "../../src/mcp/Protocol.ts"
import { tool } from "../support/tool.ts"
import { request } from "./eras/modern.ts"

class Tenant extends Context.Service<Tenant, string>()("test/Tenant") {}
class Quota extends Context.Service<Quota, number>()("test/Quota") {}

class UnknownTenant extends Schema.TaggedError<UnknownTenant>()("UnknownTenant", { hint: Schema.String }) {
  override readonly message = "No such tenant"
}

const unknown = new UnknownTenant({ hint: "Ask the operator for an account." })
const envelope = { name: "UnknownTenant", message: "No such tenant", context: {}, hint: unknown.hint }

const whoami = tool("whoami", Effect.map(Tenant, (tenant) => tenant))
const nobody: Caller = { client: undefined }

/** Served methods of these tools, as a transport has them. */
const protocol = <P>(
  tools: ReadonlyArray<Tool.Any<P>>,
  contextFor: () => Effect.Effect<Context.Context<P>, UnknownTenant>
) =>
  Protocol.make<Tool.Any<P>, never, P>(
    { name: "test", version: "0", tools, prompts: [] },
    Context.empty() as Context.Context<never>,
    contextFor
  )

describe("serveWith", () => {
  it.live("lists its tools to a caller whose context fails, whose calls answer a tool error", () =>
    Effect.gen(function*() {
      const memory = yield* MemoryTransport.make
      yield* McpServer.serveWith({ name: "test", version: "0", tools: [whoami] }, () => Effect.fail(unknown)).pipe(
        Effect.provide([memory.layer, Layer.succeed(Tenant, "of the server")]),
        Effect.forkScoped
      )
      const client = new Client({ name: "test", version: "0" })
      yield* Effect.promise(() => client.connect(memory.client))
      const { content, isError } = yield* Effect.promise(() => client.callTool({ name: "whoami", arguments: {} }))
      assert.isTrue(isError)
      assert.deepStrictEqual(JSON.parse((content as ReadonlyArray<{ readonly text: string }>)[0]?.text ?? ""), envelope)
      const { tools } = yield* Effect.promise(() => client.listTools())
      assert.deepStrictEqual(tools.map(({ name }) => name), ["whoami"])
      yield* Effect.promise(() => client.close())
    }))

  it.effect("does the same for clients of 2026-07-28, and without MCP", () =>
    Effect.gen(function*() {
      const served = yield* protocol([whoami], () => Effect.fail(unknown))
      const ask = (method: string, params = {}) =>
        Effect.map(Modern.answer(served, nobody, request(method, params), () => undefined), ({ body, status }) => ({
          status,
          body: body as { readonly result?: object; readonly error?: object }
        }))
      const call = yield* ask("tools/call", { name: "whoami", arguments: {} })
      assert.deepInclude(call.body.result, {
        isError: true,
        content: [{ type: "text", text: JSON.stringify(envelope) }]
      })
      const { tools } = (yield* ask("tools/list")).body.result as { readonly tools: ReadonlyArray<{ name: string }> }
      assert.deepStrictEqual(tools.map(({ name }) => name), ["whoami"])
      assert.strictEqual((yield* Execute.tools(served, nobody)).status, 200)
      const result = yield* served.call(nobody, "whoami", {})
      assert.deepInclude(result, { failure: { envelope, isServerFault: false } })
      const writeRefusal = Refusal.make(403, "The token allows reading only.")
      yield* Gate.checkScope(served, { ...nobody, key: "somebody", writeRefusal }, "whoami")
    }))

  it.effect("hides tools that change something from a read-only caller without a context", () =>
    Effect.gen(function*() {
      const write = { ...whoami, name: "write", annotations: Tool.destructive }
      const served = yield* protocol([whoami, write], () => Effect.fail(unknown))
      const names = (caller: Caller) => Effect.map(served.list(caller), (tools) => tools.map(({ name }) => name))
      assert.deepStrictEqual(yield* names(nobody), ["whoami", "write"])
      assert.deepStrictEqual(yield* names({ ...nobody, readOnly: true }), ["whoami"])
    }))

  it.effect("answers the error of a context to methods that need it", () =>
    Effect.gen(function*() {
      const page = { ...whoami, app: { uri: "ui://page", html: Effect.succeed("") } as unknown as typeof whoami.app }
      const served = yield* protocol([page], () => Effect.fail(unknown))
      const { body } = yield* Modern.answer(
        served,
        nobody,
        request("resources/read", { uri: "ui://page" }),
        () => undefined
      )
      assert.deepStrictEqual((body as { readonly error?: object }).error, {
        code: -32000,
        message: "No such tenant. Ask the operator for an account."
      })
    }))

  it.effect("counts calls without a context as failed calls of the tool, not those of unknown names", () =>
    Effect.gen(function*() {
      const served = yield* protocol([tool("counted_call", Effect.succeed(""))], () => Effect.fail(unknown))
      const call = (name: string) =>
        Modern.answer(served, nobody, request("tools/call", { name, arguments: {} }), () => undefined)
      yield* call("counted_call")
      yield* served.call(nobody, "counted_call", {})
      yield* call("no_such_tool")
      const counts = (yield* Metric.snapshot).flatMap(({ attributes = {}, id, state }) =>
        id === "mcp.server.operation.duration" && "count" in state &&
          /counted_call|no_such/.test(attributes["gen_ai.tool.name"] ?? "")
          ? [[attributes["gen_ai.tool.name"], attributes["error.type"], Number(state.count)]]
          : []
      )
      assert.deepStrictEqual(counts, [["counted_call", "tool_error", 2]])
    }))

  it("refuses two tools or prompts of one name", () => {
    const serve = (
      options: { readonly tools?: ReadonlyArray<Tool.Any<Tenant>>; readonly prompts?: ReadonlyArray<never> }
    ) =>
      Effect.runSyncExit(
        Protocol.make(
          { name: "test", version: "0", tools: [], ...options },
          Context.make(Tenant, "a")
        )
      )
    assert.match(String(serve({ tools: [whoami, whoami] })), /Two tools have the name 'whoami'/)
    assert.throws(() => Toolkit.make([whoami, whoami]), "Two tools have the name 'whoami'")
    const prompt = { name: "ask" } as never
    assert.match(String(serve({ prompts: [prompt, prompt] })), /Two prompts have the name 'ask'/)
  })

  /** Server whose calls log their scopes, with a tool that does `work`. */
  const scoped = (work: Effect.Effect<string, UnknownTenant>, context: Effect.Effect<string, UnknownTenant>) =>
    Effect.gen(function*() {
      const log: Array<string> = []
      const memory = yield* MemoryTransport.make
      const closed = yield* Deferred.make<void>()
      const open = Effect.acquireRelease(
        Effect.sync(() => log.push("open")),
        () => Effect.andThen(Effect.sync(() => log.push("close")), Deferred.succeed(closed, undefined))
      )
      const contextFor = () => Effect.andThen(open, Effect.map(context, (name) => Context.make(Tenant, name)))
      const working = Tool.make({
        name: "working",
        title: "working",
        description: "working",
        annotations: Tool.readOnly,
        output: Schema.Struct({ text: Schema.String }),
        handler: () =>
          Effect.andThen(
            Effect.flatMap(Tenant, (tenant) => Effect.sync(() => log.push(`call of ${tenant}`))),
            Effect.map(work, (text) => ({ text }))
          ),
        message: () => "worked"
      })
      yield* McpServer.serveWith({ name: "test", version: "0", tools: [working] }, contextFor).pipe(
        Effect.provide(memory.layer),
        Effect.forkScoped
      )
      const client = new Client({ name: "test", version: "0" })
      yield* Effect.promise(() => client.connect(memory.client))
      yield* Effect.addFinalizer(() => Effect.promise(() => client.close()))
      const call = (signal?: AbortSignal) =>
        Effect.exit(
          Effect.tryPromise(() =>
            client.callTool({ name: "working", arguments: {} }, undefined, signal === undefined ? {} : { signal })
          )
        )
      return { log, call, closed: Deferred.await(closed) }
    })

  it.live.each<readonly [string, Effect.Effect<string, UnknownTenant>, Effect.Effect<string, UnknownTenant>, number]>([
    ["succeeds", Effect.succeed("done"), Effect.succeed("a"), 3],
    ["fails", Effect.fail(unknown), Effect.succeed("a"), 3],
    ["dies", Effect.die("bug"), Effect.succeed("a"), 3],
    ["has no context", Effect.succeed("done"), Effect.fail(unknown), 2]
  ])("opens a scope for a call, and closes it when the call %s", ([, work, context, steps]) =>
    Effect.gen(function*() {
      const { call, closed, log } = yield* scoped(work, context)
      yield* call()
      yield* closed
      yield* call()
      const once = ["open", "call of a", "close"].filter((step) => steps === 3 || step !== "call of a")
      assert.deepStrictEqual(log, [...once, ...once])
    }).pipe(Effect.provide(Logger.layer([]))))

  it.live("closes the scope of a call that the client cancels", () =>
    Effect.gen(function*() {
      const started = yield* Deferred.make<void>()
      const hanging = Effect.andThen(Deferred.succeed(started, undefined), Effect.never)
      const { call, closed, log } = yield* scoped(hanging, Effect.succeed("a"))
      const abort = new AbortController()
      yield* Effect.forkScoped(call(abort.signal))
      yield* Deferred.await(started)
      assert.deepStrictEqual(log, ["open", "call of a"])
      abort.abort()
      yield* closed
      assert.deepStrictEqual(log, ["open", "call of a", "close"])
    }))

  it("requires what neither a call's context nor the server has", () => {
    const limited = Tool.middleware((run) => Effect.andThen(Quota, run))
    const options = { name: "test", version: "0", tools: [whoami], middleware: [limited] }
    const tenant = Context.make(Tenant, "a")
    type Server<R> = Effect.Effect<void, never, McpTransport | R>

    const shared: Server<Quota> = McpServer.serveWith(options, () => Effect.succeed(tenant))
    const own: Server<never> = McpServer.serveWith(options, () => Effect.succeed(Context.add(tenant, Quota, 1)))
    const needy: Server<Quota | Tenant> = McpServer.serveWith(
      options,
      () => Effect.map(Quota, (quota) => Context.make(Quota, quota))
    )
    const scoped: Server<Quota> = McpServer.serveWith(
      options,
      () => Effect.as(Effect.acquireRelease(Effect.void, () => Effect.void), tenant)
    )
    for (const server of [shared, own, needy, scoped]) assert.isTrue(Effect.isEffect(server))
    const incomplete = McpServer.serveWith(options, () => Effect.succeed(tenant))
    const requires: Quota extends Effect.Services<typeof incomplete> ? true : false = true
    assert.isTrue(requires)
  })

  it.live("has the request's span around a tool, not that of the server's start", () =>
    Effect.gen(function*() {
      const memory = yield* MemoryTransport.make
      const outer = Effect.map(Effect.orDie(Effect.currentSpan), ({ parent }) =>
        parent._tag === "Some" && parent.value._tag === "Span" ? parent.value.name : "none")
      yield* McpServer.serve({ name: "test", version: "0", tools: [tool("traced", outer)] }).pipe(
        Effect.withSpan("start"),
        Effect.provide(memory.layer),
        Effect.forkScoped
      )
      const client = new Client({ name: "test", version: "0" })
      yield* Effect.promise(() =>
        client.connect(memory.client)
      )
      const { structuredContent } = yield* Effect.promise(() => client.callTool({ name: "traced", arguments: {} }))
      assert.deepInclude(structuredContent, { data: { text: "tools/call traced" } })
      yield* Effect.promise(() => client.close())
    }))

  it.live("takes the other services, also those of middleware, from the server", () =>
    Effect.gen(function*() {
      const memory = yield* MemoryTransport.make
      const seen: Array<number> = []
      const counted = Tool.middleware((run) =>
        Effect.flatMap(Quota, (quota) => Effect.andThen(Effect.sync(() => seen.push(quota)), run))
      )
      yield* McpServer.serveWith(
        { name: "test", version: "0", tools: [whoami], middleware: [counted] },
        () => Effect.succeed(Context.make(Tenant, "of the call"))
      ).pipe(
        Effect.provide([memory.layer, Layer.succeed(Quota, 3), Layer.succeed(Tenant, "of the server")]),
        Effect.forkScoped
      )
      const client = new Client({ name: "test", version: "0" })
      yield* Effect.promise(() => client.connect(memory.client))
      const { structuredContent } = yield* Effect.promise(() => client.callTool({ name: "whoami", arguments: {} }))
      assert.deepInclude(structuredContent, { data: { text: "of the call" } })
      assert.deepStrictEqual(seen, [3])
      yield* Effect.promise(() => client.close())
    }))
})
