import { assert, describe, it } from "@effect/vitest"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as HttpClient from "effect/http/HttpClient"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import { countTokens } from "gpt-tokenizer/encoding/o200k_base"
import * as Tool from "../../../src/answer/Tool.ts"
import { marksIn } from "../../../src/answer/Truncated.ts"
import * as Services from "../../../src/app/Services.ts"
import { CallContext } from "../../../src/base/CallContext.ts"
import { arr, obj } from "../../../src/base/Json.ts"
import * as Demo from "../../../src/demo/Demo.ts"
import * as N8nClient from "../../../src/n8n/N8nClient.ts"
import * as N8nApi from "../../../src/testing/n8nApi/N8nApi.ts"
import * as tools from "../../../src/tools/index.ts"
import { hurried } from "../../support/clock.ts"
import { reasonOf } from "../../support/reason.ts"

/** An n8n in memory; `asked` are the paths of the requests so far, with their queries. */
const world = Effect.fnUntraced(function*(seed: N8nApi.Seed, options: N8nApi.Options = {}) {
  const api = yield* N8nApi.make(seed, options)
  const n8n = N8nClient.layer({ url: new URL("http://n8n.test"), apiKey: Redacted.make("k") }).pipe(
    Layer.provide(Layer.succeed(HttpClient.HttpClient, api.client))
  )
  const asked = Effect.map(
    api.requests,
    (requests) => requests.map(({ url }) => url.slice(url.indexOf("/api/v1") + "/api/v1".length))
  )
  return { asked, process: Effect.provide(Layer.merge(n8n, Layer.fresh(Services.layerMemory))) }
})

const list = (input: Partial<Parameters<typeof tools.listExecutions.call>[0]> = {}) =>
  tools.listExecutions.call({ ...input })

/** Answer for a model, and its tokens. */
const answered = (input: Parameters<typeof list>[0]) =>
  Effect.map(tools.listExecutions.run({ ...input }), (answer) => ({
    data: answer.data as Effect.Success<ReturnType<typeof list>>,
    tokens: countTokens(JSON.stringify(answer))
  }))

const workflow = (id: string, name: string): N8nApi.Workflow => ({
  id,
  name,
  nodes: [],
  connections: {},
  active: false
})

const time = (id: number) => new Date(Date.UTC(2026, 10, 20, 0, id)).toISOString()

/** An execution that failed with this message, or succeeded. */
const ended = (id: number, workflowId: string, message?: string, node = "Check"): N8nApi.Execution => ({
  id: String(id),
  workflowId,
  status: message === undefined ? "success" : "error",
  startedAt: time(id),
  stoppedAt: time(id),
  data: {
    resultData: message === undefined
      ? { runData: {} }
      : { error: { message, node: { name: node } }, runData: {}, lastNodeExecuted: node }
  }
})

const shop = {
  workflows: [workflow("o", "Order sync"), workflow("i", "Invoices"), workflow("r", "Returned ORDERS")],
  executions: [
    ended(1, "gone", "Contact 17 has no email"),
    ended(2, "o", "Order 4711 has no address"),
    ended(3, "o"),
    ended(4, "i", "connect ECONNREFUSED 10.0.0.7:5432", "Store"),
    ended(5, "o", "Order 4712 has no address"),
    ended(6, "r", "Order 4712 has no address"),
    ended(7, "o", "Order 4713 has no address"),
    ended(8, "o", "Order 4714 has no address"),
    ended(9, "i")
  ]
} satisfies N8nApi.Seed

const bodies = (asked: ReadonlyArray<string>) => asked.filter((url) => url.includes("includeData=true"))

describe("list_executions", () => {
  it.effect("asks for each workflow's name once, and names a deleted one", () =>
    Effect.gen(function*() {
      const gone = Demo.seed.workflows[0]?.id ?? ""
      const { asked, process } = yield* world({ ...Demo.seed, workflows: Demo.seed.workflows.slice(1) })
      yield* Effect.gen(function*() {
        const { executions = [] } = yield* list({ limit: 100 })
        for (const row of executions) {
          const name = Demo.seed.workflows.find(({ id }) => id === row.workflowId)?.name ?? N8nClient.deletedWorkflow
          assert.strictEqual(row.workflowName, row.workflowId === gone ? N8nClient.deletedWorkflow : name)
        }
        assert.isTrue(executions.some((row) => row.workflowName === N8nClient.deletedWorkflow))
        const before = (yield* asked).length
        const distinct = new Set(executions.map((row) => row.workflowId)).size
        assert.strictEqual(before, 1 + distinct)
        yield* list({ limit: 100 })
        assert.strictEqual((yield* asked).length, before + 1)
      }).pipe(process)
    }))

  it.effect("takes at most 100 without groupBy, and 20 by default", () =>
    Effect.gen(function*() {
      const { process } = yield* world({
        workflows: shop.workflows,
        executions: Array.from({ length: 120 }, (_, index) => ended(index + 1, "o"))
      })
      yield* Effect.gen(function*() {
        assert.strictEqual((yield* list()).count, 20)
        assert.strictEqual((yield* list({ limit: 100 })).count, 100)
        assert.strictEqual((yield* list({ limit: 101 })).count, 101)
        assert.strictEqual((yield* list({ limit: 101, groupBy: "workflow" })).scanned, 101)
      }).pipe(process)
    }))

  it.effect("takes durations before now as times", () =>
    Effect.gen(function*() {
      const now = yield* Clock.currentTimeMillis
      const at = (minutes: number, id: number) => ({
        ...ended(id, "o"),
        startedAt: new Date(now - minutes * 60_000).toISOString()
      })
      const { process } = yield* world({
        workflows: shop.workflows,
        executions: [at(60 * 24 * 8, 1), at(60 * 25, 2), at(50, 3), at(10, 4)]
      })
      yield* Effect.gen(function*() {
        const ids = (query: object) => Effect.map(list(query), ({ executions = [] }) => executions.map(({ id }) => id))
        assert.deepStrictEqual(yield* ids({ startedAfter: "30m" }), ["4"])
        assert.deepStrictEqual(yield* ids({ startedAfter: "24h" }), ["4", "3"])
        assert.deepStrictEqual(yield* ids({ startedAfter: "7d", startedBefore: "1h" }), ["2"])
        for (const startedAfter of ["1 hour", "yesterday", "24"]) {
          if (!Number.isNaN(Date.parse(startedAfter))) continue
          const error = yield* Effect.flip(list({ startedAfter }))
          assert.include(error.message, "startedAfter must be a time")
        }
        const { message } = yield* Effect.flip(tools.instanceOverview.run({ since: "soon" }))
        assert.include(message, "since must be a time")
      }).pipe(process)
    }))

  describe("workflowName", () => {
    const ids = (input: Parameters<typeof list>[0]) =>
      Effect.map(list(input), ({ executions = [] }) => executions.map(({ id }) => id))

    it.effect.each(["2", "1"] as const)("of %s: whatever the case, for pages too", (version) =>
      Effect.gen(function*() {
        const { asked, process } = yield* world(shop, { version })
        yield* Effect.gen(function*() {
          assert.deepStrictEqual(yield* ids({ workflowName: "order" }), ["8", "7", "6", "5", "3", "2"])
          const first = yield* list({ workflowName: "order", limit: 4 })
          assert.deepStrictEqual(first.executions?.map(({ id }) => id), ["8", "7", "6", "5"])
          assert.deepStrictEqual(
            yield* ids({ workflowName: "order", limit: 4, cursor: first.nextCursor ?? "" }),
            ["3", "2"]
          )
          assert.deepStrictEqual(
            yield* ids({ workflowName: "order", status: "error", startedAfter: time(6), startedBefore: time(7) }),
            ["7", "6"]
          )
          assert.isFalse((yield* asked).some((url) => url.startsWith("/workflows/gone")))
        }).pipe(process)
      }))

    it.effect("of one workflow: n8n does the filtering", () =>
      Effect.gen(function*() {
        const { asked, process } = yield* world(shop)
        yield* Effect.gen(function*() {
          assert.deepStrictEqual(yield* ids({ workflowName: "invoice" }), ["9", "4"])
          assert.isTrue((yield* asked).some((url) => /^\/executions\?.*workflowId=i\b/.test(url)))
          assert.deepStrictEqual(yield* ids({ workflowName: "invoice", workflowId: "i" }), ["9", "4"])
          assert.deepStrictEqual(yield* ids({ workflowName: "invoice", workflowId: "o" }), [])
        }).pipe(process)
      }))

    it.effect("of none: says so, and lists nothing", () =>
      Effect.gen(function*() {
        const { asked, process } = yield* world(shop)
        yield* Effect.gen(function*() {
          const { hint, ...none } = yield* list({ workflowName: "payroll" })
          assert.deepInclude(none, { count: 0, executions: [] })
          assert.include(hint, "\"payroll\"")
          assert.isFalse((yield* asked).some((url) => url.startsWith("/executions")))
        }).pipe(process)
      }))

    it.effect("of deleted workflows: each unknown one is asked for once", () =>
      Effect.gen(function*() {
        const { asked, process } = yield* world(shop)
        yield* Effect.gen(function*() {
          assert.deepStrictEqual(yield* ids({ workflowName: "deleted" }), ["1"])
          const workflows = (yield* asked).filter((url) => url.startsWith("/workflows/"))
          assert.sameMembers(workflows, ["/workflows/gone", "/workflows/i", "/workflows/o", "/workflows/r"])
        }).pipe(process)
      }))
  })

  it.effect("finds workflows of a name that too many have", () =>
    Effect.gen(function*() {
      const many = Array.from({ length: 130 }, (_, index) => workflow(`w${index}`, `Report ${index}`))
      const executions = [ended(1, "w129"), ended(2, "o"), ended(3, "w128"), ended(4, "w0")]
      const { asked, process } = yield* world({ workflows: [...many, ...shop.workflows], executions })
      yield* Effect.gen(function*() {
        const found = yield* list({ workflowName: "report" })
        assert.deepStrictEqual(found.executions?.map(({ id }) => id), ["4", "3", "1"])
        assert.isAtMost((yield* asked).length, 6)
      }).pipe(process)
    }))

  it.effect("says where it stopped to look for a name", () =>
    Effect.gen(function*() {
      const workflows = [workflow("o", "Orders"), workflow("a", "Rare A"), workflow("b", "Rare B")]
      const executions = [
        ended(1, "a", "Out of paper"),
        ...Array.from({ length: 5_100 }, (_, id) => ended(id + 2, "o"))
      ]
      const { process } = yield* world({ workflows, executions })
      yield* Effect.gen(function*() {
        const { executions: none, hint, nextCursor: cursor = "" } = yield* list({ workflowName: "rare" })
        assert.isEmpty(none)
        assert.strictEqual(hint, "Only 0 runs found so far: continue with cursor.")
        const first = yield* list({ workflowName: "rare", groupBy: "failure" })
        assert.deepInclude(first, { scanned: 0, complete: false, nextCursor: cursor })
        const second = yield* list({ workflowName: "rare", groupBy: "failure", cursor })
        assert.deepInclude(second, { scanned: 1, complete: true })
        assert.deepInclude(second.groups?.[0], { message: "Out of paper", workflowName: "Rare A" })
      }).pipe(process)
    }))

  describe("groupBy", () => {
    it.effect("workflow: how often each failed, and when last, without reading any data", () =>
      Effect.gen(function*() {
        const { asked, process } = yield* world(shop)
        yield* Effect.gen(function*() {
          assert.deepStrictEqual<unknown>(yield* list({ groupBy: "workflow" }), {
            groups: [
              {
                workflowId: "o",
                workflowName: "Order sync",
                total: 5,
                byStatus: { error: 4, success: 1 },
                lastFailed: { id: "8", at: time(8) }
              },
              {
                workflowId: "i",
                workflowName: "Invoices",
                total: 2,
                byStatus: { success: 1, error: 1 },
                lastFailed: { id: "4", at: time(4) }
              },
              {
                workflowId: "r",
                workflowName: "Returned ORDERS",
                total: 1,
                byStatus: { error: 1 },
                lastFailed: { id: "6", at: time(6) }
              },
              {
                workflowId: "gone",
                workflowName: "Deleted Workflow",
                total: 1,
                byStatus: { error: 1 },
                lastFailed: { id: "1", at: time(1) }
              }
            ],
            scanned: 9,
            complete: true
          })
          assert.isEmpty(bodies(yield* asked))
        }).pipe(process)
      }))

    it.effect("failure: groups by workflow and reason; runs are read once", () =>
      Effect.gen(function*() {
        const { asked, process } = yield* world(shop)
        const told: Array<unknown> = []
        const caller = {
          progress: (...progress: ReadonlyArray<unknown>) => Effect.sync(() => void told.push(progress)),
          confirm: () => Effect.succeed("unasked" as const)
        }
        yield* Effect.gen(function*() {
          const found = yield* list({ groupBy: "failure", workflowName: "order" }).pipe(
            Effect.provideService(CallContext, caller)
          )
          assert.deepStrictEqual<unknown>(found, {
            failed: 5,
            groups: [
              {
                workflowId: "o",
                workflowName: "Order sync",
                node: "Check",
                message: "Order {1} has no address",
                varies: { 1: { distinct: 4, values: ["4714", "4713", "4712", "4711"] } },
                count: 4,
                first: time(2),
                last: time(8),
                executions: ["8", "7", "5", "2"]
              },
              {
                workflowId: "r",
                workflowName: "Returned ORDERS",
                node: "Check",
                message: "Order 4712 has no address",
                count: 1,
                first: time(6),
                last: time(6),
                executions: ["6"]
              }
            ],
            workflows: [
              { id: "o", name: "Order sync", runs: 5, failed: 4 },
              { id: "r", name: "Returned ORDERS", runs: 1, failed: 1 }
            ],
            scanned: 6,
            complete: true
          })
          assert.deepStrictEqual(told.at(-1), [5, 5, "runs read"])
          assert.lengthOf(bodies(yield* asked), 5)
          const all = yield* list({ groupBy: "failure" })
          assert.lengthOf(all.groups ?? [], 4)
          assert.lengthOf(bodies(yield* asked), 7)
        }).pipe(process)
      }))

    it.effect("of 500 runs: two pages, each failure read once, and a small answer", () =>
      Effect.gen(function*() {
        const reasons = ["Order # has no address", "connect ECONNREFUSED 10.0.0.#:5432", "Contact 'c#' has no email"]
        const executions = Array.from({ length: 620 }, (_, index) =>
          ended(
            index + 1,
            shop.workflows[index % 3]?.id ?? "",
            index % 2 === 0 ? undefined : reasons[index % 3]?.replace("#", String(index))
          ))
        const { asked, process } = yield* world({ workflows: shop.workflows, executions })
        yield* Effect.gen(function*() {
          const answer = yield* answered({ groupBy: "failure", limit: 500 })
          const { complete, groups = [], hint, nextCursor, scanned } = yield* list({ groupBy: "failure", limit: 500 })
          assert.deepStrictEqual([scanned, complete, groups.length, hint], [
            500,
            false,
            3,
            "Groups of these 500 executions only: continue with cursor."
          ])
          const cut = yield* list({ groupBy: "failure" })
          assert.deepStrictEqual([cut.scanned, cut.complete], [200, false])
          assert.strictEqual(cut.hint, "Groups of these 200 executions only: raise limit or continue with cursor.")
          assert.isAtMost(answer.tokens, 1_000)
          for (const group of answer.data.groups ?? []) {
            const ids = "message" in group ? group.executions : []
            assert.lengthOf(ids, 51)
            assert.strictEqual(ids.at(-1), `… [+${("count" in group ? group.count : 0) - 50} more]`)
          }
          assert.sameMembers(groups.map((group) => "message" in group ? group.executions.length : 0), [84, 83, 83])
          assert.lengthOf(bodies(yield* asked), 250)
          const older = yield* list({ groupBy: "failure", limit: 500, cursor: nextCursor ?? "" })
          assert.deepStrictEqual([older.scanned, older.complete, older.nextCursor], [120, true, undefined])
        }).pipe(process)
      }))

    it.effect("answers in time with what was read, and goes on where it ended", () =>
      Effect.gen(function*() {
        const executions = Array.from({ length: 40 }, (_, index) => ended(index + 1, "o", `Order ${index} is late`))
        let delay = 10
        const { process } = yield* world({ workflows: shop.workflows, executions }, {
          before: ({ url }) => url.includes("includeData") ? Effect.sleep(`${delay} seconds`) : Effect.void
        })
        yield* Effect.gen(function*() {
          const first = yield* hurried(list({ groupBy: "failure" }))
          assert.deepStrictEqual([first.scanned, first.complete], [16, false])
          assert.deepInclude(first.groups?.[0], { count: 16 })
          assert.strictEqual(first.hint, "Only 16 runs read in the time of one call: continue with cursor.")
          delay = 0
          const rest = yield* hurried(list({ groupBy: "failure", cursor: first.nextCursor ?? "" }))
          assert.deepInclude(rest, { complete: true, scanned: 24 })
          assert.deepInclude(rest.groups?.[0], { count: 24 })
        }).pipe(process)
      }))

    it.effect("counts what n8n recorded no error of, and what was pruned meanwhile", () =>
      Effect.gen(function*() {
        const executions = [{ ...ended(1, "o"), status: "crashed" }, ended(2, "o", "Order 1 is late")]
        const { process } = yield* world({ workflows: shop.workflows, executions }, {
          before: ({ url }) =>
            Effect.succeed(
              url.includes("executions/2?") ? Response.json({ message: "Not Found" }, { status: 404 }) : undefined
            )
        })
        const { complete, groups = [] } = yield* list({ groupBy: "failure" }).pipe(process)
        assert.isTrue(complete)
        assert.sameMembers(groups.map((group) => "message" in group ? group.message : undefined), [
          "n8n recorded no error (status error)",
          "n8n recorded no error (status crashed)"
        ])
      }))

    it.effect("failure: 24 of 5 workflows in a small answer", () =>
      Effect.gen(function*() {
        const named = ["Order sync", "請求書の同期", "Push to CRM", "Reminders", "Reminders", "Only fine"]
        const workflows = named.map((name, index) => workflow(`vT7sX2qLm9Rk4Hf${index}`, name))
        const messages = [
          "Order 47# of warehouse 17 has no address",
          "注文47#が見つかりません",
          "HTTP 500 for contact #"
        ]
        const executions = Array.from({ length: 40 }, (_, index) => {
          const id = `vT7sX2qLm9Rk4Hf${index < 24 ? index % 5 : 5}`
          const message = messages[index % 5 % 3]?.replace("#", String(10 + index))
          return ended(index + 1, id, index < 24 ? message : undefined)
        })
        const { process } = yield* world({ workflows, executions })
        const { data, tokens } = yield* answered({ groupBy: "failure" }).pipe(process)
        assert.isAtMost(tokens, 900)
        assert.deepStrictEqual(data.workflows?.map(({ failed, runs }) => [runs, failed]), [
          ...Array.from({ length: 4 }, () => [5, 5]),
          [4, 4],
          [16, 0]
        ])
        const ids = data.groups?.flatMap((group) => "message" in group ? group.workflowId : [])
        assert.lengthOf(new Set(ids), 5)
      }))

    it.effect("failure: the node that called a workflow that failed, and that workflow", () =>
      Effect.gen(function*() {
        const error = { message: "No zone", node: { name: "Check" } }
        const caller = (id: number, called: string): N8nApi.Execution => ({
          ...ended(id, "o", ""),
          data: {
            resultData: {
              error: { ...error, executionId: String(id - 1), workflowId: called },
              runData: {},
              lastNodeExecuted: "Pack"
            }
          }
        })
        const { process } = yield* world({
          workflows: shop.workflows,
          executions: [ended(1, "i", "No zone"), caller(2, "i"), caller(4, "elsewhere")]
        })
        const { data, message } = yield* tools.listExecutions.run({ groupBy: "failure" }).pipe(process)
        const { groups = [], hint } = data as Effect.Success<ReturnType<typeof list>>
        assert.strictEqual(
          message,
          "3 of 3 executions failed, 2 apart from their sub-runs"
        )
        const rows = (all: typeof groups) =>
          all.flatMap((group) =>
            "message" in group ? [[group.workflowName, group.node, group.subWorkflow, group.count, group.also]] : []
          )
        assert.deepStrictEqual(rows(groups), [
          ["Order sync", "Pack", "elsewhere", 1, undefined],
          ["Order sync", "Pack", "Invoices", 1, "1 run of the sub-workflow itself"]
        ])
        // Without its caller, the run of the sub-workflow counts itself.
        const { groups: alone = [] } = yield* list({ groupBy: "failure", workflowId: "i" }).pipe(process)
        assert.deepStrictEqual(rows(alone), [["Invoices", "Check", undefined, 1, undefined]])
        assert.isUndefined(hint)
        const gone = yield* list({ groupBy: "failure", workflowId: "gone" }).pipe(process)
        assert.strictEqual(gone.hint, "n8n has no workflow 'gone': list_workflows lists the ids.")
        assert.isUndefined((yield* list({ groupBy: "failure", workflowId: "r" }).pipe(process)).hint)
      }))

    it.effect("failure: says which address refused the connection", () =>
      Effect.gen(function*() {
        const message = "The service refused the connection - perhaps it is offline"
        const refused = (id: number, port: number): N8nApi.Execution => ({
          ...ended(id, "o", message),
          data: {
            resultData: {
              error: { message, node: { name: "Post" }, messages: [`connect ECONNREFUSED 10.0.0.7:${port}`] },
              runData: {},
              lastNodeExecuted: "Post"
            }
          }
        })
        // n8n gives the caller the message of the sub-workflow's error, not its address.
        const caller = {
          ...ended(9, "i"),
          status: "error",
          data: {
            resultData: {
              error: { message, node: { name: "Post" }, executionId: "4", workflowId: "o" },
              runData: {},
              lastNodeExecuted: "Run"
            }
          }
        }
        const { process } = yield* world({
          workflows: shop.workflows,
          executions: [refused(1, 80), refused(2, 80), refused(3, 81), refused(4, 82), caller]
        })
        const { groups = [] } = yield* list({ groupBy: "failure" }).pipe(process)
        assert.lengthOf(groups, 2)
        assert.deepInclude<unknown>(groups[1], {
          subWorkflow: "Order sync",
          description: "connect ECONNREFUSED 10.0.0.7:82"
        })
        assert.deepInclude<unknown>(groups[0], {
          description: "connect ECONNREFUSED {1}",
          varies: { 1: { distinct: 2, values: ["10.0.0.7:80", "10.0.0.7:81"] } }
        })
      }))

    it.effect("failure: values are redacted before they are separated from their message", () =>
      Effect.gen(function*() {
        const executions = [1, 2].map((id) => ended(id, "o", `login with password=hunter${id}secret for id ${id}`))
        const { process } = yield* world({ workflows: shop.workflows, executions })
        const { groups } = yield* list({ groupBy: "failure" }).pipe(process)
        assert.notInclude(JSON.stringify(groups), "hunter")
        assert.deepInclude(groups?.[0], { count: 2, varies: { 1: { distinct: 2, values: ["2", "1"] } } })
        const shown = yield* list({ groupBy: "failure" }).pipe(
          Effect.provideService(Tool.RedactSecrets, false),
          process
        )
        assert.include(JSON.stringify(shown.groups), "hunter1secret")
      }))

    /** An execution in which each of these nodes ran once, for these milliseconds. */
    const worked = (id: number, workflowId: string, nodes: Readonly<Record<string, number>>): N8nApi.Execution => ({
      ...ended(id, workflowId),
      data: {
        resultData: {
          runData: Object.fromEntries(
            Object.entries(nodes).map(([name, executionTime], index) => [name, [{
              startTime: 1_795_419_716_000 + index * 10_000,
              executionTime,
              executionStatus: "success",
              source: [],
              data: { main: [[{ json: { name } }]] }
            }]])
          )
        }
      }
    })

    it.effect("node: a profile, each execution read once", () =>
      Effect.gen(function*() {
        const executions = [
          worked(1, "o", { Get: 900, Map: 10 }),
          worked(2, "o", { Get: 700 }),
          worked(3, "i", { Send: 90 })
        ]
        const { asked, process } = yield* world({ workflows: shop.workflows, executions })
        yield* Effect.gen(function*() {
          const { findings, groups = [], ...rest } = yield* list({ groupBy: "node", limit: 3 })
          assert.deepStrictEqual<unknown>(groups[0], {
            workflow: "Order sync",
            node: "Get",
            executions: 2,
            runs: 2,
            time: { total: 1_600, p50: 700, p95: 900, share: 0.94 },
            items: { p50: 1, max: 1 },
            bytes: { p50: 23, max: 23 }
          })
          assert.deepStrictEqual(groups.map((group) => "time" in group ? group.node : ""), ["Get", "Send", "Map"])
          assert.deepStrictEqual(findings?.map(({ finding, node, workflow: name }) => [finding, name, node]), [
            ["waiting", "Order sync", "Map"]
          ])
          assert.deepStrictEqual<unknown>(rest, {
            workflows: [
              { id: "o", name: "Order sync", runs: 2, failed: 0 },
              { id: "i", name: "Invoices", runs: 1, failed: 0 }
            ],
            scanned: 3,
            complete: true
          })
          yield* list({ groupBy: "node", limit: 3 })
          assert.lengthOf(bodies(yield* asked), 3)
        }).pipe(process)
      }))

    it.effect("node: the slowest of many rows, in any language, and all with raw", () =>
      Effect.gen(function*() {
        const name = "顧客の住所を確認して台帳に書き込む工程その"
        const nodes = Object.fromEntries(Array.from({ length: 80 }, (_, index) => [`${name}${index}`, 5_000 - index]))
        const executions = Array.from({ length: 5 }, (_, index) => worked(index + 1, "o", nodes))
        const { process } = yield* world({ workflows: [workflow("o", "在庫と請求書の同期ワークフロー")], executions })
        yield* Effect.gen(function*() {
          const { data, tokens } = yield* answered({ groupBy: "node" })
          assert.isAtMost(tokens, 1_200)
          const shown = data.groups?.map((group) => "time" in group ? group.node : "") ?? []
          assert.isAtLeast(shown.length, 5)
          assert.deepStrictEqual(shown, Object.keys(nodes).slice(0, shown.length))
          assert.deepStrictEqual(marksIn(data), [
            {
              path: "groups",
              kept: shown.length,
              total: 80,
              next: `list_executions(groupBy: 'node', offset: ${shown.length}, raw: true)`
            }
          ])
          assert.lengthOf((yield* answered({ groupBy: "node", raw: true })).data.groups ?? [], 80)
          const more = marksIn((yield* answered({ groupBy: "node", workflowId: "o", limit: 4 })).data)
          assert.match(
            more[0]?.next ?? "",
            /^list_executions\(workflowId: 'o', groupBy: 'node', limit: 4, offset: \d+, raw: true\)$/
          )
        }).pipe(process)
      }))

    it.effect("node: reports the number of executions without data", () =>
      Effect.gen(function*() {
        const { process } = yield* world({
          workflows: shop.workflows,
          executions: [worked(1, "o", { Get: 9 }), ended(2, "o")]
        })
        const { hint } = yield* list({ groupBy: "node" }).pipe(process)
        assert.strictEqual(hint, "1 execution without data: not saved by n8n, or not started.")
      }))

    const ofVersion = (id: number, version: string | undefined, message?: string): N8nApi.Execution => {
      const { data, ...head } = ended(id, "o", message)
      return { ...head, ...(version === undefined ? {} : { workflowVersionId: version }), data }
    }

    it.effect("version: which one introduced the failures, without reading any data", () =>
      Effect.gen(function*() {
        const executions = [
          ofVersion(1, undefined),
          ofVersion(2, "v1"),
          ofVersion(3, "v2", "no"),
          ofVersion(4, "v2"),
          ofVersion(5, "v2", "no"),
          ofVersion(6, "v3")
        ]
        const published = { ...workflow("o", "Order sync"), active: true, versionId: "v3", activeVersionId: "v3" }
        const { asked, process } = yield* world({ workflows: [published], executions })
        yield* Effect.gen(function*() {
          const { groups = [], workflows } = yield* list({ groupBy: "version" })
          assert.deepStrictEqual<unknown>(groups.map((group) => Object.assign({ ...group }, { savedAt: undefined })), [
            { workflow: "Order sync", version: "v3", runs: 1, failed: 0, savedAt: undefined },
            {
              workflow: "Order sync",
              version: "v2",
              runs: 3,
              failed: 2,
              firstFailure: { id: "3", at: time(3) },
              savedAt: undefined
            },
            { workflow: "Order sync", version: "v1", runs: 1, failed: 0, savedAt: undefined },
            { workflow: "Order sync", runs: 1, failed: 0, savedAt: undefined }
          ])
          assert.isString(groups[0] !== undefined && "savedAt" in groups[0] ? groups[0].savedAt : undefined)
          assert.deepStrictEqual<unknown>(workflows, [{ id: "o", name: "Order sync", runs: 6, failed: 2 }])
          yield* list({ groupBy: "version" })
          assert.lengthOf(bodies(yield* asked), 6)
        }).pipe(process)
      }))

    it.effect("version: when the published one was published", () =>
      Effect.gen(function*() {
        const trigger = {
          id: "t",
          name: "T",
          type: "n8n-nodes-base.scheduleTrigger",
          typeVersion: 1,
          position: [0, 0],
          parameters: {}
        }
        const draft = { ...workflow("o", "Order sync"), nodes: [trigger], versionId: "v2" }
        const { process } = yield* world({ workflows: [draft], executions: [ofVersion(1, "v1"), ofVersion(2, "v2")] })
        yield* Effect.gen(function*() {
          const n8n = yield* N8nClient.N8nClient
          const live = yield* n8n.publishWorkflow("o")
          const publishedAt = obj(arr(obj(live["activeVersion"])?.["workflowPublishHistory"])[0])?.["createdAt"]
          assert.isString(publishedAt)
          const { groups } = yield* list({ groupBy: "version" })
          assert.deepInclude<unknown>(groups?.[0], { version: "v2", publishedAt })
          assert.notProperty(groups?.[1], "publishedAt")
        }).pipe(process)
      }))

    it.effect("version: n8n 1 records none, and says so", () =>
      Effect.gen(function*() {
        const { process } = yield* world(shop, { version: "1" })
        const error = yield* Effect.flip(list({ groupBy: "version" })).pipe(process)
        assert.deepInclude(error, { _tag: "ValidationError", field: "groupBy" })
        assert.include(error.message, "n8n 1 does not record which version")
      }))

    it.effect("fails as n8n does where no failure could be read", () =>
      Effect.gen(function*() {
        const { process } = yield* world(shop, {
          before: ({ url }) =>
            Effect.succeed(
              url.includes("includeData") ? Response.json({ message: "no" }, { status: 403 }) : undefined
            )
        })
        const error = yield* Effect.flip(list({ groupBy: "failure" })).pipe(process)
        assert.strictEqual(reasonOf(error), "Status 403")
      }))
  })
})
