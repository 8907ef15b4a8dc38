/**
 * Options on the command line or in the environment, where the command line wins: flags, variables and texts of each.
 *
 * What names an n8n is ranked: the command line, a profile or a file of profiles, an address and its key in the
 * environment, and last the file that `init` wrote (`ConfigPlace.choose`).
 */
import * as CliError from "effect/cli/CliError"
import * as Flag from "effect/cli/Flag"
import * as Config from "effect/Config"
import * as Effect from "effect/Effect"
import { identity } from "effect/Function"
import * as Record from "effect/Record"
import * as Redacted from "effect/Redacted"
import { delimiter, resolve } from "node:path"
import * as Locale from "../../answer/Locale.ts"
import * as Minimize from "../../answer/Minimize.ts"
import { redactText } from "../../base/Redact.ts"
import * as Visible from "../../base/Visible.ts"
import * as tools from "../../tools/index.ts"
import { splitList } from "./forms.ts"

export interface Declaration<A> {
  /** Value: from the command line, else the variable, else the default. */
  readonly flag: Flag.Flag<A>
  readonly name: string
  /** Placeholder of the value in help; empty for a toggle. */
  readonly metavar: string
  readonly variable: string
  /** Options that replace the variable if they are on the command line: it would name another n8n. */
  readonly rivals: ReadonlyArray<string>
  readonly description: string
  /** Default in help and documentation; empty without one. */
  readonly defaultText: string
  readonly format: "string" | "number" | "boolean" | "filepath"
  readonly isSecret: boolean
  readonly choices: ReadonlyArray<string>
  /** Least and greatest number. */
  readonly range: readonly [min: number, max: number] | undefined
  /** Whether the flag may be repeated. */
  readonly isList: boolean
  /** Value without flag and variable. */
  readonly fallback: A
}

/** Properties that cannot be derived: a variable other than `N8N_MCP_` and the name, its rivals, or a dynamic default. */
type Exceptions = Partial<Pick<Declaration<unknown>, "variable" | "rivals" | "defaultText">>

interface Kind<A> extends Partial<Pick<Declaration<A>, "isSecret" | "choices" | "range" | "isList">> {
  readonly flag: (name: string) => Flag.Flag<A>
  readonly config: (variable: string) => Config.Config<A>
  readonly check?: (flag: Flag.Flag<A>) => Flag.Flag<A>
  readonly format: Declaration<A>["format"]
}

const rangeText = ([min, max]: readonly [min: number, max: number]) =>
  max === Number.MAX_SAFE_INTEGER ? `at least ${min}` : `between ${min} and ${max}`

/** Flag with its variable, which is not read if a rival is on the command line, and is named if its value is wrong. */
const withVariable = <A>(
  name: string,
  variable: string,
  { check = identity, choices = ["true", "false"], config, flag: make, range }: Kind<A>,
  rivals: ReadonlyArray<string>,
  describe: (flag: Flag.Flag<A>) => Flag.Flag<A>
) => {
  const flag = check(describe(make(name)))
  const both = check(Flag.withFallbackConfig(describe(make(name)), config(variable)))
  const expected = range === undefined ? choices.join(" or ") : `a whole number, ${rangeText(range)}`
  const refuse = (text: string) =>
    new CliError.ValidationError({
      message: `${variable} is '${Visible.label(redactText(text), 60)}': write ${expected}`
    })
  const parse: typeof both.parse = (args) => {
    const isNamed = (each: string) => (args.flags[each] ?? []).length > 0
    return isNamed(name) || rivals.some(isNamed) ? flag.parse(args) : Effect.catchTag(
      both.parse(args),
      "InvalidValue",
      (error) =>
        Effect.flatMap(Effect.mapError(Config.String(variable), () => error), (text) => Effect.fail(refuse(text)))
    )
  }
  return Object.assign(Object.create(Object.getPrototypeOf(both)) as typeof both, both, { parse })
}

const declare = <A, B>(
  kind: Kind<A>,
  usage: string,
  description: string,
  { defaultText = "", rivals = [], variable }: Exceptions,
  fallback: B
): Declaration<A | B> => {
  const { choices = [], format, isList = false, isSecret = false, range } = kind
  const [name = "", metavar = choices.join("|")] = usage.split(" ")
  const twin = variable ?? `N8N_MCP_${name.replaceAll("-", "_").toUpperCase()}`
  const shownDefault = defaultText === "" || format === "boolean" ? "" : ` (default ${defaultText})`
  return {
    flag: withVariable(name, twin, kind, rivals, (flag) =>
      flag.pipe(
        Flag.withDescription(`${description}${shownDefault} [${twin}]`),
        choices.length > 0 || metavar === "" ? identity : Flag.withMetavar(metavar)
      )).pipe(Flag.withDefault(fallback)),
    name,
    metavar,
    variable: twin,
    rivals,
    description,
    defaultText,
    format,
    isSecret,
    choices,
    range,
    isList,
    fallback
  }
}

/** Option without a default; `usage` is its name and placeholder. */
const optional = <A>(kind: Kind<A>, usage: string, description: string, exceptions: Exceptions = {}) =>
  declare<A, undefined>(kind, usage, description, exceptions, undefined)

const withDefault = <A>(
  kind: Kind<A>,
  value: NoInfer<A>,
  usage: string,
  description: string,
  exceptions: Exceptions = {}
) => declare<A, A>(kind, usage, description, { defaultText: String(value), ...exceptions }, value)

const several = <A>(
  kind: Kind<ReadonlyArray<A>>,
  usage: string,
  description: string,
  exceptions: Exceptions = {}
) => withDefault(kind, [], usage, description, { defaultText: "", ...exceptions })

const toggle = (usage: string, description: string, exceptions: Exceptions = {}) =>
  withDefault({ flag: Flag.Boolean, config: Config.Boolean, format: "boolean" }, false, usage, description, {
    defaultText: "off",
    ...exceptions
  })

const text: Kind<string> = { flag: Flag.String, config: Config.String, format: "string" }

const file: Kind<string> = { ...text, format: "filepath" }

const secret: Kind<Redacted.Redacted<string>> = {
  flag: Flag.Redacted,
  config: Config.Redacted,
  format: "string",
  isSecret: true
}

const integer = (min: number, max = Number.MAX_SAFE_INTEGER): Kind<number> => ({
  flag: Flag.Int,
  config: Config.Int,
  format: "number",
  range: [min, max],
  check: Flag.filter((value) => value >= min && value <= max, () => rangeText([min, max]))
})

const choice = <const Choices extends ReadonlyArray<string>>(choices: Choices): Kind<Choices[number]> => ({
  flag: (name) => Flag.Literals(name, choices),
  config: (variable) => Config.Literals(choices, variable),
  format: "string",
  choices
})

/** Several texts: the flag may be repeated, and commas separate values in flag and variable. */
const list: Kind<ReadonlyArray<string>> = {
  flag: (name) => Flag.String(name).pipe(Flag.atLeast(1), Flag.map((texts) => texts.flatMap(splitList))),
  config: (variable) => Config.map(Config.String(variable), splitList),
  format: "string",
  isList: true
}

const absolute = (paths: ReadonlyArray<string>) => paths.filter((path) => path !== "").map((path) => resolve(path))

/** Several absolute paths: the flag may be repeated; the variable separates them as `PATH` does. */
const paths: Kind<ReadonlyArray<string>> = {
  flag: (name) => Flag.String(name).pipe(Flag.atLeast(1), Flag.map(absolute)),
  config: (variable) => Config.map(Config.String(variable), (text) => absolute(text.split(delimiter))),
  format: "filepath",
  isList: true
}

const splitSecrets = (text: string) => {
  const values = splitList(text)
  // An empty variable must not silently open the server: it counts as one token, which is refused.
  return (values.length === 0 ? [""] : values).map((value) => Redacted.make(value))
}

/** Several secrets: the flag may be repeated; commas separate them in the variable. */
const secrets: Kind<ReadonlyArray<Redacted.Redacted<string>>> = {
  flag: (name) => Flag.atLeast(Flag.Redacted(name), 1),
  config: (variable) => Config.map(Config.String(variable), splitSecrets),
  format: "string",
  isList: true,
  isSecret: true
}

/** Options that name an n8n by its address, and those that name a saved one. */
const [byAddress, byProfile] = [["n8n-url", "api-key"], ["profile", "config"]]

const repeatable = "may be repeated, or separated by commas"
const repeatablePath = "may be repeated; the variable separates them as PATH does"

export const general = {
  n8nUrl: optional(
    text,
    "n8n-url URL",
    "Address of n8n, as the browser shows it for the editor; with or without a trailing slash or /api/v1",
    { variable: "N8N_URL", rivals: byProfile }
  ),
  apiKey: optional(
    secret,
    "api-key KEY",
    "n8n API key; better set in the environment, where no process list shows it",
    { variable: "N8N_API_KEY", rivals: byProfile }
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
  config: optional(file, "config FILE", "File with several n8n instances as profiles", { rivals: byAddress }),
  profile: optional(text, "profile NAME", "The profile to use; over HTTP, the one for the tokens of --auth-token", {
    rivals: byAddress
  }),
  demo: toggle(
    "demo",
    "Serve an n8n in memory with a few workflows and executions; files are in a temporary folder unless --files-root names one",
    { rivals: [...byAddress, ...byProfile] }
  ),
  state: optional(
    secret,
    "state PLACE",
    "Place of snapshots, executions of tests and the sealing key: a folder, or postgres://user:password@host/database for servers on many machines",
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
    "Prefix that clients put before the scopes they request, such as api://ID/ with Entra"
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
