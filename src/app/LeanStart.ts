/** Immediate answers to a client's first requests over stdio, prepared at build time, while the program loads. */
import * as Context from "effect/Context"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import * as Option from "effect/Option"
import * as Scope from "effect/Scope"
import { readFileSync } from "node:fs"
import type { Obj } from "../base/Json.ts"
import { McpTransport, type Served } from "../mcp/McpTransport.ts"
import * as Methods from "../mcp/Methods.ts"
import * as Stdio from "../mcp/stdio/Stdio.ts"
import * as Choice from "../tools/Choice.ts"
import * as PlainOptions from "./config/PlainOptions.ts"

interface Listing {
  readonly name: string
  readonly annotations: { readonly readOnlyHint: boolean }
}

/** Description of the server before the program is loaded. */
export interface Prepared {
  readonly about: Methods.About
  readonly methods: ReadonlyArray<string>
  /** Results that depend on no option. */
  readonly results: { readonly [method: string]: Obj }
  readonly options: ReadonlyArray<PlainOptions.Option>
  readonly names: Choice.Names
  /** Names of the tools that `FirstCalls` answers. */
  readonly first: ReadonlyArray<string>
  /** Tools as `tools/list` shows them, and those with other parameters beside a tool for projects. */
  readonly tools: ReadonlyArray<Listing>
  readonly extended: ReadonlyArray<Listing>
  readonly templates: ReadonlyArray<{ readonly tool: string; readonly template: Obj }>
}

/** Values of the options of a start, and what depends on them. */
export interface Plan {
  readonly values: PlainOptions.Values
  readonly results: Prepared["results"]
  /** Names of the listed tools that `FirstCalls` answers. */
  readonly first: ReadonlySet<unknown>
}

/** Plan for these arguments and variables; `undefined` if the program has to decide. */
export const plan = (
  { extended, first, names, options, results, templates, tools }: Prepared,
  args: ReadonlyArray<string>,
  env: NodeJS.ProcessEnv
): Plan | undefined => {
  const values = PlainOptions.read(args, env, options)
  if (values === undefined || values.get("transport")?.[0] === "http") return undefined
  if (values.get("policy")?.every(PlainOptions.isPolicy) === false) return undefined
  const isReadOnly = PlainOptions.isReadOnly(values, env)
  const list = (name: string) => values.get(name) ?? []
  const chosen = Choice.choose(names, {
    toolsets: list("toolsets"),
    tools: list("tools"),
    excludeTools: list("exclude-tools"),
    hasFiles: true,
    credentialEnv: list("credential-env").length > 0
  })
  if (isReadOnly === undefined || "_tag" in chosen) return undefined
  const own = new Map(chosen.has(names.projectList) ? extended.map((tool) => [tool.name, tool]) : [])
  const listed = tools.filter(({ annotations, name }) => chosen.has(name) && !(isReadOnly && !annotations.readOnlyHint))
  return {
    values,
    first: new Set(listed.flatMap(({ name }) => first.includes(name) ? name : [])),
    results: {
      ...results,
      "tools/list": { tools: listed.map((tool) => own.get(tool.name) ?? tool) },
      "resources/templates/list": {
        resourceTemplates: templates.flatMap(({ template, tool }) => chosen.has(tool) ? template : [])
      }
    }
  }
}

/** Reads the file that the build writes beside the program; `undefined` when running from source. */
export const read = (file: URL): Prepared | undefined => {
  try {
    return JSON.parse(readFileSync(file, "utf8")) as Prepared
  } catch {
    return undefined
  }
}

/** Delay of loading: after the first answers, and before the package could be replaced. */
const loadAfter = "1 second"

/** Additional time for calls that waited for the program, since the first use of each module is slow. */
const firstCall = "2 seconds"

/** The parts that are loaded later. */
export interface Parts {
  /** Answers calls of the plan's first tools; fails if only the program can explain the error. */
  readonly firstCalls: Effect.Effect<Methods.Method, unknown, Scope.Scope>
  readonly program: (transport: Layer.Layer<McpTransport>) => Effect.Effect<unknown, unknown>
}

/** Serves until stdin ends; fails if the program fails, which prints the reason. */
export const serve = (
  { about, methods }: Prepared,
  { first, results }: Plan,
  { firstCalls, program }: Parts
): Effect.Effect<void, unknown> =>
  Effect.gen(function*() {
    const loaded = yield* Deferred.make<{ readonly served: Served; readonly context: Context.Context<never> }>()
    const failed = yield* Deferred.make<never, unknown>()
    const attached = Layer.succeed(McpTransport, {
      serve: Effect.fnUntraced(function*(served) {
        yield* Deferred.succeed(loaded, { served, context: yield* Effect.context<never>() })
        return yield* Effect.never
      })
    })
    const scope = yield* Effect.scope
    let isLoading = false
    const load = yield* Effect.cached(
      program(attached).pipe(
        Effect.onError((cause) => Deferred.failCause(failed, cause)),
        Effect.forkIn(scope)
      )
    )
    const whole = Effect.suspend(() => {
      isLoading = true
      return Effect.andThen(load, Deferred.await(loaded))
    })
    const ready = Effect.suspend(() =>
      isLoading && !Deferred.isDoneUnsafe(loaded)
        ? Effect.raceFirst(Effect.andThen(Deferred.await(loaded), Effect.sleep(firstCall)), Deferred.await(failed))
        : Effect.void
    )
    const use = <A, E>(run: (served: Served) => Effect.Effect<A, E>) =>
      Effect.flatMap(whole, ({ context, served }) => Effect.provideContext(run(served), context))
    const later = (method: string): Methods.Method => (request) =>
      use(({ methods }) => Methods.run(methods, method, request))
    const answerFirst = yield* Effect.cached(Effect.option(Effect.provideService(firstCalls, Scope.Scope, scope)))
    /** Calls a tool; one of `first` does not wait for the program. */
    const call: Methods.Method = (request) =>
      Effect.flatMap(
        !isLoading && first.has(request.params["name"]) ? answerFirst : Effect.succeedNone,
        (answer) => Option.getOrElse(answer, () => later("tools/call"))(request)
      )
    yield* Effect.forkScoped(Effect.delay(whole, loadAfter))
    const stdio = yield* Layer.build(Stdio.layerStreams(process.stdin, process.stdout, Effect.ignore(ready)))
    const transport = Context.get(stdio, McpTransport)
    yield* Effect.raceFirst(
      transport.serve({
        about,
        methods: Object.fromEntries(methods.map((method) => [
          method,
          (request: Methods.Request) => {
            if (method === "tools/call") return call(request)
            const result = results[method]
            // The prepared list is for clients that show no pages of tools.
            const isOther = method === "tools/list" && Methods.showsApps(request.capabilities)
            return result === undefined || isOther ? later(method)(request) : Effect.succeed(result)
          }
        ])),
        sealing: {
          seal: (content, about) => use(({ sealing }) => sealing.seal(content, about)),
          open: (sealed, about) => use(({ sealing }) => sealing.open(sealed, about))
        },
        list: (caller) => use(({ list }) => list(caller)),
        call: (caller, name, args) => use(({ call }) => call(caller, name, args))
      }),
      Deferred.await(failed)
    )
  }).pipe(
    Effect.scoped,
    Effect.provide(Logger.layer([Logger.withConsoleError(Logger.formatLogFmt)]))
  )
