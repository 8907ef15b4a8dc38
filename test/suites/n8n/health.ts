/** A week with planted incidents in the database of a real n8n, as its API returns it. */
import { assert, type Vitest } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import type * as Services from "../../../src/app/Services.ts"
import { Executions } from "../../../src/executions/Executions.ts"
import * as Profile from "../../../src/executions/Profile.ts"
import { N8nClient } from "../../../src/n8n/N8nClient.ts"
import * as Traffic from "../../../src/n8n/Traffic.ts"
import * as tools from "../../../src/tools/index.ts"
import * as Health from "../../../src/watch/Health.ts"
import * as reading from "../../../src/watch/reading.ts"
import * as week from "../../support/scenarios/week.ts"
import { RealN8n } from "./RealN8n.ts"
import * as scenarios from "./scenarios.ts"

type It = Vitest.MethodsNonLive<RealN8n | N8nClient | Services.Services>

/** A value as n8n stores it, in the format of the package `flatted`: strings and objects are numbered. */
const flat = (value: unknown): string => {
  const numbers = new Map<unknown, number>()
  const rows: Array<unknown> = []
  const shallow = (part: unknown): unknown => typeof part === "string" || part instanceof Object ? number(part) : part
  const number = (part: unknown): string => {
    const known = numbers.get(part)
    if (known !== undefined) return String(known)
    const index = rows.length
    numbers.set(part, index)
    rows.push(undefined)
    rows[index] = Array.isArray(part)
      ? part.map((each) => shallow(each ?? null))
      : part instanceof Object
      ? Object.fromEntries(
        Object.entries(part).flatMap(([key, each]) => each === undefined ? [] : [[key, shallow(each)]])
      )
      : part
    return String(index)
  }
  number(value)
  return JSON.stringify(rows)
}

const sqlTime = (time: string | number) => new Date(time).toISOString().replace("T", " ").slice(0, -1)

/** Installs the workflows of a week on a real n8n, and writes their times and their runs into its database. */
export const seed = Effect.fnUntraced(function*(world: week.Week) {
  const { database } = yield* RealN8n
  const installed = yield* week.install(world)
  return yield* database((sqlite) => {
    const columnsOf = (table: string) =>
      new Set(sqlite.prepare(`PRAGMA table_info(${table})`).all().map(({ name }) => String(name)))
    const inserting = (table: string) => {
      const known = columnsOf(table)
      return (row: Readonly<Record<string, string | number | null>>) => {
        const entries = Object.entries(row).filter(([column]) => known.has(column))
        sqlite.prepare(
          `INSERT INTO ${table} (${entries.map(([column]) => `"${column}"`)}) VALUES (${entries.map(() => "?")})`
        ).run(...entries.map(([, value]) => value))
      }
    }
    const last = sqlite.prepare("SELECT seq FROM sqlite_sequence WHERE name = 'execution_entity'").get()
    const firstId = Number(last?.["seq"] ?? 0) + 1
    const [head, data] = [inserting("execution_entity"), inserting("execution_data")]
    sqlite.exec("BEGIN IMMEDIATE")
    const date = (table: string, column: string, at: number, where: string, id: string) =>
      sqlite.prepare(`UPDATE ${table} SET ${column} = ? WHERE ${where} = ?`).run(sqlTime(at), id)
    const [history, publications] = ["workflow_history", "workflow_publish_history"]
    for (const { id, plan, versions } of installed.values()) {
      const { changedAt = world.publishedAt } = plan
      date("workflow_entity", "createdAt", world.publishedAt, "id", id)
      date("workflow_entity", "updatedAt", changedAt, "id", id)
      // n8n 1 also dates the version that runs by its history.
      for (const column of ["createdAt", "updatedAt"]) date(history, column, changedAt, "workflowId", id)
      for (const [versionId, at] of [[versions[1], world.publishedAt], [versions[2], changedAt]] as const) {
        if (versionId === undefined) continue
        for (const column of ["createdAt", "updatedAt"]) date(history, column, at, "versionId", versionId)
        date(publications, "createdAt", at, "event = 'activated' AND versionId", versionId)
        date(publications, "createdAt", changedAt, "event = 'deactivated' AND versionId", versionId)
      }
    }
    const executions = week.executions(world, installed, firstId)
    for (const execution of executions) {
      const { id = "", mode, startedAt, status, stoppedAt, workflowId, workflowVersionId = null } = execution
      const text = flat(execution["data"])
      const executionId = Number(id)
      const version = { workflowVersionId: workflowVersionId as string | null }
      const [started, stopped] = [sqlTime(startedAt), sqlTime(stoppedAt)]
      const times = { createdAt: started, startedAt: started, stoppedAt: stopped, jsonSizeBytes: text.length }
      const finished = status === "success" ? 1 : 0
      head({ id: executionId, workflowId, finished, mode: String(mode), status, ...times, ...version })
      data({ executionId, workflowData: JSON.stringify(execution["workflowData"]), data: text, ...version })
    }
    sqlite.exec("COMMIT")
    return { installed, executions, firstId }
  })
})

/** Adds the test to a suite, before the others: their runs would be in its reports. */
export const health = (it: It, { drafts, v2 }: { readonly v2: boolean; readonly drafts: boolean }) => {
  it.effect(
    "health: a week in its database is what n8n returns, and each incident planted in it is reported, and no other",
    () =>
      Effect.gen(function*() {
        const world = week.make({ now: Date.now(), zone: "UTC" })
        yield* Effect.addFinalizer(() =>
          Effect.ignore(Effect.flatMap(scenarios.tag("watch: off"), (id) => scenarios.request("DELETE", `tags/${id}`)))
        )
        const { executions, firstId, installed } = yield* Effect.acquireRelease(
          seed(world),
          ({ installed }) =>
            Effect.forEach(installed.values(), ({ id }) => Effect.ignore(scenarios.remove(id)), {
              concurrency: v2 ? 4 : 1
            })
        )
        const n8n = yield* N8nClient
        const ids = new Set(Array.from(installed.values(), ({ id }) => id))
        const listed = Array.from(yield* Stream.runCollect(n8n.streamExecutions())).filter(({ workflowId }) =>
          ids.has(workflowId ?? "")
        )
        const row = ({ id, mode, startedAt, status, stoppedAt, workflowId }: (typeof listed)[number]) => ({
          id: String(id),
          workflowId,
          status,
          mode,
          startedAt,
          stoppedAt
        })
        assert.deepStrictEqual(
          listed.map(row),
          executions.map((each) => row({ ...each, mode: String(each["mode"]), id: each.id ?? "" })).toReversed()
        )
        // Neither release lists versions.
        assert.isTrue(listed.every((each) => each["workflowVersionId"] === undefined))

        const ofKey = (key: string) =>
          world.runs.flatMap((run, index) => run.workflow === key ? [{ ...run, id: String(firstId + index) }] : [])
        const { failure, get } = yield* Executions
        for (const [key, own] of installed) {
          for (const run of [ofKey(key)[0], ofKey(key).at(-1)]) {
            if (run === undefined) return assert.fail(`no runs of ${key}`)
            const execution = yield* get(run.id)
            const use = Profile.use(execution)
            if (drafts || !v2) assert.strictEqual(execution.version, own.versions[run.version])
            assert.strictEqual((yield* failure(run.id))?.message, run.failure?.message)
            const { items, time } = use.nodes.find(({ node }) => node === "Fetch") ?? assert.fail("Fetch did not run")
            assert.deepStrictEqual([time, items], [run.fetch, run.failure?.node === "Fetch" ? 0 : 3])
            const work = use.nodes.find(({ node }) => node === "Work")
            assert.strictEqual(
              work?.items,
              run.failure === undefined ? run.items : run.failure.node === "Work" ? 0 : undefined
            )
            assert.strictEqual(use.outside, run.before + run.after)
          }
        }

        const runs = listed.map((each) => ({
          id: String(each.id),
          workflowId: each.workflowId ?? "",
          status: each.status ?? "",
          mode: each.mode ?? "",
          startedAt: Date.parse(each.startedAt ?? ""),
          stoppedAt: Date.parse(each.stoppedAt ?? "")
        }))
        const traffic = Traffic.make(100, 1)
        const workflows = yield* Effect.provideService(
          Effect.forEach([...ids], (id) => n8n.getWorkflow(id)),
          Traffic.Current,
          traffic
        )
        // It runs on this machine, and dates its answers.
        assert.isDefined(traffic.clock)
        assert.isUndefined(Traffic.ahead(traffic))
        assert.strictEqual((yield* reading.instanceZone(workflows, runs))?.zone, world.zone)
        for (const key of ["broken", "flaky", "empty"]) {
          const { id = "", plan, versions } = installed.get(key) ?? {}
          const changes = yield* reading.changesOf(id)
          const saved = changes.filter(({ event }) => event === "saved")
          assert.deepStrictEqual(
            saved.map(({ at }) => Date.parse(at)),
            drafts ? [world.publishedAt, plan?.changedAt] : [plan?.changedAt]
          )
          if (drafts) assert.deepStrictEqual(saved.map(({ version }) => version), [versions?.[1], versions?.[2]])
          if (drafts || !v2) {
            assert.deepStrictEqual(
              changes.filter(({ event }) => event !== "saved").map(({ at, ...rest }) => ({
                ...rest,
                at: Date.parse(at)
              })),
              drafts ? [{ event: "published", version: versions?.[2] ?? "", at: plan?.changedAt ?? 0 }] : []
            )
          }
        }

        // Beside other tests, its time may not suffice for runs that were not read before.
        const failed = world.runs.flatMap((run, index) => run.failure === undefined ? [] : [String(firstId + index)])
        yield* Effect.forEach(failed, failure, { concurrency: 4, discard: true })
        const counted = world.runs.flatMap(({ workflow }, index) =>
          /得意先|Lager/.test(installed.get(workflow)?.plan.name ?? "") ? [String(firstId + index)] : []
        )
        yield* Effect.forEach(counted, get, { concurrency: 4, discard: true })
        const read = yield* Health.read({ since: world.since, workflows: [...ids] })
        const expected = week.expected(world, installed)
        assert.deepStrictEqual(week.compare(read, expected), [])
        assert.strictEqual(read.clock.zone, world.zone)
        assert.strictEqual(read.runs, world.runs.filter(({ at }) => at >= world.since).length)
        assert.isAtMost(read.requests, 400)
        const answer = yield* tools.instanceOverview.run({
          since: new Date(world.since).toISOString(),
          workflows: [...ids]
        })
        const { incidents = [] } = answer.data as {
          readonly incidents?: ReadonlyArray<{ readonly [key: string]: string }>
        }
        const untold = expected.filter(({ kind, workflowId }) =>
          !incidents.some((row) => row["workflowId"] === workflowId && row[kind] !== undefined)
        )
        assert.deepStrictEqual(untold, [])
      }).pipe(Effect.scoped, scenarios.live),
    300_000
  )
}
