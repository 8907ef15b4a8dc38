import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Tool from "../../../src/answer/Tool.ts"
import * as Services from "../../../src/app/Services.ts"
import type { N8nError } from "../../../src/base/Errors.ts"
import { arr, type Obj, obj, str } from "../../../src/base/Json.ts"
import type * as N8nClient from "../../../src/n8n/N8nClient.ts"
import type * as N8nApi from "../../../src/testing/n8nApi/N8nApi.ts"
import * as tools from "../../../src/tools/index.ts"
import { WorkflowStore } from "../../../src/workflows/store/WorkflowStore.ts"
import { before240 } from "../../n8n/clients.ts"
import { reasonOf } from "../../support/reason.ts"
import { main, node } from "../../support/workflows.ts"
import { inMemory } from "../../support/world.ts"

const webhook = node("Webhook", "webhook", 2, { path: "hook", httpMethod: "POST" }, { id: "w", webhookId: "hook" })

const credentials = { httpHeaderAuth: { id: "7", name: "Header" } }

const say = (text: string) =>
  node("Say", "set", 3.4, { text, password: "hunter2" }, { id: "s", position: [200, 0], credentials })

const connections = { Webhook: main("Say") }

const input = (text: string) => ({ name: "Greeter", nodes: [webhook, say(text)], connections })

const stored = (api: N8nApi.N8nApi, id: string) =>
  Effect.map(api.workflows, (all): Obj => obj(all.find((workflow) => workflow.id === id)) ?? {})

const textOf = (workflow: Obj) =>
  str(obj(obj(arr(workflow["nodes"]).find((node) => obj(node)?.["name"] === "Say"))?.["parameters"])?.["text"])

const methods = (api: N8nApi.N8nApi) => Effect.map(api.requests, (all) => all.map(({ method }) => method))

for (const version of ["2", "1"] as const) {
  const v2 = version === "2"

  describe(`n8n ${version}`, () => {
    it.effect("refuses the name of a test's copy, which would be removed", () =>
      inMemory(function*(api) {
        const name = "effect-n8n-mcp test copy abc-999999-ab12: Orders"
        const { id } = yield* tools.createWorkflow.call(input("hi"))
        const operations = [{ op: "name", name } as const]
        const refused = [
          yield* Effect.flip(tools.createWorkflow.call({ ...input("hi"), name })),
          yield* Effect.flip(tools.updateWorkflow.call({ id, name })),
          yield* Effect.flip(tools.workflowEdit.call({ workflowId: id, operations }))
        ]
        for (const error of refused) assert.strictEqual(error._tag === "ValidationError" && error.field, "name")
        assert.deepStrictEqual((yield* api.workflows).map(({ name }) => name), ["Greeter"])
      }, { version }))

    it.effect("gives nodes without a version the newest that this n8n has", () =>
      inMemory(function*(api) {
        const bare = (type: string) => ({ name: type, nodes: [{ name: "A", type, parameters: {} }], connections: {} })
        const made = yield* tools.createWorkflow.call({ ...bare("n8n-nodes-base.httpRequest") })
        const [node] = arr((yield* stored(api, made.id))["nodes"])
        assert.strictEqual(obj(node)?.["typeVersion"], v2 ? 4.5 : 4.3)
        const given = `Set the missing typeVersion of nodes: ${v2 ? 4.5 : 4.3} to 'A'.`
        assert.include(made.warnings ?? [], given)
        const error = yield* Effect.flip(tools.createWorkflow.call({ ...bare("n8n-nodes-acme.x") }))
        assert.include(error.message, "Node 'A' (n8n-nodes-acme.x) has no typeVersion")
      }, { version }))

    it.effect("gives new nodes that answer requests a webhookId, without which n8n 1 takes another path", () =>
      inMemory(function*(api) {
        const hook = {
          name: "Hook",
          type: "n8n-nodes-base.webhook",
          typeVersion: 2,
          parameters: { path: "p", httpMethod: "POST" }
        }
        const nodes = [hook, { name: "Set", type: "n8n-nodes-base.set", typeVersion: 3.4, parameters: {} }]
        const ids = (id: string) =>
          Effect.map(stored(api, id), ({ nodes }) => arr(nodes).map((node) => typeof obj(node)?.["webhookId"]))
        const made = yield* tools.createWorkflow.call({ name: "Called", nodes, connections: {} })
        assert.deepStrictEqual(yield* ids(made.id), ["string", "undefined"])
        yield* tools.updateWorkflow.call({ id: made.id, nodes: [...nodes, { ...hook, name: "Other" }] })
        assert.deepStrictEqual(yield* ids(made.id), ["string", "undefined", "string"])
      }, { version }))

    it.effect("names no change that the caller did not make, such as the id of a node that had none", () =>
      inMemory(function*() {
        const place = { kind: "n8n", id: "bare" } as const
        const store = yield* WorkflowStore
        // @ts-expect-error: n8n has no such part.
        const { changed, warnings } = yield* store.write(place, { nodez: [] })
        assert.deepStrictEqual([changed, warnings], ["nothing", ["n8n does not support nodez: left out"]])
        const settings = { timezone: "Asia/Tokyo" }
        assert.strictEqual((yield* store.write(place, { settings })).changed, "settings.timezone")
      }, {
        version,
        seed: {
          workflows: [{ id: "bare", name: "Bare", nodes: [{ name: "Pay", type: "n8n-nodes-base.code" }] }],
          executions: []
        }
      }))

    it.effect("plans a change without writing, and writes the plan, unless someone else wrote meanwhile", () =>
      inMemory(function*(api) {
        const { write } = yield* WorkflowStore
        const { id } = yield* tools.createWorkflow.call(input("hi"))
        const place = { kind: "n8n", id } as const
        const before = yield* stored(api, id)
        const requests = (yield* methods(api)).length
        // The new node is given an id: the one of the plan is the one that is written.
        const { id: _, ...added } = { ...say("ho"), name: "Added" }
        const plan = yield* write(place, { nodes: [webhook, say("hi"), added] }, { dryRun: true })
        assert.strictEqual(plan.changed, "added 'Added'")
        assert.deepStrictEqual(Object.keys(plan.patch), ["nodes"])
        assert.deepStrictEqual(new Set((yield* methods(api)).slice(requests)), new Set(["GET"]))
        assert.deepStrictEqual(yield* stored(api, id), before)

        const apply = write(place, plan.patch, { expected: plan.before })
        const written = yield* apply
        assert.strictEqual(written.changed, plan.changed)
        const idOf = (nodes: unknown) => arr(nodes).map((node) => obj(node)?.["id"])
        assert.deepStrictEqual(idOf((yield* stored(api, id))["nodes"]), idOf(plan.patch["nodes"]))

        const error = yield* Effect.flip(apply)
        assert.strictEqual(reasonOf(error), "VersionConflict")
        const again = yield* write(place, plan.patch, { dryRun: true })
        assert.deepStrictEqual([again.changed, again.patch], ["nothing", {}])
        const puts = (yield* methods(api)).filter((method) => method === "PUT").length
        yield* write(place, again.patch, { expected: again.before })
        assert.strictEqual((yield* methods(api)).filter((method) => method === "PUT").length, puts)
        const refused = yield* Effect.flip(write(place, { nodes: [{ name: "A" }] }, { dryRun: true }))
        assert.strictEqual(refused._tag, "ValidationError")
      }, { version }))

    it.effect("keeps credentials and secrets that are sent back redacted", () =>
      inMemory(function*(api) {
        const { id } = yield* tools.createWorkflow.call(input("hi"))
        const { data } = yield* tools.getWorkflow.run({ id, nodes: ["*"] })
        const nodes = arr(obj(data)?.["nodes"]).map((node) => {
          const { credentials: _, ...rest } = obj(node) ?? {}
          return rest["name"] === "Say" ? { ...rest, parameters: { ...obj(rest["parameters"]), text: "ho" } } : rest
        })
        assert.include(JSON.stringify(nodes), "[redacted]")
        yield* tools.updateWorkflow.call({ id, nodes })
        const found = arr((yield* stored(api, id))["nodes"]).find((node) => obj(node)?.["name"] === "Say")
        assert.deepInclude(found, { credentials, parameters: { text: "ho", password: "hunter2" } })
        const error = yield* Effect.flip(
          tools.createWorkflow.call({ ...input("x"), nodes: nodes.map((node) => ({ ...node })) })
        )
        assert.strictEqual(error._tag, "ValidationError")
        assert.include(error.message, "[redacted]")
      }, { version }))

    it.effect("never overwrites a version that changed between reading and writing", () => {
      let isEditing = false
      return inMemory(function*(api) {
        const { id } = yield* tools.createWorkflow.call(input("hi"))
        isEditing = true
        const error = yield* Effect.flip(tools.updateWorkflow.call({ id, nodes: [webhook, say("mine")] }))
        assert.strictEqual(reasonOf(error), "VersionConflict")
        assert.include(JSON.stringify(error), "changed: changed 'Say'")
        if (v2) assert.include(JSON.stringify(error), "by Somebody Else")
        assert.strictEqual(textOf(yield* stored(api, id)), "theirs")
      }, {
        version,
        // Somebody saves whenever we have just read.
        after: ({ method, url }, _, api) => {
          const id = /workflows\/([^/?]+)$/.exec(new URL(url).pathname)?.[1]
          if (!isEditing || method !== "GET" || id === undefined) return Effect.void
          isEditing = false
          return api.edit(id, (workflow) => ({ ...workflow, nodes: [webhook, say("theirs")] }))
        }
      })
    })

    it.effect("reports what changed since the version that the caller has seen", () =>
      inMemory(function*() {
        const { id, versionId = "" } = yield* tools.createWorkflow.call(input("hi"))
        const long = (text: string) => `${"a".repeat(2_000)}${text}${"b".repeat(2_000)}`
        yield* tools.updateWorkflow.call({ id, nodes: [webhook, say(long("theirs"))] })
        yield* tools.updateWorkflow.call({ id, nodes: [webhook, say(long("others'"))], name: "Other" })
        const error = yield* Effect.flip(tools.updateWorkflow.call({ id, name: "mine", expectedVersionId: versionId }))
        assert.strictEqual(reasonOf(error), "VersionConflict")
        const details = error._tag === "ApiError" ? error.reason.details : ""
        assert.match(details, /changed: changed 'Say' \([^)]*"hi".* → .*\), name$/m)
        assert.isBelow(details.length, 700)
      }, { version }))

    it.effect.runIf(v2)(
      "names no version in a conflict about what a version does not hold",
      () =>
        inMemory(function*(api) {
          const { write } = yield* WorkflowStore
          const { id } = yield* tools.createWorkflow.call(input("hi"))
          const place = { kind: "n8n", id } as const
          const { before, patch } = yield* write(place, { settings: { timezone: "UTC" } }, { dryRun: true })
          yield* api.edit(id, (workflow) => ({
            ...workflow,
            versionId: before.versionId ?? "",
            settings: { ...obj(workflow["settings"]), timezone: "Asia/Tokyo" }
          }))
          const error = yield* Effect.flip(write(place, patch, { expected: before }))
          assert.strictEqual(reasonOf(error), "VersionConflict")
          assert.notInclude(error.message, before.versionId ?? "no version")
          assert.match(error.message, /it was changed meanwhile, in parts that .*changed: settings\.timezone/)
        }, { version })
    )

    it.effect("unpublishes before it deletes, and publishes again when deleting fails", () => {
      let refusing = false
      return inMemory(function*(api) {
        const { id } = yield* tools.createWorkflow.call({ ...input("hi"), active: true })
        refusing = true
        const error = yield* Effect.flip(tools.deleteWorkflow.call({ id, confirm: true }))
        assert.strictEqual(reasonOf(error), "Status 403")
        assert.isTrue((yield* stored(api, id))["active"])
        refusing = false
        yield* tools.deleteWorkflow.call({ id, confirm: true })
        assert.deepStrictEqual(yield* api.workflows, [])
        const { versions } = yield* tools.workflowHistory.call({ id, limit: 1 })
        const back = yield* tools.workflowRestore.call({ id, version: versions[0]?.version ?? "", confirm: true })
        assert.strictEqual(textOf(yield* stored(api, back.id ?? "")), "hi")
      }, {
        version,
        deletionLag: 3,
        before: ({ method }) =>
          refusing && method === "DELETE"
            ? Effect.succeed(Response.json({ message: "no" }, { status: 403 }))
            : Effect.void
      })
    })

    it.effect("creates, publishes and tags", () =>
      inMemory(function*(api) {
        const made = yield* tools.createWorkflow.call({ ...input("hi"), active: true, tags: ["a", "b"] })
        const found = yield* stored(api, made.id)
        assert.isTrue(made.active)
        assert.isUndefined(made.warnings)
        assert.deepStrictEqual(arr(found["tags"]).map((tag) => obj(tag)?.["name"]), ["a", "b"])
        assert.strictEqual(textOf(found), "hi")
      }, { version, webhookLag: 3 }))

    it.effect("is read-only with --read-only, also for single calls", () =>
      inMemory(function*(api) {
        const all: ReadonlyArray<Tool.Any<N8nClient.N8nClient | Services.Services, N8nError>> = tools.all
        const writing = all.filter(({ annotations }) => !annotations.readOnlyHint)
        assert.isAtLeast(writing.length, 10)
        const texts = "version name filePath workflowId nodeType targetNodeId newNodeType sourceNodeId type table"
        const args = {
          ...Object.fromEntries(texts.split(" ").map((key) => [key, "x.json"])),
          id: "1",
          nodes: [],
          connections: {},
          workflowData: {},
          values: {},
          op: "insert",
          operations: [{ op: "enable", node: "n" }]
        }
        for (const tool of writing) {
          const known = Object.fromEntries(
            Object.entries(args).filter(([key]) => Object.hasOwn(tool.inputSchema.properties ?? {}, key))
          )
          const error = yield* Effect.flip(tool.run(known))
          assert.deepInclude(error, { _tag: "ValidationError", field: "--read-only" }, tool.name)
        }
        assert.deepStrictEqual(yield* api.requests, [])
        assert.isTrue(Tool.offered(tools.all, true).every(({ annotations }) => annotations.readOnlyHint))
      }, { version }).pipe(Effect.provideService(Tool.ReadOnly, true)))
  })
}

/** Changes a published workflow in a way that n8n refuses after it has stored it; `message` is in the error. */
const revertedChange = Effect.fnUntraced(function*(api: N8nApi.N8nApi, message: string) {
  const { id } = yield* tools.createWorkflow.call({ ...input("hi"), active: true })
  const before = yield* stored(api, id)
  const alone = { ...say("alone"), id: "x", name: "Alone", credentials: {} }
  const error = yield* Effect.flip(tools.updateWorkflow.call({ id, nodes: [alone], connections: {} }))
  assert.include(JSON.stringify(error), message)
  const after = yield* stored(api, id)
  assert.deepStrictEqual(after["nodes"], before["nodes"])
  return { after, before }
})

describe("n8n 1, where a change takes effect immediately", () => {
  it.effect("is put back as it was, and active, when n8n refuses a change after it has stored it", () =>
    inMemory(function*(api) {
      const { after } = yield* revertedChange(api, "was reverted, and is active")
      assert.isTrue(after["active"])
    }, { version: "1" }))

  it.effect("keeps settings that n8n resets unless they are given", () =>
    inMemory(function*(api) {
      const settings = { callerPolicy: "any", timezone: "Europe/Paris" }
      const { id } = yield* tools.createWorkflow.call({ ...input("hi"), settings })
      yield* tools.updateWorkflow.call({ id, name: "Other" })
      assert.deepInclude((yield* stored(api, id))["settings"], settings)
    }, { version: "1" }))
})

describe("n8n 2, live and draft", () => {
  it.effect("refuses to overwrite someone's draft if the API would publish it (before 2.40)", () =>
    inMemory(function*(api) {
      const { id } = yield* tools.createWorkflow.call({ ...input("hi"), active: true })
      yield* api.edit(id, (workflow) => ({ ...workflow, nodes: [webhook, say("their draft")] }))
      const before = yield* api.workflows
      const error = yield* Effect.flip(tools.updateWorkflow.call({ id, name: "Renamed" }))
      assert.strictEqual(error._tag, "ValidationError")
      assert.include(error.message, "unpublished changes of someone else")
      assert.deepStrictEqual(yield* api.workflows, before)
      yield* tools.updateWorkflow.call({ id, name: "Renamed", active: true })
      const { activeVersionId, name, versionId } = yield* stored(api, id)
      assert.deepStrictEqual([name, activeVersionId], ["Renamed", versionId])
    }, { before: before240 }))

  it.effect("says that a change runs whose publication no answer confirms", () => {
    const lost = { publications: 0, reads: 0 }
    const garbled = new Response("{")
    return inMemory(function*(api) {
      const { id } = yield* tools.createWorkflow.call({ ...input("hi"), active: true })
      lost.publications = 1
      const error = yield* Effect.flip(tools.updateWorkflow.call({ id, nodes: [webhook, say("bye")], active: true }))
      assert.include(JSON.stringify(error), "n8n had published the change, which runs now")
      const { active, activeVersionId, versionId, ...now } = yield* stored(api, id)
      assert.deepStrictEqual([active, activeVersionId === versionId, textOf(now)], [true, false, "hi"])
    }, {
      after: ({ method, url }) =>
        Effect.sync(() => {
          if (lost.publications > 0 && /\/(?:publish|activate)$/.test(new URL(url).pathname)) {
            Object.assign(lost, { publications: 0, reads: 1 })
            return garbled
          }
          return lost.reads > 0 && method === "GET" ? new Response("{") : undefined
        })
    })
  })

  it.effect("puts the earlier draft back when publishing is refused", () =>
    inMemory(function*(api) {
      const { after, before } = yield* revertedChange(api, "earlier draft was put back")
      assert.strictEqual(after["activeVersionId"], before["activeVersionId"])
    }))
})
