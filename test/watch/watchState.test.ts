import { assert, describe, layer as withLayer } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as TestClock from "effect/testing/TestClock"
import { gunzipSync, gzipSync } from "node:zlib"
import * as Documents from "../../src/base/Documents.ts"
import * as Executions from "../../src/executions/Executions.ts"
import { N8nClient } from "../../src/n8n/N8nClient.ts"
import * as FakeN8n from "../../src/testing/FakeN8n.ts"
import * as Watch from "../../src/watch/Watch.ts"
import { folderWith, platform } from "../support/folders.ts"
import { day, iso, minute, published, webhook } from "./simulation.ts"

const start = Date.parse("2026-03-02T08:00:00Z")
const orders = published("orders", webhook)

const fail = Effect.fnUntraced(function*(message: string) {
  const fake = yield* FakeN8n.FakeN8n
  const startedAt = iso(yield* Effect.clockWith((clock) => clock.currentTimeMillis))
  yield* fake.addExecution(FakeN8n.failedExecution({ workflow: orders, node: "Work", message, startedAt }))
})

const n8n = Layer.merge(FakeN8n.layer({ workflows: [orders], executions: [] }), Executions.layer())

const poll = Watch.poll({ every: minute })

/** Polls at the next minute. */
const next = Effect.andThen(TestClock.adjust(minute), poll)

const whats = ({ incidents }: Watch.Report) => incidents.map(({ what }) => what.replace(/.*: /, ""))

const state = Effect.gen(function*() {
  const { instance } = yield* N8nClient
  const own = (yield* Documents.Documents).collection("watch", instance.key)
  const name = "state.json.gz"
  return {
    read: Effect.map(own.read(name), (bytes) => bytes && gunzipSync(bytes).toString()),
    aside: own.read("state.aside.json.gz"),
    write: (bytes: Uint8Array) => own.write(name, bytes)
  }
})

withLayer(platform)("the state of a watch", (it) => {
  for (const [name, make] of [["memory", undefined], ["a folder", folderWith()]] as const) {
    const inDocuments = Effect.fnUntraced(function*<A, E>(
      use: Effect.Effect<
        A,
        E,
        N8nClient | FakeN8n.FakeN8n | Executions.Executions | Documents.Documents
      >
    ) {
      const documents = make === undefined ? Documents.layerMemory : Documents.layerFolder(yield* make)
      return yield* Effect.provide(use, Layer.merge(n8n, documents))
    })

    describe(`in ${name}`, () => {
      it.effect("delivers an incident until someone has confirmed it", () =>
        inDocuments(Effect.gen(function*() {
          yield* TestClock.setTime(start)
          yield* Watch.settle(yield* poll, true)
          yield* fail("refused")
          const first = yield* next
          assert.deepStrictEqual(whats(first), ["refused"])
          yield* Watch.settle(first, false)
          const second = yield* next
          assert.deepStrictEqual(whats(second), ["refused"])
          // This watcher ends before it can say whether the report arrived.
          const third = yield* next
          assert.isTrue(third.isSkipped)
          const fourth = yield* next
          assert.deepStrictEqual(whats(fourth), ["refused"])
          yield* Watch.settle(fourth, true)
          assert.deepStrictEqual(whats(yield* next), [])
        })))

      it.effect("lets one of several watchers poll at a time", () =>
        inDocuments(Effect.gen(function*() {
          yield* TestClock.setTime(start)
          yield* Watch.settle(yield* poll, true)
          for (let round = 0; round < 5; round++) {
            yield* fail(`refused for ${["a", "b", "c", "d", "e"][round]}`)
            yield* TestClock.adjust(minute)
            const reports = yield* Effect.all([poll, poll, poll], { concurrency: 3 })
            assert.strictEqual(reports.filter(({ isSkipped }) => !isSkipped).length, 1)
            assert.strictEqual(reports.flatMap(whats).length, 1)
            yield* Effect.forEach(reports, (report) => Watch.settle(report, true))
          }
        })))

      it.effect("reports a cause again after a day of quiet", () =>
        inDocuments(Effect.gen(function*() {
          yield* TestClock.setTime(start)
          yield* Watch.settle(yield* poll, true)
          const found: Array<string> = []
          for (const pause of [minute, day / 2, day / 2, day + minute]) {
            yield* TestClock.adjust(pause)
            yield* fail("refused")
            yield* TestClock.adjust(2 * minute)
            const report = yield* poll
            found.push(`${report.incidents.length}`)
            yield* Watch.settle(report, true)
          }
          assert.deepStrictEqual(found, ["1", "0", "0", "1"])
        })))

      it.effect("is set aside when it is damaged or of another format, and the look learns from the past", () =>
        inDocuments(Effect.gen(function*() {
          yield* TestClock.setTime(start)
          yield* Watch.settle(yield* poll, true)
          const { aside, read, write } = yield* state
          const text = (yield* read) ?? ""
          for (
            const [foreign, reason] of [
              [gzipSync(text.replace("\"format\":2", "\"format\":1")), /had the format 1 of another release/],
              [gzipSync("{"), /was damaged/],
              [new TextEncoder().encode("no gzip"), /was damaged/],
              [gzipSync(text.replace("\"top\"", "\"bottom\"")), /had the format 2|was damaged/]
            ] as const
          ) {
            yield* write(foreign)
            yield* fail("refused before")
            const first = yield* next
            assert.deepStrictEqual([first.isFirst, whats(first)], [true, []])
            assert.lengthOf(first.unknown, 1)
            assert.match(first.unknown[0] ?? "", reason)
            assert.match(first.unknown[0] ?? "", /'state\.aside\.json\.gz'/)
            yield* Watch.settle(first, true)
            assert.deepStrictEqual(Buffer.from((yield* aside) ?? []), Buffer.from(foreign))
            yield* fail(`refused ${reason.source}`)
            const second = yield* next
            assert.deepStrictEqual([second.isFirst, second.unknown, second.incidents.length], [false, [], 1])
            yield* Watch.settle(second, true)
          }
        })))
    })
  }
})
