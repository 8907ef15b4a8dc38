import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as TestClock from "effect/testing/TestClock"
import { countTokens } from "gpt-tokenizer/encoding/o200k_base"
import * as Executions from "../../../src/executions/Executions.ts"
import * as FakeN8n from "../../../src/testing/FakeN8n.ts"
import * as tools from "../../../src/tools/index.ts"
import { reasonOf } from "../../support/reason.ts"
import * as workflows from "../../support/workflows.ts"

const now = Date.parse("2026-11-22T12:00:00Z")

const at = (hoursAgo: number) => new Date(now - hoursAgo * 3_600_000).toISOString()

const workflow = (id: string, name: string, more = {}) => workflows.workflow(id, [], { name, active: true, ...more })

const run = (id: number, workflowId: string, status: string, hoursAgo: number) => ({
  id: String(id),
  workflowId,
  status,
  startedAt: at(hoursAgo),
  stoppedAt: status === "running" ? null : at(hoursAgo)
})

const seed = {
  workflows: [
    workflow("a", "Orders", { tags: [{ name: "shop" }] }),
    workflow("b", "Invoices", { tags: [{ name: "shop" }, { name: "money" }] }),
    workflow("c", "Draft", { active: false }),
    workflow("d", "Old", { active: false, isArchived: true, tags: [{ name: "shop" }] })
  ],
  executions: [
    run(1, "a", "error", 24 * 30),
    run(2, "a", "success", 24 * 2),
    run(3, "a", "error", 24),
    run(4, "b", "error", 5),
    run(5, "b", "crashed", 4),
    run(6, "gone", "error", 3),
    run(7, "c", "success", 2),
    run(8, "a", "waiting", 1),
    run(9, "b", "running", 0.5)
  ],
  communityPackages: [{
    packageName: "n8n-nodes-acme",
    installedVersion: "1.2.0",
    installedNodes: [{ name: "Acme", type: "n8n-nodes-acme.acme", latestVersion: 1 }],
    updateAvailable: "1.3.0"
  }]
}

const overview = (
  input: { readonly days?: number; readonly since?: string; readonly workflows?: ReadonlyArray<string> } = {}
) => Effect.andThen(TestClock.setTime(now), tools.instanceOverview.call(input)).pipe(Effect.provide(Executions.layer()))

const refusing = (path: string, message: string, status: number): FakeN8n.Options => ({
  before: ({ url }) => Effect.sync(() => url.includes(path) ? Response.json({ message }, { status }) : undefined)
})

describe("instance_overview", () => {
  it.effect("lists what exists, what runs and what fails", () =>
    Effect.gen(function*() {
      assert.deepStrictEqual(yield* overview(), {
        version: "2.41.1",
        workflows: { published: 2, unpublished: 1, archived: 1 },
        tags: { shop: 2, money: 1 },
        packages: ["n8n-nodes-acme@1.2.0 (1.3.0 available)"],
        running: { count: 1, newest: [{ id: "9", workflowName: "Invoices", startedAt: at(0.5) }] },
        waiting: 1,
        runs: { days: 7, total: 7, failed: 4 },
        failing: [
          { workflowId: "b", workflowName: "Invoices", failed: 2, runs: 2, lastFailed: "5" },
          { workflowId: "a", workflowName: "Orders", failed: 1, runs: 3, lastFailed: "3" },
          { workflowId: "gone", workflowName: "Deleted Workflow", failed: 1, runs: 1, lastFailed: "6" }
        ],
        url: "https://n8n.example.test/home/workflows"
      })
      assert.deepInclude((yield* overview({ days: 40 })).runs, { total: 8, failed: 5 })
    }).pipe(Effect.provide(FakeN8n.layer(seed))))

  it.effect("says in one sentence what n8n 1 does not report", () =>
    Effect.gen(function*() {
      const { notes, packages, version, workflows } = yield* overview()
      assert.strictEqual(version, "1.123.81")
      assert.isUndefined(packages)
      assert.deepStrictEqual(workflows, { published: 2, unpublished: 1, archived: 1 })
      assert.deepStrictEqual(notes, ["n8n 1 does not report the key's scopes and the installed packages."])
    }).pipe(Effect.provide(FakeN8n.layer(seed, { version: "1" }))))

  it.effect("goes without what the key may not see, and says so", () =>
    Effect.gen(function*() {
      const { notes, runs, workflows } = yield* overview()
      assert.isUndefined(workflows)
      assert.deepInclude(runs, { failed: 4 })
      assert.deepStrictEqual(notes, ["No workflows: Forbidden (HTTP 403)."])
    }).pipe(Effect.provide(FakeN8n.layer(seed, refusing("/workflows?", "Forbidden", 403)))))

  it.effect("fails where n8n does not know the key", () =>
    Effect.gen(function*() {
      const error = yield* Effect.flip(overview())
      assert.strictEqual(reasonOf(error), "Status 401")
    }).pipe(Effect.provide(FakeN8n.layer(seed, refusing("/api/v1/", "Unauthorized", 401)))))

  const long = "注文を処理して請求書を送る非常に長い名前のワークフロー".repeat(4)

  const worst = {
    workflows: Array.from(
      { length: 300 },
      (_, index) => workflow(`w${index}`, `${index} ${long}`, { tags: [{ name: `${index} ${long}`.slice(0, 24) }] })
    ),
    executions: Array.from(
      { length: 2_600 },
      (_, index) => run(index + 1, `w${index % 300}`, index % 7 === 0 ? "running" : "error", 100 - index / 30)
    ),
    communityPackages: Array.from({ length: 40 }, (_, index) => ({
      packageName: `@some-company-name/n8n-nodes-with-a-long-name-${index}`,
      installedVersion: "1.0.0",
      installedNodes: []
    }))
  }

  it.effect("is at most 800 tokens, however much there is", () =>
    Effect.gen(function*() {
      yield* TestClock.setTime(now)
      const answer = yield* tools.instanceOverview.run({})
      assert.isAtMost(countTokens(JSON.stringify(answer)), 800)
      const data = answer.data as { runs: { since?: string }; _truncated: ReadonlyArray<object> }
      assert.isString(data.runs.since)
      const next = "list_executions(groupBy: 'workflow')"
      assert.deepInclude(data._truncated, { path: "failing", kept: 5, total: 300, next })
      // A program gets all of them.
      assert.strictEqual((yield* overview({})).failing?.length, 300)
    }).pipe(Effect.provide([FakeN8n.layer(worst), Executions.layer()])))

  it.effect("answers with the workflows with which something went wrong since a time, each with the call that looks into it", () =>
    Effect.gen(function*() {
      const { incidents, notes, unknown, url, ...more } = yield* overview({ since: at(6) })
      assert.deepStrictEqual(more, {})
      assert.isString(url)
      assert.deepStrictEqual(notes, [
        "2 incidents. 5 runs, 2 failed. Healthy: 2 workflows with 2 runs.",
        "n8n's time zone: unknown, no stored run tells it. Its clock is not known. Times are UTC."
      ])
      assert.isUndefined(unknown)
      const failed = (status: string, hoursAgo: number, more = "") =>
        `1×, ${at(hoursAgo).slice(0, 16)}Z, goes on: 'Invoices' failed: n8n recorded no error (status ${status})${more}`
      assert.deepStrictEqual(incidents, [{
        workflowId: "b",
        runs: "3, 2 failed",
        failed: `${failed("error", 5)} | ${
          failed("crashed", 4, "; n8n was restarted or ran out of memory while it ran")
        }`,
        look: "get_execution(id: '4')"
      }])
    }).pipe(Effect.provide(FakeN8n.layer(seed))))

  it.effect("judges only the workflows that are named", () =>
    Effect.gen(function*() {
      const { incidents, notes } = yield* overview({ since: "6h", workflows: ["a"] })
      assert.deepStrictEqual(incidents, [])
      assert.match(notes?.[0] ?? "", /^0 incidents\. \d runs?, 0 failed\. Healthy: 1 workflow/)
    }).pipe(Effect.provide(FakeN8n.layer(seed))))

  it.effect("is at most 1,500 tokens, names how many did not fit, and refuses times to come and long past", () =>
    Effect.gen(function*() {
      yield* TestClock.setTime(now)
      const { data, message } = yield* tools.instanceOverview.run({ since: "30d" })
      assert.isAtMost(countTokens(JSON.stringify(data)), 1_500)
      const { _truncated: { total } } = data as { readonly _truncated: { readonly total: number } }
      assert.isAbove(total, 200)
      assert.include(message, `${total} workflows with incidents since ${at(24 * 30).slice(0, 16)}`)
      assert.include(
        (yield* Effect.flip(overview({ since: at(-1) }))).message,
        `since is in the future: the time is ${at(0).slice(0, 16)}Z`
      )
      assert.include((yield* Effect.flip(overview({ since: "90d" }))).message, "since is more than 31 days ago")
    }).pipe(Effect.provide([FakeN8n.layer(worst), Executions.layer()])))
})
