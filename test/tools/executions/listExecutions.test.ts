import { assert, describe, it } from "@effect/vitest"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import { countTokens } from "gpt-tokenizer/encoding/o200k_base"
import * as Tool from "../../../src/answer/Tool.ts"
import { marksIn } from "../../../src/answer/Truncated.ts"
import { CallContext } from "../../../src/base/CallContext.ts"
import { arr, obj } from "../../../src/base/Json.ts"
import * as Demo from "../../../src/demo/Demo.ts"
import * as N8nClient from "../../../src/n8n/N8nClient.ts"
import type * as N8nApi from "../../../src/testing/n8nApi/N8nApi.ts"
import * as tools from "../../../src/tools/index.ts"
import { reasonOf } from "../../support/reason.ts"
import * as workflows from "../../support/workflows.ts"
import { inMemory } from "../../support/world.ts"

type Input = Partial<Parameters<typeof tools.listExecutions.call>[0]>

const list = (input: Input = {}) => tools.listExecutions.call({ ...input })

const ids = (input: Input) => Effect.map(list(input), ({ executions = [] }) => executions.map(({ id }) => id))

/** Answer for a model, and its tokens. */
const answered = (input: Input) =>
  Effect.map(tools.listExecutions.run({ ...input }), (answer) => ({
    data: answer.data as Effect.Success<ReturnType<typeof list>>,
    message: answer.message,
    tokens: countTokens(JSON.stringify(answer))
  }))

const workflow = (id: string, name: string, more = {}) =>
  workflows.workflow(id, [], { name, active: false, ...more }) as N8nApi.Workflow

const time = (id: number) => new Date(Date.UTC(2026, 10, 20, 0, id)).toISOString()

/** An execution that succeeded, or failed with this message. */
const ended = (id: number, workflowId: string, message?: string, node = "Check", error = {}): N8nApi.Execution => ({
  id: String(id),
  workflowId,
  status: message === undefined ? "success" : "error",
  startedAt: time(id),
  stoppedAt: time(id),
  data: {
    resultData: message === undefined
      ? { runData: {} }
      : { error: { message, node: { name: node }, ...error }, runData: {}, lastNodeExecuted: node }
  }
})

/** So many executions of one workflow, from the first on. */
const many = (length: number, make: (id: number, index: number) => N8nApi.Execution = (id) => ended(id, "o")) =>
  Array.from({ length }, (_, index) => make(index + 1, index))

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

const holding = (executions: ReadonlyArray<N8nApi.Execution>, more = {}) => ({
  seed: { workflows: shop.workflows, executions },
  ...more
})

/** Paths of the requests so far, with their queries. */
const asked = (api: N8nApi.N8nApi) =>
  Effect.map(api.requests, (requests) => requests.map(({ url }) => url.slice(url.indexOf("/api/v1") + 7)))

/** Number of executions whose data was read. */
const bodies = (api: N8nApi.N8nApi) =>
  Effect.map(asked(api), (urls) => urls.filter((url) => url.includes("includeData=true")).length)

/** Each request for data is answered so. */
const onData = (answer: (url: string) => Response | undefined) => ({
  before: ({ url }: N8nApi.RecordedRequest) => Effect.sync(() => url.includes("includeData") ? answer(url) : undefined)
})

describe("list_executions", () => {
  it.effect("asks for each workflow's name once, and names a deleted one", () =>
    inMemory(function*(api) {
      const gone = Demo.seed.workflows[0]?.id ?? ""
      const { executions = [] } = yield* list({ limit: 100 })
      for (const { workflowId, workflowName } of executions) {
        const name = Demo.seed.workflows.find(({ id }) => id === workflowId)?.name ?? N8nClient.deletedWorkflow
        assert.strictEqual(workflowName, workflowId === gone ? N8nClient.deletedWorkflow : name)
      }
      assert.isTrue(executions.some(({ workflowName }) => workflowName === N8nClient.deletedWorkflow))
      const before = (yield* asked(api)).length
      assert.strictEqual(before, 1 + new Set(executions.map(({ workflowId }) => workflowId)).size)
      yield* list({ limit: 100 })
      assert.strictEqual((yield* asked(api)).length, before + 1)
    }, { seed: { ...Demo.seed, workflows: Demo.seed.workflows.slice(1) } }))

  it.effect("lists 20 by default, and as many as requested", () =>
    inMemory(function*() {
      const counts = yield* Effect.forEach([{}, { limit: 100 }, { limit: 101 }], (input) => list(input))
      assert.deepStrictEqual(counts.map(({ count }) => count), [20, 100, 101])
      assert.strictEqual((yield* list({ limit: 101, groupBy: "workflow" })).scanned, 101)
    }, holding(many(120))))

  it.effect("takes durations before now as times", () =>
    Effect.gen(function*() {
      const now = yield* Clock.currentTimeMillis
      const executions = [60 * 24 * 8, 60 * 25, 50, 10].map((minutes, index) => ({
        ...ended(index + 1, "o"),
        startedAt: new Date(now - minutes * 60_000).toISOString()
      }))
      yield* inMemory(function*() {
        assert.deepStrictEqual(yield* ids({ startedAfter: "30m" }), ["4"])
        assert.deepStrictEqual(yield* ids({ startedAfter: "24h" }), ["4", "3"])
        assert.deepStrictEqual(yield* ids({ startedAfter: "7d", startedBefore: "1h" }), ["2"])
        const { message } = yield* Effect.flip(list({ startedAfter: "yesterday" }))
        assert.include(message, "startedAfter must be a time")
        const overview = yield* Effect.flip(tools.instanceOverview.run({ since: "soon" }))
        assert.include(overview.message, "since must be a time")
      }, holding(executions))
    }))

  it.effect.each(["2", "1"] as const)(
    "finds the runs of workflows by a part of their name, on n8n %s",
    (version) =>
      inMemory(function*(api) {
        const rows: ReadonlyArray<readonly [Input, ReadonlyArray<string>]> = [
          [{ workflowName: "order" }, ["8", "7", "6", "5", "3", "2"]],
          [{ workflowName: "order", status: "error", startedAfter: time(6), startedBefore: time(7) }, ["7", "6"]],
          [{ workflowName: "invoice" }, ["9", "4"]],
          [{ workflowName: "invoice", workflowId: "i" }, ["9", "4"]],
          [{ workflowName: "invoice", workflowId: "o" }, []]
        ]
        for (const [input, expected] of rows) assert.deepStrictEqual(yield* ids(input), expected, JSON.stringify(input))
        const first = yield* list({ workflowName: "order", limit: 4 })
        assert.deepStrictEqual(first.executions?.map(({ id }) => id), ["8", "7", "6", "5"])
        const rest = { workflowName: "order", limit: 4, cursor: first.nextCursor ?? "" }
        assert.deepStrictEqual(yield* ids(rest), ["3", "2"])
        const before = yield* asked(api)
        assert.isFalse(before.some((url) => url.startsWith("/workflows/gone")))
        assert.isTrue(before.some((url) => /^\/executions\?.*workflowId=i\b/.test(url)), "n8n does the filtering")
        const { hint, ...none } = yield* list({ workflowName: "payroll" })
        assert.deepInclude(none, { count: 0, executions: [] })
        assert.include(hint, "\"payroll\"")
        assert.isFalse((yield* asked(api)).slice(before.length).some((url) => url.startsWith("/executions")))
      }, { seed: shop, version })
  )

  it.effect("finds runs of deleted workflows, and asks for each unknown one once", () =>
    inMemory(function*(api) {
      assert.deepStrictEqual(yield* ids({ workflowName: "deleted" }), ["1"])
      const names = (yield* asked(api)).filter((url) => url.startsWith("/workflows/"))
      assert.sameMembers(names, ["/workflows/gone", "/workflows/i", "/workflows/o", "/workflows/r"])
    }, { seed: shop }))

  it.effect("finds workflows of a name that too many have", () =>
    inMemory(function*(api) {
      assert.deepStrictEqual(yield* ids({ workflowName: "report" }), ["4", "3", "1"])
      assert.isAtMost((yield* asked(api)).length, 6)
    }, {
      seed: {
        workflows: [
          ...Array.from({ length: 130 }, (_, index) => workflow(`w${index}`, `Report ${index}`)),
          ...shop.workflows
        ],
        executions: [ended(1, "w129"), ended(2, "o"), ended(3, "w128"), ended(4, "w0")]
      }
    }))

  it.effect("says where it stopped to look for a name", () =>
    inMemory(function*() {
      const { executions: none, hint, nextCursor: cursor = "" } = yield* list({ workflowName: "rare" })
      assert.deepStrictEqual([none, hint], [[], "Only 0 runs found so far: continue with cursor."])
      const first = yield* list({ workflowName: "rare", groupBy: "failure" })
      assert.deepInclude(first, { scanned: 0, complete: false, nextCursor: cursor })
      const second = yield* list({ workflowName: "rare", groupBy: "failure", cursor })
      assert.deepInclude(second, { scanned: 1, complete: true })
      assert.deepInclude(second.groups?.[0], { message: "Out of paper", workflowName: "Rare A" })
    }, {
      seed: {
        workflows: [workflow("o", "Orders"), workflow("a", "Rare A"), workflow("b", "Rare B")],
        executions: [ended(1, "a", "Out of paper"), ...many(5_100, (id) => ended(id + 1, "o"))]
      }
    }))
})

describe("list_executions by workflow", () => {
  it.effect("says how often each failed, and when last, without reading any data", () =>
    inMemory(function*(api) {
      const row = (
        workflowId: string,
        workflowName: string,
        byStatus: { error: number; success?: number },
        last: number
      ) => ({
        workflowId,
        workflowName,
        total: byStatus.error + (byStatus.success ?? 0),
        byStatus,
        lastFailed: { id: String(last), at: time(last) }
      })
      assert.deepStrictEqual<unknown>(yield* list({ groupBy: "workflow" }), {
        groups: [
          row("o", "Order sync", { error: 4, success: 1 }, 8),
          row("i", "Invoices", { success: 1, error: 1 }, 4),
          row("r", "Returned ORDERS", { error: 1 }, 6),
          row("gone", "Deleted Workflow", { error: 1 }, 1)
        ],
        scanned: 9,
        complete: true
      })
      assert.strictEqual(yield* bodies(api), 0)
    }, { seed: shop }))
})

describe("list_executions by failure", () => {
  const byFailure = (input: Input = {}) => list({ groupBy: "failure", ...input })

  it.effect("groups by workflow and reason; runs are read once", () =>
    inMemory(function*(api) {
      const told: Array<unknown> = []
      const caller = {
        progress: (...progress: ReadonlyArray<unknown>) => Effect.sync(() => void told.push(progress)),
        confirm: () => Effect.succeed("unasked" as const)
      }
      const of = (workflowId: string, workflowName: string, first: number, last: number) => ({
        workflowId,
        workflowName,
        node: "Check",
        first: time(first),
        last: time(last)
      })
      const orders = byFailure({ workflowName: "order" }).pipe(Effect.provideService(CallContext, caller))
      assert.deepStrictEqual<unknown>(yield* orders, {
        failed: 5,
        groups: [
          {
            ...of("o", "Order sync", 2, 8),
            message: "Order {1} has no address",
            varies: { 1: { distinct: 4, values: ["4714", "4713", "4712", "4711"] } },
            count: 4,
            executions: ["8", "7", "5", "2"]
          },
          { ...of("r", "Returned ORDERS", 6, 6), message: "Order 4712 has no address", count: 1, executions: ["6"] }
        ],
        workflows: [
          { id: "o", name: "Order sync", runs: 5, failed: 4 },
          { id: "r", name: "Returned ORDERS", runs: 1, failed: 1 }
        ],
        scanned: 6,
        complete: true
      })
      assert.deepStrictEqual(told.at(-1), [5, 5, "runs read"])
      assert.strictEqual(yield* bodies(api), 5)
      assert.lengthOf((yield* byFailure()).groups ?? [], 4)
      assert.strictEqual(yield* bodies(api), 7)
    }, { seed: shop }))

  it.effect("answers about 500 runs in few tokens, reads each failure once, and goes on by the cursor", () =>
    inMemory(
      function*(api) {
        const { data, tokens } = yield* answered({ groupBy: "failure", limit: 500 })
        assert.isAtMost(tokens, 1_000)
        for (const group of data.groups ?? []) {
          const shown = "message" in group ? group.executions : []
          assert.lengthOf(shown, 51)
          assert.strictEqual(shown.at(-1), `… [+${("count" in group ? group.count : 0) - 50} more]`)
        }
        const { complete, groups = [], hint, nextCursor = "", scanned } = yield* byFailure({ limit: 500 })
        assert.deepStrictEqual([scanned, complete], [500, false])
        assert.strictEqual(hint, "Groups of these 500 executions only: continue with cursor.")
        assert.sameMembers(groups.map((group) => "message" in group ? group.executions.length : 0), [84, 83, 83])
        assert.deepInclude(yield* byFailure(), {
          scanned: 200,
          complete: false,
          hint: "Groups of these 200 executions only: raise limit or continue with cursor."
        })
        assert.strictEqual(yield* bodies(api), 250)
        const older = yield* byFailure({ limit: 500, cursor: nextCursor })
        assert.deepStrictEqual([older.scanned, older.complete, older.nextCursor], [120, true, undefined])
      },
      holding(many(620, (id, index) => {
        const reasons = ["Order # has no address", "connect ECONNREFUSED 10.0.0.#:5432", "Contact 'c#' has no email"]
        const reason = index % 2 === 0 ? undefined : reasons[index % 3]?.replace("#", String(index))
        return ended(id, shop.workflows[index % 3]?.id ?? "", reason)
      }))
    ))

  it.effect("counts what n8n recorded no error of, and what was pruned meanwhile", () =>
    inMemory(function*() {
      const { complete, groups = [] } = yield* byFailure()
      assert.isTrue(complete)
      assert.sameMembers(groups.map((group) => "message" in group ? group.message : undefined), [
        "n8n recorded no error (status error)",
        "n8n recorded no error (status crashed)"
      ])
    }, {
      ...holding([{ ...ended(1, "o"), status: "crashed" }, ended(2, "o", "Order 1 is late")]),
      ...onData((url) => url.includes("/2?") ? Response.json({ message: "Not Found" }, { status: 404 }) : undefined)
    }))

  it.effect("names the node that called a workflow that failed, and that workflow", () => {
    const caller = (id: number, called: string) =>
      ended(id, "o", "No zone", "Check", { executionId: String(id - 1), workflowId: called })
    const executions = [ended(1, "i", "No zone"), caller(2, "i"), caller(4, "elsewhere")].map((each) =>
      each.workflowId === "i" ? each : {
        ...each,
        data: { resultData: { ...obj(obj(each["data"])?.["resultData"]), lastNodeExecuted: "Pack" } }
      }
    )
    return inMemory(function*() {
      const rows = (all: Effect.Success<ReturnType<typeof list>>["groups"] = []) =>
        all.flatMap((group) =>
          "message" in group ? [[group.workflowName, group.node, group.subWorkflow, group.count, group.also]] : []
        )
      const { data: { groups, hint }, message } = yield* answered({ groupBy: "failure" })
      assert.strictEqual(message, "3 of 3 executions failed, 2 apart from their sub-runs")
      assert.isUndefined(hint)
      assert.deepStrictEqual(rows(groups), [
        ["Order sync", "Pack", "elsewhere", 1, undefined],
        ["Order sync", "Pack", "Invoices", 1, "1 run of the sub-workflow itself"]
      ])
      // Without its caller, the run of the sub-workflow counts itself.
      const alone = yield* byFailure({ workflowId: "i" })
      assert.deepStrictEqual(rows(alone.groups), [["Invoices", "Check", undefined, 1, undefined]])
      const gone = yield* byFailure({ workflowId: "gone" })
      assert.strictEqual(gone.hint, "n8n has no workflow 'gone'. list_workflows lists the workflows with their ids.")
      assert.isUndefined((yield* byFailure({ workflowId: "r" })).hint)
    }, holding(executions))
  })

  it.effect("says which address refused the connection", () => {
    const message = "The service refused the connection - perhaps it is offline"
    const refused = (id: number, port: number) =>
      ended(id, "o", message, "Post", { messages: [`connect ECONNREFUSED 10.0.0.7:${port}`] })
    // n8n gives the caller the message of the sub-workflow's error, not its address.
    const caller = ended(9, "i", message, "Post", { executionId: "4", workflowId: "o" })
    return inMemory(function*() {
      const { groups = [] } = yield* byFailure()
      assert.lengthOf(groups, 2)
      assert.deepInclude<unknown>(groups[0], {
        description: "connect ECONNREFUSED {1}",
        varies: { 1: { distinct: 2, values: ["10.0.0.7:80", "10.0.0.7:81"] } }
      })
      assert.deepInclude<unknown>(groups[1], {
        subWorkflow: "Order sync",
        description: "connect ECONNREFUSED 10.0.0.7:82"
      })
    }, holding([refused(1, 80), refused(2, 80), refused(3, 81), refused(4, 82), caller]))
  })

  it.effect("redacts values before it separates them from their message", () =>
    inMemory(function*() {
      const { groups } = yield* byFailure()
      assert.notInclude(JSON.stringify(groups), "hunter")
      assert.deepInclude(groups?.[0], { count: 2, varies: { 1: { distinct: 2, values: ["2", "1"] } } })
      const shown = yield* Effect.provideService(byFailure(), Tool.RedactSecrets, false)
      assert.include(JSON.stringify(shown.groups), "hunter1secret")
    }, holding(many(2, (id) => ended(id, "o", `login with password=hunter${id}secret for id ${id}`)))))

  it.effect("fails as n8n does where no failure could be read", () =>
    inMemory(function*() {
      assert.strictEqual(reasonOf(yield* Effect.flip(byFailure())), "Status 403")
    }, { seed: shop, ...onData(() => Response.json({ message: "no" }, { status: 403 })) }))
})

describe("list_executions by node", () => {
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

  it.effect("profiles the nodes, reads each execution once, and counts those without data", () =>
    inMemory(
      function*(api) {
        const { findings, groups = [], ...rest } = yield* list({ groupBy: "node", limit: 4 })
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
            { id: "i", name: "Invoices", runs: 2, failed: 0 },
            { id: "o", name: "Order sync", runs: 2, failed: 0 }
          ],
          hint: "1 execution without data: not saved by n8n, or not started.",
          scanned: 4,
          complete: true
        })
        const before = yield* bodies(api)
        yield* list({ groupBy: "node", limit: 4 })
        assert.strictEqual(yield* bodies(api), before)
      },
      holding([
        worked(1, "o", { Get: 900, Map: 10 }),
        worked(2, "o", { Get: 700 }),
        worked(3, "i", { Send: 90 }),
        ended(4, "i")
      ])
    ))

  it.effect("shows the slowest of many rows, in any language, and all with raw", () => {
    const nodes = Object.fromEntries(
      Array.from({ length: 80 }, (_, index) => [`顧客の住所を確認して台帳に書き込む工程その${index}`, 5_000 - index])
    )
    return inMemory(function*() {
      const { data, tokens } = yield* answered({ groupBy: "node" })
      assert.isAtMost(tokens, 1_200)
      const shown = data.groups?.map((group) => "time" in group ? group.node : "") ?? []
      const kept = shown.length
      assert.isAtLeast(kept, 5)
      assert.deepStrictEqual(shown, Object.keys(nodes).slice(0, kept))
      assert.deepStrictEqual(marksIn(data), [
        { path: "groups", kept, total: 80, next: `list_executions(groupBy: 'node', offset: ${kept}, raw: true)` }
      ])
      assert.lengthOf((yield* answered({ groupBy: "node", raw: true })).data.groups ?? [], 80)
      const [mark] = marksIn((yield* answered({ groupBy: "node", workflowId: "o", limit: 4 })).data)
      const next = /^list_executions\(workflowId: 'o', groupBy: 'node', limit: 4, offset: \d+, raw: true\)$/
      assert.match(mark?.next ?? "", next)
    }, {
      seed: {
        workflows: [workflow("o", "在庫と請求書の同期ワークフロー")],
        executions: many(5, (id) => worked(id, "o", nodes))
      }
    })
  })
})

describe("list_executions by version", () => {
  const ofVersion = (id: number, version: string | undefined, message?: string): N8nApi.Execution => {
    const { data, ...head } = ended(id, "o", message)
    return { ...head, ...(version === undefined ? {} : { workflowVersionId: version }), data }
  }

  it.effect("says which one introduced the failures, without reading any data", () =>
    inMemory(function*(api) {
      const row = { workflow: "Order sync", runs: 1, failed: 0 }
      const { groups = [], workflows } = yield* list({ groupBy: "version" })
      const [newest, ...older] = groups.map((group) => ({ ...group, savedAt: "savedAt" in group ? group.savedAt : "" }))
      assert.isString(newest?.savedAt)
      assert.deepStrictEqual<unknown>([{ ...newest, savedAt: undefined }, ...older], [
        { ...row, version: "v3", savedAt: undefined },
        {
          ...row,
          version: "v2",
          runs: 3,
          failed: 2,
          firstFailure: { id: "3", at: time(3) },
          savedAt: older[0]?.savedAt
        },
        { ...row, version: "v1", savedAt: older[1]?.savedAt },
        { ...row, savedAt: older[2]?.savedAt }
      ])
      assert.deepStrictEqual<unknown>(workflows, [{ id: "o", name: "Order sync", runs: 6, failed: 2 }])
      yield* list({ groupBy: "version" })
      assert.strictEqual(yield* bodies(api), 6)
    }, {
      seed: {
        workflows: [workflow("o", "Order sync", { active: true, versionId: "v3", activeVersionId: "v3" })],
        executions: [
          ofVersion(1, undefined),
          ofVersion(2, "v1"),
          ofVersion(3, "v2", "no"),
          ofVersion(4, "v2"),
          ofVersion(5, "v2", "no"),
          ofVersion(6, "v3")
        ]
      }
    }))

  it.effect("says when the published one was published", () =>
    inMemory(function*() {
      const live = yield* N8nClient.N8nClient.use((n8n) => n8n.publishWorkflow("o"))
      const publishedAt = obj(arr(obj(live["activeVersion"])?.["workflowPublishHistory"])[0])?.["createdAt"]
      assert.isString(publishedAt)
      const { groups } = yield* list({ groupBy: "version" })
      assert.deepInclude<unknown>(groups?.[0], { version: "v2", publishedAt })
      assert.notProperty(groups?.[1], "publishedAt")
    }, {
      seed: {
        workflows: [
          workflow("o", "Order sync", { nodes: [workflows.node("T", "scheduleTrigger")], versionId: "v2" })
        ],
        executions: [ofVersion(1, "v1"), ofVersion(2, "v2")]
      }
    }))

  it.effect("is refused on n8n 1, which records none", () =>
    inMemory(function*() {
      const error = yield* Effect.flip(list({ groupBy: "version" }))
      assert.deepInclude(error, { _tag: "ValidationError", field: "groupBy" })
      assert.include(error.message, "n8n 1 does not record which version")
    }, { seed: shop, version: "1" }))
})
