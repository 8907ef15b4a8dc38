/** Runs the Inspector's command line against our server. */
import * as Effect from "effect/Effect"
import { type Obj, obj } from "../../../src/base/Json.ts"
import { ClientError } from "./ClientError.ts"
import { inspectorMain } from "./install.ts"
import { run } from "./run.ts"

/** The Inspector's output and exit code. */
export interface Answer {
  readonly code: number
  /** The `result` of the method; empty if there is none. */
  readonly result: Obj
  readonly stderr: string
}

/** Sends a method to the server `target`: a command, or an address with its options. */
export const ask = Effect.fn("Inspector.ask")(function*(
  folder: string,
  target: ReadonlyArray<string>,
  method: string,
  args: ReadonlyArray<string> = []
) {
  const { code, stderr, stdout } = yield* run(
    process.execPath,
    [yield* inspectorMain, "--cli", ...target, "--method", method, ...args, "--format", "json", "-q"],
    { cwd: folder, env: {} }
  )
  const printed = yield* Effect.try({
    try: () => obj(stdout.trim() === "" ? {} : JSON.parse(stdout)) ?? {},
    catch: () => new ClientError({ step: `${method} in the Inspector`, detail: stdout + stderr })
  })
  return { code, result: obj(printed["result"]) ?? {}, stderr } satisfies Answer
})
