/** Waiting until publications take effect: once for many, and not where webhooks cannot be seen. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Deadline from "../../../src/base/Deadline.ts"
import { arr, type Obj, obj } from "../../../src/base/Json.ts"
import type * as N8nApi from "../../../src/testing/n8nApi/N8nApi.ts"
import * as tools from "../../../src/tools/index.ts"
import { together } from "../../../src/workflows/store/Publishing.ts"
import * as WorkflowStore from "../../../src/workflows/store/WorkflowStore.ts"
import * as TestTime from "../../support/TestTime.ts"
import { joined, node, workflow } from "../../support/workflows.ts"
import { inMemory, inWorld, type Options } from "../../support/world.ts"

const count = 30

const ids = Array.from({ length: count }, (_, index) => `w${index}`)

const calling = (id: string, url: string, more: Obj = {}) =>
  workflow(id, [
    node("Hook", "webhook", 2, { path: `${id}/in`, httpMethod: "POST" }, { webhookId: `hook-${id}` }),
    node("Send", "httpRequest", 4.2, { method: "POST", url, options: {} })
  ], { name: id, connections: joined(["Hook", "Send"]), ...more })

const seed = {
  workflows: ids.map((id) => calling(id, "https://old.example.com", { active: true })),
  executions: []
} as unknown as N8nApi.Seed

/** A proxy that knows the API and nothing else. */
const withoutWebhooks: Options = {
  seed,
  before: ({ url }) =>
    Effect.succeed(
      new URL(url).pathname.startsWith("/webhook/") ? new Response("no route", { status: 404 }) : undefined
    )
}

/** n8n answers for webhooks, always that it takes these methods. */
const registered = (methods: string): Options => ({
  seed,
  before: ({ method }) =>
    Effect.succeed(
      method === "OPTIONS"
        ? new Response(null, { status: 204, headers: { "access-control-allow-methods": methods } })
        : undefined
    )
})

const asked = (api: N8nApi.N8nApi) =>
  Effect.map(api.requests, (all) => all.filter(({ method }) => method === "OPTIONS").length)

const running = (api: N8nApi.N8nApi) =>
  Effect.map(
    api.workflows,
    (all) =>
      all.map((each) =>
        String(obj(obj(arr(obj(obj(each)?.["activeVersion"])?.["nodes"])?.[1])?.["parameters"])?.["url"])
      )
  )

const change = {
  select: { uses: "old.example.com" },
  operations: [{ op: "replace", find: "old.example.com", with: "new.example.com" }] as never
}

/** Checks that n8n is asked for webhooks only after all writes. */
const checkOrder = (api: N8nApi.N8nApi) =>
  Effect.map(api.requests, (all) => {
    const first = all.findIndex(({ method }) => method === "OPTIONS")
    assert.notInclude(all.slice(first).map(({ method }) => method).join(), "PUT")
    assert.isFalse(all.slice(first).some(({ url }) => url.endsWith("/publish")))
  })

const blind = "n8n does not answer for webhooks at this address"

describe("many publications", () => {
  it.effect("are not waited for where webhooks cannot be seen, which one request learns", () =>
    inMemory(function*(api) {
      const { plan = "" } = yield* tools.bulkEdit.call({ ...change, dryRun: true })
      const { data: done } = yield* tools.bulkEdit.answer({ plan })
      assert.deepInclude(done, { done: count, published: count })
      assert.include(done.warnings?.join(), blind)
      yield* checkOrder(api)
      assert.deepStrictEqual(new Set(yield* running(api)), new Set(["https://new.example.com"]))
      const { data: undone } = yield* tools.workflowRestore.answer({ batch: plan })
      assert.deepInclude(undone, { restored: count })
      assert.deepStrictEqual(new Set(yield* running(api)), new Set(["https://old.example.com"]))
      assert.strictEqual(yield* asked(api), 1)
      yield* tools.deactivateWorkflow.call({ id: "w0" })
      const one = yield* tools.activateWorkflow.answer({ id: "w0" })
      assert.include(one.data.warnings?.join(), blind)
      assert.strictEqual(yield* asked(api), 1)
    }, withoutWebhooks))

  it.effect("are waited for together, within a limit, where n8n does not register them in time", () =>
    inMemory(function*(api) {
      const { plan = "" } = yield* tools.bulkEdit.call({ ...change, dryRun: true })
      const { data: done } = yield* tools.bulkEdit.answer({ plan })
      assert.deepInclude(done, { done: count, published: count })
      assert.match(done.warnings?.join() ?? "", /^30 workflows: published, but n8n has not registered/)
      yield* checkOrder(api)
      assert.isAtMost(yield* asked(api), 3 * count)
    }, registered("OPTIONS")))

  it.effect("are reported in the time of the call, as is their undoing, by an n8n that is slow", () =>
    inWorld(
      function*({ api }) {
        const { plan = "" } = yield* TestTime.run(tools.bulkEdit.call({ ...change, dryRun: true }))
        const { exit, seconds } = yield* TestTime.measure(Deadline.bounded(tools.bulkEdit.answer({ plan }), true))
        assert.isBelow(seconds, Deadline.callMillis / 1_000)
        const { done: written = 0, warnings } = (yield* exit).data
        assert.isAtLeast(written, 4)
        assert.include(warnings?.join(), `${written} workflows: published`)
        yield* checkOrder(api)
        const undone = yield* TestTime.measure(Deadline.bounded(tools.workflowRestore.answer({ batch: plan }), true))
        assert.isBelow(undone.seconds, Deadline.callMillis / 1_000)
        assert.isAtLeast((yield* undone.exit).data.restored ?? 0, 4)
        assert.isAtMost(yield* asked(api), 2)
      },
      {
        seed,
        before: ({ method, url }) =>
          method === "OPTIONS"
            ? Effect.never
            : Effect.as(Effect.sleep(/\/workflows\/./.test(url) ? "900 millis" : 0), undefined)
      }
    ))

  it.effect("end with one wait too, if they are undone by unpublishing", () =>
    inMemory(
      function*(api) {
        const { write } = yield* WorkflowStore.WorkflowStore
        const off = Effect.forEach(
          ids,
          (id) => write({ kind: "n8n", id }, {}, { operation: "deactivate_workflow", publish: "never" }),
          { concurrency: 4 }
        )
        const { result, warnings } = yield* together(off)
        assert.isFalse(result.some(({ workflow }) => workflow.active))
        yield* checkOrder(api)
        assert.isAtMost(yield* asked(api), 3 * count)
        assert.strictEqual(warnings.size, count)
        for (const each of warnings.values()) assert.match(each.join(), /^unpublished, but n8n still answers/)
        const { data } = yield* tools.deactivateWorkflow.answer({ id: "w0" })
        assert.isUndefined(data.warnings)
      },
      registered("OPTIONS, POST")
    ))

  it.effect("have their triggers counted together", () =>
    inWorld(
      function*() {
        const { write } = yield* WorkflowStore.WorkflowStore
        const on = Effect.forEach(
          ids,
          (id) => write({ kind: "n8n", id }, {}, { operation: "activate_workflow", publish: "now" }),
          { concurrency: 4 }
        )
        const { exit, seconds } = yield* TestTime.measure(together(on), { step: 50 })
        const { warnings } = yield* exit
        assert.isBelow(seconds, 4)
        for (const each of warnings.values()) assert.match(each.join(), /has not started its triggers yet/)
      },
      {
        seed: {
          workflows: ids.map((id) => workflow(id, [node("Time", "scheduleTrigger", 1.2)], { name: id })),
          executions: []
        } as unknown as N8nApi.Seed,
        after: ({ method, url }, response) =>
          method === "GET" && /\/workflows\/./.test(url)
            ? Effect.map(
              Effect.promise(() => response.json()),
              (body) => Response.json({ ...obj(body), triggerCount: 0 })
            )
            : Effect.void
      }
    ))
})
