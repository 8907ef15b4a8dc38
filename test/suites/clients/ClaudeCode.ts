/** Runs the real Claude Code with a scripted model and our server. */
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import { fileURLToPath } from "node:url"
import { arr, type Obj, obj, str } from "../../../src/base/Json.ts"
import { ClientError } from "./ClientError.ts"
import { claudeCodeMain } from "./install.ts"
import * as Model from "./Model.ts"
import { run } from "./run.ts"
import * as Wire from "./Wire.ts"

/** The name of our server in Claude Code's configuration, which prefixes the names of tools. */
export const server = "n8n"

/** Claude Code's name for one of our tools. */
export const tool = (name: string) => `mcp__${server}__${name}`

/** The input of a conversation. */
export interface Talk {
  readonly prompt: string
  readonly turns?: ReadonlyArray<Model.Turn>
  /** Our server: over stdio with these arguments, or at an address. */
  readonly at: { readonly args: ReadonlyArray<string>; readonly env?: Readonly<Record<string, string>> } | {
    readonly url: string
    /** Without one the person logs in, in a browser. */
    readonly token?: string
  }
  readonly env?: Readonly<Record<string, string>>
}

/** The record of a conversation. */
export interface Transcript {
  /** The final answer that the person sees. */
  readonly answer: string
  /** The connection status of our server, as Claude Code reports it. */
  readonly status: string
  /** The requests to the model, in order. */
  readonly requests: ReadonlyArray<Obj>
  /** The results of its calls, as the last request shows them. */
  readonly shown: ReadonlyArray<Model.Shown>
  /** The messages of our server over stdio; empty over HTTP. */
  readonly wire: Wire.Wire
}

/** Disables updates, telemetry and surveys. */
const quiet = {
  ANTHROPIC_API_KEY: "a-dummy",
  CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
  DISABLE_AUTOUPDATER: "1",
  DISABLE_TELEMETRY: "1",
  DISABLE_ERROR_REPORTING: "1"
}

/** A terminal, which `claude mcp login` wants. */
const inTerminal = (command: string) => ["script", ["-qec", command, "/dev/null"]] as const

/** Adds our server for good and logs in, in a browser that agrees to everything. */
const logIn = Effect.fnUntraced(function*(main: string, url: string, options: Parameters<typeof run>[2]) {
  const browser = fileURLToPath(new URL("../../support/browser.ts", import.meta.url))
  const steps = [
    [main, ["mcp", "add", "--transport", "http", "--scope", "user", server, url]],
    inTerminal(`'${main}' mcp login ${server}`)
  ] as const
  for (const [command, args] of steps) {
    const { code, stderr, stdout } = yield* run(command, args, {
      ...options,
      env: { ...options.env, BROWSER: browser }
    })
    if (code !== 0) return yield* new ClientError({ step: args.join(" "), detail: `${stdout}\n${stderr}` })
  }
})

/** Runs Claude Code in `folder` until it has answered. */
export const talk = Effect.fn("ClaudeCode.talk")(function*(folder: string, { at, env, prompt, turns = [] }: Talk) {
  const fs = yield* FileSystem.FileSystem
  const model = yield* Model.serve(turns)
  // Outside the folder, which is the project whose files our server reads.
  const home = yield* fs.makeTempDirectoryScoped({ prefix: "effect-n8n-mcp-claude-" })
  const log = `${home}/wire.log`
  const main = yield* claudeCodeMain
  const options = {
    cwd: folder,
    env: { ...quiet, HOME: home, CLAUDE_CONFIG_DIR: `${home}/config`, ANTHROPIC_BASE_URL: model.url, ...env }
  }
  const isLoggedIn = "url" in at && at.token === undefined
  if (isLoggedIn) yield* logIn(main, at.url, options)
  const config = "url" in at
    ? { type: "http", url: at.url, headers: { Authorization: `Bearer ${at.token}` } }
    : (([command, ...args]) => ({ command, args, env: { XDG_STATE_HOME: `${home}/state`, ...at.env } }))(
      Wire.command(log, at.args)
    )
  const ended = yield* run(
    main,
    [
      "-p",
      prompt,
      ...isLoggedIn
        ? []
        : ["--mcp-config", JSON.stringify({ mcpServers: { [server]: config } }), "--strict-mcp-config"],
      "--allowedTools",
      `mcp__${server}`,
      "--output-format",
      "stream-json",
      "--verbose"
    ],
    options
  )
  const events = ended.stdout.trim().split("\n").map((line) => obj(JSON.parse(line)) ?? {})
  const init = events.find(({ subtype }) => subtype === "init")
  const result = events.find(({ type }) => type === "result")
  if (ended.code !== 0 || ended.stderr !== "" || result?.["is_error"] !== false) {
    return yield* new ClientError({ step: "Claude Code", detail: `${ended.stdout.slice(-2_000)}\n${ended.stderr}` })
  }
  const requests = model.requests()
  return {
    answer: str(result["result"]) ?? "",
    status: str(arr(init?.["mcp_servers"]).map(obj).find((each) => each?.["name"] === server)?.["status"]) ?? "",
    requests,
    shown: Model.results(requests.at(-1) ?? {}),
    wire: yield* Wire.read(log)
  } satisfies Transcript
}, Effect.scoped)
