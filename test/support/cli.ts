/** Runs a command from the sources in a process of its own. */
import * as Effect from "effect/Effect"
import { spawn } from "node:child_process"
import { fileURLToPath } from "node:url"

/** Path of the program. */
export const main = fileURLToPath(new URL("../../src/main.ts", import.meta.url))

/** What a command printed, and how it ended. */
export interface Exit {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
  /** Both streams, in the order in which their parts arrived. */
  readonly output: string
}

/** Runs a command in a folder, with only these variables and a state folder that is not the user's. */
export const runIn = (cwd: string, env: Readonly<Record<string, string>>, ...args: ReadonlyArray<string>) =>
  Effect.callback<Exit>((resume) => {
    const child = spawn(process.execPath, [main, ...args], {
      cwd,
      env: { PATH: process.env["PATH"], XDG_STATE_HOME: `${cwd}/.state`, XDG_CONFIG_HOME: `${cwd}/.config`, ...env }
    })
    const read = { stdout: "", stderr: "", output: "" }
    for (const name of ["stdout", "stderr"] as const) {
      child[name].setEncoding("utf8").on("data", (chunk: string) => {
        read[name] += chunk
        read.output += chunk
      })
    }
    child.on("close", (code) => resume(Effect.succeed({ code, ...read })))
  })
