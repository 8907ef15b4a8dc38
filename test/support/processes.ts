/** Child processes of the harness; their last lines are kept for errors. */
import * as Effect from "effect/Effect"
import type * as PlatformError from "effect/PlatformError"
import * as ChildProcess from "effect/process/ChildProcess"
import type * as ChildProcessSpawner from "effect/process/ChildProcessSpawner"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"

/** A process could not be started, did not end, or failed; `detail` ends with the last lines of its output. */
export class ProcessError extends Schema.TaggedError<ProcessError>()("ProcessError", {
  step: Schema.String,
  detail: Schema.String
}) {
  override get message() {
    return `${this.step}: ${this.detail}`
  }
}

/** The last lines of an output. */
export interface Tail {
  readonly push: (line: string) => void
  readonly text: () => string
}

/** Keeps the last `limit` lines. */
export const makeTail = (limit: number): Tail => {
  const lines: Array<string> = []
  return {
    push: (line) => {
      lines.push(line)
      if (lines.length > limit) lines.shift()
    },
    text: () => lines.join("\n")
  }
}

/** Reads the output of a process into a `Tail` until it ends. */
export const follow = (
  handle: ChildProcessSpawner.ChildProcessHandle,
  tail: Tail
): Effect.Effect<void, PlatformError.PlatformError> =>
  handle.all.pipe(
    Stream.decodeText(),
    Stream.splitLines,
    Stream.runForEach((line) => Effect.sync(() => tail.push(line)))
  )

/** Runs a command; fails with its last lines unless it exits with 0. */
export const run = Effect.fn("run")(
  function*(
    step: string,
    command: string,
    args: ReadonlyArray<string>,
    options: { readonly cwd: string; readonly env: Record<string, string> }
  ) {
    const tail = makeTail(40)
    const code = yield* ChildProcess.make(command, args, {
      ...options,
      stdin: "ignore",
      forceKillAfter: "5 seconds"
    }).pipe(
      Effect.tap((handle) => follow(handle, tail)),
      Effect.flatMap((handle) => handle.exitCode),
      Effect.catch((error) => new ProcessError({ step, detail: `${error.message}\n${tail.text()}` })),
      Effect.timeoutOrElse({
        duration: "20 minutes",
        orElse: () => new ProcessError({ step, detail: `not finished after 20 minutes\n${tail.text()}` })
      })
    )
    if (code !== 0) return yield* new ProcessError({ step, detail: `ended with ${code}\n${tail.text()}` })
  },
  Effect.scoped
)

/** Writes a line to stderr directly, not through loggers or the test console. */
export const say = (line: string) => Effect.sync(() => void process.stderr.write(`${line}\n`))
