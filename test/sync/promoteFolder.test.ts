import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import { obj } from "../../src/base/Json.ts"
import * as Sync from "../../src/sync/Sync.ts"
import type * as N8nApi from "../../src/testing/n8nApi/N8nApi.ts"
import { node } from "../support/workflows.ts"
import { inWorld, type Needs } from "../support/world.ts"
import {
  byName,
  call,
  charge,
  makeTarget,
  names,
  nodeOf,
  outcomes,
  parameterOf,
  store,
  trigger,
  workflow,
  writes
} from "./promotion.ts"
import { contents, edit, put } from "./workflows.ts"

const missing = node("Odd", "httpRequest", 4.2, {}, { credentials: { oddApi: { id: "x", name: "Nowhere" } } })

const files = {
  "main.json": workflow("m", "Main", [trigger, call("s", "Sub"), charge(), store], {
    settings: { errorWorkflow: "a" },
    tags: [{ name: "reviewed" }]
  }),
  "sub.json": workflow("s", "Sub", [trigger, call("m", "Main")]),
  "alarm.json": workflow("a", "Alarm", [trigger]),
  "bad/odd.json": workflow("o", "Odd", [trigger, missing]),
  "bad/caller.json": workflow("c", "Caller", [trigger, call("o", "Odd")]),
  "bad/top.json": workflow("t", "Top", [trigger, call("c", "Caller")])
}

const record = (host: string) => `{"version":1,"host":"http://${host}","workflows":{}}`

/** A folder that belongs to an n8n which is not there, and another n8n. */
const deploying = <A, E>(
  use: (here: {
    readonly folder: string
    readonly target: N8nApi.N8nApi
    readonly fs: FileSystem.FileSystem
    readonly promote: (options?: Partial<Sync.PromoteOptions>) => ReturnType<typeof Sync.promote<never>>
  }) => Effect.Effect<A, E, Needs | FileSystem.FileSystem>,
  options: N8nApi.Options = {}
) =>
  inWorld(({ folder }) =>
    Effect.gen(function*() {
      const fs = yield* FileSystem.FileSystem
      yield* fs.makeDirectory(`${folder}/bad`)
      for (const [name, value] of Object.entries(files)) {
        yield* put(`${folder}/${name}`, JSON.stringify(value, null, 2))
      }
      yield* put(`${folder}/.n8n-sync.json`, record("dev.test"))
      const { target, to } = yield* makeTarget(options)
      return yield* use({
        folder,
        fs,
        target,
        promote: (more = {}) => Sync.promote(".", { from: "folder", to, ...more })
      })
    }).pipe(Effect.scoped)
  )

describe("promote from a folder", () => {
  it.effect("writes what the files say to an n8n that has none of it, and to the same workflows again", () =>
    deploying(({ folder, promote, target }) =>
      Effect.gen(function*() {
        const except = ["Odd", "c", "bad/top.json"]
        const created = { Alarm: "created", Main: "created", Sub: "created" }
        assert.deepStrictEqual(outcomes(yield* promote({ dryRun: true, except })), created)
        assert.strictEqual(yield* writes(target), 0)
        const report = yield* promote({ except })
        assert.deepStrictEqual([report.hasErrors, outcomes(report)], [false, created])
        const { Alarm: alarm, Main: made, Sub: sub } = yield* byName(target)
        assert.deepInclude(obj(parameterOf(made, "Call", "workflowId")), { value: sub?.id })
        assert.deepStrictEqual(nodeOf(made, "Charge")["credentials"], {
          stripeApi: { id: "prod-stripe", name: "Stripe" }
        })
        assert.deepInclude(obj(parameterOf(made, "Store", "dataTableId")), { value: "prod-table" })
        assert.strictEqual(obj(made?.["settings"])?.["errorWorkflow"], alarm?.id)
        assert.deepStrictEqual(made?.tags?.map(({ name }) => name), ["reviewed"])

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
      })
    ))

  it.effect("leaves out what is blocked and what depends on it, and says so", () =>
    deploying(({ folder, promote, target }) =>
      Effect.gen(function*() {
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
      })
    ))

  it.effect("does not write what calls a workflow that n8n refused", () =>
    deploying(({ folder, promote, target }) =>
      Effect.gen(function*() {
        yield* put(`${folder}/bad/odd.json`, workflow("o", "Odd", [trigger]))
        const report = yield* promote({ only: ["Alarm", "t", "c", "bad/odd.json"] })
        assert.isTrue(report.hasErrors)
        assert.match(outcomes(report)["Odd"] ?? "", /HTTP 400/)
        assert.match(outcomes(report)["Caller"] ?? "", /depends on 'Odd', which failed/)
        assert.match(outcomes(report)["Top"] ?? "", /depends on 'Caller', which failed/)
        assert.deepStrictEqual(yield* names(target), ["Alarm"])
      }), {
      before: ({ body, method }) =>
        Effect.sync(() =>
          method === "POST" && JSON.stringify(body ?? "").includes("\"Odd\"")
            ? Response.json({ message: "refused" }, { status: 400 })
            : undefined
        )
    }))

  it.effect("knows a file again that got its id, and its folder its n8n, after it was promoted", () =>
    deploying(({ folder, fs, promote, target }) =>
      Effect.gen(function*() {
        const only = ["alarm.json"]
        yield* fs.remove(`${folder}/.n8n-sync.json`)
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
      })
    ))
})
