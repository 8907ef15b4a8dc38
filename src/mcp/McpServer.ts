/** Tools, resources and prompts as the methods of MCP. */
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import { identity } from "effect/Function"
import * as HttpRouter from "effect/http/HttpRouter"
import * as Layer from "effect/Layer"
import * as Metric from "effect/Metric"
import * as Record from "effect/Record"
import * as Result from "effect/Result"
import * as Struct from "effect/Struct"
import * as App from "../answer/App.ts"
import * as Envelope from "../answer/Envelope.ts"
import type * as Prompt from "../answer/Prompt.ts"
import type * as Resource from "../answer/Resource.ts"
import type * as Skill from "../answer/Skill.ts"
import * as Tool from "../answer/Tool.ts"
import { Author } from "../base/CallContext.ts"
import * as Errors from "../base/Errors.ts"
import type { Obj } from "../base/Json.ts"
import { suggestion } from "../base/Nearest.ts"
import * as Visible from "../base/Visible.ts"
import * as callContext from "./callContext.ts"
import * as Sealing from "./eras/Sealing.ts"
import * as features from "./features.ts"
import * as Mount from "./http/Mount.ts"
import { type Caller, type Failure, McpTransport, type Served, UnknownTool } from "./McpTransport.ts"
import * as Methods from "./Methods.ts"
import * as Rpc from "./Rpc.ts"
import { traced } from "./tracing.ts"

/** Contents of the server. */
export interface Options<T extends Tool.Any, M extends Tool.Middleware = never> {
  readonly name: string
  readonly version: string
  /** Instructions for the model before any tool is loaded, at most 2,000 characters. */
  readonly instructions?: string | undefined
  readonly tools: ReadonlyArray<T>
  /** Reason why a tool that is not among them is not served, and how to change that; `undefined` if it does not exist. */
  readonly absence?: (name: string) => string | undefined
  /** Behaviour around the calls of all tools, including those by resources; the first is the outermost: see `Tool.middleware`. */
  readonly middleware?: ReadonlyArray<M> | undefined
  /** Resources; each is served only together with its tool. */
  readonly resources?: ReadonlyArray<Resource.Resource<Tool.Services<T>>> | undefined
  readonly prompts?: ReadonlyArray<Prompt.Prompt<Tool.Services<T>>> | undefined
  /** Skills: instructions with files for clients that know the extension. */
  readonly skills?: ReadonlyArray<Skill.Skill> | undefined
  /** Seals the state that a client stores between a question and its answer; by default for this process only. */
  readonly sealing?: Sealing.Sealing
}

const text = (value: unknown) => [{ type: "text" as const, text: JSON.stringify(value) }]

const bug: Envelope.Envelope = {
  name: "InternalError",
  message: Methods.bug,
  context: {},
  hint: "The server's log (stderr) has the details. Another call may work."
}

/** Duration of calls in seconds by tool and outcome, named by OpenTelemetry's conventions for MCP. */
const duration = Metric.histogram("mcp.server.operation.duration", {
  description: "Duration of a tool call",
  attributes: { unit: "s", "mcp.method.name": "tools/call" },
  boundaries: [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60, 120, 300]
})

/** Metrics by tool and outcome, cached because Effect's key of a metric is costly. */
const durations = new Map<string, typeof duration>()

const durationOf = (name: string, isFailure: boolean) => {
  const key = `${name} ${isFailure}`
  const cached = durations.get(key)
  if (cached !== undefined) return cached
  const attributes = { "gen_ai.tool.name": name, ...(isFailure ? { "error.type": "tool_error" } : {}) }
  const metric = Metric.withAttributes(duration, attributes)
  durations.set(key, metric)
  return metric
}

const measured = <A, E, R>({ name }: Tool.Any<R>, call: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.flatMap(Effect.timed(Effect.result(call)), ([elapsed, result]) =>
    Effect.andThen(
      Metric.update(durationOf(name, Result.isFailure(result)), Duration.toSeconds(elapsed)),
      Effect.fromResult(result)
    ))

/** Runs one tool and converts its failure for clients. Defects are logged and hidden. */
const run = <R>(tool: Tool.Any<R>, args: unknown): Effect.Effect<object, Failure, R> =>
  tool.run(args).pipe(
    Effect.tapError((error) => Effect.logDebug(error.message)),
    Effect.mapError((error) => ({
      envelope: Visible.json(Envelope.fromError(error)),
      isServerFault: Errors.isServerFault(error)
    })),
    Effect.catchDefect((defect) =>
      Effect.andThen(Effect.logError("tool died", defect), Effect.fail({ envelope: bug, isServerFault: true }))
    ),
    Effect.annotateLogs("tool", tool.name),
    (call) => measured(tool, call)
  )

/** Result of `tools/call`: an answer, or an error that the model can read. @internal */
export interface CallToolResult {
  readonly content: ReadonlyArray<{ readonly type: "text"; readonly text: string }>
  readonly structuredContent?: { readonly [key: string]: unknown }
  readonly isError?: boolean
}

/** Runs one tool for MCP: failures become tool errors that the model can read. @internal */
export const respond = <R>(tool: Tool.Any<R>, args: unknown): Effect.Effect<CallToolResult, never, R> =>
  Effect.match(run(tool, args), {
    onSuccess: (answer): CallToolResult => ({ content: text(answer), structuredContent: { ...answer } }),
    onFailure: ({ envelope }): CallToolResult => ({ isError: true, content: text(envelope) })
  })

/** Like {@link respond}, with the view for the tool's page, which no model reads. */
const respondWithView = <R>(tool: Tool.Any<R>, args: unknown): Effect.Effect<CallToolResult, never, R> =>
  Effect.suspend(() => {
    let view: App.View | undefined
    return respond(tool, args).pipe(
      Effect.provideService(App.Show, (shown) => Effect.sync(() => void (view = shown))),
      Effect.map((result) =>
        view === undefined || Object.keys(view).length === 0 || result.isError === true
          ? result
          : { ...result, _meta: view }
      )
    )
  })

/** Tools as tools with the union of their services, which the compiler cannot infer. */
const widened = <T extends Tool.Any>(tools: ReadonlyArray<T>) =>
  tools as ReadonlyArray<Tool.Any> as ReadonlyArray<Tool.Any<Tool.Services<T>>>

/** Finds a tool by name. @internal */
export const find = <T extends Tool.Any>(
  tools: ReadonlyArray<T>,
  name: string
): Tool.Any<Tool.Services<T>> | undefined => widened(tools).find((tool) => tool.name === name)

/** Refusal of a name; the reason for a tool that is withheld from this caller is not given. */
const unknownTool = (
  tools: ReadonlyArray<Tool.Any>,
  name: string,
  { absence, tools: all }: Pick<Options<Tool.Any>, "tools" | "absence">
): string => {
  const reason = find(all, name) === undefined ? absence?.(name) : undefined
  return `Unknown tool '${features.shorten(name)}'. ${
    reason === undefined
      ? suggestion(features.shorten(name), tools.map((tool) => tool.name), tools.length)
      : `${reason}.`
  }`
}

const listingOf = (tool: Tool.Any, showsApps: boolean) => {
  const { app, isEntry, searchHint } = tool
  const meta = {
    // Claude Code reads these.
    ...(searchHint === undefined ? {} : { "anthropic/searchHint": searchHint }),
    ...(isEntry ? { "anthropic/alwaysLoad": true } : {}),
    ...(app === undefined || !showsApps ? {} : { ui: { resourceUri: app.uri } })
  }
  return {
    ...Struct.pick(tool, ["name", "title", "description", "annotations"]),
    inputSchema: { ...tool.inputSchema },
    outputSchema: { ...tool.outputSchema },
    ...(Object.keys(meta).length === 0 ? {} : { _meta: meta })
  }
}

/** A tool as `tools/list` shows it to a client without pages. @internal */
export const listing = (tool: Tool.Any) => listingOf(tool, false)

/** Methods of a server, which a transport serves. @internal */
export const makeServed = <T extends Tool.Any, M extends Tool.Middleware = never>(
  options: Options<T, M>,
  contextFor: (caller: Caller) => Effect.Effect<Context.Context<Tool.Services<T> | Tool.Services<M>>>
): Effect.Effect<Served> =>
  Effect.gen(function*() {
    const tools = widened(options.tools)
    const isServed = ({ tool }: Resource.Resource) => tools.some(({ name }) => name === tool)
    const resources = (options.resources ?? []).filter(isServed)
    const apps = tools.flatMap(({ app }) => app ?? [])
    const { prompts = [], skills = [] } = options
    const hasResources = resources.length + apps.length + skills.length > 0
    const hasCompletions = resources.length + prompts.length > 0
    /** Tools of the caller, before the read-only filter. */
    const served = Effect.map(
      Tool.Withheld,
      (withheld) => withheld.size === 0 ? tools : tools.filter(({ name }) => !withheld.has(name))
    )
    const offered = Effect.flatMap(served, (tools) =>
      Effect.map(Tool.ReadOnly, (readOnly) => Tool.offered(tools, readOnly)))

    // One context, since each separate one would be merged with the fiber's.
    const provideFor = (caller: Caller) => <A, E>(effect: Effect.Effect<A, E, Tool.Services<T> | Tool.Services<M>>) =>
      Effect.flatMap(contextFor(caller), (context) =>
        Effect.provideContext(
          effect,
          context.pipe(
            Context.add(Tool.CurrentTools, tools as ReadonlyArray<Tool.Any> as never),
            Context.add(Tool.CurrentMiddleware, options.middleware ?? []),
            Context.add(Author, caller.subject),
            caller.readOnly === true ? Context.add(Tool.ReadOnly, true) : identity
          )
        ))

    const targetOf = (method: string, params: Obj) => {
      const named = (attribute: string, all: ReadonlyArray<{ readonly name: string }>) => ({
        attribute,
        name: all.find((each) =>
          each.name === params["name"]
        )?.name
      })
      if (method === "tools/call") return named("gen_ai.tool.name", tools)
      return method === "prompts/get" ? named("gen_ai.prompt.name", prompts) : undefined
    }
    const tracedMethods = (methods: Methods.Methods): Methods.Methods =>
      Record.map(methods, (answer, method) => (request) =>
        traced(method, request.params, targetOf(method, request.params))(answer(request)))

    /** Method that runs in the context of the caller. */
    const forCaller = (
      answer: (request: Methods.Request) => Effect.Effect<object, Rpc.RpcError, Tool.Services<T> | Tool.Services<M>>
    ): Methods.Method =>
    (request) =>
      Effect.map(provideFor(request.caller)(answer(request)), (result) => result as Obj)

    const methods = tracedMethods({
      "tools/list": forCaller(({ capabilities }) =>
        Effect.map(
          offered,
          (tools) => ({ tools: tools.map((tool) => listingOf(tool, Methods.showsApps(capabilities))) })
        )
      ),
      "tools/call": forCaller(Effect.fnUntraced(function*(request) {
        const name = yield* features.text(request.params, "name")
        const tools = yield* served
        const tool = find(tools, name)
        if (tool === undefined) return yield* Rpc.invalidParams(unknownTool(tools, name, options))
        const answer = Methods.showsApps(request.capabilities) ? respondWithView : respond
        return yield* callContext.provide(request)(answer(tool, request.params["arguments"]))
      })),
      ...(!hasResources ? {} : {
        "resources/list": forCaller((request) =>
          Effect.zipWith(
            request.params["cursor"] === undefined ? features.skillResources(skills) : Effect.succeed([]),
            features.listResources(resources, request),
            (own, page) => ({ ...page, resources: [...own, ...page.resources] })
          )
        ),
        "resources/templates/list": () => Effect.succeed(features.resourceTemplates(resources)),
        "resources/read": forCaller((request) =>
          features.readSkill(skills, request) ?? features.readResource(resources, apps, request)
        )
      }),
      ...(skills.length === 0 ? {} : {
        "skills/list": () => features.listSkills(skills),
        "skills/get": (request) => features.getSkill(skills, request)
      }),
      ...(prompts.length === 0 ? {} : {
        "prompts/list": () => Effect.succeed(features.listPrompts(prompts)),
        "prompts/get": (request) => features.getPrompt(prompts, request)
      }),
      ...(!hasCompletions ? {} : {
        "completion/complete": forCaller((request) => features.complete(prompts, resources, request))
      })
    })
    const about: Methods.About = {
      name: options.name,
      version: options.version,
      instructions: options.instructions,
      capabilities: {
        tools: {},
        ...(hasResources ? { resources: {} } : {}),
        ...(prompts.length === 0 ? {} : { prompts: {} }),
        ...(hasCompletions ? { completions: {} } : {}),
        ...(skills.length === 0 ? {} : { extensions: features.skillExtension })
      }
    }
    const sealing = options.sealing ?? (yield* Sealing.memory)

    const call: Served["call"] = (caller, name, args) =>
      provideFor(caller)(Effect.flatMap(served, (tools) => {
        const tool = find(tools, name)
        return tool === undefined
          ? Effect.fail(new UnknownTool({ message: unknownTool(tools, name, options) }))
          : traced("tools/call", {}, targetOf("tools/call", { name }))(Effect.result(run(tool, args)))
      }))
    const list: Served["list"] = (caller) => provideFor(caller)(offered)

    return { about, methods, sealing, list, call }
  })

/**
 * Serves `tools` on the ambient transport until the peer disconnects. `contextFor` returns the context of one call, so
 * that each caller can have an n8n of their own or be read-only (`Tool.ReadOnly`). Calls in flight are interrupted when
 * serving ends or the client cancels them.
 */
export const serveWith = <T extends Tool.Any, M extends Tool.Middleware = never>(
  options: Options<T, M>,
  contextFor: (caller: Caller) => Effect.Effect<Context.Context<Tool.Services<T> | Tool.Services<M>>>
): Effect.Effect<void, never, McpTransport> =>
  Effect.flatMap(makeServed(options, contextFor), (served) => McpTransport.use(({ serve }) => serve(served)))

/** Serves tools with the ambient services: one n8n for every call. */
export const serve = <T extends Tool.Any, M extends Tool.Middleware = never>(
  options: Options<T, M>
): Effect.Effect<void, never, McpTransport | Tool.Services<T> | Tool.Services<M>> =>
  Effect.flatMap(
    Effect.context<Tool.Services<T> | Tool.Services<M>>(),
    (context) => serveWith(options, () => Effect.succeed(context))
  )

/** Server on an app's router: its contents, paths and access. */
export interface HttpOptions<T extends Tool.Any, M extends Tool.Middleware = never>
  extends Options<T, M>, Mount.Options
{}

/** Mounts a server on an `HttpRouter`; `contextFor` returns the context of a call, `access` identifies callers. */
export const layerHttpWith = <T extends Tool.Any, M extends Tool.Middleware = never>(
  options: HttpOptions<T, M>,
  contextFor: (caller: Caller) => Effect.Effect<Context.Context<Tool.Services<T> | Tool.Services<M>>>
): Layer.Layer<never, never, HttpRouter.HttpRouter> =>
  HttpRouter.use((router) =>
    Effect.flatMap(makeServed(options, contextFor), (served) => Mount.add(router, served, options))
  )

/**
 * Mounts a server on an existing `HttpRouter`, beside the app's other routes.
 *
 * `POST` at `path` (`/mcp`) is MCP's Streamable HTTP of both eras, without sessions; `GET` at `health` (`/health`)
 * returns name and version. The app's `HttpRouter.middleware` or `access` decides who may call; browser pages may call
 * only from `allowedOrigins`.
 *
 * **Example** (An app with another route)
 *
 * ```ts
 * import { Services, tools } from "effect-n8n-mcp"
 * import { McpServer } from "effect-n8n-mcp/mcp"
 * import { FakeN8n } from "effect-n8n-mcp/testing"
 * import * as HttpRouter from "effect/http/HttpRouter"
 * import * as HttpServer from "effect/http/HttpServer"
 * import * as HttpServerResponse from "effect/http/HttpServerResponse"
 * import * as Effect from "effect/Effect"
 * import * as Layer from "effect/Layer"
 *
 * const routes = Layer.merge(
 *   HttpRouter.add("GET", "/", HttpServerResponse.text("our app")),
 *   McpServer.layerHttp({ path: "/mcp", name: "our-app", version: "1.2.0", tools: [tools.listWorkflows] })
 * )
 *
 * // In a server: HttpRouter.serve(routes), with N8nClient.layerConfig() instead of the fake.
 * export const test = Effect.promise(async () => {
 *   const n8n = Layer.merge(FakeN8n.layer({ workflows: [], executions: [] }), Services.layerMemory)
 *   const { dispose, handler } = HttpRouter.toWebHandler(
 *     routes.pipe(Layer.provide(n8n), Layer.provide(HttpServer.layerServices)),
 *     { disableLogger: true }
 *   )
 *   const response = await handler(new Request("http://localhost/health"))
 *   const health = await response.json()
 *   await dispose()
 *   return health // { status: "ok", name: "our-app", version: "1.2.0" }
 * })
 * ```
 */
export const layerHttp = <T extends Tool.Any, M extends Tool.Middleware = never>(
  options: HttpOptions<T, M>
): Layer.Layer<never, never, HttpRouter.HttpRouter | Tool.Services<T> | Tool.Services<M>> =>
  Layer.unwrap(
    Effect.map(Effect.context<Tool.Services<T> | Tool.Services<M>>(), (context) =>
      layerHttpWith(options, () => Effect.succeed(context)))
  )
