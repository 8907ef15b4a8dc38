import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { writeFileSync } from "node:fs"
import type * as N8nApi from "../../../../../src/testing/n8nApi/N8nApi.ts"
import { runAt as run, runIn } from "../../../../support/inProcess.ts"
import { folderWith, platform } from "../../../../support/folders.ts"
import { serve } from "../../../../support/HttpN8n.ts"
import { main, node, workflow } from "../../../../support/workflows.ts"

const daily = (code: string, version = 1.4) =>
  JSON.stringify(workflow("daily", [
    node("Every day", "scheduleTrigger", version, { rule: { interval: [{ field: "days" }] } }),
    node("Code", "code", 2, { jsCode: code })
  ], { connections: { "Every day": main("Code") }, settings: { errorWorkflow: "e" } }))

describe("check", () => {
  it.live(
    "needs no n8n: 0 without errors, 2 with them or, if it is strict, with old nodes, and 1 if it cannot check",
    () =>
      Effect.gen(function*() {
        const folder = yield* folderWith({ "flows/daily.json": daily("return []", 1.2), "package.json": "{}" })
        const sound = yield* run(folder, "check")
        assert.deepInclude(sound, { code: 0, stderr: "" })
        assert.match(sound.stdout, /^flows\/daily\.json\n.*outdated-node]\n\n1 note in 1 of 1 workflow file\n$/)
        assert.strictEqual((yield* run(folder, "check", "flows", "--strict")).code, 2)
        writeFileSync(`${folder}/flows/daily.json`, daily("return ["))
        const broken = yield* run(folder, "check", "flows", "--format", "json")
        assert.strictEqual(broken.code, 2)
        assert.deepInclude(JSON.parse(broken.stdout), { ok: false, files: 1, errors: 1 })
        const log = yield* run(folder, "check", "flows/daily.json", "--format", "github")
        assert.match(
          log.stdout,
          /^::error file=flows\/daily\.json,line=1,col=\d+,title=Code does not parse::'Code': The /
        )
        const failures = [["nowhere"], ["--to", "99"], [".", "--n8n"], ["--policy", "nowhere.json"]]
        for (const args of failures) {
          const failure = yield* run(folder, "check", ...args)
          assert.deepInclude(failure, { code: 1, stdout: "" }, args.join(" "))
          assert.notEqual(failure.stderr, "")
        }
        assert.strictEqual((yield* run(yield* folderWith({ "package.json": "{}" }), "check")).code, 1)
      }).pipe(Effect.scoped, Effect.provide(platform)),
    120_000
  )

  it.live(
    "reports only what is not in the baseline, which other folders and rules do not change",
    () =>
      Effect.gen(function*() {
        const folder = yield* folderWith({ "a/a.json": daily("return ["), "b/b.json": daily("const ;", 1.2) })
        const check = (...args: ReadonlyArray<string>) => run(folder, "check", ...args, "--baseline", "known.json")
        const missing = yield* check()
        assert.strictEqual(missing.code, 1)
        assert.include(missing.stderr, "--update-baseline writes it")
        assert.strictEqual((yield* check("a", "--update-baseline")).code, 0)
        const other = yield* check("--format", "json")
        assert.strictEqual(other.code, 2)
        assert.deepInclude(JSON.parse(other.stdout), { errors: 1, known: 1 })
        assert.strictEqual((yield* check("b", "--update-baseline")).code, 0)
        const known = yield* check("--strict")
        assert.deepInclude(known, { code: 0, stdout: "2 workflow files, nothing found; 3 known in the baseline\n" })
        // The lines shift, and one more finding is new.
        writeFileSync(`${folder}/a/a.json`, JSON.stringify(JSON.parse(daily("\n\nreturn [", 1.2)), null, 4))
        const shifted = yield* check("--format", "json")
        assert.deepInclude(JSON.parse(shifted.stdout), { errors: 0, notes: 1, known: 3 })
      }).pipe(Effect.scoped, Effect.provide(platform)),
    120_000
  )

  it.live(
    "checks the workflows of an n8n, by their ids, with those that they call",
    () =>
      Effect.gen(function*() {
        const caller = workflow("caller", [
          node("Every day", "scheduleTrigger", 1.2, { rule: { interval: [{ field: "days" }] } }),
          node("Call", "executeWorkflow", 1.2, {
            workflowId: { __rl: true, mode: "id", value: "gone" },
            workflowInputs: { mappingMode: "defineBelow", value: {} }
          })
        ], { connections: { "Every day": main("Call") } })
        const { url } = yield* serve(
          { workflows: [{ ...caller, active: true }], executions: [] } as unknown as N8nApi.Seed
        )
        const env = { N8N_URL: url.href, N8N_API_KEY: "k" }
        const checked = yield* runIn(yield* folderWith(), env, "check", "--n8n", "--format", "json")
        assert.strictEqual(checked.code, 2)
        const { findings, workflows } = JSON.parse(checked.stdout)
        assert.strictEqual(workflows, 1)
        assert.deepInclude(findings[0], { workflow: "caller", name: "caller", rule: "unknown-callee", node: "Call" })
        assert.include(findings.map(({ rule }: { rule: string }) => rule), "no-error-workflow")
      }).pipe(Effect.scoped, Effect.provide(platform)),
    120_000
  )
})
