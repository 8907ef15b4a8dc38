/** Questions about several runs on a real n8n, compared with what its API returns. */
import { assert, type Vitest } from "@effect/vitest"
import * as Effect from "effect/Effect"
import type * as Services from "../../../src/app/Services.ts"
import { arr, obj, str } from "../../../src/base/Json.ts"
import type * as N8nClient from "../../../src/n8n/N8nClient.ts"
import * as tools from "../../../src/tools/index.ts"
import { node } from "../../support/workflows.ts"
import { chain, code, happened, made, webhook } from "./builders.ts"
import type { RealN8n } from "./RealN8n.ts"
import * as scenarios from "./scenarios.ts"

type It = Vitest.MethodsNonLive<RealN8n | N8nClient.N8nClient | Services.Services>

const called = node("In", "executeWorkflowTrigger", 1.1, { inputSource: "passthrough" })

const calling = (name: string, workflowId: string, mode: "once" | "each") =>
  node(name, "executeWorkflow", 1.2, { workflowId: { __rl: true, mode: "id", value: workflowId }, mode, options: {} })

/** A shop whose orders are packed by a workflow that calls another for each item; boxes of warehouse 17 break it. */
const shop = Effect.fnUntraced(function*(publishesCallees: boolean) {
  const box = yield* made("Box", [
    called,
    code("Label", "return $input.all().map(({ json }) => ({ json: { label: `倉庫 ${json.n}` } }))")
  ], chain("In", "Label"))
  const pack = yield* made("Pack", [called, calling("Each", box, "each")], chain("In", "Each"))
  const path = crypto.randomUUID()
  const orders = yield* made("注文", [
    webhook(path),
    code("Rows", "return $input.first().json.body.rows.map((n) => ({ json: { n } }))"),
    calling("Pack", pack, "once"),
    code(
      "Check",
      "if ($input.all().some(({ json }) => json.label === '倉庫 17')) throw new Error('No such warehouse')\nreturn []"
    )
  ], chain("Orders", "Rows", "Pack", "Check"))
  if (publishesCallees) {
    yield* scenarios.publish(box)
    yield* scenarios.publish(pack)
  }
  yield* scenarios.publish(orders)
  return { orders, pack, path }
})

/** Tests of searches over several runs. */
export const manyRuns = (it: It, { v2 }: { readonly v2: boolean }) => {
  it.effect("correlates an item three workflows down with the status of the runs that led there", () =>
    Effect.gen(function*() {
      const { orders, pack, path } = yield* shop(v2)
      const bad = [
        yield* happened(orders, path, { rows: [1, 17] }),
        yield* happened(orders, path, { rows: [17, 2, 3] })
      ]
      const good = yield* happened(orders, path, { rows: [4, 5] })
      const answer = yield* tools.searchExecution.call({ workflowId: orders, text: "倉庫 17" })
      assert.deepStrictEqual(answer.runs, { searched: 3, matched: 2, complete: true })
      assert.deepStrictEqual(answer.byStatus, {
        error: { runs: 2, matched: 2 },
        success: { runs: 1, matched: 0 }
      })
      assert.deepStrictEqual(
        answer.executions?.map(({ id }) => id),
        bad.map(({ executionId }) => executionId).toReversed()
      )
      assert.notInclude((answer.executions ?? []).map(({ id }) => id), good.executionId)
      for (const { calledBy, execution = "", node } of answer.matches.filter(({ node }) => node === "Label")) {
        const api = obj(yield* scenarios.fetchJson(`executions/${execution}?includeData=true`))
        const parent = obj(obj(api?.["data"])?.["parentExecution"])
        assert.deepStrictEqual([node, calledBy, pack], [
          "Label",
          str(parent?.["executionId"]),
          str(parent?.["workflowId"])
        ])
      }
      const listed = obj(yield* scenarios.fetchJson(`executions?limit=50&workflowId=${pack}`))
      assert.lengthOf(arr(listed?.["data"]), 3)
      const none = yield* tools.searchExecution.call({ workflowId: orders, where: "label === '倉庫 99'" })
      assert.deepStrictEqual([none.matched, none.runs?.matched], [0, 0])
    }))

  it.effect("reaches the runs below a caller that n8n does not name, because an item failed", () =>
    Effect.gen(function*() {
      const child = yield* made("Child", [
        called,
        code(
          "Says",
          "const { n } = $input.first().json; if (n === 2) throw new Error('No warehouse 17'); return [{ json: { says: `box ${n}` } }]"
        )
      ], chain("In", "Says"))
      const path = crypto.randomUUID()
      const caller = yield* made("Caller", [
        webhook(path),
        code("Rows", "return [1, 2, 3].map((n) => ({ json: { n } }))"),
        calling("Pack", child, "each")
      ], chain("Orders", "Rows", "Pack"))
      if (v2) yield* scenarios.publish(child)
      yield* scenarios.publish(caller)
      const { executionId: id } = yield* happened(caller, path, {})
      const listed = obj(yield* scenarios.fetchJson(`executions?limit=50&workflowId=${child}`))
      const ids = arr(listed?.["data"]).map((each) => String(obj(each)?.["id"]))
      assert.lengthOf(ids, 2)
      for (const each of ids) {
        const api = obj(yield* scenarios.fetchJson(`executions/${each}?includeData=true`))
        assert.strictEqual(str(obj(obj(api?.["data"])?.["parentExecution"])?.["executionId"]), id)
      }
      const { availableNodes } = yield* tools.getExecution.call({ id })
      const pack = availableNodes.find(({ nodeName }) => nodeName === "Pack")
      assert.sameMembers([...pack?.calls?.ids ?? []], ids)
      const { executions, matches, note } = yield* tools.searchExecution.call({ workflowId: caller, text: "box 1" })
      assert.deepStrictEqual([executions?.map((each) => each.id), matches[0]?.calledBy, note], [[id], id, undefined])
      const { groups = [] } = yield* tools.listExecutions.call({ workflowId: caller, groupBy: "failure" })
      assert.include(JSON.stringify(groups), "No warehouse 17")
    }))
}
