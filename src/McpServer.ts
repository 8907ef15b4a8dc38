/** Tools behind the official SDK's low-level `Server`. The only module that knows both. */
import { Server } from "@modelcontextprotocol/sdk/server/index.js"
import {
  CallToolRequestSchema,
  type CallToolResult,
  ErrorCode,
  ListToolsRequestSchema,
  McpError
} from "@modelcontextprotocol/sdk/types.js"
import { AjvJsonSchemaValidator } from "@modelcontextprotocol/sdk/validation/ajv-provider.js"
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as FiberSet from "effect/FiberSet"
import * as Metric from "effect/Metric"
import * as Result from "effect/Result"
import * as callContext from "./McpServer/callContext.ts"
import { bug as bugMessage, type RunFor } from "./McpServer/Handling.ts"
import * as promptHandlers from "./McpServer/prompts.ts"
import * as resourceHandlers from "./McpServer/resources.ts"
import { type Caller, type MakeServer, McpTransport } from "./McpTransport.ts"
import * as N8nError from "./N8nError.ts"
import { suggestion } from "./Nearest.ts"
import type * as Prompt from "./Prompt.ts"
import type * as Resource from "./Resource.ts"
import * as Tool from "./Tool.ts"
import * as Visible from "./Visible.ts"

/** What is served. */
export interface Options<T extends Tool.Any> {
  readonly name: string
  readonly version: string
  /** Shown to the model before any tool is loaded: how to find its way. At most 2,000 characters. */
  readonly instructions?: string | undefined
  readonly tools: ReadonlyArray<T>
  /** Those whose tool is served are, too. */
  readonly resources?: ReadonlyArray<Resource.Resource<Tool.Services<T>>> | undefined
  readonly prompts?: ReadonlyArray<Prompt.Prompt<Tool.Services<T>>> | undefined
}

const text = (value: unknown) => [{ type: "text" as const, text: JSON.stringify(value) }]

const failed = (envelope: N8nError.Envelope): CallToolResult => ({
  isError: true,
  content: text(Visible.json(envelope))
})

const bug: N8nError.Envelope = {
  name: "InternalError",
  message: bugMessage,
  context: {},
  hint: "The server's log (stderr) has the details. Another call may work."
}

/** How long calls took, in seconds, by tool and outcome; named as OpenTelemetry's conventions for MCP have it. */
const duration = Metric.histogram("mcp.server.operation.duration", {
  description: "Duration of a tool call",
  attributes: { unit: "s", "mcp.method.name": "tools/call" },
  boundaries: [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60, 120, 300]
})

const measured = <R>(tool: Tool.Any<R>, call: Effect.Effect<CallToolResult, never, R>) =>
  Effect.timed(call).pipe(
    Effect.tap(([elapsed, { isError }]) =>
      Metric.update(
        Metric.withAttributes(duration, {
          "gen_ai.tool.name": tool.name,
          ...(isError === true ? { "error.type": "tool_error" } : {})
        }),
        Duration.toSeconds(elapsed)
      )
    ),
    Effect.map(([, result]) => result),
    Effect.withSpan(`tools/call ${tool.name}`, {
      attributes: { "mcp.method.name": "tools/call", "gen_ai.tool.name": tool.name }
    })
  )

/** Runs one tool: failures become tool errors that the model can read; defects are logged and hidden. */
export const respond = <R>(tool: Tool.Any<R>, args: unknown): Effect.Effect<CallToolResult, never, R> =>
  tool.run(args).pipe(
    Effect.map((answer): CallToolResult => ({
      content: text(answer),
      structuredContent: { ...answer }
    })),
    Effect.tapError((error) => Effect.logDebug(error.message)),
    Effect.catch((error) => Effect.succeed(failed(N8nError.toEnvelope(error)))),
    Effect.catchDefect((defect) => Effect.as(Effect.logError("tool died", defect), failed(bug))),
    Effect.annotateLogs("tool", tool.name),
    (call) => measured(tool, call)
  )

/** A union of tools is a tool with the union of their needs; the compiler does not see it. */
const widened = <T extends Tool.Any>(tools: ReadonlyArray<T>) =>
  tools as ReadonlyArray<Tool.Any> as ReadonlyArray<Tool.Any<Tool.Services<T>>>

/** Finds a tool by name. */
export const find = <T extends Tool.Any>(
  tools: ReadonlyArray<T>,
  name: string
): Tool.Any<Tool.Services<T>> | undefined => widened(tools).find((tool) => tool.name === name)

/** What a caller is told who asks for a tool that is not there. */
export const unknownTool = (tools: ReadonlyArray<Tool.Any>, name: string): string =>
  `Unknown tool '${name}'. ${suggestion(name, tools.map((tool) => tool.name), tools.length)}`

/** A tool as `tools/list` shows it. */
export const listing = (tool: Tool.Any) => ({
  name: tool.name,
  title: tool.title,
  description: tool.description,
  annotations: tool.annotations,
  inputSchema: { ...tool.inputSchema },
  outputSchema: { ...tool.outputSchema },
  ...(tool.searchHint === undefined ? {} : { _meta: { "anthropic/searchHint": tool.searchHint } })
})

/** Made once: each would bring a validator of its own. */
const jsonSchemaValidator = new AjvJsonSchemaValidator()

/**
 * Serves `tools` on the ambient transport until the peer leaves.
 *
 * **Details**
 *
 * `contextFor` gives what one call runs with: nothing of it is captured when the server starts, so each caller can have
 * an n8n of their own, and tools that change something or not (`Tool.ReadOnly`). When serving ends, calls in flight are
 * interrupted; a call that the client cancels is, too.
 */
export const serveWith = <T extends Tool.Any>(
  options: Options<T>,
  contextFor: (caller: Caller) => Effect.Effect<Context.Context<Tool.Services<T>>>
): Effect.Effect<void, never, McpTransport> =>
  Effect.gen(function*() {
    const run = yield* FiberSet.makeRuntimePromise()
    const tools = widened(options.tools)
    const isServed = ({ tool }: Resource.Resource) => tools.some(({ name }) => name === tool)
    const resources = (options.resources ?? []).filter(isServed)
    const prompts = options.prompts ?? []

    const makeServer: MakeServer = Effect.fnUntraced(function*(caller) {
      const around = yield* Effect.context<never>()
      /** Runs for the caller, until the client cancels it. */
      const runFor: RunFor<Tool.Services<T>> = (effect, { signal }) =>
        run(
          contextFor(caller).pipe(
            Effect.flatMap((context) => Effect.provideContext(effect, Context.merge(around, context))),
            Effect.result
          ),
          { signal }
        ).then(Result.getOrThrowWith((error) => error))

      const server = new Server(
        { name: options.name, version: options.version },
        {
          jsonSchemaValidator,
          capabilities: {
            tools: {},
            ...(resources.length === 0 ? {} : { resources: {} }),
            ...(prompts.length === 0 ? {} : { prompts: {} }),
            ...(resources.length === 0 && prompts.length === 0 ? {} : { completions: {} })
          },
          ...(options.instructions === undefined ? {} : { instructions: options.instructions })
        }
      )
      server.setRequestHandler(ListToolsRequestSchema, (_request, extra) =>
        runFor(
          Effect.map(Tool.ReadOnly, (readOnly) => ({ tools: Tool.offered(tools, readOnly).map(listing) })),
          extra
        ))
      server.setRequestHandler(CallToolRequestSchema, ({ params }, extra) => {
        const tool = find(tools, params.name)
        if (tool === undefined) throw new McpError(ErrorCode.InvalidParams, unknownTool(tools, params.name))
        return runFor(callContext.provide(server, extra)(respond(tool, params.arguments)), extra)
      })
      if (resources.length > 0) resourceHandlers.handle(server, resources, runFor)
      if (prompts.length > 0) promptHandlers.handle(server, prompts)
      if (resources.length > 0 || prompts.length > 0) {
        promptHandlers.handleCompletion(server, prompts, resources, runFor)
      }
      return server
    })

    yield* (yield* McpTransport).serve(makeServer)
  }).pipe(Effect.scoped)

/** Serves tools that all run with what is provided around: one n8n for every call. */
export const serve = <T extends Tool.Any>(
  options: Options<T>
): Effect.Effect<void, never, McpTransport | Tool.Services<T>> =>
  Effect.flatMap(Effect.context<Tool.Services<T>>(), (context) => serveWith(options, () => Effect.succeed(context)))
