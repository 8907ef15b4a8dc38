import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as HttpClient from "effect/http/HttpClient"
import * as HttpClientResponse from "effect/http/HttpClientResponse"
import * as Hints from "../../../src/answer/Hints.ts"
import type { Hint } from "../../../src/base/Advice.ts"
import { type Obj, obj } from "../../../src/base/Json.ts"
import { N8nClient } from "../../../src/n8n/N8nClient.ts"
import * as tools from "../../../src/tools/index.ts"
import * as TestTime from "../../support/TestTime.ts"
import { main, node } from "../../support/workflows.ts"
import { inMemory, inWorld } from "../../support/world.ts"

const clock = node("Clock", "scheduleTrigger", 1.2, { rule: { interval: [{ triggerAtHour: 9 }] } })
const say = (word: string) => node("Say", "set", 3.4, { mode: "raw", jsonOutput: `{"word":"${word}"}` })
const berlin = { timezone: "Europe/Berlin" }

/** Published workflow with a draft of the same nodes, another word and a node more. */
const waiting = Effect.gen(function*() {
  const { id } = yield* tools.createWorkflow.call({
    name: "Orders",
    nodes: [clock, say("one")],
    connections: { Clock: main("Say") },
    settings: berlin,
    active: true
  })
  const versions = () => N8nClient.use((n8n) => n8n.getWorkflow(id))
  const { versionId: first } = yield* versions()
  yield* tools.workflowEdit.call({
    workflowId: id,
    operations: [
      { op: "set", node: "Say", path: "jsonOutput", value: "{\"word\":\"two\"}" },
      { op: "add", type: "n8n-nodes-base.noOp", name: "End", after: "Say" }
    ]
  })
  const { versionId: second } = yield* versions()
  return { id, first: first ?? "", second: second ?? "", runs: Effect.map(versions(), (now) => now.activeVersionId) }
})

const hintOf = (error: object) => "hint" in error ? Hints.text(error.hint as Hint) : ""

it.effect.each(["2", "1"] as const)(
  "activate_workflow on n8n %s says in n8n's words why it cannot publish",
  (version) =>
    inWorld(function*() {
      const { id } = yield* tools.createWorkflow.call({ name: "Idle", nodes: [], connections: {} })
      const error = yield* Effect.flip(tools.activateWorkflow.run({ id }))
      assert.match(JSON.stringify(error), /trigger/)
      assert.isFalse((yield* tools.getWorkflow.call({ id })).active)
    }, version)
)

describe("activate_workflow publishes a version", () => {
  it.effect("the draft with labels, and back; each time with what changed", () =>
    inMemory(function*() {
      const { first, id, runs, second } = yield* waiting
      const forth = yield* tools.activateWorkflow.call({ id, name: "Release 2", description: "Says two" })
      assert.deepInclude(forth, {
        versionId: second,
        published: true,
        changed: "added 'End', changed 'Say' (jsonOutput), 1 connection"
      })
      assert.strictEqual(forth.hint, `activate_workflow(id: '${id}@${first}') takes this back.`)
      assert.strictEqual(yield* runs, second)
      const { activeVersion } = yield* N8nClient.use((n8n) => n8n.getWorkflow(id))
      assert.deepInclude(obj(activeVersion), { name: "Release 2", description: "Says two" })

      const back = yield* tools.activateWorkflow.call({ id: `${id}@${first}` })
      assert.deepInclude(back, {
        versionId: first,
        published: true,
        changed: "removed 'End', changed 'Say' (jsonOutput), 1 connection"
      })
      assert.include(back.hint, `The newer draft stays unpublished: activate_workflow(id: '${id}') publishes it.`)
      assert.strictEqual(yield* runs, first)
      // The draft is as it was.
      assert.strictEqual((yield* N8nClient.use((n8n) => n8n.getWorkflow(id))).versionId, second)

      const same = yield* tools.activateWorkflow.call({ id: `${id}@published` })
      assert.deepInclude(same, { versionId: first, published: true, changed: "nothing" })
      assert.match(same.hint ?? "", /^It ran already; nothing was done\./)
    }))

  it.effect("names ten nodes, and counts more", () =>
    inMemory(function*() {
      const { id } = yield* waiting
      const added = Array.from({ length: 11 }, (_, index) => node(`N${index}`, "noOp"))
      yield* tools.updateWorkflow.call({ id, nodes: [clock, ...added], connections: {}, active: true })
      const operations = added.map(({ name }) => ({ op: "remove" as const, node: name }))
      yield* tools.workflowEdit.call({ workflowId: id, operations })
      assert.include((yield* tools.activateWorkflow.call({ id })).changed, "'N9' and 1 more")
    }))

  it.effect("refuses what n8n cannot publish, with the next step, and publishes nothing", () =>
    inMemory(function*() {
      const { first, id, runs } = yield* waiting
      const { versions } = yield* tools.workflowHistory.call({ id, limit: 20 })
      const snapshot = versions.find(({ source }) => source === "snapshot")?.version ?? ""
      const cases = [
        [`${id}@${snapshot}`, "ValidationError", `workflow_restore(id: '${id}', version: '${snapshot}')`],
        [`${id}@`, "ValidationError", "ID@VERSION"],
        [`${id}@nope`, "NotFoundError", "workflow_history"],
        [`${id}@${first.slice(0, 2)}`, "NotFoundError", first],
        ["orders.json", "ValidationError", "list_workflows"]
      ] as const
      for (const [reference, tag, step] of cases) {
        const error = yield* Effect.flip(tools.activateWorkflow.run({ id: reference }))
        assert.strictEqual(error._tag, tag, reference)
        assert.include(hintOf(error), step, reference)
      }
      assert.strictEqual(yield* runs, first)
      yield* tools.deactivateWorkflow.call({ id })
      const off = yield* Effect.flip(tools.activateWorkflow.run({ id: `${id}@published` }))
      assert.deepInclude(off, { _tag: "ValidationError", field: "id" })
    }))

  it.effect("not on n8n 1, which would publish the current state", () =>
    inMemory(function*(api) {
      const { first, id } = yield* waiting
      yield* tools.deactivateWorkflow.call({ id })
      for (
        const [args, step] of [
          [{ id: `${id}@${first}` }, "workflow_restore"],
          [{ id, name: "R" }, "Leave it out"],
          [{ id: `${id}@published` }, `activate_workflow(id: '${id}')`]
        ] as const
      ) {
        const error = yield* Effect.flip(tools.activateWorkflow.run(args))
        assert.strictEqual(error._tag, "ValidationError")
        assert.include(hintOf(error), step)
      }
      assert.isFalse((yield* api.workflows)[0]?.active)
    }, { version: "1" }))
})

/** Alters the workflows that n8n returns. */
const altering = (alter: (workflow: Obj) => Obj) => (client: HttpClient.HttpClient) =>
  HttpClient.make((request) =>
    client.execute(request).pipe(
      Effect.flatMap((response) =>
        request.method !== "GET" || !/\/workflows\/\w+/.test(request.url) || response.status !== 200
          ? Effect.succeed(response)
          : Effect.map(Effect.orDie(response.json), (body) =>
            HttpClientResponse.fromWeb(request, Response.json(alter(obj(body) ?? {}))))
      )
    )
  )

describe("activate_workflow claims only what happened", () => {
  const published = (through: ReturnType<typeof altering>) =>
    inWorld(
      () =>
        TestTime.run(Effect.gen(function*() {
          const { id } = yield* tools.createWorkflow.call({ name: "Idle", nodes: [clock], connections: {} })
          return yield* tools.activateWorkflow.call({ id })
        })),
      { through }
    )

  it.effect("fails if the workflow is not published afterwards", () =>
    Effect.gen(function*() {
      const error = yield* Effect.flip(published(altering((workflow) => ({ ...workflow, active: false }))))
      assert.include(JSON.stringify(error), "the workflow is not published")
    }))

  it.effect("warns of triggers that n8n does not start", () =>
    Effect.gen(function*() {
      const silent = yield* published(altering((workflow) => ({ ...workflow, triggerCount: 0 })))
      assert.match(silent.warnings?.join() ?? "", /has not started its triggers/)
      assert.notProperty(yield* published((client) => client), "warnings")
    }))

  it.effect("warns of schedules that n8n refuses, from every path", () =>
    inMemory(function*() {
      const bad = node("Bad", "scheduleTrigger", 1.2, {
        rule: { interval: [{ field: "cronExpression", expression: "99 * * * *" }] }
      })
      const { id, warnings } = yield* tools.createWorkflow.call({
        name: "Idle",
        nodes: [bad],
        connections: {},
        active: true
      })
      const expected = "published, but n8n never starts it by 'Bad': '99 * * * *' is not a cron expression"
      assert.deepStrictEqual(warnings, [expected])
      assert.deepStrictEqual((yield* tools.activateWorkflow.call({ id })).warnings, [expected])
      yield* tools.updateWorkflow.call({ id, nodes: [clock] })
      const { warnings: again } = yield* tools.updateWorkflow.call({ id, nodes: [bad] })
      assert.deepStrictEqual(again, [expected])
    }))
})

describe("activate_workflow returns the next runs", () => {
  it.effect("or says why there are none; a workflow without a schedule has neither", () =>
    inMemory(function*() {
      const { id } = yield* tools.createWorkflow.call({ name: "Zone", nodes: [clock], connections: {} })
      const unknown = yield* tools.activateWorkflow.call({ id })
      assert.deepStrictEqual([unknown.nextRuns, unknown.timeZone], [undefined, "unknown"])
      assert.strictEqual(
        unknown.hint,
        "Not in nextRuns: 'Clock': '0 9 * * *' in n8n's own time zone, which its API does not report. settings.timezone sets the time zone."
      )
      const hook = { name: "Hook", nodes: [node("Hook", "webhook", 2, { path: "p" })], connections: {} }
      const other = yield* tools.activateWorkflow.call({ id: (yield* tools.createWorkflow.call(hook)).id })
      assert.notProperty(other, "nextRuns")
      assert.notProperty(other, "timeZone")
    }))
})
