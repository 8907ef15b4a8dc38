import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { Author, CallContext } from "../../../src/base/CallContext.ts"
import { arr, type Obj, obj } from "../../../src/base/Json.ts"
import type * as N8nApi from "../../../src/testing/n8nApi/N8nApi.ts"
import * as tools from "../../../src/tools/index.ts"
import * as Policy from "../../../src/workflows/policy/Policy.ts"
import { leftOut, reasons } from "../../support/batches.ts"
import { orders, post, seed } from "../../support/scenarios/orders.ts"
import { joined, node, workflow } from "../../support/workflows.ts"
import { inMemory } from "../../support/world.ts"

const several = seed([
  orders("a", { active: true }),
  orders("b"),
  orders("c", { active: true }),
  orders("d", { isArchived: true }),
  orders("e", {}, "https://new.example.com/e"),
  orders("f", { active: true, settings: { errorWorkflow: "b", executionOrder: "v1" } })
])

const replace = { op: "replace", find: "https://old.example.com", with: "https://new.example.com" }
const uses = { uses: "old.example.com" }

const dryRun = (operations: ReadonlyArray<Obj>, select: Obj = uses, more: Obj = {}) =>
  tools.bulkEdit.call({ select, operations: operations as never, dryRun: true, ...more })

const apply = (plan: string | undefined) => tools.bulkEdit.call({ plan: plan ?? "" })

const restore = (batch: string | undefined) => tools.workflowRestore.call({ batch: batch ?? "" })

/** Address of each workflow's request, `*` for what runs and `!` for a draft that waits. */
const urls = (api: N8nApi.N8nApi) =>
  Effect.map(
    api.workflows,
    (all) =>
      Object.fromEntries(all.map((each) => {
        const url = String(obj(obj(arr(each.nodes)[1])?.["parameters"])?.["url"]).replace(/^https:..(\w+).*/, "$1")
        const { active, activeVersionId, versionId } = each as Obj
        return [
          each.id,
          `${url}${active === true ? "*" : ""}${active === true && activeVersionId !== versionId ? "!" : ""}`
        ]
      }))
  )

const before = { a: "old*", b: "old", c: "old*", d: "old", e: "new", f: "old*" }
const after = { a: "new*", b: "new", c: "new*", d: "old", e: "new", f: "new*" }

/** Someone adds a note, which makes a draft of what is published. */
const annotate = (api: N8nApi.N8nApi, id: string) =>
  api.edit(
    id,
    ({ nodes, ...now }) =>
      ({ ...now, nodes: [...arr(nodes), node("Note", "stickyNote", 1, { content: "mine" })] }) as N8nApi.Workflow
  )

/** Someone gives the workflow's request another address. */
const redirect = (api: N8nApi.N8nApi, id: string, url: string) =>
  api.edit(id, (now) => ({ ...now, nodes: arr(now.nodes).with(1, post("送信", url)) }) as N8nApi.Workflow)

const stored = (api: N8nApi.N8nApi, id: string) =>
  Effect.map(api.workflows, (all): Obj => obj(all.find((each) => each.id === id)) ?? {})

const settingsOf = (api: N8nApi.N8nApi, id: string) =>
  Effect.map(stored(api, id), ({ settings }): Obj => obj(settings) ?? {})

const world = { seed: several }

describe("a change of many workflows", () => {
  it.effect("is planned without writing, applied once, and taken back", () =>
    inMemory(function*(api) {
      const { changes, hint, plan, published, refused, workflows } = yield* dryRun([replace])
      assert.deepStrictEqual({ refused, workflows, published }, { refused: undefined, workflows: 4, published: 3 })
      const names = ["注文 a", "注文 b", "注文 c", "注文 f"]
      assert.deepStrictEqual(changes, [{
        change: "httpRequest url: 'https://old.example.com' → 'https://new.example.com'",
        workflows: 4,
        nodes: 4,
        names,
        values: ["4 × https://old.example.com → https://new.example.com"]
      }])
      assert.include(hint, `bulk_edit(plan: '${plan}')`)
      assert.deepStrictEqual(yield* urls(api), before)
      assert.deepInclude(yield* apply(plan), { done: 4, hint: `workflow_restore(batch: '${plan}') takes it back.` })
      assert.deepStrictEqual(yield* urls(api), after)
      const { changes: now, done } = yield* tools.bulkEdit.call({ plan: plan ?? "", dryRun: true })
      const values = ["a", "b", "c", "f"].map((id) =>
        `"https://old.example.com/${id}" → "https://new.example.com/${id}"`
      )
      const own = { change: "httpRequest url", workflows: 4, nodes: 4, names, values }
      assert.deepStrictEqual([done, now], [4, [own]])
      assert.deepInclude(yield* restore(plan), { restored: 4 })
      assert.deepStrictEqual(yield* urls(api), before)
      // It is not applied a second time.
      assert.deepInclude(yield* apply(plan), { restored: 4 })
      assert.deepStrictEqual(yield* urls(api), before)
    }, world))

  it.effect("shows what others have changed since, too", () =>
    inMemory(function*(api) {
      const { plan = "" } = yield* dryRun([replace], { ids: ["c"] })
      yield* apply(plan)
      yield* annotate(api, "c")
      const { changes } = yield* tools.bulkEdit.call({ plan, dryRun: true })
      assert.deepStrictEqual(changes?.map(({ change, values }) => [change, values]), [
        ["httpRequest url", ["\"https://old.example.com/c\" → \"https://new.example.com/c\""]],
        ["stickyNote added", ["'Note'"]]
      ])
    }, world))

  it.effect("leaves out what has changed since, and says so", () =>
    inMemory(function*(api) {
      const { plan } = yield* dryRun([replace])
      yield* redirect(api, "b", "https://old.example.com/mine")
      yield* tools.deactivateWorkflow.call({ id: "c" })
      const { done, refused } = yield* apply(plan)
      assert.deepStrictEqual([done, refused], [2, [
        {
          workflows: ["注文 b (b)"],
          why: "'送信' url has changed since the plan: planned \"https://old.example.com/b\" → " +
            "\"https://new.example.com/b\", now \"https://old.example.com/mine\""
        },
        { workflows: ["注文 c (c)"], why: "it was unpublished after the plan was made" }
      ]])
      assert.deepStrictEqual(yield* urls(api), { ...after, b: "old", c: "old" })
      yield* api.edit("a", (now) => ({ ...now, name: "theirs" }))
      const planned = yield* tools.workflowRestore.call({ batch: plan ?? "", dryRun: true })
      assert.deepStrictEqual([planned.done, leftOut(planned.refused)], [1, ["a"]])
      const back = yield* restore(plan)
      assert.deepStrictEqual([back.restored, leftOut(back.refused)], [1, ["a"]])
      assert.deepStrictEqual(yield* urls(api), { ...before, a: "new*", c: "old" })
    }, world))

  it.effect("publishes no one's draft, and makes drafts on request", () =>
    inMemory(function*(api) {
      yield* annotate(api, "a")
      const { refused, workflows } = yield* dryRun([replace])
      assert.strictEqual(workflows, 3)
      assert.match(String(obj(refused?.[0])?.["why"]), /an unpublished draft waits/)
      const { plan } = yield* dryRun([replace], uses, { publish: "draft" })
      assert.deepInclude(yield* apply(plan), { done: 4 })
      assert.deepStrictEqual(yield* urls(api), { ...after, a: "new*!", c: "new*!", f: "new*!" })
      assert.deepInclude(yield* restore(plan), { restored: 4 })
      // The draft that waited waits again; the others have none.
      assert.deepStrictEqual(yield* urls(api), { ...before, a: "old*!" })
    }, world))

  it.effect("sees what runs beside a draft, and changes settings of both", () =>
    inMemory(function*(api) {
      yield* redirect(api, "a", "https://mine.example.com")
      const { workflows: [first] } = yield* tools.listWorkflows.call({ uses: "old.example.com/a", limit: 5, offset: 0 })
      assert.deepStrictEqual(first?.uses, [
        { node: "送信", path: "parameters.url", value: "https://old.example.com/a", version: "published" }
      ])
      const direct = yield* tools.bulkEdit.call({ select: uses, operations: [replace] })
      assert.deepStrictEqual([direct.done, direct.refused], [3, [
        { workflows: ["注文 a (a)"], why: "only the published version would change, and a draft waits" }
      ]])
      const { plan } = yield* dryRun([{ op: "settings", settings: { executionTimeout: 9 } }], { ids: ["a"] })
      assert.deepInclude(yield* apply(plan), { done: 1 })
      assert.deepInclude(yield* restore(plan), { restored: 1 })
      assert.deepInclude(yield* urls(api), { a: "mine*!" })
    }, world))

  it.effect("publishes the drafts that it has made, and the undo makes live again what was live", () =>
    inMemory(function*(api) {
      yield* annotate(api, "a")
      const { drafts, plan = "", published } = yield* dryRun([replace], uses, { publish: "draft" })
      assert.deepStrictEqual([drafts, published], [3, undefined])
      const made = yield* apply(plan)
      assert.deepStrictEqual([made.drafts, made.published], [3, undefined])
      assert.include(made.hint, `bulk_edit(plan: '${plan}', publish: 'proven') publishes the drafts`)
      yield* annotate(api, "c")
      const live = yield* tools.bulkEdit.call({ plan, publish: "keep" })
      assert.deepStrictEqual(live.refused?.map(({ why, workflows }) => [arr(workflows)[0], why]), [
        ["注文 a (a)", "a draft waited before the batch: publish the workflow itself to publish both"],
        [
          "注文 c (c)",
          "someone has changed its draft since the batch: publish the workflow itself to publish all of it"
        ]
      ])
      assert.deepStrictEqual(yield* urls(api), { ...after, a: "new*!", c: "new*!" })
      assert.deepInclude(yield* restore(plan), { restored: 3 })
      assert.deepStrictEqual(yield* urls(api), { ...before, a: "old*!", c: "new*!" })
      const other = yield* dryRun([replace], { ids: ["f"] })
      const refusal = yield* Effect.flip(tools.bulkEdit.run({ plan: other.plan, publish: "draft" }))
      assert.include(refusal.message, "The plan publishes its changes")
    }, world))

  it.effect("leaves what was published or unpublished later to the one who did it", () =>
    inMemory(function*(api) {
      const { plan } = yield* dryRun([replace], uses, { publish: "draft" })
      yield* apply(plan)
      yield* tools.activateWorkflow.call({ id: "a" })
      const planned = yield* tools.workflowRestore.call({ batch: plan ?? "", dryRun: true })
      assert.deepStrictEqual([planned.done, leftOut(planned.refused)], [3, ["a"]])
      const { refused, restored } = yield* restore(plan)
      assert.deepStrictEqual([restored, leftOut(refused)], [3, ["a"]])
      assert.deepStrictEqual(yield* urls(api), { ...before, a: "new*" })
      const live = yield* dryRun([replace], { ids: ["c"] })
      yield* apply(live.plan)
      yield* tools.deactivateWorkflow.call({ id: "c" })
      assert.deepStrictEqual(reasons((yield* restore(live.plan)).refused), ["it was unpublished since the batch"])
    }, world))

  it.effect("belongs to its caller", () =>
    inMemory(function*() {
      const { plan } = yield* Effect.provideService(dryRun([replace]), Author, "alice")
      const error = yield* Effect.flip(Effect.provideService(apply(plan), Author, "bob"))
      assert.strictEqual(error._tag, "NotFoundError")
      assert.deepInclude(yield* Effect.provideService(apply(plan), Author, "alice"), { done: 4 })
    }, world))

  it.effect("asks once, with the changes, and does nothing after a no", () =>
    inMemory(function*(api) {
      const questions: Array<string> = []
      const confirm = (question: string) => Effect.as(Effect.sync(() => questions.push(question)), "no" as const)
      const error = yield* Effect.flip(tools.bulkEdit.call({ select: uses, operations: [replace] })).pipe(
        Effect.provideService(CallContext, { progress: () => Effect.void, confirm })
      )
      assert.strictEqual(error.message, "The user did not agree")
      assert.deepStrictEqual(questions, [
        "Change 4 workflows, 3 of which are published again: 4 × httpRequest url: 'https://old.example.com' → 'https://new.example.com'?"
      ])
      assert.deepStrictEqual(yield* urls(api), before)
    }, world))

  it.effect("refuses selections and operations that cannot be meant", () =>
    inMemory(function*() {
      const rows: ReadonlyArray<readonly [args: Obj, message: RegExp]> = [
        [{ select: {}, operations: [replace] }, /select needs a condition/],
        [{ select: uses }, /select and operations are required/],
        [{ operations: [{ op: "name", name: "All" }] }, /name is for one workflow/],
        [
          { operations: [{ op: "replace", find: "x" }] },
          /replace takes find, with, node\?, path\?, word\? and only\?; missing: with/
        ],
        [{ operations: [{ op: "remvoe", node: "A" }] }, /Did you mean 'remove'/],
        [{ operations: [{ op: "remove", node: { typ: "x" } }] }, /node is a name or id/],
        [{ operations: [{ op: "calls", from: "a", to: "nowhere" }] }, /There is no workflow 'nowhere'/],
        [{ operations: [{ op: "settings", settings: { errorWorkflow: "nope" } }] }, /There is no workflow 'nope'/]
      ]
      for (const [args, message] of rows) {
        assert.match((yield* Effect.flip(tools.bulkEdit.run({ select: uses, ...args }))).message, message)
      }
    }, world))

  it.effect("leaves out what the policy forbids, and what would no longer be valid, when it is planned", () =>
    inMemory(function*() {
      const banned = yield* dryRun([{ op: "add", type: "n8n-nodes-base.noOp", after: "送信" }]).pipe(
        Effect.provide(Policy.layer({ bannedNodes: ["n8n-nodes-base.noOp"] }))
      )
      assert.deepStrictEqual([banned.workflows, leftOut(banned.refused).length], [0, 4])
      assert.match(reasons(banned.refused)[0] ?? "", /policy/i)
      const value = "={{ $('Nope').item.json.url }}"
      const set = { op: "set", node: { type: "n8n-nodes-base.httpRequest" }, path: "url", value }
      const { refused, workflows } = yield* dryRun([set], { ids: ["a", "zz"] })
      assert.deepStrictEqual([workflows, leftOut(refused)], [0, ["zz", "a"]])
      assert.match(reasons(refused)[1] ?? "", /'送信': .*Nope/)
    }, world))
})

describe("settings of many workflows", () => {
  it.effect("that n8n cannot unset have its default after the undo, with a warning, and count as unset", () =>
    inMemory(function*(api) {
      const ids = ["a", "b"]
      const settings = { executionOrder: "v1", saveManualExecutions: false }
      const { plan } = yield* dryRun([{ op: "settings", settings }], { ids })
      yield* apply(plan)
      assert.deepStrictEqual(yield* settingsOf(api, "a"), settings)
      assert.deepStrictEqual((yield* restore(plan)).warnings, [
        "2 workflows: n8n cannot unset these settings; they have n8n's default value now: saveManualExecutions"
      ])
      assert.deepStrictEqual(yield* settingsOf(api, "a"), { executionOrder: "v0", saveManualExecutions: true })
      const order = { op: "settings", settings: { executionOrder: "v1" }, onlyWhereUnset: true }
      assert.strictEqual((yield* dryRun([order], { ids })).workflows, 2)
    }, world))
})

describe("the undo of a batch", () => {
  const pinned = (order: number) => [{ json: { order } }]
  const group = (id: string, ...nodeIds: ReadonlyArray<unknown>) => ({ id, name: id, nodeIds })
  const own = (api: N8nApi.N8nApi) =>
    Effect.map(stored(api, "b"), ({ nodeGroups, nodes, pinData }) => ({
      names: arr(nodes).map((each) => obj(each)?.["name"]),
      pinData,
      groups: nodeGroups
    }))
  const idOf = (api: N8nApi.N8nApi, name: string) =>
    Effect.map(stored(api, "b"), ({ nodes }) => obj(arr(nodes).find((each) => obj(each)?.["name"] === name))?.["id"])

  it.effect("brings back a removed node with its pinned data and its place in a group, and leaves other groups", () =>
    inMemory(function*(api) {
      yield* api.edit("b", (now) =>
        ({
          ...now,
          nodes: [...arr(now.nodes), post("Other", "https://o.example.com"), post("Third", "https://o.example.com")]
        }) as N8nApi.Workflow)
      const before = [group("alone", yield* idOf(api, "送信")), group("two", yield* idOf(api, "Other"))]
      yield* api.edit("b", (now) => ({ ...now, nodeGroups: before, pinData: { 送信: pinned(1) } }))
      const first = yield* own(api)
      const { plan } = yield* dryRun([{ op: "remove", node: "送信" }], { ids: ["b"] })
      yield* apply(plan)
      assert.deepStrictEqual((yield* own(api)).groups, before.slice(1))
      const theirs = group("theirs", yield* idOf(api, "Third"))
      yield* api.edit("b", (now) => ({ ...now, nodeGroups: [...arr(now["nodeGroups"]), theirs] }))
      assert.deepInclude(yield* restore(plan), { restored: 1 })
      const { groups, ...now } = yield* own(api)
      assert.deepStrictEqual(now, { names: first.names, pinData: first.pinData })
      assert.sameDeepMembers([...arr(groups)], [...before, theirs])
    }, world))
})

const langchain = "@n8n/n8n-nodes-langchain."

const asks = (id: string, more: Obj = {}) =>
  workflow(id, [
    node("Chat", `${langchain}chatTrigger`, 1.1, { options: {} }, { webhookId: `chat-${id}` }),
    node("花子", `${langchain}chainLlm`, 1.5, { promptType: "define", text: "={{ $json.chatInput }}" }),
    node(`Model ${id}`, `${langchain}lmChatOpenAi`, 1, { model: "gpt-4o", options: {} }),
    node("Moderate", "openAi", 1, { operation: "moderate", input: "x" })
  ], {
    name: `問 ${id}`,
    connections: joined(["Chat", "花子"], [`Model ${id}`, "花子", "ai_languageModel"], ["花子", "Moderate"]),
    ...more
  })

const versionsIn = (api: N8nApi.N8nApi, id: string) =>
  Effect.map(
    api.workflows,
    (all) => arr(all.find((each) => each.id === id)?.nodes).map((each) => obj(each)?.["typeVersion"])
  )

describe("an answer about many workflows", () => {
  const ids = Array.from("abcdefghijklmn", (letter) => `w${letter}`)
  const select = { ids, uses: "old.example.com" }

  it.effect("has all names for a program, few for a model, and names the call that returns all", () =>
    inMemory(function*() {
      // Each URL differs, so that each workflow has a change of its own.
      const operations = [replace, ...ids.map((id) => ({ ...replace, find: `com/${id}`, with: `org/${id}` }))] as never
      const { data } = yield* tools.bulkEdit.answer({ select, operations, dryRun: true })
      const shown = data.changes ?? []
      assert.strictEqual(shown.length, 12)
      assert.deepStrictEqual(shown[0]?.names.at(-1), "… [+9 more]")
      const next = `bulk_edit(plan: '${data.plan}', dryRun: true, raw: true)`
      assert.deepInclude([obj(data)?.["_truncated"]].flat(), { path: "changes", kept: 12, total: 15, next })
      const whole = yield* tools.bulkEdit.answer({ plan: data.plan ?? "", dryRun: true, raw: true })
      assert.deepStrictEqual(whole.data.changes?.length, 15)
      assert.deepStrictEqual(whole.data.changes?.[0]?.names, ids.map((id) => `注文 ${id}`))
      assert.deepStrictEqual(whole.data.changes, (yield* dryRun(operations, select, { raw: true })).changes)
      assert.match(whole.data.changes?.[0]?.values?.[0] ?? "", /^14 × .*: '注文 wa: 送信', /)
    }, { seed: seed(ids.map((id) => orders(id))) }))
})

describe("an upgrade of many workflows", () => {
  const asking = seed([asks("a", { active: true }), asks("b"), asks("c"), orders("d")])
  const all = { ids: ["a", "b", "c"] }

  it.effect("groups changes by versions and what is left by decision, and is taken back", () =>
    inMemory(function*(api) {
      const { changes, left, plan, workflows } = yield* dryRun([{ op: "upgrade" }], all)
      assert.strictEqual(workflows, 3)
      const names = ["問 a", "問 b", "問 c"]
      assert.deepStrictEqual(
        changes?.map(({ change, names, nodes, values = [] }) => [change, nodes, names, values]),
        [
          ["chatTrigger 1.1 → 1.5", 3, names, []],
          ["chainLlm 1.5 → 1.9", 3, names, ["3 × batching: none → {\"batchSize\":1}"]],
          ["lmChatOpenAi 1 → 1.3", 3, names, [
            "3 × model: \"gpt-4o\" → {\"__rl\":true,\"mode\":\"id\",\"value\":\"gpt-4o\"}",
            "3 × responsesApiEnabled: none → false"
          ]]
        ]
      )
      assert.deepStrictEqual(arr(left).map((each) => obj(each)?.["type"]), ["openAi"])
      assert.deepInclude(obj(arr(left)[0]), {
        nodes: 3,
        workflows: 3,
        names: names.map((name) => `${name}: Moderate`)
      })
      assert.deepStrictEqual(yield* versionsIn(api, "a"), [1.1, 1.5, 1, 1])
      assert.deepInclude(yield* apply(plan), { done: 3 })
      assert.deepStrictEqual(yield* versionsIn(api, "a"), [1.5, 1.9, 1.3, 1])
      const again = yield* dryRun([{ op: "upgrade" }], all)
      assert.deepInclude(again, { workflows: 0, unchanged: 3, left: left ?? [] })
      assert.include(again.hint, "see left")
      assert.deepInclude(yield* restore(plan), { restored: 3 })
      assert.deepStrictEqual(yield* versionsIn(api, "a"), [1.1, 1.5, 1, 1])
    }, { seed: asking }))
})

describe("a batch that ends early", () => {
  it.effect("because n8n fails stops, and is continued", () => {
    let isDown = true
    const before = ({ method }: N8nApi.RecordedRequest) =>
      Effect.sync(() => isDown && method === "PUT" ? new Response("down", { status: 503 }) : undefined)
    return inMemory(function*(api) {
      const { plan } = yield* dryRun([replace])
      const cut = yield* apply(plan)
      assert.deepInclude(cut, { notDone: 4, hint: `bulk_edit(plan: '${plan}') continues.` })
      assert.isDefined(cut.stopped)
      isDown = false
      assert.deepInclude(yield* apply(plan), { done: 4 })
      assert.deepStrictEqual(yield* urls(api), after)
    }, { ...world, before })
  })
})
