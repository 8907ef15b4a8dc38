import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { readFileSync } from "node:fs"
import { present } from "../../../src/app/commands/health.ts"
import * as HealthReport from "../../../src/app/report/HealthReport.ts"
import * as Writer from "../../../src/app/report/Writer.ts"
import * as Services from "../../../src/app/Services.ts"
import * as Demo from "../../../src/demo/Demo.ts"
import * as FakeN8n from "../../../src/testing/FakeN8n.ts"
import type { Health } from "../../../src/watch/Health.ts"
import { folderWith, platform } from "../../support/folders.ts"
import { week } from "../../support/health.ts"
import { commandWith } from "../../support/inProcess.ts"

const context = { program: "effect-n8n-mcp", zone: undefined }

/** Shows a health in a folder of its own. */
const shown = Effect.fnUntraced(function*(health: Health, out: string) {
  const folder = yield* folderWith()
  const world = Layer.merge(
    FakeN8n.layer(Demo.seed),
    Services.layer({ filesRoots: [folder], stateFolder: `${folder}/.state` })
  )
  const page = { format: "html" as const, open: false, out: `${folder}/${out}` }
  const judgment = yield* Effect.provide(present(health, page, context), world)
  return { folder, lines: Writer.text(judgment, { width: 80, isColoured: false }), exit: Writer.exitOf(judgment) }
})

const fine = (): Health => ({ ...week(), shared: [], rows: [] })

describe("health", () => {
  it.effect("has all of it as JSON and as findings, and exits with 2 if there are incidents", () =>
    Effect.sync(() => {
      const judgment = HealthReport.judgment(week(), { ...context, host: "n8n.example" })
      const { findings } = judgment
      assert.deepStrictEqual(Writer.json(judgment), { ok: false, ...week(), findings })
      assert.lengthOf(findings, 7)
      assert.deepInclude(findings[0], { rule: "unreachable", severity: "error" })
      assert.strictEqual(Writer.exitOf(judgment), 2)
      assert.strictEqual(Writer.exitOf(HealthReport.judgment(fine(), { ...context, host: "n8n.example" })), 0)
      assert.notInclude(Writer.junit(judgment, "health", { milliseconds: 1, startedAt: 0 }), "\u202e")
    }))

  it.effect("writes a page, with the same exit status", () =>
    Effect.gen(function*() {
      const { exit, folder, lines } = yield* shown(week(), "pages/health.html")
      assert.strictEqual(exit, 2)
      assert.deepStrictEqual(lines, [
        `${folder}/pages/health.html: 7 incidents in 4 workflows, 12 healthy, 3 published without a run`
      ])
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
      const { error, stdout } = yield* commandWith({}, "health", "--demo", ...args)
      assert.include(error, message)
      assert.strictEqual(stdout, "")
    }))
})
