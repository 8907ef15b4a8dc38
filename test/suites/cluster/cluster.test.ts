/** `pnpm test:suite cluster`: three servers behind nginx with a PostgreSQL, and what callers see while parts of it are gone. */
import { afterAll, assert, beforeAll, describe, layer } from "@effect/vitest"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Schedule from "effect/Schedule"
import { obj } from "../../../src/base/Json.ts"
import * as IdentityProvider from "../../support/IdentityProvider.ts"
import { bundle, remove } from "../../support/Process.ts"
import { call, Cluster, nameOf, newWorkflow, resultOf, versionsOf } from "./Cluster.ts"
import * as Load from "./Load.ts"
import * as Trial from "./Trial.ts"

beforeAll(bundle, 60_000)
afterAll(remove)

afterAll(Trial.print)

const only = (counts: Load.Counts, kind: "reads" | "writes", outcome: RegExp) => {
  for (const [name, reads, writes] of counts.outcomes) {
    if (name === Load.answered) continue
    assert.match(name, outcome)
    assert.strictEqual(kind === "reads" ? writes : reads, 0, name)
  }
}

describe("a team's server on many machines", () => {
  layer(Cluster.layer({ args: ["--rate-limit", "0"] }), { timeout: "2 minutes", excludeTestServices: true })((it) => {
    it.effect("a rolling restart fails no call", () =>
      Effect.gen(function*() {
        const { replicas, url } = yield* Cluster
        const counts = yield* Trial.tried("each server restarted in turn (SIGTERM), twice", url, {
          meanwhile: ({ more }) =>
            Effect.forEach([...replicas, ...replicas], ({ start, stop }) =>
              stop.pipe(Effect.andThen(start), Effect.andThen(more(50))))
        })
        assert.strictEqual(counts.failed, 0, Trial.told(counts))
      }))

    it.effect("a server that is killed fails only the calls it was answering", () =>
      Effect.gen(function*() {
        const { replicas: [first], url } = yield* Cluster
        if (first === undefined) return
        const counts = yield* Trial.tried("a server killed (SIGKILL), gone, started", url, {
          meanwhile: ({ more }) => first.kill.pipe(Effect.andThen(more(200)), Effect.andThen(first.start))
        })
        for (const [outcome] of counts.outcomes) assert.match(outcome, /^(answered|502 of the balancer)$/)
        // No more than the workers can have had there.
        assert.isAtMost(counts.failed, 4)
      }))

    it.effect("without the database reads go on, writes are refused, and it recovers by itself", () =>
      Effect.gen(function*() {
        const cluster = yield* Cluster
        const { database: { start, stop }, url } = cluster
        const counts = yield* Trial.tried("the database stopped", url, {
          meanwhile: ({ more }) => stop.pipe(Effect.andThen(more(300)), Effect.andThen(start)),
          back: Trial.writesAgain(cluster)
        })
        assert.isAbove(counts.failed, 0)
        only(counts, "writes", /the state database does not answer/)
      }))

    it.effect("a database that restarts while no one calls goes unnoticed", () =>
      Effect.gen(function*() {
        const cluster = yield* Cluster
        yield* cluster.database.stop
        yield* cluster.database.start
        const load = yield* Load.start(cluster.url)
        const counts = yield* load.next(200)
        yield* load.end
        Trial.rows.push(
          `| the database restarted while nobody calls | 0 | 0 | nothing | | ${counts.failed} of ${counts.total} failed |`
        )
        assert.strictEqual(counts.failed, 0, Trial.told(counts))
      }).pipe(Effect.scoped))

    it.effect("without n8n every call says so, and it recovers by itself", () =>
      Effect.gen(function*() {
        const cluster = yield* Cluster
        const { n8n: { start, stop }, url } = cluster
        const counts = yield* Trial.tried("n8n stopped", url, {
          meanwhile: ({ more }) => stop.pipe(Effect.andThen(more(100)), Effect.andThen(start)),
          back: Trial.readsAgain(cluster)
        })
        for (const [outcome] of counts.outcomes) assert.match(outcome, /^(answered|told that n8n does not answer)$/)
      }))

    it.effect("any process restores what another overwrote, and takes the answer to a question, once", () =>
      Effect.gen(function*() {
        const { replicas: [a, b, c], url } = yield* Cluster
        if (a === undefined || b === undefined || c === undefined) return
        const id = yield* newWorkflow(url, "Before")
        yield* call(a.url, "modern", { name: "update_workflow", arguments: { id, name: "After" } })
        const version = (yield* versionsOf(b.url, id)).find((each) => each.startsWith("snapshot-"))
        const ask = (replica: typeof a, params: object, again: object = {}) =>
          Effect.map(call(replica.url, "modern", { ...params, ...again }), resultOf)
        const agreed = ({ inputRequests, requestState }: ReturnType<typeof resultOf>) => ({
          requestState,
          inputResponses: Object.fromEntries(
            Object.keys(obj(inputRequests) ?? {}).map((name) => [
              name,
              { action: "accept", content: { confirm: true } }
            ])
          )
        })
        const restore = { name: "workflow_restore", arguments: { id, version } }
        const asked = yield* ask(b, restore)
        const restored = asked["resultType"] === "input_required" ? yield* ask(c, restore, agreed(asked)) : asked
        assert.isTrue(obj(restored["structuredContent"])?.["success"], JSON.stringify(restored))
        assert.strictEqual(yield* nameOf(url, id), "Before")

        const remove = { name: "delete_workflow", arguments: { id } }
        const question = yield* ask(a, remove)
        assert.strictEqual(question["resultType"], "input_required")
        const done = yield* ask(b, remove, agreed(question))
        assert.isTrue(obj(done["structuredContent"])?.["success"], JSON.stringify(done))
        const twice = yield* call(c.url, "modern", { ...remove, ...agreed(question) })
        assert.include(twice.text, "was used")
        Trial.rows.push(
          "| the server that made a snapshot, or asked a question, is another than the one that is called next | 4 | 4 | nothing | | an answer given twice is refused |"
        )
      }))

    it.effect("without the identity provider known keys go on; new ones are found when it is back", () =>
      Effect.gen(function*() {
        const { issuer, replicas, url } = yield* Cluster
        const resource = `${url}/mcp`
        const list = (as: string, at = url) =>
          Effect.map(
            call(at, "modern", { name: "list_workflows", arguments: {} }, { as }),
            ({ status, text }) => status === 200 && text.includes("\"success\":true") ? 200 : status
          )
        const until = (wanted: number, as: string) =>
          Effect.forEach(replicas, (replica) =>
            list(as, replica.url).pipe(
              Effect.filterOrFail((status) => status === wanted),
              Effect.retry({ schedule: Schedule.spaced("500 millis"), times: 40 })
            ))
        const thirty = (as: string) => Effect.forEach(Array.from({ length: 30 }), () => list(as), { concurrency: 5 })
        const first = yield* issuer
        const old = yield* IdentityProvider.login(first, { resource })
        yield* until(200, old.access)
        yield* first.stop
        const without = yield* thirty(old.access)
        assert.deepStrictEqual([...new Set(without)], [200])
        const second = yield* issuer
        const fresh = yield* IdentityProvider.login(second, { resource })
        // Whoever asks first for a new key waits for it; then all have it.
        yield* until(200, fresh.access)
        const rotated = yield* thirty(fresh.access)
        assert.deepStrictEqual([...new Set(rotated)], [200])
        assert.deepStrictEqual([...new Set(yield* thirty(old.access))], [401])
        yield* second.stop
        const third = yield* issuer
        const unknown = yield* IdentityProvider.login(third, { resource })
        yield* third.stop
        yield* until(503, unknown.access)
        assert.deepStrictEqual([...new Set(yield* thirty(fresh.access))], [200])
        Trial.rows.push(
          "| the identity provider gone | 30 | 30 | a token whose key no server has: 503 | | 0 of 30 failed |",
          "| the identity provider back with other keys | 30 | 30 | tokens of its former keys: 401 | | 0 of 30 failed |"
        )
      }).pipe(Effect.scoped))
  })

  layer(Cluster.layer({ args: ["--rate-limit", "60"] }), { timeout: "2 minutes", excludeTestServices: true })((it) => {
    it.effect("a limit applies across all three", () =>
      Effect.gen(function*() {
        const { replicas, url } = yield* Cluster
        const begin = yield* Clock.currentTimeMillis
        const answers = yield* Effect.forEach(Array.from({ length: 150 }), () =>
          call(url, "modern", { name: "list_workflows", arguments: {} }), { concurrency: 10 })
        const seconds = ((yield* Clock.currentTimeMillis) - begin) / 1000
        const passed = answers.filter(({ status }) =>
          status === 200
        ).length
        assert.isAtLeast(passed, 60)
        // One a second comes back.
        assert.isAtMost(passed, 61 + seconds)
        assert.deepStrictEqual([...new Set(answers.map(({ status }) => status))].toSorted(), [200, 429])
        for (const { errors } of replicas) assert.match(errors(), /status=429/)
        Trial.rows.push(
          `| \`--rate-limit 60\`, 150 calls at once over all three | 150 | ${passed} | ${
            150 - passed
          } refused (429) | | |`
        )
      }))
  })
})
