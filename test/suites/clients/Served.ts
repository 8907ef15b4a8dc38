/** The built server over HTTP, with the demo's n8n and a token. */
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as ChildProcess from "effect/process/ChildProcess"
import * as Stream from "effect/Stream"
import { fileURLToPath } from "node:url"
import { ClientError } from "./ClientError.ts"

/** The path of the bundle, which `pnpm test:suite clients` builds. */
export const main = fileURLToPath(new URL("../../../dist/main.js", import.meta.url))

/** The token that clients need. */
export const token = "a-token-of-the-clients-suite"

/** A running server. */
export interface Served {
  /** The address of its `/mcp`. */
  readonly url: string
  /** The lines of stderr so far: one per request. */
  readonly stderr: () => ReadonlyArray<string>
}

/** The methods of its requests, in order. */
export const methods = ({ stderr }: Served): ReadonlyArray<string> =>
  stderr().flatMap((line) => /message=request .* call="?([^\s"]+)/.exec(line)?.[1] ?? [])

/** Starts a server with these arguments and variables that runs until the scope ends. */
export const startWith = Effect.fnUntraced(function*(
  args: ReadonlyArray<string>,
  env: Readonly<Record<string, string>>
) {
  const address = yield* Deferred.make<string, ClientError>()
  const said: Array<string> = []
  const handle = yield* ChildProcess.make(
    process.execPath,
    [main, "--transport", "http", "--demo", ...args],
    { env: { PATH: process.env["PATH"], ...env }, stdin: "ignore", forceKillAfter: "5 seconds" }
  )
  yield* handle.stderr.pipe(
    Stream.decodeText(),
    Stream.splitLines,
    Stream.runForEach((line) => {
      said.push(line)
      const [, url] = /address=(http\S+)/.exec(line) ?? []
      return url === undefined ? Effect.void : Deferred.succeed(address, `${url}/mcp`)
    }),
    Effect.ensuring(
      Effect.suspend(() =>
        Deferred.fail(address, new ClientError({ step: "starting the server", detail: said.join("\n") }))
      )
    ),
    Effect.forkScoped
  )
  return { url: yield* Deferred.await(address), stderr: () => said } satisfies Served
}, Effect.catchTag("PlatformError", ({ message }) => new ClientError({ step: "starting the server", detail: message })))

/** Starts a server that takes {@link token}. */
export const start = startWith(["--port", "0"], { N8N_MCP_AUTH_TOKEN: token })
