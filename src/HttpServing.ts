/** The server over HTTP, put together as the options say; loaded only when it is wanted. */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as HttpServer from "effect/http/HttpServer"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import { listed, values } from "./HttpOptions.ts"
import * as McpServer from "./McpServer.ts"
import { N8nClient } from "./N8nClient.ts"
import * as Options from "./Options.ts"
import type * as Services from "./Services.ts"
import type * as Tool from "./Tool.ts"
import * as ToolContext from "./ToolContext.ts"
import * as Http from "./transport/Http.ts"
import * as Access from "./transport/http/Access.ts"
import * as Hosts from "./transport/http/Hosts.ts"
import * as NodeServer from "./transport/http/NodeServer.ts"
import * as Upstreams from "./Upstreams.ts"

const refuse = (message: string) => Effect.fail(new Options.InvalidOption({ message }))

/** Calls of one token in a minute, unless told: an agent makes some in a second. */
const callsPerMinute = 1200

const tokenVariable = (env: NodeJS.ProcessEnv) => listed(env["N8N_MCP_AUTH_TOKEN"]).map((token) => Redacted.make(token))

/** Every token with the n8n it leads to. */
const grantsOf = Effect.fnUntraced(function*(
  options: Options.Options,
  { upstreams, usual }: Effect.Success<ReturnType<typeof Upstreams.all>>
) {
  const own = options.authToken.length > 0 ? options.authToken : tokenVariable(process.env)
  if (own.length > 0 && usual === undefined) {
    return yield* refuse("--auth-token leads to one profile: say which with --profile")
  }
  const grants: ReadonlyArray<Access.Grant> = [
    ...own.map((token) => ({ token, client: usual?.name })),
    ...upstreams.flatMap(({ name, tokens }) => tokens.map((token) => ({ token, client: name })))
  ]
  const owners = new Map<string, string | undefined>()
  for (const { client, token } of grants) {
    const text = Redacted.value(token)
    if (!/^\S+$/.test(text)) return yield* refuse("A token is empty, or has spaces in it")
    if (owners.has(text) && owners.get(text) !== client) {
      return yield* refuse(`Profiles '${owners.get(text)}' and '${client}' have the same token`)
    }
    owners.set(text, client)
  }
  if (grants.length === 0 && !Hosts.isLoopback(options.host)) {
    return yield* refuse(
      `Listening on ${options.host} needs a token: set N8N_MCP_AUTH_TOKEN (--auth-token), such as $(openssl rand -hex 32)`
    )
  }
  if (grants.length === 0 && usual === undefined) {
    return yield* refuse("Several profiles: give each its tokens, or name one with --profile")
  }
  const unreachable = upstreams.filter(({ name }) => grants.length > 0 && !grants.some(({ client }) => client === name))
  yield* Effect.forEach(unreachable, ({ name }) => Effect.logWarning(`no token leads to profile '${name}'`))
  return grants
})

const checkBounds = ({ maxCalls, port, rateLimit }: Options.Options) =>
  port < 0 || port > 65_535
    ? refuse("--port must be between 0 and 65535")
    : maxCalls < 1
    ? refuse("--max-calls must be at least 1")
    : Option.isSome(rateLimit) && rateLimit.value < 0
    ? refuse("--rate-limit must be 0 or more")
    : Effect.void

/** How long who asks for the health waits for n8n; the look itself goes on, for who asks next. */
const patience = "800 millis"

/** Whether n8n answers; it is asked every ten seconds at most, and only when somebody wants to know. */
const health = Effect.fnUntraced(function*(clients: ReadonlyArray<typeof N8nClient.Service>) {
  const answer = (client: typeof N8nClient.Service) =>
    client.about.pipe(
      Effect.as("ok"),
      Effect.catchTag("ValidationError", () => Effect.succeed("not configured")),
      Effect.timeout("5 seconds"),
      Effect.orElseSucceed(() => "no answer")
    )
  const look = Effect.forEach(clients, answer, { concurrency: 8 }).pipe(
    Effect.map((answers) => new Set(answers).size === 1 ? answers[0] ?? "not configured" : "partly")
  )
  const looking = yield* Effect.cachedWithTTL(Effect.forkIn(look, yield* Effect.scope), "10 seconds")
  // The first look is the slowest.
  yield* looking
  return Effect.flatMap(looking, Fiber.join).pipe(
    Effect.timeoutOption(patience),
    Effect.map(Option.getOrElse(() => "no answer"))
  )
})

const announce = (needsToken: boolean) =>
  Effect.flatMap(HttpServer.HttpServer, ({ address }) =>
    Effect.annotateLogs(Effect.logInfo("serving MCP over HTTP"), {
      address: HttpServer.formatAddress(address),
      token: needsToken ? "needed" : "not needed"
    }))

/** Serves until it is interrupted. */
export const serve = (
  mcp: McpServer.Options<Tool.Any<N8nClient | Services.Services>>,
  options: Options.Options
) =>
  Effect.gen(function*() {
    yield* checkBounds(options)
    const found = yield* Upstreams.all(options)
    const grants = yield* grantsOf(options, found)
    const shared = yield* Layer.build(ToolContext.shared(options))
    const contexts = new Map(
      yield* Effect.forEach(found.upstreams, (upstream) =>
        Effect.map(
          Layer.build(Upstreams.layerOf(upstream)),
          (own) => [upstream.name, Context.merge(shared, own)] as const
        ))
    )
    const { maxCalls, rateLimit } = options
    const perMinute = Option.getOrElse(rateLimit, () => grants.length > 0 ? callsPerMinute : 0)
    const transport = Http.layer({
      host: options.host,
      allowedHosts: values(options.allowedHosts, process.env["N8N_MCP_ALLOWED_HOSTS"]),
      allowedOrigins: values(options.allowedOrigins, process.env["N8N_MCP_ALLOWED_ORIGINS"]),
      access: Access.make(grants, found.usual?.name),
      callsPerMinute: perMinute === 0 ? undefined : perMinute,
      maxInFlight: maxCalls,
      n8n: yield* health([...contexts.values()].map((context) => Context.get(context, N8nClient)))
    })
    yield* announce(grants.length > 0).pipe(
      Effect.andThen(McpServer.serveWith(mcp, ({ client }) => {
        const context = contexts.get(client)
        return context === undefined ? Effect.die(`no profile '${client}'`) : Effect.succeed(context)
      })),
      Effect.provide(Layer.provideMerge(transport, NodeServer.layer(options))),
      Effect.catchTag("ServeError", ({ cause }) =>
        refuse(`Cannot listen on ${options.host}:${options.port}: ${cause instanceof Error ? cause.message : cause}`))
    )
  }).pipe(Effect.scoped)
