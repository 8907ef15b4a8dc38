import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import { spawn } from "node:child_process"
import { main, runIn } from "../../../../support/cli.ts"
import { folderWith, platform } from "../../../../support/folders.ts"

/** What a person sees: `script` gives the command a terminal of this many columns. */
const shown = (
  folder: string,
  columns: number,
  env: Readonly<Record<string, string>>,
  ...args: ReadonlyArray<string>
) =>
  Effect.callback<string>((resume) => {
    const command = ["stty", "cols", String(columns), ";", process.execPath, main, ...args].join(" ")
    const child = spawn("script", ["-qec", command, "/dev/null"], {
      cwd: folder,
      env: {
        PATH: process.env["PATH"],
        TERM: "xterm",
        XDG_CONFIG_HOME: `${folder}/.config`,
        XDG_STATE_HOME: `${folder}/.state`,
        ...env
      }
    })
    let output = ""
    child.stdin.on("error", () => undefined)
    child.stdout.setEncoding("utf8").on("data", (chunk: string) => {
      output += chunk
    })
    child.on("close", () => resume(Effect.succeed(output.replaceAll("\r\n", "\n"))))
  })

const demo = ["--demo", "executions"]

describe("the command line", () => {
  it.live(
    "prints tables in a terminal, coloured unless NO_COLOR is set, and JSON in a pipe; FORCE_COLOR colours a pipe",
    () =>
      Effect.gen(function*() {
        const folder = yield* folderWith()
        const [coloured, plain, narrow, json] = yield* Effect.all([
          shown(folder, 100, {}, ...demo),
          shown(folder, 100, { NO_COLOR: "1" }, ...demo),
          shown(folder, 60, { NO_COLOR: "1" }, ...demo),
          Effect.map(runIn(folder, {}, ...demo), ({ stdout }) => stdout)
        ], { concurrency: 2 })
        assert.include(coloured, "\u001b[31merror")
        assert.notInclude(plain, "\u001b")
        // The profile is for those who have several; the demo has none.
        const { stdout } = yield* runIn(folder, { FORCE_COLOR: "1", N8N_MCP_PROFILE: "prod" }, "doctor", "--demo")
        assert.include(stdout, "\u001b[32m✓")
        assert.match(plain, /^ID +STATUS +WORKFLOW +STARTED \(\w+\) +TIME$/m)
        assert.include(plain, "請求書リマインダー")
        for (const line of narrow.split("\n")) assert.isAtMost(line.length, 60, line)
        assert.include(narrow, "…")
        const { count, executions } = JSON.parse(json) as { count: number; executions: ReadonlyArray<{ id: string }> }
        assert.strictEqual(count, executions.length)
        for (const { id } of executions) assert.match(plain, new RegExp(`^${id} `, "m"))
      }).pipe(Effect.scoped, Effect.provide(platform)),
    120_000
  )

  it.live("without a command shows a person the help, and ends", () =>
    Effect.gen(function*() {
      const folder = yield* folderWith()
      const output = yield* shown(folder, 100, {})
      assert.match(output, /^Usage: effect-n8n-mcp \[COMMAND\]/)
      for (const part of ["init ", "why ", "Without a command it is an MCP server"]) assert.include(output, part)
    }).pipe(Effect.scoped, Effect.provide(platform)), 300_000)

  it.live("draws into a page at a terminal, and replaces only a page of its own", () =>
    Effect.gen(function*() {
      const fs = yield* FileSystem.FileSystem
      const folder = yield* folderWith({ "picture.html": "<!doctype html>\n<p>Mine</p>" })
      const first = yield* shown(folder, 100, {}, "--demo", "map")
      assert.match(first, /^map\.html: 5 workflows, /)
      assert.notInclude(first, "<svg")
      yield* shown(folder, 100, {}, "--demo", "map", "cR5mSyNc9bVh4KqE")
      assert.notInclude(yield* fs.readFileString(`${folder}/map.html`), "Daily sales report")
      const refused = yield* shown(folder, 100, {}, "--demo", "picture", "cR5mSyNc9bVh4KqE")
      assert.match(refused, /'picture\.html' is here, and is not a page of this program/)
      assert.include(yield* fs.readFileString(`${folder}/picture.html`), "Mine")
    }).pipe(Effect.scoped, Effect.provide(platform)), 300_000)
})
