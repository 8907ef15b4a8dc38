import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as TestClock from "effect/testing/TestClock"
import { N8nClient } from "../../src/n8n/N8nClient.ts"
import * as FakeN8n from "../../src/testing/FakeN8n.ts"
import type * as Watch from "../../src/watch/Watch.ts"
import * as TestTime from "../support/TestTime.ts"
import { node } from "../support/workflows.ts"
import { cron, day, iso, layer, minute, type Planned, player, poll, published, webhook } from "./simulation.ts"

const start = Date.parse("2026-03-02T10:00:30Z")

const [api, called, mails, report, sync, upload, form, limited] = [
  published("api", webhook),
  published("called", webhook),
  published("mails", node("Mail", "gmailTrigger", 1.2)),
  published("report", cron("*/10 * * * *")),
  published("sync", cron("*/5 * * * *")),
  published("upload", webhook),
  published("form", webhook),
  published("limited", webhook, { tags: [{ name: "watch: silent 30m" }] })
]

const signedIn = {
  ...node("Chat", "slack", 2),
  credentials: { slackApi: { id: "c1", name: "Slack", type: "slackApi" } }
}
const chat = published("chat", webhook, { nodes: [webhook, signedIn] })
const workflows = [api, called, mails, report, sync, upload, form, limited, chat]

/** Runs of an hour and of the day before. */
const usual = (end: number): ReadonlyArray<Planned> => {
  const runs: Array<Planned> = []
  for (let at = start - day; at < end; at += 5 * minute) {
    const own = { at: at + 5_000, ms: 2_000, mode: "webhook", items: 3 }
    runs.push({ ...own, workflow: api }, { ...own, workflow: upload }, { ...own, workflow: form }, {
      ...own,
      workflow: mails,
      mode: "trigger"
    })
    const minutes = Math.round((at - start) / minute)
    runs.push({ ...own, workflow: sync, mode: "trigger", at: at - 25_000 })
    if (minutes % 10 === 0) runs.push({ ...own, workflow: report, mode: "trigger", at: at - 25_000 })
  }
  return runs
}

/** Run so many minutes after the start. */
const odd = (workflow: FakeN8n.Workflow, minutes: number, ms: number, more: Partial<Planned> = {}): Planned => ({
  workflow,
  at: start + minutes * minute,
  ms,
  mode: "webhook",
  ...more
})

interface World {
  isAway: boolean
  isSignedOut: boolean
}

/** The hour in which everything breaks. */
const broken = [
  ...usual(start + 9 * minute),
  odd(api, 10, 1_000, { status: "error", message: "HTTP 401: key 7 is wrong" }),
  odd(api, 11, 1_000, { status: "error", message: "HTTP 401: key 8 is wrong" }),
  odd(upload, 10, 90_000),
  odd(form, 10, 40 * minute),
  ...[1, 2].map((second) => odd(mails, 30 + second / 60, 30_000, { mode: "trigger", status: "crashed" })),
  // The second is marked a poll later.
  ...[api, upload].map((workflow, index) => odd(workflow, 45, 30_000 + index * minute, { status: "crashed" }))
]

const inWorld = <E>(
  runs: ReadonlyArray<Planned>,
  use: (
    step: (minutes: number) => Effect.Effect<ReadonlyArray<Watch.Report>, unknown, FakeN8n.FakeN8n>,
    world: World
  ) => Effect.Effect<void, E, FakeN8n.FakeN8n | N8nClient>,
  watched: ReadonlyArray<FakeN8n.Workflow> = workflows
) => {
  const world: World = { isAway: false, isSignedOut: false }
  return Effect.gen(function*() {
    yield* TestClock.setTime(start)
    const play = player(runs)
    let time = start
    const step = (minutes: number) =>
      Effect.gen(function*() {
        const reports: Array<Watch.Report> = []
        for (const end = time + minutes * minute; time < end; time += minute) {
          yield* TestClock.setTime(time)
          yield* play
          reports.push(yield* TestTime.run(poll()))
        }
        return reports
      }) as Effect.Effect<ReadonlyArray<Watch.Report>, unknown, FakeN8n.FakeN8n>
    yield* use(step, world)
  }).pipe(
    Effect.provide(
      layer({ workflows: [...watched], executions: [], credentials: [{ id: "c1", name: "Slack", type: "slackApi" }] }, {
        before: ({ method, url }) =>
          world.isAway
            ? Effect.fail(new FakeN8n.Disconnected())
            : method === "POST" && url.endsWith("/credentials/c1/test")
            ? Effect.succeed(
              Response.json(
                world.isSignedOut ? { status: "Error", message: "invalid_auth" } : { status: "OK", message: "ok" }
              )
            )
            : Effect.void
      })
    )
  )
}

describe("incidents", () => {
  it.effect("are found within two polls, each with its cause, once", () =>
    inWorld(
      broken,
      (step, world) =>
        Effect.gen(function*() {
          const fake = yield* FakeN8n.FakeN8n
          const expect = Effect.fnUntraced(
            function*(minutes: number, ...incidents: ReadonlyArray<readonly [string, string]>) {
              const reports = yield* step(minutes)
              assert.deepStrictEqual(
                reports.flatMap((report) => report.incidents).map(({ kind, what }) => [
                  kind,
                  what.replace(/\d{4,}(?=[ .])/g, "…").replace(/ since \d.*/, "")
                ]).toSorted(),
                incidents.map((each) => [...each]).toSorted()
              )
              return reports.flatMap((report) => report.incidents)
            }
          )
          yield* expect(10)
          yield* expect(
            3,
            ["failed", "'api' failed at 'Work': HTTP 401: key 7 is wrong"],
            ["slow", "Run … of 'upload' took 90 s, usually at most 2 s"]
          )
          yield* expect(
            3,
            ["missed", "'report' did not start at 2026-03-02 10:10 UTC as its schedule says"],
            ["missed", "'sync' did not start at 2026-03-02 10:10 UTC as its schedule says"]
          )
          yield* fake.edit("called", (workflow) => ({
            ...workflow,
            active: false,
            activeVersion: null,
            activeVersionId: null
          }))
          yield* expect(2, ["unpublished", "'called' is no longer published"])
          yield* expect(12, ["stuck", "Run … of 'form' has not ended for 11 min, usually at most 2 s"])
          world.isAway = true
          yield* expect(2, ["unreachable", "n8n could not be looked at 2 times in a row"])
          world.isAway = false
          // The half hour of 'limited' ends while n8n is away.
          const back = yield* expect(
            1,
            ["failed", "2 runs ended with n8n itself: 'mails'"],
            ["silent", "Nothing has started 'limited'"]
          )
          const silence = back.find(({ kind }) => kind === "silent")
          // The clock moves on within a look.
          assert.deepStrictEqual(
            [silence?.at, silence?.until].map((time) => time?.slice(0, 16)),
            [start, start + 32 * minute].map((time) => iso(time).slice(0, 16))
          )
          yield* expect(3)
          world.isSignedOut = true
          const [, credential] = yield* expect(
            60,
            ["failed", "2 runs ended with n8n itself: 'api', 'upload'"],
            [
              "credential",
              "Credential 'Slack' (slackApi) no longer signs in: 1 published workflow depends on it, 'chat'"
            ]
          )
          assert.strictEqual(credential?.cause, "invalid_auth")
          yield* N8nClient.use((n8n) => n8n.archiveWorkflow("form"))
          yield* expect(2, ["unpublished", "'form' was archived"])
          yield* expect(5)
        })
    ))

  it.effect("of workflows with the tag watch: off are not reported, whatever breaks", () => {
    const off = workflows.map((each: FakeN8n.Workflow) => ({
      ...each,
      tags: [...each.tags ?? [], { name: "watch: off" }]
    }))
    return inWorld(broken, (step, world) =>
      Effect.gen(function*() {
        const fake = yield* FakeN8n.FakeN8n
        const reports = [...yield* step(16)]
        yield* fake.edit(
          "called",
          (workflow) => ({ ...workflow, active: false, activeVersion: null, activeVersionId: null })
        )
        world.isSignedOut = true
        reports.push(...yield* step(30))
        assert.deepStrictEqual(reports.flatMap(({ incidents }) => incidents), [])
        yield* fake.edit("api", (workflow) => ({ ...workflow, tags: [] }))
        yield* step(6)
        yield* fake.addExecution({
          ...FakeN8n.failedExecution({ workflow: api, node: "Work", message: "closed" }),
          mode: "webhook"
        })
        assert.deepStrictEqual((yield* step(2)).flatMap(({ incidents }) => incidents.map(({ kind }) => kind)), [
          "failed"
        ])
      }), off)
  })
})
