/** A real PostgreSQL with a data folder of its own, which can be stopped and started. */
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Schedule from "effect/Schedule"
import { execFile, execFileSync, spawn } from "node:child_process"
import { chownSync, existsSync, globSync, mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { freePort } from "../../support/Process.ts"

/** PostgreSQL could not be started. */
class PostgresError extends Data.TaggedError("PostgresError")<{ readonly message: string }> {}

/** A server that listens while it runs. */
export interface Postgres {
  /** The address of its database. */
  readonly url: string
  readonly start: Effect.Effect<void, PostgresError>
  readonly stop: Effect.Effect<void>
  /** Runs SQL with psql. */
  readonly sql: (text: string) => Effect.Effect<string, PostgresError>
}

/** The folder of its programs: Debian's, or one on the PATH. */
const programs = () => {
  const own = globSync("/usr/lib/postgresql/*/bin").toSorted().findLast((folder) => existsSync(join(folder, "initdb")))
  const folders = [...own === undefined ? [] : [own], ...(process.env["PATH"] ?? "").split(":")]
  return folders.find((folder) => existsSync(join(folder, "initdb")))
}

/** It does not run as root; Debian has a user for it. */
const owner = () => {
  if (process.getuid?.() !== 0) return {}
  const id = (kind: string) => Number(execFileSync("id", [kind, "postgres"], { encoding: "utf8" }))
  return { uid: id("-u"), gid: id("-g") }
}

const execute = (command: string, args: ReadonlyArray<string>, options: object = {}) =>
  Effect.callback<string, PostgresError>((resume) => {
    execFile(
      command,
      [...args],
      { encoding: "utf8", ...options },
      (error, stdout, stderr) =>
        resume(
          error === null ? Effect.succeed(stdout) : Effect.fail(new PostgresError({ message: stderr || error.message }))
        )
    )
  })

/** Makes an empty database; it does not run yet. */
export const make = Effect.gen(function*() {
  const bin = programs()
  if (bin === undefined) {
    return yield* new PostgresError({ message: "There is no PostgreSQL here: apt-get install postgresql" })
  }
  const user = owner()
  const folder = yield* Effect.acquireRelease(
    Effect.sync(() => mkdtempSync(join(tmpdir(), "effect-n8n-mcp-postgres-"))),
    (folder) => Effect.sync(() => rmSync(folder, { recursive: true, force: true }))
  )
  if (user.uid !== undefined) chownSync(folder, user.uid, user.gid)
  const data = join(folder, "data")
  const options = { ...user, cwd: folder, env: { PATH: process.env["PATH"], LC_ALL: "C" } }
  yield* execute(join(bin, "initdb"), ["-D", data, "-U", "n8n", "--auth=trust", "-E", "UTF8", "--no-sync"], options)
  const port = yield* freePort
  const url = `postgres://n8n:secret-of-the-database@127.0.0.1:${port}/postgres`
  let running: ReturnType<typeof spawn> | undefined

  const stop = Effect.callback<void>((resume) => {
    if (running === undefined) return resume(Effect.void)
    running.once("exit", () => resume(Effect.void))
    // Cuts all connections at once.
    running.kill("SIGINT")
    running = undefined
  })
  yield* Effect.addFinalizer(() => stop)
  const sql = (text: string) => execute(join(bin, "psql"), [url, "-tAc", text])
  const start = Effect.suspend(() => {
    running = spawn(
      join(bin, "postgres"),
      ["-D", data, "-p", String(port), "-h", "127.0.0.1", "-k", folder, "-F"],
      { ...options, stdio: "ignore" }
    )
    return sql("SELECT 1").pipe(Effect.retry({ schedule: Schedule.spaced("100 millis"), times: 100 }), Effect.asVoid)
  })
  return { url, start, stop, sql } satisfies Postgres
})
