/** Why a run failed, or that there is no such run. */
import { Services, tools } from "effect-n8n-mcp"
import { FakeN8n } from "effect-n8n-mcp/testing"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"

const whyDidItFail = (id: string) =>
  tools.getExecution.call({ id }).pipe(
    Effect.map(({ failure }) => failure?.error.message),
    Effect.catchTag("NotFoundError", () => Effect.succeed("no such execution"))
  )

const workflow = { id: "w1", name: "Orders", nodes: [{ name: "Pay", type: "n8n-nodes-base.code" }] }

export const test = Effect.gen(function*() {
  const fake = yield* FakeN8n.FakeN8n
  const message = `card declined: ${"x".repeat(1100)}: the end`
  const { id } = yield* fake.addExecution(FakeN8n.failedExecution({ workflow, node: "Pay", message }))
  const [reason, missing] = yield* Effect.all([whyDidItFail(String(id)), whyDidItFail("999")])
  return { isWhole: reason === message, missing }
}).pipe(Effect.provide(Layer.merge(FakeN8n.layer({ workflows: [workflow], executions: [] }), Services.layerMemory)))

export const expected = { isWhole: true, missing: "no such execution" }
