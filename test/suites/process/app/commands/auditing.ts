/** The `audit` command in a process of its own. */
import * as Effect from "effect/Effect"
import { spawn } from "node:child_process"
import { fileURLToPath } from "node:url"

const main = fileURLToPath(new URL("../../../../../src/main.ts", import.meta.url))

/** Audits with these arguments. */
export const auditing = (args: ReadonlyArray<string>, env: Readonly<Record<string, string>>) =>
  Effect.callback<{ readonly code: number | null; readonly stdout: string }>((resume) => {
    const child = spawn(process.execPath, [main, "audit", ...args], { env: { PATH: process.env["PATH"], ...env } })
    let stdout = ""
    child.stdout.setEncoding("utf8").on("data", (chunk: string) => (stdout += chunk))
    child.on("close", (code) => resume(Effect.succeed({ code, stdout })))
  })
