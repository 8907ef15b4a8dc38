import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import type { Obj } from "../../src/base/Json.ts"
import * as NodeCatalogue from "../../src/catalogue/NodeCatalogue.ts"
import type { Node } from "../../src/n8n/model/Workflow.ts"
import * as SentRequests from "../../src/trials/SentRequests.ts"
import { document, from, fromApi, run } from "../executions/runData.ts"
import { catalogue } from "../support/catalogue.ts"
import { node } from "../support/workflows.ts"

const sender = node("Do", "httpRequest", 4.2, {
  method: "={{ $json.method }}",
  url: "=https://crm.example/{{ $json.path }}",
  sendBody: true,
  specifyBody: "json",
  jsonBody: "={{ $json.body }}"
})

interface Request {
  readonly method: string
  readonly path: string
  readonly body: Obj
}

const request = (method: string, path: string, body: Obj = {}): Request => ({ method, path, body })

/** Rows about a node that ran several times, each with its own items. */
const rowsOf = Effect.fnUntraced(
  function*(
    rounds: ReadonlyArray<ReadonlyArray<Request>>,
    more: { readonly pinned?: boolean; readonly node?: Obj } = {}
  ) {
    const { get } = yield* NodeCatalogue.NodeCatalogue
    const own = { ...sender, ...more.node } as unknown as Node
    const execution = fromApi(document({
      Load: rounds.map((items, round) => run(2 * round, { main: [items.map((json) => ({ json }))] })),
      Do: rounds.map((_, round) => run(2 * round + 1, { main: [[]] }, { source: [from("Load", 0, round)] }))
    }, {
      nodes: [node("Load", "noOp", 1), own],
      connections: { Load: { main: [[{ node: "Do", type: "main", index: 0 }]] } }
    }))
    return yield* SentRequests.ofTest({
      workflow: { id: "orig", name: "Orders" },
      execution,
      trigger: undefined,
      pinned: more.pinned === true ? ["Do"] : [],
      notRun: [],
      shortOfRuns: [],
      timedOut: false,
      timeout: 1_000,
      response: undefined,
      outside: [{ node: own, type: yield* get(own.type) }],
      upgraded: [],
      repairs: []
    }, true)
  },
  Effect.provide(catalogue)
)

const total = (rows: ReadonlyArray<SentRequests.Row>) => rows.reduce((sum, { items }) => sum + items, 0)

describe("requests by address", () => {
  it.effect("counts the requests of all rounds of a loop, also of a pinned node", () =>
    Effect.gen(function*() {
      const rounds = [1, 2, 3].map((n) => [request("POST", `item/${n}`)])
      const rows = yield* rowsOf(rounds, { pinned: true })
      assert.deepStrictEqual(rows.map(({ items, pinned, to }) => [to, items, pinned]), [
        ["POST https://crm.example/item/1", 1, true],
        ["POST https://crm.example/item/2", 1, true],
        ["POST https://crm.example/item/3", 1, true]
      ])
      const [once, ...others] = yield* rowsOf([[request("GET", "x")], [request("GET", "x")]])
      assert.deepInclude(once, { to: "GET https://crm.example/x", items: 2 })
      assert.isEmpty(others)
    }))

  it.effect("lists the distinct values of requests to one address, in order", () =>
    Effect.gen(function*() {
      const [row, ...others] = yield* rowsOf([[
        request("POST", "a", { v: 2 }),
        request("POST", "a", { v: 1 }),
        request("POST", "a", { v: 2 })
      ]])
      assert.isEmpty(others)
      assert.deepStrictEqual(row?.values, [{ jsonBody: { v: 2 } }, { jsonBody: { v: 1 } }])
      assert.strictEqual(row?.items, 3)
      const [same] = yield* rowsOf([[request("POST", "a", { v: 2 }), request("POST", "a", { v: 2 })]])
      assert.deepStrictEqual(same?.values, { jsonBody: { v: 2 } })
    }))

  it.effect("says how many requests it has not read", () =>
    Effect.gen(function*() {
      const rows = yield* rowsOf([Array.from({ length: 230 }, () => request("POST", "a"))])
      assert.deepStrictEqual(rows.map(({ items, to }) => [to, items]), [["POST https://crm.example/a", 200], [
        undefined,
        30
      ]])
      assert.match(String(rows[1]?.unresolved), /^address: only 200 items/)
    }))

  it.effect("has nothing of a disabled node", () =>
    Effect.map(rowsOf([[request("POST", "a")]], { node: { disabled: true } }), (rows) => assert.isEmpty(rows)))

  const Round = Schema.Array(
    Schema.Struct({
      method: Schema.Literals(["GET", "POST", "DELETE"]),
      path: Schema.Literals(["a", "b", "c/d"]),
      body: Schema.Struct({ v: Schema.Literals([0, 1, 2]) })
    })
  ).check(Schema.isMinLength(1), Schema.isMaxLength(8))

  it.effect.prop(
    "is complete: the sum of the rows is the number of requests, and each address has its own",
    { rounds: Schema.Array(Round).check(Schema.isMaxLength(4)) },
    ({ rounds }) =>
      Effect.gen(function*() {
        const rows = yield* rowsOf(rounds)
        const all = rounds.flat()
        assert.strictEqual(total(rows), all.length)
        const counts = new Map<string, number>()
        for (const { method, path } of all) {
          const to = `${method} https://crm.example/${path}`
          counts.set(to, (counts.get(to) ?? 0) + 1)
        }
        assert.deepStrictEqual(new Map(rows.map(({ items, to }) => [to ?? "", items])), counts)
      })
  )
})
