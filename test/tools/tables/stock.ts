/** A table of stock in an n8n in memory. */
import * as Effect from "effect/Effect"
import { N8nClient } from "../../../src/n8n/N8nClient.ts"

/** Creates the table `stock`: its id. */
export const stock = Effect.gen(function*() {
  const n8n = yield* N8nClient
  const { id } = yield* n8n.createDataTable({
    name: "stock",
    columns: [
      { name: "sku", type: "string" },
      { name: "qty", type: "number" },
      { name: "done", type: "boolean" },
      { name: "apiToken", type: "string" }
    ]
  })
  yield* n8n.insertRows(
    id,
    Array.from({ length: 30 }, (_, index) => ({
      sku: `${index % 2 === 0 ? "A" : "B"}-${index}`,
      qty: index,
      done: index > 9,
      apiToken: `hunter2-${index}`
    }))
  )
  return id
})
