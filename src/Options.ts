/** What can be set, on the command line or in the environment; the command line wins. */
import * as Flag from "effect/cli/Flag"
import * as Config from "effect/Config"
import * as ConfigProvider from "effect/ConfigProvider"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as FetchHttpClient from "effect/http/FetchHttpClient"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import type * as Redacted from "effect/Redacted"
import { delimiter, resolve } from "node:path"
import * as HttpOptions from "./HttpOptions.ts"
import * as Locale from "./Locale.ts"
import * as Minimize from "./Minimize.ts"
import * as N8nClient from "./N8nClient.ts"
import * as Profiles from "./Profiles.ts"
import * as Services from "./Services.ts"
import * as Snapshots from "./Snapshots.ts"
import * as Tool from "./Tool.ts"
import * as tools from "./tools/index.ts"
import * as selection from "./tools/selection.ts"

/** The options of every command; each names its environment twin in the description. */
export const flags = {
  n8nUrl: Flag.String("n8n-url").pipe(
    Flag.withDescription("Address of n8n, as its editor has it in a browser [N8N_URL]"),
    Flag.withMetavar("URL"),
    Flag.withFallbackConfig(Config.String("N8N_URL")),
    Flag.optional
  ),
  apiKey: Flag.Redacted("api-key").pipe(
    Flag.withDescription("n8n API key; better set in the environment, where no process list shows it [N8N_API_KEY]"),
    Flag.withMetavar("KEY"),
    Flag.withFallbackConfig(Config.Redacted("N8N_API_KEY")),
    Flag.optional
  ),
  webhookUrl: Flag.String("webhook-url").pipe(
    Flag.withDescription(
      "Address of n8n's production webhooks, where it is not N8N_URL; n8n has it as WEBHOOK_URL [N8N_MCP_WEBHOOK_URL]"
    ),
    Flag.withMetavar("URL"),
    Flag.withFallbackConfig(Config.String("N8N_MCP_WEBHOOK_URL")),
    Flag.optional
  ),
  config: Flag.String("config").pipe(
    Flag.withDescription("File that names several n8n instances as profiles [N8N_MCP_CONFIG]"),
    Flag.withMetavar("FILE"),
    Flag.withFallbackConfig(Config.String("N8N_MCP_CONFIG")),
    Flag.optional
  ),
  profile: Flag.String("profile").pipe(
    Flag.withDescription("Which of them is meant; over HTTP, for the tokens of --auth-token [N8N_MCP_PROFILE]"),
    Flag.withMetavar("NAME"),
    Flag.withFallbackConfig(Config.String("N8N_MCP_PROFILE")),
    Flag.optional
  ),
  demo: Flag.Boolean("demo").pipe(
    Flag.withDescription("Serve an n8n in memory with a few workflows and executions [N8N_MCP_DEMO]"),
    Flag.withFallbackConfig(Config.Boolean("N8N_MCP_DEMO")),
    Flag.withDefault(false)
  ),
  locale: Flag.Literals("locale", Locale.locales).pipe(
    Flag.withDescription("Language of an answer's message [N8N_MCP_LOCALE]"),
    Flag.withFallbackConfig(Config.Literals(Locale.locales, "N8N_MCP_LOCALE")),
    Flag.withDefault("en" as const)
  ),
  maxResultChars: Flag.Int("max-result-chars").pipe(
    Flag.withDescription(
      `Most characters in one answer, ${Minimize.minResultChars} or more [N8N_MCP_MAX_RESULT_CHARS]`
    ),
    Flag.withMetavar("N"),
    Flag.withFallbackConfig(Config.Int("N8N_MCP_MAX_RESULT_CHARS")),
    Flag.withDefault(40_000)
  ),
  maxExecutionMb: Flag.Int("max-execution-mb").pipe(
    Flag.withDescription("Largest execution that is read, in MB of JSON [N8N_MCP_MAX_EXECUTION_MB]"),
    Flag.withMetavar("N"),
    Flag.withFallbackConfig(Config.Int("N8N_MCP_MAX_EXECUTION_MB")),
    Flag.withDefault(512)
  ),
  readOnly: Flag.Boolean("read-only").pipe(
    Flag.withDescription("Offer no tool that changes anything; wins over everything else [N8N_MCP_READ_ONLY]"),
    Flag.withFallbackConfig(Config.Boolean("N8N_MCP_READ_ONLY")),
    Flag.withDefault(false)
  ),
  toolsets: Flag.String("toolsets").pipe(
    Flag.withDescription(
      `Offer only these tools: ${
        Object.keys(tools.toolsets).join(", ")
      }; may be given several times, or with commas between [N8N_MCP_TOOLSETS]`
    ),
    Flag.withMetavar("NAMES"),
    Flag.atLeast(0)
  ),
  tools: Flag.String("tools").pipe(
    Flag.withDescription("Offer these tools, besides those of --toolsets [N8N_MCP_TOOLS]"),
    Flag.withMetavar("NAMES"),
    Flag.atLeast(0)
  ),
  excludeTools: Flag.String("exclude-tools").pipe(
    Flag.withDescription("Do not offer these tools, whatever else says [N8N_MCP_EXCLUDE_TOOLS]"),
    Flag.withMetavar("NAMES"),
    Flag.atLeast(0)
  ),
  filesRoot: Flag.String("files-root").pipe(
    Flag.withDescription(
      "Folder whose .json files the tools may read and write; may be given several times. Default: CLAUDE_PROJECT_DIR, else the working directory [N8N_MCP_FILES_ROOT]"
    ),
    Flag.withMetavar("FOLDER"),
    Flag.atLeast(0)
  ),
  nodes: Flag.String("nodes").pipe(
    Flag.withDescription(
      "Package whose node types are known besides n8n's own: its folder, or its dist/types/nodes.json; may be given several times [N8N_MCP_NODES]"
    ),
    Flag.withMetavar("PATH"),
    Flag.atLeast(0)
  ),
  ...HttpOptions.flags,
  showSecrets: Flag.Boolean("show-secrets").pipe(
    Flag.withDescription(
      "Do not replace secrets in execution data and parameters by [redacted] [N8N_MCP_SHOW_SECRETS]"
    ),
    Flag.withFallbackConfig(Config.Boolean("N8N_MCP_SHOW_SECRETS")),
    Flag.withDefault(false)
  )
}

/** The options, read. */
export interface Options extends HttpOptions.HttpOptions {
  readonly n8nUrl: Option.Option<string>
  readonly apiKey: Option.Option<Redacted.Redacted<string>>
  readonly webhookUrl: Option.Option<string>
  readonly config: Option.Option<string>
  readonly profile: Option.Option<string>
  readonly demo: boolean
  readonly locale: Locale.Locale
  readonly maxResultChars: number
  readonly maxExecutionMb: number
  readonly readOnly: boolean
  readonly toolsets: ReadonlyArray<string>
  readonly tools: ReadonlyArray<string>
  readonly excludeTools: ReadonlyArray<string>
  readonly filesRoot: ReadonlyArray<string>
  readonly nodes: ReadonlyArray<string>
  readonly showSecrets: boolean
}

/** An option that cannot be used; the server does not start. */
export class InvalidOption extends Data.TaggedError("InvalidOption")<{ readonly message: string }> {}

/** The environment without empty variables: `${N8N_URL:-}` in an `.mcp.json` means "not set". */
export const configProvider = (env: NodeJS.ProcessEnv): ConfigProvider.ConfigProvider =>
  ConfigProvider.fromEnv({
    env: Object.fromEntries(Object.entries(env).filter((entry): entry is [string, string] => Boolean(entry[1])))
  })

const parseUrl = (text: string, name = "N8N_URL (--n8n-url)") => {
  const url = URL.canParse(text) ? new URL(text) : undefined
  return url?.protocol === "http:" || url?.protocol === "https:"
    ? Effect.succeed(url)
    : Effect.fail(
      new InvalidOption({
        message: `${name} is no http address: '${text}'. Write it as http://localhost:5678`
      })
    )
}

/** Loaded only when it is wanted: a whole n8n in memory. */
const demo = Effect.promise(() =>
  Promise.all([import("./Demo.ts"), import("./testing/FakeN8n.ts")]).then(([{ seed }, FakeN8n]) => FakeN8n.layer(seed))
)

/** One n8n, and who is given it. */
export interface Connection {
  /** Its profile's, if there is one. */
  readonly name: string | undefined
  readonly client: Layer.Layer<N8nClient.N8nClient>
  readonly readOnly: boolean
  /** Over HTTP: the tokens that lead here. */
  readonly tokens: ReadonlyArray<Redacted.Redacted<string>>
}

const configured = Effect.fnUntraced(function*(
  { apiKey, url, webhookUrl }: Pick<Profiles.Profile, "url" | "apiKey" | "webhookUrl">,
  names: { readonly url?: string; readonly webhookUrl?: string } = {}
) {
  return N8nClient.layer({
    url: yield* parseUrl(url, names.url),
    apiKey,
    webhookUrl: webhookUrl === undefined ? undefined : yield* parseUrl(webhookUrl, names.webhookUrl)
  }).pipe(Layer.provide(FetchHttpClient.layer))
})

/** The n8n that `N8N_URL` names, or the one in memory. */
const unnamed = Effect.fnUntraced(function*(options: Options) {
  if (options.demo) return yield* demo
  const { apiKey, n8nUrl, webhookUrl } = options
  if (Option.isNone(n8nUrl) || Option.isNone(apiKey)) {
    return N8nClient.layerUnconfigured([
      ...(Option.isNone(n8nUrl) ? ["N8N_URL"] : []),
      ...(Option.isNone(apiKey) ? ["N8N_API_KEY"] : [])
    ])
  }
  return yield* configured(
    { url: n8nUrl.value, apiKey: apiKey.value, webhookUrl: Option.getOrUndefined(webhookUrl) },
    { webhookUrl: "N8N_MCP_WEBHOOK_URL (--webhook-url)" }
  )
})

const ofProfile = Effect.fnUntraced(function*(profile: Profiles.Profile, readOnly: boolean) {
  const named = (key: string) => `${key} of profile '${profile.name}'`
  return {
    name: profile.name,
    client: yield* configured(profile, { url: named("url"), webhookUrl: named("webhookUrl") }),
    readOnly: readOnly || profile.readOnly,
    tokens: profile.tokens
  }
})

/** Every n8n of the options, and the one that is meant where nobody says; with several profiles none may be. */
export const connections = Effect.fnUntraced(function*(options: Options) {
  if (options.demo || Option.isNone(options.config)) {
    if (Option.isSome(options.profile)) {
      return yield* new InvalidOption({ message: "--profile names one of a file's: give the file with --config" })
    }
    const client = yield* unnamed(options)
    const only: Connection = { name: undefined, client, readOnly: options.readOnly, tokens: [] }
    return { all: [only], usual: only }
  }
  const profiles = yield* Profiles.load(options.config.value, process.env)
  const picked = yield* Profiles.pick(profiles, Option.getOrUndefined(options.profile))
  const all: ReadonlyArray<Connection> = yield* Effect.forEach(
    profiles,
    (profile) => ofProfile(profile, options.readOnly)
  )
  return { all, usual: all.find(({ name }) => name === picked?.name) }
})

/** The paths of an option, else those of its variable. */
const paths = (given: ReadonlyArray<string>, listed: string | undefined): ReadonlyArray<string> =>
  given.length > 0 ? given : (listed ?? "").split(delimiter).filter((path) => path !== "")

/** The folders of `--files-root`, else those of its variable. */
const givenRoots = (given: ReadonlyArray<string>, env: NodeJS.ProcessEnv) =>
  paths(given, env["N8N_MCP_FILES_ROOT"]).map((folder) => resolve(folder))

/** Those, else the client's project, else where the server runs; over HTTP none, for the client is elsewhere. */
export const filesRoots = (
  { filesRoot, transport }: Pick<Options, "filesRoot" | "transport">,
  env: NodeJS.ProcessEnv
): ReadonlyArray<string> => {
  const roots = givenRoots(filesRoot, env)
  return roots.length > 0 || transport === "http" ? roots : [resolve(env["CLAUDE_PROJECT_DIR"] || ".")]
}

/** The tools that these options leave. */
export const servedTools = (options: Options) =>
  Effect.fromResult(selection.select({
    toolsets: HttpOptions.values(options.toolsets, process.env["N8N_MCP_TOOLSETS"]),
    tools: HttpOptions.values(options.tools, process.env["N8N_MCP_TOOLS"]),
    excludeTools: HttpOptions.values(options.excludeTools, process.env["N8N_MCP_EXCLUDE_TOOLS"]),
    files: filesRoots(options, process.env).length > 0
  })).pipe(Effect.mapError((message) => new InvalidOption({ message })))

const services = (options: Options) => {
  const nodes = paths(options.nodes, process.env["N8N_MCP_NODES"]).map((path) => resolve(path))
  return options.demo && options.filesRoot.length === 0
    ? Services.memory({ nodes })
    : Services.layer({
      nodes,
      filesRoots: filesRoots(options, process.env),
      stateFolder: Snapshots.defaultFolder(process.env),
      maxBodyBytes: options.maxExecutionMb * 1_000_000
    })
}

/** Everything the tools need but an n8n. */
export const shared = (options: Options) =>
  Layer.unwrap(
    Effect.gen(function*() {
      if (options.maxResultChars < Minimize.minResultChars) {
        return yield* new InvalidOption({ message: `--max-result-chars must be at least ${Minimize.minResultChars}` })
      }
      if (options.maxExecutionMb < 1) {
        return yield* new InvalidOption({ message: "--max-execution-mb must be at least 1" })
      }
      return Layer.mergeAll(
        services(options),
        Layer.succeed(Locale.CurrentLocale, options.locale),
        Layer.succeed(Minimize.MaxResultChars, options.maxResultChars),
        Layer.succeed(Tool.RedactSecrets, !options.showSecrets)
      )
    })
  )

/** The n8n of a connection, and whether it may be changed. */
export const ofConnection = ({ client, readOnly }: Connection) =>
  Layer.merge(client, Layer.succeed(Tool.ReadOnly, readOnly))

/** Everything the tools need, as the options say. Starts with n8n down, and without `N8N_URL`. */
export const layer = (options: Options) =>
  Layer.unwrap(
    Effect.gen(function*() {
      const { all, usual } = yield* connections(options)
      if (usual === undefined) {
        const names = all.map(({ name }) => `'${name}'`).join(", ")
        return yield* new InvalidOption({ message: `Which n8n is meant? Give --profile: ${names}` })
      }
      return Layer.merge(shared(options), ofConnection(usual))
    })
  )
