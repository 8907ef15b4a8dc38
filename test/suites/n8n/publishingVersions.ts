/** Versions, next starts and dependents on a real n8n: what runs is what the answer says. */
import { assert, type Vitest } from "@effect/vitest"
import * as Effect from "effect/Effect"
import type * as Services from "../../../src/app/Services.ts"
import { obj, str } from "../../../src/base/Json.ts"
import type { N8nClient } from "../../../src/n8n/N8nClient.ts"
import * as tools from "../../../src/tools/index.ts"
import { node } from "../../support/workflows.ts"
import { chain, connected, set } from "./builders.ts"
import type { RealN8n } from "./RealN8n.ts"
import * as scenarios from "./scenarios.ts"

type It = Vitest.MethodsNonLive<RealN8n | N8nClient | Services.Services>

const schedule = (...interval: ReadonlyArray<object>) => node("Clock", "scheduleTrigger", 1.2, { rule: { interval } })

const stored = (id: string) => Effect.map(scenarios.fetchJson(`workflows/${id}`), (body) => obj(body) ?? {})

/** Adds the tests to a suite. The releases differ: without drafts no version can be chosen, and a schedule is refused. */
export const publishingVersions = (it: It, { drafts }: { readonly drafts: boolean }) => {
  it.effect("publish: a chosen version runs, with its labels, and the draft stays; elsewhere nothing is published", () =>
    Effect.gen(function*() {
      const path = crypto.randomUUID()
      const hook = node("Hook", "webhook", 2, { path, httpMethod: "POST", responseMode: "lastNode" }, {
        webhookId: path
      })
      const word = (text: string) => set("Say", `{ word: "${text}" }`)
      const { id } = yield* tools.createWorkflow.call({
        name: "Chosen",
        nodes: [hook, word("one")],
        connections: connected(chain("Hook", "Say")),
        active: true
      })
      const said = Effect.map(scenarios.postWebhook(path), ({ text }) => str(obj(JSON.parse(text))?.["word"]))
      const first = str((yield* stored(id))["versionId"]) ?? ""
      if (!drafts) {
        yield* tools.deactivateWorkflow.call({ id })
        const versioned = yield* Effect.flip(tools.activateWorkflow.run({ id: `${id}@${first}` }))
        const named = yield* Effect.flip(tools.activateWorkflow.run({ id, name: "Release" }))
        assert.deepStrictEqual([versioned._tag, named._tag], ["ValidationError", "ValidationError"])
        assert.isFalse((yield* stored(id))["active"])
        return
      }
      yield* tools.workflowEdit.call({
        workflowId: id,
        operations: [{ op: "set", node: "Say", path: "jsonOutput", value: "={{ { word: \"two\" } }}" }]
      })
      const second = str((yield* stored(id))["versionId"]) ?? ""
      const forth = yield* tools.activateWorkflow.call({ id, name: "Release 2", description: "Says two" })
      assert.deepInclude(forth, { versionId: second, published: true, changed: "changed 'Say' (jsonOutput)" })
      assert.strictEqual(yield* said, "two")
      const { activeVersion, activeVersionId } = yield* stored(id)
      assert.strictEqual(activeVersionId, second)
      assert.deepInclude(obj(activeVersion), { name: "Release 2", description: "Says two" })

      // Resetting the draft publishes nothing.
      const third = str(
        (yield* tools.workflowEdit.call({
          workflowId: id,
          operations: [{ op: "set", node: "Say", path: "jsonOutput", value: "={{ { word: \"three\" } }}" }]
        })).versionId
      )
      const reset = yield* tools.workflowRestore.call({ id, version: "published", confirm: true })
      assert.notProperty(reset, "published")
      const afterReset = yield* stored(id)
      assert.strictEqual(afterReset["activeVersionId"], second)
      assert.notInclude([second, third], str(afterReset["versionId"]))
      assert.deepStrictEqual(afterReset["nodes"], obj(afterReset["activeVersion"])?.["nodes"])
      assert.strictEqual(yield* said, "two")

      const back = yield* tools.activateWorkflow.call({ id: `${id}@${first.slice(0, 13)}` })
      assert.deepInclude(back, { versionId: first, published: true, changed: "changed 'Say' (jsonOutput)" })
      assert.strictEqual(yield* said, "one")
      assert.deepInclude(yield* stored(id), { activeVersionId: first, versionId: afterReset["versionId"] })
    }))

  it.effect(
    "publish: what n8n starts has its next runs, and what it never starts is not claimed",
    () =>
      Effect.gen(function*() {
        const made = (name: string, nodes: ReadonlyArray<object>) =>
          Effect.map(
            tools.createWorkflow.call({
              name,
              nodes: [...nodes] as never,
              connections: {},
              settings: { timezone: "Asia/Tokyo" }
            }),
            ({ id }) => id
          )
        const id = yield* made("Runs", [schedule({ field: "seconds", secondsInterval: 2 })])
        const { nextRuns = [], timeZone } = yield* tools.activateWorkflow.call({ id })
        assert.strictEqual(timeZone, "Asia/Tokyo")
        assert.lengthOf(nextRuns, 3)
        const [first = ""] = nextRuns
        assert.match(first, /\+09:00$/)
        const run = yield* tools.listExecutions.call({ workflowId: id, limit: 5 }).pipe(
          Effect.map(({ executions }) => executions?.at(-1)?.startedAt),
          Effect.delay("300 millis"),
          Effect.repeat({ until: (startedAt) => startedAt !== undefined, times: 60 })
        )
        yield* tools.deactivateWorkflow.call({ id })
        // A start may be missed while n8n registers the schedule.
        assert.include([-2, 0, 2, 4, 6], Math.round((Date.parse(run ?? "") - Date.parse(first)) / 2_000) * 2)

        const bad = yield* made("Never", [schedule({ field: "cronExpression", expression: "99 * * * *" })])
        const outcome = yield* Effect.result(tools.activateWorkflow.call({ id: bad }))
        if (drafts) {
          assert.strictEqual(outcome._tag, "Success")
          const warnings = outcome._tag === "Success" ? outcome.success.warnings : []
          assert.match(warnings?.[0] ?? "", /never starts it by 'Clock'/)
        } else assert.strictEqual(outcome._tag, "Failure")
        const feed = yield* made("Feed", [
          node("Feed", "rssFeedReadTrigger", 1, { feedUrl: "http://127.0.0.1:1/feed" })
        ])
        const feeding = yield* Effect.result(tools.activateWorkflow.call({ id: feed }))
        assert.match(JSON.stringify(feeding), drafts ? /has not started its triggers/ : /not possible to connect/)
      }),
    60_000
  )
}
