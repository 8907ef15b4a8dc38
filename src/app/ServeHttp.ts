/** Server over HTTP by the options; loaded on demand. */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as FetchHttpClient from "effect/http/FetchHttpClient"
import * as HttpServer from "effect/http/HttpServer"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as Tool from "../answer/Tool.ts"
import type { Database } from "../base/Database.ts"
import * as Access from "../mcp/http/Access.ts"
import * as Hosts from "../mcp/http/Hosts.ts"
import * as Http from "../mcp/http/Http.ts"
import * as NodeServer from "../mcp/http/NodeServer.ts"
import * as McpServer from "../mcp/McpServer.ts"
import { N8nClient } from "../n8n/N8nClient.ts"
import * as Toolsets from "../tools/Toolsets.ts"
import * as Options from "./config/Options.ts"
import * as State from "./config/State.ts"
import * as Upstreams from "./config/Upstreams.ts"
import type * as Services from "./Services.ts"
import * as ToolContext from "./ToolContext.ts"

/** Default of `--rate-limit` with tokens: an agent makes a few calls a second. */
const callsPerMinute = 1200

/** Minimum length of a token; shorter ones can be guessed. */
const minTokenChars = 16

const tokenProblem = (token: string) =>
  !/^\S+$/.test(token)
    ? "A token is empty or contains spaces"
    : token.includes("${")
    ? "A token contains '${': a variable was not expanded"
    : token.length < minTokenChars
    ? `A token needs ${minTokenChars} characters or more, such as $(openssl rand -hex 32)`
    : undefined

type Loaded = Effect.Success<ReturnType<typeof Upstreams.load>>

const grantsOf = Effect.fnUntraced(function*(
  options: Options.Options,
  { defaultUpstream, upstreams }: Loaded,
  hasIssuer: boolean
) {
  if (options.authToken.length > 0 && defaultUpstream === undefined) {
    return yield* Options.refuse("--auth-token gives access to one profile: choose it with --profile")
  }
  const grants: ReadonlyArray<Access.Grant> = [
    ...options.authToken.map((token) => ({ token, client: defaultUpstream?.name })),
    ...upstreams.flatMap(({ name, tokens }) => tokens.map((token) => ({ token, client: name })))
  ]
  const owners = new Map<string, string | undefined>()
  for (const { client, token } of grants) {
    const text = Redacted.value(token)
    const problem = tokenProblem(text)
    if (problem !== undefined) return yield* Options.refuse(problem)
    if (owners.has(text) && owners.get(text) !== client) {
      return yield* Options.refuse(`Profiles '${owners.get(text)}' and '${client}' have the same token`)
    }
    owners.set(text, client)
  }
  if (hasIssuer) return grants
  if (grants.length === 0 && !Hosts.isLoopback(options.host)) {
    return yield* Options.refuse(
      `Listening on ${options.host} needs a token: set N8N_MCP_AUTH_TOKEN (--auth-token), such as $(openssl rand -hex 32), or an identity provider (--oauth-issuer)`
    )
  }
  if (grants.length === 0 && defaultUpstream === undefined) {
    return yield* Options.refuse("Several profiles: give each its tokens, or choose one with --profile")
  }
  const unreachable = upstreams.filter(({ name }) => grants.length > 0 && !grants.some(({ client }) => client === name))
  yield* Effect.forEach(unreachable, ({ name }) => Effect.logWarning(`no token leads to profile '${name}'`))
  return grants
})

const oauth = Effect.fnUntraced(function*(options: Options.Options, { defaultUpstream, upstreams }: Loaded) {
  if (options.oauthIssuer === undefined && options.publicUrl === undefined) return { publicHost: [] }
  const [OAuthOptions, OAuth, Issuer] = yield* Effect.promise(() =>
    Promise.all([import("./config/OAuthOptions.ts"), import("../mcp/http/OAuth.ts"), import("../mcp/http/Issuer.ts")])
  )
  const { address, issued } = yield* OAuthOptions.load(options)
  const publicHost = address === undefined ? [] : [address.host]
  if (issued === undefined) return { publicHost }
  const target = (upstream: Upstreams.Upstream | undefined) =>
    upstream === undefined ? undefined : { client: upstream.name, readOnly: upstream.readOnly }
  const keys = yield* Issuer.make(issued.issuer)
  // Read in advance, so that the first caller does not wait for them.
  yield* Effect.forkScoped(Effect.ignore(keys.current))
  return {
    publicHost,
    resource: issued.resource,
    access: OAuth.access({
      ...issued,
      // Without --config no upstream has a name, so a token that names a profile is refused.
      targetOf: (profile) =>
        target(profile === undefined ? defaultUpstream : upstreams.find(({ name }) => name === profile))
    }, keys)
  }
}, Effect.provide(FetchHttpClient.layer))

/** Store of rate limits: the database of the state, for all servers that share it. */
const limits = Effect.fnUntraced(function*(options: Options.Options) {
  const place = yield* State.place(options, process.env)
  if (place._tag === "Folder") return undefined
  const { layerStore } = yield* Effect.promise(() => import("../mcp/http/SqlRateLimits.ts"))
  return Layer.provide(layerStore, place.database)
})

/** Time that /health waits for n8n and the database; their checks continue for the next /health. */
const healthTimeout = "800 millis"

const n8nHealth = (client: typeof N8nClient.Service) =>
  client.about.pipe(
    Effect.as("ok"),
    Effect.catchTag("ValidationError", () => Effect.succeed("not configured")),
    Effect.timeout("5 seconds"),
    Effect.orElseSucceed(() => "no answer")
  )

const databaseHealth = ({ run }: Pick<Database["Service"], "run">) =>
  run((sql) => sql`SELECT 1`).pipe(Effect.as("ok"), Effect.orElseSucceed(() => "no answer"))

/** Whether these answer, if there are any; asked at most every ten seconds, and only for /health. */
const health = Effect.fnUntraced(function*(all: ReadonlyArray<Effect.Effect<string>>) {
  if (all.length === 0) return undefined
  const check = Effect.all(all, { concurrency: 8 }).pipe(
    Effect.map((answers) => new Set(answers).size === 1 ? answers[0] ?? "no answer" : "partly")
  )
  const checking = yield* Effect.cachedWithTTL(Effect.forkIn(check, yield* Effect.scope), "10 seconds")
  // The first check is the slowest.
  yield* checking
  const orElse = () => Effect.succeed("no answer")
  return Effect.timeoutOrElse(Effect.flatMap(checking, Fiber.join), { duration: healthTimeout, orElse })
})

const announce = (needsToken: boolean) =>
  Effect.flatMap(HttpServer.HttpServer, ({ address }) =>
    Effect.annotateLogs(Effect.logInfo("serving MCP over HTTP"), {
      address: HttpServer.formatAddress(address),
      token: needsToken ? "needed" : "not needed"
    }))

export const serve = Effect.fnUntraced(function*(
  mcp: McpServer.Options<Tool.Any<N8nClient | Services.Services>>,
  options: Options.Options
) {
  const loaded = yield* Upstreams.load(options)
  const issued = yield* oauth(options, loaded)
  const grants = yield* grantsOf(options, loaded, issued.access !== undefined)
  const needsToken = grants.length > 0 || issued.access !== undefined
  const all = yield* Effect.forEach(loaded.upstreams, yield* ToolContext.make(options))
  const contexts = new Map(
    all.map(({ context, filesRoots, name }) =>
      [name, filesRoots.length > 0 ? context : Context.add(context, Tool.Withheld, Toolsets.needsFiles)] as const
    )
  )
  const { allowedHosts, allowedOrigins, host, maxCalls, rateLimit = needsToken ? callsPerMinute : 0 } = options
  const transport = Http.layer({
    host,
    allowedHosts: [...allowedHosts, ...issued.publicHost],
    allowedOrigins,
    access: Access.make(grants, loaded.defaultUpstream?.name, issued.access),
    resource: issued.resource,
    limits: yield* limits(options),
    callsPerMinute: rateLimit === 0 ? undefined : rateLimit,
    maxInFlight: maxCalls,
    maxInFlightPerToken: grants.length > 1 || issued.access !== undefined ? Math.ceil(maxCalls / 2) : maxCalls,
    n8n: yield* health(all.map(({ context }) => n8nHealth(Context.get(context, N8nClient)))),
    state: yield* health(
      [...new Set(all.map(({ state }) => state))].flatMap((state) =>
        typeof state === "string" ? [] : [databaseHealth(state)]
      )
    )
  })
  yield* announce(needsToken).pipe(
    Effect.andThen(McpServer.serveWith(mcp, ({ client }) => {
      const context = contexts.get(client)
      return context === undefined ? Effect.die(new Error(`no profile '${client}'`)) : Effect.succeed(context)
    })),
    Effect.provide(Layer.provideMerge(transport, NodeServer.layer(options))),
    Effect.catchTag("ServeError", ({ cause }) =>
      Options.refuse(
        `Cannot listen on ${options.host}:${options.port}: ${cause instanceof Error ? cause.message : cause}`
      ))
  )
}, Effect.scoped)
