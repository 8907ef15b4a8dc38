/** Options on the command line or in the environment; the command line wins. */
import type * as Command from "effect/cli/Command"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Record from "effect/Record"
import { homedir } from "node:os"
import { isAbsolute, relative, resolve } from "node:path"
import * as Locale from "../../answer/Locale.ts"
import * as Minimize from "../../answer/Minimize.ts"
import * as tools from "../../tools/index.ts"
import * as Selection from "../../tools/Selection.ts"
import {
  choice,
  type Declaration,
  file,
  integer,
  list,
  optional,
  paths,
  secret,
  secrets,
  several,
  text,
  toggle,
  withDefault
} from "./declaration.ts"

const repeatable = "may be repeated, or separated by commas"
const repeatablePath = "may be repeated; the variable separates them as PATH does"

export const general = {
  n8nUrl: optional(
    text,
    "n8n-url URL",
    "Address of n8n, as the browser shows it for the editor; with or without a trailing slash or /api/v1",
    { variable: "N8N_URL" }
  ),
  apiKey: optional(
    secret,
    "api-key KEY",
    "n8n API key; better set in the environment, where no process list shows it",
    { variable: "N8N_API_KEY" }
  ),
  webhookUrl: optional(
    text,
    "webhook-url URL",
    "Base URL of production webhooks if it differs from N8N_URL (n8n's WEBHOOK_URL)",
    { defaultText: "N8N_URL" }
  ),
  n8nHeader: several(
    list,
    "n8n-header NAME=VARIABLE",
    `Header that a proxy in front of n8n asks for, and the environment variable with its value; ${repeatable}`
  ),
  readOnly: toggle("read-only", "Offer no tool that changes anything; overrides all other options"),
  policy: optional(
    file,
    "policy FILE",
    "File with rules that every write to n8n must follow: bannedNodes, minScheduleMinutes, protectedTags, requireErrorWorkflow"
  ),
  credentialEnv: several(
    list,
    "credential-env NAMES",
    `Environment variables that credential_create may send to n8n as secrets; ${repeatable}`,
    { defaultText: "none: credential_create is not offered" }
  ),
  toolsets: several(
    list,
    "toolsets NAMES",
    `Offer only these tools: ${Object.keys(tools.toolsets).join(", ")}; ${repeatable}`,
    { defaultText: `all but ${tools.optional.join(", ")}` }
  ),
  tools: several(list, "tools NAMES", "Offer these tools, besides those of --toolsets"),
  excludeTools: several(list, "exclude-tools NAMES", "Do not offer these tools; overrides the other options"),
  filesRoot: several(
    paths,
    "files-root FOLDER",
    `Folder whose .json files the tools may read and write; ${repeatablePath}`,
    {
      defaultText: "CLAUDE_PROJECT_DIR, else the working directory, unless that is / or the home folder; over HTTP none"
    }
  ),
  nodes: several(
    paths,
    "nodes PATH",
    `Package of custom or community nodes: its folder (its code is run to read its nodes, unless it has a dist/types/nodes.json) or that file; ${repeatablePath}`
  ),
  config: optional(file, "config FILE", "File with several n8n instances as profiles"),
  profile: optional(text, "profile NAME", "The profile to use; over HTTP, the one for the tokens of --auth-token"),
  demo: toggle(
    "demo",
    "Serve an n8n in memory with a few workflows and executions; files are in a temporary folder unless --files-root names one"
  ),
  state: optional(
    secret,
    "state PLACE",
    "Where snapshots, the executions of tests and the sealing key are stored: a folder, or postgres://user:password@host/database for servers on many machines",
    { defaultText: "$XDG_STATE_HOME/effect-n8n-mcp" }
  ),
  locale: withDefault(choice(Locale.locales), "en", "locale", "Language of an answer's message"),
  maxResultChars: withDefault(
    integer(Minimize.minResultChars),
    40_000,
    "max-result-chars N",
    `Maximum characters in one answer, ${Minimize.minResultChars} or more`
  ),
  maxExecutionMb: withDefault(integer(1), 512, "max-execution-mb N", "Largest execution that is read, in MB of JSON"),
  showSecrets: toggle("show-secrets", "Do not replace secrets in execution data and parameters with [redacted]")
}

const http = {
  transport: withDefault(
    choice(["stdio", "http"]),
    "stdio",
    "transport",
    "How clients reach the server; the options below are for HTTP"
  ),
  host: withDefault(text, "127.0.0.1", "host ADDRESS", "Address to listen on; other machines need a token"),
  port: withDefault(integer(0, 65_535), 3000, "port N", "Port to listen on; 0 is any free port"),
  authToken: several(
    secrets,
    "auth-token TOKEN",
    "Token that callers must send, 16 characters or more; may be repeated. Better set in the environment, separated by commas"
  ),
  oauthIssuer: optional(
    text,
    "oauth-issuer URL",
    "Identity provider whose access tokens are accepted (JWT, scopes n8n:read and n8n:write); needs --public-url"
  ),
  publicUrl: optional(
    text,
    "public-url URL",
    "Address under which clients reach the server; with /mcp at its end it is the audience of access tokens"
  ),
  oauthAudience: optional(
    text,
    "oauth-audience AUDIENCE",
    "Audience of access tokens that is not the server's address, such as an application id of Entra"
  ),
  oauthScopePrefix: optional(
    text,
    "oauth-scope-prefix PREFIX",
    "What clients write before the scopes to ask for them, such as api://ID/ with Entra"
  ),
  oauthProfileClaim: withDefault(
    text,
    "n8n_profile",
    "oauth-profile-claim NAME",
    "Claim of an access token that names its profile; without it the token leads to the one of --profile"
  ),
  allowedHosts: several(
    list,
    "allowed-hosts HOST",
    `Name under which the server is reached, besides localhost and its address; ${repeatable}`
  ),
  allowedOrigins: several(list, "allowed-origins ORIGIN", `Origin whose pages may call, with CORS; ${repeatable}`),
  rateLimit: optional(integer(0), "rate-limit N", "Maximum calls per minute and token, 0 for unlimited", {
    defaultText: "1200; unlimited without tokens"
  }),
  maxCalls: withDefault(
    integer(1),
    256,
    "max-calls N",
    "Maximum concurrent calls, all clients; with several tokens, each has at most half of them"
  ),
  maxConnections: withDefault(integer(1), 1024, "max-connections N", "Maximum open connections, idle ones included")
}

/** Every option, in the order of help and README. */
export const declarations = { ...general, ...http } satisfies Readonly<Record<string, Declaration<unknown>>>

export const flags = Record.map(declarations, ({ flag }) => flag) as {
  readonly [Key in keyof typeof declarations]: typeof declarations[Key]["flag"]
}

export type Options = Command.Command.Config.Infer<typeof flags>

export class InvalidOption extends Data.TaggedError("InvalidOption")<{ readonly message: string }> {}

export const refuse = (message: string) => new InvalidOption({ message })

/** Environment without empty variables: `${N8N_URL:-}` in an `.mcp.json` means "not set". */
export const variables = (env: NodeJS.ProcessEnv): Readonly<Record<string, string>> =>
  Object.fromEntries(Object.entries(env).filter((entry): entry is [string, string] => Boolean(entry[1])))

/** Whether the folder is the root or contains the home folder, as when desktop apps start servers. */
const isTooWide = (folder: string) => {
  const path = relative(folder, homedir())
  return folder === resolve(folder, "/") || !path.startsWith("..") && !isAbsolute(path)
}

/** Folders of `--files-root`, else the client's project or the working directory; none over HTTP by default. */
export const filesRoots = (
  { filesRoot, transport }: Pick<Options, "filesRoot" | "transport">,
  env: NodeJS.ProcessEnv
): ReadonlyArray<string> => {
  if (filesRoot.length > 0 || transport === "http") return filesRoot
  const folder = resolve(env["CLAUDE_PROJECT_DIR"] || ".")
  return isTooWide(folder) ? [] : [folder]
}

export const servedTools = (options: Options, hasFiles: boolean) =>
  Effect.fromResult(Selection.select({
    toolsets: options.toolsets,
    tools: options.tools,
    excludeTools: options.excludeTools,
    hasFiles,
    credentialEnv: options.credentialEnv.length > 0
  })).pipe(Effect.mapError(refuse))
