/** Revenue by country of an output of any size, each item checked as it is read. */
import { Executions } from "effect-n8n-mcp"
import { FakeN8n } from "effect-n8n-mcp/testing"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"

const Order = Schema.Struct({ country: Schema.String, amount: Schema.Finite })

const revenue = (id: string) =>
  Executions.streamItems(id, { node: "Read", schema: Order }).pipe(
    Stream.runFold(() => new Map<string, number>(), (sums, { amount, country }) =>
      sums.set(country, (sums.get(country) ?? 0) + amount))
  )

const workflow = {
  id: "w1",
  name: "Orders",
  nodes: [{ name: "Read", type: "n8n-nodes-base.manualTrigger" }],
  connections: {}
}
const orders = Array.from({ length: 20_000 }, (_, index) => ({ country: index % 2 === 0 ? "JP" : "DE", amount: 1 }))

export const test = Effect.gen(function*() {
  const fake = yield* FakeN8n.FakeN8n
  const run = (id: string, items: ReadonlyArray<{ readonly [key: string]: unknown }>) =>
    fake.addExecution(FakeN8n.succeededExecution({ id, workflow, items: { Read: items } }))
  yield* run("1", orders)
  yield* run("2", [...orders, { country: "JP", amount: "1" }])
  const failure = yield* Effect.flip(revenue("2"))
  return { sums: [...yield* revenue("1")], failure: failure._tag }
}).pipe(Effect.provide(Layer.merge(FakeN8n.layer({ workflows: [workflow], executions: [] }), Executions.layer())))

export const expected = { sums: [["JP", 10_000], ["DE", 10_000]], failure: "SchemaError" }
