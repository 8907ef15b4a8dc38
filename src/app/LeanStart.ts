/** Immediate answers to a client's first requests over stdio, prepared at build time, while the program loads. */
import * as Context from "effect/Context"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import { readFileSync } from "node:fs"
import type { Obj } from "../base/Json.ts"
import { McpTransport, type Served } from "../mcp/McpTransport.ts"
import * as Methods from "../mcp/Methods.ts"
import * as Stdio from "../mcp/stdio/Stdio.ts"
import { isApiKey } from "./config/ApiKey.ts"
import * as ConfigPlace from "./config/ConfigPlace.ts"

/** Description of the server before the program is loaded. */
export interface Prepared {
  readonly about: Methods.About
  readonly methods: ReadonlyArray<string>
  readonly results: { readonly [method: string]: Obj }
}

export const constant: ReadonlyArray<string> = ["tools/list", "prompts/list", "resources/templates/list"]

/** Variables that may change prepared results, or name a file that may be refused at the start. */
export const affectsPrepared: ReadonlyArray<string> = [
  "N8N_MCP_CONFIG",
  "N8N_MCP_CREDENTIAL_ENV",
  "N8N_MCP_EXCLUDE_TOOLS",
  "N8N_MCP_N8N_HEADER",
  "N8N_MCP_POLICY",
  "N8N_MCP_PROFILE",
  "N8N_MCP_READ_ONLY",
  "N8N_MCP_TOOLS",
  "N8N_MCP_TOOLSETS",
  "N8N_MCP_TRANSPORT"
]

/** Whether a configuration is one profile as `init` writes it, which changes no prepared result. */
const isPlain = (place: ConfigPlace.Place | undefined): boolean => {
  if (place === undefined || place.isOpen) return true
  try {
    const { profiles: [profile, ...others] } = JSON.parse(readFileSync(place.file, "utf8"))
    const { apiKey, name, url, ...rest } = profile
    return others.length === 0 && Object.keys(rest).length === 0 && typeof name === "string" && name !== "" &&
      isApiKey(apiKey) && URL.canParse(url)
  } catch {
    return false
  }
}

/** Whether the prepared results hold for this command line and environment, and neither can be refused. */
export const usesPrepared = (args: ReadonlyArray<string>, env: NodeJS.ProcessEnv): boolean => {
  const { N8N_API_KEY: key, N8N_URL: url } = env
  return args.every((arg) => arg === "--demo") && affectsPrepared.every((name) => !env[name]) &&
    (!key || isApiKey(key)) && (!url || URL.canParse(url)) &&
    (Boolean(key) || Boolean(url) || args.length > 0 || isPlain(ConfigPlace.find(env)))
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

/** Serves until stdin ends; fails if the program does, which then has printed the reason. */
export const serve = (
  { about, methods, results }: Prepared,
  program: Effect.Effect<(transport: Layer.Layer<McpTransport>) => Effect.Effect<unknown, unknown>>
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
      Effect.flatMap(program, (make) => make(attached)).pipe(
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
    const later = (method: string): Methods.Method => (request) =>
      Effect.flatMap(
        whole,
        ({ context, served }) => Effect.provideContext(Methods.run(served.methods, method, request), context)
      )
    yield* Effect.forkScoped(Effect.delay(whole, loadAfter))
    const stdio = yield* Layer.build(Stdio.layerStreams(process.stdin, process.stdout, Effect.ignore(ready)))
    const transport = Context.get(stdio, McpTransport)
    yield* Effect.raceFirst(
      transport.serve({
        about,
        methods: Object.fromEntries(methods.map((method) => {
          const result = results[method]
          if (result === undefined) return [method, later(method)]
          // The prepared list is for clients that show no pages of tools.
          return [
            method,
            (request) =>
              method === "tools/list" && Methods.showsApps(request.capabilities)
                ? later(method)(request)
                : Effect.succeed(result)
          ]
        })),
        sealing: {
          seal: (content, about) => Effect.flatMap(whole, ({ served }) => served.sealing.seal(content, about)),
          open: (sealed, about) => Effect.flatMap(whole, ({ served }) => served.sealing.open(sealed, about))
        },
        list: (caller) => Effect.flatMap(whole, ({ served }) => served.list(caller)),
        call: (caller, name, args) => Effect.flatMap(whole, ({ served }) => served.call(caller, name, args))
      }),
      Deferred.await(failed)
    )
  }).pipe(
    Effect.scoped,
    Effect.provide(Logger.layer([Logger.withConsoleError(Logger.formatLogFmt)]))
  )
