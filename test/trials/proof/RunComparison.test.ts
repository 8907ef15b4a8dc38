import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import type * as Execution from "../../../src/executions/Execution.ts"
import type * as N8nApi from "../../../src/testing/n8nApi/N8nApi.ts"
import * as RunComparison from "../../../src/trials/proof/RunComparison.ts"
import * as Volatility from "../../../src/trials/proof/Volatility.ts"
import { build, document, failed, from, fromApi, Recipe, run } from "../../executions/runData.ts"
import { random } from "../../support/random.ts"
import * as fixtures from "../../support/scenarios/recorded.ts"

type More = Partial<Omit<RunComparison.Options, "record" | "replay" | "ignore">> & {
  readonly ignore?: ReadonlyArray<string>
}

const compare = Effect.fnUntraced(function*(
  then: Execution.Execution,
  now: Execution.Execution,
  { ignore = [], ...more }: More = {}
) {
  const nodes = [...new Set([...then.runs.keys(), ...now.runs.keys()])]
  return yield* RunComparison.compare({
    record: then,
    replay: now,
    nodes,
    nameThen: (name) => name,
    pinned: new Set(),
    redacts: true,
    ...more,
    ignore: yield* RunComparison.ignored(ignore, nodes)
  })
})

/** Differences without digests, which only have to be equal for equal values. */
const shown = ({ differences }: Effect.Success<ReturnType<typeof RunComparison.compare>>) =>
  differences.map(({ digest: _, isRetyped, isRounding, shapes: __, ...rest }) => ({
    ...rest,
    ...(isRetyped === true ? { isRetyped } : {}),
    ...(isRounding === true ? { isRounding } : {})
  }))

const items = (...jsons: ReadonlyArray<unknown>) => jsons.map((json, item) => ({ json, pairedItem: { item } }))

/** Execution of nodes one after the other: each with its outputs. */
const chain = (nodes: { readonly [name: string]: ReadonlyArray<unknown> }, more: object = {}) => {
  const names = Object.keys(nodes)
  return fromApi(document(
    Object.fromEntries(
      Object.entries(nodes).map(([name, main], index) => [
        name,
        [run(index, { main }, { source: index === 0 ? [] : [from(names[index - 1] ?? "")] })]
      ])
    ),
    more
  ))
}

const contacts = [{ id: 1, email: "a@b.c", lines: [{ price: 1 }, { price: 2 }] }, { id: 2, email: "d@e.f", lines: [] }]

const withOutput = (...main: ReadonlyArray<ReadonlyArray<unknown>>) =>
  chain({ Start: [items({})], Map: main.map((jsons) => items(...jsons)) })

const between = (before: Execution.Execution, after: Execution.Execution, more?: More) =>
  Effect.map(compare(before, after, more), shown)

type Output = Array<{ json: { id?: unknown; fresh?: null } }> | null

/** A mutation of run data, and the node at which it must be seen. */
const mutate = (execution: N8nApi.Execution, seed: number) => {
  const next = random(seed)
  const data = JSON.parse(JSON.stringify(execution.data))
  const runData: { readonly [node: string]: ReadonlyArray<{ readonly data?: { readonly main?: Array<Output> } }> } =
    data.resultData.runData
  const spots = Object.entries(runData).flatMap(([node, runs]) =>
    runs.flatMap(({ data: { main = [] } = {} }) =>
      main.flatMap((list, output) => list === null || list.length === 0 ? [] : [{ node, output, list, all: main }])
    )
  )
  const spot = spots[next(spots.length)]
  if (spot === undefined) return undefined
  const { all, list, node, output } = spot
  const at = next(list.length)
  const item = list[at]
  if (item === undefined) return undefined
  const kind = ["value", "type", "added", "removed", "count", "output", "order"][next(7)]
  if (kind === "value") item.json = { ...item.json, id: -1 }
  if (kind === "type") item.json = { ...item.json, id: String(item.json.id) }
  if (kind === "added") item.json = { ...item.json, fresh: null }
  if (kind === "removed") delete item.json.id
  if (kind === "count") list.splice(at, 1)
  if (kind === "output") {
    const other = all[output + 1] ?? []
    all[output + 1] = other
    other.push(...list.splice(at, 1))
  }
  if (kind === "order") {
    if (list.length < 2) return undefined
    list.push(...list.splice(0, 1))
  }
  return { kind, node, changed: { ...execution, data } }
}

describe("RunComparison", () => {
  it.effect("sees no difference between a recorded execution and itself", () =>
    Effect.gen(function*() {
      for (const name of fixtures.names) {
        const [then, now] = [fromApi(fixtures.execution(name)), fromApi(fixtures.execution(name))]
        assert.deepStrictEqual(yield* between(then, now), [], name)
      }
    }))

  it.effect.prop(
    "sees no difference between any execution and itself",
    { recipe: Recipe },
    ({ recipe }) =>
      Effect.gen(function*() {
        const api = build({ ...recipe, nodes: recipe.nodes === 250 ? 40 : recipe.nodes })
        assert.deepStrictEqual(yield* between(fromApi(api), fromApi(api)), [])
      })
  )

  it.effect.prop(
    "finds any single mutation, at the node where it is",
    { recipe: Recipe, seed: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 1e6 })) },
    ({ recipe, seed }) =>
      Effect.gen(function*() {
        const api = build({
          ...recipe,
          nodes: recipe.nodes === 250 ? 40 : recipe.nodes || 2,
          maxItems: recipe.maxItems || 4,
          odd: false
        })
        const mutation = mutate(api, seed)
        if (mutation === undefined) return
        const result = yield* between(fromApi(api), fromApi(mutation.changed))
        assert.deepStrictEqual([...new Set(result.map(({ node }) => node))], [mutation.node], mutation.kind)
        const kinds = { value: "altered", type: "altered", added: "added", removed: "removed", order: "order" } as const
        const kind = kinds[mutation.kind as keyof typeof kinds]
        if (kind !== undefined) assert.deepStrictEqual(result.map((each) => each.kind), [kind])
      })
  )

  it.effect("counts values by path, and shows the first", () =>
    Effect.gen(function*() {
      const now = withOutput([
        { id: "1", email: "a@b.c", lines: [{ price: 1.004 }, { price: 2.001 }] },
        { lines: [], id: 2, name: "new" }
      ])
      assert.deepStrictEqual(yield* between(withOutput(contacts), now), [
        { node: "Map", run: 0, item: 0, path: "id", kind: "altered", before: 1, after: "1", count: 1, isRetyped: true },
        {
          node: "Map",
          run: 0,
          item: 0,
          path: "lines[].price",
          kind: "altered",
          before: 1,
          after: 1.004,
          count: 1,
          isRounding: true
        },
        { node: "Map", run: 0, item: 1, path: "email", kind: "removed", before: "d@e.f", count: 1 },
        { node: "Map", run: 0, item: 1, path: "name", kind: "added", after: "new", count: 1 }
      ])
    }))

  it.effect("ignores a path and what is below it, at one node or at all, and nothing else", () =>
    Effect.gen(function*() {
      const now = withOutput(contacts.map(({ id, lines }) => ({ id: -id, lines: lines.map(() => ({ price: 0 })) })))
      const paths = (...ignore: ReadonlyArray<string>) =>
        Effect.map(between(withOutput(contacts), now, { ignore }), (all) => all.map(({ path }) => path))
      assert.deepStrictEqual(yield* paths(), ["id", "email", "lines[].price"])
      assert.deepStrictEqual(yield* paths("email"), ["id", "lines[].price"])
      assert.deepStrictEqual(yield* paths("$json.email", "'Map'.lines[].price"), ["id"])
      assert.deepStrictEqual(yield* paths("\"Start\".email", "lines"), ["id", "email"])
      assert.deepStrictEqual(yield* paths("lines[0].price"), ["id", "email", "lines[].price"])
      assert.deepStrictEqual(yield* paths("lines[0]", "lines[1].price"), ["id", "email"])
      // An ignored value does not matter to the order of items either.
      const reversed = withOutput(contacts.toReversed().map((json, index) => ({ ...json, email: index })))
      assert.deepStrictEqual(
        (yield* between(withOutput(contacts), reversed, { ignore: ["email"] })).map(({ kind }) => kind),
        ["order"]
      )
    }))

  it.effect("refuses paths and nodes that do not exist", () =>
    Effect.gen(function*() {
      const error = (path: string) => Effect.flip(RunComparison.ignored([path], ["Map contact"]))
      assert.match((yield* error("a..b")).message, /not a path/)
      assert.include((yield* error("'Map contct'.email")).hint as string, "Map contact")
      const [own] = yield* RunComparison.ignored(["'It\\'s'[\"odd key\"]"], ["It's"])
      assert.deepStrictEqual(own, { node: "It's", steps: ["odd key"] })
    }))

  it.effect("reports a new order, lost items and another output as one difference each", () =>
    Effect.gen(function*() {
      const rows = [1, 2, 3, 4, 5].map((id) => ({ id, name: `n${id}` }))
      const kinds = (...main: ReadonlyArray<ReadonlyArray<unknown>>) =>
        between(withOutput(rows, []), withOutput(...main))
      assert.deepStrictEqual(yield* kinds(rows.toReversed()), [
        { node: "Map", run: 0, path: "", kind: "order", count: 4, item: 0 }
      ])
      assert.deepStrictEqual(yield* kinds(rows.filter(({ id }) => id % 2 === 1)), [
        { node: "Map", run: 0, path: "", kind: "count", before: 5, after: 3, count: 1 }
      ])
      assert.deepStrictEqual(yield* kinds(rows.slice(0, 3), rows.slice(3)), [
        { node: "Map", run: 0, path: "", kind: "output", before: "5", after: "3, 2", count: 1 }
      ])
      // Fields show values that differ besides.
      assert.deepStrictEqual(yield* kinds(rows.slice(0, 3).map(({ id }) => ({ id, full: { first: "n" } }))), [
        { node: "Map", run: 0, path: "", kind: "count", before: 5, after: 3, count: 1 },
        { node: "Map", run: 0, path: "name", kind: "removed", count: 1 },
        { node: "Map", run: 0, path: "full", kind: "added", count: 1 }
      ])
      const swapped = withOutput([rows[0], rows[2]], [rows[1], rows[3]])
      assert.deepStrictEqual(
        (yield* between(withOutput([rows[0], rows[1]], [rows[2], rows[3]]), swapped)).map(({ kind }) => kind),
        ["output"]
      )
    }))

  it.effect("recognizes items at other positions without their volatile values", () =>
    Effect.gen(function*() {
      const rows = (at: number) => [1, 2, 3].map((id) => ({ id, at: at + id }))
      const difference = { node: "Map", run: 0, path: "at", kind: "altered" as const, count: 3, digest: 1 }
      const unstable = Volatility.unstable(Volatility.learn(Volatility.empty, [], { first: [], second: [difference] }))
      const reversed = withOutput(rows(10).toReversed())
      const kinds = Effect.fnUntraced(function*(now: Execution.Execution) {
        return (yield* between(withOutput(rows(0)), now, { unstable })).map(({ kind, path }) =>
          `${kind} ${path}`.trim()
        )
      })
      assert.deepStrictEqual(yield* kinds(reversed), ["order", "altered at"])
      assert.deepStrictEqual(yield* kinds(withOutput(rows(10))), ["altered at"])
      assert.deepStrictEqual(yield* kinds(withOutput(rows(10).slice(1).map((row) => ({ ...row, late: true })))), [
        "count",
        "added late"
      ])
    }))

  it.effect("compares files by name, type and size, not by content", () =>
    Effect.gen(function*() {
      const file = (
        more: object
      ) => [{ json: {}, binary: { data: { mimeType: "text/plain", fileName: "a.txt", ...more } } }]
      const of = (more: object) => chain({ Read: [file(more)] })
      assert.deepStrictEqual(yield* between(of({ data: "aaa", id: "1" }), of({ data: "bbb", id: "2" })), [])
      assert.deepStrictEqual(
        (yield* between(of({ fileSize: "1 kB" }), of({ fileSize: "2 kB", fileName: "b.txt" }))).map(({ path }) => path),
        ["$binary.data.fileName", "$binary.data.fileSize"]
      )
      assert.deepStrictEqual(
        (yield* between(of({}), chain({ Read: [items({})] }))).map(({ kind, path }) => [kind, path]),
        [["removed", "$binary"]]
      )
    }))

  it.effect("reports nodes that did not run, in the order of running", () =>
    Effect.gen(function*() {
      const then = chain({ Start: [items({})], If: [items(1), []], Yes: [items(1)], End: [items(1)] })
      const now = chain({ Start: [items({})], If: [[], items(1)], No: [items(1)], End: [[]] })
      assert.deepStrictEqual(
        (yield* between(then, now)).map(({ after, before, kind, node }) => [node, kind, before, after]),
        [
          ["If", "output", "1", "0, 1"],
          ["Yes", "notRun", "1 item", "did not run"],
          ["No", "ran", "did not run", "1 item"],
          ["End", "count", 1, 0]
        ]
      )
    }))

  it.effect("takes a node without items for one that did not run", () =>
    Effect.gen(function*() {
      const [two, one] = [chain({ Start: [items({})], None: [[]] }), chain({ Start: [items({})] })]
      assert.deepStrictEqual(yield* between(two, one), [])
      assert.deepStrictEqual(yield* between(one, two), [])
    }))

  it.effect("compares runs of a loop one by one, and their number", () =>
    Effect.gen(function*() {
      const loop = (...batches: ReadonlyArray<ReadonlyArray<unknown>>) =>
        fromApi(document({ Loop: batches.map((batch, index) => run(index, { main: [items(...batch)] })) }))
      const then = loop([{ a: 1 }], [{ a: 2 }], [{ a: 3 }])
      assert.deepStrictEqual(yield* between(then, loop([{ a: 1 }], [{ a: 0 }], [{ a: 9 }])), [
        { node: "Loop", run: 1, item: 0, path: "a", kind: "altered", before: 2, after: 0, count: 2 }
      ])
      assert.deepStrictEqual(yield* between(then, loop([{ a: 1 }], [{ a: 2 }])), [
        { node: "Loop", run: 2, path: "", kind: "notRun", before: "3 runs", after: "2 runs", count: 1 }
      ])
    }))

  it.effect("follows renamed nodes, and of pinned ones compares whether they were reached", () =>
    Effect.gen(function*() {
      const then = chain({ Start: [items({})], Old: [items({ a: 1 })], Mail: [items({ sent: 1 })] })
      const now = chain({ Start: [items({})], New: [items({ a: 2 })], Mail: [items({ sent: 2 })] })
      const names = (name: string) => name === "New" ? "Old" : name
      const options = { nodes: ["Mail", "New", "Start"], nameThen: names, pinned: new Set(["Mail"]) }
      const result = yield* compare(then, now, options)
      assert.deepStrictEqual(result.order, ["Start", "New", "Mail"])
      assert.deepStrictEqual(shown(result).map(({ node, path }) => [node, path]), [["New", "a"]])
      const gone = yield* between(then, chain({ Start: [items({})], New: [items({ a: 1 })] }), options)
      assert.deepStrictEqual(gone.map(({ kind, node }) => [node, kind]), [["Mail", "notRun"]])
      // Its substitute has no items to return, but was reached.
      const before = chain({ Start: [items({})], Old: [items({ a: 1 })] })
      const reached = yield* between(before, chain({ Start: [items({})], New: [items({ a: 1 })], Mail: [[]] }), options)
      assert.deepStrictEqual(reached.map(({ kind, node }) => [node, kind]), [["Mail", "ran"]])
    }))

  it.effect("compares failures without numbers, ids and times", () =>
    Effect.gen(function*() {
      const failing = (message: string, node = "Map") => {
        const error = { message, name: "NodeApiError", node: { name: node } }
        return fromApi(document({ Start: [run(0, { main: [items({})] })], [node]: [failed(1, error)] }, {
          status: "error",
          result: { error, lastNodeExecuted: node }
        }))
      }
      const fine = chain({ Start: [items({})], Map: [items({})] })
      const kinds = (then: Execution.Execution, now: Execution.Execution, more?: More) =>
        Effect.map(between(then, now, more), (all) =>
          all.map(({ after, before, kind, node }) => [node, kind, before, after]))
      const [one, two] = ["Contact 17 of a@b.c has no 'email' at 10:30", "Contact 18 of d@e.f has no 'email' at 11:45"]
      assert.deepStrictEqual(yield* kinds(failing(one), failing(two)), [])
      const other = "Contact 17 of a@b.c has no 'name' at 10:30"
      assert.deepStrictEqual(yield* kinds(failing(one), failing(other)), [["Map", "failed", one, other]])
      assert.deepStrictEqual(yield* kinds(fine, failing("no")), [["Map", "failed", undefined, "no"]])
      assert.deepStrictEqual(yield* kinds(failing("no"), fine), [["Map", "succeeded", "no", {}]])
      // A node that is new failed.
      assert.deepStrictEqual(yield* kinds(fine, failing("no", "Fresh"), { nodes: ["Start"] }), [
        ["Fresh", "failed", undefined, "no"]
      ])
      assert.deepStrictEqual(
        yield* kinds(fine, chain({ Start: [items({})], Map: [items({})] }, { status: "canceled" })),
        [["", "failed", "success", "canceled"]]
      )
    }))

  it.effect("bounds the paths of a node, and counts the rest", () =>
    Effect.gen(function*() {
      const wide = (value: number) =>
        Object.fromEntries(Array.from({ length: 800 }, (_, index) => [`k${index}`, value]))
      const result = yield* between(withOutput([wide(1)]), withOutput([wide(2)]))
      assert.strictEqual(result.length, 501)
      assert.deepInclude(result.at(-1), { path: RunComparison.restPath, count: 300 })
    }))

  it("has a reason not to compare an execution without items", () => {
    const of = (data: unknown) => RunComparison.obstacle(fromApi(document({}, { data })))
    const runData = { Start: [run(0, { main: [items({})] })] }
    assert.strictEqual(of(undefined), "n8n stored no data")
    assert.strictEqual(of({ resultData: { runData }, redactionInfo: { isRedacted: true } }), "n8n hides its items")
    assert.isUndefined(of({ resultData: { runData } }))
  })

  it("puts nodes that only one side ran after their predecessors", () => {
    assert.deepStrictEqual(RunComparison.merged(["a", "d", "e"], ["a", "b", "c", "d"]), ["a", "b", "c", "d", "e"])
    assert.deepStrictEqual(RunComparison.merged([], ["b", "a"]), ["b", "a"])
  })
})
