/** test_workflow with several cases, against another version, and what it shows. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { arr, type Obj, obj } from "../../../src/base/Json.ts"
import type * as N8nApi from "../../../src/testing/n8nApi/N8nApi.ts"
import { failedExecution, succeededExecution } from "../../../src/testing/runs.ts"
import * as tools from "../../../src/tools/index.ts"
import { main, node, workflow } from "../../support/workflows.ts"
import { inMemory } from "../../support/world.ts"
import { cost } from "../../trials/proof/recordings.ts"

const orders = (id: string, factor: number) =>
  workflow(id, [
    node("T", "manualTrigger"),
    node("Price", "set", 3.4, { factor }),
    node("Send", "httpRequest", 4.2, {
      method: "POST",
      url: "https://shop.example/orders",
      sendBody: true,
      specifyBody: "json",
      jsonBody: "={{ JSON.stringify({ total: $json.total }) }}",
      options: {}
    })
  ], { connections: { T: main("Price"), Price: main("Send") } })

const senders = Array.from({ length: 12 }, (_, index) => `S${index}`)

/** Senders one after the other. */
const wide = (id: string) =>
  workflow(id, [
    node("T", "manualTrigger"),
    ...senders.map((name) => node(name, "httpRequest", 4.2, { url: "https://x.example" }))
  ], {
    connections: Object.fromEntries(
      ["T", ...senders.slice(0, -1)].map((name, index) => [name, main(senders[index] ?? "")])
    )
  })

const factorOf = (copy: N8nApi.Workflow) =>
  Number(obj(arr(copy["nodes"]).map(obj).find((each) => each?.["name"] === "Price")?.["parameters"])?.["factor"])

/** Runs of copies: prices by the factor of the version; the run of this number fails. */
const running = (failing?: number) => {
  let count = 0
  return (copy: N8nApi.Workflow) => {
    count++
    if (count === failing) return failedExecution({ workflow: copy, node: "Price", message: "no price" })
    const prices = [1, 2, 3].map((n) => ({ n, total: n * factorOf(copy), note: `order ${n}` }))
    const execution = succeededExecution({
      workflow: copy,
      items: { Price: prices, Send: prices.map(() => ({ ok: true })) }
    })
    return execution
  }
}

const seed = { workflows: [orders("w1", 2), orders("w2", 2), orders("w3", 3)], executions: [] }

const test = (more: Obj) =>
  Effect.map(
    tools.testWorkflow.run({ workflowId: "w1", ...more }),
    ({ data, message }) => ({ ...obj(data), message } as Obj)
  )

const refused = (more: Obj) => Effect.map(Effect.flip(test(more)), ({ message }) => message)

const cases = (count: number) => Array.from({ length: count }, (_, n) => ({ testData: { n } }))

/** Names of the nodes whose items an answer shows, or a case of it. */
const shownIn = (answer: unknown) => arr(obj(obj(answer)?.["data"])?.["items"]).map((item) => obj(item)?.["node"])

describe("test_workflow", () => {
  it.effect("runs cases in one copy; one that fails does not end the others", () =>
    inMemory(function*(api) {
      const answer = yield* test({ cases: [{ name: "small", testData: { n: 1 } }, ...cases(2)] })
      assert.deepStrictEqual(answer["logs"], ["small: success", "2: error", "3: success"])
      assert.deepInclude(answer, { status: "error", message: "Tested 'w1' with 3 cases: error" })
      assert.notProperty(answer, "data")
      const [small, failed] = arr(answer["cases"]).map(obj)
      assert.deepInclude(small, { case: "small", status: "success" })
      assert.isNotEmpty(shownIn(small))
      assert.deepInclude(obj(failed?.["failure"]), { node: "Price" })
      assert.deepStrictEqual(cost(yield* api.requests), { copies: 1, runs: 3 })
      assert.lengthOf(yield* api.workflows, 3)
      assert.notProperty(yield* test({ cases: cases(1) }), "data")
    }, { seed, runs: running(2) }))

  it.effect("goes on after a case that cannot run, and says why", () =>
    inMemory(function*() {
      const some = [{ pins: { Prise: [] } }, { testData: {} }]
      const answer = yield* test({ cases: some })
      assert.match(String(arr(answer["logs"])[0]), /^1: .*pins name 'Prise', which is not a node/)
      assert.strictEqual(arr(answer["logs"])[1], "2: success")
      assert.match(String(answer["message"]), /, 1 could not run$/)
      assert.match(String(obj(arr(answer["cases"])[0])?.["error"]), /'Prise', which is not a node/)
      const compared = yield* test({ cases: some, against: "w2" })
      assert.strictEqual(compared["message"], "1 as before, 0 other, 1 could not run")
      assert.deepStrictEqual(arr(compared["cases"]).map((each) => obj(each)?.["case"]), ["1"])
      assert.include(compared["hint"], "A call with one case shows it in full")
    }, { seed, runs: running() }))

  it.effect("takes 20 cases, and refuses more, a live workflow, and an unknown version", () =>
    inMemory(function*(api) {
      assert.lengthOf(arr((yield* test({ cases: cases(20) }))["logs"]), 20)
      const before = cost(yield* api.requests)
      assert.match(yield* refused({ cases: cases(21) }), /cases/)
      const live = yield* Effect.flip(test({ cases: cases(1), mode: "live" }))
      assert.deepInclude(live, { _tag: "ValidationError", field: "mode" })
      assert.match(yield* refused({ cases: cases(1), against: "w9" }), /'w9' not found/)
      assert.deepStrictEqual(cost(yield* api.requests), before)
    }, { seed, runs: running() }))

  it.effect("compares with another version: only what differs is shown, and a case that is alone in full", () =>
    inMemory(function*(api) {
      const same = yield* test({ cases: cases(3), against: "w2" })
      assert.deepInclude(same, { same: 3, differ: [], cases: [], message: "3 as before, 0 other" })
      assert.include(same["hint"], "one case shows it")
      assert.deepStrictEqual(cost(yield* api.requests), { copies: 2, runs: 6 })
      const other = yield* test({ testData: { n: 1 }, against: "w3" })
      assert.strictEqual(other["same"], 0)
      const [differ] = arr(other["differ"]).map(obj)
      assert.include(arr(differ?.["changes"]), "'Price'.total: 3 → 2 (3 items)")
      assert.match(String(arr(other["logs"])[0]), /^1: success, other \(\d+ ms, before \d+ ms\)$/)
      assert.hasAllKeys(differ?.["before"], ["executionId", "executionTime"])
      const pins = { Send: Array.from({ length: 5 }, (_, n) => ({ n })) }
      const alone = yield* test({ cases: [{ pins }], against: "w2" })
      assert.lengthOf(arr(alone["cases"]), 1)
      assert.notProperty(alone, "hint")
    }, { seed, runs: running() }))

  it.effect("applies a pin only to the version that has the node, on either side", () => {
    const extra = node("Extra", "httpRequest", 4.2, { url: "https://x.example" })
    const w4 = workflow("w4", [...orders("w4", 2).nodes, extra], {
      connections: { T: main("Price"), Price: main("Send"), Send: main("Extra") }
    })
    return inMemory(function*() {
      const cases = [{ testData: { n: 1 }, pins: { Extra: [{ n: 9 }], Send: [{ ok: true }] } }]
      for (const [workflowId, against] of [["w4", "w1"], ["w1", "w4"]] as const) {
        const answer = yield* test({ workflowId, cases, against })
        assert.notInclude(JSON.stringify(answer), "which is not a node")
        assert.strictEqual(obj(arr(answer["cases"])[0])?.["status"], "success", JSON.stringify(answer))
      }
    }, { seed: { executions: [], workflows: [orders("w1", 2), w4] }, runs: running() })
  })

  it.effect("ignores values that differ from run to run, if nothing was sent", () => {
    let at = 0
    return inMemory(function*(api) {
      const same = yield* test({ cases: [{ testData: {}, pins: { Send: [{ ok: true }] } }], against: "w2" })
      assert.deepInclude(same, { same: 1, differ: [] })
      assert.strictEqual(cost(yield* api.requests).runs, 3)
      // Send ran: the other version is not run again.
      const sent = yield* test({ cases: cases(1), against: "w2" })
      assert.include(JSON.stringify(sent["differ"]), "'Price'.at: ")
      assert.strictEqual(cost(yield* api.requests).runs, 5)
    }, {
      seed,
      runs: (workflow) =>
        succeededExecution({ workflow, items: { Price: [{ total: 1, at: at++ }], Send: [{ ok: true }] } })
    })
  })

  it.effect("names replays by their execution, and counts the nodes that did not run", () => {
    const refusal = failedExecution({ workflow: orders("w1", 2), node: "Send", message: "refused" })
    // It has no items to return.
    const recorded = { ...refusal, id: "900", mode: "webhook", startedAt: "2026-01-01T00:00:00.000Z" }
    return inMemory(function*() {
      const forced = { replay: "900", pins: { Price: [{ total: 1 }] } }
      const answer = yield* test({ cases: [forced, forced, { testData: {} }] })
      assert.deepStrictEqual(arr(answer["logs"]), ["900: success", "900 (2): success", "3: success"])
      assert.strictEqual(answer["message"], "Tested 'w1' with 3 cases: success, but 1 node did not run")
      assert.deepStrictEqual(answer["notRun"], ["Send"])
      assert.deepStrictEqual(arr(answer["cases"]).map((each) => obj(each)?.["notRun"]), [["Send"], ["Send"], undefined])
    }, { seed: { ...seed, executions: [recorded] }, runs: running() })
  })

  it.effect("counts the differences and senders that are left out", () =>
    inMemory(function*() {
      const answer = yield* test({ workflowId: "wide", against: "wide2" })
      const paths = arr(obj(arr(answer["differ"])[0])?.["changes"]).map(String)
      assert.strictEqual(paths.at(-1), `… [+${12 - (paths.length - 1)} more]`)
      const { _truncated, executionId, sent } = yield* test({ workflowId: "wide" })
      const next = `get_execution_by_node(id: '${executionId}', nodeName: 'S8')`
      assert.deepInclude([_truncated].flat(), { path: "sent", kept: 8, total: 12, next })
      assert.lengthOf(arr(sent), 8)
      assert.lengthOf((yield* tools.testWorkflow.call({ workflowId: "wide" })).sent ?? [], 12)
    }, {
      seed: { workflows: [wide("wide"), wide("wide2")], executions: [] },
      runs: (copy) => {
        const isOther = String(copy["name"]).includes("wide2")
        const items = senders.map((name, index) => [name, [{ [`v${index}`]: isOther }]])
        return succeededExecution({ workflow: copy, items: Object.fromEntries(items) })
      }
    }))

  it.effect("shows items by node, condition and field, and refuses an unknown node", () =>
    inMemory(function*() {
      const { data } = yield* test({ show: { nodes: ["Price"], where: "total > 2", fields: ["n"] } })
      assert.deepInclude(obj(data), { node: "Price", matched: 2 })
      assert.deepStrictEqual(arr(obj(data)?.["items"]).map((item) => obj(item)?.["json"]), [{ n: 2 }, { n: 3 }])
      const several = yield* test({ show: { nodes: ["Price", "Send"], where: "total > 4" } })
      assert.deepStrictEqual(shownIn(several), ["Price"])
      assert.match(yield* refused({ show: { nodes: ["Prise"] } }), /'Prise'/)
      assert.match(yield* refused({ show: { where: "total >" } }), /where|condition/i)
    }, { seed, runs: running() }))

  it.effect("shows something of each node that is asked for, however large the items, also in cases", () =>
    inMemory(function*() {
      const { data, executionId } = yield* test({ workflowId: "wide", show: { nodes: ["S0", "S1"] } })
      // The other items of the first are left out.
      const next = `get_execution_by_node(id: '${executionId}', nodeName: 'S0')`
      assert.strictEqual(obj(obj(data)?.["_truncated"])?.["next"], next)
      for (const count of [2, 3, 6]) {
        const nodes = senders.slice(0, count)
        assert.includeMembers(shownIn(yield* test({ workflowId: "wide", show: { nodes } })), nodes)
        const rows = arr((yield* test({ workflowId: "wide", show: { nodes }, cases: cases(2) }))["cases"])
        assert.lengthOf(rows, 2)
        for (const row of rows) assert.includeMembers(shownIn(row), nodes, `${count}`)
      }
    }, {
      seed: { workflows: [wide("wide")], executions: [] },
      runs: (workflow) => {
        const items = senders.map((name) => [name, [1, 2, 3].map((n) => ({ n, note: `${name} `.repeat(1_000) }))])
        return succeededExecution({ workflow, items: Object.fromEntries(items) })
      }
    }))

  it.effect("says what was sent, to which address, and how many items", () =>
    inMemory(function*() {
      const [sent] = arr((yield* test({}))["sent"]).map(obj)
      assert.deepInclude(sent, { node: "Send", to: "POST https://shop.example/orders", items: 3 })
      assert.include(JSON.stringify(sent?.["values"]), "2")
      const [pinned] = arr((yield* test({ pins: { Send: [{ ok: true }] } }))["sent"]).map(obj)
      assert.deepInclude(pinned, { node: "Send", pinned: true, items: 3 })
    }, { seed, runs: running() }))

  it.effect("counts items by output, with the first error", () => {
    const nodes = orders("w1", 2).nodes.map((each) =>
      each["name"] === "Send" ? { ...each, onError: "continueErrorOutput" } : each
    )
    return inMemory(function*() {
      const { logs } = yield* test({})
      assert.match(String(arr(logs).at(-1)), /^Send: .*2, error 1 \(declined\)/)
    }, {
      seed: { workflows: [{ ...orders("w1", 2), nodes }], executions: [] },
      runs: (copy) => {
        const execution = running()(copy)
        const runData = obj(obj(obj(execution["data"])?.["resultData"])?.["runData"]) as Record<string, unknown>
        const main = [[{ json: {} }, { json: {} }], [{ json: { error: "declined" } }]]
        runData["Send"] = arr(runData["Send"]).map((run) => ({ ...obj(run), data: { main } }))
        return execution
      }
    })
  })
})
