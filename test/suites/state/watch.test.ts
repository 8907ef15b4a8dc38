/** Several watchers of one n8n with their state in a real PostgreSQL. */
import { assert, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as Postgres from "../../../src/app/Postgres.ts"
import * as Documents from "../../../src/base/Documents.ts"
import * as Executions from "../../../src/executions/Executions.ts"
import * as FakeN8n from "../../../src/testing/FakeN8n.ts"
import * as Watch from "../../../src/watch/Watch.ts"
import { published, webhook } from "../../watch/simulation.ts"
import * as RealPostgres from "./Postgres.ts"

const orders = published("orders", webhook)

/** A watcher with a pool of its own. */
const watcher = ({ url }: RealPostgres.Postgres) =>
  Effect.map(
    Layer.build(Layer.fresh(Documents.layerDatabase.pipe(Layer.provide(Postgres.layer(Redacted.make(url)))))),
    (context) =>
      Effect.provideContext(Watch.poll({ every: 1_000, zone: "UTC" }), context).pipe(
        Effect.tap((report) => Effect.provideContext(Watch.settle(report, true), context))
      )
  )

it.live("watchers that share a database report each incident once, also after a restart", () =>
  Effect.gen(function*() {
    const postgres = yield* RealPostgres.make
    yield* postgres.start
    const fake = yield* FakeN8n.FakeN8n
    const [a, b] = yield* Effect.all([watcher(postgres), watcher(postgres)])
    const reports: Array<Watch.Report> = []
    for (const message of ["", "card refused", "card refused", "address refused", ""]) {
      if (message !== "") {
        yield* fake.addExecution(FakeN8n.failedExecution({ workflow: orders, node: "Work", message }))
      }
      // The third of them is a watcher that has just started.
      const all = yield* Effect.all([a, b, yield* watcher(postgres)], { concurrency: 3 })
      assert.strictEqual(all.filter(({ isSkipped }) => !isSkipped).length, 1)
      reports.push(...all)
      yield* Effect.sleep(1_100)
    }
    assert.deepStrictEqual(
      reports.flatMap(({ incidents }) => incidents).map(({ what }) => what),
      ["'orders' failed at 'Work': card refused", "'orders' failed at 'Work': address refused"]
    )
  }).pipe(
    Effect.scoped,
    Effect.provide([FakeN8n.layer({ workflows: [orders], executions: [] }), Executions.layer()])
  ), 120_000)
