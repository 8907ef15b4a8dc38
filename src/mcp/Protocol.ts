/** MCP without a transport: tools, resources and prompts as its methods. */
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Metric from "effect/Metric"
import * as Record from "effect/Record"
import * as Result from "effect/Result"
import type * as Scope from "effect/Scope"
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
import * as Rows from "../base/Rows.ts"
import * as Visible from "../base/Visible.ts"
import * as callContext from "./callContext.ts"
import * as contexts from "./contexts.ts"
import * as Sealing from "./eras/Sealing.ts"
import * as features from "./features.ts"
import { type Caller, type Failure, type Served, UnknownTool } from "./McpTransport.ts"
import * as Methods from "./Methods.ts"
import * as Rpc from "./Rpc.ts"
import { traced } from "./tracing.ts"

/** Contents of the server. Two tools or prompts of one name are a defect when it is built. */
export interface Options<T extends Tool.Any, M extends Tool.Middleware = never> {
  readonly name: string
  readonly version: string
  /** Instructions for the model before any tool is loaded, at most 2,000 characters. */
  readonly instructions?: string | undefined
  readonly tools: ReadonlyArray<T>
  /** Reason why a tool that is not among them is not served, and how to change that; `undefined` if it does not exist. */
  readonly absence?: (name: string) => string | undefined
  /**
   * Behaviour around the calls of all tools, including those by resources; the first is the outermost: see
   * `Tool.middleware`. A call that `access` or `contextFor` refuses does not reach it.
   */
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

/** Measures a call that ends with a result, of which `isFailure` says how it ended. */
const measured = <A, E, R>(
  name: string,
  isFailure: (result: A) => boolean,
  call: Effect.Effect<A, E, R>
): Effect.Effect<A, E, R> =>
  Effect.flatMap(
    Effect.timed(call),
    ([elapsed, result]) =>
      Effect.as(Metric.update(durationOf(name, isFailure(result)), Duration.toSeconds(elapsed)), result)
  )

/** Converts a failure for clients. */
const toFailure = (error: Errors.Failure): Failure => ({
  envelope: Visible.json(Envelope.fromError(error)),
  isServerFault: Errors.isServerFault(error)
})

/** Runs one tool and converts its failure for clients. Defects are logged and hidden. */
const run = <R>(tool: Tool.Any<R>, args: unknown): Effect.Effect<object, Failure, R> =>
  tool.run(args).pipe(
    Effect.tapError((error) => Effect.logDebug(error.message)),
    Effect.mapError(toFailure),
    Effect.catchDefect((defect) =>
      Effect.andThen(Effect.logError("tool died", defect), Effect.fail({ envelope: bug, isServerFault: true }))
    ),
    Effect.annotateLogs("tool", tool.name)
  )

/** Result of `tools/call`: an answer, or an error that the model can read. @internal */
export interface CallToolResult {
  readonly content: ReadonlyArray<{ readonly type: "text"; readonly text: string }>
  readonly structuredContent?: { readonly [key: string]: unknown }
  readonly isError?: boolean
}

const toolError = ({ envelope }: Failure): CallToolResult => ({ isError: true, content: text(envelope) })

/** Runs one tool for MCP: failures become tool errors that the model can read. @internal */
export const respond = <R>(tool: Tool.Any<R>, args: unknown): Effect.Effect<CallToolResult, never, R> =>
  Effect.match(run(tool, args), {
    onSuccess: (answer): CallToolResult => ({ content: text(answer), structuredContent: { ...answer } }),
    onFailure: toolError
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

const mapOf = <A extends { readonly name: string }>(all: ReadonlyArray<A>): ReadonlyMap<string, A> =>
  new Map(all.map((each) => [each.name, each]))

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

/** Description of the server, whose capabilities follow from its methods. */
const aboutOf = (
  { instructions, name, version }: Options<Tool.Any, Tool.Middleware>,
  methods: ReadonlySet<string>
): Methods.About => ({
  name,
  version,
  instructions,
  capabilities: {
    tools: {},
    ...(methods.has("resources/list") ? { resources: {} } : {}),
    ...(methods.has("prompts/list") ? { prompts: {} } : {}),
    ...(methods.has("completion/complete") ? { completions: {} } : {}),
    ...(methods.has("skills/list") ? { extensions: features.skillExtension } : {})
  }
})

/** Returns a function that finds the tool or prompt of a request, for its span. */
const targets =
  (tools: ReadonlyMap<string, unknown>, prompts: ReadonlyMap<string, unknown>) => (method: string, params: Obj) => {
    const named = (attribute: string, all: ReadonlyMap<string, unknown>) => {
      const { name } = params
      return { attribute, name: typeof name === "string" && all.has(name) ? name : undefined }
    }
    if (method === "tools/call") return named("gen_ai.tool.name", tools)
    return method === "prompts/get" ? named("gen_ai.prompt.name", prompts) : undefined
  }

type ContextFor<P> = (caller: Caller) => Effect.Effect<Context.Context<P>, Errors.Failure, Scope.Scope>

/** Returns a function that runs an effect in the context of a call. */
const runner = <T extends Tool.Any, M extends Tool.Middleware, P>(
  { middleware = [], tools }: Options<T, M>,
  shared: Context.Context<Exclude<Tool.Services<T | M>, P>>,
  contextFor: ContextFor<P> | undefined
) => {
  type Services = Tool.Services<T | M>
  // The contexts of calls contain the services of the tools.
  const serving = Context.make(Tool.CurrentTools, tools as ReadonlyArray<Tool.Any> as never).pipe(
    Context.add(Tool.CurrentMiddleware, middleware)
  )
  const whole = contexts.layered(Context.merge(shared, serving))
  // Most callers of one n8n have the same context.
  const joined = new WeakMap<Context.Context<P>, typeof whole>()
  const join = (own: Context.Context<P>) => {
    const known = joined.get(own) ?? contexts.layered(Context.mergeAll(shared, own, serving))
    joined.set(own, known)
    return known
  }
  /** `refuse` answers a caller for whom there is no context. */
  return <A, E>(
    caller: Caller,
    effect: Effect.Effect<A, E, Services>,
    refuse: (error: Errors.Failure) => Effect.Effect<A, E>
  ): Effect.Effect<A, E> => {
    const provide = (context: Context.Context<never>) =>
      Effect.updateContext(effect, (current: Context.Context<never>) => {
        const own = Context.add(contexts.above(context as Context.Context<Services>, current), Author, caller.subject)
        return caller.readOnly === true ? Context.add(own, Tool.ReadOnly, true) : own
      })
    if (contextFor === undefined) return provide(whole)
    const own = contextFor(caller)
    // A context that is there needs no scope.
    return Exit.isExit(own) && Exit.isSuccess(own) ?
      provide(join(own.value as Context.Context<P>)) :
      Effect.scoped(Effect.matchEffect(own, {
        onFailure: (error) => Effect.andThen(Effect.logDebug(error.message), refuse(error)),
        onSuccess: (own) => provide(join(own))
      }))
  }
}

/**
 * Methods of a server, which a transport serves. Without `contextFor` all calls have the `shared` services alone, and no
 * scope.
 * @internal
 */
export const make = <T extends Tool.Any, M extends Tool.Middleware = never, P = never>(
  options: Options<T, M>,
  shared: Context.Context<Exclude<Tool.Services<T | M>, P>>,
  contextFor?: ContextFor<P>
): Effect.Effect<Served> =>
  Effect.gen(function*() {
    const tools = widened(Rows.distinct("tools", options.tools, ({ name }) => name))
    const byName = mapOf(tools)
    const isServed = ({ tool }: Resource.Resource) => tools.some(({ name }) => name === tool)
    const resources = (options.resources ?? []).filter(isServed)
    const apps = tools.flatMap(({ app }) => app ?? [])
    const prompts = Rows.distinct("prompts", options.prompts ?? [], ({ name }) => name)
    const { skills = [] } = options
    const hasResources = resources.length + apps.length + skills.length > 0
    const hasCompletions = resources.length + prompts.length > 0
    /** Tool of the caller, whether it may be called or not. */
    const toolOf = (name: string) =>
      Effect.map(Tool.Withheld, (withheld) => withheld.has(name) ? undefined : byName.get(name))
    /** Tools of the caller, before the read-only filter. */
    const served = Effect.map(
      Tool.Withheld,
      (withheld) => withheld.size === 0 ? tools : tools.filter(({ name }) => !withheld.has(name))
    )
    const unknown = (name: string) => Effect.map(served, (tools) => unknownTool(tools, name, options))
    const offered = Effect.flatMap(served, (tools) =>
      Effect.map(Tool.ReadOnly, (readOnly) => Tool.offered(tools, readOnly)))

    const within = runner(options, shared, contextFor)

    /** Tools for a caller without a context, so that a client knows which calls would tell the reason. */
    const known = ({ readOnly = false }: Caller) =>
      Tool.offered(tools, readOnly)

    /** Measures the call of a tool of the server, also one that `contextFor` refuses. */
    const counted = <A, E>(name: unknown, isFailure: (result: A) => boolean, call: Effect.Effect<A, E>) =>
      typeof name === "string" && byName.has(name) ? measured(name, isFailure, call) : call

    const targetOf = targets(byName, mapOf(prompts))
    const tracedMethods = (methods: Methods.Methods): Methods.Methods =>
      Record.map(methods, (answer, method) => (request) =>
        traced(method, request.params, targetOf(method, request.params))(answer(request)))

    const refused = (error: Errors.Failure) =>
      Effect.fail(features.rpcError(error, Rpc.codes.refused))

    /** Method that runs in the context of the caller. */
    const forCaller = <A extends object>(
      answer: (request: Methods.Request) => Effect.Effect<A, Rpc.RpcError, Tool.Services<T | M>>,
      refuse: (error: Errors.Failure) => Effect.Effect<A, Rpc.RpcError> = refused
    ) =>
    (request: Methods.Request): Effect.Effect<A, Rpc.RpcError> =>
      within(request.caller, answer(request), refuse)

    const list: Served["list"] = (caller) => within(caller, offered, () => Effect.succeed(known(caller)))

    const callTool = forCaller<CallToolResult>(
      Effect.fnUntraced(function*(request) {
        const name = yield* features.text(request.params, "name")
        const tool = yield* toolOf(name)
        if (tool === undefined) return yield* Rpc.invalidParams(yield* unknown(name))
        const answer = Methods.showsApps(request.capabilities) ? respondWithView : respond
        return yield* callContext.provide(request)(answer(tool, request.params["arguments"]))
      }),
      (error) => Effect.succeed(toolError(toFailure(error)))
    )

    const methods = tracedMethods({
      "tools/list": ({ caller, capabilities }) =>
        Effect.map(list(caller), (tools) => ({
          tools: tools.map((tool) => listingOf(tool, Methods.showsApps(capabilities)))
        })),
      "tools/call": (request) =>
        Effect.map(
          counted(request.params["name"], ({ isError }) => isError === true, callTool(request)),
          (result) => ({ ...result })
        ),
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
    const sealing = options.sealing ?? (yield* Sealing.memory)

    const call: Served["call"] = (caller, name, args) =>
      counted(
        name,
        Result.isFailure,
        within(
          caller,
          Effect.flatMap(toolOf(name), (tool) =>
            tool === undefined
              ? Effect.flatMap(unknown(name), (message) => Effect.fail(new UnknownTool({ message })))
              : traced("tools/call", {}, targetOf("tools/call", { name }))(Effect.result(run(tool, args)))),
          (error) => Effect.succeed(Result.fail(toFailure(error)))
        )
      )

    return { about: aboutOf(options, new Set(Object.keys(methods))), methods, sealing, list, call }
  })
