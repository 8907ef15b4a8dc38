/** What can be set, on the command line or in the environment; the command line wins. */
import * as Flag from "effect/cli/Flag"
import * as Config from "effect/Config"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import type * as Option from "effect/Option"
import type * as Redacted from "effect/Redacted"
import { delimiter, resolve } from "node:path"
import * as HttpOptions from "./HttpOptions.ts"
import * as Locale from "./Locale.ts"
import * as Minimize from "./Minimize.ts"
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
export const variables = (env: NodeJS.ProcessEnv): Readonly<Record<string, string>> =>
  Object.fromEntries(Object.entries(env).filter((entry): entry is [string, string] => Boolean(entry[1])))

/** The paths of an option, else those of its variable. */
const paths = (given: ReadonlyArray<string>, listed: string | undefined): ReadonlyArray<string> =>
  given.length > 0 ? given : (listed ?? "").split(delimiter).filter((path) => path !== "")

/** The packages of `--nodes`, else those of its variable. */
export const nodePackages = ({ nodes }: Pick<Options, "nodes">, env: NodeJS.ProcessEnv): ReadonlyArray<string> =>
  paths(nodes, env["N8N_MCP_NODES"]).map((path) => resolve(path))

/**
 * The folders of `--files-root`, else those of its variable, else the client's project, else where the server runs; over
 * HTTP none, for the client is elsewhere.
 */
export const filesRoots = (
  { filesRoot, transport }: Pick<Options, "filesRoot" | "transport">,
  env: NodeJS.ProcessEnv
): ReadonlyArray<string> => {
  const roots = paths(filesRoot, env["N8N_MCP_FILES_ROOT"]).map((folder) => resolve(folder))
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
