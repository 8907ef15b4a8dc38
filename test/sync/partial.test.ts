/** Syncs that end before they are done: at the deadline of their call, or interrupted anywhere. */
import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, describe, it } from "@effect/vitest"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import { CallContext } from "../../src/base/CallContext.ts"
import * as Deadline from "../../src/base/Deadline.ts"
import { arr, obj } from "../../src/base/Json.ts"
import * as Sync from "../../src/sync/Sync.ts"
import * as tools from "../../src/tools/index.ts"
import * as WorkflowFiles from "../../src/workflows/files/WorkflowFiles.ts"
import { withFileSystem } from "../support/folders.ts"
import { random as seeded } from "../support/random.ts"
import { seed } from "../support/seed.ts"
import * as TestTime from "../support/TestTime.ts"
import { inWorld } from "../support/world.ts"
import { body, contents, edit, slow } from "./workflows.ts"

/** Workflows whose names are the same in part, as those of files. */
const seedOf = (count: number) => ({
  workflows: Array.from({ length: count }, (_, at) => {
    const name = at % 10 === 0 ? ["Orders", "orders", "請求書"][at % 3] ?? "" : `w${at}`
    return { ...body(name, String(at)), id: `id${String(at).padStart(4, "0")}`, name, description: `about ${at}` }
  }),
  executions: []
})

const isRead = ({ method, url }: { readonly method: string; readonly url: string }) =>
  method === "GET" && /\/workflows\/\w/.test(url)

const statuses = ({ counts }: Sync.Report) => Object.keys(counts)

describe("at the deadline of its call", () => {
  let reads = 0
  let isDue = false
  const deadline: Deadline.Deadline = { until: Infinity, waitingFor: undefined }
  /** A call whose time is up after so many workflows. */
  const within = (most: number) => <A, E, R>(call: Effect.Effect<A, E, R>) =>
    Effect.suspend(() => {
      deadline.until = 60_000
      isDue = true
      reads = -most
      return Effect.ensuring(call, Effect.sync(() => isDue = false))
    }).pipe(Effect.provideService(Deadline.Current, deadline))
  const world = {
    seed: seedOf(60),
    before: (request: Parameters<typeof isRead>[0]) =>
      Effect.sync(() => {
        if (isDue && isRead(request) && ++reads >= 0) deadline.until = 0
      })
  }

  it.effect("a pull says what remains, and the next calls do only that and lose no local change", () =>
    inWorld(function*({ api, folder }) {
      const count = api.requests.pipe(Effect.map((all) => all.filter(isRead).length))
      const edited = `${folder}/flows/w1.json`
      // A call that is late from the start does a little anyway.
      let before = (yield* within(0)(tools.syncPull.call({ folder: "flows" }))).remaining ?? 0
      assert.strictEqual(before, 52)
      for (let calls = 0; before > 0; calls++) {
        assert.isBelow(calls, 8)
        const { counts, hint, remaining = 0 } = yield* within(18)(tools.syncPull.call({ folder: "flows" }))
        assert.isBelow(remaining, before)
        assert.strictEqual(Object.values(counts).reduce((sum, each) => sum + each, 0) + remaining, 60)
        if (remaining > 0) assert.include(hint, "call again")
        if (calls === 0) yield* edit(`${folder}/flows/orders.json`, "value: ", "value: 1000 + ")
        before = remaining
      }
      assert.strictEqual(yield* count, 60)
      const mine = yield* contents(`${folder}/flows`)
      assert.include(mine["orders.json"], "value: 1000 + ")
      yield* Sync.pull("whole")
      const { "orders.json": _, ...others } = mine
      const { "orders.json": __, ...whole } = yield* contents(`${folder}/whole`)
      assert.deepStrictEqual(others, whole)
      assert.include(whole["w1.json"], "about 1")
      assert.deepStrictEqual((yield* Sync.status("flows")).counts, { same: 59, "changed here": 1 })
      yield* edit(edited, "about 1", "about 2")
      assert.deepStrictEqual((yield* Sync.status("flows")).counts, { same: 58, "changed here": 2 })
    }, world))

  it.effect("a status continues with the next call, and both go on for a caller that receives progress", () =>
    inWorld(function*({ api, folder }) {
      const reports: Array<readonly [number, number | undefined]> = []
      const hearing = Effect.provideService(CallContext, {
        hearsProgress: true,
        progress: (done, total) => Effect.sync(() => void reports.push([done, total])),
        confirm: () => Effect.succeed("unasked")
      })
      const all = yield* within(18)(hearing(tools.syncPull.call({})))
      assert.deepStrictEqual([all.remaining, all.counts], [undefined, { created: 60 }])
      assert.deepStrictEqual(reports, Array.from({ length: 60 }, (_, at) => [at + 1, 60] as const))
      yield* edit(`${folder}/.n8n-sync.json`, "\"workflows\": {", "\"workflows\": {}, \"rest\": {")
      const files = yield* contents(folder)
      const count = (yield* api.requests).filter(isRead).length
      const remains: Array<number> = []
      for (let left = 60; left > 0;) {
        const { remaining = 0 } = yield* within(18)(tools.syncStatus.call({}))
        assert.isBelow(remaining, left)
        remains.push(left = remaining)
      }
      assert.isAbove(remains.length, 2)
      assert.strictEqual((yield* api.requests).filter(isRead).length, count + 60)
      assert.deepStrictEqual(yield* contents(folder), files)
      assert.deepStrictEqual((yield* Sync.status(".")).counts, { same: 60 })
    }, world))

  it.effect("a status asks for no workflow that is only on n8n", () =>
    inWorld(function*({ api }) {
      assert.deepStrictEqual((yield* Sync.status(".")).counts, { "new there": 60 })
      assert.isFalse((yield* api.requests).some(isRead))
    }, world))
})

describe("on an n8n that is slow to write", () => {
  const names = Array.from({ length: 36 }, (_, at) => `w${String(at).padStart(2, "0")}`)
  /** Files with ids of nodes and, as written by hand, without. */
  const files = (folder: string, all = names) =>
    FileSystem.FileSystem.use((fs) =>
      Effect.forEach(all, (name, at) => {
        const workflow = body(name)
        const nodes = arr(workflow["nodes"]).map((node) => ({ ...obj(node), ...at % 2 === 0 ? { id: undefined } : {} }))
        const text = JSON.stringify({ ...workflow, nodes, description: `about ${name}` })
        return fs.writeFileString(`${folder}/${name}.json`, text)
      })
    )
  const call = TestTime.run(Deadline.bounded(tools.syncPush.call({}), true))

  for (
    const [title, count, millis] of [
      ["3 s a write", 24, () => 3_000],
      ["4 s a write", 36, () => 4_000],
      // The time is up during a write, whose answer is lost.
      ["a write that takes longer than all before", 24, (nth: number) => nth % 7 === 6 ? 21_000 : 3_000]
    ] as const
  ) {
    it.effect(`a push stops in time, says what remains, and creates each workflow once: ${title}`, () => {
      let nth = 0
      return inWorld(function*({ api, folder }) {
        const all = names.slice(0, count)
        yield* files(folder, all)
        let [calls, left] = [0, count]
        for (; left > 0; calls++) {
          const { exit, seconds } = yield* TestTime.measure(Deadline.bounded(tools.syncPush.call({}), true))
          assert.isBelow(seconds, 49)
          const { hint = "", remaining = 0, ...groups } = yield* exit
          const { created = [], failed = [], same = [] } = groups
          assert.strictEqual(created.length + failed.length + same.length + remaining, count)
          assert.isBelow(remaining + failed.length, left)
          if (remaining > 0) assert.include(hint, "call again")
          left = remaining + failed.length
        }
        assert.isAbove(calls, 1)
        assert.deepStrictEqual((yield* api.workflows).map(({ name }) => name).toSorted(), all)
        assert.deepStrictEqual((yield* Sync.status(".")).counts, { same: count })
      }, { through: slow(({ method }) => method === "POST" ? millis(nth++) : 0) })
    })
  }

  it.effect("a push finds what arrives after the call that gave up waiting for it", () => {
    let isStuck = false
    return inWorld(function*({ api, folder }) {
      yield* files(folder)
      isStuck = true
      const first = yield* call
      assert.strictEqual(first.remaining, names.length - 1)
      assert.match(first.failed?.[0]?.detail ?? "", /no answer .* within 30 s/)
      assert.deepStrictEqual(yield* api.workflows, [])
      const second = yield* call
      assert.deepStrictEqual(second.created, names)
      assert.deepStrictEqual((yield* api.workflows).map(({ name }) => name).toSorted(), names)
      assert.deepStrictEqual((yield* Sync.status(".")).counts, { same: names.length })
    }, {
      through: slow(({ method }) => {
        if (method !== "POST" || !isStuck) return 0
        isStuck = false
        // It is given up after 30 s.
        return 33_000
      })
    })
  })
})

describe("interrupted anywhere", () => {
  let events = Infinity
  let stop = Deferred.makeUnsafe<void>()
  const event = Effect.suspend(() => --events === 0 ? Deferred.succeed(stop, undefined) : Effect.void)
  const watched = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
    effect.pipe(
      withFileSystem((fs): Partial<FileSystem.FileSystem> => ({
        link: (from, to) => Effect.andThen(event, Effect.tap(fs.link(from, to), () => event)),
        rename: (from, to) => Effect.andThen(event, Effect.tap(fs.rename(from, to), () => event))
      })),
      Effect.provide(NodeServices.layer)
    )

  it.live("a pull leaves a state that the files confirm, and the next one ends as one that was not interrupted", () =>
    inWorld(function*({ api, folder }) {
      const random = seeded(seed(3))
      let pulls = 0
      const pull = Effect.suspend(() => {
        // Each of 60 workflows is read and put in place, which is three events: four short pulls never are enough.
        events = 1 + random(pulls++ < 4 ? 44 : 80)
        stop = Deferred.makeUnsafe()
        return Effect.raceFirst(
          Effect.map(Sync.pull("flows"), ({ isSame }) => isSame),
          Effect.as(Deferred.await(stop), false)
        )
      }).pipe(Effect.provide(WorkflowFiles.layer({ roots: [folder] })), watched)
      const finish = Effect.fnUntraced(function*() {
        for (let interrupted = 0;; interrupted++) {
          if (yield* pull) return interrupted
          const report = yield* Sync.status("flows")
          assert.includeMembers(["same", "new there", "changed there"], statuses(report), JSON.stringify(report.counts))
        }
      })
      assert.isAbove(yield* finish(), 3)
      yield* Sync.pull("whole")
      assert.deepStrictEqual(yield* contents(`${folder}/flows`), yield* contents(`${folder}/whole`))
      const { workflows } = seedOf(60)
      yield* Effect.forEach(
        workflows.slice(20, 40),
        ({ id }) => api.edit(id, (workflow) => ({ ...workflow, ...body(workflow.name, "there") }))
      )
      yield* edit(`${folder}/flows/w1.json`, "value: ", "value: 1000 + ")
      for (let round = 0; round < 3; round++) yield* pull
      yield* Sync.pull("flows")
      yield* Sync.pull("whole")
      const { "w1.json": mine, ...others } = yield* contents(`${folder}/flows`)
      const { "w1.json": _, ...whole } = yield* contents(`${folder}/whole`)
      assert.include(mine, "value: 1000 + ")
      assert.deepStrictEqual(others, whole)
    }, { seed: seedOf(60), before: (request) => isRead(request) ? Effect.asVoid(event) : Effect.void }))
})
