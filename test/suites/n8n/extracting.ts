/** Chains that become sub-workflows on a real n8n: the same items before and after. */
import { assert, type Vitest } from "@effect/vitest"
import * as Effect from "effect/Effect"
import type * as Services from "../../../src/app/Services.ts"
import { arr, obj, str } from "../../../src/base/Json.ts"
import type { N8nClient } from "../../../src/n8n/N8nClient.ts"
import * as tools from "../../../src/tools/index.ts"
import { chain, made, set } from "./builders.ts"
import type { RealN8n } from "./RealN8n.ts"
import * as scenarios from "./scenarios.ts"
import { hook, orders, type Shape, shapes, workflowOf } from "./shapes.ts"

type It = Vitest.MethodsNonLive<RealN8n | N8nClient | Services.Services>

const runsOf = (id: string) =>
  Effect.map(scenarios.fetchJson(`executions?workflowId=${id}`), (found) => arr(obj(found)?.["data"]).length)

const published = Effect.fnUntraced(function*(name: string, shape: Shape) {
  const path = `x-${crypto.randomUUID()}`
  const id = yield* scenarios.create(workflowOf(name, path, shape))
  yield* tools.activateWorkflow.call({ id })
  return {
    id,
    answer: Effect.map(scenarios.callWebhook(path, { body: orders }), ({ status, text }) => `${status} ${text}`)
  }
})

/** Adds the tests to a suite. */
export const extracting = (it: It, { drafts, v2 }: { readonly drafts: boolean; readonly v2: boolean }) => {
  for (const [name, shape] of Object.entries(shapes)) {
    it.effect(`extract: ${name}, the same items before and after`, () =>
      Effect.gen(function*() {
        const { answer, id } = yield* published(`Extract ${name}`, shape)
        const before = yield* answer
        assert.match(before, /^200 /)
        const { created = [] } = yield* tools.workflowEdit.call({
          workflowId: id,
          operations: [{ op: "extract", nodes: shape.extract, name: `Sub ${name}` }],
          publish: true
        })
        const [sub] = created
        assert.strictEqual(sub?.["active"], v2)
        assert.strictEqual(yield* answer, before)
        assert.isAtLeast(yield* runsOf(str(sub?.["id"]) ?? ""), 1)
      }))
  }

  it.effect("extract: one sub-workflow for equal chains, and nothing left where it is refused", () =>
    Effect.gen(function*() {
      const shape = shapes["fields of nodes outside"]
      if (shape === undefined) return assert.fail("no such shape")
      const [one, two] = [yield* published("Equal 1", shape), yield* published("Equal 2", shape)]
      const first = yield* tools.workflowEdit.call({
        workflowId: one.id,
        operations: [{ op: "extract", nodes: shape.extract, name: "Equal" }],
        publish: true
      })
      const workflowId = str(first.created?.[0]?.["id"]) ?? ""
      const before = yield* two.answer
      const second = yield* tools.workflowEdit.call({
        workflowId: two.id,
        operations: [{ op: "extract", nodes: shape.extract, workflowId }],
        publish: true
      })
      assert.notProperty(second, "created")
      assert.strictEqual(yield* two.answer, before)

      // n8n refuses the webhook, whose path is taken: the sub-workflow is gone and the caller as before.
      const path = `x-${crypto.randomUUID()}`
      yield* tools.activateWorkflow.call({ id: yield* made("Taken", [hook(path), set("A", "{}")], chain("Hook", "A")) })
      const id = yield* made("Refused", [hook(path), set("A", "{}")], chain("Hook", "A"))
      const wanted = yield* scenarios.fetchJson(`workflows/${id}`)
      yield* Effect.flip(
        tools.workflowEdit.call({
          workflowId: id,
          operations: [{ op: "extract", nodes: ["A"], name: "Left over?" }],
          publish: true
        })
      )
      const now = obj(yield* scenarios.fetchJson(`workflows/${id}`))
      assert.deepStrictEqual([now?.["active"], now?.["nodes"]], [false, obj(wanted)?.["nodes"]])
      const all = yield* scenarios.allWorkflows
      assert.notInclude(all.map(({ name }) => name), "Left over?")
    }))

  it.effect("publish: an edit goes live in one call, unless a draft waits or it is not valid", () =>
    Effect.gen(function*() {
      const path = `x-${crypto.randomUUID()}`
      const id = yield* made("Live edit", [hook(path), set("Say", "{ word: 'one' }")], chain("Hook", "Say"))
      const say = (word: string, publish: boolean) =>
        tools.workflowEdit.call({
          workflowId: id,
          operations: [{ op: "set", node: "Say", path: "jsonOutput", value: `={{ { word: "${word}" } }}` }],
          publish
        })
      const versions = Effect.map(scenarios.fetchJson(`workflows/${id}`), (found) => {
        const { active, activeVersionId, versionId } = obj(found) ?? {}
        return { active, isNewest: activeVersionId === versionId }
      })
      assert.isTrue((yield* say("two", true)).published)
      assert.deepStrictEqual((yield* scenarios.callWebhook(path, { body: {} })).text, "[{\"word\":\"two\"}]")
      assert.isTrue((yield* say("three", true)).published)
      if (drafts) assert.deepStrictEqual(yield* versions, { active: true, isNewest: true })
      const invalid = yield* Effect.flip(
        tools.workflowEdit.call({
          workflowId: id,
          operations: [{ op: "add", type: "n8n-nodes-base.code", parameters: { jsCode: "return [" }, after: "Say" }],
          publish: true
        })
      )
      assert.include(invalid.message, "not valid")
      if (drafts) {
        yield* say("four", false)
        assert.include((yield* Effect.flip(say("five", true))).message, "draft waits")
      }
      assert.deepStrictEqual((yield* scenarios.callWebhook(path, { body: {} })).text, "[{\"word\":\"three\"}]")
    }))
}
