import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as HttpClient from "effect/http/HttpClient"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import { countTokens } from "gpt-tokenizer/encoding/o200k_base"
import * as Services from "../../../src/app/Services.ts"
import { CallContext } from "../../../src/base/CallContext.ts"
import * as Demo from "../../../src/demo/Demo.ts"
import * as N8nClient from "../../../src/n8n/N8nClient.ts"
import * as N8nApi from "../../../src/testing/n8nApi/N8nApi.ts"
import * as tools from "../../../src/tools/index.ts"
import { hurried } from "../../support/clock.ts"

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
        const error = yield* Effect.flip(list({ limit: 101 }))
        assert.deepInclude(error, { _tag: "ValidationError", field: "limit" })
        assert.strictEqual((yield* list({ limit: 101, groupBy: "workflow" })).scanned, 101)
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

    it.effect("failure: who failed and why; what was read once is kept", () =>
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
            groups: [
              {
                workflowId: "o",
                workflowName: "Order sync",
                node: "Check",
                message: "Order 4714 has no address",
                count: 4,
                first: time(2),
                last: time(8),
                executions: ["8", "7", "5"]
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
          const answer = yield* tools.listExecutions.run({ groupBy: "failure", limit: 500 })
          const { complete, groups = [], hint, nextCursor, scanned } = yield* list({ groupBy: "failure", limit: 500 })
          assert.deepStrictEqual([scanned, complete, groups.length, hint], [500, true, 3, undefined])
          const cut = yield* list({ groupBy: "failure" })
          assert.deepStrictEqual([cut.scanned, cut.complete], [200, false])
          assert.strictEqual(cut.hint, "Groups of the newest 200 executions only: raise limit or continue with cursor.")
          assert.isAtMost(countTokens(JSON.stringify(answer)), 500)
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

    it.effect("fails as n8n does where no failure could be read", () =>
      Effect.gen(function*() {
        const { process } = yield* world(shop, {
          before: ({ url }) =>
            Effect.succeed(
              url.includes("includeData") ? Response.json({ message: "no" }, { status: 403 }) : undefined
            )
        })
        const error = yield* Effect.flip(list({ groupBy: "failure" })).pipe(process)
        assert.deepInclude(error, { _tag: "ApiError", statusCode: 403 })
      }))
  })
})
