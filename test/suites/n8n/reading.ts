/** What the reading tools say of executions and workflows, compared with the answers of n8n's API. */
import { assert, type Vitest } from "@effect/vitest"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as FetchHttpClient from "effect/http/FetchHttpClient"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as Schedule from "effect/Schedule"
import { marksIn } from "../../../src/answer/Truncated.ts"
import type * as Services from "../../../src/app/Services.ts"
import { arr, num, type Obj, obj, str } from "../../../src/base/Json.ts"
import * as N8nClient from "../../../src/n8n/N8nClient.ts"
import * as tools from "../../../src/tools/index.ts"
import { reasonOf } from "../../support/reason.ts"
import { RealN8n } from "./RealN8n.ts"
import * as scenarios from "./scenarios.ts"
import * as workflows from "./workflows.ts"

/** The number of requests that our client has sent. */
export class Sent extends Context.Service<Sent, { count: number }>()("test/n8n/Sent") {}

type Needs = RealN8n | N8nClient.N8nClient | Services.Services | Sent

type It = Vitest.MethodsNonLive<Needs>

/** The API's run data, read with our JSON accessors only. */
const runDataOf = (execution: unknown) => obj(obj(obj(obj(execution)?.["data"])?.["resultData"])?.["runData"]) ?? {}

const outputsOf = (run: unknown) =>
  Object.entries(obj(obj(run)?.["data"]) ?? {}).flatMap(([type, outputs]) =>
    arr(outputs).map((items, index) => ({ type, index, items: arr(items).map((item) => obj(item) ?? {}) }))
  )

const apiExecution = (id: string) => scenarios.fetchJson(`executions/${id}?includeData=true`)

const node = (id: string, nodeName: string, more: object = {}) =>
  tools.getExecutionByNode.call({ id, nodeName, itemOffset: 0, itemLimit: 50, ...more })

const summary = (id: string) => tools.getExecution.call({ id })

/** Compares every number of the summary, and every item of every run, with the API's answer. */
const agrees = Effect.fnUntraced(function*(id: string) {
  const api = yield* apiExecution(id)
  const runData = Object.entries(runDataOf(api))
  const answer = yield* summary(id)
  const allRuns = runData.flatMap(([, runs]) => arr(runs))
  const { name, nodes } = obj(obj(api)?.["workflowData"]) ?? {}
  assert.deepStrictEqual<unknown>([answer.status, answer.workflowName], [obj(api)?.["status"], name])
  assert.deepInclude(answer.statistics, {
    totalNodes: arr(nodes).length,
    executedNodes: runData.length,
    failedNodes: runData.filter(([, runs]) => arr(runs).some((run) => obj(run)?.["error"] !== undefined)).length,
    totalItemsProcessed: allRuns.flatMap(outputsOf).reduce((sum, { items }) => sum + items.length, 0)
  })
  for (const [nodeName, runs] of runData.slice(0, 15)) {
    for (const [runIndex, run] of arr(runs).slice(0, 5).entries()) {
      const outputs = outputsOf(run)
      const seen = yield* node(id, nodeName, { runIndex })
      assert.deepStrictEqual(seen.outputs.map(({ items }) => items), outputs.map(({ items }) => items.length))
      assert.strictEqual(seen.executionTime, num(obj(run)?.["executionTime"]))
      const total = outputs.find(({ items }) => items.length > 0)?.items.length ?? 0
      const shown = seen.output.items.length
      assert.isAtLeast(shown, Math.min(20, total))
      const [mark] = marksIn(seen.output)
      assert.deepStrictEqual([mark?.kept, mark?.total], shown === total ? [undefined, undefined] : [shown, total])
      const [source] = arr(obj(run)?.["source"])
      const from = str(obj(source)?.["previousNode"])
      if (from === undefined || obj(run)?.["inputOverride"] !== undefined) continue
      const before = outputsOf(arr(runDataOf(api)[from])[num(obj(source)?.["previousNodeRun"]) ?? 0])
      const given = before.find(({ index, type }) =>
        type === "main" && index === (num(obj(source)?.["previousNodeOutput"]) ?? 0)
      )
      assert.deepInclude(seen.input.sources[0], { node: from, count: given?.items.length ?? 0 })
    }
  }
  return answer
})

/** Scenarios whose runs are read, each with the node at which it fails. What is read of them, fast tests say. */
const runs: ReadonlyArray<readonly [scenario: scenarios.Runnable, failsAt?: string]> = [
  ["branch"],
  ["loop40"],
  ["fail", "Break"],
  ["httpFail", "HTTP Request"],
  ["httpRefused", "HTTP Request"],
  ["errorOutput"],
  ["merge"],
  ["binary"],
  ["big12"],
  ["wide250"],
  ["ai"],
  ["aiFail", "Chain Model"],
  ["notReached"]
]

/** Adds the tests of what each release stores in its own way. */
export const reading = (it: It, { v2 }: { readonly v2: boolean }) => {
  it.effect.each(runs)(
    "%s: all numbers, items and sources are those of the API",
    ([scenario, failsAt]) =>
      Effect.gen(function*() {
        const { failure } = yield* agrees((yield* scenarios.run(scenario)).executionId)
        assert.strictEqual(failure?.node, failsAt)
      })
  )

  it.effect("secrets of webhooks, items, requests and parameters never come out", () =>
    Effect.gen(function*() {
      const { executionId: id, workflowId } = yield* scenarios.run("secrets")
      const request = (yield* scenarios.run("httpFail")).executionId
      const text = JSON.stringify([
        yield* tools.getExecution.run({ id }),
        yield* tools.getExecutionByNode.run({ id, nodeName: workflows.trigger }),
        yield* tools.getExecutionByNode.run({ id, nodeName: "Set Secrets" }),
        yield* tools.getExecutionByNode.run({ id: request, nodeName: "HTTP Request" }),
        yield* tools.getWorkflow.run({ id: workflowId, nodes: ["*"] }),
        yield* tools.listExecutions.run({ workflowId, raw: true })
      ])
      for (const canary of Object.values(workflows.canaries)) assert.notInclude(text, canary)
      assert.include(text, "\"maxTokens\":\"128\"")
    }))

  it.effect("waiting, manual, canceled and crashed runs are what n8n stored, and a waiting one is read again", () =>
    Effect.gen(function*() {
      const { executionId: id } = yield* scenarios.run("waiting")
      const waiting = yield* summary(id)
      assert.isAbove(Date.parse(waiting.waitTill ?? ""), Date.parse(waiting.startedAt ?? "") + 3_600_000)
      const sent = yield* Sent
      const before = sent.count
      assert.strictEqual((yield* summary(id)).status, "waiting")
      // The execution, and on n8n 2 the version that is published.
      assert.strictEqual(sent.count, before + (v2 ? 2 : 1))
      assert.strictEqual((yield* agrees((yield* scenarios.manual()).executionId)).mode, "manual")
      assert.strictEqual((yield* summary((yield* scenarios.canceled()).executionId)).status, "canceled")
      const crashed = yield* scenarios.crashed()
      assert.deepInclude(yield* summary(crashed.executionId), { status: crashed.status, workflowName: "crashed" })
    }))

  it.effect("list_workflows: archived ones left out, tags, names, offset and cursors on this n8n", () =>
    Effect.gen(function*() {
      const both = yield* scenarios.tagged("Tagged both", ["red", "blue"])
      const red = yield* scenarios.tagged("Tagged red", ["red"])
      const archived = v2 ? [(yield* scenarios.archived()).workflowId] : []
      const list = (input: Parameters<typeof tools.listWorkflows.call>[0] = {}) =>
        tools.listWorkflows.call({ limit: 100, offset: 0, ...input })
      const idsOf = (rows: ReadonlyArray<{ readonly id: string }>) => rows.map(({ id }) => id)
      const all = (yield* list()).workflows
      const api = yield* scenarios.allWorkflows
      const isArchived = (row: Obj) => row["isArchived"] === true
      assert.deepStrictEqual(idsOf(all), api.filter((row) => !isArchived(row)).map(({ id }) => String(id)))
      assert.includeMembers(idsOf((yield* list({ raw: true })).workflows), archived)
      assert.deepStrictEqual(idsOf((yield* list({ tags: ["red", "blue"] })).workflows), [both.workflowId])
      assert.deepStrictEqual(idsOf((yield* list({ name: "tagged R" })).workflows), [red.workflowId])
      for (let offset = 0; offset < all.length; offset += 3) {
        assert.deepStrictEqual((yield* list({ limit: 3, offset })).workflows, all.slice(offset, offset + 3))
      }
      const walked: Array<unknown> = []
      let cursor: string | undefined
      do {
        const page: typeof tools.listWorkflows.output.Type = yield* list({
          limit: 4,
          ...(cursor === undefined ? {} : { cursor })
        })
        walked.push(...page.workflows)
        cursor = page.nextCursor
      } while (cursor !== undefined)
      assert.deepStrictEqual(walked, [...all])
      assert.deepStrictEqual(
        idsOf((yield* list({ active: true })).workflows),
        all.filter((row) => row.active).map((row) => row.id)
      )
    }))

  it.effect("list_executions: names, states, times and pages", () =>
    Effect.gen(function*() {
      const rows = (input: Parameters<typeof tools.listExecutions.call>[0]) =>
        Effect.map(tools.listExecutions.call(input), ({ executions = [], nextCursor }) => ({ executions, nextCursor }))
      const idsOf = (rows: ReadonlyArray<{ readonly id: string }>) => rows.map(({ id }) => id)
      yield* scenarios.run("fail", "listed")
      const { executions } = yield* rows({ limit: 100 })
      assert.deepStrictEqual(idsOf(executions), idsOf(executions.toSorted((a, b) => Number(b.id) - Number(a.id))))
      const failed = (yield* rows({ limit: 100, status: "error" })).executions
      // 1.x counts a crash as an error.
      assert.isTrue(failed.every(({ status }) => status === "error" || !v2 && status === "crashed"))
      assert.strictEqual(failed[0]?.workflowName, "listed")

      const at = executions[Math.floor(executions.length / 2)]?.startedAt ?? ""
      const after = (yield* rows({ limit: 100, startedAfter: at })).executions
      assert.deepStrictEqual(idsOf(after), idsOf(executions.filter((row) => (row.startedAt ?? "") >= at)))
      const rest = idsOf(executions.filter((row) => (row.startedAt ?? "") <= at))
      const first = yield* rows({ limit: 3, startedBefore: at })
      const { executions: next } = first.nextCursor === undefined
        ? { executions: [] }
        : yield* rows({ limit: 3, startedBefore: at, cursor: first.nextCursor })
      assert.deepStrictEqual(idsOf([...first.executions, ...next]), rest.slice(0, 6))
      const crashed = yield* Effect.result(tools.listExecutions.call({ limit: 5, status: "crashed" }))
      assert.strictEqual(crashed._tag, v2 ? "Success" : "Failure")
    }))

  it.effect("deleted and unsaved: nothing to be found, and said so", () =>
    Effect.gen(function*() {
      const { executionId: id } = yield* scenarios.deleted()
      assert.strictEqual((yield* Effect.flip(tools.getExecution.run({ id }))).message, `Execution '${id}' not found`)
      const { workflowId } = yield* scenarios.notSaved()
      // 1.x takes the execution away a moment after it has ended.
      const left = yield* Effect.repeat(tools.listExecutions.call({ workflowId, limit: 5 }), {
        schedule: Schedule.spaced("200 millis"),
        until: ({ count }) => count === 0,
        times: 25
      })
      assert.strictEqual(left.count, 0)
      const workflow = yield* Effect.flip(tools.getWorkflow.run({ id: "doesnotexist0000" }))
      assert.strictEqual(workflow.message, "Workflow 'doesnotexist0000' not found")
    }))

  it.effect("a wrong key, one without the scope and a wrong address are distinguished", () =>
    Effect.gen(function*() {
      const { createApiKey, url } = yield* RealN8n
      const as = (apiKey: Redacted.Redacted<string>, address = url) =>
        Effect.provide(
          Effect.flip(tools.listExecutions.run({})),
          Layer.fresh(N8nClient.layer({ url: address, apiKey }).pipe(Layer.provide(FetchHttpClient.layer)))
        )
      assert.strictEqual(reasonOf(yield* as(Redacted.make("nonsense"))), "Status 401")
      if (v2) assert.strictEqual(reasonOf(yield* as(yield* createApiKey(["workflow:read"]))), "Status 403")
      assert.strictEqual((yield* as(Redacted.make("nonsense"), new URL("elsewhere/", url)))._tag, "ApiError")
    }))
}
