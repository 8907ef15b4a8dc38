/** Versions of workflows on a real n8n: read, compared and restored, while what is published goes on. */
import { assert, type Vitest } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Schedule from "effect/Schedule"
import { examples } from "../../../src/app/commands/tools.ts"
import type * as Services from "../../../src/app/Services.ts"
import { arr, obj, str } from "../../../src/base/Json.ts"
import * as Protocol from "../../../src/mcp/Protocol.ts"
import type * as N8nClient from "../../../src/n8n/N8nClient.ts"
import * as tools from "../../../src/tools/index.ts"
import { main, node } from "../../support/workflows.ts"
import { RealN8n } from "./RealN8n.ts"
import * as scenarios from "./scenarios.ts"

type It = Vitest.MethodsNonLive<RealN8n | N8nClient.N8nClient | Services.Services>

/** What a webhook answers, or its status when that is not 200. */
const answerOf = Effect.fnUntraced(function*(path: string) {
  const { url } = yield* RealN8n
  return yield* Effect.promise(async () => {
    const response = await fetch(new URL(`webhook/${path}`, url), {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ net: 100, discount: null })
    })
    return response.status === 200 ? await response.text() : String(response.status)
  })
})

const code = (price: string) => `const order = $input.first().json.body\nreturn [{ json: { price: ${price} } }]\n`

/** The workflow in each of its states, of which the second is published; the fourth broke it, the fifth did not. */
const prices = [
  "order.net",
  "order.net * 1.19",
  "order.net * 1.2",
  "order.net - order.discount.amount",
  "order.net * 2"
]

const setCode = (id: string, price: string) =>
  tools.workflowEdit.call({
    workflowId: id,
    operations: [{ op: "set", node: "Price", path: "jsCode", value: code(price) }]
  })

/** A webhook that answers a price; what its states were is told with n8n's versions, oldest first. */
const story = Effect.fnUntraced(function*() {
  const path = `v-${crypto.randomUUID()}`
  const { id, versionId = "" } = yield* tools.createWorkflow.call({
    name: `Prices ${path}`,
    nodes: [
      node("Hook", "webhook", 2, { path, httpMethod: "POST", responseMode: "lastNode" }, {
        id: "hook",
        webhookId: crypto.randomUUID()
      }),
      node("Price", "code", 2, { jsCode: code(prices[0] ?? "") }, { id: "price", position: [200, 0] })
    ],
    connections: { Hook: main("Price") }
  })
  const versions = [versionId]
  for (const price of prices.slice(1)) {
    const written = yield* setCode(id, price)
    versions.push(written.versionId ?? "")
    if (versions.length === 2) yield* tools.activateWorkflow.call({ id })
  }
  const { versions: rows } = yield* tools.workflowHistory.call({ id, limit: 50 })
  return { id, path, versions, rows, snapshots: rows.filter(({ source }) => source === "snapshot") }
})

const codeOf = Effect.fnUntraced(function*(id: string) {
  const { nodes = [] } = yield* tools.getWorkflow.call({ id, nodes: ["Price"] })
  return JSON.stringify(nodes)
})

/** Everything that n8n says of a workflow, but when somebody looked at it. */
const all = Effect.fnUntraced(function*(id: string) {
  const { body: workflow } = yield* scenarios.request("GET", `workflows/${id}`)
  const { body: history } = yield* scenarios.request("GET", `workflows/${id}/history`)
  const { shared: _, ...rest } = obj(workflow) ?? {}
  return { rest, history }
})

/** The tools that only read. */
const readers = tools.all.filter(({ annotations }) => annotations.readOnlyHint).map(({ name }) => name)

/** What there is to read. */
interface Subject {
  readonly id: string
  /** n8n's versions and snapshots of it. */
  readonly versions: ReadonlyArray<string>
  /** A file or draft, and a snapshot of it. */
  readonly file: string
  readonly fileVersion: string
  readonly executionId: string
  readonly credentialId: string
  /** Two nodes that ran. */
  readonly nodes: readonly [string, string]
}

/** Calls of every tool that reads, to show that none of them writes; by default its example for people. */
const readingCalls = (
  { credentialId, executionId, file, fileVersion, id, nodes: [from, to], versions }: Subject
): Readonly<Record<string, ReadonlyArray<object>>> => {
  const states = [
    id,
    `${id}@published`,
    ...versions.map((version) => `${id}@${version}`),
    file,
    `${file}@${fileVersion}`
  ]
  const own: Readonly<Record<string, ReadonlyArray<object>>> = {
    list_workflows: [{}, { raw: true }],
    get_workflow: states.flatMap((id) => [{ id }, { id, raw: true, nodes: ["*"] }]),
    get_workflow_connections: states.flatMap((id) => [{ id, raw: true }, { id, format: "mermaid" }]),
    workflow_load: states.map((workflowIdOrPath) => ({ workflowIdOrPath })),
    workflow_history: [{ id }, { id: file }],
    workflow_diff: states.flatMap((a) => [{ a, b: id }, { a, b: file, node: from }]),
    validate_workflow: states.map((workflowId) => ({ workflowId })),
    workflow_map: [{}, { id }, { id, format: "mermaid" }, { kind: "unresolved" }],
    list_executions: [{}, { groupBy: "failure" }, { groupBy: "workflow", workflowId: id }],
    get_execution: [{ id: executionId }],
    get_execution_by_node: [{ id: executionId, nodeName: from }],
    search_execution: [{ id: executionId, text: "a" }],
    compare_items: [{ id: executionId, from, to }],
    credential_test: [{ id: credentialId }],
    instance_overview: [{}, { since: "2026-01-01T00:00:00Z" }],
    audit: [{}, { workflowId: id }],
    // What only shows what it would do reads, too.
    workflow_edit: [id, file].map((workflowId) => ({
      workflowId,
      operations: [{ op: "tidy" }, { op: "name", name: "Other" }],
      dryRun: true
    })),
    workflow_restore: [
      ...versions.map((version) => ({ id, version, dryRun: true })),
      { id: file, version: fileVersion, dryRun: true }
    ],
    sync_pull: [{ dryRun: true }],
    sync_push: [{ dryRun: true }]
  }
  return { ...Object.fromEntries(readers.map((name) => [name, [examples[name] ?? {}]])), ...own }
}

/**
 * Adds the tests of versions to a suite. The releases differ: with drafts a version waits beside what runs, and only n8n 2
 * keeps versions of its own.
 */
export const versions = (it: It, { drafts, v2 }: { readonly v2: boolean; readonly drafts: boolean }) => {
  it.effect("versions: a published webhook answers as before while its versions are compared, tested and restored", () =>
    Effect.gen(function*() {
      const { id, path, rows, snapshots, versions } = yield* story()
      const live = prices[drafts ? 1 : 4] ?? ""
      const expected = drafts ? /"price":119/ : /"price":200/
      assert.match(yield* answerOf(path), expected)
      for (const [index, price] of prices.entries()) {
        if (v2) assert.include(yield* codeOf(`${id}@${versions[index]}`), price)
        // The newest snapshot is of before the last change.
        const snapshot = snapshots.at(-1 - index)
        if (snapshot !== undefined) assert.include(yield* codeOf(`${id}@${snapshot.version}`), price)
      }
      assert.include(yield* codeOf(`${id}@published`), live)
      const n8ns = rows.filter(({ source }) => source === "n8n")
      assert.deepStrictEqual(
        n8ns.map(({ current, published, version }) => [version, current === true, published === true]),
        drafts ? versions.toReversed().map((version, index) => [version, index === 0, index === 3]) : []
      )
      const answers: Array<string> = []
      const polling = yield* answerOf(path).pipe(
        Effect.tap((answer) => Effect.sync(() => answers.push(answer))),
        Effect.repeat(Schedule.spaced("100 millis")),
        Effect.forkChild
      )
      const [from, to] = drafts ? versions.slice(2, 4) : [snapshots[1]?.version, snapshots[0]?.version]
      const difference = yield* tools.workflowDiff.call({ a: `${id}@${from}`, b: `${id}@${to}` })
      assert.include(JSON.stringify(difference.nodes), "order.discount.amount")
      const tested = yield* tools.testWorkflow.call({
        workflowId: `${id}@${from}`,
        testData: { net: 100, discount: null },
        timeout: 30_000,
        mode: "copy"
      })
      assert.strictEqual(tested.status, "success")
      assert.deepInclude(tested.data?.items[0]?.json, { price: 120 })
      if (drafts) {
        const restored = yield* tools.workflowRestore.call({ id, version: from ?? "", confirm: true })
        assert.strictEqual(restored.published, false)
        assert.isTrue((yield* tools.workflowDiff.call({ a: `${id}@${from}` })).same)
      }
      yield* Fiber.interrupt(polling)
      assert.isNotEmpty(answers)
      for (const answer of answers) assert.match(answer, expected)
      if (drafts) {
        yield* tools.activateWorkflow.call({ id })
        assert.isTrue((yield* tools.workflowDiff.call({ a: id })).same)
      } else {
        const restored = yield* tools.workflowRestore.call({ id, version: from ?? "", confirm: true })
        assert.strictEqual(restored.published, true)
        assert.isTrue((yield* tools.workflowDiff.call({ a: id })).same)
      }
      assert.match(yield* answerOf(path), /"price":120/)
    }).pipe(scenarios.live))

  it.effect("versions: reading them writes nothing", () =>
    Effect.gen(function*() {
      const { id, snapshots, versions } = yield* story()
      const { executionId } = yield* scenarios.run("branch")
      const before = yield* all(id)
      const names = arr(before.rest["nodes"]).map((node) => str(obj(node)?.["name"]) ?? "")
      const each = readingCalls({
        id,
        versions: [...drafts ? versions : [], ...snapshots.map(({ version }) => version)],
        file: "none.json",
        fileVersion: "none",
        executionId,
        credentialId: "none",
        nodes: ["Is Even", "Odds"]
      })
      for (const [name, args] of Object.entries(each)) {
        const tool = Protocol.find(tools.all, name)
        if (tool === undefined) return assert.fail(`there is no ${name}`)
        const exits = yield* Effect.forEach(args, (each) => Effect.exit(tool.run(each)))
        // There are no files here, no such credential, no licence for projects, and no tables on n8n 1.
        const isMissing = name.startsWith("sync_") || name === "table_read" && !drafts ||
          ["workflow_list", "credential_test", "project_list"].includes(name)
        assert.strictEqual(exits.some(Exit.isSuccess), !isMissing, name)
        assert.deepStrictEqual(yield* all(id), before, name)
      }
      assert.deepStrictEqual(names, ["Hook", "Price"])
    }))
}
