/** Runs a client until it ends and returns its output. */
import * as Effect from "effect/Effect"
import * as ChildProcess from "effect/process/ChildProcess"
import * as Stream from "effect/Stream"
import { ClientError } from "./ClientError.ts"

/** A client's output and exit code. */
export interface ExitResult {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
}

/** Runs a client with its complete environment: it must not see settings, keys and proxies of the test run. */
export const run = Effect.fn("run")(
  function*(
    command: string,
    args: ReadonlyArray<string>,
    options: { readonly cwd: string; readonly env: Readonly<Record<string, string>> }
  ) {
    const handle = yield* ChildProcess.make(command, args, {
      cwd: options.cwd,
      env: { PATH: process.env["PATH"], HOME: options.cwd, ...loopbackOnly, ...options.env },
      extendEnv: false,
      stdin: "ignore",
      forceKillAfter: "5 seconds"
    })
    const [stdout, stderr, code] = yield* Effect.all([
      Stream.mkString(Stream.decodeText(handle.stdout)),
      Stream.mkString(Stream.decodeText(handle.stderr)),
      handle.exitCode
    ], { concurrency: "unbounded" })
    return { code, stdout, stderr } satisfies ExitResult
  },
  Effect.scoped,
  Effect.timeout("100 seconds"),
  Effect.mapError(({ message }) => new ClientError({ step: "running a client", detail: message }))
)

/** A proxy on a closed port, so that requests to other machines fail. */
const loopbackOnly = {
  HTTPS_PROXY: "http://127.0.0.1:9",
  HTTP_PROXY: "http://127.0.0.1:9",
  NO_PROXY: "127.0.0.1,localhost"
}
