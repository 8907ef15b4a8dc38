/** An HTTP server as a child process. */
import * as Effect from "effect/Effect"
import * as Schedule from "effect/Schedule"
import type * as Scope from "effect/Scope"
import { type ChildProcess, spawn } from "node:child_process"
import { closeSync, openSync, readFileSync } from "node:fs"
import { BenchError } from "../BenchError.ts"
import { stop, type Usage, usageOf } from "../McpProcess.ts"

/** A running server. */
export interface HttpProcess {
  readonly title: string
  readonly port: number
  readonly usage: Effect.Effect<Usage>
}

const address = /address=http:\/\/127\.0\.0\.1:(\d+)/

/** Starts a server that logs to a file, as under a service manager; it is killed when the scope ends. */
export const start = (
  title: string,
  args: ReadonlyArray<string>,
  home: string,
  more: Readonly<Record<string, string>> = {}
): Effect.Effect<HttpProcess, BenchError, Scope.Scope> =>
  Effect.gen(function*() {
    const logFile = `${home}/${title}.log`
    const { pid } = yield* Effect.acquireRelease(
      Effect.sync((): ChildProcess => {
        const log = openSync(logFile, "w")
        const env = { PATH: process.env["PATH"] ?? "", HOME: home, TMPDIR: home, ...more }
        const child = spawn(process.execPath, args, { cwd: home, env, stdio: ["ignore", "ignore", log] })
        closeSync(log)
        return child
      }),
      stop
    )
    const port = yield* Effect.sync(() => address.exec(readFileSync(logFile, "utf8"))?.[1]).pipe(
      Effect.filterOrFail(
        (port) => port !== undefined,
        () => new BenchError({ step: `starting ${title}`, detail: readFileSync(logFile, "utf8") })
      ),
      Effect.retry({ schedule: Schedule.spaced("50 millis"), times: 1_200 })
    )
    return { title, port: Number(port), usage: Effect.sync(() => usageOf(pid ?? 0)) }
  })
