/**
 * In-memory n8n behind the real client, for tests here and in applications that use these tools.
 *
 * **Example** (A test of an app's logic)
 *
 * ```ts
 * import { N8nClient } from "effect-n8n-mcp"
 * import { FakeN8n } from "effect-n8n-mcp/testing"
 * import * as Effect from "effect/Effect"
 * import * as Stream from "effect/Stream"
 *
 * const workflow = {
 *   id: "w1",
 *   name: "Orders",
 *   nodes: [{ id: "n1", name: "Pay", type: "n8n-nodes-base.code", typeVersion: 2, position: [0, 0], parameters: {} }]
 * }
 *
 * export const test = Effect.gen(function*() {
 *   const fake = yield* FakeN8n.FakeN8n
 *   const n8n = yield* N8nClient.N8nClient
 *   yield* fake.addExecution(FakeN8n.failedExecution({ workflow, node: "Pay", message: "card declined" }))
 *   yield* fake.failTimes(1, 503)
 *   return yield* Stream.runCollect(n8n.streamExecutions({ status: "error" }))
 * }).pipe(Effect.provide(FakeN8n.layer({ workflows: [workflow] })))
 * ```
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as HttpClient from "effect/http/HttpClient"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as Turn from "../base/Turn.ts"
import * as N8nClient from "../n8n/N8nClient.ts"
import * as N8nApi from "./n8nApi/N8nApi.ts"

export {
  Disconnected,
  type Execution,
  type NewExecution,
  type Options,
  type RecordedRequest,
  type Seed,
  type Workflow
} from "./n8nApi/N8nApi.ts"
export { type Built, type Failed, failedExecution, succeededExecution } from "./runs.ts"

/** In-memory n8n, for reading and changing its state without the client. */
export class FakeN8n extends Context.Service<FakeN8n, N8nApi.N8nApi>()("effect-n8n-mcp/FakeN8n") {}

/** Work without pauses: those depend on the wall clock, of which a test clock knows nothing. */
const unpaused = Layer.succeed(Turn.Slice, () => false)

/** Reserved host name; requests never leave the process. */
const url = new URL("https://n8n.example.test/")

/** Number of fakes so far: each is an n8n of its own for caches and snapshots, which know it by its key. */
let count = 0

/**
 * In-memory n8n with this seed, and its client; each build of the layer is another n8n, with caches of its own. Credentials are checked by the
 * fields of their types as n8n 2.41.1 does.
 *
 * **Gotchas**
 *
 * Under effect's `TestClock` nothing here takes real time, so `TestClock.adjust` is enough; what reads files beside it
 * needs `TestTime`. Nothing runs: `WorkflowTesting` needs the option `runs`, which returns the execution of a webhook's call.
 *
 * **Example** (A run that failed, from the start)
 *
 * ```ts
 * import { Services, tools } from "effect-n8n-mcp"
 * import { FakeN8n } from "effect-n8n-mcp/testing"
 * import * as Effect from "effect/Effect"
 * import * as Layer from "effect/Layer"
 *
 * const workflow = { id: "w1", name: "Orders", nodes: [{ name: "Pay", type: "n8n-nodes-base.code" }] }
 * const failed = FakeN8n.failedExecution({ workflow, node: "Pay", message: "card declined" })
 *
 * export const test = tools.getExecution.call({ id: "1" }).pipe(
 *   Effect.map(({ failure }) => failure?.error.message), // "card declined"
 *   Effect.provide(Layer.merge(FakeN8n.layer({ workflows: [workflow], executions: [failed] }), Services.layerMemory))
 * )
 * ```
 */
export const layer = (
  seed: N8nApi.Seed = {},
  options: N8nApi.Options = {}
): Layer.Layer<N8nClient.N8nClient | FakeN8n> => {
  const fake = Layer.effect(FakeN8n, N8nApi.make(seed, options))
  const http = Layer.effect(HttpClient.HttpClient, Effect.map(FakeN8n, ({ client }) => client))
  const client = Effect.map(
    N8nClient.make({ url, apiKey: Redacted.make(options.apiKey ?? "fake-key") }),
    (client) => ({ ...client, instance: { ...client.instance, key: `${client.instance.key}/${count++}` } })
  )
  return Layer.effect(N8nClient.N8nClient, client).pipe(
    Layer.provide(http),
    Layer.provideMerge(fake),
    Layer.merge(unpaused)
  )
}
