/** Where tools are tested that write: a folder of its own, and an n8n in memory. */
import * as NodeServices from "@effect/platform-node/NodeServices"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as HttpClient from "effect/http/HttpClient"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as Services from "../../src/app/Services.ts"
import { arr, obj, str } from "../../src/base/Json.ts"
import * as N8nClient from "../../src/n8n/N8nClient.ts"
import * as N8nApi from "../../src/testing/n8nApi/N8nApi.ts"
import * as tools from "../../src/tools/index.ts"
import { main, node } from "../support/workflows.ts"

/** What tools need. */
export type Needs = N8nClient.N8nClient | Services.Services

/** The n8n of the world: which version, what it holds, and what comes between it and its client. */
export interface Options extends N8nApi.Options {
  readonly seed?: N8nApi.Seed
  /** Stands between the client and n8n. */
  readonly through?: (client: HttpClient.HttpClient) => HttpClient.HttpClient
  readonly apiKey?: string
}

const world = Effect.fnUntraced(function*(
  { apiKey = "k", seed = { workflows: [], executions: [] }, through = (client) => client, ...options }: Options
) {
  const fs = yield* FileSystem.FileSystem
  const folder = yield* fs.realPath(yield* fs.makeTempDirectoryScoped())
  const state = yield* fs.makeTempDirectoryScoped()
  const api = yield* N8nApi.make(seed, options)
  const n8n = N8nClient.layer({ url: new URL("http://n8n.test"), apiKey: Redacted.make(apiKey) }).pipe(
    Layer.provide(Layer.succeed(HttpClient.HttpClient, through(api.client)))
  )
  const services = Services.layer({ filesRoots: [folder], stateFolder: state })
  return { folder, state, api, run: Effect.provide(Layer.merge(n8n, services)) }
})

/** Runs in a folder of its own, beside an n8n in memory; a version alone is n8n's. */
export const inWorld = <A, E>(
  use: (here: Effect.Success<ReturnType<typeof world>>) => Effect.Effect<A, E, Needs | FileSystem.FileSystem>,
  options: "2" | "1" | Options = {}
) =>
  Effect.gen(function*() {
    const made = yield* world(typeof options === "string" ? { version: options } : options)
    return yield* made.run(use(made))
  }).pipe(Effect.scoped, Effect.provide(NodeServices.layer))

/** What a file holds. */
export const text = (path: string) => FileSystem.FileSystem.use((fs) => fs.readFileString(path))

/** A draft of a webhook and a node after it. */
export const draft = (name = "Orders") =>
  Effect.gen(function*() {
    const { filePath, workflowId } = yield* tools.workflowCreate.call({ name })
    yield* tools.nodeAdd.call({
      workflowId,
      nodeType: "n8n-nodes-base.webhook",
      name: "Hook",
      parameters: { path: "in", httpMethod: "POST" }
    })
    yield* tools.nodeAdd.call({ workflowId, nodeType: "n8n-nodes-base.noOp", name: "End", after: "Hook" })
    return { filePath, workflowId }
  })

const code = (price: string) => `const order = $input.first().json\nreturn [{ json: { price: ${price} } }]\n`

/** Sets the code of the workflow that {@link versioned} makes. */
export const setCode = (id: string, price: string) =>
  tools.workflowEdit.call({
    workflowId: id,
    operations: [{ op: "set", node: "Price", path: "jsCode", value: code(price) }]
  })

/** A workflow whose code was changed twice: the second of its three states is published, the third is a draft on 2.x. */
export const versioned = Effect.gen(function*() {
  const { id } = yield* tools.createWorkflow.call({
    name: "Prices",
    nodes: [
      node("Hook", "webhook", 2, { path: "prices", httpMethod: "POST" }, { id: "a" }),
      node("Price", "code", 2, { jsCode: code("order.net") }, { id: "b", position: [200, 0] })
    ],
    connections: { Hook: main("Price") }
  })
  const states = yield* Effect.forEach(["order.net * 1.19", "order.net * 119"], (price, at) =>
    Effect.gen(function*() {
      const { versionId: before } = yield* tools.getWorkflow.call({ id })
      yield* setCode(id, price)
      if (at === 0) yield* tools.activateWorkflow.call({ id })
      return before ?? ""
    }))
  const { versionId } = yield* tools.getWorkflow.call({ id })
  const snapshots = (yield* tools.workflowHistory.call({ id, limit: 20 })).versions
    .filter(({ source }) => source === "snapshot").map(({ version }) => version)
  return {
    id,
    /** n8n's versions, oldest first. */
    versions: [...states, versionId ?? ""],
    /** Newest first: before the last change, before the first. */
    snapshots
  }
})

/** The names of a workflow's nodes. */
export const nodeNames = (workflow: unknown) => arr(obj(workflow)?.["nodes"]).map((node) => str(obj(node)?.["name"]))
