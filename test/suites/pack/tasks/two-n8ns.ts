/** What staging has and production lacks: two n8ns in one program, each under a tag of its own. */
import { N8nClient } from "effect-n8n-mcp"
import { FakeN8n } from "effect-n8n-mcp/testing"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Stream from "effect/Stream"

class Staging extends Context.Service<Staging, N8nClient.Service>()("app/Staging") {}
class Production extends Context.Service<Production, N8nClient.Service>()("app/Production") {}

const names = (n8n: N8nClient.Service) =>
  n8n.streamWorkflows({ archived: false }).pipe(Stream.map(({ name }) => name), Stream.runCollect)

const missing = Effect.gen(function*() {
  const live = new Set(yield* names(yield* Production))
  return (yield* names(yield* Staging)).filter((name) => !live.has(name))
})

/** In an app: `N8nClient.layerConfig({ url: Config.URL("STAGING_URL"), apiKey: Config.Redacted("STAGING_KEY") })`. */
const holding = (...all: ReadonlyArray<string>) =>
  Layer.fresh(FakeN8n.layer({ workflows: all.map((name) => ({ id: name, name, nodes: [] })), executions: [] }))

export const test = missing.pipe(
  Effect.provide([
    Layer.effect(Staging, N8nClient.N8nClient).pipe(Layer.provide(holding("Orders", "Refunds"))),
    Layer.effect(Production, N8nClient.N8nClient).pipe(Layer.provide(holding("Orders")))
  ])
)

export const expected = ["Refunds"]
