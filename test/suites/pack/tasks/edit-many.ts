/** One change of many workflows: a dry run first, five at once, and what is done already is not done again. */
import { N8nClient, Services, WorkflowStore } from "effect-n8n-mcp"
import { FakeN8n } from "effect-n8n-mcp/testing"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Stream from "effect/Stream"

const [from, to] = ["http://old.example.com", "https://new.example.com"]

const moved = (nodes: ReadonlyArray<object>): ReadonlyArray<object> =>
  JSON.parse(JSON.stringify(nodes).replaceAll(from, to))

const edit = (dryRun: boolean) =>
  Effect.gen(function*() {
    const store = yield* WorkflowStore.WorkflowStore
    const n8n = yield* N8nClient.N8nClient
    return yield* n8n.streamWorkflows({
      filter: ({ nodes }) => nodes.some((node) => JSON.stringify(node.parameters ?? {}).includes(from))
    }).pipe(
      Stream.mapEffect(({ id, nodes }) =>
        Effect.gen(function*() {
          const plan = yield* store.write(
            { kind: "n8n", id },
            { nodes: moved(nodes) },
            { operation: "edit many", dryRun }
          )
          return `${id}: ${plan.changed}`
        }).pipe(
          Effect.catchReason("ApiError", "VersionConflict", ({ message }) => Effect.succeed(`${id}: ${message}`))
        ), {
        concurrency: 5
      }),
      Stream.runCollect
    )
  })

const request = { id: "n1", name: "Send", type: "n8n-nodes-base.httpRequest", typeVersion: 4.2, position: [0, 0] }
const workflows = Array.from({ length: 120 }, (_, index) => ({
  id: `w${index}`,
  name: `Orders ${index}`,
  nodes: [{ ...request, parameters: { url: index % 2 === 0 ? `${from}/orders` : "https://elsewhere.example.com" } }],
  connections: {}
}))

export const test = Effect.gen(function*() {
  const fake = yield* FakeN8n.FakeN8n
  const wrote = Effect.map(fake.requests, (all) => all.filter(({ method }) => method === "PUT").length)
  const [first] = yield* edit(true)
  const dry = yield* wrote
  const done = yield* edit(false)
  return { first, dry, done: done.length, again: (yield* edit(false)).length, wrote: yield* wrote }
}).pipe(Effect.provide(Layer.merge(FakeN8n.layer({ workflows, executions: [] }), Services.layerMemory)))

export const expected = { first: "w0: changed 'Send' (url)", dry: 0, done: 60, again: 0, wrote: 60 }
