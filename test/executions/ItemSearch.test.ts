import { assert, describe, it } from "@effect/vitest"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Result from "effect/Result"
import * as Interpreter from "../../src/base/Interpreter.ts"
import * as Redact from "../../src/base/Redact.ts"
import * as ItemSearch from "../../src/executions/ItemSearch.ts"
import { document, from, fromApi, items, run } from "./runData.ts"

const orders = Array.from(
  { length: 3_000 },
  (_, index) => ({ orderNo: `A-${index}`, amount: index, note: "x".repeat(200) })
)

const execution = fromApi(document({
  Orders: [run(0, { main: [items(...orders)] })],
  "Big?": [run(1, {
    main: [
      items(...orders.filter(({ amount }) => amount > 2_990)),
      items({ 名前: "山田 \"太郎\"", apiKey: "sk-live-canary-000", price: 10.5, nested: [{ deep: "Needle" }] })
    ]
  }, { source: [from("Orders")] })]
}))

const { where: compile } = await Effect.runPromise(Interpreter.load)

const expression = (source: string, limits?: Interpreter.Limits) => Result.getOrThrow(compile(source))(limits)

const search = (condition: ItemSearch.Condition, options: Partial<ItemSearch.Options> = {}) =>
  ItemSearch.search(execution, condition, {
    slots: ItemSearch.outputs(execution),
    limit: 10,
    redacts: true,
    ...options
  })

const slot = (node: string, index: number) => ({ node, run: 0, side: "output" as const, port: { type: "main", index } })

describe("ItemSearch", () => {
  it.effect("finds text in keys and values, whatever the case, over all outputs", () =>
    Effect.gen(function*() {
      assert.deepStrictEqual(yield* search({ text: "a-2995" }), {
        matched: 2,
        scanned: 3_010,
        failed: 0,
        failure: undefined,
        absent: [],
        redacted: [],
        passesSecrets: false,
        values: [],
        nodes: [{ node: "Orders", matched: 1 }, { node: "Big?", matched: 1 }],
        matches: [
          { slot: slot("Orders", 0), index: 2_995, position: 2_995, item: { json: orders[2_995] ?? {} } },
          { slot: slot("Big?", 0), index: 4, position: 3_004, item: { json: orders[2_995] ?? {} } }
        ]
      })
      for (const text of ["名前", "山田 \"太", "10.5", "needle", "NESTED"]) {
        const { matched, matches } = yield* search({ text })
        assert.deepStrictEqual([matched, matches[0]?.slot.port.index, matches[0]?.index], [1, 1, 0], text)
      }
      // The second is in a secret, which a search must not confirm.
      for (const text of ["nowhere", "canary"]) assert.strictEqual((yield* search({ text })).matched, 0)
    }))

  it.effect("decides as on redacted items, whatever a condition reads", () =>
    Effect.gen(function*() {
      const jsons = [
        { amount: 7, apiKey: "sk-live-canary-000" },
        { amount: 7, apiKey: 12_345, token: ["canary-canary-00"], note: null },
        { amount: "7", name: "X-Api-Key", value: "canary-canary-00" },
        { amount: 7, name: "X-Api-Key", value: 12_345 },
        { amount: 7, ghp_0123456789abcdefghijABCDEFGHIJ456789: 7 },
        { amount: { password: "canary-canary-00" } },
        { note: "nothing to hide" },
        { note: "Authorization: Bearer canary-canary-00", page: { url: "https://u:canary@example.com", name: "Shop" } },
        { page: { url: "https://example.com", name: "Shop", tags: ["--token", "canary-canary-00"] } },
        { page: ["--token", "canary-canary-00", { name: "password", text: "canary-canary-00" }] },
        { name: "secrets", value: { first: "canary-canary-00" } },
        { amount: 9, String: 8, length: 7 },
        {
          String: "Bearer canary-canary-00",
          length: "Bearer canary-canary-01",
          page: { length: "Bearer canary-canary-02" }
        }
      ]
      const sources = [
        "page.name.length === 4 && page.url.length > 5",
        "page.length === 3 && page[2].name.length > 3",
        "(page ?? value).name === 'Shop'",
        "value.toString().length > 20",
        "length === 7 || $json.length > 7",
        "length.includes('canary')",
        "\\u006cength.includes('canary')",
        "page.length.includes('canary')",
        "String.includes('canary')",
        "amount > 5 && String === 8",
        "amount > 5 && String(amount) === '7'",
        "amount > 5",
        "$json.amount == 7",
        "apiKey",
        "apiKey === 12345",
        "apiKey?.includes('canary')",
        "value > 5",
        "value !== undefined && name !== undefined",
        "token?.[0].startsWith('canary')",
        "amount.password",
        "amount?.password?.length > 12",
        "$json['[redacted]'] === 7",
        "$json['ghp_0123456789abcdefghijABCDEFGHIJ456789'] === 7",
        "Object.values($json).some((each) => String(each).includes('canary'))",
        "note === null",
        "note.length === 38",
        "note.endsWith('hide')",
        "page.name === 'Shop' && page.url.includes('example.com')",
        "page.name === 'Shop' && page.url.includes('canary')",
        "page.tags[1].includes('canary')",
        "page[2].text.includes('canary')",
        "page[2].name === 'password' && page.length === 3",
        "page[1].includes('canary')",
        "page[0] === '--token'",
        "value?.first?.includes('canary')"
      ]
      const one = fromApi(document({ All: [run(0, { main: [items(...jsons)] })] }))
      for (const source of sources) {
        const where = expression(source)
        const expected = jsons.map((json) => Redact.redact(json)).filter((json) =>
          Result.getOrElse(where(json), () => false)
        )
        const slots = ItemSearch.outputs(one)
        const { matches } = yield* ItemSearch.search(one, { where: expression(source) }, {
          slots,
          limit: 10,
          redacts: true
        })
        const stored = yield* ItemSearch.search(one, { where: expression(source) }, {
          slots,
          limit: 20,
          redacts: false
        })
        assert.deepStrictEqual(
          stored.matches.map(({ item }) => item.json),
          jsons.filter((json) => Result.getOrElse(where(json), () => false)),
          source
        )
        assert.deepStrictEqual(matches.map(({ item }) => item.json), expected, source)
        assert.notInclude(JSON.stringify(matches), "canary", source)
      }
    }))

  it.effect("finds texts as in redacted items, wherever they are", () =>
    Effect.gen(function*() {
      const jsons = [
        { note: "an open canary", apiKey: "sk-live-canary-000" },
        { apiKey: "sk-live-canary-000", token: ["canary-canary-00"] },
        { name: "X-Api-Key", value: "canary-canary-00" },
        { name: "Title", value: "canary" },
        { headers: [{ name: "X-Title", value: "canary" }, { name: "X-Api-Key", value: "canary-canary-00" }] },
        { canary: 1, password: "canary-canary-00" },
        { password: { canary: "canary-canary-00" } },
        { page: "https://u:canary@example.com" },
        { page: "https://u:canary@example.com", tags: ["canary"] },
        { name: "secrets", value: { first: "canary-canary-00" } },
        { secrets: [{ first: "canary-canary-00", label: "canary" }] },
        { args: ["--token", "canary-canary-00"] },
        { args: ["canary-canary-00", "--verbose"] },
        { note: "Authorization: Bearer canary-canary-00" },
        { note: "Authorization: Bearer canary-canary-00, by the canary" },
        { curl: "curl -u admin:canary https://example.com" },
        { amount: 7 }
      ]
      const one = fromApi(document({ All: [run(0, { main: [items(...jsons)] })] }))
      const shown: ReadonlyArray<unknown> = jsons.map((json) => Redact.redact(json))
      const expected = shown.flatMap((json, index) => JSON.stringify(json).includes("canary") ? index : [])
      const { matched, matches } = yield* ItemSearch.search(one, { text: "Canary" }, {
        slots: ItemSearch.outputs(one),
        limit: 20,
        redacts: true
      })
      assert.deepStrictEqual([matched, matches.map(({ index }) => index)], [expected.length, expected])
      assert.isAtLeast(expected.length, 5)
      assert.deepStrictEqual(matches.map(({ item }) => item.json), expected.map((index) => shown[index]))
    }))

  it.effect("counts all matches and gives some, in any of the nodes that are named", () =>
    Effect.gen(function*() {
      const where = expression("amount >= 100")
      const found = yield* search({ where, text: "a-" }, {
        slots: ItemSearch.outputs(execution, ["Orders"]),
        limit: 2,
        offset: 5
      })
      assert.deepStrictEqual([found.matched, found.scanned], [2_900, 3_000])
      assert.deepStrictEqual(found.matches.map(({ index }) => index), [105, 106])
    }))

  it.effect("counts the items that an expression does not fit, and says why", () =>
    Effect.gen(function*() {
      const found = yield* search({ where: expression("price.toFixed(1) === '10.5'") })
      assert.deepStrictEqual([found.matched, found.failed, found.failure?.kind], [1, 0, undefined])
      const where = expression("orderNo == null || note.startsWith('x') && amount.startsWith('2')")
      const { failed, failure, matched } = yield* search({ where })
      assert.deepStrictEqual([matched, failed, failure?.kind], [1, 3_009, "type"])
    }))

  it.effect("lets others run between items that take long", () =>
    Effect.gen(function*() {
      let time = 0
      const slow = Object.assign(Object.create(yield* Clock.Clock) as Clock.Clock, {
        currentTimeMillisUnsafe: () => time += 11
      })
      let turns = 0
      const others = yield* Effect.forkChild(
        Effect.forever(Effect.andThen(Effect.sync(() => turns++), Effect.yieldNow))
      )
      const { matched } = yield* Effect.provideService(search({ where: expression("amount < 3") }), Clock.Clock, slow)
      yield* Fiber.interrupt(others)
      assert.strictEqual(matched, 3)
      assert.isAbove(turns, 500)
    }))

  it.effect("gives some matches of each node, and the first of one", () =>
    Effect.gen(function*() {
      const where = expression("amount >= 100")
      const { matched, matches } = yield* search({ where }, { limit: 5, spreads: true })
      assert.strictEqual(matched, 2_909)
      assert.deepStrictEqual(
        matches.map(({ index, slot }) => [slot.node, index]),
        [["Orders", 100], ["Big?", 0], ["Orders", 101], ["Big?", 1], ["Orders", 102]]
      )
      const rest = yield* search({ where }, { offset: 3, limit: 2, spreads: true })
      assert.deepStrictEqual(rest.matches, matches.slice(3))
      const alone = yield* search({ where }, { limit: 1, spreads: true })
      assert.deepStrictEqual(alone.matches.map(({ slot }) => slot.node), ["Orders"])
    }))

  it.effect("tells which of the places that an expression names no item has, and values of the others", () =>
    Effect.gen(function*() {
      const where = expression("amuont > 3 || nested[0].deeper.x === 1 || price === 'ten' || $json.note.length === -1")
      const { absent, matched, values } = yield* search({ where })
      assert.strictEqual(matched, 0)
      assert.deepStrictEqual(absent, ["amuont", "nested[0].deeper"])
      assert.deepStrictEqual(values, [["note", "x".repeat(200)], ["price", 10.5]])
      const local = yield* search({ where: expression("nested.some((each) => each.deep === note)") })
      assert.deepStrictEqual(local.absent, [])
    }))

  it.effect("ends where an expression takes too many steps", () =>
    Effect.gen(function*() {
      const where = expression("note.length > 0", { total: 1_000 })
      assert.strictEqual((yield* Effect.flip(search({ where }))).kind, "budget")
    }))
})
