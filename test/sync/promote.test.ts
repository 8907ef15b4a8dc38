import { assert, describe, it } from "@effect/vitest"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import type * as HttpClient from "effect/http/HttpClient"
import * as Layer from "effect/Layer"
import { arr, type Obj, obj } from "../../src/base/Json.ts"
import * as N8nClient from "../../src/n8n/N8nClient.ts"
import * as Sync from "../../src/sync/Sync.ts"
import * as N8nApi from "../../src/testing/n8nApi/N8nApi.ts"
import { Snapshots } from "../../src/workflows/store/Snapshots.ts"
import { hurried } from "../support/clock.ts"
import { main, node } from "../support/workflows.ts"
import { clientOf, inWorld, type Needs } from "../support/world.ts"
import { slow } from "./workflows.ts"

const trigger = node("Start", "scheduleTrigger", 1.2, { rule: { interval: [{}] } })

const locator = (value: string, name?: string) => ({
  __rl: true,
  mode: "list",
  value,
  ...(name === undefined ? {} : { cachedResultName: name, cachedResultUrl: `/workflow/${value}` })
})

const call = (value: unknown) => node("Call", "executeWorkflow", 1.2, { source: "database", workflowId: value })

const charge = node("Charge", "httpRequest", 4.2, { url: "https://stripe.test" }, {
  credentials: { stripeApi: { id: "dev-stripe", name: "Stripe" }, httpHeaderAuth: { id: "dev-header", name: "Header" } }
})

const store = node("Store", "dataTable", 1, {
  resource: "row",
  operation: "insert",
  dataTableId: {
    __rl: true,
    mode: "list",
    value: "dev-table",
    cachedResultName: "Orders",
    cachedResultUrl: "/projects/dev/datatables/dev-table"
  }
})

const seed: N8nApi.Seed = {
  executions: [],
  workflows: [
    {
      id: "main",
      name: "Main",
      nodes: [trigger, call(locator("sub", "Sub")), charge, store],
      connections: { Start: main("Call") },
      settings: { executionOrder: "v1", errorWorkflow: "alarm" },
      tags: [{ name: "prod" }]
    },
    { id: "sub", name: "Sub", nodes: [trigger, call(locator("main", "Main"))], connections: {}, settings: {} },
    { id: "alarm", name: "Alarm", nodes: [trigger], connections: {}, settings: { errorWorkflow: "alarm" } },
    { id: "old", name: "Old", nodes: [trigger], connections: {}, settings: {}, isArchived: true }
  ],
  credentials: [
    { id: "dev-stripe", name: "Stripe", type: "stripeApi" },
    { id: "dev-header", name: "Header", type: "httpHeaderAuth" }
  ],
  dataTables: [{ id: "dev-table", name: "Orders", columns: [{ name: "n", type: "number" }] }]
}

const production: N8nApi.Seed = {
  executions: [],
  workflows: [],
  credentials: [
    { id: "prod-stripe", name: "Stripe", type: "stripeApi" },
    { id: "prod-other", name: "Stripe", type: "otherApi" },
    { id: "prod-header", name: "Header of production", type: "httpHeaderAuth" }
  ],
  dataTables: [{ id: "prod-table", name: "Orders", columns: [{ name: "n", type: "number" }] }]
}

const bindings = { credentials: { Header: "prod-header" } }

/** Two n8ns, and the folder that keeps the record. */
const between = <A, E>(
  use: (here: {
    readonly from: N8nClient.Service
    readonly to: N8nClient.Service
    readonly target: N8nApi.N8nApi
    readonly folder: string
    readonly promote: (
      options?: Partial<Sync.PromoteOptions>
    ) => ReturnType<typeof Sync.promote<never>>
  }) => Effect.Effect<A, E, Needs | FileSystem.FileSystem>,
  { target: seedOfTarget = production, through = (client) => client, ...options }: N8nApi.Options & {
    readonly target?: N8nApi.Seed
    readonly through?: (client: HttpClient.HttpClient) => HttpClient.HttpClient
  } = {}
) =>
  inWorld(({ folder }) =>
    Effect.gen(function*() {
      const from = yield* N8nClient.N8nClient
      const target = yield* N8nApi.make(seedOfTarget, options)
      const context = yield* Layer.build(clientOf(through(target.client), { host: "production.test" }))
      const to = Context.get(context, N8nClient.N8nClient)
      const promote = (more: Partial<Sync.PromoteOptions> = {}) => Sync.promote(".", { from, to, bindings, ...more })
      return yield* use({ from, to, target, folder, promote })
    }).pipe(Effect.scoped), { seed })

const outcomes = ({ entries }: Sync.PromotionReport) =>
  entries.map(({ action, error, name, status }) => [name, action ?? error?.message ?? status])

const writes = (api: N8nApi.N8nApi) =>
  Effect.map(api.requests, (requests) => requests.filter(({ method }) => method !== "GET").length)

const on = (api: N8nApi.N8nApi) =>
  Effect.map(api.workflows, (all) => Object.fromEntries(all.map((workflow) => [workflow.name, workflow])))

const parametersOf = (workflow: Obj | undefined, name: string) =>
  obj(obj(arr(workflow?.["nodes"]).find((each) => obj(each)?.["name"] === name))?.["parameters"]) ?? {}

describe("promote", () => {
  it.effect("creates workflows with the credentials, workflows and tables of the other n8n, and then updates them", () =>
    between(({ folder, from, promote, target, to }) =>
      Effect.gen(function*() {
        const dry = yield* promote({ dryRun: true })
        const planned = [["Main", "created"], ["Sub", "created"], ["Alarm", "created"]]
        assert.deepStrictEqual(outcomes(dry).toSorted(), planned.toSorted())
        assert.strictEqual(yield* writes(target), 0)
        assert.deepStrictEqual(yield* FileSystem.FileSystem.use((fs) => fs.readDirectory(folder)), [])

        const report = yield* promote()
        assert.deepStrictEqual(report.obstacles, [])
        assert.deepStrictEqual(outcomes(report).toSorted(), planned.toSorted())
        const { Alarm: alarm, Main: main, Sub: sub } = yield* on(target)
        assert.deepStrictEqual(parametersOf(main, "Call")["workflowId"], locator(sub?.id ?? "", "Sub"))
        assert.deepStrictEqual(parametersOf(sub, "Call")["workflowId"], locator(main?.id ?? "", "Main"))
        assert.deepStrictEqual(parametersOf(main, "Store")["dataTableId"], {
          __rl: true,
          mode: "list",
          value: "prod-table",
          cachedResultName: "Orders"
        })
        assert.strictEqual(obj(main?.["settings"])?.["errorWorkflow"], alarm?.id)
        assert.strictEqual(obj(alarm?.["settings"])?.["errorWorkflow"], alarm?.id)
        assert.deepStrictEqual(main?.tags?.map(({ name }) => name), ["prod"])
        const nodes = arr(main?.["nodes"]).map((each) => obj(each)?.["credentials"])
        assert.deepStrictEqual(nodes[2], {
          stripeApi: { id: "prod-stripe", name: "Stripe" },
          httpHeaderAuth: { id: "prod-header", name: "Header of production" }
        })
        assert.isTrue([main, sub, alarm].every((workflow) => workflow?.active === false))

        // Nothing changed, so nothing is written.
        const count = yield* writes(target)
        assert.deepStrictEqual((yield* promote()).entries.map(({ status }) => status), ["same", "same", "same"])
        assert.strictEqual(yield* writes(target), count)

        // Renamed and changed there: it is the same workflow here.
        const now = yield* from.getWorkflow("sub")
        yield* from.putWorkflow("sub", {
          name: "Sub 2",
          nodes: [...now.nodes, node("End", "noOp", 1, {})],
          connections: {},
          settings: {}
        })
        const second = yield* promote({ publishes: false })
        assert.deepStrictEqual(outcomes(second).toSorted(), [["Alarm", "same"], ["Main", "same"], ["Sub 2", "updated"]])
        const renamed = (yield* on(target))["Sub 2"]
        assert.strictEqual(renamed?.id, sub?.id)
        assert.strictEqual(arr(renamed?.["nodes"]).length, 3)
        const live = yield* promote({ publishes: true })
        assert.deepStrictEqual(live.entries.map(({ action, published }) => [action, published]), [
          ["updated", true],
          ["updated", true],
          ["updated", true]
        ])
        const kept = yield* Snapshots.use(({ list }) => list(to.instance, sub?.id ?? ""))
        assert.strictEqual(kept[0]?.operation, "promote")
      })
    ))

  it.effect("lists everything that cannot be resolved, and writes only what does not depend on it", () =>
    between(({ from, promote, target }) =>
      Effect.gen(function*() {
        const report = yield* promote({
          only: ["Main", "alarm"],
          bindings: { credentials: { "dev-stripe": "Strype" }, tables: { Orders: "nope" } }
        })
        assert.isTrue(report.hasErrors)
        assert.deepStrictEqual(report.obstacles.map(({ node, workflow }) => [workflow, node]), [
          ["Main", "Call"],
          ["Main", "Charge"],
          ["Main", "Charge"],
          ["Main", "Store"]
        ])
        const reasons = report.obstacles.map(({ reason }) => reason).join("\n")
        assert.include(
          reasons,
          "It refers to the workflow 'Sub', which is not on http://production.test/. Promote it too"
        )
        assert.include(
          reasons,
          "'Stripe' (stripeApi) is bound to 'Strype', which http://production.test/ does not have"
        )
        assert.include(reasons, "'Header' (httpHeaderAuth) is not on")
        assert.include(reasons, "bind it to one of 'Header of production' (prod-header)")
        assert.include(reasons, "'Orders' is bound to 'nope'")
        assert.deepStrictEqual((yield* target.workflows).map(({ name }) => name), ["Alarm"])
        assert.deepStrictEqual(report.entries.map(({ action, blocked, name }) => [name, action, blocked]), [
          ["Main", undefined, true],
          ["Alarm", "created", undefined]
        ])
        const unknown = yield* Effect.flip(promote({ only: ["Mian"] }))
        assert.include(unknown.message, "has no workflow 'Mian'")
        // Links are to the source; names may differ in case.
        const named = yield* promote({
          only: [`${from.instance.url}workflow/alarm`, "MAIN"],
          except: ["main"],
          dryRun: true
        })
        assert.deepStrictEqual(named.entries.map(({ name }) => name), ["Alarm"])
        const elsewhere = yield* Effect.flip(promote({ only: ["http://production.test/workflow/alarm"] }))
        assert.include(elsewhere.message, "The link is to production.test")
      })
    ))

  it.effect("chooses none of several tables of the same name, and lists those", () => {
    const columns = [{ name: "n", type: "number" }] as const
    const other = { id: "prod-table-2", name: "Orders", columns: [...columns] }
    return between(
      ({ promote, target }) =>
        Effect.gen(function*() {
          const { obstacles } = yield* promote()
          assert.deepStrictEqual(
            obstacles.filter(({ node }) => node !== undefined).map(({ node, reason }) => [node, reason]),
            [[
              "Store",
              "The data table 'Orders': http://production.test/ has several of that name: 'Orders' (prod-table-2), 'Orders' (prod-table). Bind it to an id."
            ]]
          )
          assert.notInclude((yield* target.workflows).map(({ name }) => name), "Main")
          const bound = { ...bindings, tables: { Orders: "prod-table-2" } }
          assert.isFalse((yield* promote({ bindings: bound })).hasErrors)
        }),
      {
        target: {
          ...production,
          dataTables: [...production.dataTables ?? [], other, { ...other, id: "prod-stock", name: "Stock" }]
        }
      }
    )
  })

  it.effect("never overwrites what merely has the same name, nor what changed there since", () =>
    between(({ promote, target, to }) =>
      Effect.gen(function*() {
        const first = yield* promote({ only: ["alarm"] })
        assert.match(first.obstacles[0]?.reason ?? "", /has a workflow of that name \(theirs\)/)
        const bound = { bindings: { workflows: { alarm: "theirs" } }, only: ["alarm"] }
        assert.deepStrictEqual(outcomes(yield* promote(bound)), [["Alarm", "updated"]])
        assert.deepStrictEqual((yield* target.workflows).map(({ id }) => id), ["theirs"])

        yield* target.edit("theirs", (workflow) => ({ ...workflow, name: "Alarm (hotfix)" }))
        const conflict = yield* promote({ only: ["alarm"] })
        assert.isTrue(conflict.hasConflicts)
        assert.deepStrictEqual(outcomes(conflict), [["Alarm", "conflict"]])
        assert.strictEqual((yield* to.getWorkflow("theirs")).name, "Alarm (hotfix)")
        assert.deepStrictEqual(outcomes(yield* promote({ only: ["alarm"], overwrites: true })), [["Alarm", "updated"]])
        assert.strictEqual((yield* to.getWorkflow("theirs")).name, "Alarm")
      }), {
      target: {
        ...production,
        workflows: [{ id: "theirs", name: "Alarm", nodes: [trigger], connections: {}, settings: { timezone: "UTC" } }]
      }
    }))

  it.effect("without publication leaves what runs alone, and lists what it holds back", () =>
    between(({ from, promote, target, to }) =>
      hurried(Effect.gen(function*() {
        yield* promote({ only: ["alarm"], publishes: true })
        const [{ id = "" } = {}] = yield* target.workflows
        const before = yield* to.getWorkflow(id)
        const { connections, nodes } = yield* from.getWorkflow("alarm")
        yield* from.putWorkflow("alarm", {
          name: "Alarm, renamed",
          nodes: nodes.map((each) => each.name === "Start" ? { ...each, notes: "new" } : each),
          connections,
          settings: { timezone: "Asia/Tokyo" }
        })
        const lines = ["name: \"Alarm\" → \"Alarm, renamed\"", "settings.timezone: none → \"Asia/Tokyo\""]
        for (const dryRun of [true, false]) {
          const { entries: [entry] } = yield* promote({ only: ["alarm"], dryRun })
          assert.deepInclude(entry, { action: "updated", published: false, held: lines })
        }
        const draft = yield* to.getWorkflow(id)
        assert.deepStrictEqual([draft.name, draft.settings], [before.name, before.settings])
        assert.strictEqual(draft.nodes[0]?.["notes"], "new")
        assert.strictEqual(draft.activeVersionId, before.activeVersionId)

        const { entries: [published] } = yield* promote({ only: ["alarm"], publishes: true })
        assert.deepInclude(published, { action: "updated", published: true })
        assert.notProperty(published, "held")
        const now = yield* to.getWorkflow(id)
        assert.deepStrictEqual([now.name, obj(now.settings)?.["timezone"]], ["Alarm, renamed", "Asia/Tokyo"])
        assert.strictEqual(now.activeVersionId, now.versionId)
      })), { target: { ...production, workflows: [] } }))

  it.effect("continues after a lost answer, and creates nothing twice", () => {
    let loses = true
    return between(({ folder, promote, target }) =>
      Effect.gen(function*() {
        const broken = yield* promote()
        assert.isTrue(broken.hasErrors)
        loses = false
        assert.isFalse((yield* promote()).hasErrors)
        assert.deepStrictEqual((yield* target.workflows).map(({ name }) => name).toSorted(), ["Alarm", "Main", "Sub"])
        yield* FileSystem.FileSystem.use((fs) => fs.writeFileString(`${folder}/.n8n-promotion.json`, "<<<<"))
        assert.include((yield* Effect.flip(promote())).message, "is not a record of promotions")
      }), {
      after: ({ method }) =>
        Effect.sync(() => loses && method === "POST" ? Response.json({ message: "lost" }, { status: 502 }) : undefined)
    })
  })

  it.effect("stops at a write without an answer, and finds what arrives later", () => {
    let isStuck = true
    return between(({ promote, target }) =>
      Effect.gen(function*() {
        const first = yield* hurried(promote())
        assert.deepStrictEqual([first.hasErrors, first.remaining], [true, 2])
        assert.deepStrictEqual(yield* target.workflows, [])
        const second = yield* hurried(promote())
        assert.deepStrictEqual(second.entries.map(({ action, error }) => action ?? error?.message), [
          "created",
          "created",
          "created"
        ])
        assert.deepStrictEqual((yield* target.workflows).map(({ name }) => name).toSorted(), ["Alarm", "Main", "Sub"])
        assert.deepStrictEqual((yield* promote()).entries.map(({ status }) => status), ["same", "same", "same"])
      }), {
      through: slow(({ method }) => {
        if (method !== "POST" || !isStuck) return 0
        isStuck = false
        // It is given up after 30 s.
        return 33_000
      })
    })
  })

  it.effect("promotes to n8n 1.x, whose credentials are known from its workflows, and reports what it refuses", () =>
    between(({ from, promote, target }) =>
      Effect.gen(function*() {
        yield* from.putWorkflow("alarm", {
          name: "Alarm",
          nodes: [trigger, charge],
          connections: {},
          settings: {},
          description: "rings"
        })
        const blocked = yield* promote({ only: ["alarm"], bindings: {} })
        assert.match(blocked.obstacles[0]?.reason ?? "", /as far as its workflows show \(n8n 1\.x does not list/)
        const report = yield* promote({
          only: ["alarm"],
          bindings: { credentials: { Header: "believed", Stripe: "used" } }
        })
        assert.deepStrictEqual(outcomes(report), [["Alarm", "created"]])
        assert.include(JSON.stringify(report.entries[0]?.warnings), "does not support: description")
        const again = yield* promote({
          only: ["alarm"],
          bindings: { credentials: { Header: "believed", Stripe: "used" } }
        })
        assert.deepStrictEqual(outcomes(again), [["Alarm", "same"]])
        assert.deepStrictEqual(obj(arr((yield* on(target))["Alarm"]?.["nodes"])[1])?.["credentials"], {
          stripeApi: { id: "used", name: "Stripe of production" },
          httpHeaderAuth: { id: "believed", name: "Header" }
        })
      }), {
      version: "1",
      target: {
        executions: [],
        workflows: [{
          id: "x",
          name: "Uses it",
          nodes: [{ ...charge, credentials: { stripeApi: { id: "used", name: "Stripe of production" } } }],
          connections: {},
          settings: {}
        }]
      }
    }))
})
