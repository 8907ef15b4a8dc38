/** Temporary copies on an n8n that refuses deprecated nodes. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { arr, obj } from "../../src/base/Json.ts"
import type * as N8nApi from "../../src/testing/n8nApi/N8nApi.ts"
import { succeededExecution } from "../../src/testing/runs.ts"
import * as tools from "../../src/tools/index.ts"
import * as Policy from "../../src/workflows/policy/Policy.ts"
import { main, node, workflow } from "../support/workflows.ts"
import { inMemory } from "../support/world.ts"
import { cost } from "./proof/recordings.ts"

const old = node("古い", "function", 1, { functionCode: "return items" })
const langChain = node("Lang", "@n8n/n8n-nodes-langchain.code")
const send = node("Send", "httpRequest", 4.2, { method: "POST", url: "https://shop.example", options: {} })

const orders = (...between: ReadonlyArray<ReturnType<typeof node>>) => {
  const nodes = [node("Hook", "webhook", 2, { path: "orders", httpMethod: "POST" }), ...between, send]
  return workflow("w1", nodes, {
    active: true,
    connections: Object.fromEntries(nodes.slice(1).map(({ name }, index) => [nodes[index]?.name, main(name)]))
  })
}

const startedAt = "2026-01-01T00:00:00.000Z"

const items = { Hook: [{ body: { no: 1 } }], "古い": [{ no: 1 }], Lang: [{ no: 1 }], Send: [{ ok: true }] }

/** An n8n with a workflow and a recorded run of it; `copies` are those that ran. */
const world = (...between: ReadonlyArray<ReturnType<typeof node>>) => {
  const copies: Array<N8nApi.Workflow> = []
  const recorded = {
    ...succeededExecution({ workflow: orders(...between), items }),
    id: "101",
    startedAt,
    mode: "webhook"
  }
  const options = {
    blockDeprecated: true,
    seed: { workflows: [orders(...between)], executions: [recorded] },
    runs: (copy: N8nApi.Workflow) => {
      copies.push(copy)
      return succeededExecution({ workflow: copy, items })
    }
  }
  return { copies, options }
}

const typeIn = (copy: N8nApi.Workflow | undefined, name: string) => {
  const found = arr(copy?.["nodes"]).map(obj).find((each) => each?.["name"] === name)
  return [found?.["type"], found?.["typeVersion"]]
}

const note = "upgraded in the copy only: '古い' (n8n-nodes-base.function 1 → n8n-nodes-base.code 2)"

describe("copies on an n8n that refuses deprecated nodes", () => {
  it.effect("have them upgraded, and the answer names them; the workflow stays", () => {
    const { copies, options } = world(old)
    return inMemory(function*(api) {
      const before = yield* api.workflows
      const tested = yield* tools.testWorkflow.call({ workflowId: "w1", testData: { no: 1 }, pins: { Send: [{}] } })
      assert.strictEqual(tested.status, "success")
      assert.include(tested.hint, note)
      assert.deepStrictEqual(typeIn(copies[0], "古い"), ["n8n-nodes-base.code", 2])
      assert.deepStrictEqual(yield* api.workflows, before)
      assert.deepStrictEqual(cost(yield* api.requests), { copies: 2, runs: 1 })

      const replayed = yield* tools.testWorkflow.call({ workflowId: "w1", replay: "101" })
      assert.include(replayed.hint, note)
      const { runs, same, verdict } = yield* tools.workflowProve.call({ workflowId: "w1" })
      assert.deepStrictEqual([runs, same], [1, 1])
      assert.include(verdict, note)
      const drilled = yield* tools.workflowProve.call({ workflowId: "w1", drill: true })
      assert.include(drilled.verdict, note)
      assert.deepStrictEqual(yield* api.workflows, before)
    }, options)
  })

  it.effect("are not made of what cannot be upgraded: the error names the node and the decision", () => {
    const { copies, options } = world(old, langChain)
    return inMemory(function*(api) {
      const error = yield* Effect.flip(tools.testWorkflow.call({ workflowId: "w1", testData: {} }))
      assert.strictEqual(error._tag, "ValidationError")
      assert.match(error.message, /^'w1' cannot be run: this n8n refuses deprecated nodes, .*'Lang': \S.*\. \S.*\.$/)
      const { notReplayed = [] } = yield* tools.workflowProve.call({ workflowId: "w1" })
      assert.include(JSON.stringify(notReplayed), "'Lang'")
      assert.lengthOf(yield* api.workflows, 1)
      assert.lengthOf(copies, 0)
    }, options)
  })

  it.effect("pass items on where one that cannot be upgraded is disabled or pinned", () => {
    const { copies, options } = world(Object.assign({ disabled: true }, langChain))
    return inMemory(function*() {
      yield* tools.testWorkflow.call({ workflowId: "w1", testData: {}, pins: { Send: [{}] } })
      assert.deepStrictEqual(typeIn(copies[0], "Lang"), ["n8n-nodes-base.noOp", 1])
    }, options).pipe(Effect.andThen(() => {
      const pinned = world(langChain)
      return inMemory(function*() {
        const tested = yield* tools.testWorkflow.call({
          workflowId: "w1",
          testData: {},
          pins: { Lang: [{}], Send: [{}] }
        })
        assert.isUndefined(tested.hint)
        assert.lengthOf(pinned.copies, 1)
      }, pinned.options)
    }))
  })

  it.effect("do not run a successor that the policy bans", () => {
    const { copies, options } = world(old)
    return inMemory(function*() {
      const error = yield* Effect.flip(tools.testWorkflow.call({ workflowId: "w1", testData: {} })).pipe(
        Effect.provide(Policy.layer({ bannedNodes: ["code"] }))
      )
      assert.include(error.message, "policy")
      assert.lengthOf(copies, 0)
    }, options)
  })
})
