import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import type * as Scope from "effect/Scope"
import { arr, obj } from "../../src/base/Json.ts"
import * as N8nClient from "../../src/n8n/N8nClient.ts"
import * as Sync from "../../src/sync/Sync.ts"
import type * as N8nApi from "../../src/testing/n8nApi/N8nApi.ts"
import { Snapshots } from "../../src/workflows/store/Snapshots.ts"
import * as TestTime from "../support/TestTime.ts"
import { node } from "../support/workflows.ts"
import { inWorld, type Needs } from "../support/world.ts"
import {
  byName,
  call,
  charge,
  locator,
  makeTarget,
  names,
  nodeOf,
  outcomes,
  parameterOf,
  production,
  store,
  type TargetOptions,
  trigger,
  workflow,
  writes
} from "./promotion.ts"
import { contents, edit, put, slow } from "./workflows.ts"

const charging = charge({ httpHeaderAuth: { id: "dev-header", name: "Header" } })

const seed = {
  executions: [],
  workflows: [
    workflow("main", "Main", [trigger, call("sub", "Sub"), charging, store], {
      settings: { executionOrder: "v1", errorWorkflow: "alarm" },
      tags: [{ name: "prod" }]
    }),
    workflow("sub", "Sub", [trigger, call("main", "Main")], { connections: {} }),
    workflow("alarm", "Alarm", [trigger], { connections: {}, settings: { errorWorkflow: "alarm" } }),
    workflow("old", "Old", [trigger], { connections: {}, isArchived: true })
  ],
  credentials: [
    { id: "dev-stripe", name: "Stripe", type: "stripeApi" },
    { id: "dev-header", name: "Header", type: "httpHeaderAuth" }
  ],
  dataTables: [{ id: "dev-table", name: "Orders", columns: [{ name: "n", type: "number" }] }]
} as N8nApi.Seed

const bindings = { credentials: { Header: "prod-header" } }

const missing = node("Odd", "httpRequest", 4.2, {}, { credentials: { oddApi: { id: "x", name: "Nowhere" } } })

/** Files of a folder that belongs to an n8n which is not there. */
const files = {
  "main.json": workflow("m", "Main", [trigger, call("s", "Sub"), charge(), store], {
    settings: { errorWorkflow: "a" }
  }),
  "sub.json": workflow("s", "Sub", [trigger, call("m", "Main")]),
  "alarm.json": workflow("a", "Alarm", [trigger]),
  "bad/odd.json": workflow("o", "Odd", [trigger, missing]),
  "bad/caller.json": workflow("c", "Caller", [trigger, call("o", "Odd")]),
  "bad/top.json": workflow("t", "Top", [trigger, call("c", "Caller")])
}

const record = (host: string) => `{"version":1,"host":"http://${host}","workflows":{}}`

interface Here {
  /** The folder with the record of promotions. */
  readonly folder: string
  readonly from: N8nClient.Service
  readonly to: N8nClient.Service
  readonly target: N8nApi.N8nApi
  readonly promote: (options?: Partial<Sync.PromoteOptions>) => ReturnType<typeof Sync.promote<never>>
}

type Possible = Needs | FileSystem.FileSystem | Scope.Scope

/** Promotes from one n8n, or from files, to another; waiting takes no time. */
const promoting = (isFolder: boolean) =>
<A>(
  use: (here: Here) => Generator<Effect.Effect<unknown, unknown, Possible>, A, never>,
  options: TargetOptions = {}
) =>
  inWorld(function*({ folder }) {
    if (isFolder) {
      yield* FileSystem.FileSystem.use((fs) => fs.makeDirectory(`${folder}/bad`))
      for (const [name, value] of Object.entries(files)) {
        yield* put(`${folder}/${name}`, JSON.stringify(value, null, 2))
      }
      yield* put(`${folder}/.n8n-sync.json`, record("dev.test"))
    }
    const from = yield* N8nClient.N8nClient
    const { target, to } = yield* makeTarget(options)
    const promote: Here["promote"] = (more = {}) =>
      Sync.promote(".", { to, ...isFolder ? { from: "folder" } : { from, bindings }, ...more })
    return yield* TestTime.run(Effect.gen(() => use({ folder, from, promote, target, to })))
  }, { seed })

const between = promoting(false)
const deploying = promoting(true)

describe("promote", () => {
  it.effect("creates workflows with the credentials, workflows and tables of the other n8n, and then updates them", () =>
    between(function*({ folder, from, promote, target, to }) {
      const planned = { Main: "created", Sub: "created", Alarm: "created" }
      assert.deepStrictEqual(outcomes(yield* promote({ dryRun: true })), planned)
      assert.strictEqual(yield* writes(target), 0)
      assert.deepStrictEqual(yield* FileSystem.FileSystem.use((fs) => fs.readDirectory(folder)), [])

      const report = yield* promote()
      assert.deepStrictEqual([report.obstacles, outcomes(report)], [[], planned])
      const { Alarm: alarm, Main: main, Sub: sub } = yield* byName(target)
      assert.deepStrictEqual(
        [parameterOf(main, "Call", "workflowId"), parameterOf(sub, "Call", "workflowId")],
        [locator(sub?.id ?? "", "Sub"), locator(main?.id ?? "", "Main")]
      )
      assert.deepStrictEqual(parameterOf(main, "Store", "dataTableId"), {
        __rl: true,
        mode: "list",
        value: "prod-table",
        cachedResultName: "Orders"
      })
      for (const each of [main, alarm]) assert.strictEqual(obj(each?.["settings"])?.["errorWorkflow"], alarm?.id)
      assert.deepStrictEqual(main?.tags?.map(({ name }) => name), ["prod"])
      assert.deepStrictEqual(nodeOf(main, "Charge")["credentials"], {
        stripeApi: { id: "prod-stripe", name: "Stripe" },
        httpHeaderAuth: { id: "prod-header", name: "Header of production" }
      })
      assert.isTrue([main, sub, alarm].every((workflow) => workflow?.active === false))

      // Nothing changed, so nothing is written.
      const count = yield* writes(target)
      assert.deepStrictEqual(outcomes(yield* promote()), { Main: "same", Sub: "same", Alarm: "same" })
      assert.strictEqual(yield* writes(target), count)

      // Renamed and changed there: it is the same workflow here.
      const { nodes } = yield* from.getWorkflow("sub")
      const changed = { name: "Sub 2", nodes: [...nodes, node("End", "noOp")], connections: {}, settings: {} }
      yield* from.putWorkflow("sub", changed)
      const second = yield* promote({ publishes: false })
      assert.deepStrictEqual(outcomes(second), { Alarm: "same", Main: "same", "Sub 2": "updated" })
      const renamed = (yield* byName(target))["Sub 2"]
      assert.deepStrictEqual([renamed?.id, arr(renamed?.nodes).length], [sub?.id, 3])
      const live = yield* promote({ publishes: true })
      assert.deepStrictEqual(live.entries.map(({ published }) => published), [true, true, true])
      const kept = yield* Snapshots.use(({ list }) => list(to.instance, sub?.id ?? ""))
      assert.strictEqual(kept[0]?.operation, "promote")
    }))

  it.effect("lists everything that cannot be resolved, and writes only what does not depend on it", () =>
    between(function*({ from, promote, target }) {
      const report = yield* promote({
        only: ["Main", "alarm"],
        bindings: { credentials: { "dev-stripe": "Strype" }, tables: { Orders: "nope" } }
      })
      assert.isTrue(report.hasErrors)
      const expected = [
        ["Call", "It refers to the workflow 'Sub', which is not on http://production.test/. Promote it too"],
        ["Charge", "'Stripe' (stripeApi) is bound to 'Strype', which http://production.test/ does not have"],
        ["Charge", "bind it to one of 'Header of production' (prod-header)"],
        ["Store", "'Orders' is bound to 'nope'"]
      ] as const
      assert.deepStrictEqual(report.obstacles.map(({ node }) => node), expected.map(([node]) => node))
      for (const [at, [, reason]] of expected.entries()) assert.include(report.obstacles[at]?.reason, reason)
      assert.deepStrictEqual(yield* names(target), ["Alarm"])
      assert.deepStrictEqual(outcomes(report), { Main: "blocked", Alarm: "created" })
      // Links are to the source; names may differ in case.
      const only = [`${from.instance.url}workflow/alarm`, "MAIN"]
      assert.deepStrictEqual(outcomes(yield* promote({ only, except: ["main"], dryRun: true })), { Alarm: "same" })
      for (
        const [wrong, message] of [
          ["Mian", "has no workflow 'Mian'"],
          ["http://production.test/workflow/alarm", "The link is to production.test"]
        ] as const
      ) assert.include((yield* Effect.flip(promote({ only: [wrong] }))).message, message)
    }))

  const [table] = production.dataTables ?? []
  const more = ["prod-table-2", "prod-stock"].map((id) => ({ name: "Orders", columns: [], ...table, id }))

  it.effect("chooses none of several tables of the same name, and lists those", () =>
    between(function*({ promote, target }) {
      const { obstacles } = yield* promote()
      const reasons = obstacles.filter(({ node }) => node !== undefined).map(({ node, reason }) => [node, reason])
      assert.deepStrictEqual(reasons, [[
        "Store",
        "The data table 'Orders': http://production.test/ has several of that name: 'Orders' (prod-table-2), 'Orders' (prod-table). Bind it to an id."
      ]])
      assert.notInclude(yield* names(target), "Main")
      const bound = { ...bindings, tables: { Orders: "prod-table-2" } }
      assert.isFalse((yield* promote({ bindings: bound })).hasErrors)
    }, {
      target: {
        ...production,
        dataTables: [
          ...production.dataTables ?? [],
          ...more.map((each, at) => at === 0 ? each : { ...each, name: "Stock" })
        ]
      }
    }))

  it.effect("never overwrites what merely has the same name, nor what changed there since", () =>
    between(function*({ promote, target, to }) {
      const only = ["alarm"]
      const first = yield* promote({ only })
      assert.match(first.obstacles[0]?.reason ?? "", /has a workflow of that name \(theirs\)/)
      const bound = { bindings: { workflows: { alarm: "theirs" } }, only }
      assert.deepStrictEqual(outcomes(yield* promote(bound)), { Alarm: "updated" })
      assert.deepStrictEqual((yield* target.workflows).map(({ id }) => id), ["theirs"])

      yield* target.edit("theirs", (workflow) => ({ ...workflow, name: "Alarm (hotfix)" }))
      const conflict = yield* promote({ only })
      assert.isTrue(conflict.hasConflicts)
      assert.deepStrictEqual(outcomes(conflict), { Alarm: "conflict" })
      assert.strictEqual((yield* to.getWorkflow("theirs")).name, "Alarm (hotfix)")
      assert.deepStrictEqual(outcomes(yield* promote({ only, overwrites: true })), { Alarm: "updated" })
      assert.strictEqual((yield* to.getWorkflow("theirs")).name, "Alarm")
    }, {
      target: {
        ...production,
        workflows: [workflow("theirs", "Alarm", [trigger], { settings: { timezone: "UTC" } })] as never
      }
    }))

  it.effect("without publication leaves what runs alone, and lists what it holds back", () =>
    between(function*({ from, promote, target, to }) {
      const only = ["alarm"]
      yield* promote({ only, publishes: true })
      const [{ id = "" } = {}] = yield* target.workflows
      const before = yield* to.getWorkflow(id)
      yield* from.putWorkflow("alarm", {
        name: "Alarm, renamed",
        nodes: [{ ...trigger, notes: "new" }],
        connections: {},
        settings: { timezone: "Asia/Tokyo" }
      })
      const lines = ["name: \"Alarm\" → \"Alarm, renamed\"", "settings.timezone: none → \"Asia/Tokyo\""]
      for (const dryRun of [true, false]) {
        const { entries: [entry] } = yield* promote({ only, dryRun })
        assert.deepInclude(entry, { action: "updated", published: false, held: lines })
      }
      const draft = yield* to.getWorkflow(id)
      for (const key of ["activeVersionId", "name", "settings"] as const) {
        assert.deepStrictEqual(draft[key], before[key])
      }
      assert.strictEqual(draft.nodes[0]?.["notes"], "new")

      const { entries: [published] } = yield* promote({ only, publishes: true })
      assert.deepInclude(published, { action: "updated", published: true })
      assert.notProperty(published, "held")
      const now = yield* to.getWorkflow(id)
      assert.deepStrictEqual([now.name, obj(now.settings)?.["timezone"]], ["Alarm, renamed", "Asia/Tokyo"])
      assert.strictEqual(now.activeVersionId, now.versionId)
    }))

  it.effect("stops at a write without an answer, and finds what arrives later", () => {
    let isStuck = true
    return between(function*({ folder, promote, target }) {
      const first = yield* promote()
      assert.deepStrictEqual([first.hasErrors, first.remaining], [true, 2])
      assert.deepStrictEqual(yield* names(target), [])
      const second = yield* promote()
      assert.deepStrictEqual(outcomes(second), { Main: "created", Sub: "created", Alarm: "created" })
      assert.deepStrictEqual(yield* names(target), ["Alarm", "Main", "Sub"])
      assert.deepStrictEqual(outcomes(yield* promote()), { Main: "same", Sub: "same", Alarm: "same" })
      yield* FileSystem.FileSystem.use((fs) => fs.writeFileString(`${folder}/.n8n-promotion.json`, "<<<<"))
      assert.include((yield* Effect.flip(promote())).message, "is not a record of promotions")
    }, {
      through: slow(({ method }) => {
        if (method !== "POST" || !isStuck) return 0
        isStuck = false
        // It is given up after 30 s.
        return 33_000
      })
    })
  })

  const used = { ...charge(), credentials: { stripeApi: { id: "used", name: "Stripe of production" } } }

  it.effect("promotes to n8n 1.x, whose credentials are known from its workflows, and reports what it refuses", () =>
    between(function*({ from, promote, target }) {
      const nodes = [trigger, charging]
      yield* from.putWorkflow("alarm", { name: "Alarm", nodes, connections: {}, settings: {}, description: "rings" })
      const blocked = yield* promote({ only: ["alarm"], bindings: {} })
      assert.match(blocked.obstacles[0]?.reason ?? "", /as far as its workflows show \(n8n 1\.x does not list/)
      const bound = { only: ["alarm"], bindings: { credentials: { Header: "believed", Stripe: "used" } } }
      const report = yield* promote(bound)
      assert.deepStrictEqual(outcomes(report), { Alarm: "created" })
      assert.include(JSON.stringify(report.entries[0]?.warnings), "does not support: description")
      assert.deepStrictEqual(outcomes(yield* promote(bound)), { Alarm: "same" })
      assert.deepStrictEqual(nodeOf((yield* byName(target))["Alarm"], "Charge")["credentials"], {
        stripeApi: { id: "used", name: "Stripe of production" },
        httpHeaderAuth: { id: "believed", name: "Header" }
      })
    }, { version: "1", target: { executions: [], workflows: [workflow("x", "Uses it", [used])] as never } }))
})

describe("promote from a folder", () => {
  it.effect("writes what the files say to an n8n that has none of it, and to the same workflows again", () =>
    deploying(function*({ folder, promote, target }) {
      const except = ["Odd", "c", "bad/top.json"]
      const created = { Alarm: "created", Main: "created", Sub: "created" }
      const report = yield* promote({ except })
      assert.deepStrictEqual([report.hasErrors, outcomes(report)], [false, created])
      const { Main: made, Sub: sub } = yield* byName(target)
      assert.deepInclude(obj(parameterOf(made, "Call", "workflowId")), { value: sub?.id })
      assert.deepStrictEqual(nodeOf(made, "Charge")["credentials"], {
        stripeApi: { id: "prod-stripe", name: "Stripe" }
      })

      // The files are as they were, and nothing changes twice.
      assert.deepStrictEqual(JSON.parse((yield* contents(folder))["main.json"] ?? ""), files["main.json"])
      const count = yield* writes(target)
      assert.deepStrictEqual(outcomes(yield* promote({ except })), { Alarm: "same", Main: "same", Sub: "same" })
      assert.strictEqual(yield* writes(target), count)
      yield* edit(`${folder}/sub.json`, "\"name\": \"Sub\"", "\"name\": \"Sub 2\"")
      const live = yield* promote({ except, publishes: true })
      assert.deepStrictEqual(live.entries.map(({ published }) => published), [true, true, true])
      assert.strictEqual((yield* byName(target))["Sub 2"]?.id, sub?.id)
      // What changed there since is not overwritten, nor is what calls it written.
      yield* target.edit(sub?.id ?? "", (each) => ({ ...each, name: "Hotfix" }))
      yield* edit(`${folder}/main.json`, "stripe.test", "stripe.example")
      const conflict = yield* promote({ except })
      assert.deepStrictEqual(outcomes(conflict), { Alarm: "same", Main: "blocked", "Sub 2": "conflict" })
      assert.isTrue(conflict.hasConflicts)
      assert.include(JSON.stringify(conflict.obstacles), "depends on 'Sub 2'")
    }))

  it.effect("leaves out what is blocked and what depends on it, and says so", () =>
    deploying(function*({ folder, promote, target }) {
      yield* put(`${folder}/broken.json`, "{\"name\": \"Broken\", \"nodes\": [")
      yield* put(`${folder}/shape.json`, "{\"name\": \"Shape\", \"nodes\": [1], \"connections\": {}}")
      yield* put(
        `${folder}/secret.json`,
        workflow("k", "Secret", [node("N", "noOp", 1, { apiKey: { $secret: "gone" } })])
      )
      const report = yield* promote()
      assert.isTrue(report.hasErrors)
      const done = { Alarm: "created", Main: "created", Sub: "created" }
      assert.deepStrictEqual(outcomes(report), { ...done, Odd: "blocked", Caller: "blocked", Top: "blocked" })
      const reasons = Object.fromEntries(report.obstacles.map(({ reason, workflow }) => [workflow, reason]))
      assert.deepStrictEqual(
        Object.keys(reasons).toSorted(),
        ["Caller", "Odd", "Top", "broken.json", "secret.json", "shape.json"]
      )
      assert.match(reasons["Odd"] ?? "", /'Nowhere' \(oddApi\) is not on/)
      assert.match(reasons["Top"] ?? "", /depends on 'Caller'/)
      assert.match(reasons["secret.json"] ?? "", /refers to the secret 'gone'/)
      assert.deepStrictEqual(yield* names(target), ["Alarm", "Main", "Sub"])
      assert.match((yield* Effect.flip(promote({ except: ["Mian"] }))).message, /has no workflow 'Mian'/)
    }))

  it.effect("does not write what calls a workflow that n8n refused", () =>
    deploying(function*({ folder, promote, target }) {
      yield* put(`${folder}/bad/odd.json`, workflow("o", "Odd", [trigger]))
      const report = yield* promote({ only: ["Alarm", "t", "c", "bad/odd.json"] })
      assert.isTrue(report.hasErrors)
      assert.match(outcomes(report)["Odd"] ?? "", /HTTP 400/)
      assert.match(outcomes(report)["Caller"] ?? "", /depends on 'Odd', which failed/)
      assert.match(outcomes(report)["Top"] ?? "", /depends on 'Caller', which failed/)
      assert.deepStrictEqual(yield* names(target), ["Alarm"])
    }, {
      before: ({ body, method }) =>
        Effect.sync(() =>
          method === "POST" && JSON.stringify(body ?? "").includes("\"Odd\"")
            ? Response.json({ message: "refused" }, { status: 400 })
            : undefined
        )
    }))

  it.effect("knows a file again that got its id, and its folder its n8n, after it was promoted", () =>
    deploying(function*({ folder, promote, target }) {
      const only = ["alarm.json"]
      yield* FileSystem.FileSystem.use((fs) => fs.remove(`${folder}/.n8n-sync.json`))
      const { id: _, ...anonymous } = files["alarm.json"]
      yield* put(`${folder}/alarm.json`, anonymous)
      assert.deepStrictEqual(outcomes(yield* promote({ only })), { Alarm: "created" })
      yield* put(`${folder}/alarm.json`, { ...files["alarm.json"], settings: { timezone: "UTC" } })
      yield* put(`${folder}/.n8n-sync.json`, record("dev.test"))
      assert.deepStrictEqual(outcomes(yield* promote({ only })), { Alarm: "updated" })
      assert.strictEqual((yield* target.workflows).length, 1)
      assert.deepStrictEqual(outcomes(yield* promote({ only })), { Alarm: "same" })

      yield* put(`${folder}/.n8n-sync.json`, record("production.test"))
      assert.match((yield* Effect.flip(promote())).message, /is synced with http:\/\/production\.test/)
    }))
})
