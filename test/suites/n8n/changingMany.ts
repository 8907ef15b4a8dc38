/** Changes of many workflows on a real n8n: what runs afterwards is seen by a server that the workflows call. */
import { assert, type Vitest } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as FetchHttpClient from "effect/http/FetchHttpClient"
import * as Layer from "effect/Layer"
import type * as Services from "../../../src/app/Services.ts"
import { arr, type Obj, obj } from "../../../src/base/Json.ts"
import * as JsonPath from "../../../src/base/JsonPath.ts"
import * as N8nClient from "../../../src/n8n/N8nClient.ts"
import * as tools from "../../../src/tools/index.ts"
import { leftOut } from "../../support/batches.ts"
import { node } from "../../support/workflows.ts"
import { balance } from "./balancer.ts"
import { chain, made, webhook } from "./builders.ts"
import * as elsewhere from "./elsewhere.ts"
import { RealN8n } from "./RealN8n.ts"
import * as Recorder from "./Recorder.ts"
import * as scenarios from "./scenarios.ts"

type It = Vitest.MethodsNonLive<RealN8n | N8nClient.N8nClient | Services.Services>

const posting = (url: string) => node("注文を送る", "httpRequest", 4.2, { method: "POST", url, options: {} })

/** Workflows whose webhook calls `<server>/old/<number>`; the first ones are published. */
const several = Effect.fnUntraced(function*(count: number, more: Obj = {}, published = 3) {
  const recorder = yield* Recorder.make
  const tag = crypto.randomUUID().slice(0, 8)
  const all = yield* Effect.forEach(
    Array.from({ length: count }, (_, index) => index),
    (index) =>
      Effect.gen(function*() {
        const path = `many-${tag}-${index}`
        const name = `一括 ${tag} ${index}`
        const id = yield* made(
          name,
          [webhook(path), posting(`${recorder.url}/old/${index}`)],
          chain("Orders", "注文を送る"),
          more
        )
        if (index < published) yield* scenarios.publish(id)
        return { id, path }
      })
  )
  return { recorder, tag, all, ids: all.map(({ id }) => id) }
})

const id8 = () => crypto.randomUUID().slice(0, 8)

const dryRun = (select: Obj, operations: ReadonlyArray<Obj>, more: Obj = {}) =>
  tools.bulkEdit.call({ select, operations: operations as never, dryRun: true, ...more })

const apply = (plan = "") => tools.bulkEdit.call({ plan })

const restore = (batch = "") => tools.workflowRestore.call({ batch })

/** Runs a published workflow, and returns the path that it called. */
const called = Effect.fnUntraced(
  function*({ id, path }: { readonly id: string; readonly path: string }, recorder: Recorder.Recorder) {
    const before = recorder.lines().length
    const after = yield* scenarios.newestExecution()
    yield* scenarios.callWebhook(path, { body: {} })
    yield* scenarios.awaitExecution(id, after)
    return recorder.lines().slice(before).map((line) => line.replace(/^.*?(\/\w+\/\d+).*/, "$1"))
  }
)

/** State of a workflow on n8n: published, with a draft, its settings, and the requests' address. */
const stateOf = (id: string) =>
  Effect.map(scenarios.fetchJson(`workflows/${id}`), (workflow) => {
    const { active, activeVersion, nodes, settings } = obj(workflow) ?? {}
    const urlIn = (nodes: unknown) =>
      String(obj(obj(arr(nodes)[1])?.["parameters"])?.["url"]).replace(/.*?(old|new|draft).*/, "$1")
    const running = obj(activeVersion)?.["nodes"]
    return {
      active,
      url: urlIn(nodes),
      runs: active !== true ? undefined : running === undefined || running === null ? urlIn(nodes) : urlIn(running),
      settings: obj(settings) ?? {}
    }
  })

const replace = (recorder: Recorder.Recorder) => ({
  op: "replace",
  find: `${recorder.url}/old`,
  with: `${recorder.url}/new`
})

/** Adds the tests of changes of many workflows to a suite. */
export const changingMany = (it: It, v2: boolean) => {
  it.effect("a path of a problem leads to that value on n8n, whatever its keys", () =>
    Effect.gen(function*() {
      const keys = ["注文 番号", "a.b[0]", `say "hi"`, "12", "", "parameters"]
      const inside = keys.map((key, index) => [key, { index, bad: "={{ 1 + }}" }] as const)
      const own = { ...node("Own", "set", 3.4, Object.fromEntries(inside)), type: "n8n-nodes-own.thing" }
      const id = yield* made(`Paths ${id8()}`, [webhook(`paths-${id8()}`), own], [])
      const stored = Effect.map(scenarios.fetchJson(`workflows/${id}`), (workflow) => obj(workflow)?.["nodes"])

      const { problems } = yield* tools.validateWorkflow.call({ workflowId: id })
      const bad = problems.filter(({ message }) => message.includes("does not parse"))
      assert.lengthOf(bad, keys.length)
      yield* tools.workflowEdit.call({
        workflowId: id,
        operations: bad.map(({ node = "", path }) => ({ op: "replace", node, path, find: "1 +", with: "2" })) as never
      })
      const fixed = JsonPath.strings(yield* stored).filter(([, text]) => text === "={{ 2 }}")
      assert.deepStrictEqual(
        fixed.map(([path]) => JsonPath.print(["nodes", ...path])).toSorted(),
        bad.map(({ path }) => path).toSorted()
      )
    }))

  it.effect("change of many: what is published runs with it, nothing else is published, and it is taken back", () =>
    Effect.gen(function*() {
      const { all, ids, recorder, tag } = yield* several(6)
      const [first, second, third, fourth] = all
      assert.ok(first !== undefined && second !== undefined && third !== undefined && fourth !== undefined)
      const before = yield* Effect.forEach(ids, stateOf)
      const { plan, published, workflows } = yield* dryRun({ name: tag }, [replace(recorder)])
      assert.deepStrictEqual([workflows, published], [6, 3])
      assert.deepStrictEqual(yield* Effect.forEach(ids, stateOf), before)
      assert.deepStrictEqual(yield* called(first, recorder), ["/old/0"])
      assert.deepInclude(yield* apply(plan), { done: 6 })
      const after = yield* Effect.forEach(ids, stateOf)
      assert.deepStrictEqual(after.map(({ active, runs, url }) => [active, url, runs]), [
        ...[1, 2, 3].map(() => [true, "new", "new"]),
        ...[4, 5, 6].map(() => [false, "new", undefined])
      ])
      for (const [index, each] of [first, second, third].entries()) {
        assert.deepStrictEqual(yield* called(each, recorder), [`/new/${index}`])
      }
      assert.deepInclude(yield* tools.bulkEdit.call({ plan: plan ?? "", dryRun: true }), { done: 6 })
      assert.deepInclude(yield* restore(plan), { restored: 6 })
      assert.deepStrictEqual(yield* Effect.forEach(ids, stateOf), before)
      assert.deepStrictEqual(yield* called(second, recorder), ["/old/1"])
    }).pipe(Effect.scoped))

  it.effect("change of many: someone's draft is not published, and later changes are not overwritten", () =>
    Effect.gen(function*() {
      const { all, ids, recorder, tag } = yield* several(4)
      const [first, second] = all
      assert.ok(first !== undefined && second !== undefined)
      const edited = Effect.fnUntraced(function*(id: string, draft: string) {
        const { nodes } = obj(yield* scenarios.fetchJson(`workflows/${id}`)) ?? {}
        yield* scenarios.edit(id, { nodes: arr(nodes).with(1, posting(`${recorder.url}/${draft}/x`)) })
      })
      if (v2) yield* edited(first.id, "draft")
      const { plan, refused = [] } = yield* dryRun({ name: tag }, [
        replace(recorder),
        { op: "settings", settings: { executionTimeout: 60 } }
      ])
      assert.deepStrictEqual(leftOut(refused), v2 ? [first.id] : [])
      yield* edited(ids[3] ?? "", "draft")
      const { refused: changed = [] } = yield* apply(plan)
      assert.deepStrictEqual(leftOut(changed), [ids[3] ?? ""])
      const states = yield* Effect.forEach(ids, stateOf)
      assert.deepStrictEqual(states.map(({ runs, url }) => [url, runs]), [
        v2 ? ["draft", "old"] : ["new", "new"],
        ["new", "new"],
        ["new", "new"],
        ["draft", undefined]
      ])
      yield* edited(second.id, "draft")
      const back = yield* restore(plan)
      assert.include(leftOut(back.refused), second.id)
      assert.strictEqual(back.restored, v2 ? 1 : 2)
      assert.deepStrictEqual((yield* stateOf(second.id)).url, "draft")
      const { runs, settings } = yield* stateOf(ids[2] ?? "")
      assert.deepStrictEqual([runs, settings["executionTimeout"] ?? -1], ["old", -1])
    }).pipe(Effect.scoped))

  it.effect("change of many: proven on recorded runs without sending, and published on request", () =>
    Effect.gen(function*() {
      const { all, ids, recorder, tag } = yield* several(5)
      const published = all.slice(0, 3)
      for (const each of [...published, ...published]) yield* called(each, recorder)
      const before = yield* Effect.forEach(ids, stateOf)
      // Without drafts, the change of what is published takes effect immediately.
      const { plan = "" } = yield* dryRun({ name: tag }, [replace(recorder)], v2 ? { publish: "draft" } : {})
      const written = yield* apply(plan)
      assert.deepStrictEqual(
        [written.done, written.drafts, written.published],
        v2 ? [5, 3, undefined] : [5, undefined, 3]
      )
      const sent = recorder.lines().length
      const { groups = [], notReplayed = [], ...proof } = yield* tools.workflowProve.call({ batch: plan, drill: false })
      assert.strictEqual(recorder.lines().length, sent)
      assert.deepInclude(proof, { workflows: 5, runs: 6, same: 0 })
      assert.lengthOf(groups, 1)
      assert.deepInclude(groups[0], { paths: ["sent.address"], nodes: ["注文を送る"], workflows: 3, runs: 6 })
      assert.deepStrictEqual(notReplayed.map((each) => obj(each)?.["workflows"]), [2])
      const runsOf = Effect.map(Effect.forEach(ids, stateOf), (all) => all.map(({ runs, url }) => [url, runs]))
      if (v2) {
        assert.deepStrictEqual((yield* runsOf).slice(0, 4), [...[1, 2, 3].map(() => ["new", "old"]), [
          "new",
          undefined
        ]])
        assert.deepInclude(yield* tools.bulkEdit.call({ plan, publish: "keep" }), { done: 5, published: 3 })
      }
      assert.deepStrictEqual((yield* runsOf).slice(0, 4), [...[1, 2, 3].map(() => ["new", "new"]), ["new", undefined]])
      for (const [index, each] of published.entries()) {
        assert.deepStrictEqual(yield* called(each, recorder), [`/new/${index}`])
      }
      assert.deepInclude(yield* restore(plan), { restored: 5 })
      assert.deepStrictEqual(yield* Effect.forEach(ids, stateOf), before)
      for (const [index, each] of published.entries()) {
        assert.deepStrictEqual(yield* called(each, recorder), [`/old/${index}`])
      }
    }).pipe(Effect.scoped))

  it.effect("change of many: error workflow, sub-workflow and drafts", () =>
    Effect.gen(function*() {
      const { ids, recorder, tag } = yield* several(3)
      const handler = yield* made(`Errors ${tag}`, [node("Error", "errorTrigger")], [])
      const target = (name: string) =>
        made(name, [node("In", "executeWorkflowTrigger", 1.1, { inputSource: "passthrough" })], [])
      const [from, to] = [yield* target(`From ${tag}`), yield* target(`To ${tag}`)]
      if (v2) yield* Effect.forEach([from, to], scenarios.publish)
      const caller = yield* made(`Caller ${tag}`, [
        node("T", "manualTrigger"),
        node("Call", "executeWorkflow", 1.2, {
          workflowId: { __rl: true, mode: "list", value: from, cachedResultName: `From ${tag}` },
          options: {}
        })
      ], chain("T", "Call"))
      const unset = yield* dryRun({ ids }, [
        { op: "settings", settings: { errorWorkflow: `Errors ${tag}` }, onlyWhereUnset: true }
      ])
      assert.deepInclude(yield* apply(unset.plan), { done: 3 })
      const handlers = Effect.map(Effect.forEach(ids, stateOf), (all) =>
        all.map(({ settings }) => settings["errorWorkflow"]))
      assert.deepStrictEqual(yield* handlers, [handler, handler, handler])
      const calls = yield* dryRun({ uses: from }, [{ op: "calls", from: `From ${tag}`, to: `To ${tag}` }])
      assert.deepInclude(yield* apply(calls.plan), { done: 1 })
      const { nodes } = obj(yield* scenarios.fetchJson(`workflows/${caller}`)) ?? {}
      const { cachedResultName, value } = obj(obj(obj(arr(nodes)[1])?.["parameters"])?.["workflowId"]) ?? {}
      assert.deepStrictEqual([value, cachedResultName], [to, `To ${tag}`])
      assert.deepInclude(yield* restore(unset.plan), { restored: 3 })
      assert.isTrue((yield* handlers).every((id) =>
        id === undefined || id === ""
      ))
      const drafts = yield* dryRun({ ids }, [replace(recorder)], { publish: "draft" })
      if (!v2) return assert.deepStrictEqual([drafts.workflows, leftOut(drafts.refused).length], [0, 3])
      assert.deepInclude(yield* apply(drafts.plan), { done: 3 })
      assert.deepStrictEqual(yield* stateOf(ids[0] ?? ""), { ...yield* stateOf(ids[0] ?? ""), url: "new", runs: "old" })
      assert.deepInclude(yield* restore(drafts.plan), { restored: 3 })
      assert.deepInclude(yield* stateOf(ids[0] ?? ""), { url: "old", runs: "old", active: true })
    }).pipe(Effect.scoped))

  it.effect("undo of a batch: settings get the value that means unset, also without a draft", () =>
    Effect.gen(function*() {
      const { ids, recorder } = yield* several(2, { settings: {} })
      const settingsOf = (id = "") => Effect.map(stateOf(id), ({ settings }) => settings)
      const settings: Obj = {
        callerPolicy: "any",
        availableInMCP: true,
        executionOrder: "v1",
        executionTimeout: 77,
        timezone: "Asia/Tokyo",
        timeSavedPerExecution: 5,
        ...(v2 ? { timeSavedMode: "dynamic", customTelemetryTags: [{ key: "a", value: "b" }] } : {})
      }
      const off: Obj = {
        callerPolicy: "workflowsFromSameOwner",
        availableInMCP: false,
        executionOrder: "v0",
        timeSavedPerExecution: 0,
        ...(v2 ? { timeSavedMode: "fixed", customTelemetryTags: [] } : {})
      }
      const before = yield* Effect.forEach(ids, stateOf)
      // Drafts on 2.x, of which 1.x has none.
      const more = v2 ? { publish: "draft" } : {}
      const alone = yield* dryRun({ ids: [ids[0]] }, [{ op: "settings", settings }], more)
      const both = yield* dryRun({ ids: [ids[1]] }, [{ op: "settings", settings }, replace(recorder)], more)
      for (const { plan } of [alone, both]) assert.deepInclude(yield* apply(plan), { done: 1 })
      for (const id of ids) assert.deepInclude(yield* settingsOf(id), settings)
      for (const [index, { plan }] of [alone, both].entries()) {
        const { refused, restored, warnings } = yield* restore(plan)
        assert.deepStrictEqual([restored, refused, warnings], [1, undefined, undefined])
        assert.deepStrictEqual(yield* stateOf(ids[index] ?? ""), { ...before[index], settings: off } as never)
      }
    }).pipe(Effect.scoped))

  it.effect("undo of a batch: pinned data, groups and settings of others stay", () =>
    Effect.gen(function*() {
      const { ids } = yield* several(2)
      const [renamed = "", noted = ""] = ids
      const read = (id: string) => Effect.map(scenarios.fetchJson(`workflows/${id}`), (workflow) => obj(workflow) ?? {})
      const pin = (value: number) => [{ json: { value } }]
      yield* scenarios.edit(renamed, { pinData: { 注文を送る: pin(1) } })
      const rename = yield* dryRun({ ids: [renamed] }, [{ op: "rename", node: "注文を送る", to: "Send" }])
      const notes = yield* dryRun({ ids: [noted] }, [{ op: "update", node: "注文を送る", notes: "x" }])
      for (const { plan } of [rename, notes]) assert.deepInclude(yield* apply(plan), { done: 1 })
      const { pinData } = yield* read(renamed)
      yield* scenarios.edit(renamed, { pinData: { ...obj(pinData), Orders: pin(2) } })
      const { nodes, settings } = yield* read(noted)
      yield* scenarios.edit(noted, { settings: { ...obj(settings), callerPolicy: "none" } })
      const theirs = [{ id: "theirs", name: "Theirs", nodeIds: [obj(arr(nodes)[1])?.["id"]] }]
      if (v2) {
        yield* scenarios.edit(noted, { nodes, connections: (yield* read(noted))["connections"], nodeGroups: theirs })
      }
      for (const { plan } of [rename, notes]) {
        assert.deepInclude(yield* restore(plan), { restored: 1 })
      }
      const [now, other] = [yield* read(renamed), yield* read(noted)]
      assert.strictEqual(obj(arr(now["nodes"])[1])?.["name"], "注文を送る")
      assert.deepStrictEqual(now["pinData"], { 注文を送る: pin(1), Orders: pin(2) })
      assert.deepInclude(other["settings"], { callerPolicy: "none" })
      if (v2) assert.deepStrictEqual(other["nodeGroups"], theirs)
      assert.notProperty(arr(other["nodes"])[1], "notes")
    }).pipe(Effect.scoped))

  it.effect(
    "change of many behind a proxy without webhooks: all is live soon, by one request for a webhook",
    () =>
      Effect.gen(function*() {
        const { apiKey, url } = yield* RealN8n
        if (url.protocol !== "http:") return elsewhere.skip("a proxy in front of it would need its certificate")
        const count = 12
        const { ids, tag } = yield* several(count, {}, count)
        let asked = 0
        const address = yield* balance([Number(url.port)], {
          host: url.hostname,
          isRefused: ({ method, url = "" }) => {
            if (method === "OPTIONS") asked++
            return /^.(webhook|form)/.test(url)
          }
        })
        const behind = N8nClient.layer({ url: new URL(address), apiKey }).pipe(Layer.provide(FetchHttpClient.layer))
        const [plan, done, undone] = yield* Effect.gen(function*() {
          const { plan = "" } = yield* dryRun({ name: tag }, [{ op: "replace", find: "/old/", with: "/new/" }])
          const { data } = yield* tools.bulkEdit.answer({ plan })
          const running = (yield* Effect.forEach(ids, stateOf)).map(({ runs }) => runs)
          assert.deepStrictEqual(new Set(running), new Set(["new"]))
          return [plan, data, (yield* tools.workflowRestore.answer({ batch: plan })).data] as const
        }).pipe(Effect.provide(behind))
        assert.deepInclude(done, { plan, done: count, published: count })
        // n8n 1 publishes with the change itself, at once.
        assert.strictEqual(
          done.warnings?.join().startsWith("12 workflows: published; n8n does not answer for webhooks"),
          v2 || undefined
        )
        assert.deepInclude(undone, { restored: count })
        assert.deepStrictEqual(new Set((yield* Effect.forEach(ids, stateOf)).map(({ runs }) => runs)), new Set(["old"]))
        assert.strictEqual(asked, v2 ? 1 : 0)
      }).pipe(Effect.scoped),
    { timeout: 120_000 }
  )
}
