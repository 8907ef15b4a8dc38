/** The tools that write, against a real n8n: the input arrives completely, and nothing else changes. */
import { assert, type Vitest } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Hints from "../../../src/answer/Hints.ts"
import type * as Services from "../../../src/app/Services.ts"
import { arr, type Obj, obj, str } from "../../../src/base/Json.ts"
import type * as N8nClient from "../../../src/n8n/N8nClient.ts"
import * as tools from "../../../src/tools/index.ts"
import { reasonOf } from "../../support/reason.ts"
import { main, node } from "../../support/workflows.ts"
import { RealN8n } from "./RealN8n.ts"
import * as scenarios from "./scenarios.ts"
import * as workflows from "./workflows.ts"

type It = Vitest.MethodsNonLive<RealN8n | N8nClient.N8nClient | Services.Services>

const get = (id: string) => Effect.map(scenarios.fetchJson(`workflows/${id}`), (found) => obj(found) ?? {})

/** The fields that n8n changes with every write. */
const moving = new Set(["updatedAt", "versionId", "versionCounter", "activeVersionId", "activeVersion", "triggerCount"])

const still = (workflow: Obj, ...except: ReadonlyArray<string>) =>
  Object.fromEntries(Object.entries(workflow).filter(([key]) => !moving.has(key) && !except.includes(key)))

type Input = {
  readonly name: string
  readonly nodes: ReadonlyArray<Obj>
  readonly connections: Obj
  readonly settings: Obj
}

const bodyOf = (...args: Parameters<typeof workflows.body>) => workflows.body(...args) as unknown as Input

const webhookDraft = (path: string, text: string) =>
  bodyOf("written", path, {
    nodes: [node("Say", "set", 3.4, {
      mode: "raw",
      jsonOutput: JSON.stringify({ text }),
      options: {}
    }, { id: "say" })],
    links: [[workflows.trigger, "Say"]]
  })

const newPath = () => `w-${crypto.randomUUID()}`

const created = (input: Input = webhookDraft(newPath(), "one")) =>
  Effect.map(tools.createWorkflow.call({ ...input }), ({ id }) => id)

const webhookStatus = Effect.fnUntraced(function*(path: string) {
  const { url } = yield* RealN8n
  return yield* Effect.promise(async () => (await fetch(new URL(`webhook/${path}`, url), { method: "POST" })).status)
})

const says = (workflow: Obj) =>
  str(obj(arr(workflow["nodes"]).map(obj).find((node) => node?.["name"] === "Say")?.["parameters"])?.["jsonOutput"])

/**
 * Adds the tests of writing to a suite. The releases differ: n8n 1 and early 2.x write no drafts, and only n8n 2 stops an
 * execution and tells which versions lay between.
 */
export const writes = (it: It, { drafts, v2 }: { readonly v2: boolean; readonly drafts: boolean }) => {
  it.effect("create: reports what n8n drops silently", () =>
    Effect.gen(function*() {
      const name = "toString"
      const answer = yield* tools.createWorkflow.call({
        name,
        nodes: [node(name, "noOp")],
        connections: { [name]: main(name) }
      })
      assert.deepStrictEqual(answer.warnings, ["n8n dropped the connections of 'toString'"])
    }))

  it.effect("update: a node given without its credentials keeps them, {} removes them", () =>
    Effect.gen(function*() {
      const { workflowId: id } = yield* scenarios.make("ai")
      const before = yield* get(id)
      const bare = arr(before["nodes"]).map((node) => {
        const { credentials: _, id: __, webhookId: ___, ...rest } = obj(node) ?? {}
        return rest
      })
      yield* tools.updateWorkflow.call({ id, nodes: bare })
      assert.deepStrictEqual((yield* get(id))["nodes"], before["nodes"])
      yield* tools.updateWorkflow.call({ id, nodes: bare.map((node) => ({ ...node, credentials: {} })) })
      const found = arr((yield* get(id))["nodes"]).flatMap((node) => Object.keys(obj(obj(node)?.["credentials"]) ?? {}))
      assert.deepStrictEqual(found, [])
    }))

  it.effect("update: a version that moved is an error, not an overwrite", () =>
    Effect.gen(function*() {
      const path = newPath()
      const id = yield* created(webhookDraft(path, "one"))
      const seen = str((yield* get(id))["versionId"]) ?? ""
      const { connections, nodes } = webhookDraft(path, "theirs")
      yield* tools.updateWorkflow.call({ id, nodes, connections })
      const error = yield* Effect.flip(
        tools.updateWorkflow.call({ id, name: "mine", expectedVersionId: seen })
      )
      assert.strictEqual(reasonOf(error), "VersionConflict")
      assert.include(Hints.text(error.hint), "get_workflow")
      assert.include(says(yield* get(id)), "theirs")
    }))

  it.effect("delete: published or not, removed with the answer; its snapshot restores it", () =>
    Effect.gen(function*() {
      for (const active of [true, false]) {
        const path = newPath()
        const { id } = yield* tools.createWorkflow.call({
          ...webhookDraft(path, "kept"),
          active,
          tags: ["made"]
        })
        yield* tools.deleteWorkflow.call({ id, confirm: true })
        assert.strictEqual((yield* scenarios.request("GET", `workflows/${id}`)).status, 404)
        const { versions } = yield* tools.workflowHistory.call({ id, limit: 5 })
        assert.strictEqual(versions[0]?.operation, "before delete_workflow")
        const back = yield* tools.workflowRestore.call({
          id,
          version: versions[0]?.version ?? "",
          confirm: true
        })
        assert.notStrictEqual(back.id, id)
        assert.isFalse(back.active)
        const found = yield* get(back.id ?? "")
        assert.include(says(found), "kept")
        assert.deepStrictEqual(arr(found["tags"]).map((tag) => obj(tag)?.["name"]), ["made"])
      }
    }))

  it.effect("activate and deactivate: effective with the answer", () =>
    Effect.gen(function*() {
      const path = newPath()
      const id = yield* created(webhookDraft(path, "one"))
      assert.strictEqual(yield* webhookStatus(path), 404)
      assert.isTrue((yield* tools.activateWorkflow.call({ id })).active)
      assert.strictEqual(yield* webhookStatus(path), 200)
      assert.isFalse((yield* tools.deactivateWorkflow.call({ id })).active)
      assert.strictEqual(yield* webhookStatus(path), 404)
    }))

  if (v2) {
    it.effect("stop: an execution that waits is canceled with the answer", () =>
      Effect.gen(function*() {
        const { executionId: id } = yield* scenarios.run("waiting", "to be stopped")
        assert.strictEqual((yield* tools.stopExecution.call({ id })).id, id)
        assert.strictEqual(yield* scenarios.awaitStatus(id, ["canceled"]), "canceled")
      }))
  }

  it.effect("another writer in between: an error, or a named snapshot; never lost silently", () =>
    Effect.gen(function*() {
      const path = newPath()
      const id = yield* created(webhookDraft(path, "0"))
      const foreign = Effect.forEach(
        Array.from({ length: 40 }, (_, index) => `theirs ${index}`),
        (text) => scenarios.request("PUT", `workflows/${id}`, { ...webhookDraft(path, text), name: "theirs" })
      )
      const mine = Effect.forEach(
        Array.from({ length: 10 }, (_, index) => `mine ${index}`),
        (text) =>
          Effect.gen(function*() {
            const { connections, nodes } = webhookDraft(path, text)
            const seen = str((yield* get(id))["versionId"]) ?? ""
            const update = tools.updateWorkflow.call({ id, nodes, connections, expectedVersionId: seen })
            return { seen, result: yield* Effect.result(update) }
          })
      )
      const [ours] = yield* Effect.all([mine, foreign], { concurrency: 2 })
      const history = drafts
        ? arr(obj(yield* scenarios.fetchJson(`workflows/${id}/history`))?.["data"]).map((row) =>
          str(obj(row)?.["versionId"])
        )
        : []
      for (const { result, seen } of ours) {
        if (result._tag === "Failure") {
          assert.strictEqual(reasonOf(result.failure), "VersionConflict")
          continue
        }
        const { versionId, warnings = [] } = result.success
        const between = history.slice(history.indexOf(versionId) + 1, Math.max(0, history.indexOf(seen)))
        for (const lost of between) assert.include(warnings.join("\n"), lost ?? "?")
      }
    }))

  it.effect("a refused publication leaves what ran, and its nodes, as they were", () =>
    Effect.gen(function*() {
      const path = newPath()
      const { id } = yield* tools.createWorkflow.call({
        ...webhookDraft(path, "live"),
        settings: { callerPolicy: "any" },
        active: true
      })
      const before = yield* get(id)
      yield* Effect.flip(tools.updateWorkflow.call({ id, nodes: [node("Alone", "noOp")], connections: {} }))
      const after = yield* get(id)
      assert.deepStrictEqual(still(after), still(before))
      if (drafts) assert.strictEqual(after["activeVersionId"], before["activeVersionId"])
      assert.strictEqual(yield* webhookStatus(path), 200)
    }))

  if (v2 && !drafts) {
    it.effect("an API without drafts: someone's draft in the editor is not published along the way", () =>
      Effect.gen(function*() {
        const path = newPath()
        const id = yield* created(webhookDraft(path, "live"))
        yield* tools.activateWorkflow.call({ id })
        const live = yield* get(id)
        const { connections, nodes } = webhookDraft(path, "their draft")
        yield* scenarios.edit(id, { name: live["name"], nodes, connections, versionId: live["versionId"] })
        const before = yield* get(id)
        assert.include(says(before), "their draft")
        assert.strictEqual(before["activeVersionId"], live["activeVersionId"])
        const error = yield* Effect.flip(tools.updateWorkflow.call({ id, name: "mine" }))
        assert.strictEqual(error._tag, "ValidationError")
        assert.include(JSON.stringify(error), "Nothing was written")
        assert.deepStrictEqual(still(yield* get(id)), still(before))
        const { active } = yield* tools.updateWorkflow.call({ id, name: "mine", active: true })
        assert.isTrue(active)
        const after = yield* get(id)
        assert.strictEqual(after["activeVersionId"], after["versionId"])
      }))
  }
}
