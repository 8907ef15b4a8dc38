import { assert, describe, it } from "@effect/vitest"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Schema from "effect/Schema"
import * as TestClock from "effect/testing/TestClock"
import { equals } from "../../src/base/Json.ts"
import * as N8nClient from "../../src/n8n/N8nClient.ts"
import * as N8nApi from "../../src/testing/n8nApi/N8nApi.ts"
import { reasonOf } from "../support/reason.ts"
import { rounds } from "../support/seed.ts"
import {
  type Answer,
  answers,
  apiFailure,
  memoryClient,
  neverAnswers,
  pausesBetween,
  readPages,
  refuses,
  says,
  scriptedClient,
  settle,
  versions
} from "./clients.ts"

describe("writes", () => {
  it.effect("run one at a time", () =>
    Effect.gen(function*() {
      const body = { id: "w1", name: "W", active: false, nodes: [], connections: {} }
      const slow: Answer = (request, url) => Effect.delay(says(body)(request, url), "1 second")
      const { n8n, requests } = yield* scriptedClient([slow])
      const changes = [n8n.publishWorkflow("w1"), n8n.putWorkflow("w1", {}), n8n.unpublishWorkflow("w1")]
      const others = [n8n.createWorkflow({} as never), n8n.deleteWorkflow("w1")]
      yield* settle(Effect.all([...changes, ...others], { concurrency: "unbounded" }))
      assert.isAtLeast(Math.min(...pausesBetween(requests)), 1_000)
    }))
})

describe("listWorkflows", () => {
  const id = (index: number) => `w${String(index).padStart(4, "0")}`

  const entry = (index: number, more: object = {}): N8nApi.Workflow => ({
    id: id(index),
    name: `Workflow ${index}`,
    active: false,
    isArchived: false,
    nodes: [],
    connections: {},
    tags: [],
    ...more
  })

  const ids = ({ workflows }: { readonly workflows: ReadonlyArray<{ readonly id: string }> }) =>
    workflows.map((each) => each.id)

  const tags = (...names: ReadonlyArray<string>) => ({ tags: names.map((name) => ({ name })) })

  const archived = { isArchived: true }

  describe.each(versions)("on n8n %s", (version) => {
    it.effect("uses the requested limit, not the cursor's", () =>
      Effect.gen(function*() {
        const { n8n } = yield* memoryClient({ workflows: Array.from({ length: 9 }, (_, at) => entry(at)) }, version)
        const { nextCursor } = yield* n8n.listWorkflows({ archived: false, limit: 5 })
        const next = yield* n8n.listWorkflows({ archived: false, limit: 2, cursor: nextCursor })
        assert.deepStrictEqual(ids(next), [5, 6].map(id))
      }))

    it.effect("filters by tags that have commas, and by a part of the name", () =>
      Effect.gen(function*() {
        const named = { ...tags("Red"), name: "Beta SYNC" }
        const workflows = [entry(0, tags("red", "big, blue")), entry(1, tags("red", "big", "blue")), entry(2, named)]
        const { n8n } = yield* memoryClient({ workflows }, version)
        const find = (query: object) => Effect.map(n8n.listWorkflows({ archived: false, limit: 10, ...query }), ids)
        assert.deepStrictEqual(yield* find({ tags: ["red"] }), [0, 1].map(id))
        assert.deepStrictEqual(yield* find({ tags: ["big, blue"] }), [id(0)])
        assert.deepStrictEqual(yield* find({ tags: ["blue", "big"] }), [id(1)])
        assert.deepStrictEqual(yield* find({ name: "sync" }), [id(2)])
      }))

    it.effect("skips a thousand archived workflows in few requests", () =>
      Effect.gen(function*() {
        const workflows = Array.from({ length: 1_010 }, (_, index) =>
          entry(index, index >= 5 && index < 1_005 ? archived : {}))
        const { count, n8n } = yield* memoryClient({ workflows }, version)
        const page = yield* n8n.listWorkflows({ archived: false, limit: 5 })
        assert.deepStrictEqual(ids(page), [0, 1, 2, 3, 4].map(id))
        assert.isDefined(page.nextCursor)
        assert.isAtMost(yield* count, 12)
      }))

    it.effect("requests no more than needed if nothing is filtered, and no pinned data", () =>
      Effect.gen(function*() {
        const workflows = Array.from({ length: 300 }, (_, index) => entry(index))
        const { n8n, queries } = yield* memoryClient({ workflows }, version)
        const { nextCursor } = yield* n8n.listWorkflows({ archived: false, limit: 20 })
        assert.isDefined(nextCursor)
        assert.strictEqual((yield* queries).length, 1)
        const [query = new URLSearchParams()] = yield* queries
        assert.strictEqual(query.get("limit"), "21")
        assert.strictEqual(query.get("excludePinnedData"), "true")
      }))
  })

  it.effect("loses none if n8n returns fewer than requested", () =>
    Effect.gen(function*() {
      const workflows = Array.from({ length: 10 }, (_, index) => entry(index))
      const Cursor = Schema.fromJsonString(Schema.Struct({ offset: Schema.Int }))
      const givesThree: Answer = (request, url) => {
        const { offset } = Schema.decodeSync(Cursor)(atob(url.searchParams.get("cursor") ?? ""))
        const more = offset + 3 < workflows.length
        return says({ data: workflows.slice(offset, offset + 3), nextCursor: more ? "more" : null })(request, url)
      }
      const { n8n, requests } = yield* scriptedClient([givesThree])
      const page = yield* n8n.listWorkflows({ archived: false, limit: 8 })
      assert.deepStrictEqual(ids(page), workflows.slice(0, 8).map((each) => each.id))
      // Pages overlap by one workflow.
      assert.strictEqual(requests.length, 4)
      const next = yield* n8n.listWorkflows({ archived: false, limit: 8, cursor: page.nextCursor })
      assert.deepStrictEqual(ids(next), [8, 9].map(id))
    }))

  it.effect.each(["", "2", "%%%", btoa("nonsense"), btoa(JSON.stringify({ lastId: "17", limit: 20 }))])(
    "refuses the cursor '%s' without a request",
    (cursor) =>
      Effect.gen(function*() {
        const { count, n8n } = yield* memoryClient({})
        const error = yield* Effect.flip(n8n.listWorkflows({ archived: false, limit: 5, cursor }))
        assert.deepInclude(error, { _tag: "ValidationError", field: "cursor" })
        assert.strictEqual(yield* count, 0)
      })
  )

  const below = (maximum: number) => Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: maximum - 1 }))

  /** Workflows that are deleted after some requests, and one that is created first in the list. */
  const Change = Schema.Struct({ after: below(12), from: below(60), count: below(25), creates: Schema.Boolean })

  const Offset = Schema.fromJsonString(Schema.Struct({ limit: Schema.Int, offset: Schema.Int }))

  it.effect.prop(
    "hides and repeats none while others are deleted and created, whatever the database's order",
    {
      changes: Schema.Array(Change).check(Schema.isBetweenLength(1, 6)),
      limit: Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 20 })),
      isScan: Schema.Boolean,
      isByCode: Schema.Boolean
    },
    ({ changes, isByCode, isScan, limit }) =>
      Effect.gen(function*() {
        const letters = "aBcDeFgHiJkLmNoPqRsTuVwXyZ"
        const named = (index: number) => ({
          ...entry(index),
          id: `${letters[(index * 7) % 26]}${letters[(index * 11) % 25]}${index}`
        })
        const byCode = (a: string, b: string) => a < b ? -1 : 1
        const byLocale = new Intl.Collator("en").compare
        const [inOrder, inOther] = isByCode ? [byCode, byLocale] : [byLocale, byCode]
        const all = Array.from({ length: 60 }, (_, index) => named(index)).toSorted((a, b) => inOrder(a.id, b.id))
        let rows = all
        let requests = 0
        let created = 99
        const answer: Answer = (request, url) => {
          for (const { count, creates, from } of changes.filter(({ after }) => after === requests)) {
            const gone = new Set(all.slice(from, from + count))
            rows = [
              ...(creates ? [{ ...entry(requests), id: `0${created--}` }] : []),
              ...rows.filter((row) => !gone.has(row))
            ]
          }
          requests++
          const { limit, offset } = Schema.decodeSync(Offset)(atob(url.searchParams.get("cursor") ?? ""))
          const end = offset + limit
          return says({ data: rows.slice(offset, end), nextCursor: rows.length > end ? "more" : null })(request, url)
        }
        const { n8n } = yield* scriptedClient([answer])
        const pages = yield* readPages((cursor) =>
          n8n.listWorkflows({ archived: false, limit, cursor, filter: isScan ? () => true : undefined })
        )
        const listed = pages.flatMap(ids)
        const first = pages.slice(0, 1).flatMap(ids)
        // Rows that are in both orders do not show which one it is: then some may be repeated.
        if (!equals(first, first.toSorted(inOther))) assert.lengthOf(new Set(listed), listed.length)
        assert.isTrue(pages.map(ids).every((page) => new Set(page).size === page.length))
        assert.includeMembers(listed, all.filter((row) => rows.includes(row)).map(({ id }) => id))
      })
  )

  const Kind = Schema.Struct({
    archived: Schema.Boolean,
    active: Schema.Boolean,
    red: Schema.Boolean,
    comma: Schema.Boolean
  })

  it.effect.prop(
    "lists exactly the matching workflows, page by page",
    {
      kinds: Schema.Array(Kind).check(Schema.isMaxLength(40)),
      limit: Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 8 })),
      offset: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 6 })),
      version: Schema.Literals(versions),
      query: Schema.Struct({ ...Kind.fields, active: Schema.UndefinedOr(Schema.Boolean) })
    },
    ({ kinds, limit, offset, query, version }) =>
      Effect.gen(function*() {
        const names = (kind: { readonly red: boolean; readonly comma: boolean }) => [
          ...(kind.red ? ["red"] : []),
          ...(kind.comma ? ["a,b"] : [])
        ]
        const workflows = kinds.map((kind, index) =>
          entry(index, { isArchived: kind.archived, active: kind.active, ...tags(...names(kind)) })
        )
        const expected = kinds.flatMap((kind, index) =>
          (query.archived || !kind.archived) && (query.active === undefined || query.active === kind.active) &&
            (!query.red || kind.red) && (!query.comma || kind.comma)
            ? [id(index)]
            : []
        ).slice(offset)
        const { n8n } = yield* memoryClient({ workflows }, version)
        const pages = yield* readPages((cursor) =>
          n8n.listWorkflows({
            archived: query.archived,
            active: query.active,
            tags: names(query),
            limit,
            ...(cursor === undefined ? { offset } : { cursor })
          })
        )
        assert.deepStrictEqual(pages.flatMap(ids), expected)
        // Every page but the last is full, and a next page is only named where there is one.
        assert.isTrue(pages.slice(0, -1).every((page) => page.workflows.length === limit))
        assert.strictEqual(pages.length, Math.max(1, Math.ceil(expected.length / limit)))
      }),
    { arbitrary: { runs: rounds(200) } }
  )
})

describe("workflowName", () => {
  const named = (id: string, name: string): N8nApi.Workflow => ({ id, name, active: true, nodes: [], connections: {} })

  const workflows = [named("a", "Alpha"), named("b", "Beta")]

  it.effect("requests each workflow once, even for concurrent calls, and a deleted one", () =>
    Effect.gen(function*() {
      const { count, n8n } = yield* memoryClient({ workflows })
      const names = yield* Effect.forEach(["a", "b", "a", "c", "b"], n8n.workflowName, { concurrency: "unbounded" })
      assert.deepStrictEqual(names, ["Alpha", "Beta", "Alpha", N8nClient.deletedWorkflow, "Beta"])
      assert.strictEqual(yield* n8n.workflowName("c"), "Deleted Workflow")
      assert.strictEqual(yield* count, 3)
    }))

  it.effect("caches a name for a minute", () =>
    Effect.gen(function*() {
      const { n8n, requests } = yield* scriptedClient([says({ name: "Old" }), says({ name: "New" })])
      assert.strictEqual(yield* n8n.workflowName("a"), "Old")
      yield* TestClock.adjust("59999 millis")
      assert.strictEqual(yield* n8n.workflowName("a"), "Old")
      assert.strictEqual(requests.length, 1)
      yield* TestClock.adjust("1 millis")
      assert.strictEqual(yield* n8n.workflowName("a"), "New")
      assert.strictEqual(requests.length, 2)
    }))

  it.effect.each<[what: string, reason: string, answer: Answer]>([
    ["a refusal", "Status 403", refuses(403)],
    ["a web page that says 404", "Status 404", says("<html>", { status: 404 })],
    ["an answer without a name", "Unreadable", says({ id: "a" })]
  ])("fails on %s, and does not cache the failure: %s", ([, reason, answer]) =>
    Effect.gen(function*() {
      const { n8n } = yield* scriptedClient([answer, answer, answers])
      for (let time = 0; time < 2; time++) {
        assert.strictEqual(reasonOf(yield* apiFailure(n8n.workflowName("a"))), reason)
      }
      assert.strictEqual(yield* n8n.workflowName("a"), "Daily")
    }))

  it.effect("requests again after an interrupted call", () =>
    Effect.gen(function*() {
      const { n8n, requests } = yield* scriptedClient([neverAnswers, answers])
      const fiber = yield* Effect.forkChild(n8n.workflowName("a"))
      yield* Effect.yieldNow
      yield* Fiber.interrupt(fiber)
      assert.strictEqual(yield* n8n.workflowName("a"), "Daily")
      assert.strictEqual(requests.length, 2)
    }))

  it.effect("still answers other callers when one is interrupted", () =>
    Effect.gen(function*() {
      const gate = yield* Deferred.make<void>()
      const { n8n, requests } = yield* scriptedClient([
        (...asked) => Effect.andThen(Deferred.await(gate), answers(...asked))
      ])
      const first = yield* Effect.forkChild(n8n.workflowName("a"))
      const second = yield* Effect.forkChild(n8n.workflowName("a"))
      yield* Effect.yieldNow
      yield* Fiber.interrupt(first)
      yield* Deferred.succeed(gate, undefined)
      assert.strictEqual(yield* Fiber.join(second), "Daily")
      assert.strictEqual(requests.length, 1)
    }))
})
