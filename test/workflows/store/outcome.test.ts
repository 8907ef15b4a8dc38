/** Answers of writes: problems that they bring, refusals with their reasons, plans, and what an undo must not publish. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import { arr, obj } from "../../../src/base/Json.ts"
import { N8nClient } from "../../../src/n8n/N8nClient.ts"
import * as tools from "../../../src/tools/index.ts"
import { reasonOf } from "../../support/reason.ts"
import * as TestTime from "../../support/TestTime.ts"
import { main, node } from "../../support/workflows.ts"
import { inMemory, inWorld } from "../../support/world.ts"

const hook = node("Hook", "webhook", 2, { path: "hook", httpMethod: "POST" }, { id: "h", webhookId: "hook" })

const say = (text: string) =>
  node("Say", "set", 3.4, { mode: "raw", jsonOutput: `{ "text": "${text}" }` }, { id: "s", position: [200, 0] })

const flow = (text: string) => ({ name: "Greeter", nodes: [hook, say(text)], connections: { Hook: main("Say") } })

const called = node("Sub", "executeWorkflow", 1.2, {
  workflowId: { __rl: true, mode: "id", value: "none" }
}, { id: "e", position: [400, 0] })

/** Workflow that n8n stores, and cannot run. */
const broken = { name: "Broken", nodes: [hook, called], connections: { Hook: main("Sub") } }

describe("an answer of a write", () => {
  it.effect("has the errors of a new workflow, and its missing credentials, with their fix", () =>
    inMemory(function*() {
      const request = node("Call", "httpRequest", 4.2, {
        url: "https://a.example",
        authentication: "genericCredentialType",
        genericAuthType: "httpBasicAuth"
      }, { id: "r", position: [200, 0] })
      const made = yield* tools.createWorkflow.call({
        name: "Weak",
        nodes: [hook, request, called],
        connections: { Hook: main("Call"), Call: main("Sub") }
      })
      assert.deepStrictEqual(made.missingCredentials, [{ node: "Call", type: "httpBasicAuth" }])
      assert.deepStrictEqual(made.problems?.map(({ node, severity }) => [node, severity]), [["Sub", "error"]])
      // They are not told again by a write that does not bring them.
      const changed = yield* tools.updateWorkflow.call({ id: made.id, name: "Weaker" })
      assert.notProperty(changed, "problems")
      assert.notProperty(changed, "missingCredentials")
    }))

  it.effect("names what validation knows where n8n fails with a workflow", () =>
    inMemory(function*(api) {
      const { id, problems } = yield* tools.createWorkflow.call(broken)
      assert.deepStrictEqual(problems?.map(({ node }) => node), ["Sub"])
      for (const write of [tools.activateWorkflow.call({ id }), tools.updateWorkflow.call({ id, active: true })]) {
        const error = yield* Effect.flip(write)
        assert.strictEqual(reasonOf(error), "Status 500")
        assert.include(error._tag === "ApiError" ? error.reason.details : "", "Validation: Sub: ")
        assert.include(JSON.stringify(error), "\"_tag\":\"CorrectRefused\"")
      }
      assert.isFalse((yield* api.workflows).some(({ active }) => active === true))
    }, {
      before: ({ url }) =>
        new URL(url).pathname.endsWith("/publish")
          ? Effect.succeed(Response.json({ message: "Internal error" }, { status: 500 }))
          : Effect.void
    }))
})

const clock = node("When", "scheduleTrigger", 1.2, {
  rule: { interval: [{ field: "days", triggerAtHour: 8, triggerAtMinute: 30 }] }
}, { id: "c" })

describe("a change of the time zone", () => {
  for (const version of ["2", "1"] as const) {
    it.effect(`on n8n ${version} is told where n8n has registered triggers with the former one`, () =>
      inMemory(function*() {
        const { id } = yield* tools.createWorkflow.call({
          name: "Daily",
          nodes: [clock],
          connections: {},
          active: true
        })
        const zone = (timezone: string) => ({ op: "settings" as const, settings: { timezone } })
        const still = `'When' still starts by the former time zone, which n8n took when it registered the trigger: ` +
          `unpublish the workflow and publish it again, and n8n registers it by the new one`
        const expected = version === "2" ? [still] : undefined
        const dry = yield* tools.workflowEdit.call({ workflowId: id, operations: [zone("Asia/Tokyo")], dryRun: true })
        assert.deepStrictEqual(dry.warnings, expected)
        const edited = yield* tools.workflowEdit.call({ workflowId: id, operations: [zone("Asia/Tokyo")] })
        assert.deepStrictEqual(edited.warnings, expected)
        const updated = yield* tools.updateWorkflow.call({ id, settings: { timezone: "Asia/Seoul" } })
        assert.deepStrictEqual(updated.warnings, expected)
        // n8n registers a trigger that changed with the workflow.
        const later = { ...clock, parameters: { rule: { interval: [{ field: "days", triggerAtHour: 9 }] } } }
        const moved = yield* tools.updateWorkflow.call({ id, nodes: [later], settings: { timezone: "UTC" } })
        assert.notProperty(moved, "warnings")
      }, { version }))
  }
})

describe("a dry run of workflow_edit", () => {
  it.effect("returns a plan, which changes exactly what it showed, or nothing", () =>
    inMemory(function*(api) {
      const { id } = yield* tools.createWorkflow.call({ ...flow("hi"), active: true })
      const set = { op: "set" as const, node: "Say", path: "jsonOutput", value: "{ \"text\": \"ho\" }" }
      const zone = { op: "settings" as const, settings: { timezone: "Asia/Tokyo" } }
      const dry = yield* tools.workflowEdit.call({ workflowId: id, operations: [set, zone], dryRun: true })
      assert.deepInclude(dry, { applied: false, published: false, inForce: ["settings.timezone"] })
      const { plan = "" } = dry
      const done = yield* tools.workflowEdit.call({ workflowId: id, plan })
      assert.deepInclude(done, { applied: true, published: false, inForce: ["settings.timezone"] })
      assert.deepStrictEqual(done.changes, dry.changes)
      assert.notProperty(done, "plan")
      const [stored] = yield* api.workflows
      assert.strictEqual(obj(stored?.["settings"])?.["timezone"], "Asia/Tokyo")

      // The state that it changes is no longer there.
      const again = yield* Effect.flip(tools.workflowEdit.call({ workflowId: id, plan }))
      assert.include(again.message, "has changed since the dry run")
      const { id: second } = yield* tools.createWorkflow.call({ ...flow("other"), name: "Other" })
      const other = yield* Effect.flip(tools.workflowEdit.call({ workflowId: second, plan }))
      assert.include(other.message, `one of the workflow '${id}'`)
      const both = yield* Effect.flip(tools.workflowEdit.call({ workflowId: id, plan, operations: [set] }))
      assert.include(both.message, "Either operations or the plan")
      const unknown = yield* Effect.flip(tools.workflowEdit.call({ workflowId: id, plan: "plan-x" }))
      assert.strictEqual(unknown._tag, "NotFoundError")
    }))
})

describe("a write of a whole workflow", () => {
  it.effect("while a draft waits names what it holds back, and the calls that write it", () =>
    inWorld(({ api, folder }) =>
      TestTime.run(Effect.gen(function*() {
        const fs = yield* FileSystem.FileSystem
        const { id } = yield* tools.createWorkflow.call({ ...flow("old"), active: true })
        yield* tools.workflowSave.call({ workflowId: id, filePath: "f.json" })
        const file = `${folder}/f.json`
        const saved = yield* fs.readFileString(file)
        yield* fs.writeFileString(file, saved.replace("\"Greeter\"", "\"Renamed\"").replaceAll("old", "new"))
        yield* api.edit(id, (workflow) => ({ ...workflow, nodes: [hook, say("theirs")] }))
        const replace = tools.replaceWorkflowFromFile.call({ id, filePath: "f.json", confirm: true })
        const written = yield* replace
        assert.deepInclude(written, { published: false, held: ["name: \"Greeter\" → \"Renamed\""] })
        assert.include(written.hint, `activate_workflow(id: '${id}'), then the same call again, writes it`)
        assert.match(written.warnings?.join() ?? "", /perhaps of someone else, was overwritten: /)
        yield* tools.activateWorkflow.call({ id })
        assert.deepInclude(yield* replace, { changed: "name", published: true })
        assert.strictEqual((yield* N8nClient.use((n8n) => n8n.getWorkflow(id))).name, "Renamed")
      }))
    ))

  it.effect("that is published says what changes for the version that ran", () =>
    inMemory(function*(api) {
      const { id } = yield* tools.createWorkflow.call({ ...flow("old"), active: true })
      yield* tools.updateWorkflow.call({ id, nodes: [hook, say("new")] })
      const { versions } = yield* tools.workflowHistory.call({ id, limit: 10 })
      const version = versions.find(({ source }) => source === "snapshot")?.version ?? ""
      yield* tools.workflowRestore.call({ id, version, confirm: true })
      const restore = { id, version, confirm: true, publish: true }
      const dry = yield* tools.workflowRestore.call({ ...restore, dryRun: true })
      assert.include(dry.changed, "changed 'Say'")
      assert.lengthOf(arr(dry.difference?.["nodes"]), 1)
      const restored = yield* tools.workflowRestore.call(restore)
      assert.include(restored.changed, "changed 'Say'")
      assert.include(JSON.stringify((yield* api.workflows)[0]?.["activeVersion"]), "old")
    }))
})

describe("an undo", () => {
  it.effect("that leaves a workflow out does not publish the draft that someone has made since", () =>
    inMemory(function*(api) {
      const { id } = yield* tools.createWorkflow.call({ ...flow("old"), active: true })
      const { plan = "" } = yield* tools.bulkEdit.call({
        select: { ids: [id] },
        operations: [{ op: "replace", find: "old", with: "new" }] as never
      })
      yield* api.edit(id, (workflow) => ({ ...workflow, nodes: [hook, say("theirs")] }))
      const running = Effect.map(api.workflows, ([workflow]) => JSON.stringify(workflow?.["activeVersion"]))
      const before = yield* running
      const undone = yield* tools.workflowRestore.call({ batch: plan, confirm: true })
      assert.lengthOf(undone.refused ?? [], 1)
      assert.strictEqual(yield* running, before)

      // Once their draft is gone, it can be taken back.
      yield* tools.workflowRestore.call({ id, version: "published", confirm: true })
      const second = yield* tools.workflowRestore.call({ batch: plan, confirm: true })
      assert.deepInclude(second, { restored: 1 })
      assert.include(yield* running, "old")
    }))
})
