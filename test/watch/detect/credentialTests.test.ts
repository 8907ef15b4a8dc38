import { assert, describe, it } from "@effect/vitest"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import type * as Layer from "effect/Layer"
import * as TestClock from "effect/testing/TestClock"
import * as FakeN8n from "../../../src/testing/FakeN8n.ts"
import type { Report } from "../../../src/watch/Watch.ts"
import { node } from "../../support/workflows.ts"
import { hour, iso, layer, minute, poll, published, webhook } from "../simulation.ts"

const start = Date.parse("2026-03-02T08:00:00Z")
const step = 20 * minute

const credential = { id: "c1", name: "Shop", type: "httpHeaderAuth" }
const paying = (id: string) =>
  published(id, webhook, {
    nodes: [webhook, { ...node("Work", "code", 2), credentials: { httpHeaderAuth: credential } }]
  })
const names = [..."abcdefghijkl"]
const workflows = names.map(paying)

type Needs = Layer.Success<ReturnType<typeof layer>>

interface World {
  /** Answer to a test of the credential. */
  answer: () => Response
  /** Hours after the start at which n8n tested it. */
  readonly tests: Array<number>
  /** Polls three times an hour for some hours. */
  readonly wait: (hours: number) => Effect.Effect<ReadonlyArray<Report>, unknown, Needs>
}

const works = () => Response.json({ status: "OK", message: "ok" })
const fails = (message: string) => () => Response.json({ status: "Error", message })

const inWorld = <E>(use: (world: World) => Effect.Effect<void, E, Needs>) => {
  let now = start
  const world: World = {
    answer: works,
    tests: [],
    wait: (hours) =>
      Effect.gen(function*() {
        const reports: Array<Report> = []
        for (const end = now + hours * hour; now < end;) {
          now += step
          yield* TestClock.setTime(now)
          reports.push(yield* poll({ every: step }))
        }
        return reports
      })
  }
  const before: FakeN8n.Options["before"] = ({ method, url }) => {
    if (method !== "POST" || !url.endsWith("/credentials/c1/test")) return Effect.void
    world.tests.push((now - start) / hour)
    return Effect.sync(() => world.answer())
  }
  return Effect.gen(function*() {
    yield* TestClock.setTime(start)
    yield* poll({ every: step })
    yield* use(world)
  }).pipe(Effect.provide(layer({ workflows, executions: [], credentials: [credential] }, { before })))
}

const found = (reports: ReadonlyArray<Report>) => reports.flatMap(({ incidents }) => incidents)
const unknown = (reports: ReadonlyArray<Report>) => reports.flatMap((report) => report.unknown)

const gaps = (times: ReadonlyArray<number>) =>
  times.slice(1).map((time, index) => Math.round((time - (times[index] ?? 0)) * 3) / 3)

describe("a credential", () => {
  it.effect("is tested once an hour, and less and less often while it fails", () =>
    inWorld((world) =>
      Effect.gen(function*() {
        assert.deepStrictEqual(found(yield* world.wait(3)), [])
        assert.deepStrictEqual(gaps(world.tests), [1, 1])
        world.answer = fails("invalid_auth")
        const [incident, ...more] = found(yield* world.wait(20))
        assert.deepStrictEqual(more, [])
        assert.include(
          incident?.what,
          "'Shop' (httpHeaderAuth) no longer signs in: 12 published workflows depend on it"
        )
        assert.match(incident?.what ?? "", /'a', .*'j' and 2 more$/)
        assert.deepStrictEqual(incident?.workflows, names.map((name) => ({ id: name, name })))
        assert.deepStrictEqual(gaps(world.tests).slice(2), [1, 1, 2, 4, 8])
        world.answer = works
        yield* world.wait(17)
        assert.deepStrictEqual(gaps(world.tests).slice(7, 9), [16, 1])
      })
    ))

  it.effect("is tested earlier once an hour at most, however many services refuse it", () =>
    inWorld((world) =>
      Effect.gen(function*() {
        const fake = yield* FakeN8n.FakeN8n
        yield* world.wait(5 / 3)
        for (const workflow of workflows.slice(1, 4)) {
          const startedAt = iso((yield* Clock.currentTimeMillis) + 1)
          const failed = FakeN8n.failedExecution({ workflow, node: "Work", message: "401 Unauthorized", startedAt })
          yield* fake.addExecution({ ...failed, mode: "webhook" })
          yield* world.wait(1 / 3)
        }
        assert.deepStrictEqual(gaps(world.tests), [1, 2 / 3])
      })
    ))

  it.effect("whose service does not answer is reported at the second test", () =>
    inWorld((world) =>
      Effect.gen(function*() {
        yield* world.wait(1)
        world.answer = fails("connect ECONNREFUSED 10.0.0.1:443")
        const reports = yield* world.wait(4)
        assert.deepStrictEqual(found(reports).map(({ kind, what }) => [kind, /cannot be tested/.test(what)]), [
          ["credential", true]
        ])
        assert.strictEqual(reports.findIndex(({ incidents }) => incidents.length > 0), 3)
      })
    ))

  it.effect("that has never worked is unknown, as are all where the key or n8n cannot test", () => {
    const sentence = (answer: () => Response) =>
      inWorld((world) =>
        Effect.gen(function*() {
          world.answer = answer
          const reports = yield* world.wait(6)
          assert.deepStrictEqual(found(reports), [])
          sentences.push(...unknown(reports))
          counts.push(world.tests.length)
        })
      )
    const sentences: Array<string> = []
    const counts: Array<number> = []
    return Effect.gen(function*() {
      yield* sentence(fails("scope missing"))
      yield* sentence(() => Response.json({ message: "Forbidden" }, { status: 403 }))
      yield* sentence(() => Response.json({ message: "not found" }, { status: 404 }))
      yield* sentence(fails("No testing function found for this credential."))
      assert.lengthOf(sentences, 3)
      assert.include(sentences[0], "'Shop' signs in: it has failed n8n's test from the start (scope missing)")
      assert.include(sentences[1], "lacks the scope")
      assert.include(sentences[2], "this n8n's API cannot")
      assert.deepStrictEqual(counts.slice(1), [1, 1, 1])
    })
  })
})
