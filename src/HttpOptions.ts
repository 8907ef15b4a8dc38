/** What can be set of the transport, and of who may call over HTTP. */
import * as Flag from "effect/cli/Flag"
import * as Config from "effect/Config"
import type * as Option from "effect/Option"
import type * as Redacted from "effect/Redacted"

const transports = ["stdio", "http"] as const

/** The options of the transport; each names its environment twin in the description. */
export const flags = {
  transport: Flag.Literals("transport", transports).pipe(
    Flag.withDescription("How clients reach the server [N8N_MCP_TRANSPORT]"),
    Flag.withFallbackConfig(Config.Literals(transports, "N8N_MCP_TRANSPORT")),
    Flag.withDefault("stdio" as const)
  ),
  host: Flag.String("host").pipe(
    Flag.withDescription("Address to listen on; beyond this machine only with a token [N8N_MCP_HOST]"),
    Flag.withMetavar("ADDRESS"),
    Flag.withFallbackConfig(Config.String("N8N_MCP_HOST")),
    Flag.withDefault("127.0.0.1")
  ),
  port: Flag.Int("port").pipe(
    Flag.withDescription("Port to listen on; 0 is any that is free [N8N_MCP_PORT]"),
    Flag.withMetavar("N"),
    Flag.withFallbackConfig(Config.Int("N8N_MCP_PORT")),
    Flag.withDefault(3000)
  ),
  authToken: Flag.Redacted("auth-token").pipe(
    Flag.withDescription(
      "Token that callers over HTTP must bring; may be given several times. Better set in the environment, with commas between [N8N_MCP_AUTH_TOKEN]"
    ),
    Flag.withMetavar("TOKEN"),
    Flag.atLeast(0)
  ),
  allowedHosts: Flag.String("allowed-hosts").pipe(
    Flag.withDescription(
      "Name under which the server is reached, besides localhost and its address; may be given several times, or with commas between [N8N_MCP_ALLOWED_HOSTS]"
    ),
    Flag.withMetavar("HOST"),
    Flag.atLeast(0)
  ),
  allowedOrigins: Flag.String("allowed-origins").pipe(
    Flag.withDescription(
      "Origin whose pages may call, with CORS; may be given several times, or with commas between [N8N_MCP_ALLOWED_ORIGINS]"
    ),
    Flag.withMetavar("ORIGIN"),
    Flag.atLeast(0)
  ),
  rateLimit: Flag.Int("rate-limit").pipe(
    Flag.withDescription(
      "Calls of one token in a minute, 0 for any number; default 1200, any number where no token is needed [N8N_MCP_RATE_LIMIT]"
    ),
    Flag.withMetavar("N"),
    Flag.withFallbackConfig(Config.Int("N8N_MCP_RATE_LIMIT")),
    Flag.optional
  ),
  maxCalls: Flag.Int("max-calls").pipe(
    Flag.withDescription("Calls over HTTP at once, of everybody [N8N_MCP_MAX_CALLS]"),
    Flag.withMetavar("N"),
    Flag.withFallbackConfig(Config.Int("N8N_MCP_MAX_CALLS")),
    Flag.withDefault(256)
  )
}

/** The options, read. */
export interface HttpOptions {
  readonly transport: typeof transports[number]
  readonly host: string
  readonly port: number
  readonly authToken: ReadonlyArray<Redacted.Redacted<string>>
  readonly allowedHosts: ReadonlyArray<string>
  readonly allowedOrigins: ReadonlyArray<string>
  readonly rateLimit: Option.Option<number>
  readonly maxCalls: number
}

/** Several values in one text. */
export const listed = (text: string | undefined): ReadonlyArray<string> =>
  (text ?? "").split(",").map((each) => each.trim()).filter((each) => each !== "")

/** The values of an option that may be given several times, else those of its variable. */
export const values = (given: ReadonlyArray<string>, variable: string | undefined): ReadonlyArray<string> =>
  given.length > 0 ? given.flatMap(listed) : listed(variable)
