import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as JsonPath from "../../src/base/JsonPath.ts"
import * as ItemComparison from "../../src/executions/ItemComparison.ts"
import { document, from, fromApi, run } from "./runData.ts"

const linked = (json: object, ...origins: ReadonlyArray<number>) => ({
  json,
  pairedItem: origins.length === 1 ? { item: origins[0] } : origins.map((item) => ({ item }))
})

const source = Array.from(
  { length: 500 },
  (_, id) => ({ id: `o-${id}`, amount: id / 4, tags: ["a"], password: `p${id}` })
)

/** Drops 7, doubles 9, spoils 42, rounds 10, adds a field to all. */
const worked = source.flatMap((order, index) =>
  index === 7 ? [] : [
    linked({
      ...order,
      total: 1,
      ...(index === 42 ? { amount: -1 } : {}),
      ...(index === 13 ? { amount: 3.3, tags: ["a", "b"] } : {}),
      password: `q${index}`
    }, index),
    ...(index === 9 ? [linked({ ...order, total: 1 }, index)] : [])
  ]
)

const execution = fromApi(document({
  Source: [run(0, { main: [source.map((json) => ({ json }))] })],
  Filter: [run(1, { main: [source.toReversed().map((json, index) => linked(json, source.length - 1 - index))] }, {
    source: [from("Source")]
  })],
  Work: [run(2, {
    main: [worked.map(({ json, pairedItem }) => ({
      json,
      pairedItem: "item" in pairedItem ? { item: source.length - 1 - (pairedItem.item ?? 0) } : pairedItem
    }))]
  }, { source: [from("Filter")] })],
  Alone: [run(3, { main: [[{ json: { id: "o-1", amount: 0.26 } }]] })],
  None: [run(4, { main: [[]] })]
}))

const compare = (a: string, b: string, options: Partial<ItemComparison.Options> = {}) => {
  const [first, second] = [ItemComparison.sideOf(execution, a), ItemComparison.sideOf(execution, b)]
  if (first === undefined || second === undefined) return assert.fail("a node did not run")
  return ItemComparison.compare(execution, {
    from: first,
    to: second,
    fields: [],
    ignore: [],
    limit: 3,
    redacts: true,
    ...options
  })
}

describe("ItemComparison", () => {
  it.effect("follows n8n's links over several nodes, and shows what changed once before what changed everywhere", () =>
    Effect.gen(function*() {
      const { from: _, to, ...result } = yield* compare("Source", "Work")
      assert.strictEqual(to.node, "Work")
      assert.deepStrictEqual<unknown>(result, {
        pairedBy: "pairedItem",
        namedBy: "id",
        same: 0,
        altered: 499,
        added: 500,
        removed: 0,
        paths: [
          { path: "tags[]", added: 1, by: ["Work"] },
          { path: "amount", altered: 2, roundingOnly: 1, by: ["Work"] },
          { path: "password", altered: 499 },
          { path: "total", added: 500 }
        ],
        examples: [
          { index: 13, key: "o-13", path: "tags[1]", after: "b", by: "Work" },
          { index: 13, key: "o-13", path: "amount", before: 3.25, after: 3.3, by: "Work" },
          { index: 42, key: "o-42", path: "amount", before: 10.5, after: -1, by: "Work" }
        ],
        onlyInFrom: { count: 1, first: ["o-7"] },
        onlyInTo: { count: 0, first: [] },
        duplicated: { count: 1, first: ["o-9"] }
      })
    }))

  it.effect("pairs by key, equal keys in their order", () =>
    Effect.gen(function*() {
      const { from: _, to: __, ...result } = yield* compare("Source", "Work", {
        key: ["id"],
        ignore: [["total"], ["tags"], ["password"]]
      })
      assert.deepStrictEqual<unknown>(result, {
        pairedBy: "key",
        namedBy: "id",
        same: 497,
        altered: 2,
        added: 0,
        removed: 0,
        paths: [{ path: "amount", altered: 2, roundingOnly: 1, by: ["Work"] }],
        examples: [
          { index: 13, key: "o-13", path: "amount", before: 3.25, after: 3.3, by: "Work" },
          { index: 42, key: "o-42", path: "amount", before: 10.5, after: -1, by: "Work" }
        ],
        onlyInFrom: { count: 1, first: ["o-7"] },
        onlyInTo: { count: 1, first: ["o-9"] }
      })
    }))

  it.effect("pairs by place where nothing links the items, and compares the fields that are named", () =>
    Effect.gen(function*() {
      const result = yield* compare("Alone", "Source", { fields: [["amount"]] })
      assert.deepStrictEqual([result.pairedBy, result.same, result.altered], ["place", 0, 1])
      assert.deepStrictEqual(result.examples, [{ index: 0, path: "amount", before: 0.26, after: 0 }])
      assert.deepStrictEqual(result.onlyInTo, { count: 499, first: [1, 2, 3, 4, 5] })
    }))

  it.effect("takes the paths of its answer, also those of all elements of a list", () =>
    Effect.gen(function*() {
      const items = (
        prices: ReadonlyArray<number>
      ) => [[{ json: { lines: prices.map((price) => ({ price, note: price })) } }]]
      const execution = fromApi(document({
        A: [run(0, { main: items([1, 2]) })],
        B: [run(1, { main: items([1, 3, 4]) }, { source: [from("A")] })]
      }))
      const [a, b] = [ItemComparison.sideOf(execution, "A"), ItemComparison.sideOf(execution, "B")]
      if (a === undefined || b === undefined) return assert.fail("a node did not run")
      const paths = Effect.fnUntraced(function*(options: Partial<ItemComparison.Options>) {
        const shared = { from: a, to: b, fields: [], ignore: [], limit: 3, redacts: true }
        return (yield* ItemComparison.compare(execution, { ...shared, ...options })).paths.map(({ path }) => path)
      })
      const all = yield* paths({})
      assert.sameMembers(all, ["lines[].price", "lines[].note", "lines[]"])
      assert.deepStrictEqual(yield* paths({ fields: [JsonPath.parse("lines[].price") ?? []] }), ["lines[].price"])
      assert.deepStrictEqual(yield* paths({ ignore: all.map((path) => JsonPath.parse(path) ?? []) }), [])
    }))

  it.effect("compares with nothing", () =>
    Effect.gen(function*() {
      const result = yield* compare("Source", "None")
      assert.deepStrictEqual([result.same, result.altered, result.onlyInFrom.count], [0, 0, 500])
    }))

  it.each<[number, number, boolean]>([
    [3.25, 3.3, true],
    [0.1 + 0.2, 0.3, true],
    [19.999, 20, true],
    [3.25, 3.2, true],
    [3.25, 3.4, false],
    [1, 2, false],
    [1.5, 1.5, false]
  ])("%d and %d: rounding alone is %s", (a, b, is) => assert.strictEqual(ItemComparison.isRounding(a, b), is))
})
