import { assert, describe, it } from "@effect/vitest"
import { Client } from "@modelcontextprotocol/sdk/client/index.js"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import * as TestClock from "effect/testing/TestClock"
import * as Tool from "../../src/answer/Tool.ts"
import * as Services from "../../src/app/Services.ts"
import { CallContext } from "../../src/base/CallContext.ts"
import * as Demo from "../../src/demo/Demo.ts"
import * as McpServer from "../../src/mcp/McpServer.ts"
import type { Caller } from "../../src/mcp/McpTransport.ts"
import * as MemoryTransport from "../../src/mcp/MemoryTransport.ts"
import * as FakeN8n from "../../src/testing/FakeN8n.ts"
import * as tools from "../../src/tools/index.ts"
import * as Toolsets from "../../src/tools/Toolsets.ts"
import { connected, serve } from "../support/connected.ts"
import { tool } from "../support/tool.ts"

describe("McpServer", () => {
  it.live("lists, with instructions, schemas and hints", () =>
    Effect.gen(function*() {
      const client = yield* connected(serve())
      assert.strictEqual(client.getInstructions(), "how to")
      const { tools: listed } = yield* Effect.promise(() => client.listTools())
      assert.deepStrictEqual(listed.map(({ name }) => name), tools.all.map(({ name }) => name))
      for (const { annotations, outputSchema, title } of listed) {
        assert.isDefined(title)
        assert.isDefined(outputSchema)
        assert.deepStrictEqual(Object.keys(annotations ?? {}).toSorted(), [
          "destructiveHint",
          "idempotentHint",
          "openWorldHint",
          "readOnlyHint"
        ])
      }
    }))

  it.live("answers with one text and the same object, which the SDK's client checks against the outputSchema", () =>
    Effect.gen(function*() {
      const client = yield* connected(serve())
      yield* Effect.promise(() => client.listTools())
      const answer = yield* Effect.promise(() => client.callTool({ name: "get_execution", arguments: { id: "239" } }))
      const [block, ...others] = answer.content as ReadonlyArray<{ readonly type: string; readonly text: string }>
      assert.isEmpty(others)
      assert.deepStrictEqual(JSON.parse(block?.text ?? ""), answer.structuredContent)
      assert.deepInclude(answer.structuredContent, {
        success: true,
        message: "Execution 239: error"
      })
    }))

  it.live("neither lists nor calls what a caller is not served", () =>
    Effect.gen(function*() {
      const withheld = new Set(["workflow_create"])
      const client = yield* connected(serve().pipe(Effect.provideService(Tool.Withheld, withheld)))
      const { tools: listed } = yield* Effect.promise(() => client.listTools())
      assert.deepStrictEqual(
        listed.map(({ name }) => name as string),
        tools.all.map(({ name }) => name).filter((name) => !withheld.has(name))
      )
      const refused = yield* Effect.promise(() =>
        client.callTool({ name: "workflow_create", arguments: { name: "x" } }).then(
          () => "served",
          (error: Error) => error.message
        )
      )
      assert.match(refused, /Unknown tool 'workflow_create'\. (?!.*'workflow_create')/)
    }))

  it.live("turns failures into tool errors in the seeds' JSON, with a hint", () =>
    Effect.gen(function*() {
      const client = yield* connected(serve())
      const ask = (name: string, args: Record<string, unknown>) =>
        Effect.promise(() => client.callTool({ name, arguments: args })).pipe(
          Effect.map(({ content, isError }) => {
            assert.isTrue(isError)
            return JSON.parse((content as ReadonlyArray<{ readonly text: string }>)[0]?.text ?? "")
          })
        )
      assert.deepStrictEqual(yield* ask("get_workflow", { id: "abc123" }), {
        name: "NotFoundError",
        message: "Workflow 'abc123' not found",
        context: { operation: "get workflow", resourceType: "Workflow", resourceId: "abc123" },
        hint: "list_workflows lists the workflows with their ids."
      })
      assert.deepStrictEqual(yield* ask("get_workflow", {}), {
        name: "ValidationError",
        message: "Workflow ID is required",
        context: { field: "id" },
        hint: "get_workflow takes: id, nodes, raw, offset, textFrom."
      })
    }))

  it.live("says of a tool that is off which option adds it", () =>
    Effect.gen(function*() {
      const client = yield* connected(McpServer.serve({
        name: "test",
        version: "0",
        tools: [tools.listWorkflows],
        absence: (name) => Toolsets.absence(name, { excludeTools: ["audit"] })
      }))
      const call = (name: string) =>
        Effect.flip(Effect.tryPromise({ try: () => client.callTool({ name, arguments: {} }), catch: String }))
      assert.match(yield* call("table_read"), /Unknown tool 'table_read'\. .*which is off: add --toolsets tables/)
      assert.match(yield* call("audit"), /Unknown tool 'audit'\. audit is left out by --exclude-tools/)
      assert.match(yield* call("list_workflow"), /Did you mean 'list_workflows'/)
    }))

  it.live("hides defects", () =>
    Effect.gen(function*() {
      const client = yield* connected(serve([tool("broken", Effect.die("canary of the inside"))]))
      const answer = yield* Effect.promise(() => client.callTool({ name: "broken", arguments: {} }))
      assert.isTrue(answer.isError)
      assert.include(JSON.stringify(answer), "InternalError")
      assert.notInclude(JSON.stringify(answer), "canary")
    }).pipe(Effect.provide(Logger.layer([]))))

  it.live("interrupts the call that the client cancels", () =>
    Effect.gen(function*() {
      const started = yield* Deferred.make<void>()
      const interrupted = yield* Deferred.make<void>()
      const slow = Deferred.succeed(started, undefined).pipe(
        Effect.andThen(Effect.never),
        Effect.onInterrupt(() => Deferred.succeed(interrupted, undefined))
      )
      const client = yield* connected(serve([tool("slow", slow)]))
      const abort = new AbortController()
      const call = client.callTool({ name: "slow", arguments: {} }, undefined, { signal: abort.signal })
      yield* Deferred.await(started)
      abort.abort()
      assert.isTrue(Exit.isFailure(yield* Effect.exit(Effect.tryPromise(() => call))))
      yield* Deferred.await(interrupted)
    }))

  it.live("sends progress only to a caller that asks for it", () =>
    Effect.gen(function*() {
      const working = Effect.gen(function*() {
        const call = yield* CallContext
        yield* call.progress(1, 2, "half")
        return "done"
      })
      const client = yield* connected(serve([tool("working", working)]))
      const seen: Array<unknown> = []
      yield* Effect.promise(() =>
        client.callTool({ name: "working", arguments: {} }, undefined, {
          onprogress: (progress) => seen.push(progress)
        })
      )
      yield* Effect.promise(() => client.callTool({ name: "working", arguments: {} }))
      assert.deepStrictEqual(seen, [{ progress: 1, total: 2, message: "half" }])
    }))

  /** A call that does `then` after 1.2 s of silence, and the progress that its caller sees. */
  const afterSilence = (then: Effect.Effect<unknown>) =>
    Effect.gen(function*() {
      const started = yield* Deferred.make<void>()
      const silence = Deferred.succeed(started, undefined).pipe(
        Effect.andThen(Effect.sleep("1200 millis")),
        Effect.andThen(then),
        Effect.as("done")
      )
      const client = yield* connected(serve([tool("silent", silence)]))
      const seen: Array<unknown> = []
      const call = client.callTool({ name: "silent", arguments: {} }, undefined, {
        onprogress: (progress) => seen.push(progress)
      })
      yield* Deferred.await(started)
      yield* TestClock.adjust("1200 millis")
      yield* Effect.promise(() => call)
      return seen
    })

  it.effect("reports every second that a call without progress of its own is still running", () =>
    Effect.gen(function*() {
      assert.deepStrictEqual(yield* afterSilence(Effect.void), [{ progress: 1, message: "working for 1 s" }])
    }))

  it.effect("continues from there when the call reports progress: it only grows", () =>
    Effect.gen(function*() {
      const tells = Effect.flatMap(CallContext, ({ progress }) => progress(1, 2, "half"))
      assert.deepStrictEqual(yield* afterSilence(tells), [
        { progress: 1, message: "working for 1 s" },
        { progress: 2, total: 3, message: "half" }
      ])
    }))

  it.live("asks no one through a client that cannot ask", () =>
    Effect.gen(function*() {
      const asking = Effect.gen(function*() {
        return yield* (yield* CallContext).confirm("Delete it?")
      })
      const client = yield* connected(serve([tool("asking", asking)]))
      const answer = yield* Effect.promise(() => client.callTool({ name: "asking", arguments: {} }))
      assert.deepInclude(answer.structuredContent, { data: { text: "unasked" } })
    }))

  it.live("gives each call the n8n of its caller", () =>
    Effect.gen(function*() {
      const memory = yield* MemoryTransport.make
      const calls: Array<string | undefined> = []
      const contextFor = ({ client: name }: Caller) =>
        Layer.build(
          FakeN8n.layer({ workflows: Demo.seed.workflows.slice(0, calls.push(name)), executions: [] })
        )
      yield* McpServer.serveWith({ name: "test", version: "0", tools: tools.all }, contextFor).pipe(
        Effect.provide([memory.layer, Services.layerMemory]),
        Effect.forkScoped
      )
      const client = new Client({ name: "test", version: "0" })
      yield* Effect.promise(() => client.connect(memory.client))
      const count = Effect.promise(() => client.callTool({ name: "list_workflows", arguments: {} })).pipe(
        Effect.map(({ structuredContent }) => JSON.stringify(structuredContent).match(/"count":(\d+)/)?.[1])
      )
      assert.deepStrictEqual([yield* count, yield* count], ["1", "2"])
      yield* Effect.promise(() => client.close())
    }))
})
