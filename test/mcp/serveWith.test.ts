/** Services of a call: by its caller, for as long as it lasts. */
import { assert, describe, it } from "@effect/vitest"
import { Client } from "@modelcontextprotocol/sdk/client/index.js"
import * as Context from "effect/Context"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import * as Schema from "effect/Schema"
import * as Tool from "../../src/answer/Tool.ts"
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
  it.live("answers a call whose context fails with a tool error, and other methods with a JSON-RPC error", () =>
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
      const refused = yield* Effect.promise(() => client.listTools().then(() => undefined, (error: Error) => error))
      assert.strictEqual(refused?.message, "MCP error -32000: No such tenant. Ask the operator for an account.")
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
      assert.deepStrictEqual((yield* ask("tools/list")).body.error, {
        code: -32000,
        message: "No such tenant. Ask the operator for an account."
      })
      const listed = yield* Effect.flip(Execute.tools(served, nobody))
      assert.deepInclude(listed, { status: 400, code: "TOOL_EXECUTION_ERROR", details: envelope })
      const result = yield* served.call(nobody, "whoami", {})
      assert.deepInclude(result, { failure: { envelope, isServerFault: false } })
      // The gate leaves it to the call to say so.
      const writeRefusal = Refusal.make(403, "The token allows reading only.")
      yield* Gate.checkScope(served, { ...nobody, key: "somebody", writeRefusal }, "whoami")
    }))

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
        input: Schema.Struct({}),
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
    // @ts-expect-error: the middleware's quota is missing.
    const incomplete: Server<never> = McpServer.serveWith(options, () => Effect.succeed(tenant))
    // @ts-expect-error: a failure has a message for the model.
    McpServer.serveWith(options, () => Effect.fail("no such tenant"))
    for (const server of [shared, own, needy, scoped, incomplete]) assert.isTrue(Effect.isEffect(server))
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
