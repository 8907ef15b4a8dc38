import { assert, describe, it } from "@effect/vitest"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import * as Tool from "../../src/answer/Tool.ts"
import * as Toolkit from "../../src/answer/Toolkit.ts"
import * as Services from "../../src/app/Services.ts"
import type * as Errors from "../../src/base/Errors.ts"
import * as McpServer from "../../src/mcp/McpServer.ts"
import { McpTransport, type Served } from "../../src/mcp/McpTransport.ts"
import * as Methods from "../../src/mcp/Methods.ts"
import { N8nClient } from "../../src/n8n/N8nClient.ts"
import * as FakeN8n from "../../src/testing/FakeN8n.ts"
import * as tools from "../../src/tools/index.ts"
import * as resources from "../../src/tools/Resources.ts"
import { recording } from "../support/spans.ts"

class Log extends Context.Service<Log, Array<string>>()("test/Log") {}

class Denied extends Schema.TaggedError<Denied>()("Denied", { hint: Schema.String }) {
  override readonly message = "not today"
}

/** Logs each call and its outcome. */
const audit = Tool.middleware((run, { input, tool }) =>
  Effect.gen(function*() {
    const log = yield* Log
    log.push(`> ${tool.name} ${JSON.stringify(input)}`)
    return yield* Effect.onExit(run, (exit) => Effect.sync(() => log.push(`< ${exit._tag}`)))
  })
)

/** Denies what changes something. */
const policy = Tool.middleware((run, { tool }) =>
  tool.annotations.readOnlyHint ? run : Effect.fail(new Denied({ hint: "Ask a person." }))
)

const workflows = [{ id: "w1", name: "Orders", nodes: [] }]

const world = () => Layer.mergeAll(FakeN8n.layer({ workflows }), Services.layerMemory, Layer.sync(Log, () => []))

const served = Effect.gen(function*() {
  let server: Served | undefined
  yield* McpServer.serve({
    name: "test",
    version: "1",
    tools: tools.all,
    resources: resources.all,
    middleware: [audit, policy]
  }).pipe(Effect.provideService(McpTransport, { serve: (each) => Effect.sync(() => void (server = each)) }))
  return server ?? assert.fail("not served")
})

const caller = { client: undefined }

const request = (params: object) => ({ params: { ...params }, caller, capabilities: {} }) as unknown as Methods.Request

describe("middleware", () => {
  it.effect("of a server is around each call of a tool, the first outermost, and around resources", () =>
    Effect.gen(function*() {
      const { methods } = yield* served
      const log = yield* Log
      const call = (name: string, args: object) =>
        Effect.map(
          Methods.run(methods, "tools/call", request({ name, arguments: args })),
          (answer) => JSON.stringify(answer)
        )
      assert.include(yield* call("get_workflow", { id: "w1" }), "Orders")
      assert.include(yield* call("delete_workflow", { id: "w1", confirm: true }), "not today")
      assert.include(yield* call("get_workflow", { idd: "w1" }), "Did you mean")
      yield* Methods.run(methods, "resources/read", request({ uri: "n8n://workflow/w1" }))
      assert.deepStrictEqual(log.map((line) => line.slice(0, 18)), [
        "> get_workflow {\"i",
        "< Success",
        "> delete_workflow ",
        "< Failure",
        "> get_workflow {\"i",
        "< Success"
      ])
    }).pipe(Effect.provide(world())))

  it.effect("of a toolkit is around its calls", () =>
    Effect.gen(function*() {
      const { layer, toolkit } = Toolkit.make([tools.listWorkflows, tools.deleteWorkflow], {
        middleware: [audit, policy]
      })
      const results = yield* Effect.provide(
        Effect.gen(function*() {
          const { handle } = yield* toolkit
          return yield* Stream.runCollect(yield* handle("delete_workflow", { id: "w1", confirm: true }))
        }),
        layer
      )
      assert.include(JSON.stringify(results), "not today")
      assert.deepStrictEqual((yield* Log).map((line) => line.slice(0, 9)), ["> delete_", "< Failure"])
    }).pipe(Effect.provide(world())))

  it.effect("wraps any tool of a list, with its services and failures in the types", () =>
    Effect.gen(function*() {
      const audited = tools.all.map((tool) => Tool.wrap(tool, audit))
      assert.lengthOf(audited, tools.all.length)
      const list = Tool.wrap(Tool.wrap(tools.deleteWorkflow, policy), audit)
      const call: Effect.Effect<object, Errors.N8nError | Denied, Tool.Services<typeof tools.deleteWorkflow> | Log> =
        list.call({ id: "w1", confirm: true })
      assert.strictEqual((yield* Effect.flip(call))._tag, "Denied")
      assert.lengthOf(yield* Log, 2)
      // Nothing of the tool is needed by a middleware that has no services.
      const read: Effect.Effect<object, unknown, Tool.Services<typeof tools.listWorkflows>> = Tool.wrap(
        tools.listWorkflows,
        policy
      ).call({})
      assert.deepInclude(yield* read, { count: 1 })
    }).pipe(Effect.provide(world())))

  it.effect("sees what a tool does in a replaced run, too", () =>
    Effect.gen(function*() {
      const replaced = { ...tools.listWorkflows, run: (args: unknown) => tools.listWorkflows.run(args) }
      yield* replaced.run({}).pipe(Tool.serving([replaced], [audit]))
      assert.lengthOf(yield* Log, 2)
    }).pipe(Effect.provide(world())))
})

describe("a program's call", () => {
  it.effect("has a span with the tool's name by OpenTelemetry's conventions", () =>
    Effect.gen(function*() {
      const { spans, tracer } = recording()
      yield* tools.listWorkflows.call({}).pipe(Effect.withTracer(tracer))
      const span = spans.find(({ name }) => name === "execute_tool list_workflows")
      assert.deepStrictEqual(Object.fromEntries(span?.attributes ?? []), {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": "list_workflows"
      })
    }).pipe(Effect.provide(world())))

  it.effect("takes the payload of an endpoint, in which what has a default is left out", () =>
    Effect.gen(function*() {
      const payload = Schema.decodeUnknownSync(Tool.payload(tools.listWorkflows))({ name: "Ord" })
      const { workflows } = yield* tools.listWorkflows.call(payload)
      assert.lengthOf(workflows, 1)
      assert.throws(() => Schema.decodeUnknownSync(Tool.payload(tools.listWorkflows))({ limit: 100_000 }), /limit/)
      const { input } = tools.listWorkflows
      assert.deepStrictEqual(input.make({}), yield* Schema.decodeUnknownEffect(input)({}))
    }).pipe(Effect.provide(world())))
})

describe("a handler of Effect.fn", () => {
  const about = {
    name: "double",
    title: "Double",
    description: "Doubles.",
    annotations: Tool.readOnly,
    input: Schema.Struct({ n: Schema.Int }),
    output: Schema.Struct({ n: Schema.Int }),
    message: () => "done"
  } as const

  it.effect("types the argument of summarize if it is defined before, and else says that it has to be", () =>
    Effect.gen(function*() {
      const handler = Effect.fn("double")(function*({ n }: { readonly n: number }) {
        return yield* Effect.succeed({ doubled: 2 * n })
      })
      const double = Tool.make({ ...about, handler, summarize: ({ doubled }) => ({ n: doubled }) })
      assert.deepStrictEqual(yield* double.call({ n: 2 }), { n: 4 })
      Tool.make({
        ...about,
        handler: Effect.fn(function*({ n }) {
          return yield* Effect.succeed({ doubled: 2 * n })
        }),
        summarize: (raw) => {
          const advice: `Omit summarize, ${string}` = raw
          return { n: advice.length }
        }
      })
    }))

  it.effect("needs no summarize if it returns the data, and has the services and failures of its own", () =>
    Effect.gen(function*() {
      const count = Tool.make({
        ...about,
        handler: Effect.fn(function*({ n }) {
          return { n: n + (yield* (yield* N8nClient).listWorkflows()).workflows.length }
        }),
        message: ({ n }) => `${n}`
      })
      const call: (input: { readonly n: number }) => Effect.Effect<{ readonly n: number }, Errors.N8nError, N8nClient> =
        count.call
      assert.deepStrictEqual(yield* call({ n: 2 }), { n: 3 })
      assert.strictEqual((yield* count.answer({ n: 0 })).message, "1")
    }).pipe(Effect.provide(world())))
})
