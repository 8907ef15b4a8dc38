/** Every tool against a real n8n, compared with the answers of its API. */
import { assert, layer } from "@effect/vitest"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as FetchHttpClient from "effect/http/FetchHttpClient"
import * as HttpClient from "effect/http/HttpClient"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as Schedule from "effect/Schedule"
import * as Schema from "effect/Schema"
import { countTokens } from "gpt-tokenizer/encoding/o200k_base"
import { spawn } from "node:child_process"
import * as Hints from "../../../src/answer/Hints.ts"
import type * as Tool from "../../../src/answer/Tool.ts"
import { marksIn } from "../../../src/answer/Truncated.ts"
import * as Services from "../../../src/app/Services.ts"
import { arr, num, obj, str } from "../../../src/base/Json.ts"
import * as N8nClient from "../../../src/n8n/N8nClient.ts"
import * as tools from "../../../src/tools/index.ts"
import { reasonOf } from "../../support/reason.ts"
import { balanced } from "./balanced.ts"
import { building } from "./building.ts"
import { cases } from "./cases.ts"
import { changingMany } from "./changingMany.ts"
import { choosing } from "./choosing.ts"
import { demonstrating } from "./demonstrating.ts"
import { drilling } from "./drilling.ts"
import { examining } from "./examining.ts"
import { extracting } from "./extracting.ts"
import { throughFaults } from "./faults.ts"
import { fencing } from "./fencing.ts"
import { guarding } from "./guarding.ts"
import { guides } from "./guides.ts"
import { health } from "./health.ts"
import { instance } from "./instance.ts"
import { manyRuns } from "./manyRuns.ts"
import { mapping } from "./mapping.ts"
import { proving } from "./proving.ts"
import { provingCallers } from "./provingCallers.ts"
import { provingOthers } from "./provingOthers.ts"
import { publishing } from "./publishing.ts"
import { publishingVersions } from "./publishingVersions.ts"
import { RealN8n } from "./RealN8n.ts"
import { referring } from "./referring.ts"
import { replaying } from "./replaying.ts"
import { reshaping } from "./reshaping.ts"
import { resources } from "./resources.ts"
import { retrying } from "./retrying.ts"
import * as scenarios from "./scenarios.ts"
import { sendingByAddress, sendingNothing } from "./sending.ts"
import { sent } from "./sent.ts"
import { syncing } from "./syncing.ts"
import { testing } from "./testing.ts"
import { testingLeftovers } from "./testingLeftovers.ts"
import { triage } from "./triage.ts"
import { upgradingAi } from "./upgrading/ai.ts"
import { core } from "./upgrading/core.ts"
import { upgradingRequests } from "./upgrading/requests.ts"
import { upgradingServices } from "./upgrading/services.ts"
import { upgradingWhole } from "./upgrading/whole.ts"
import { validation } from "./validation.ts"
import { versions } from "./versions.ts"
import { watching } from "./watching.ts"
import * as workflows from "./workflows.ts"
import { writes } from "./writes.ts"
import { writingPaths } from "./writingPaths.ts"

/** The number of requests that our client has sent. */
class Sent extends Context.Service<Sent, { count: number }>()("test/n8n/Sent") {}

const client = Layer.unwrap(Effect.gen(function*() {
  const { apiKey, url } = yield* RealN8n
  const sent = yield* Sent
  const counting = Layer.effect(
    HttpClient.HttpClient,
    Effect.map(HttpClient.HttpClient, HttpClient.tapRequest(() => Effect.sync(() => sent.count++)))
  ).pipe(
    Layer.provide(FetchHttpClient.layer)
  )
  return N8nClient.layer({ url, apiKey }).pipe(Layer.provide(counting))
}))

const everything = (version: string) =>
  Layer.mergeAll(client, Services.layerMemory).pipe(
    Layer.provideMerge(Layer.merge(RealN8n.layer(version), Layer.sync(Sent, () => ({ count: 0 }))))
  )

const tokens = (value: unknown) => countTokens(JSON.stringify(value))

const dataOf = <R>(tool: Tool.Any<R>, args: object) =>
  Effect.map(tool.run(args), ({ data }) => data as Record<string, unknown>)

/** The API's run data, read with our JSON accessors only. */
const runDataOf = (execution: unknown) => obj(obj(obj(obj(execution)?.["data"])?.["resultData"])?.["runData"]) ?? {}

const outputsOf = (run: unknown) =>
  Object.entries(obj(obj(run)?.["data"]) ?? {}).flatMap(([type, outputs]) =>
    arr(outputs).map((items, index) => ({ type, index, items: arr(items).map((item) => obj(item) ?? {}) }))
  )

const apiExecution = (id: string) => scenarios.fetchJson(`executions/${id}?includeData=true`)

const node = (id: string, nodeName: string, more: object = {}) =>
  tools.getExecutionByNode.call({ id, nodeName, itemOffset: 0, itemLimit: 50, ...more })

const summary = (id: string, nodeOffset = 0) => tools.getExecution.call({ id, nodeOffset })

const guidance = (id: string) => Effect.map(tools.getExecution.answer({ id }), ({ data }) => data._guidance)

const rows = (input: Partial<Parameters<typeof tools.listExecutions.call>[0]>) =>
  Effect.map(
    tools.listExecutions.call({ ...input }),
    ({ executions = [], nextCursor }) => ({ executions, nextCursor })
  )

/** Compares every number of the summary, and every item of every run, with the API's answer. */
const agrees = Effect.fnUntraced(function*(id: string) {
  const api = yield* apiExecution(id)
  const runData = Object.entries(runDataOf(api))
  const found = yield* summary(id)
  assert.strictEqual(found.status, str(obj(api)?.["status"]))
  assert.strictEqual(found.workflowName, str(obj(obj(api)?.["workflowData"])?.["name"]))
  assert.strictEqual(found.statistics.totalNodes, arr(obj(obj(api)?.["workflowData"])?.["nodes"]).length)
  assert.strictEqual(found.statistics.executedNodes, runData.length)
  const allRuns = runData.flatMap(([, runs]) => arr(runs))
  assert.strictEqual(
    found.statistics.totalItemsProcessed,
    allRuns.flatMap(outputsOf).reduce((sum, { items }) => sum + items.length, 0)
  )
  const failed = runData.filter(([, runs]) => arr(runs).some((run) => obj(run)?.["error"] !== undefined))
  assert.strictEqual(found.statistics.failedNodes, failed.length)

  for (const [nodeName, runs] of runData.slice(0, 15)) {
    for (const [runIndex, run] of arr(runs).slice(0, 5).entries()) {
      const outputs = outputsOf(run)
      const seen = yield* node(id, nodeName, { runIndex })
      assert.deepStrictEqual(seen.outputs.map(({ items }) => items), outputs.map(({ items }) => items.length))
      assert.strictEqual(seen.executionTime, num(obj(run)?.["executionTime"]))
      const shown = outputs.find(({ items }) => items.length > 0)
      const total = shown?.items.length ?? 0
      const kept = seen.output.items.length
      assert.isAtLeast(kept, Math.min(20, total))
      const [mark] = marksIn(seen.output)
      assert.deepStrictEqual([mark?.kept, mark?.total], kept === total ? [undefined, undefined] : [kept, total])
      const [source] = arr(obj(run)?.["source"])
      const from = str(obj(source)?.["previousNode"])
      if (from === undefined || obj(run)?.["inputOverride"] !== undefined) continue
      const before = outputsOf(arr(runDataOf(api)[from])[num(obj(source)?.["previousNodeRun"]) ?? 0])
      const given = before.find(({ index, type }) =>
        type === "main" && index === (num(obj(source)?.["previousNodeOutput"]) ?? 0)
      )
      assert.strictEqual(seen.input.sources[0]?.node, from)
      assert.strictEqual(seen.input.sources[0]?.count, given?.items.length ?? 0)
    }
  }
  return found
})

/** Runs a session over stdio with the built server and returns the answers by id. */
const overStdio = (env: Record<string, string>, calls: ReadonlyArray<{ name: string; arguments: object }>) =>
  Effect.callback<{ code: number | null; answers: Map<unknown, unknown> }>((resume) => {
    const main = new URL("../../../src/main.ts", import.meta.url).pathname
    const child = spawn(process.execPath, [main], { env: { PATH: process.env["PATH"], ...env } })
    let stdout = ""
    const send = (id: number, method: string, params: object) =>
      child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", id, method, params })}\n`)
    child.stdout.setEncoding("utf8").on("data", (chunk: string) => {
      stdout += chunk
      if (stdout.split("\n").length > calls.length + 1) child.stdin.end()
    })
    child.on("close", (code) => {
      const lines = stdout.split("\n").filter((line) => line !== "").map((line) => obj(JSON.parse(line)) ?? {})
      resume(Effect.succeed({ code, answers: new Map(lines.map((line) => [line["id"], line["result"]])) }))
    })
    const clientInfo = { name: "test", version: "0" }
    send(-1, "initialize", { protocolVersion: "2025-11-25", capabilities: {}, clientInfo })
    calls.forEach((params, id) => send(id, "tools/call", params))
  })

/** The suite for one version of n8n. */
export const suite = (version: string) => {
  const v2 = !version.startsWith("1.")
  const drafts = N8nClient.writesDrafts(version)

  layer(everything(version), { timeout: "15 minutes", excludeTestServices: true })(`n8n ${version}`, (it) => {
    // First: what others have left would be in its reports.
    watching(it, { v2 })
    health(it, { v2, drafts })

    it.effect("branch: five items leave by each output", () =>
      Effect.gen(function*() {
        const { executionId } = yield* scenarios.run("branch")
        yield* agrees(executionId)
        const decided = yield* node(executionId, "Is Even")
        assert.deepStrictEqual(decided.outputs, [
          { output: "main[0]", name: "true", items: 5 },
          { output: "main[1]", name: "false", items: 5 }
        ])
        const odds = yield* node(executionId, "Odds")
        assert.deepStrictEqual(odds.input.sources, [{ input: "main[0]", node: "Is Even", output: 1, run: 0, count: 5 }])
        assert.deepStrictEqual(odds.input.items.map(({ json }) => obj(json)?.["i"]), [1, 3, 5, 7, 9])
      }))

    it.effect("loop: every run of forty can be seen, each with its own input", () =>
      Effect.gen(function*() {
        const { executionId } = yield* scenarios.run("loop40")
        const found = yield* agrees(executionId)
        assert.strictEqual(found.availableNodes.find(({ nodeName }) => nodeName === "Inside")?.runs, 40)
        const last = yield* node(executionId, "Inside")
        assert.deepStrictEqual([last.runIndex, last.runCount], [39, 40])
        for (const runIndex of [0, 17, 39]) {
          const run = yield* node(executionId, "Inside", { runIndex })
          assert.deepStrictEqual(run.input.items.map(({ json }) => json), [{ i: runIndex, even: runIndex % 2 === 0 }])
          assert.deepStrictEqual(run.output.items.map(({ json }) => json), [{ i: runIndex * 10 }])
        }
      }))

    it.effect("failure: the node, its error and its input come first", () =>
      Effect.gen(function*() {
        const { executionId } = yield* scenarios.run("fail")
        const found = yield* agrees(executionId)
        assert.strictEqual(found.failure?.node, "Break")
        assert.strictEqual(found.failure?.nodeType, "n8n-nodes-base.code")
        assert.match(found.failure?.error.message ?? "", /the box is empty/)
        assert.deepInclude(found.failure, { inputCount: 2, itemUnknown: true })
        assert.notProperty(found.failure, "inputItem")
        assert.strictEqual(found.availableNodes[0]?.nodeName, "Break")
        assert.include((yield* guidance(executionId))?.example, "nodeName: 'Break'")
        const broke = yield* node(executionId, "Break")
        assert.strictEqual(broke.status, "error")
        assert.notInclude(JSON.stringify(broke), "stack")
        const never = yield* node(executionId, "Never")
        assert.strictEqual(never.status, "notRun")
        assert.include(never.note, "'Break', the node before it, failed")
      }))

    it.effect("failed requests: n8n's words, the status, no dump of the request", () =>
      Effect.gen(function*() {
        const answered = yield* scenarios.run("httpFail")
        const found = yield* agrees(answered.executionId)
        assert.strictEqual(found.failure?.node, "HTTP Request")
        assert.strictEqual(found.failure?.error.httpCode, "404")
        const text = JSON.stringify(
          yield* tools.getExecutionByNode.run({ id: answered.executionId, nodeName: "HTTP Request" })
        )
        for (const canary of Object.values(workflows.canaries)) assert.notInclude(text, canary)
        assert.include(text, "[redacted]")
        const refused = yield* agrees((yield* scenarios.run("httpRefused")).executionId)
        assert.match(JSON.stringify(refused.failure?.error), /ECONNREFUSED|refused/)
      }))

    it.effect("error output: the node succeeds, and the summary reports which items did not", () =>
      Effect.gen(function*() {
        const { executionId } = yield* scenarios.run("errorOutput")
        const found = yield* agrees(executionId)
        assert.strictEqual(found.status, "success")
        assert.strictEqual(found.availableNodes.find(({ nodeName }) => nodeName === "Risky")?.errorItems, 1)
        const risky = yield* node(executionId, "Risky")
        assert.strictEqual(risky.outputs[1]?.name, "error")
        assert.strictEqual(risky.output.output, "main[1]")
      }))

    it.effect("merge: both inputs, in order, with where they came from", () =>
      Effect.gen(function*() {
        const { executionId } = yield* scenarios.run("merge")
        yield* agrees(executionId)
        const merged = yield* node(executionId, "Merge")
        assert.deepStrictEqual(merged.input.sources.map(({ count, input, node }) => [input, node, count]), [
          ["main[0]", "A", 2],
          ["main[1]", "B", 2]
        ])
        assert.deepStrictEqual(merged.input.items.map(({ json }) => json), [
          { id: 1, a: "x" },
          { id: 2, a: "y" },
          { id: 1, b: "p" },
          { id: 2, b: "q" }
        ])
      }))

    it.effect("binary: a stub, no content", () =>
      Effect.gen(function*() {
        const { executionId } = yield* scenarios.run("binary")
        yield* agrees(executionId)
        const [item] = (yield* node(executionId, "Convert to File")).output.items
        const [stub] = Object.values(item?.binary ?? {})
        assert.strictEqual(stub?.mimeType, "application/json")
        assert.strictEqual(stub?.fileName, "file.json")
        assert.deepStrictEqual(Object.keys(stub ?? {}).toSorted(), ["fileName", "fileSize", "mimeType"])
      }))

    it.effect("waiting: until when, and not cached, because it will change", () =>
      Effect.gen(function*() {
        const { executionId } = yield* scenarios.run("waiting")
        const found = yield* summary(executionId)
        assert.strictEqual(found.status, "waiting")
        assert.isAbove(Date.parse(found.waitTill ?? ""), Date.parse(found.startedAt ?? "") + 3_600_000)
        const sent = yield* Sent
        const before = sent.count
        yield* summary(executionId)
        // The execution, and on n8n 2 the version that is published.
        assert.strictEqual(sent.count, before + (v2 ? 2 : 1))
      }))

    it.effect("12 × 100 items: at most 1,000 tokens, 98 % less; the second look costs no request", () =>
      Effect.gen(function*() {
        const { executionId: id } = yield* scenarios.run("big12")
        yield* agrees(id)
        const answer = yield* tools.getExecution.run({ id })
        const api = JSON.stringify(yield* apiExecution(id)).length
        assert.isAtMost(tokens(answer), 1_000)
        assert.isAtMost(JSON.stringify(answer).length, api * 0.02)
        const sent = yield* Sent
        const before = sent.count
        const seen: Array<unknown> = []
        for (let itemOffset = 0; itemOffset < 100; itemOffset += 20) {
          const page = yield* node(id, "Step 2", { itemOffset, itemLimit: 20 })
          seen.push(...page.output.items.map(({ json }) => obj(json)?.["id"]))
          assert.isAtMost(
            JSON.stringify(yield* tools.getExecutionByNode.run({ id, nodeName: "Step 2", itemLimit: 20 })).length,
            api * 0.1
          )
        }
        assert.strictEqual(sent.count, before)
        assert.deepStrictEqual(seen, Array.from({ length: 100 }, (_, index) => index))
      }))

    it.effect("250 nodes: at most 2,500 tokens, and all of them by nodeOffset", () =>
      Effect.gen(function*() {
        const { executionId: id, workflowId } = yield* scenarios.run("wide250")
        yield* agrees(id)
        const names = new Set<string>()
        for (let nodeOffset = 0; nodeOffset < 250;) {
          const answer = yield* tools.getExecution.run({ id, nodeOffset })
          assert.isAtMost(tokens(answer), 2_500)
          const { availableNodes } = yield* summary(id, nodeOffset)
          assert.isNotEmpty(availableNodes)
          for (const { nodeName } of availableNodes) names.add(nodeName)
          nodeOffset += availableNodes.length
        }
        assert.strictEqual(names.size, 250)
        for (const nodeName of [workflows.japaneseName, workflows.quotedName]) {
          assert.strictEqual((yield* node(id, nodeName)).status, "success")
        }
        const graph = yield* tools.getWorkflowConnections.run({ id: workflowId })
        assert.isAtMost(JSON.stringify(graph).length, 40_000)
        const workflow = yield* dataOf(tools.getWorkflow, { id: workflowId, raw: true })
        assert.isAtMost(JSON.stringify(workflow).length, 40_000)
        assert.strictEqual(workflow["nodeCount"], 250)
      }))

    it.effect("AI: sub-nodes, their inputs and their ports", () =>
      Effect.gen(function*() {
        const { executionId, workflowId } = yield* scenarios.run("ai")
        yield* agrees(executionId)
        const model = yield* node(executionId, "Chain Model")
        assert.strictEqual(model.outputs[0]?.output, "ai_languageModel")
        assert.strictEqual(model.input.sources[0]?.input, "ai_languageModel")
        assert.isNotEmpty(model.input.items)
        const { graph = [] } = yield* tools.getWorkflowConnections.call({ id: workflowId, format: "graph" })
        assert.deepStrictEqual(graph.find((row) => row.node === "Simple Memory")?.ports, [
          { output: "ai_memory", to: "AI Agent", input: "ai_memory" }
        ])
        assert.includeMembers([...graph.find((row) => row.node === "AI Agent")?.inputs ?? []], [
          "Basic LLM Chain",
          "Agent Model",
          "Simple Memory",
          "Calculator"
        ])
      }))

    it.effect("AI failure: the sub-node that failed is named", () =>
      Effect.gen(function*() {
        const { executionId } = yield* scenarios.run("aiFail")
        const found = yield* agrees(executionId)
        assert.strictEqual(found.failure?.node, "Chain Model")
      }))

    it.effect("a node behind a branch that was not taken did not run, and says why", () =>
      Effect.gen(function*() {
        const { executionId } = yield* scenarios.run("notReached")
        const found = yield* agrees(executionId)
        assert.strictEqual(found.statistics.totalNodes - found.statistics.executedNodes, 1)
        const never = yield* node(executionId, "Never Ran")
        assert.strictEqual(never.status, "notRun")
        assert.include(never.note, "'Is Even', the node before it, ran and sent no items to main[1]")
      }))

    it.effect("manual, canceled: reports what n8n stored, and what to do next", () =>
      Effect.gen(function*() {
        const manual = yield* agrees((yield* scenarios.manual()).executionId)
        assert.strictEqual(manual.mode, "manual")
        const canceled = yield* summary((yield* scenarios.canceled()).executionId)
        assert.strictEqual(canceled.status, "canceled")
        assert.isNotEmpty((yield* guidance(canceled.id))?.message)
      }))

    it.effect("secrets of webhooks, items and parameters never come out", () =>
      Effect.gen(function*() {
        const { executionId: id, workflowId } = yield* scenarios.run("secrets")
        const answers = [
          yield* tools.getExecution.run({ id }),
          yield* tools.getExecutionByNode.run({ id, nodeName: workflows.trigger }),
          yield* tools.getExecutionByNode.run({ id, nodeName: "Set Secrets" }),
          yield* tools.getWorkflow.run({ id: workflowId, nodes: ["*"] }),
          yield* tools.listExecutions.run({ workflowId, raw: true })
        ]
        const text = JSON.stringify(answers)
        for (const canary of Object.values(workflows.canaries)) assert.notInclude(text, canary)
        assert.include(text, "\"maxTokens\":\"128\"")
        assert.include(text, "not a secret")
      }))

    it.effect("list_workflows: archived ones left out, tags, names, offset and cursors on this n8n", () =>
      Effect.gen(function*() {
        const both = yield* scenarios.tagged("Tagged both", ["red", "blue"])
        yield* scenarios.tagged("Tagged red", ["red"])
        const archived = v2 ? yield* scenarios.archived() : undefined
        const all = (yield* tools.listWorkflows.call({ limit: 100, offset: 0 })).workflows
        const api = yield* scenarios.allWorkflows
        assert.deepStrictEqual(
          all.map(({ id }) => id),
          api.filter((row) => row["isArchived"] !== true).map((row) => row["id"]).slice(0, 100)
        )
        if (archived !== undefined) {
          const raw = yield* tools.listWorkflows.call({ limit: 100, offset: 0, raw: true })
          assert.isTrue(raw.workflows.some((row) => row.id === archived.workflowId && row.isArchived === true))
        }
        const tagged = yield* tools.listWorkflows.call({ limit: 100, offset: 0, tags: ["red", "blue"] })
        assert.deepStrictEqual(tagged.workflows.map(({ id }) => id), [both.workflowId])
        const named = yield* tools.listWorkflows.call({ limit: 100, offset: 0, name: "tagged R" })
        assert.deepStrictEqual(named.workflows.map(({ name }) => name), ["Tagged red"])

        for (let offset = 0; offset < all.length; offset += 3) {
          const page = yield* tools.listWorkflows.call({ limit: 3, offset })
          assert.deepStrictEqual(page.workflows, all.slice(offset, offset + 3))
        }
        const walked: Array<unknown> = []
        for (let cursor: string | undefined, more = true; more;) {
          const page = yield* tools.listWorkflows.call({
            limit: 4,
            offset: 0,
            ...(cursor === undefined ? {} : { cursor })
          })
          walked.push(...page.workflows)
          cursor = page.nextCursor
          more = cursor !== undefined
        }
        assert.deepStrictEqual(walked, [...all])
        const active = yield* tools.listWorkflows.call({ limit: 100, offset: 0, active: true })
        assert.isNotEmpty(active.workflows)
        assert.isTrue(active.workflows.every((row) => row.active))
      }))

    it.effect("get_workflow: 90 % less than the API of a workflow with 12 nodes, whole nodes by name", () =>
      Effect.gen(function*() {
        const { workflowId: id } = yield* scenarios.run("big12", "reduction")
        const api = JSON.stringify(yield* scenarios.fetchJson(`workflows/${id}`))
        const size = (value: unknown) => JSON.stringify(value).length
        assert.isAtMost(size(yield* tools.getWorkflow.run({ id })), api.length * 0.1)
        assert.isAtMost(size(yield* tools.getWorkflowConnections.run({ id })), api.length * 0.2)
        const { nodes } = yield* tools.getWorkflow.call({ id, nodes: ["Step 3"] })
        const original = arr(obj(JSON.parse(api))?.["nodes"]).find((each) => obj(each)?.["name"] === "Step 3")
        assert.deepStrictEqual(nodes?.[0] as unknown, original)
      }))

    it.effect("list_executions: names, states, times and pages", () =>
      Effect.gen(function*() {
        const { executions } = yield* rows({ limit: 100 })
        const ids = executions.map(({ id }) => Number(id))
        assert.deepStrictEqual(ids, ids.toSorted((a, b) => b - a))
        const failed = yield* rows({ limit: 100, status: "error" })
        assert.isAtLeast(failed.executions.length, 3)
        assert.isTrue(failed.executions.every((row) => row.status === "error"))
        assert.includeMembers(failed.executions.map((row) => row.workflowName), ["fail", "httpFail"])

        const middle = executions[Math.floor(executions.length / 2)]
        const startedAfter = middle?.startedAt ?? ""
        const after = yield* rows({ limit: 100, startedAfter })
        assert.deepStrictEqual(
          after.executions.map(({ id }) => id),
          executions.filter((row) => (row.startedAt ?? "") >= startedAfter).map(({ id }) => id)
        )
        const before = yield* rows({ limit: 3, startedBefore: startedAfter })
        const rest = executions.filter((row) => (row.startedAt ?? "") <= startedAfter).map(({ id }) => id)
        assert.deepStrictEqual(before.executions.map(({ id }) => id), rest.slice(0, 3))
        const next = yield* rows({
          limit: 3,
          startedBefore: startedAfter,
          ...(before.nextCursor === undefined ? {} : { cursor: before.nextCursor })
        })
        assert.deepStrictEqual(next.executions.map(({ id }) => id), rest.slice(3, 6))

        const crashed = yield* Effect.result(tools.listExecutions.call({ limit: 5, status: "crashed" }))
        assert.strictEqual(crashed._tag, v2 ? "Success" : "Failure")
        if (crashed._tag === "Failure") {
          assert.strictEqual(crashed.failure._tag, "ValidationError")
          assert.include(JSON.stringify(crashed.failure), "canceled, error, running, success, waiting")
        }
      }))

    it.effect("many failures in one call, and a run that is waited for", () =>
      Effect.gen(function*() {
        const box = yield* scenarios.run("fail", "triage: the box")
        const last = yield* scenarios.trigger("fail", box)
        const http = yield* scenarios.run("httpFail", "Triage: the request")
        const triage = (groupBy: "workflow" | "failure", limit = 200) =>
          tools.listExecutions.call({ groupBy, limit, workflowName: "TRIAGE:" })
        const { complete, groups, scanned } = yield* triage("failure")
        assert.deepStrictEqual([scanned, complete], [3, true])
        assert.deepInclude(groups?.[0], {
          workflowId: box.workflowId,
          workflowName: "triage: the box",
          node: "Break",
          count: 2,
          executions: [last.executionId, box.executionId]
        })
        assert.deepInclude(groups?.[1], { workflowId: http.workflowId, node: "HTTP Request", count: 1 })
        assert.include(JSON.stringify(groups?.[1]), "nobody-is-here")
        const { groups: byWorkflow } = yield* triage("workflow")
        assert.deepInclude(byWorkflow?.[0], { workflowName: "triage: the box", total: 2, byStatus: { error: 2 } })
        const newest = yield* triage("failure", 2)
        assert.deepStrictEqual([newest.scanned, newest.complete], [2, false])
        assert.isString(newest.nextCursor)

        const running = yield* scenarios.run("running", "waited for")
        const waiting = yield* Effect.forkChild(
          tools.getExecution.call({ id: running.executionId, nodeOffset: 0, wait: 40 })
        )
        yield* scenarios.stop(running.executionId)
        assert.strictEqual((yield* Fiber.join(waiting)).status, "canceled")
      }))

    it.effect("asked for its items: the one that broke it, where a record went, what changed", () =>
      Effect.gen(function*() {
        const { executionId: id } = yield* scenarios.run("orders")
        const { failure } = yield* summary(id)
        assert.deepInclude(failure, { node: "Book", inputCount: 3_000 - 1, itemUnknown: true })
        assert.notInclude((yield* guidance(id))?.example, "where")
        const broke = yield* node(id, "Book", { where: "net < 0", fields: ["orderNo"] })
        assert.deepStrictEqual<unknown>(broke.input.items, [{ index: 2_344, json: { orderNo: "SO-2345" } }])

        const dropped = yield* tools.searchExecution.call({ id, where: "orderNo === 'SO-77'", limit: 10 })
        assert.deepStrictEqual(dropped.nodes.map((each) => each.node), ["Orders", "Price"])
        const text = yield* tools.searchExecution.call({ id, text: "so-2345", fields: ["net"], limit: 10 })
        assert.deepStrictEqual<unknown>(text.matches.map(({ item }) => item?.json), [
          { net: 2_345.25 },
          { net: -1 },
          { net: -1 }
        ])

        const changed = yield* tools.compareItems.call({ id, from: "Orders", to: "Ship", limit: 10 })
        assert.deepInclude<unknown>(changed, {
          pairedBy: "pairedItem",
          altered: 1,
          added: 2_999,
          namedBy: "orderNo",
          onlyInFrom: { count: 1, first: ["SO-77"] }
        })
        assert.deepStrictEqual<unknown>(
          changed.paths.map(({ by: _, ...each }) => each),
          [{ path: "net", altered: 1 }, { path: "shipped", added: 2_999 }]
        )
        const wrong = { key: "SO-2345", path: "net", before: 2_345.25, after: -1, by: "Price" }
        assert.deepInclude<unknown>(changed.examples[0], wrong)
        assert.deepStrictEqual(changed.examples.map(({ path }) => path), ["net", "shipped"])

        const looped = yield* scenarios.run("loop40")
        const runs = yield* tools.searchExecution.call({ id: looped.executionId, where: "i === 360", limit: 10 })
        assert.deepStrictEqual(
          runs.matches.map((each) => [each.node, each.run, each.name]),
          [["Inside", 36, undefined], ["Loop Over Items", 40, "done"]]
        )
      }))

    it.effect("deleted and unsaved: nothing to be found, and said so", () =>
      Effect.gen(function*() {
        const deleted = yield* scenarios.deleted()
        const gone = yield* Effect.flip(tools.getExecution.run({ id: deleted.executionId }))
        assert.strictEqual(gone.message, `Execution '${deleted.executionId}' not found`)
        assert.include(Hints.text(gone.hint), "list_executions")
        const { workflowId } = yield* scenarios.notSaved()
        // 1.x takes the execution away a moment after it has ended.
        const left = yield* Effect.repeat(tools.listExecutions.call({ workflowId, limit: 5 }), {
          schedule: Schedule.spaced("200 millis"),
          until: ({ count }) => count === 0,
          times: 25
        })
        assert.strictEqual(left.count, 0)
      }))

    it.effect("wrong ids and keys: typed errors that say what to do", () =>
      Effect.gen(function*() {
        const missing = yield* Effect.flip(tools.getExecution.run({ id: "99999999" }))
        assert.strictEqual(missing.message, "Execution '99999999' not found")
        const workflow = yield* Effect.flip(tools.getWorkflow.run({ id: "doesnotexist0000" }))
        assert.strictEqual(workflow.message, "Workflow 'doesnotexist0000' not found")
        const { createApiKey, url } = yield* RealN8n
        const as = (apiKey: Redacted.Redacted<string>, address = url) =>
          Effect.provide(
            Effect.flip(tools.listExecutions.run({})),
            Layer.fresh(N8nClient.layer({ url: address, apiKey }).pipe(Layer.provide(FetchHttpClient.layer)))
          )
        const wrong = yield* as(Redacted.make("nonsense"))
        assert.strictEqual(reasonOf(wrong), "Status 401")
        assert.include(Hints.text(wrong.hint), "N8N_API_KEY")
        if (v2) {
          const forbidden = yield* as(yield* createApiKey(["workflow:read"]))
          assert.strictEqual(reasonOf(forbidden), "Status 403")
          assert.include(Hints.text(forbidden.hint), "scope")
        }
        const elsewhere = yield* as(Redacted.make("nonsense"), new URL("elsewhere/", url))
        assert.strictEqual(elsewhere._tag, "ApiError")
        assert.include(Hints.text(elsewhere.hint), "N8N_URL")
      }))

    it.effect("over stdio, from the list to the cause", () =>
      Effect.gen(function*() {
        const { executionId: id } = yield* scenarios.run("fail", "nightly")
        const { apiKey, url } = yield* RealN8n
        const { answers, code } = yield* overStdio(
          { N8N_URL: url.href, N8N_API_KEY: Redacted.value(apiKey) },
          [
            { name: "list_executions", arguments: { status: "error", limit: 1 } },
            { name: "get_execution", arguments: { id } },
            { name: "get_execution_by_node", arguments: { id, nodeName: "Break" } }
          ]
        )
        assert.strictEqual(code, 0)
        const Structured = Schema.Struct({ structuredContent: Schema.Struct({ data: Schema.Unknown }) })
        const data = (index: number) =>
          Effect.map(Schema.decodeUnknownEffect(Structured)(answers.get(index)), ({ structuredContent }) =>
            structuredContent.data)
        assert.include(JSON.stringify(yield* data(0)), "\"workflowName\":\"nightly\"")
        assert.include(JSON.stringify(yield* data(1)), "the box is empty")
        assert.include(JSON.stringify(yield* data(2)), "\"i\":1")
      }))

    writes(it, { v2, drafts })

    it.effect(
      "writes through faults leave what a model says",
      () => throughFaults(drafts ? "2" : "1", [1, 2], 20),
      // Pauses between retries are real here.
      600_000
    )

    versions(it, { v2, drafts })
    choosing(it, version)
    triage(it, { v2, drafts })
    reshaping(it)
    validation(it, version)
    referring(it, { v2 })
    guides(it, v2)
    building(it, { drafts })
    upgradingAi(it)
    upgradingRequests(it)
    upgradingWhole(it, { drafts })
    manyRuns(it, { v2 })
    mapping(it, { v2 })
    if (v2) core(it, version)
    if (v2) balanced(it)

    it.effect("after a crash of n8n: reports what it stored, without an exception", () =>
      Effect.gen(function*() {
        const { executionId, status } = yield* scenarios.crashed()
        const found = yield* summary(executionId)
        assert.strictEqual(found.status, status)
        assert.strictEqual(found.workflowName, "crashed")
        assert.isNotEmpty((yield* guidance(executionId))?.message)
      }))

    // Last: the executions of its copies are gone, and the ids after the newest that is listed taken.
    testing(it, v2)
    replaying(it)
    if (v2) demonstrating(it)
    examining(it, v2)
    sent(it)
    fencing(it)
    sendingNothing(it)
    sendingByAddress(it)
    proving(it, { drafts })
    provingOthers(it)
    provingCallers(it, { v2 })
    retrying(it, v2)
    changingMany(it, v2)
    testingLeftovers(it)
    cases(it)
    drilling(it, v2)
    upgradingServices(it)
    guarding(it, v2)
    resources(it, version)
    instance(it, version)
    syncing(it, v2)
    publishing(it, { v2, drafts })
    publishingVersions(it, { drafts })
    extracting(it, { v2, drafts })
    writingPaths(it, { v2, drafts })
  })
}
