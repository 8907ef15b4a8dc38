import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { readFileSync, writeFileSync } from "node:fs"
import * as FakeN8n from "../../../src/testing/FakeN8n.ts"
import { folderWith, platform } from "../../support/folders.ts"
import { serve } from "../../support/HttpN8n.ts"
import { runAt, runIn } from "../../support/inProcess.ts"
import { seed } from "../../support/scenarios/orders.ts"
import { main, node, workflow } from "../../support/workflows.ts"

const everyDay = (version = 1.4) =>
  node("Every day", "scheduleTrigger", version, { rule: { interval: [{ field: "days" }] } })

const daily = (code: string, version?: number) =>
  JSON.stringify(workflow("daily", [everyDay(version), node("Code", "code", 2, { jsCode: code })], {
    connections: { "Every day": main("Code") },
    settings: { errorWorkflow: "e" }
  }))

const envOf = ({ url }: { readonly url: URL }) => ({ N8N_URL: url.href, N8N_API_KEY: "k" })

describe("check", () => {
  it.live("needs no n8n: 0 without errors, 2 with them or, if it is strict, with old nodes", () =>
    Effect.gen(function*() {
      const folder = yield* folderWith({ "flows/daily.json": daily("return []", 1.2), "package.json": "{}" })
      const check = (...args: ReadonlyArray<string>) => runAt(folder, "check", ...args)
      const sound = yield* check()
      assert.deepInclude(sound, { code: 0, stderr: "" })
      assert.match(sound.stdout, /^flows\/daily\.json\n.*outdated-node]\n\n1 note in 1 of 1 workflow file\n$/)
      assert.strictEqual((yield* check("flows", "--strict")).code, 2)
      writeFileSync(`${folder}/flows/daily.json`, daily("return ["))
      const log = yield* check("flows/daily.json", "--format", "github")
      assert.strictEqual(log.code, 2)
      assert.match(
        log.stdout,
        /^::error file=flows\/daily\.json,line=1,col=\d+,title=Code does not parse::'Code': The /
      )
    }).pipe(Effect.scoped, Effect.provide(platform)))

  it.live("reports only what is not in the baseline, which other folders and rules do not change", () =>
    Effect.gen(function*() {
      const folder = yield* folderWith({ "a/a.json": daily("return ["), "b/b.json": daily("const ;", 1.2) })
      const check = (...args: ReadonlyArray<string>) => runAt(folder, "check", ...args, "--baseline", "known.json")
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
    }).pipe(Effect.scoped, Effect.provide(platform)))

  it.live("checks the workflows of an n8n, by their ids, with those that they call", () =>
    Effect.gen(function*() {
      const target = { __rl: true, mode: "id", value: "gone" }
      const inputs = { mappingMode: "defineBelow", value: {} }
      const call = node("Call", "executeWorkflow", 1.2, { workflowId: target, workflowInputs: inputs })
      const caller = workflow("caller", [everyDay(1.2), call], { connections: { "Every day": main("Call") } })
      const n8n = yield* serve(seed([{ ...caller, active: true }]))
      const { code, stdout } = yield* runIn(yield* folderWith(), envOf(n8n), "check", "--n8n", "--format", "json")
      const { findings, workflows } = JSON.parse(stdout)
      assert.deepStrictEqual([code, workflows], [2, 1])
      assert.deepInclude(findings[0], { workflow: "caller", name: "caller", rule: "unknown-callee", node: "Call" })
      assert.include(findings.map(({ rule }: { rule: string }) => rule), "no-error-workflow")
    }).pipe(Effect.scoped, Effect.provide(platform)))
})

describe("audit", () => {
  it.live("exits with 1 if n8n refused what was requested, and with 0 if it was not requested", () =>
    Effect.gen(function*() {
      const forbidden = Effect.sync(() => Response.json({ message: "Forbidden" }, { status: 403 }))
      const n8n = yield* serve(seed([]), {
        before: ({ url }) => url.endsWith("/audit") ? forbidden : Effect.undefined
      })
      const folder = yield* folderWith()
      const audit = (...args: ReadonlyArray<string>) => runIn(folder, envOf(n8n), "audit", ...args)
      const refused = yield* audit("--only", "n8n", "--json")
      assert.strictEqual(refused.code, 1)
      assert.deepInclude(JSON.parse(refused.stdout), { ok: false, incomplete: true, findings: [] })
      const whole = yield* audit()
      assert.strictEqual(whole.code, 1)
      assert.include(whole.stdout, "securityAudit:generate")
      const other = yield* audit("--only", "literal-secret", "--json")
      assert.strictEqual(other.code, 0)
      assert.deepInclude(JSON.parse(other.stdout), { workflows: 0, ok: true, known: 0, findings: [] })
    }).pipe(Effect.scoped, Effect.provide(platform)))

  it.live("reports only what is not in the baseline, and keeps there what it did not look for", () =>
    Effect.gen(function*() {
      const open = (id: string) => ({ ...workflow(id, [node("Hook", "webhook", 2.1, { path: id })]), active: true })
      const n8n = yield* serve(seed([open("a"), open("b")]))
      const folder = yield* folderWith()
      const audit = (...args: ReadonlyArray<string>) =>
        runIn(folder, envOf(n8n), "audit", ...args, "--baseline", "audit.json")
      const accepted = yield* audit("a", "--update-baseline", "--json")
      assert.deepInclude(JSON.parse(accepted.stdout), { workflows: 1, ok: true, errors: 0, findings: [], known: 2 })
      const others = yield* audit("--only", "open-webhook", "--json")
      const { findings } = JSON.parse(others.stdout)
      assert.deepStrictEqual([accepted.code, others.code, findings.length], [0, 2, 1])
      // As in check, which shares the rule.
      const finding = { rule: "open-webhook", severity: "warning", workflow: "b", name: "b", details: ["Hook"] }
      assert.deepInclude(findings[0], finding)
      assert.strictEqual((yield* audit("--only", "open-webhook", "--update-baseline")).code, 0)
      assert.strictEqual((yield* audit("--only", "open-webhook")).code, 0)
      // Those of the other checks are still known.
      const { stdout: rest } = yield* audit()
      assert.notInclude(rest, "a (a)")
      assert.match(rest, /no-error-workflow \(1\)[^]*b \(b\)[^]*; 3 places known in the baseline\n$/)
      // What a person does, not the tools of a model.
      assert.include(rest, "effect-n8n-mcp edit")
      assert.notInclude(rest, "update_workflow")
    }).pipe(Effect.scoped, Effect.provide(platform)))
})

describe("test", () => {
  it.live("reports why a case cannot run, in the order of the names", () =>
    Effect.gen(function*() {
      const folder = yield* folderWith({
        "cases/b.test.json": "{\"workflow\":\"w1\"}",
        "cases/a/c.test.json": "{\"workflow\":\"../../w.json\", \"expect\": {\"nodes\": {\"Ou\": {}}}}",
        "cases/a/d.test.json": "{\"workflow\":\"../../../w.json\"}",
        "w.json": JSON.stringify({ name: "W", nodes: [node("Out", "noOp")], connections: {} })
      })
      const test = (...args: ReadonlyArray<string>) => runAt(folder, "test", ...args)
      const { code, stderr, stdout } = yield* test("cases")
      assert.strictEqual(code, 1, stderr)
      const heads = stdout.split("\n").flatMap((line) => /^\S .*?(\w\.test\.json)/.exec(line)?.[1] ?? [])
      assert.deepStrictEqual(heads, ["c.test.json", "d.test.json", "b.test.json"])
      assert.include(stdout, "expect.nodes names 'Ou', which is not a node")
      assert.match(stdout, /is not under the files root/)
      assert.match(stdout, /N8N_URL and N8N_API_KEY/)
      assert.match(stdout, /\n3 cases: 3 could not run \(\d+\.\d s\)\n$/)
    }).pipe(Effect.scoped, Effect.provide(platform)))
})

describe("health", () => {
  it.live("exits with 0 if nothing went wrong, 2 if there are incidents, and 1 if it could not look", () =>
    Effect.gen(function*() {
      const orders = workflow("Orders <!channel>", [node("Call", "webhook", 2), node("Pay", "code", 2)], {
        id: "orders",
        active: true,
        connections: { Call: main("Pay") }
      })
      const n8n = yield* serve(seed([orders]))
      const folder = yield* folderWith()
      const health = (...args: ReadonlyArray<string>) => runIn(folder, envOf(n8n), "health", ...args)
      const fine = yield* health()
      assert.deepStrictEqual([fine.code, fine.stderr], [0, ""])
      assert.deepInclude(JSON.parse(fine.stdout), { rows: [], shared: [], failed: 0 })
      yield* n8n.api.addExecution(FakeN8n.failedExecution({
        workflow: orders,
        node: "Pay",
        message: "card 17 declined (key sk-live-4242424242424242424242)",
        startedAt: new Date(Date.now() - 3_600_000).toISOString()
      }))
      const json = yield* health("--workflow", "Orders <!channel>", "--since", "24h")
      assert.deepStrictEqual([json.code, json.stderr], [2, ""])
      assert.deepInclude(JSON.parse(json.stdout).rows[0], { workflowId: "orders", runs: 1, failed: 1 })
      assert.notInclude(json.stdout, "sk-live")
      const page = yield* health("--out", "health.html")
      assert.deepStrictEqual([page.code, page.stdout], [2, "health.html: 1 incident in 1 workflow, 0 healthy\n"])
      assert.match(readFileSync(`${folder}/health.html`, "utf8"), /^<!doctype html>[^]*Orders &lt;!channel/)
      const down = yield* runIn(folder, { ...envOf(n8n), N8N_URL: "http://127.0.0.1:9/" }, "health")
      assert.deepInclude(down, { code: 1, stdout: "" })
      assert.include(down.stderr, "effect-n8n-mcp: ")
    }).pipe(Effect.scoped, Effect.provide(platform)))
})

describe("upgrade", () => {
  it.live("--n8n takes all workflows, or those with an id, a name or a tag", () =>
    Effect.gen(function*() {
      const old = (id: string, name: string, more: object = {}) => ({
        ...workflow(id, [node("Hook", "webhook", 2.1, { path: id }), node("合計", "function", 1)]),
        name,
        connections: { Hook: main("合計") },
        ...more
      })
      const n8n = yield* serve(seed([
        old("w1", "Orders", { tags: [{ id: "t", name: "shop" }] }),
        old("w2", "請求書"),
        old("w3", "Gone", { isArchived: true })
      ]))
      const folder = yield* folderWith()
      const upgrade = (...args: ReadonlyArray<string>) => runIn(folder, envOf(n8n), "upgrade", ...args)
      for (
        const [args, ids] of [
          [[], ["w1", "w2"]],
          [["--tag", "shop"], ["w1"]],
          [["--name", "請求"], ["w2"]],
          [["--id", "w2"], ["w2"]]
        ] as const
      ) {
        const { stdout } = yield* upgrade("--n8n", "--dry-run", "--json", ...args)
        assert.sameMembers(JSON.parse(stdout).workflows.map(({ id }: { id: string }) => id), [...ids], args.join(" "))
      }
      for (
        const [args, message] of [
          [["--id", "w2", "--id", "nowhere"], "Workflow 'nowhere' not found"],
          [["--id", "w3"], "Workflow 'w3' is archived"],
          [["--tag", "none"], "No workflows found"]
        ] as const
      ) {
        const { code, stderr, stdout } = yield* upgrade("--n8n", ...args)
        assert.deepStrictEqual([code, stdout], [1, ""], args.join(" "))
        assert.include(stderr, message)
      }
    }).pipe(Effect.scoped, Effect.provide(platform)))
})
