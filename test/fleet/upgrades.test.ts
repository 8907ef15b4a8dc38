import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as BatchReport from "../../src/app/report/BatchReport.ts"
import { defined, obj } from "../../src/base/Json.ts"
import * as Fleet from "../../src/fleet/Fleet.ts"
import * as TestMark from "../../src/n8n/model/TestMark.ts"
import * as Workflow from "../../src/n8n/model/Workflow.ts"
import type * as N8nApi from "../../src/testing/n8nApi/N8nApi.ts"
import { succeededExecution } from "../../src/testing/runs.ts"
import * as tools from "../../src/tools/index.ts"
import * as batches from "../../src/tools/shared/Batches.ts"
import * as BatchProof from "../../src/trials/proof/BatchProof.ts"
import { leftOut, reasons } from "../support/batches.ts"
import { killed } from "../support/killed.ts"
import { main, node, workflow } from "../support/workflows.ts"
import { inMemory, inWorld } from "../support/world.ts"

/** Upgrade of workflows, or of files, as drafts, with its proof. */
const upgrade = Effect.fnUntraced(function*(where: Pick<Fleet.Request, "files" | "select">, release?: string) {
  const { plan, unchanged } = yield* Fleet.plan({
    ...where,
    operations: [{ op: "upgrade" }],
    publish: "draft",
    release
  })
  if (plan.entries.length === 0) {
    return defined({ done: undefined, plan, unchanged, proof: undefined, refused: batches.grouped(plan.refused) })
  }
  const outcome = batches.summarize(yield* Fleet.apply(plan.id))
  const proof = yield* BatchProof.prove(plan.id, { timeout: 25_000, redacts: true })
  return { ...outcome, plan, unchanged, proof, refused: [...batches.grouped(plan.refused), ...outcome.refused ?? []] }
})

const w1 = { select: { ids: ["w1"] } }

const nodes = [
  node("Hook", "webhook", 2.1, { path: "orders", httpMethod: "POST" }),
  node("合計", "function", 1, { functionCode: "return items" }),
  node("Send", "httpRequest", 1, { requestMethod: "POST", url: "https://shop.example", options: {} })
]
const connections = { Hook: main("合計"), "合計": main("Send") }
const orders = workflow("w1", nodes, { active: true, connections })

const items = { Hook: [{ body: { no: 1 } }], "合計": [{ no: 1 }], Send: [{ ok: true }] }

const world = {
  seed: {
    workflows: [orders],
    executions: [{
      ...succeededExecution({ workflow: orders, items }),
      id: "101",
      startedAt: "2026-01-01T00:00:00.000Z",
      mode: "webhook"
    }]
  },
  runs: (copy: N8nApi.Workflow) => succeededExecution({ workflow: copy, items })
}

const nodesOf = (value: unknown) => Workflow.nodes(obj(value) ?? {})

const typesIn = (value: unknown) =>
  nodesOf(value).map(({ type, typeVersion }) => `${String(type)} ${String(typeVersion)}`)

describe("upgrades of many workflows", () => {
  it.effect("become drafts on n8n, proven on recorded runs, and published as proven; what is left has its decision", () =>
    inMemory(function*(api) {
      const report = yield* upgrade({ select: { ids: ["w1", "gone"] } })
      assert.deepStrictEqual(report.plan.changes.map(({ change }) => change), ["function 1 → code 2"])
      assert.deepStrictEqual(report.plan.left?.flatMap(({ names }) => names), [`${orders.name}: Send`])
      assert.deepInclude(report.proof, { workflows: 1, runs: 1, same: 1 })
      assert.deepStrictEqual(leftOut(report.refused), ["gone"])
      assert.strictEqual(BatchReport.upgrade(report, false).exit, 1)
      const [stored, ...copies] = yield* api.workflows
      assert.lengthOf(copies, 0)
      assert.include(typesIn(stored), "n8n-nodes-base.code 2")
      // What runs is as it was.
      assert.include(typesIn(stored?.["activeVersion"]), "n8n-nodes-base.function 1")

      // The draft of an earlier upgrade is proven again.
      const again = yield* upgrade(w1)
      assert.deepStrictEqual([again.done, again.proof?.runs], [1, 1])
      assert.deepStrictEqual((yield* api.workflows)[0]?.versionId, stored?.versionId)

      const { published, refused } = yield* tools.bulkEdit.call({ plan: report.plan.id, publish: "proven" })
      assert.deepStrictEqual([published, refused], [1, undefined])
      assert.include(typesIn((yield* api.workflows)[0]?.["activeVersion"]), "n8n-nodes-base.code 2")
    }, world))

  it.effect("are not published as proven where the draft has changed since, or is not proven", () =>
    inMemory(function*(api) {
      const { plan } = yield* Fleet.plan({ ...w1, operations: [{ op: "upgrade" }], publish: "draft" })
      yield* Fleet.apply(plan.id)
      const publish = Effect.map(
        tools.bulkEdit.call({ plan: plan.id, publish: "proven" }),
        ({ done, published, refused }) => [done, published, refused?.[0]?.why]
      )
      assert.deepStrictEqual(yield* publish, [1, undefined, "not proven: prove the batch first"])
      yield* BatchProof.prove(plan.id, { timeout: 25_000, redacts: true })
      yield* api.edit("w1", (now) => ({ ...now, nodes: [...nodesOf(now), node("Note", "stickyNote", 1)] as never }))
      assert.deepStrictEqual(yield* publish, [1, undefined, "its draft has changed since its proof: prove it again"])
      yield* BatchProof.prove(plan.id, { timeout: 25_000, redacts: true })
      assert.deepStrictEqual(yield* publish, [1, 1, undefined])
    }, world))

  it.effect("are published as proven where a trigger's new version was tested, and not where it could not be", () =>
    Effect.forEach(["application/json", "multipart/form-data"], (type) => {
      const hooked = workflow("w1", [
        node("Hook", "webhook", 1.1, { path: "orders", httpMethod: "POST" }),
        ...nodes.slice(1)
      ], { active: true, connections })
      const request = { headers: { "content-type": type, "content-length": "8" }, body: { no: 1 } }
      const [record] = world.seed.executions
      const executions = [{
        ...record,
        ...succeededExecution({ workflow: hooked, items: { ...items, Hook: [request] } }),
        id: "101",
        mode: "webhook"
      }]
      return inMemory(function*(api) {
        const { plan } = yield* upgrade(w1)
        const { published, refused } = yield* tools.bulkEdit.call({ plan: plan.id, publish: "proven" })
        assert.deepStrictEqual(
          [published, refused?.[0]?.why],
          type === "application/json" ? [1, undefined] : [
            undefined,
            "'Hook' 1.1 → 2.1 could not be tested: n8n does not store a body of type 'multipart/form-data' as it was sent: " +
            "publish the workflow itself if that is right"
          ]
        )
        assert.lengthOf(yield* api.workflows, 1)
      }, { ...world, seed: { workflows: [hooked], executions } })
    }))

  it.effect("do not prove the drafts of other people", () =>
    inMemory(function*(api) {
      yield* upgrade(w1)
      yield* tools.activateWorkflow.call({ id: "w1" })
      yield* api.edit(
        "w1",
        (workflow) => ({ ...workflow, nodes: nodesOf(workflow).slice(0, 2), connections: { Hook: main("合計") } })
      )
      const report = yield* upgrade(w1)
      assert.deepStrictEqual([report.plan.entries, report.unchanged], [[], 1])
    }, world))

  it.effect("leave a published workflow where n8n has no drafts: it would change before its proof", () =>
    inMemory(function*(api) {
      const before = yield* api.workflows
      const report = yield* upgrade(w1)
      assert.deepStrictEqual(report.plan.entries, [])
      assert.match(reasons(report.refused)[0] ?? "", /has no drafts/)
      assert.deepStrictEqual(yield* api.workflows, before)
    }, { ...world, version: "1" }))

  it.effect("change files in place: their layout stays, a broken one is named, a second time changes nothing", () =>
    inWorld(function*({ folder }) {
      const fs = yield* FileSystem.FileSystem
      const file = `${folder}/orders.json`
      const text = JSON.stringify({ ...orders, nodes, connections }, undefined, "\t").replace(
        "\"nodes\"",
        "\n\"nodes\""
      )
      yield* fs.writeFileString(file, text)
      yield* fs.writeFileString(`${folder}/broken.json`, "{\"nodes\": [")
      const files = { files: ["."] }
      const report = yield* upgrade(files, "2.41.1")
      assert.deepStrictEqual(report.plan.entries.map(({ id }) => id), ["orders.json"])
      assert.deepStrictEqual(leftOut(report.refused), ["broken.json"])
      assert.strictEqual(report.proof?.runs, 0)
      const after = yield* fs.readFileString(file)
      const lines = new Set(text.split("\n"))
      const fresh = after.split("\n").filter((line) => !lines.has(line))
      assert.isAtMost(fresh.length, 6, after)
      assert.include(after, "\t\n\"nodes\"")
      assert.deepStrictEqual((yield* upgrade(files, "2.41.1")).plan.entries, [])
      assert.strictEqual(yield* fs.readFileString(file), after)
      yield* tools.workflowRestore.call({ batch: report.plan.id })
      assert.deepStrictEqual(JSON.parse(yield* fs.readFileString(file)), JSON.parse(text))
    }))
})

describe("an upgrade that ends early", () => {
  const second = workflow("w2", [
    node("Hook", "webhook", 2.1, { path: "second", httpMethod: "POST" }),
    ...nodes.slice(1)
  ], { name: "second", active: true, connections })
  const both = {
    ...world,
    seed: {
      workflows: [orders, second],
      executions: [orders, second].map((each, index) => ({
        ...succeededExecution({ workflow: each, items }),
        id: String(101 + index),
        startedAt: "2026-01-01T00:00:00.000Z",
        mode: "webhook"
      }))
    }
  }
  /** Applies a plan, proves it, and publishes what proved the same. */
  const whole = Effect.fnUntraced(function*(plan: string) {
    yield* tools.bulkEdit.call({ plan })
    assert.notProperty(yield* tools.workflowProve.call({ batch: plan }), "proofs")
    return yield* tools.bulkEdit.call({ plan, publish: "proven" })
  })

  const places = [1, 2, 3, 4, 5, 6, 8, 10, 12, 14].flatMap((at) => [[at, false], [at, true]] as const)
  it.effect.each(places)(
    "at write %i, answered %s, is continued: proven, published once, taken back",
    ([at, isAfter]) => {
      const { options, run } = killed(at, isAfter)
      return inMemory(function*(api) {
        const { plan = "" } = yield* tools.bulkEdit.call({
          select: { ids: ["w1", "w2"] },
          operations: [{ op: "upgrade" }],
          publish: "draft",
          dryRun: true
        })
        yield* run(whole(plan))
        const { done, published, refused } = yield* whole(plan)
        assert.deepStrictEqual([done, published, refused], [2, 2, undefined])
        // A copy whose creation was not answered stays until its process is gone.
        const all = (yield* api.workflows).filter((each) =>
          !TestMark.isCopy({ name: String(each["name"]), nodes: nodesOf(each) })
        )
        assert.lengthOf(all, 2)
        for (const each of all) {
          assert.include(typesIn(each["activeVersion"]), "n8n-nodes-base.code 2")
          assert.strictEqual(each["activeVersionId"], each.versionId)
        }
        const undone = yield* tools.workflowRestore.call({ batch: plan })
        assert.deepStrictEqual([undone.restored, undone.refused], [2, undefined])
        for (const { id } of all) {
          const now = (yield* api.workflows).find((each) => each.id === id)
          assert.include(typesIn(now?.["activeVersion"]), "n8n-nodes-base.function 1")
        }
      }, { ...both, ...options })
    }
  )
})
