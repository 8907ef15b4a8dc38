/** Runs the bundled server as a child process. */
import * as Effect from "effect/Effect"
import { execFileSync, spawn } from "node:child_process"
import { copyFileSync, cpSync, mkdtempSync, rmSync } from "node:fs"
import { createServer } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"

import { dataFile } from "../../src/catalogue/NodeCatalogue.ts"

const folder = mkdtempSync(join(tmpdir(), "effect-n8n-mcp-"))

/** The path of the bundled server. */
export const main = join(folder, "main.mjs")

/** Bundles the server, with its lazily loaded chunks beside it. */
export const bundle = () => {
  const root = fileURLToPath(new URL("../../", import.meta.url))
  execFileSync(process.execPath, ["src/packaging/program.ts", folder, ".mjs"], { cwd: root })
}

/** A copy of the bundle with the node catalogue, in a folder of its own. */
export const installed = Effect.acquireRelease(
  Effect.sync(() => {
    const own = mkdtempSync(join(tmpdir(), "effect-n8n-mcp-"))
    cpSync(folder, own, { recursive: true })
    copyFileSync(dataFile(), join(own, "nodes.data"))
    return { folder: own, main: join(own, "main.mjs") }
  }),
  ({ folder }) => Effect.sync(() => rmSync(folder, { recursive: true, force: true }))
)

/** Removes the bundle. */
export const remove = () => rmSync(folder, { recursive: true, force: true })

interface ExitResult {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
  readonly stdout: string
  readonly stderr: string
}

/** Starts the server as a client does, with an environment of its own. */
export const start = (args: ReadonlyArray<string>, env: Record<string, string> = {}, program = main) => {
  const child = spawn(process.execPath, [program, ...args], {
    env: { PATH: process.env["PATH"], XDG_CONFIG_HOME: folder, ...env }
  })
  let stdout = ""
  let stderr = ""
  child.stdout.setEncoding("utf8").on("data", (chunk: string) => (stdout += chunk))
  child.stderr.setEncoding("utf8").on("data", (chunk: string) => (stderr += chunk))
  const ended = Effect.callback<ExitResult>((resume) => {
    child.on("close", (code, signal) => resume(Effect.succeed({ code, signal, stdout, stderr })))
  })
  return { child, ended, output: () => stdout, errors: () => stderr }
}

/** A port on which nobody listens. */
export const freePort = Effect.callback<number>((resume) => {
  const server = createServer().listen(0, "127.0.0.1", () => {
    const address = server.address()
    server.close(() => resume(Effect.succeed(typeof address === "object" ? address?.port ?? 0 : 0)))
  })
})
