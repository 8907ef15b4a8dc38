/** Runs a client to its end, and keeps all that it said. */
import * as Effect from "effect/Effect"
import * as ChildProcess from "effect/process/ChildProcess"
import * as Stream from "effect/Stream"
import { ClientError } from "./ClientError.ts"

/** What a client said, and how it ended. */
export interface Ended {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
}

/** All of the environment is given: a client must not find the settings, keys and proxies of whoever runs the tests. */
export const run = Effect.fn("run")(
  function*(
    command: string,
    args: ReadonlyArray<string>,
    options: { readonly cwd: string; readonly env: Readonly<Record<string, string>> }
  ) {
    const handle = yield* ChildProcess.make(command, args, {
      cwd: options.cwd,
      env: { PATH: process.env["PATH"], HOME: options.cwd, ...nothingBeyondLoopback, ...options.env },
      extendEnv: false,
      stdin: "ignore",
      forceKillAfter: "5 seconds"
    })
    const [stdout, stderr, code] = yield* Effect.all([
      Stream.mkString(Stream.decodeText(handle.stdout)),
      Stream.mkString(Stream.decodeText(handle.stderr)),
      handle.exitCode
    ], { concurrency: "unbounded" })
    return { code, stdout, stderr } satisfies Ended
  },
  Effect.scoped,
  Effect.timeout("45 seconds"),
  Effect.mapError(({ message }) => new ClientError({ step: "running a client", detail: message }))
)

/** Nobody listens on that port: a request to another machine ends there. */
const nothingBeyondLoopback = {
  HTTPS_PROXY: "http://127.0.0.1:9",
  HTTP_PROXY: "http://127.0.0.1:9",
  NO_PROXY: "127.0.0.1,localhost"
}
