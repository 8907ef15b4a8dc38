import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, describe, it } from "@effect/vitest"
import * as CliOutput from "effect/cli/CliOutput"
import * as Command from "effect/cli/Command"
import * as ConfigProvider from "effect/ConfigProvider"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { readFileSync } from "node:fs"
import { vi } from "vitest"
import { present } from "../../../src/app/commands/health.ts"
import { commandLine } from "../../../src/app/commands/Program.ts"
import * as Services from "../../../src/app/Services.ts"
import * as Demo from "../../../src/demo/Demo.ts"
import * as FakeN8n from "../../../src/testing/FakeN8n.ts"
import type { Health } from "../../../src/watch/Health.ts"
import { folderWith, platform } from "../../support/folders.ts"
import { week } from "../../support/health.ts"

/** Runs a command; returns what it printed, and how it ended. */
const printed = Effect.fnUntraced(function*<E extends { readonly message: string }, R>(run: Effect.Effect<void, E, R>) {
  let stdout = ""
  const spy = vi.spyOn(process.stdout, "write").mockImplementation((text) => {
    stdout += String(text)
    return true
  })
  process.exitCode = undefined
  const error = yield* run.pipe(
    Effect.as(""),
    Effect.catch((error) => Effect.succeed(error.message)),
    Effect.ensuring(Effect.sync(() => spy.mockRestore()))
  )
  const { exitCode } = process
  process.exitCode = undefined
  return { stdout, error, exitCode }
})

const context = { program: "effect-n8n-mcp", zone: undefined }

/** Shows a health in a folder of its own. */
const shown = Effect.fnUntraced(function*(health: Health, out?: string) {
  const folder = yield* folderWith()
  const world = Layer.merge(
    FakeN8n.layer(Demo.seed),
    Services.layer({ filesRoots: [folder], stateFolder: `${folder}/.state` })
  )
  const form = { json: out === undefined, open: false, out: out && `${folder}/${out}` }
  return { folder, ...yield* printed(Effect.provide(present(health, form, context), world)) }
})

const fine = (): Health => ({ ...week(), shared: [], rows: [] })

describe("health", () => {
  it.effect("prints all of it as JSON, and exits with 2 if there are incidents", () =>
    Effect.gen(function*() {
      const { error, exitCode, stdout } = yield* shown(week())
      assert.deepStrictEqual([error, exitCode], ["", 2])
      const health = JSON.parse(stdout) as Health
      assert.deepStrictEqual(
        health.rows.map(({ workflowId }) => workflowId),
        week().rows.map(({ workflowId }) => workflowId)
      )
      assert.strictEqual(health.shared[0]?.workflows?.length, 14)
      assert.notInclude(stdout, "\u202e")
      assert.strictEqual((yield* shown(fine())).exitCode, 0)
    }).pipe(Effect.scoped, Effect.provide(platform)))

  it.effect("writes a page, with the same exit status", () =>
    Effect.gen(function*() {
      const { error, exitCode, folder, stdout } = yield* shown(week(), "pages/health.html")
      assert.deepStrictEqual([error, exitCode], ["", 2])
      assert.strictEqual(
        stdout,
        `${folder}/pages/health.html: 7 incidents in 4 workflows, 12 healthy, 3 published without a run\n`
      )
      assert.match(readFileSync(`${folder}/pages/health.html`, "utf8"), /^<!doctype html>[^]*Sync orders to CRM/)
    }).pipe(Effect.scoped, Effect.provide(platform)))

  it.live.each<readonly [args: ReadonlyArray<string>, message: string]>([
    [
      ["--since", "32d"],
      "--since 32d is more than 31 days ago: use --since 31d; for causes over a longer time, effect-n8n-mcp executions --by failure --since 32d"
    ],
    [["--since", "2099-01-01"], "is in the future"],
    [["--since", "soon"], "--since must be a time such as"],
    [["--timezone", "Europe/Atlantis"], "is not a time zone"],
    [["--workflow", "nobody"], "Workflow 'nobody' not found"],
    [["--out", "health.svg"], "--out 'health.svg': the name of a page ends in .html; --json prints the data"],
    [["--out", "health.html", "--json"], "Choose one: --json, or a page"]
  ])("refuses %j, and looks at nothing", ([args, message]) =>
    Effect.gen(function*() {
      const { error, stdout } = yield* printed(
        Command.runWith(commandLine, { version: "0" })(["health", "--demo", ...args]).pipe(
          Effect.provideService(CliOutput.Presenter, { present: () => Effect.void }),
          Effect.provide(Layer.merge(NodeServices.layer, ConfigProvider.layer(ConfigProvider.fromEnv({ env: {} }))))
        )
      )
      assert.include(error, message)
      assert.strictEqual(stdout, "")
    }))
})
